//! Changing any one thing that the task does not license fails the frame; reading everything changes nothing.
//!
//! The changes are made in two ways. In the oracle's terminal state itself, for every table and every class of its seeded
//! rows: fields changed, a row deleted, a row added. And by calls after the oracle's, wherever a tool can write, delete or
//! create such a row. Which fields are tried is drawn from the task's id, so that a suite tries them all.

use super::reading::read_everything;
use crate::{
    Finding, Held, Subject,
    ground::Here,
    values::{Ground, place, shown, something},
};
use benchwright_base::{RelationId, RowId, Stream, TableId, Value};
use benchwright_calls::offered::{Maker, ids_of};
use benchwright_grade::Grader;
use benchwright_pack::{CheckStatus, Ending, Snapshot, Verdict};
use benchwright_sandbox::Episode;
use benchwright_schema::{Domain, Tool, Verb, arguments_schema, plan::Body};
use benchwright_world::replay;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Fields that are changed in a row of each class.
const FIELDS: usize = 2;
/// The most changes to a state, and the most by calls.
const MOST: usize = 240;
/// How often a value is drawn that is to differ from the old one.
const DRAWS: usize = 4;

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    match all(subject, grader) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

fn all(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<Finding, String> {
    let mut faults = reading(subject, grader)?;
    let episode = subject.done()?;
    let mut frame = Frame { subject, grader, state: episode.snapshot(), stream: stream(subject, "state") };
    let changes = frame.changes();
    let (tried, classes) = (changes.len(), frame.classes().len());
    for (what, state) in changes {
        faults.extend(frame.refused(&what, &state)?);
    }
    let (calls, found) = frame.calls(&episode)?;
    faults.extend(found);
    let finding = Finding::of(&faults);
    Ok(finding.count("classes", classes).count("changes", tried).count("calls", calls))
}

fn stream(subject: &Subject<'_>, purpose: &str) -> Stream {
    Stream::new(0, &["frame", purpose, &subject.task.open.id])
}

/// Reads everything before and after the oracle's work: the verdict is the same as without.
fn reading(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    let grade = |state: &Snapshot| grader.grade(state).map_err(|error| error.to_string());
    let plain = grade(&subject.done()?.snapshot())?;
    let mut episode = subject.begin().map_err(|error| error.to_string())?;
    read_everything(&mut episode)?;
    if episode.snapshot() != subject.first {
        faults.push("reading everything changes the world".to_owned());
    }
    replay(&subject.task.sealed.oracle, &mut subject.bound_keys(), &mut episode).map_err(|error| error.to_string())?;
    read_everything(&mut episode)?;
    let verdict = grade(&episode.snapshot())?;
    if verdict != plain || verdict.reward != subject.worth() {
        let failed = verdict.failed();
        faults.push(format!("with everything read the oracle earns {}: {failed:?}", verdict.reward));
    }
    Ok(faults)
}

/// A row of the first state that stands for its class.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Spot {
    table: TableId,
    row: RowId,
    /// Whether it does not belong to the job.
    apart: bool,
}

struct Frame<'s, 'a> {
    subject: &'s Subject<'a>,
    grader: &'s Grader<'s>,
    /// What the oracle leaves.
    state: Snapshot,
    stream: Stream,
}

impl Frame<'_, '_> {
    fn domain(&self) -> &Domain {
        &self.subject.domain
    }

    fn ground(&self) -> Ground<'_> {
        Ground::of(self.subject)
    }

    /// Whether a state with one change is refused by the frame; what was seen if it is not.
    fn refused(&self, what: &str, state: &Snapshot) -> Result<Option<String>, String> {
        let verdict = self.grader.grade(state).map_err(|error| error.to_string())?;
        let framed = verdict.checks.iter().any(|check| check.status == CheckStatus::Fail && self.is_frame(&check.rule));
        let gated = verdict.gates.iter().any(|gate| self.is_frame(gate));
        let refused = framed && gated && verdict.ending == Ending::Fail && verdict.reward == 0 && !verdict.paper_pass;
        Ok((!refused).then(|| not_refused(what, &verdict)))
    }

    /// By the compiled rules, as all that is licensed: the verifier's word is what is tried.
    fn is_frame(&self, rule: &str) -> bool {
        self.subject.plan.rules.iter().any(|known| known.id == rule && matches!(known.body, Body::Frame))
    }

    /// One row of each class of each table: rows whose keys begin alike are of one class.
    fn classes(&mut self) -> Vec<Spot> {
        let keys = &self.subject.task.sealed.verifier.keys;
        let apart = &self.subject.plan.frame.apart;
        let mut spots = Vec::new();
        for (at, table) in self.subject.first.tables.iter().enumerate() {
            let known = keys.get(&self.subject.domain.tables[at].name);
            let mut classes: BTreeMap<&str, Vec<(RowId, bool)>> = BTreeMap::new();
            for id in table.rows.iter().filter_map(|row| row[0].as_ref_id()) {
                let key = known.and_then(|known| known.get(&id)).map_or("", |key| &**key);
                let is_apart = apart.as_ref().is_some_and(|apart| key.starts_with(&**apart));
                classes.entry(key.split('/').next().unwrap_or_default()).or_default().push((id, is_apart));
            }
            for rows in classes.values() {
                if let Some((row, apart)) = self.stream.pick(rows) {
                    spots.push(Spot { table: RelationId(at as u16), row: *row, apart: *apart });
                }
            }
        }
        spots
    }

    /// Whether a field of a row may change, or is never compared.
    fn licensed(&self, spot: &Spot, field: &str) -> bool {
        let frame = &self.subject.plan.frame;
        let table = &self.domain().table(spot.table).name;
        let listed = |lists: &BTreeMap<String, Vec<String>>| {
            lists.get(table).is_some_and(|fields| fields.iter().any(|known| known == field))
        };
        listed(&frame.ignore) || (!spot.apart && listed(&frame.change))
    }

    /// States with one change each.
    fn changes(&mut self) -> Vec<(String, Snapshot)> {
        let mut changes = Vec::new();
        for spot in self.classes() {
            let Some(at) = place(&self.state, spot.table, spot.row) else { continue };
            let declared = self.subject.domain.table(spot.table);
            let mut fields: Vec<usize> =
                (1..declared.fields.len()).filter(|at| !self.licensed(&spot, &declared.fields[*at].name)).collect();
            self.stream.shuffle(&mut fields);
            let mut left = FIELDS;
            for field in fields {
                let Some(new) = self.ground().others(&self.state, spot.table, at, field).into_iter().next() else {
                    continue;
                };
                let mut state = self.state.clone();
                state.tables[spot.table.index()].rows[at][field] = new;
                changes.push((format!("{} {}: {}", declared.name, spot.row, declared.fields[field].name), state));
                left -= 1;
                if left == 0 {
                    break;
                }
            }
            let mut state = self.state.clone();
            state.tables[spot.table.index()].rows.remove(at);
            changes.push((format!("{} {} deleted", declared.name, spot.row), state));
        }
        for at in 0..self.domain().tables.len() {
            changes.extend(self.addition(RelationId(at as u16)));
        }
        // The first of a table matter most, but every table comes before the bound.
        if changes.len() > MOST {
            self.stream.shuffle(&mut changes);
            changes.truncate(MOST);
        }
        changes
    }

    /// Whether rows of a table may be new, whatever they are. What the system makes is known by its content, so another row is not.
    fn may_grow(&self, table: &str) -> bool {
        let frame = &self.subject.plan.frame;
        frame.new.contains_key(table) || frame.system.get(table).is_some_and(|condition| condition == "true")
    }

    /// The state with one row more in a table that may not grow.
    fn addition(&self, table: TableId) -> Option<(String, Snapshot)> {
        let declared = self.domain().table(table);
        if self.may_grow(&declared.name) {
            return None;
        }
        let mut state = self.state.clone();
        let rows = &mut state.tables[table.index()];
        let id = rows.next_id.max(1);
        // A copy of the last row keeps types and references, so that nothing but the frame can object.
        let mut row = match rows.rows.last() {
            Some(row) => row.clone(),
            None => declared.fields.iter().map(|field| something(self.domain(), field)).collect(),
        };
        row[0] = Value::Ref(id);
        rows.rows.push(row);
        rows.next_id = id + 1;
        Some((format!("a row of {} added", declared.name), state))
    }

    /// Makes one unlicensed change by each tool that can, after the oracle's work.
    fn calls(&mut self, done: &Episode) -> Result<(usize, Vec<String>), String> {
        let mut maker = Maker::new(&["frame", "calls", &self.subject.task.open.id]);
        let spots = self.classes();
        let mut faults = Vec::new();
        let mut made = 0;
        let tools: Vec<Tool> = self.domain().tools.iter().filter(|tool| !tool.reads_only()).cloned().collect();
        for tool in &tools {
            let schema = arguments_schema(self.domain(), tool);
            for probe in self.probes(tool, &schema, &spots, &mut maker, done) {
                if made >= MOST {
                    return Ok((made, faults));
                }
                let mut episode = done.fork();
                if episode.call(&tool.name, &probe.arguments.to_string()).is_err() {
                    continue;
                }
                let state = episode.snapshot();
                if !probe.took(&self.state, &state) {
                    continue;
                }
                made += 1;
                let what = format!("{} {}", tool.name, probe.arguments);
                faults.extend(self.refused(&what, &state)?);
            }
        }
        Ok((made, faults))
    }

    /// Calls of a tool that would change what may not change.
    fn probes(&self, tool: &Tool, schema: &Json, spots: &[Spot], maker: &mut Maker, done: &Episode) -> Vec<Probe> {
        let properties = &schema["properties"];
        let table = ids_of(schema).and_then(|table| self.domain().table_named(table)).or(tool.table);
        let spots = spots.iter().filter(|spot| Some(spot.table) == table);
        if tool.verb == Verb::Delete || tool.name.ends_with("_unlink") {
            let delete = |spot: &Spot| {
                let arguments =
                    if ids_of(schema).is_some() { json!({ "ids": [spot.row] }) } else { json!({ "id": spot.row }) };
                Probe { arguments, spot: spot.clone(), change: Change::Deleted }
            };
            return spots.map(delete).collect();
        }
        let listed = kind_is_object(&properties["vals"]);
        if listed || (tool.verb == Verb::Update && properties["id"].is_object()) {
            let fields = if listed { &properties["vals"]["properties"] } else { properties };
            return spots.flat_map(|spot| self.writes(spot, fields, listed, maker, done)).collect();
        }
        self.creation(tool, schema, maker, done).into_iter().collect()
    }

    fn writes(&self, spot: &Spot, fields: &Json, listed: bool, maker: &mut Maker, done: &Episode) -> Vec<Probe> {
        let Some(fields) = fields.as_object() else { return Vec::new() };
        let declared = self.domain().table(spot.table);
        let Some(at) = place(&self.state, spot.table, spot.row) else { return Vec::new() };
        let row = &self.state.tables[spot.table.index()].rows[at];
        let mut names: Vec<(&String, usize)> = fields
            .keys()
            .filter_map(|name| Some((name, declared.field_named(name)?.index())))
            .filter(|(name, at)| *at > 0 && !self.licensed(spot, name))
            .collect();
        maker.stream().shuffle(&mut names);
        let mut probes = Vec::new();
        for (name, field) in names.into_iter().take(FIELDS) {
            for _ in 0..DRAWS {
                let value = maker.value(&fields[name], name, &Here(done), 0);
                // Numbers and words of the row itself would change nothing.
                if shown(self.domain(), declared.fields[field].ty, &row[field]) == value {
                    continue;
                }
                let arguments = if listed {
                    json!({ "ids": [spot.row], "vals": { name.as_str(): value } })
                } else {
                    json!({ "id": spot.row, name.as_str(): value })
                };
                probes.push(Probe { arguments, spot: spot.clone(), change: Change::Field(field) });
                break;
            }
        }
        probes
    }

    fn creation(&self, tool: &Tool, schema: &Json, maker: &mut Maker, done: &Episode) -> Option<Probe> {
        let declared = matches!(tool.verb, Verb::Create | Verb::Link | Verb::Send);
        if !declared && !tool.name.ends_with("_create") {
            return None;
        }
        let name = tool.name.trim_end_matches("_create");
        let table = tool.table.or_else(|| self.domain().table_named(name))?;
        if self.may_grow(&self.domain().table(table).name) {
            return None;
        }
        let mut arguments = maker.arguments(schema, &Here(done));
        if let Some(list) = arguments["vals_list"].as_array_mut() {
            list.truncate(1);
        }
        Some(Probe { arguments, spot: Spot { table, row: 0, apart: false }, change: Change::Created })
    }
}

/// A call that would change one thing.
struct Probe {
    arguments: Json,
    spot: Spot,
    change: Change,
}

enum Change {
    Field(usize),
    Deleted,
    Created,
}

impl Probe {
    /// Whether the world really differs where the call was to change it.
    fn took(&self, before: &Snapshot, after: &Snapshot) -> bool {
        let table = self.spot.table.index();
        let row = |state: &Snapshot| {
            place(state, self.spot.table, self.spot.row).map(|at| state.tables[table].rows[at].clone())
        };
        match self.change {
            Change::Field(field) => {
                row(before).map(|row| row[field].clone()) != row(after).map(|row| row[field].clone())
            }
            Change::Deleted => row(after).is_none(),
            Change::Created => after.tables[table].rows.len() > before.tables[table].rows.len(),
        }
    }
}

fn not_refused(what: &str, verdict: &Verdict) -> String {
    format!("{what}: {:?}, reward {}, failed {:?}", verdict.ending, verdict.reward, verdict.failed())
}

fn kind_is_object(schema: &Json) -> bool {
    schema["properties"].is_object()
}
