//! Agents without a model, such as one that does nothing and one that carries out the certified plan: the measure beside
//! which every other agent stands. All but the oracle and its careless kin know only what they read.

use crate::{
    Agent, AgentError, Host, Hosted, Played, Stop, ToolCard,
    careless::{self, Vices},
    documents,
};
use benchwright_base::{Date, RowId};
use benchwright_calls::offered::{Ground, Maker, ids_of};
use benchwright_pack::{BoundKeys, OpenPart, Script, run::Limits};
use benchwright_project::{Capability, Eyes, NotAnswered, ToolAccess, answered};
use benchwright_schema::Domain;
use benchwright_world::{obey, seen};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The policies by name, with what each does.
pub const POLICIES: &[(&str, &str)] = &[
    ("idle", "does nothing"),
    ("random", "calls tools at random, with arguments that fit them"),
    ("spam", "writes a field of every record and pushes every button"),
    ("greedy", "reads the brief and takes the cheapest feasible offers"),
    ("reader", "reads everything as it is meant, and plans with a solver"),
    ("hurried", "does the same, but takes files as they stand"),
    ("forgetful", "does the same, but forgets one rule that is easily missed"),
    ("oracle", "carries out the certified plan"),
    ("always-decline", "declines every request, with a reason that comes to mind"),
    ("first-hit", "carries out the plan of a request, but takes the first row of every answer"),
    ("literal", "carries out what a request asks for, and nothing that the policy adds"),
    ("defaults", "carries out the plan of a request, but leaves out every argument that need not be given"),
    ("careless", "does all three"),
    ("obedient", "carries out the certified plan, and whatever text in a record asks for"),
];

/// Calls of the random policy.
const RANDOM_CALLS: usize = 120;
/// The most calls of the spam policy.
const SPAM_CALLS: usize = 900;

/// A policy by its name.
pub fn policy(name: &str) -> Option<Box<dyn Agent + Send>> {
    let careless = VICES.iter().map(|(name, vices)| Policy::Careless(name, *vices));
    let known = [
        Policy::Idle,
        Policy::Random,
        Policy::Spam,
        Policy::Greedy,
        Policy::Planner("reader"),
        Policy::Planner("hurried"),
        Policy::Planner(FORGETFUL),
        Policy::Oracle,
        Policy::AlwaysDecline,
        Policy::Obedient,
    ];
    let found = known.into_iter().chain(careless).find(|policy| policy.name() == name)?;
    Some(Box::new(found))
}

/// Careless agents, with what they do badly.
const VICES: [(&str, Vices); 4] = [
    ("first-hit", Vices { first_hit: true, ..NO_VICES }),
    ("literal", Vices { literal: true, ..NO_VICES }),
    ("defaults", Vices { defaults: true, ..NO_VICES }),
    ("careless", Vices { first_hit: true, literal: true, defaults: true }),
];
const NO_VICES: Vices = Vices { first_hit: false, literal: false, defaults: false };

#[derive(Clone, Copy, Debug)]
enum Policy {
    Idle,
    Random,
    Spam,
    Greedy,
    /// Plans with a solver, by how it reads.
    Planner(&'static str),
    Oracle,
    AlwaysDecline,
    Obedient,
    Careless(&'static str, Vices),
}

impl Agent for Policy {
    fn name(&self) -> &str {
        match self {
            Policy::Idle => "idle",
            Policy::Random => "random",
            Policy::Spam => "spam",
            Policy::Greedy => "greedy",
            Policy::Oracle => "oracle",
            Policy::AlwaysDecline => "always-decline",
            Policy::Obedient => "obedient",
            Policy::Careless(name, _) | Policy::Planner(name) => name,
        }
    }

    fn play(
        &self,
        host: &dyn Host,
        task: &OpenPart,
        episode: &mut dyn Hosted,
        attempt: u32,
        _: &Limits,
    ) -> Result<Played, AgentError> {
        match self {
            Policy::Idle => {}
            Policy::Random => random(task, episode, attempt),
            Policy::Spam => spam(task, episode, attempt),
            Policy::Greedy => greedy(host, task, episode)?,
            Policy::Planner(name) => {
                let draw = Maker::new(&[FORGETFUL, &task.open.id, &attempt.to_string()]).stream().below(1 << 20);
                let eyes = match *name {
                    FORGETFUL => Eyes::Forgetful(draw),
                    "hurried" => Eyes::Hurried,
                    _ => Eyes::Careful,
                };
                planner(host, task, episode, eyes)?;
            }
            Policy::Oracle => {
                let sealed = host.sealed(&task.open.id)?;
                match host.domain(&task.open.id)?.filter(|_| sealed.oracle.reads) {
                    Some(domain) => read_along(&sealed.oracle, &domain, episode),
                    None => follow(&sealed.oracle, BoundKeys::new(sealed.ids), episode),
                }
            }
            Policy::Obedient => {
                let sealed = host.sealed(&task.open.id)?;
                let Some(domain) = host.domain(&task.open.id)? else {
                    let detail =
                        format!("{} has no declarations: obedient does not know what to listen to", task.open.id);
                    return Err(AgentError { cause: "task".to_owned(), detail });
                };
                let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments);
                obey::obedient(&domain, &sealed.oracle, BoundKeys::new(sealed.ids), &mut call);
            }
            Policy::AlwaysDecline => careless::decline(task, episode, attempt),
            Policy::Careless(name, vices) => {
                let sealed = host.sealed(&task.open.id)?;
                let Some(domain) = host.domain(&task.open.id)?.filter(|_| sealed.oracle.reads) else {
                    let detail = format!("{} is no request: {name} has nothing to do badly", task.open.id);
                    return Err(AgentError { cause: "task".to_owned(), detail });
                };
                careless::play(&sealed.oracle, *vices, &domain, episode);
            }
        }
        Ok(Played::plainly(Stop::Done))
    }
}

/// Who forgets a rule.
const FORGETFUL: &str = "forgetful";

fn planner(host: &dyn Host, task: &OpenPart, episode: &mut dyn Hosted, eyes: Eyes) -> Result<(), AgentError> {
    let fault = |detail: String| AgentError { cause: "task".to_owned(), detail };
    let family = host.family(&task.open.id)?;
    let Some(optimised) = family.optimised() else {
        let detail = format!("the family of {} offers no {}", task.open.id, Capability::Optimised);
        return Err(fault(detail));
    };
    let mut planned = None;
    host.with_planner(&task.open.id, &mut |planner| {
        planned = Some(optimised.planned(eyes, &task.instruction, &mut Reads { episode }, planner));
    })?;
    let script = planned.transpose().map_err(|error| fault(error.to_string()))?.flatten();
    if let Some(script) = script {
        follow(&script, BoundKeys::new(BTreeMap::new()), episode);
    }
    Ok(())
}

fn greedy(host: &dyn Host, task: &OpenPart, episode: &mut dyn Hosted) -> Result<(), AgentError> {
    let family = host.family(&task.open.id)?;
    let (Some(reader), Some(optimised)) = (family.reader(), family.optimised()) else {
        let missing = if family.reader().is_none() { Capability::Reader } else { Capability::Optimised };
        let detail = format!("the family of {} offers no {missing}: greedy has nothing to plan with", task.open.id);
        return Err(AgentError { cause: "task".to_owned(), detail });
    };
    let mut access = Reads { episode };
    // What it cannot read or plan, it leaves: a bad plan is its own fault.
    let planned = reader.read_back(&task.instruction, &mut access).and_then(|case| {
        let ids = reader.addresses(&case, &mut access)?;
        let script = family.script(&case, &optimised.greedy(&case)?)?;
        Ok((ids, script))
    });
    if let Ok((ids, script)) = planned {
        follow(&script, BoundKeys::new(ids), episode);
    }
    Ok(())
}

/// Makes the calls of a script that knows nothing but what it reads, until one is refused.
fn read_along(script: &Script, domain: &Domain, episode: &mut dyn Hosted) {
    let Ok(mut seen) = seen::begin(script, domain, domain.now) else { return };
    for (at, step) in script.steps.iter().enumerate() {
        let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments);
        if seen::step_with(&mut seen, at, step, &mut call, &mut |_, _, _| ()).is_err() {
            return;
        }
    }
}

/// Makes the calls of a script until one is refused.
fn follow(script: &Script, mut bound: BoundKeys, episode: &mut dyn Hosted) {
    for step in &script.steps {
        let Ok(arguments) = bound.fill(&step.args) else { return };
        let Ok(answer) = episode.call(&step.tool(), &arguments.to_string()) else { return };
        if step.bind.is_some() {
            let Ok(answer) = serde_json::from_str(&answer) else { return };
            if bound.note(step, &answer).is_err() {
                return;
            }
        }
    }
}

/// Tool access that can only read.
struct Reads<'e> {
    episode: &'e mut dyn Hosted,
}

impl ToolAccess for Reads<'_> {
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, NotAnswered> {
        if !self.episode.tools().iter().any(|known| known.name == tool && known.reads_only) {
            return Err(NotAnswered(format!("`{tool}` is no tool that only reads")));
        }
        answered(self.episode.call(tool, &arguments.to_string()))
    }
}

/// The rows that an agent has seen, by table.
struct Seen {
    rows: BTreeMap<String, Vec<RowId>>,
    today: Date,
}

impl Ground for Seen {
    fn count(&self, table: &str) -> usize {
        self.rows.get(table).map_or(0, Vec::len)
    }
    fn row(&self, table: &str, nth: usize) -> Option<RowId> {
        self.rows.get(table)?.get(nth).copied()
    }
    fn today(&self) -> Date {
        self.today
    }
}

impl Seen {
    /// Looks at one page of every list.
    fn look(episode: &mut dyn Hosted, instruction: &str) -> Seen {
        let lists: Vec<(String, String)> = episode
            .tools()
            .iter()
            .filter(|card| card.reads_only && card.arguments["required"].as_array().is_none_or(Vec::is_empty))
            .filter_map(|card| Some((card.name.clone(), card.table.clone()?)))
            .collect();
        let mut rows: BTreeMap<String, Vec<RowId>> = BTreeMap::new();
        for (tool, table) in lists {
            let asked = json!({ "limit": 200 });
            let answer = episode.call(&tool, &asked.to_string()).or_else(|_| episode.call(&tool, "{}"));
            let Ok(Ok(answer)) = answer.map(|answer| serde_json::from_str::<Json>(&answer)) else { continue };
            let found = rows.entry(table).or_default();
            ids(&answer, found);
            found.sort_unstable();
            found.dedup();
        }
        // The first date that the brief names is the day of the job.
        let words = instruction.split(|c: char| !c.is_ascii_digit() && c != '-');
        let today = words.into_iter().find_map(Date::parse).unwrap_or(Date(0));
        Seen { rows, today }
    }

    /// Notes what a call made.
    fn note(&mut self, card: &ToolCard, answer: &str) {
        let Some(table) = &card.table else { return };
        let Ok(answer) = serde_json::from_str::<Json>(answer) else { return };
        let found = self.rows.entry(table.clone()).or_default();
        match &answer {
            Json::Array(made) => {
                found.extend(made.iter().filter_map(Json::as_u64).filter_map(|id| RowId::try_from(id).ok()));
            }
            other => ids(other, found),
        }
        found.sort_unstable();
        found.dedup();
    }
}

/// The ids of the records in an answer.
pub(crate) fn ids(answer: &Json, found: &mut Vec<RowId>) {
    match answer {
        Json::Array(list) => list.iter().for_each(|item| ids(item, found)),
        Json::Object(map) => {
            if let Some(id) = map.get("id").and_then(Json::as_u64).and_then(|id| RowId::try_from(id).ok()) {
                found.push(id);
            } else {
                map.values().filter(|value| value.is_array()).for_each(|value| ids(value, found));
            }
        }
        _ => {}
    }
}

fn random(task: &OpenPart, episode: &mut dyn Hosted, attempt: u32) {
    let mut maker = Maker::new(&["random", &task.open.id, &attempt.to_string()]);
    if documents::hand_in(episode, maker.stream()) {
        return;
    }
    let mut seen = Seen::look(episode, &task.instruction);
    let levers: Vec<ToolCard> = episode.tools().iter().filter(|card| !card.reads_only).cloned().collect();
    let (work, rest): (Vec<&ToolCard>, Vec<&ToolCard>) = levers.iter().partition(|card| is_work(card));
    for _ in 0..RANDOM_CALLS {
        let pool = if maker.stream().chance(1, 2) && !work.is_empty() { &work } else { &rest };
        let Some(card) = maker.stream().pick(pool).copied() else { break };
        let arguments = maker.arguments(&card.arguments, &seen);
        if let Ok(answer) = episode.call(&card.name, &arguments.to_string()) {
            seen.note(card, &answer);
        }
    }
}

fn spam(task: &OpenPart, episode: &mut dyn Hosted, attempt: u32) {
    let mut maker = Maker::new(&["spam", &task.open.id, &attempt.to_string()]);
    if documents::hand_in(episode, maker.stream()) {
        return;
    }
    let seen = Seen::look(episode, &task.instruction);
    let mut levers: Vec<ToolCard> = episode.tools().iter().filter(|card| !card.reads_only).cloned().collect();
    // What makes and confirms comes first; the rest in an order of its own for each attempt.
    maker.stream().shuffle(&mut levers);
    levers.sort_by_key(|card| !is_work(card));
    let mut left = SPAM_CALLS;
    for card in &levers {
        let table = ids_of(&card.arguments).map(str::to_owned).or(card.table.clone());
        let rows = table.and_then(|table| seen.rows.get(&table)).cloned().unwrap_or_default();
        let fields = &card.arguments["properties"]["vals"]["properties"];
        let names: Vec<&String> = fields.as_object().into_iter().flat_map(|fields| fields.keys()).collect();
        for id in rows {
            let mut arguments = json!({ "ids": [id] });
            if let Some(name) = maker.stream().pick(&names).copied() {
                arguments["vals"] = json!({ name.as_str(): maker.value(&fields[name], name, &seen, 0) });
            } else if ids_of(&card.arguments).is_none() {
                arguments = maker.arguments(&card.arguments, &seen);
            }
            // A refusal is an answer like any other to who does not read.
            let _ = episode.call(&card.name, &arguments.to_string());
            left -= 1;
            if left == 0 {
                return;
            }
        }
    }
}

/// Whether a tool makes records or carries them forwards.
fn is_work(card: &ToolCard) -> bool {
    let forwards = ["_create", "_confirm", "_post", "_create_invoices", "_submit", "_approve"];
    card.name.starts_with("create_") || forwards.iter().any(|end| card.name.ends_with(end))
}
