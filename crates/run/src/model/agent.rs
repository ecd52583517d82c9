//! Puts a model on a task: it is told the task, calls tools, reads the answers, and goes on until it calls none.
//!
//! Its words decide nothing: a reply without a call ends the trial, and what the world holds then is graded. What it does
//! badly (arguments that are no JSON, tools that do not exist) is answered as a refusal and the trial goes on.

use super::{
    client::Model,
    error::Cause,
    offer::offer,
    plan::{first_sentence, told_plan},
    spec::{ModelSpec, Way},
    talk::{Finish, Message, Reply, ToolCall},
};
use crate::{Agent, AgentError, Host, Hosted, Played, Stop, ToolCard};
use benchwright_pack::{OpenPart, Refusal, RefusalCode, run::Limits};
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// What every model is told.
const SYSTEM: &str = include_str!("system.txt");
/// What a model is told that is to write a plan.
const PLANNER: &str = include_str!("planner.txt");
/// The most characters of an answer that a model is shown.
const LONGEST_ANSWER: usize = 40_000;
/// The most characters of malformed arguments that are said back.
const LONGEST_QUOTE: usize = 200;

/// An agent that is led by a model.
#[derive(Clone, Debug)]
pub struct ModelAgent {
    name: String,
    spec: ModelSpec,
    model: Arc<Model>,
}

impl ModelAgent {
    /// An agent. Its name in records is that of the spec.
    pub fn new(spec: ModelSpec, model: Arc<Model>) -> ModelAgent {
        ModelAgent { name: spec.to_string(), spec, model }
    }

    /// What is missing to keep these limits, if anything is: a limit of cost needs prices.
    pub fn lacks(&self, limits: &Limits) -> Option<String> {
        let lacks = limits.cost.is_some() && self.model.options().prices.is_none();
        lacks.then(|| format!("the cost of {} is limited, but its prices are not known", self.name))
    }
}

impl Agent for ModelAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn settings(&self) -> BTreeMap<String, String> {
        self.model.options().settings()
    }

    fn play(
        &self,
        host: &dyn Host,
        task: &OpenPart,
        episode: &mut dyn Hosted,
        _: u32,
        limits: &Limits,
    ) -> Result<Played, AgentError> {
        if let Some(detail) = self.lacks(limits) {
            return Err(AgentError { cause: "runner".to_owned(), detail });
        }
        let tools = offer(self.spec.tools, host, task, episode.tools())?;
        let cards: Vec<&ToolCard> = tools.iter().collect();
        let mut trial = Trial::begin(&self.model, limits);
        let names: Vec<&str> = tools.iter().map(|card| &*card.name).collect();
        trial.keep(json!({ "role": "tools", "names": names }));
        let plan = match self.spec.way {
            Way::React => None,
            Way::Given => Some(told_plan(&host.sealed(&task.open.id)?, episode.tools())),
            Way::Plan => {
                trial.say(Message::System(PLANNER.trim().to_owned()));
                trial.say(Message::User(format!("{}\n\n# Tools\n\n{}", task.instruction.trim(), listed(&tools))));
                match trial.turn(&[])? {
                    Turn::Stopped(stop) => return Ok(trial.end(stop)),
                    Turn::Said(reply) => Some(reply.text),
                }
            }
        };
        // The work is a conversation of its own: of the planning only the plan goes on.
        trial.said.clear();
        trial.say(Message::System(SYSTEM.trim().to_owned()));
        let asked = match plan.as_deref().map(str::trim) {
            Some(plan) if !plan.is_empty() => format!("{}\n\n# Plan\n\n{plan}", task.instruction.trim()),
            _ => task.instruction.trim().to_owned(),
        };
        trial.say(Message::User(asked));
        loop {
            let reply = match trial.turn(&cards)? {
                Turn::Stopped(stop) => return Ok(trial.end(stop)),
                Turn::Said(reply) => reply,
            };
            if reply.calls.is_empty() {
                return Ok(trial.end(Stop::Done));
            }
            for call in reply.calls {
                if let Some(lost) = episode.lost() {
                    return Err(lost.into());
                }
                let (text, refused) = match answer(&tools, episode, &call) {
                    Ok(text) => (text, false),
                    Err(refusal) if refusal.code == RefusalCode::BudgetExhausted => {
                        return Ok(trial.end(Stop::Limit("calls".to_owned())));
                    }
                    Err(refusal) => (refusal.to_json(), true),
                };
                let text = cut(text, tools.iter().find(|card| card.name == call.name));
                trial.say(Message::Tool { id: call.id, name: call.name, text, refused });
            }
        }
    }
}

/// Makes a call, if the tool was offered and the arguments are an object.
fn answer(tools: &[ToolCard], episode: &mut dyn Hosted, call: &ToolCall) -> Result<String, Refusal> {
    if !tools.iter().any(|card| card.name == call.name) {
        return Err(Refusal::new(RefusalCode::NotFound, format!("there is no tool `{}`", call.name)));
    }
    if let Err(why) = call.object() {
        let quote: String = call.arguments.chars().take(LONGEST_QUOTE).collect();
        return Err(Refusal::new(RefusalCode::InvalidArgument, format!("{why}; they began: {quote}")));
    }
    let arguments = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    episode.call(&call.name, arguments)
}

/// An answer that a model can bear to read, with a note of how to see the rest.
fn cut(text: String, card: Option<&ToolCard>) -> String {
    let Some((end, _)) = text.char_indices().nth(LONGEST_ANSWER) else { return text };
    let takes = |name: &str| card.is_some_and(|card| card.arguments["properties"].get(name).is_some());
    let how = if takes("cursor") {
        "Ask for fewer rows with `limit` and go on with `cursor`."
    } else if takes("offset") {
        "Ask for fewer rows with `limit` and go on with `offset`."
    } else {
        "Ask for fewer rows or fields."
    };
    let whole = text.chars().count();
    format!("{}\n[cut here: {LONGEST_ANSWER} of {whole} characters are shown. {how}]", &text[..end])
}

/// The tools in words, for who cannot call them.
fn listed(tools: &[ToolCard]) -> String {
    tools.iter().map(|card| format!("- {}: {}\n", card.name, first_sentence(&card.description))).collect()
}

/// What came of a turn.
enum Turn {
    /// The model said something.
    Said(Reply),
    /// A limit was reached.
    Stopped(Stop),
}

/// A trial under way.
struct Trial<'m> {
    model: &'m Model,
    limits: &'m Limits,
    begun: Instant,
    /// Time that others took: it does not count.
    lost: Duration,
    turns: u32,
    /// What each turn took, in microseconds.
    turn_times: Vec<u64>,
    /// Tokens in and out; unknown for good once a server does not say.
    tokens: Option<(u64, u64)>,
    said: Vec<Message>,
    transcript: Vec<Json>,
}

impl<'m> Trial<'m> {
    fn begin(model: &'m Model, limits: &'m Limits) -> Trial<'m> {
        let (said, transcript) = (Vec::new(), Vec::new());
        let begun = Instant::now();
        let (lost, turns, turn_times, tokens) = (Duration::ZERO, 0, Vec::new(), Some((0, 0)));
        Trial { model, limits, begun, lost, turns, turn_times, tokens, said, transcript }
    }

    fn keep(&mut self, line: Json) {
        self.transcript.push(self.model.redactor().json(line));
    }

    fn say(&mut self, message: Message) {
        self.keep(message.to_json());
        self.said.push(message);
    }

    fn cost(&self) -> Option<u64> {
        let (tokens_in, tokens_out) = self.tokens?;
        Some(self.model.options().prices?.cost(tokens_in, tokens_out))
    }

    /// The limit that is reached, if one is.
    fn reached(&self, left: Duration) -> Option<&'static str> {
        let tokens = self.tokens.map(|(tokens_in, tokens_out)| tokens_in + tokens_out);
        let is_over =
            |used: Option<u64>, most: Option<u64>| most.is_some_and(|most| used.is_some_and(|used| used >= most));
        if self.turns >= self.limits.turns {
            Some("turns")
        } else if is_over(tokens, self.limits.tokens) {
            Some("tokens")
        } else if is_over(self.cost(), self.limits.cost) {
            Some("cost")
        } else {
            left.is_zero().then_some("time")
        }
    }

    /// Asks the model once.
    fn turn(&mut self, tools: &[&ToolCard]) -> Result<Turn, AgentError> {
        let stopped = |which: &str| Ok(Turn::Stopped(Stop::Limit(which.to_owned())));
        let time = Duration::from_secs(u64::from(self.limits.seconds)) + self.lost;
        let left = time.saturating_sub(self.begun.elapsed());
        if let Some(which) = self.reached(left) {
            return stopped(which);
        }
        let begun = Instant::now();
        let asked = match self.model.ask(&self.said, tools, left) {
            Ok(asked) => asked,
            Err(error) if error.cause == Cause::Time => return stopped("time"),
            // The agent has read more than its model can hold; at the first turn it is the setting that does not fit.
            Err(error) if error.cause == Cause::Context && self.turns > 0 => return stopped("length"),
            Err(error) => return Err(error.into()),
        };
        self.turns += 1;
        self.lost += asked.lost;
        let took = begun.elapsed().saturating_sub(asked.lost).as_micros();
        self.turn_times.push(u64::try_from(took).unwrap_or(u64::MAX));
        let Reply { text, calls, finish, tokens_in, tokens_out, .. } = &asked.reply;
        self.tokens = match (self.tokens, tokens_in, tokens_out) {
            (Some((all_in, all_out)), Some(more_in), Some(more_out)) => Some((all_in + more_in, all_out + more_out)),
            _ => None,
        };
        if self.tokens.is_none() && (self.limits.tokens.is_some() || self.limits.cost.is_some()) {
            let detail = "tokens or cost are limited, but the server does not say how many tokens it used".to_owned();
            return Err(AgentError { cause: "runner".to_owned(), detail });
        }
        let message = Message::Assistant { text: text.clone(), calls: calls.clone() };
        self.keep(asked.reply.beside(message.to_json()));
        self.said.push(message);
        if *finish == Finish::Length { stopped("length") } else { Ok(Turn::Said(asked.reply)) }
    }

    fn end(self, stop: Stop) -> Played {
        let cost = self.cost();
        let (tokens_in, tokens_out) = self.tokens.unzip();
        Played {
            stop,
            turns: Some(self.turns),
            tokens_in,
            tokens_out,
            cost,
            turn_times: self.turn_times,
            transcript: self.transcript,
            trusted: false,
            failed: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_is_cut_between_characters_and_says_how_to_go_on() {
        let card = |arguments: Json| ToolCard {
            name: "list".to_owned(),
            description: String::new(),
            arguments,
            reads_only: true,
            table: None,
        };
        let long = "é".repeat(LONGEST_ANSWER + 1);
        let paged = card(json!({ "properties": { "limit": {}, "cursor": {} } }));
        let shown = cut(long.clone(), Some(&paged));
        assert!(shown.starts_with(&"é".repeat(LONGEST_ANSWER)), "all that is promised is shown");
        assert!(shown.ends_with(
            "40000 of 40001 characters are shown. Ask for fewer rows with `limit` and go on with `cursor`.]"
        ));
        assert!(cut(long.clone(), Some(&card(json!({ "properties": { "offset": {} } })))).contains("`offset`"));
        assert!(cut(long, None).contains("fewer rows or fields"));
        let fits = "é".repeat(LONGEST_ANSWER);
        assert_eq!(cut(fits.clone(), Some(&paged)), fits);
    }
}
