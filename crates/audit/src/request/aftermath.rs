//! What can still be done after the work: every tool that writes, on records of the job and on others. It is refused, it changes nothing
//! that is compared, it takes pay away, or it is a note or a text that the domain leaves to whoever works there.

use super::{
    RequestSubject,
    done::Done,
    finding,
    state::{Key, has_notes, is_compared},
};
use crate::{Finding, ground::Here};
use benchwright_base::{RowId, TableId, Value};
use benchwright_calls::offered::Maker;
use benchwright_pack::{Change, Ending};
use benchwright_sandbox::Episode;
use benchwright_schema::arguments_schema;
use std::collections::{BTreeMap, BTreeSet};

/// Draws of a call, for each of the two grounds.
const DRAWS: usize = 16;

/// Whatever a tool can still change takes pay away, or is declared to do no harm.
pub(crate) fn run(subject: &RequestSubject<'_>) -> Finding {
    finding(all(subject))
}

fn all(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let done = subject.done()?;
    let domain = &subject.domain;
    let mut faults = Vec::new();
    let mut notes = BTreeSet::new();
    let (mut calls, mut accepted, mut silent) = (0, 0, BTreeSet::new());
    let favoured = favoured(subject, &done);
    let writing = domain.tools.iter().filter(|tool| !tool.reads_only() && subject.offers(&tool.name));
    for tool in writing {
        let schema = arguments_schema(domain, tool);
        let mut was_taken = false;
        for of_job in [true, false] {
            let mut maker = Maker::new(&["aftermath", &subject.task.open.id, &tool.name]);
            if of_job {
                maker = maker.favouring(favoured.clone());
            }
            for _ in 0..DRAWS {
                let mut episode = done.episode.fork();
                let arguments = maker.arguments(&schema, &Here(&episode));
                calls += 1;
                if episode.call(&tool.name, &arguments.to_string()).is_err() {
                    continue;
                }
                accepted += 1;
                was_taken = true;
                let verdict = subject.judged(&episode)?;
                if verdict.ending == Ending::Pass {
                    match harm(subject, &done, &episode) {
                        Some(what) => faults.push(format!("{} {arguments}: {what}, and it still passes", tool.name)),
                        None if changed(subject, &done, &episode) => {
                            _ = notes.insert(format!("{} can leave a note or a text that is free", tool.name));
                        }
                        None => {}
                    }
                }
                break;
            }
        }
        if !was_taken {
            silent.insert(tool.name.clone());
        }
    }
    let mut finding = Finding::of(&faults);
    finding.notes = notes.into_iter().collect();
    Ok(finding.count("calls", calls).count("accepted", accepted).count("tools never accepted", silent.len()))
}

/// The rows of the job, by table.
fn favoured(subject: &RequestSubject<'_>, done: &Done) -> BTreeMap<String, Vec<RowId>> {
    let mut rows: BTreeMap<String, Vec<RowId>> = BTreeMap::new();
    let mut all: BTreeSet<Key> = done.rows.iter().flatten().copied().collect();
    all.extend(done.cast_rows());
    for (table, row) in all {
        rows.entry(subject.domain.table(table).name.clone()).or_default().push(row);
    }
    rows
}

/// Whether a call changed anything that could be compared.
fn changed(subject: &RequestSubject<'_>, done: &Done, episode: &Episode) -> bool {
    let domain = &subject.domain;
    episode.diff_from(&done.episode).changes.iter().any(|(table, _, change)| match change {
        Change::Changed(fields) => fields.iter().any(|field| is_compared(domain, *table, field.field.index())),
        Change::Added(_) | Change::Removed(_) => !domain.table(*table).log && !domain.table(*table).once,
    })
}

/// What a call changed since the work was done that nobody has declared free.
fn harm(subject: &RequestSubject<'_>, done: &Done, episode: &Episode) -> Option<String> {
    let domain = &subject.domain;
    let of_job: BTreeSet<Key> = done.rows.iter().flatten().copied().collect();
    let changes = episode.diff_from(&done.episode).changes;
    // A row that was replaced by one like it is there as before.
    let alike = |table: TableId, one: &[Value], other: &[Value]| {
        (1..one.len()).all(|field| !is_compared(domain, table, field) || one[field] == other[field])
    };
    let is_replaced = |table: TableId, change: &Change| {
        changes.iter().filter(|(of, _, _)| *of == table).any(|(_, _, other)| match (change, other) {
            (Change::Added(one), Change::Removed(other)) | (Change::Removed(one), Change::Added(other)) => {
                alike(table, one, other)
            }
            _ => false,
        })
    };
    for (table, row, change) in &changes {
        let declared = domain.table(*table);
        if declared.log || declared.once || is_replaced(*table, change) {
            continue;
        }
        match change {
            Change::Added(_) if has_notes(domain, *table) => {}
            Change::Added(_) => return Some(format!("{} {row} is new", declared.name)),
            Change::Removed(_) => return Some(format!("{} {row} is gone", declared.name)),
            Change::Changed(fields) => {
                let is_free = |field: usize| {
                    !is_compared(domain, *table, field)
                        || (declared.fields[field].prose && of_job.contains(&(*table, *row)))
                };
                if let Some(field) = fields.iter().find(|field| !is_free(field.field.index())) {
                    return Some(format!("{} {row}: {} changed", declared.name, declared.field(field.field).name));
                }
            }
        }
    }
    None
}
