//! An agent that does what any text asks it to. It knows hostile text by the wordings that a domain declares, and has everything else
//! from answers: the text, the record that it stands in, and the ids that it speaks of. It reads as agents do, on the way of the work
//! or by looking through lists.

use crate::{ReplayError, seen};
use benchwright_base::TableId;
use benchwright_expr::Type;
use benchwright_pack::{BoundKeys, Refusal, Script};
use benchwright_schema::{Domain, Shape, Tool, Verb, arguments_schema};
use seen::CallFn;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The most rows that a list is asked for at a time.
const PAGE: u64 = 200;
/// The most pages of a list that are looked at.
const PAGES: usize = 25;
/// The most records of a table that a tool is asked about, one by one.
const RECORDS: usize = 60;

/// What a text asks for.
#[derive(Clone, PartialEq, Debug)]
pub struct Heard {
    /// The kind of text.
    pub kind: String,
    /// The tool that it wants to be called.
    pub tool: String,
    /// With which arguments.
    pub arguments: Json,
}

/// What became of an obedient agent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Obeyed {
    /// What it read, and obeyed.
    pub heard: Option<Heard>,
    /// Whether an answer on the way of the work showed it; otherwise it was found by looking through lists.
    pub on_the_way: bool,
    /// Why its call did not stand, if it was refused.
    pub refused: Option<Refusal>,
}

/// What some text in an answer asks for; nothing if there is none.
pub fn listen(domain: &Domain, answer: &str) -> Option<Heard> {
    if domain.injections.is_empty() {
        return None;
    }
    in_value(domain, &serde_json::from_str(answer).ok()?)
}

fn in_value(domain: &Domain, value: &Json) -> Option<Heard> {
    match value {
        Json::Array(list) => list.iter().find_map(|item| in_value(domain, item)),
        Json::Object(map) => in_record(domain, map).or_else(|| map.values().find_map(|item| in_value(domain, item))),
        _ => None,
    }
}

/// A record shows its id beside the text.
fn in_record(domain: &Domain, record: &Map<String, Json>) -> Option<Heard> {
    let id = record.get("id").and_then(Json::as_u64).and_then(|id| u32::try_from(id).ok())?;
    domain.injections.iter().find_map(|kind| {
        let text = record.get(&domain.table(kind.table).field(kind.field).name)?.as_str()?;
        let arguments = kind.heard(text, id)?;
        Some(Heard { kind: kind.name.clone(), tool: domain.tools[kind.tool].name.clone(), arguments })
    })
}

/// Makes the calls of a script, with keys or by what it reads, until one is refused.
pub fn play(script: &Script, mut bound: BoundKeys, domain: &Domain, call: &mut CallFn<'_>) -> Result<(), ReplayError> {
    if script.reads {
        let unbound = |error: seen::SeenError| ReplayError::Answer { at: 0, why: error.0 };
        let mut seen = seen::begin(script, domain, domain.now).map_err(unbound)?;
        let mut steps = script.steps.iter().enumerate();
        return steps.try_for_each(|(at, step)| seen::step_with(&mut seen, at, step, call, &mut |_, _, _| ()));
    }
    for (at, step) in script.steps.iter().enumerate() {
        let arguments = bound.fill(&step.args).map_err(|why| ReplayError::Script { at, why })?;
        let tool = step.tool();
        let answer = call(&tool, &arguments.to_string());
        let answer = answer.map_err(|refusal| ReplayError::Refused { at, tool, refusal })?;
        if step.bind.is_some() {
            let read = serde_json::from_str(&answer);
            let answer = read.map_err(|error| ReplayError::Answer { at, why: error.to_string() })?;
            bound.note(step, &answer).map_err(|why| ReplayError::Script { at, why })?;
        }
    }
    Ok(())
}

/// Does the work of a script and what a text asks for, as soon as an answer shows one. A script that reads nothing is the work of
/// somebody who has looked at the records before.
pub fn obedient(domain: &Domain, script: &Script, bound: BoundKeys, call: &mut CallFn<'_>) -> Obeyed {
    let mut obeyed = Obeyed::default();
    if !script.reads {
        look(domain, &mut |tool, arguments| obeyed.call(domain, tool, arguments, call));
    }
    let before = obeyed.heard.is_some();
    // What it spoils for itself by obeying is its own fault: it goes on as far as it comes.
    let _ = play(script, bound, domain, &mut |tool, arguments| obeyed.call(domain, tool, arguments, call));
    obeyed.on_the_way = obeyed.heard.is_some() && !before;
    if obeyed.heard.is_none() && script.reads {
        look(domain, &mut |tool, arguments| obeyed.call(domain, tool, arguments, call));
    }
    obeyed
}

impl Obeyed {
    /// Makes a call, and the one that its answer asks for.
    fn call(&mut self, domain: &Domain, tool: &str, arguments: &str, call: &mut CallFn<'_>) -> Result<String, Refusal> {
        let answer = call(tool, arguments)?;
        if self.heard.is_none() {
            self.heard = listen(domain, &answer);
            if let Some(heard) = &self.heard {
                self.refused = call(&heard.tool, &heard.arguments.to_string()).err();
            }
        }
        Ok(answer)
    }
}

/// The records that answers have named, by table.
type Named = BTreeMap<TableId, BTreeSet<u64>>;

/// Looks through every list that there is, then through those of each record that answers have named, until a text was heard.
pub fn look(domain: &Domain, call: &mut CallFn<'_>) {
    let mut named = Named::new();
    let reading = domain.tools.iter().filter(|tool| tool.reads_only());
    let reading = reading.filter(|tool| !matches!(tool.verb, Verb::Count | Verb::Sum | Verb::Avg));
    let reading: Vec<(&Tool, Json)> = reading.map(|tool| (tool, arguments_schema(domain, tool))).collect();
    let required = |schema: &Json| schema["required"].as_array().map_or(0, Vec::len);
    for (tool, schema) in reading.iter().filter(|(_, schema)| required(schema) == 0) {
        if pages(domain, tool, schema, Map::new(), &mut named, call) {
            return;
        }
    }
    for (tool, schema) in reading.iter().filter(|(_, schema)| required(schema) == 1) {
        let Some((name, table)) = record_argument(tool).or_else(|| owner_argument(domain, tool)) else { continue };
        for id in named.get(&table).cloned().unwrap_or_default().into_iter().take(RECORDS) {
            let given = Map::from_iter([(name.to_owned(), json!(id))]);
            if pages(domain, tool, schema, given, &mut named, call) {
                return;
            }
        }
    }
}

/// Reads a list to its end; whether a text was heard.
fn pages(
    domain: &Domain,
    tool: &Tool,
    schema: &Json,
    given: Map<String, Json>,
    named: &mut Named,
    call: &mut CallFn<'_>,
) -> bool {
    let takes = |name: &str| schema["properties"].get(name).is_some();
    let mut arguments = Json::Object(given);
    if takes("limit") {
        arguments["limit"] = json!(PAGE);
    }
    let table = tool.table.or_else(|| tool.native.as_ref()?.subject());
    for page in 1..=PAGES {
        // What may not be read is passed over.
        let Ok(answer) = call(&tool.name, &arguments.to_string()) else { return false };
        if listen(domain, &answer).is_some() {
            return true;
        }
        let read: Json = serde_json::from_str(&answer).unwrap_or_default();
        let rows = read.as_array().or_else(|| read["rows"].as_array());
        if let Some(table) = table {
            let ids = rows.into_iter().flatten().filter_map(|row| row["id"].as_u64());
            named.entry(table).or_default().extend(ids);
        }
        let is_full = rows.is_some_and(|rows| rows.len() as u64 == PAGE);
        match read["next_cursor"].as_str() {
            Some(cursor) if takes("cursor") => arguments["cursor"] = json!(cursor),
            None if takes("offset") && is_full => arguments["offset"] = json!(page as u64 * PAGE),
            _ => return false,
        }
    }
    false
}

/// The argument by which a tool is told one record, and the table of that.
fn record_argument(tool: &Tool) -> Option<(&str, TableId)> {
    if let Some(native) = &tool.native {
        let argument = native.takes.iter().find(|argument| argument.required && !argument.list)?;
        return match (argument.shape, argument.cell.ty) {
            (Shape::Value, Type::Ref(table)) => Some((&argument.cell.name, table)),
            _ => None,
        };
    }
    (tool.by.is_empty() && tool.verb == Verb::Get).then_some("id").zip(tool.table)
}

/// The same of a list of what belongs to one record.
fn owner_argument<'d>(domain: &'d Domain, tool: &Tool) -> Option<(&'d str, TableId)> {
    let field = domain.table(tool.table?).field(tool.by.iter().find(|filter| filter.required)?.field);
    match field.ty {
        Type::Ref(table) => Some((&field.name, table)),
        _ => None,
    }
}
