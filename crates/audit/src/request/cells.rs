//! Single cells: one that is no part of the job changed alone breaks the frame, one of the job fails what it is part of, and both sides
//! of an ordered value are wrong. Only texts that nobody is told, and what the world keeps for itself, are free.

use super::{
    RequestSubject,
    done::Done,
    finding, na,
    state::{Key, add, is_compared, others, put, row, tables, take_away},
};
use crate::{Finding, trials::reading::read_all};
use benchwright_base::{FieldId, RowId, Value};
use benchwright_pack::{
    Ending, Snapshot, Verdict,
    effects::{ExpectedCell, ExpectedRow, Target},
};
use std::collections::{BTreeMap, BTreeSet};

/// Other values that are tried of one cell.
const VALUES: usize = 2;
const FRAME: &str = "frame";

/// Any one thing that is no part of the job breaks the frame; reading everything does not.
pub(crate) fn frame(subject: &RequestSubject<'_>) -> Finding {
    finding(framed(subject))
}

/// Any compared cell of the job's rows, changed alone, takes the pass away.
pub(crate) fn cells(subject: &RequestSubject<'_>) -> Finding {
    if subject.is_blocked() {
        return na("nothing may differ where a request cannot be carried out, which `frame` shows");
    }
    finding(celled(subject))
}

/// On either side of every ordered value that is expected the verdict falls.
pub(crate) fn both_sides(subject: &RequestSubject<'_>) -> Finding {
    if subject.is_blocked() {
        return na("no value is expected where a request cannot be carried out");
    }
    finding(sides(subject))
}

/// What was seen, if a state is not refused by one of some checks.
pub(super) fn survived(verdict: &Verdict, expected: &[&str]) -> Option<String> {
    let failed = verdict.failed();
    if verdict.ending == Ending::Pass || verdict.reward >= benchwright_grade::FULL {
        return Some(format!("it passes with {}", verdict.reward));
    }
    (!expected.iter().any(|id| failed.contains(id)))
        .then(|| format!("it is refused by {failed:?} instead of {expected:?}"))
}

fn framed(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let mut faults = reading(subject)?;
    let done = subject.done()?;
    let domain = &subject.domain;
    let of_job: BTreeSet<Key> = done.rows.iter().flatten().copied().collect();
    let mut changed = done.state.clone();
    let (mut changes, mut spots) = (0, 0);
    let mut hold = |what: String, state: &Snapshot| -> Result<(), String> {
        let Some(verdict) = subject.graded(state)? else { return Ok(()) };
        changes += 1;
        let refused = verdict.gates.iter().any(|gate| gate == FRAME) && verdict.reward == 0;
        if let Some(why) = survived(&verdict, &[FRAME]) {
            faults.push(format!("{what}: {why}"));
        } else if !refused {
            faults.push(format!("{what}: the frame is no gate, and {} is paid", verdict.reward));
        }
        Ok(())
    };
    for table in tables(domain).filter(|table| is_compared_table(subject, *table)) {
        let name = &domain.table(table).name;
        let rows = done.state.tables[table.index()].rows.iter().filter_map(|cells| cells[0].as_ref_id());
        let mut apart: Vec<RowId> = rows.filter(|id| !of_job.contains(&(table, *id))).collect();
        apart.truncate(1);
        for id in apart {
            spots += 1;
            // A cell is changed and put back: a copy of all records for each would take longer than judging it.
            for (field, declared) in domain.table(table).fields.iter().enumerate() {
                if !is_compared(domain, table, field) {
                    continue;
                }
                let was = row(&done.state, (table, id)).map(|cells| cells[field].clone()).unwrap_or_default();
                for value in others(domain, &done.state, (table, id), field).into_iter().take(1) {
                    put(&mut changed, (table, id), field, value);
                    hold(format!("{name} {id}: {} changed", declared.name), &changed)?;
                    put(&mut changed, (table, id), field, was.clone());
                }
            }
            let mut state = done.state.clone();
            take_away(domain, &mut state, (table, id));
            hold(format!("{name} {id} deleted"), &state)?;
            let mut state = done.state.clone();
            if let Some(cells) = row(&done.state, (table, id)).map(<[Value]>::to_vec)
                && !is_note_of_job(subject, table, &cells, &of_job)
            {
                add(domain, &mut state, table, cells);
                hold(format!("{name} {id} copied"), &state)?;
            }
        }
    }
    Ok(Finding::of(&faults).count("tables", spots).count("changes", changes))
}

fn is_compared_table(subject: &RequestSubject<'_>, table: benchwright_base::TableId) -> bool {
    (0..subject.domain.table(table).fields.len()).any(|field| is_compared(&subject.domain, table, field))
}

/// Whether a row is a note on a record of the job, of which another does no harm.
fn is_note_of_job(
    subject: &RequestSubject<'_>,
    table: benchwright_base::TableId,
    cells: &[Value],
    of_job: &BTreeSet<Key>,
) -> bool {
    let fields = subject.domain.table(table).fields.iter().zip(cells);
    let mut leads = fields.filter_map(|(field, cell)| match (field.ty, cell) {
        (benchwright_expr::Type::Ref(to), Value::Ref(other)) => Some((to, *other)),
        _ => None,
    });
    super::state::has_notes(&subject.domain, table) && leads.any(|key| of_job.contains(&key))
}

/// Reads everything before and after the script's work: the verdict is the same as without.
fn reading(subject: &RequestSubject<'_>) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    let script = &subject.task.sealed.oracle;
    let mut episode = subject.begin()?;
    read_all(&mut episode);
    if episode.snapshot() != subject.first {
        faults.push("reading everything changes the world".to_owned());
    }
    if subject.judged(&episode)?.reward != 0 {
        faults.push("reading everything is paid".to_owned());
    }
    benchwright_world::seen::play(script, &mut episode).map_err(|error| error.to_string())?;
    read_all(&mut episode);
    let verdict = subject.judged(&episode)?;
    let (plain, _) = subject.play(script)?;
    if verdict != subject.judged(&plain)? {
        faults.push(format!("with everything read the oracle earns {}: {:?}", verdict.reward, verdict.failed()));
    }
    Ok(faults)
}

/// The rows of the job that are there in the end, each with the expected rows that speak of it.
fn rows_of_job<'e>(subject: &'e RequestSubject<'_>, done: &Done) -> BTreeMap<Key, Vec<&'e ExpectedRow>> {
    let mut rows: BTreeMap<Key, Vec<&ExpectedRow>> = BTreeMap::new();
    for (wanted, key) in subject.effects.expected.iter().zip(&done.rows) {
        if let (Some(key), false) = (key, matches!(wanted.row, Target::Gone(_))) {
            rows.entry(*key).or_default().push(wanted);
        }
    }
    rows
}

fn celled(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let done = subject.done()?;
    let domain = &subject.domain;
    let mut faults = Vec::new();
    let (mut changes, mut free) = (0, 0);
    for (key, wanted) in rows_of_job(subject, &done) {
        let table = domain.table(key.0);
        for (field, declared) in table.fields.iter().enumerate().filter(|(field, _)| is_compared(domain, key.0, *field))
        {
            let asked: Vec<&&ExpectedRow> =
                wanted.iter().filter(|row| row.cells.contains_key(&declared.name)).collect();
            let is_told = asked
                .iter()
                .any(|row| matches!(row.cells.get(&declared.name), Some(cell) if !matches!(cell, ExpectedCell::Any)));
            if declared.prose && !is_told {
                free += 1;
                continue;
            }
            let mut expected: Vec<&str> = asked.iter().map(|row| &*row.of).collect();
            if expected.is_empty() {
                expected.extend(wanted.iter().filter(|row| row.row == Target::New).map(|row| &*row.of));
                expected.push(FRAME);
            }
            if asked.iter().any(|row| is_loose(subject, row, &declared.name)) {
                free += 1;
                continue;
            }
            let values =
                match asked.iter().any(|row| matches!(row.cells.get(&declared.name), Some(ExpectedCell::Prose(_)))) {
                    // A text in other words is as good; one that says nothing is not.
                    true => vec![Value::text("It is done.")],
                    false => others(domain, &done.state, key, field),
                };
            for value in values.into_iter().take(VALUES) {
                let mut state = done.state.clone();
                put(&mut state, key, field, value);
                let Some(verdict) = subject.graded(&state)? else { continue };
                changes += 1;
                if let Some(why) = survived(&verdict, &expected) {
                    faults.push(format!("{} {}: {}: {why}", table.name, key.1, declared.name));
                }
            }
        }
    }
    Ok(Finding::of(&faults).count("changes", changes).count("free", free))
}

/// Whether a text may be in any words, with nothing that it must say.
fn is_loose(subject: &RequestSubject<'_>, wanted: &ExpectedRow, field: &str) -> bool {
    let Some(ExpectedCell::Prose(prose)) = wanted.cells.get(field) else { return false };
    // What it must say is for `clauses` to hold against the scenario.
    let _ = subject;
    prose.slots.iter().all(|slot| slot.optional)
}

fn sides(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let done = subject.done()?;
    let domain = &subject.domain;
    let mut faults = Vec::new();
    let mut tried = 0;
    for (wanted, key) in subject.effects.expected.iter().zip(&done.rows) {
        let Some(key) = key else { continue };
        let Some(cells) = row(&done.state, *key) else { continue };
        for (name, cell) in &wanted.cells {
            let Some(field) = domain.table(key.0).field_named(name).map(FieldId::index) else { continue };
            if !matches!(cell, ExpectedCell::Is(_)) || !is_compared(domain, key.0, field) {
                continue;
            }
            for value in beside(&cells[field]) {
                let mut state = done.state.clone();
                put(&mut state, *key, field, value.clone());
                let Some(verdict) = subject.graded(&state)? else { continue };
                tried += 1;
                if let Some(why) = survived(&verdict, &[&wanted.of]) {
                    faults.push(format!("{}: {name} of {} as {value:?}: {why}", wanted.of, wanted.at));
                }
            }
        }
    }
    if tried == 0 {
        return Ok(na("no cell that is expected has an order"));
    }
    Ok(Finding::of(&faults).count("instances", tried))
}

/// A step below and a step above a value that has an order.
fn beside(value: &Value) -> Vec<Value> {
    match value {
        Value::Int(n) => vec![Value::Int(n - 1), Value::Int(n + 1)],
        Value::Money(n) => vec![Value::Money(n - 1), Value::Money(n + 1)],
        Value::Quantity(n) => vec![Value::Quantity(n - 1), Value::Quantity(n + 1)],
        Value::Duration(n) => vec![Value::Duration(n - 1), Value::Duration(n + 1)],
        Value::Date(day) => [-1, 1].into_iter().filter_map(|by| day.add_days(by)).map(Value::Date).collect(),
        Value::DateTime(at) => {
            [-1, 1, -60, 60].into_iter().filter_map(|by| at.add_seconds(by)).map(Value::DateTime).collect()
        }
        _ => Vec::new(),
    }
}
