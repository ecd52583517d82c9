//! Agents that try everything: random legal calls, and every record touched once. They never pass and earn next to nothing.

use crate::{Finding, Held, Subject, ground::Here};
use benchwright_base::RowId;
use benchwright_calls::offered::{Maker, ids_of};
use benchwright_grade::{FULL, Grader};
use benchwright_pack::Ending;
use benchwright_sandbox::Episode;
use benchwright_schema::{Tool, Verb, arguments_schema};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Runs of random calls.
const RUNS: usize = 3;
/// Calls of a run, and after how many of them it is judged each time.
const CALLS: (usize, usize) = (160, 40);
/// The most calls of a sweep over all records.
const SWEEP: usize = 2_000;
/// The most that a trivial agent may earn, but for the luck of one right row where there are few.
const MOST: i64 = FULL / 10;

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    match all(subject, grader) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

/// A tool that may change the world, with the schema of its arguments.
struct Lever {
    tool: Tool,
    schema: Json,
}

fn all(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<Finding, String> {
    let levers: Vec<Lever> = subject
        .domain
        .tools
        .iter()
        .filter(|tool| !tool.reads_only())
        .map(|tool| Lever { tool: tool.clone(), schema: arguments_schema(&subject.domain, tool) })
        .collect();
    let verifier = &subject.task.sealed.verifier;
    let rows = verifier.answer.values().map(Vec::len).sum::<usize>() as i64;
    let lucky = if rows > 0 { verifier.scoring.broken_percent * FULL / 100 / rows } else { 0 };
    let mut spam = Spam {
        subject,
        grader,
        levers: &levers,
        most: MOST.max(lucky),
        calls: 0,
        accepted: 0,
        highest: 0,
        faults: Vec::new(),
    };
    for run in 0..RUNS {
        spam.random(run)?;
    }
    spam.touch_all()?;
    spam.push_all()?;
    let Spam { calls, accepted, highest, faults, .. } = spam;
    let finding = Finding::of(&faults).count("calls", calls).count("accepted", accepted);
    Ok(finding.count("highest reward", highest as usize))
}

struct Spam<'s, 'a> {
    subject: &'s Subject<'a>,
    grader: &'s Grader<'s>,
    levers: &'s [Lever],
    most: i64,
    calls: usize,
    accepted: usize,
    highest: i64,
    faults: Vec<String>,
}

impl Spam<'_, '_> {
    fn begin(&self) -> Result<Episode, String> {
        self.subject.begin().map_err(|error| error.to_string())
    }

    fn call(&mut self, episode: &mut Episode, tool: &str, arguments: &Json) {
        self.calls += 1;
        self.accepted += usize::from(episode.call(tool, &arguments.to_string()).is_ok());
    }

    fn judge(&mut self, what: &str, episode: &Episode) -> Result<(), String> {
        let verdict = self.grader.grade(&episode.snapshot()).map_err(|error| error.to_string())?;
        self.highest = self.highest.max(verdict.reward);
        if verdict.ending != Ending::Fail || verdict.reward > self.most {
            self.faults.push(format!("{what}: {:?}, reward {}", verdict.ending, verdict.reward));
        }
        Ok(())
    }

    /// The rows that belong to the job, as an agent that has read the instruction would find them.
    fn of_the_job(&self) -> BTreeMap<String, Vec<RowId>> {
        let apart = self.subject.plan.frame.apart.as_deref();
        let mut rows = BTreeMap::new();
        for (table, keys) in &self.subject.task.sealed.verifier.keys {
            let ours = keys.iter().filter(|(_, key)| apart.is_none_or(|apart| !key.starts_with(apart)));
            rows.insert(table.clone(), ours.map(|(id, _)| *id).collect());
        }
        rows
    }

    /// Calls of tools drawn at random, with arguments that fit them. All runs but the first keep to the job's records.
    fn random(&mut self, run: usize) -> Result<(), String> {
        let mut episode = self.begin()?;
        let mut maker = Maker::new(&["spam", &self.subject.task.open.id, &run.to_string()]);
        if run > 0 {
            maker = maker.favouring(self.of_the_job());
        }
        // Creating and confirming is what work consists of, so half of the calls do nothing else.
        let (work, rest): (Vec<&Lever>, Vec<&Lever>) = self.levers.iter().partition(|lever| is_work(&lever.tool));
        for call in 1..=CALLS.0 {
            let pool = if maker.stream().chance(1, 2) && !work.is_empty() { &work } else { &rest };
            let Some(lever) = maker.stream().pick(pool).copied() else { break };
            let arguments = maker.arguments(&lever.schema, &Here(&episode));
            self.call(&mut episode, &lever.tool.name, &arguments);
            if call % CALLS.1 == 0 {
                self.judge(&format!("random run {run} after {call} calls"), &episode)?;
            }
        }
        Ok(())
    }

    /// Writes one field of every record that a tool can write.
    fn touch_all(&mut self) -> Result<(), String> {
        let mut episode = self.begin()?;
        let mut maker = Maker::new(&["spam", "touch", &self.subject.task.open.id]);
        let mut left = SWEEP;
        for lever in self.levers {
            let fields = &lever.schema["properties"]["vals"]["properties"];
            let by_ids = fields.is_object();
            if !by_ids && lever.tool.verb != Verb::Update {
                continue;
            }
            let fields = if by_ids { fields } else { &lever.schema["properties"] };
            for id in self.rows(lever, &episode) {
                let names: Vec<&String> = fields
                    .as_object()
                    .into_iter()
                    .flat_map(|fields| fields.keys())
                    .filter(|name| *name != "id")
                    .collect();
                let Some(name) = maker.stream().pick(&names).copied() else { break };
                let value = maker.value(&fields[name], name, &Here(&episode), 0);
                let arguments = if by_ids {
                    json!({ "ids": [id], "vals": { name.as_str(): value } })
                } else {
                    json!({ "id": id, name.as_str(): value })
                };
                self.call(&mut episode, &lever.tool.name, &arguments);
                left = left.saturating_sub(1);
                if left == 0 {
                    return self.judge("every record touched", &episode);
                }
            }
        }
        self.judge("every record touched", &episode)
    }

    /// Pushes every button of every record: each tool that takes nothing but ids, one record at a time, forwards first.
    fn push_all(&mut self) -> Result<(), String> {
        let buttons = |forwards: bool| {
            let only_ids = |lever: &&Lever| {
                let required = lever.schema["required"].as_array().map_or(0, Vec::len);
                ids_of(&lever.schema).is_some() && required == 1
            };
            self.levers
                .iter()
                .filter(only_ids)
                .filter(move |lever| is_work(&lever.tool) == forwards)
                .collect::<Vec<_>>()
        };
        let rounds = [("every button that confirms", buttons(true)), ("every other button", buttons(false))];
        let mut episode = self.begin()?;
        for (what, levers) in rounds {
            let mut left = SWEEP;
            for lever in levers {
                for id in self.rows(lever, &episode) {
                    self.call(&mut episode, &lever.tool.name, &json!({ "ids": [id] }));
                    left = left.saturating_sub(1);
                    if left == 0 {
                        break;
                    }
                }
            }
            self.judge(what, &episode)?;
        }
        Ok(())
    }

    /// The rows that a tool is about.
    fn rows(&self, lever: &Lever, episode: &Episode) -> Vec<u32> {
        let table = ids_of(&lever.schema).and_then(|table| self.subject.domain.table_named(table)).or(lever.tool.table);
        table.map(|table| episode.rows(table).map(|row| row.id()).collect()).unwrap_or_default()
    }
}

/// Whether a tool makes records or carries them forwards.
fn is_work(tool: &Tool) -> bool {
    let forwards = ["_create", "_confirm", "_post", "_create_invoices", "_submit", "_approve"];
    matches!(tool.verb, Verb::Create | Verb::Link | Verb::Send) || forwards.iter().any(|end| tool.name.ends_with(end))
}
