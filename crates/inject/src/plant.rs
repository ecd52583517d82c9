//! Chooses a text, a record and a wording for a task, plants it, and proves that it will do.

use crate::{Ground, NotInjected, bound_keys, forbid, stream};
use benchwright_base::{Digest, FieldId, RowId, Stream, TableId, Value};
use benchwright_expr::eval::{Judge, Records as _};
use benchwright_grade::{ACTIVITY, FULL, SnapshotRecords, TaskJudge};
use benchwright_pack::{Delta, Ending, PlantedInjection, Snapshot, TableDelta, Task, Verdict};
use benchwright_project::{named, salted};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{Domain, Injection, Slot, Wording, codec, plan::Plan};
use benchwright_world::{obey, seen};
use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The most records that are tried with a kind.
const MOST_RECORDS: usize = 8;
/// The most choices of the rows that a text speaks of.
const MOST_CHOICES: usize = 5;

/// A task with a hostile text in its first state. The same task gets the same text.
pub fn injected(task: &Task, ground: &Ground<'_>) -> Result<Task, NotInjected> {
    let world = (ground.open)(&task.world)?;
    let domain = Arc::clone(world.domain());
    if domain.injections.is_empty() {
        return Err(NotInjected::NoKinds(domain.name.clone()));
    }
    check_plan(task, &domain)?;
    let maker = Maker { task, ground, domain: &domain, first: world.first_snapshot(), used: used(task, &world)? };
    let mut stream = stream(&task.sealed, "text");
    let mut kinds: Vec<&Injection> = domain.injections.iter().collect();
    stream.shuffle(&mut kinds);
    let mut causes: BTreeMap<String, u32> = BTreeMap::new();
    let spoken_of = words(task);
    for kind in kinds {
        let field = &domain.table(kind.table).field(kind.field).name;
        if spoken_of.contains(field) {
            causes.insert(format!("{}: the request speaks of `{field}`", kind.name), 1);
            continue;
        }
        for row in maker.records(kind, &mut stream) {
            for _ in 0..if kind.speaks_of.is_empty() { 1 } else { MOST_CHOICES } {
                match maker.attempt(kind, row, &mut stream) {
                    Ok(task) => return Ok(task),
                    Err(Unfit::Because(why)) => *causes.entry(format!("{}: {why}", kind.name)).or_default() += 1,
                    Err(Unfit::Fault(why)) => return Err(NotInjected::Task(why)),
                }
            }
        }
    }
    let causes: Vec<String> = causes.iter().map(|(why, times)| format!("{why} ({times})")).collect();
    let causes = if causes.is_empty() { "there is none that may".to_owned() } else { causes.join(", ") };
    Err(NotInjected::Nowhere { id: task.open.id.clone(), causes })
}

/// No view and no condition of the task's plan may read what carries a text.
fn check_plan(task: &Task, domain: &Domain) -> Result<(), NotInjected> {
    if task.sealed.effects.is_some() {
        return Ok(());
    }
    let plan = Plan::compile(&task.sealed.verifier.plan, domain);
    let plan = plan.map_err(|faults| NotInjected::Task(faults.to_string()))?;
    for kind in &domain.injections {
        let wanted = (kind.table, kind.field);
        let mut by = None;
        for view in &plan.views {
            let exprs = view.fields.iter().map(|field| &field.reads).chain(&view.only);
            exprs.for_each(|expr| {
                expr.reads(&mut |table, field| {
                    if (table, field) == wanted {
                        by = Some(view.name.clone());
                    }
                });
            });
        }
        for (declared, frame) in domain.tables.iter().zip(&plan.tables) {
            let exprs = frame.new.iter().chain(&frame.system).chain(frame.held.iter().map(|held| &held.expr));
            exprs.for_each(|expr| {
                expr.reads(&mut |table, field| {
                    if (table, field) == wanted {
                        by = Some(declared.name.clone());
                    }
                });
            });
        }
        if let Some(by) = by {
            let declared = domain.table(kind.table);
            let place = format!("{}.{}", declared.name, declared.field(kind.field).name);
            return Err(NotInjected::Read { domain: domain.name.clone(), kind: kind.name.clone(), place, by });
        }
    }
    Ok(())
}

/// The names that the conditions and values of a request use, and the fields that it writes: what it speaks of carries no text.
fn words(task: &Task) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let Some(effects) = &task.sealed.effects else { return words };
    let mut add = |text: &str| {
        let names = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        words.extend(names.map(str::to_owned));
    };
    for step in &task.sealed.oracle.steps {
        step.finds.iter().flat_map(|find| [Some(&find.of), find.by.as_ref()]).flatten().for_each(|text| add(text));
        expressions(&step.args, &mut add);
    }
    effects.ensure.iter().for_each(|ensured| add(&ensured.holds));
    effects.expected.iter().flat_map(|row| row.cells.keys()).for_each(|field| add(field));
    words
}

/// Calls `each` on the expressions in the arguments of a step.
fn expressions(value: &Json, each: &mut dyn FnMut(&str)) {
    match value {
        Json::Array(list) => list.iter().for_each(|item| expressions(item, each)),
        Json::Object(map) => {
            map.get("$").and_then(Json::as_str).into_iter().for_each(&mut *each);
            map.values().for_each(|item| expressions(item, each));
        }
        _ => {}
    }
}

/// The rows that the oracle is shown, or names: whoever does the work comes by them.
fn used(task: &Task, world: &Arc<Sandbox>) -> Result<BTreeSet<(TableId, RowId)>, NotInjected> {
    let (sealed, domain) = (&task.sealed, world.domain());
    let mut used = BTreeSet::new();
    if !sealed.oracle.reads {
        let mut keys = BTreeSet::new();
        sealed.oracle.steps.iter().for_each(|step| named_keys(&step.args, &mut keys));
        for (table, rows) in &sealed.verifier.keys {
            let Some(table) = domain.table_named(table) else { continue };
            used.extend(rows.iter().filter(|(_, key)| keys.contains(&***key)).map(|(row, _)| (table, *row)));
        }
        return Ok(used);
    }
    let fault = |why: String| NotInjected::Task(why);
    let mut episode = begin(task, world).map_err(fault)?;
    let mut seen = seen::begin(&sealed.oracle, domain, domain.now).map_err(|error| fault(error.0))?;
    for (at, step) in sealed.oracle.steps.iter().enumerate() {
        let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments);
        seen::step_with(&mut seen, at, step, &mut call, &mut |_, _, _| ()).map_err(|error| fault(error.to_string()))?;
    }
    for table in domain.injections.iter().map(|kind| kind.table) {
        let rows = episode.rows(table).map(benchwright_sandbox::Row::id);
        used.extend(rows.filter(|row| seen.has(table, *row)).map(|row| (table, row)));
    }
    Ok(used)
}

fn named_keys<'a>(value: &'a Json, keys: &mut BTreeSet<&'a str>) {
    match value {
        Json::Array(list) => list.iter().for_each(|item| named_keys(item, keys)),
        Json::Object(map) => {
            keys.extend(map.get("$").and_then(Json::as_str));
            map.values().for_each(|item| named_keys(item, keys));
        }
        _ => {}
    }
}

fn begin(task: &Task, world: &Arc<Sandbox>) -> Result<Episode, String> {
    world.begin(&world.seat_of(&task.open), Conditions::default()).map_err(|error| error.to_string())
}

/// Why a text will not do somewhere.
enum Unfit {
    /// The next is tried, and this is counted.
    Because(String),
    /// Nothing can be tried at all.
    Fault(String),
}

fn because<T>(why: impl Into<String>) -> Result<T, Unfit> {
    Err(Unfit::Because(why.into()))
}

struct Maker<'a> {
    task: &'a Task,
    ground: &'a Ground<'a>,
    domain: &'a Domain,
    first: Snapshot,
    used: BTreeSet<(TableId, RowId)>,
}

impl Maker<'_> {
    /// The records that may carry a kind, those that the work comes by first.
    fn records(&self, kind: &Injection, stream: &mut Stream) -> Vec<RowId> {
        let records = SnapshotRecords(&self.first);
        let may = |row: &&[Value]| {
            kind.only.as_ref().is_none_or(|only| Judge::new(&records, self.first.now).of(*row).holds(only))
        };
        let rows = self.first.tables[kind.table.index()].rows.iter().map(|row| &**row);
        let mut rows: Vec<RowId> = rows.filter(may).filter_map(|row| row.first()?.as_ref_id()).collect();
        stream.shuffle(&mut rows);
        rows.sort_by_key(|row| !self.used.contains(&(kind.table, *row)));
        rows.truncate(MOST_RECORDS);
        rows
    }

    /// One row for each that a text speaks of.
    fn spoken_of(&self, kind: &Injection, row: &[Value], stream: &mut Stream) -> Option<Vec<RowId>> {
        let records = SnapshotRecords(&self.first);
        let choose = |spoken: &benchwright_schema::SpokenOf| {
            let judge = Judge::new(&records, self.first.now).of(row);
            let holds = |other: &&[Value]| {
                let Some(condition) = &spoken.condition else { return true };
                let mut judge = Judge::new(&records, self.first.now).of(row);
                judge.it = Some(*other);
                judge.holds(condition)
            };
            let rows: Vec<&[Value]> = judge.rows(&spoken.source).into_iter().filter(holds).collect();
            stream.pick(&rows).and_then(|row| row.first()?.as_ref_id())
        };
        kind.speaks_of.iter().map(choose).collect()
    }

    /// A wording with its slots filled in; nothing if a record does not have what it shows.
    fn told(&self, kind: &Injection, wording: &Wording, row: &[Value], spoken: &[RowId]) -> Option<String> {
        let records = SnapshotRecords(&self.first);
        let mut whole = true;
        let text = wording.told(&mut |slot: &Slot| {
            let (table, of) = match slot.of {
                None => (kind.table, Some(row)),
                Some(at) => (kind.speaks_of[at].table, records.row(kind.speaks_of[at].table, spoken[at])),
            };
            let value = of.and_then(|of| of.get(slot.field.index())).filter(|value| !value.is_null());
            whole &= value.is_some();
            let ty = self.domain.table(table).field(slot.field).ty;
            value.map_or_else(String::new, |value| codec::show_value(self.domain, ty, value))
        });
        whole.then_some(text)
    }

    /// Plants a kind in a record, and proves that it will do there.
    fn attempt(&self, kind: &Injection, id: RowId, stream: &mut Stream) -> Result<Task, Unfit> {
        let records = SnapshotRecords(&self.first);
        let Some(row) = records.row(kind.table, id) else { return because("the record is gone") };
        let Some(spoken) = self.spoken_of(kind, row, stream) else { return because("there is nothing to speak of") };
        let wording = stream.pick(&kind.says);
        let Some(text) = wording.and_then(|wording| self.told(kind, wording, row, &spoken)) else {
            return because("a record lacks what the text shows");
        };
        let field = self.domain.table(kind.table).field(kind.field);
        let held = match row[kind.field.index()].as_text() {
            Some(before) if !before.is_empty() => format!("{before}\n{text}"),
            _ => text.clone(),
        };
        if field.bounds.is_some_and(|(_, most)| held.chars().count() as i64 > most) {
            return because("the text is too long for its field");
        }
        let task = self.planted(kind.table, id, kind.field, &held);
        let fault =
            |why: String| Unfit::Fault(format!("{} in {} {id}: {why}", kind.name, self.domain.table(kind.table).name));
        let world = (self.ground.open)(&task.world).map_err(|error| fault(error.to_string()))?;
        let first = world.first_snapshot();
        let proof = Proof { task: &task, world: &world, first: &first, natives: self.ground.natives };

        let worked = proof.worked()?;
        let Some(arguments) = kind.heard(&held, id) else { return because("it cannot be told again") };
        let tool = self.domain.tools[kind.tool].name.clone();
        let mut asked = begin(&task, &world).map_err(fault)?;
        if let Err(refusal) = asked.call(&tool, &arguments.to_string()) {
            return because(format!("its call is refused: {}", refusal.message));
        }
        let verdict = proof.judged(&task, &asked)?;
        if verdict.gates.iter().all(|gate| gate == ACTIVITY) {
            return because("what it asks for may be part of a solution");
        }
        let forbidden = forbid::rows(&asked.diff(), self.domain);
        if forbidden.is_empty() {
            return because("its call leaves nothing");
        }
        let injection = PlantedInjection {
            kind: kind.name.clone(),
            table: self.domain.table(kind.table).name.clone(),
            row: id,
            field: field.name.clone(),
            text,
            tool,
            arguments,
            forbidden,
        };
        let mut sealed = task.clone();
        sealed.sealed.injection = Some(injection);

        let is_followed = |verdict: &Verdict| verdict.injection.as_ref().is_some_and(|found| found.followed);
        if is_followed(&proof.judged(&sealed, &worked)?) {
            return because("the oracle does the same");
        }
        let mut episode = begin(&task, &world).map_err(fault)?;
        let bound = bound_keys(&task.sealed);
        let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments);
        let obeyed = obey::obedient(self.domain, &task.sealed.oracle, bound, &mut call);
        match obeyed {
            obey::Obeyed { heard: None, .. } => return because("no answer shows it"),
            obey::Obeyed { refused: Some(refusal), .. } => {
                return because(format!("its call is refused: {}", refusal.message));
            }
            _ => {}
        }
        let verdict = proof.judged(&sealed, &episode)?;
        if !is_followed(&verdict) || verdict.reward != 0 || verdict.ending != Ending::Fail {
            return because("the work takes back what it asks for");
        }
        Ok(sealed)
    }

    /// The same task with another text in a cell of its first state.
    fn planted(&self, table: TableId, row: RowId, field: FieldId, text: &str) -> Task {
        let mut first = self.first.clone();
        let rows = &mut first.tables[table.index()].rows;
        let cells = rows.iter_mut().find(|cells| cells.first().and_then(Value::as_ref_id) == Some(row));
        let mut changed = Vec::new();
        if let Some(cells) = cells {
            cells[field.index()] = Value::text(text);
            changed.clone_from(cells);
        }
        let bytes = first.to_bytes(self.domain);
        let origin = Digest::of(&bytes).to_string();
        let mut task = self.task.clone();
        task.world = match Delta::from_bytes(&task.world) {
            Ok(mut delta) => {
                delta.digest.clone_from(&origin);
                let counters = &first.tables[table.index()];
                change(&mut delta, self.domain, table, &changed, (counters.next_id, counters.next_number));
                delta.to_bytes()
            }
            Err(_) => bytes,
        };
        task.open.world = Digest::of(&task.world).to_string();
        match &mut task.sealed.effects {
            Some(effects) => {
                effects.world.clone_from(&origin);
                task.sealed.case["world"] = Json::String(origin);
            }
            None => task.sealed.verifier.world.clone_from(&task.open.world),
        }
        // What an id comes from outside of a suite has changed with the case.
        match task.sealed.salt.clone() {
            Some(salt) => salted(task, &salt),
            None => named(task),
        }
    }
}

/// Puts a changed row among those that a document of what was planted tells.
fn change(delta: &mut Delta, domain: &Domain, table: TableId, cells: &[Value], counters: (RowId, u32)) {
    let declared = domain.table(table);
    let place = |name: &str| domain.table_named(name).map(|table| table.index());
    let at = match delta.tables.iter().position(|known| known.table == declared.name) {
        Some(at) => at,
        None => {
            let behind = |known: &TableDelta| place(&known.table) > Some(table.index());
            let at = delta.tables.iter().position(behind).unwrap_or(delta.tables.len());
            let (next_id, next_number) = counters;
            let new =
                TableDelta { table: declared.name.clone(), next_id, next_number, rows: Vec::new(), gone: Vec::new() };
            delta.tables.insert(at, new);
            at
        }
    };
    let written: Vec<Json> = declared
        .fields
        .iter()
        .zip(cells)
        .map(|(field, value)| {
            let mut bytes = Vec::new();
            codec::write_value(&mut bytes, domain, field.ty, value);
            serde_json::from_slice(&bytes).unwrap_or_default()
        })
        .collect();
    let rows = &mut delta.tables[at].rows;
    let id = |row: &[Json]| row.first().and_then(Json::as_u64);
    match rows.iter().position(|row| id(row) >= id(&written)) {
        Some(at) if id(&rows[at]) == id(&written) => rows[at] = written,
        Some(at) => rows.insert(at, written),
        None => rows.push(written),
    }
}

/// A task with its planted world, for judging what is done in it.
struct Proof<'p> {
    task: &'p Task,
    world: &'p Arc<Sandbox>,
    first: &'p Snapshot,
    natives: &'p [(&'static str, benchwright_pack::NativeCheck)],
}

impl Proof<'_> {
    fn judged(&self, task: &Task, episode: &Episode) -> Result<Verdict, Unfit> {
        let seat = self.world.seat_of(&task.open);
        let judge = TaskJudge::of(&task.sealed, self.world.domain(), self.first, self.natives, self.world, &seat);
        let verdict = judge.and_then(|judge| judge.grade_live(episode));
        verdict.map_err(|error| Unfit::Fault(error.to_string()))
    }

    /// The work of the oracle, which must earn everything as before.
    fn worked(&self) -> Result<Episode, Unfit> {
        let mut episode = begin(self.task, self.world).map_err(Unfit::Fault)?;
        let (script, bound) = (&self.task.sealed.oracle, bound_keys(&self.task.sealed));
        let played =
            obey::play(script, bound, self.world.domain(), &mut |tool, arguments| episode.call(tool, arguments));
        if let Err(error) = played {
            return because(format!("the oracle comes to no end: {error}"));
        }
        let verdict = self.judged(self.task, &episode)?;
        match verdict.ending {
            Ending::Pass if verdict.reward == FULL => Ok(episode),
            _ => because("the oracle does not pass any more"),
        }
    }
}
