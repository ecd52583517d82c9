//! Dialogues of tasks: what an agent is told, every call with its answer, and the verdict. They are made by playing: of the certified way,
//! of other ways that the audit knows, and of recorded trials. A trace keeps digests of answers, so the calls are made again, and
//! what they are answered now must be what was recorded.
//!
//! Where a family's plan reads hardly anything, its reader goes first: it finds by the tools alone what an agent has to know, so that
//! no call in a row names a record that no answer has shown.

use crate::{
    Error,
    again::{Again, again},
    host::StoreHost,
    play::Offer,
    tasks::Judged,
};
use benchwright_audit::Attempt;
use benchwright_catalog::Catalog;
use benchwright_export::{
    Dialogue,
    dialogue::{CallFacts, Judged as Verdicts, TaskFacts, ToolFacts, Turn},
};
use benchwright_grade::TaskJudge;
use benchwright_pack::{Ending, OpenPart, Refusal, RefusalCode, Task, Trace, TraceCall};
use benchwright_run::{
    Host as _, ToolCard,
    model::{Tools, offer},
};
use benchwright_sandbox::{Conditions, Episode};
use benchwright_world::{NotAnswered, ToolAccess, answered, seen};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// How often a call is made again that met a fault which the task asked for.
const PATIENCE: usize = 8;
/// The last words of whoever carries out a script, and of whoever declines.
const DONE: &str = "The work is done.";
const DECLINED: &str = "I have declined the request and given the reason.";
const DECLINE: &str = "decline_request";
/// What stands in a recorded answer where a secret was taken out, and where it was cut.
const REDACTED: &str = "[redacted]";
const CUT: &str = "\n[cut here: ";

/// Makes dialogues of the tasks of a store.
pub struct Teller<'c> {
    catalog: &'c Catalog,
    host: &'c StoreHost<'c>,
    offered: Offer,
}

/// A task that is told of.
pub struct Scene<'t> {
    judged: Judged<'t>,
    facts: TaskFacts,
    /// All tools that the task has.
    cards: Vec<ToolCard>,
    /// The names of those that are offered.
    offered: BTreeSet<String>,
}

impl<'c> Teller<'c> {
    /// For the tasks of a host, with these tools offered.
    pub fn new(catalog: &'c Catalog, host: &'c StoreHost<'c>, offered: Offer) -> Teller<'c> {
        Teller { catalog, host, offered }
    }

    /// The store that its tasks are in.
    pub fn host(&self) -> &StoreHost<'c> {
        self.host
    }

    /// Opens a task.
    pub fn scene<'t>(&self, task: &'t Task) -> Result<Scene<'t>, Error> {
        let judged = Judged::open(self.catalog, task)?;
        let sealed = &task.sealed;
        let facts = TaskFacts {
            id: task.open.id.clone(),
            digest: task.digest().to_string(),
            canary: task.open.canary.clone(),
            domain: task.open.domain.clone(),
            pattern: sealed.pattern.clone(),
            tier: sealed.tier.clone(),
            objective: sealed.objective.clone(),
            split: sealed.split.word().to_owned(),
        };
        let begun = self.host.begin(&task.open.id)?;
        let part = OpenPart { open: task.open.clone(), instruction: task.instruction.clone(), world: Vec::new() };
        let given = |tools: Tools| {
            let cards = offer(tools, self.host, &part, begun.tools());
            cards.map_err(|error| Error::Offer(error.to_string()))
        };
        let cards = given(Tools::All)?;
        let offered = match &self.offered {
            Offer::All => cards.iter().map(|card| card.name.clone()).collect(),
            Offer::Oracle(distractors) => {
                given(Tools::Oracle { distractors: *distractors })?.into_iter().map(|card| card.name).collect()
            }
            Offer::Named(names) => names.iter().cloned().collect(),
        };
        Ok(Scene { judged, facts, cards, offered })
    }
}

impl Scene<'_> {
    fn row_error(&self, why: impl Into<String>) -> Error {
        Error::Row { id: self.facts.id.clone(), why: why.into() }
    }

    /// What the task is.
    pub fn facts(&self) -> &TaskFacts {
        &self.facts
    }

    /// An episode at the first state, in the agent's seat, under the conditions of the task.
    fn begin(&self) -> Result<Episode, Error> {
        let open = &self.judged.task.open;
        Ok(self.judged.sandbox.begin(&self.judged.sandbox.seat_of(open), Conditions::of(open))?)
    }

    /// Looks up what has to be known, where the plan itself does not.
    fn read_first(&self, episode: &mut Episode) -> Result<(), Error> {
        let Some(reader) = self.judged.family.and_then(|family| family.reader()) else { return Ok(()) };
        let mut reads = Reads { episode, cards: &self.cards, known: BTreeMap::new() };
        let case = reader.read_back(&self.judged.task.instruction, &mut reads);
        let read = case.and_then(|case| reader.addresses(&case, &mut reads));
        read.map(drop).map_err(|error| self.row_error(format!("the task cannot be read: {error}")))
    }

    /// The certified way, after what has to be read for it.
    pub fn oracle(&self) -> Result<Dialogue, Error> {
        let mut episode = self.begin()?;
        self.read_first(&mut episode)?;
        let script = &self.judged.task.sealed.oracle;
        let stuck = |at: usize, why: String| self.row_error(format!("step {} of the certified way: {why}", at + 1));
        if script.reads {
            let domain = &self.judged.domain;
            let mut seen = seen::begin(script, domain, episode.now()).map_err(|error| stuck(0, error.to_string()))?;
            for (at, step) in script.steps.iter().enumerate() {
                let mut call = |tool: &str, arguments: &str| patient(&mut episode, tool, arguments);
                let made = seen::step_with(&mut seen, at, step, &mut call, &mut |_, _, _| ());
                made.map_err(|error| stuck(at, error.to_string()))?;
            }
        } else {
            let mut bound = self.judged.bound_keys();
            for (at, step) in script.steps.iter().enumerate() {
                let arguments = bound.fill(&step.args).map_err(|error| stuck(at, error.to_string()))?;
                let answer = patient(&mut episode, &step.tool(), &arguments.to_string());
                let answer = answer.map_err(|refusal| stuck(at, refusal.to_string()))?;
                if step.bind.is_some() {
                    let answer = serde_json::from_str(&answer).map_err(|error| stuck(at, error.to_string()))?;
                    bound.note(step, &answer).map_err(|error| stuck(at, error.to_string()))?;
                }
            }
        }
        let dialogue = self.by_trace(&episode.trace(), "oracle", None)?;
        match dialogue.judged.pass {
            true => Ok(self.closed(dialogue)),
            false => Err(self.row_error(format!("the certified way fails {:?}", dialogue.judged.failed))),
        }
    }

    /// Another way, after the same reads. One that breaks a rule must break it, one that breaks none must earn everything.
    pub fn attempt(&self, attempt: &Attempt) -> Result<Dialogue, Error> {
        let mut episode = self.begin()?;
        self.read_first(&mut episode)?;
        for call in &attempt.calls {
            // A refusal is an answer like any other to who went wrong.
            let _ = patient(&mut episode, &call.tool, &call.arguments);
        }
        let agent = if attempt.rule.is_some() { "near-miss" } else { "alternate" };
        let dialogue = self.by_trace(&episode.trace(), agent, None)?;
        let judged = &dialogue.judged;
        match &attempt.rule {
            None if judged.pass => Ok(self.closed(dialogue)),
            Some(rule) if !judged.pass && judged.failed.contains(rule) => Ok(self.closed(dialogue)),
            None => Err(self.row_error(format!("another way ({}) fails {:?}", attempt.what, judged.failed))),
            Some(rule) => {
                let why = format!("a near-miss of {rule} ({}) fails {:?} instead", attempt.what, judged.failed);
                Err(self.row_error(why))
            }
        }
    }

    /// A recorded trial: its trace, what was said where somebody noted it, and the limit that it met.
    pub fn recorded(
        &self,
        trace: &Trace,
        transcript: &[Json],
        agent: &str,
        limit: Option<&str>,
    ) -> Result<Dialogue, Error> {
        let dialogue = self.by_trace(trace, agent, limit)?;
        // A plan is a conversation of its own: what was worked by began with the last words of the system.
        let Some(from) = transcript.iter().rposition(|line| line["role"] == "system") else { return Ok(dialogue) };
        let offered = transcript.iter().find(|line| line["role"] == "tools");
        let names = offered.and_then(|line| line["names"].as_array()).into_iter().flatten();
        let names: BTreeSet<String> = names.filter_map(|name| name.as_str()).map(str::to_owned).collect();
        self.as_said(dialogue, &transcript[from..], &names)
    }

    /// The dialogue with what was said, turn by turn. Every call that reached the world must be there, with the answer that the agent got.
    fn as_said(&self, made: Dialogue, said: &[Json], names: &BTreeSet<String>) -> Result<Dialogue, Error> {
        let text = |line: &Json| line["text"].as_str().unwrap_or_default().to_owned();
        let Dialogue { task, agent, judged, limit, trace, mut user, turns: made, .. } = made;
        let mut calls = made.into_iter().flat_map(|turn| turn.calls);
        let (mut system, mut turns, mut number) = (None, Vec::new(), 0);
        let mut lines = said.iter().peekable();
        while let Some(line) = lines.next() {
            match line["role"].as_str() {
                Some("system") => system = Some(text(line)),
                Some("user") => user = text(line),
                Some("assistant") => {
                    let mut turn = Turn { text: text(line), calls: Vec::new() };
                    for call in line["calls"].as_array().into_iter().flatten() {
                        number += 1;
                        let word = |key: &str| call[key].as_str().unwrap_or_default();
                        let told = lines.next_if(|line| line["role"] == "tool");
                        let arguments = if word("arguments").trim().is_empty() { "{}" } else { word("arguments") };
                        let is_object = matches!(serde_json::from_str(arguments), Ok(Json::Object(_)));
                        let mut facts = match names.contains(word("name")) && is_object {
                            true => match calls.next() {
                                Some(made) if made.tool == word("name") && made.arguments == arguments => made,
                                // What met the limit of calls never reached the world.
                                None if told.is_none() => CallFacts {
                                    id: String::new(),
                                    tool: word("name").to_owned(),
                                    arguments: arguments.to_owned(),
                                    answer: String::new(),
                                    refused: Some(RefusalCode::BudgetExhausted.word().to_owned()),
                                },
                                _ => {
                                    let why = format!("call {number} of what was said is not the one that was made");
                                    return Err(self.row_error(why));
                                }
                            },
                            false => CallFacts {
                                id: String::new(),
                                tool: word("name").to_owned(),
                                arguments: word("arguments").to_owned(),
                                answer: String::new(),
                                refused: Some(RefusalCode::InvalidArgument.word().to_owned()),
                            },
                        };
                        if let Some(told) = told.map(text) {
                            if !is_answer(&told, &facts.answer) && names.contains(word("name")) && is_object {
                                let why = format!("call {number} was answered otherwise than it is now");
                                return Err(self.row_error(why));
                            }
                            facts.answer = told;
                        }
                        facts.id = format!("call_{number}");
                        turn.calls.push(facts);
                    }
                    turns.push(turn);
                }
                _ => {}
            }
        }
        if let Some(left) = calls.next() {
            return Err(self.row_error(format!("a call of {} was made that nobody spoke of", left.tool)));
        }
        let tools = self.tools(|card| names.contains(&card.name));
        Ok(Dialogue { task, agent, tools, system, user, turns, judged, limit, trace })
    }

    /// Adds the last words of somebody who thinks that all is done.
    fn closed(&self, mut dialogue: Dialogue) -> Dialogue {
        let is_declined = dialogue.calls().last().is_some_and(|call| call.tool == DECLINE && call.refused.is_none());
        let text = if is_declined { DECLINED } else { DONE }.to_owned();
        dialogue.turns.push(Turn { text, calls: Vec::new() });
        dialogue
    }

    fn tools(&self, is_offered: impl Fn(&ToolCard) -> bool) -> Vec<ToolFacts> {
        let facts = |card: &ToolCard| ToolFacts {
            name: card.name.clone(),
            description: card.description.clone(),
            parameters: card.arguments.clone(),
        };
        self.cards.iter().filter(|card| is_offered(card)).map(facts).collect()
    }

    /// The dialogue of a trace, a message a call, with the verdict on what it leaves.
    fn by_trace(&self, trace: &Trace, agent: &str, limit: Option<&str>) -> Result<Dialogue, Error> {
        let made = again(&self.judged.sandbox, &self.judged.task.open, trace);
        let Again { episode, answers } = made.map_err(|error| self.row_error(error.to_string()))?;
        let judge: TaskJudge<'_> = self.judged.judge()?;
        let verdict = judge.grade_live(&episode)?;
        if verdict.ending == Ending::Error {
            return Err(self.row_error("what it leaves cannot be judged"));
        }
        let mut failed: Vec<String> = verdict.failed().into_iter().map(str::to_owned).collect();
        failed.sort();
        failed.dedup();
        let turn = |(nth, (call, answer)): (usize, (&TraceCall, Result<String, Refusal>))| {
            let (answer, refused) = match answer {
                Ok(answer) => (answer, None),
                Err(refusal) => (refusal.to_json(), Some(refusal.code.word().to_owned())),
            };
            let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
            let call = CallFacts { id: format!("call_{}", nth + 1), tool, arguments, answer, refused };
            Turn { text: String::new(), calls: vec![call] }
        };
        let turns = trace.calls.iter().zip(answers).enumerate().map(turn).collect();
        let called: BTreeSet<&str> = trace.calls.iter().map(|call| &*call.tool).collect();
        Ok(Dialogue {
            task: self.facts.clone(),
            agent: agent.to_owned(),
            tools: self.tools(|card| self.offered.contains(&card.name) || called.contains(&*card.name)),
            system: None,
            user: self.judged.task.instruction.trim().to_owned(),
            turns,
            judged: Verdicts {
                reward: verdict.reward,
                pass: verdict.ending == Ending::Pass,
                failed,
                gates: verdict.gates.clone(),
            },
            limit: limit.map(str::to_owned),
            trace: trace.digest().to_string(),
        })
    }
}

/// Whether an answer that was told is this one: whole, or cut, or with secrets taken out.
fn is_answer(told: &str, answer: &str) -> bool {
    told == answer
        || told.contains(REDACTED)
        || told.rsplit_once(CUT).is_some_and(|(begin, _)| answer.starts_with(begin))
}

/// Makes a call, and again where it met a fault that the task asked for.
fn patient(episode: &mut Episode, tool: &str, arguments: &str) -> Result<String, Refusal> {
    let mut answer = episode.call(tool, arguments);
    for _ in 0..PATIENCE {
        match &answer {
            Err(refusal) if refusal.code == RefusalCode::InjectedFault => answer = episode.call(tool, arguments),
            _ => break,
        }
    }
    answer
}

/// Tool access that asks nothing twice. What a reader asks may cost something that is counted, as in grids; what it must not change is for
/// the judge to see.
struct Reads<'e> {
    episode: &'e mut Episode,
    cards: &'e [ToolCard],
    known: BTreeMap<(String, String), Json>,
}

impl ToolAccess for Reads<'_> {
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, NotAnswered> {
        if !self.cards.iter().any(|card| card.name == tool) {
            return Err(NotAnswered(format!("there is no tool `{tool}`")));
        }
        let asked = (tool.to_owned(), arguments.to_string());
        if let Some(answer) = self.known.get(&asked) {
            return Ok(answer.clone());
        }
        let answer = answered(patient(self.episode, tool, &asked.1))?;
        self.known.insert(asked, answer.clone());
        Ok(answer)
    }
}
