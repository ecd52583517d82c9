//! What every request keeps: doing nothing earns nothing, the script earns everything and does nothing that is not expected, and the
//! task can be made again. And the trials that no request can be put to, with why.

use super::{
    RequestSubject, finding, na,
    state::{is_compared, json, row},
};
use crate::{Finding, Held};
use benchwright_base::Digest;
use benchwright_grade::{ACTIVITY, EffectsGrader, FULL};
use benchwright_pack::{
    Change, Ending, Snapshot, Verdict,
    effects::{CheckKind, ExpectedCell, ExpectedRow, Target},
};
use benchwright_spec::scenario::Asked;
use std::{collections::BTreeSet, sync::Arc};

/// How often a state is graded.
const TIMES: usize = 3;

/// Doing nothing and saying nothing earns nothing, whether or not the request can be carried out.
pub(crate) fn idle(subject: &RequestSubject<'_>) -> Finding {
    finding(idling(subject))
}

fn idling(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let live = subject.judged(&subject.begin()?)?;
    let stored = subject.graded(&subject.first)?.ok_or("the first state is none")?;
    let mut faults = Vec::new();
    for (what, verdict) in [("an episode", &live), ("the first state", &stored)] {
        if verdict.gates.iter().all(|gate| gate != ACTIVITY) {
            faults.push(format!("{what}: idling counts as work"));
        }
        if verdict.reward != 0 || verdict.ending != Ending::Fail {
            faults.push(format!("{what}: idle earns {} millionths", verdict.reward));
        }
    }
    Ok(Finding::of(&faults))
}

/// The script, with nothing but what it reads, earns everything; each difference is expected, and each clause makes one.
pub(crate) fn oracle(subject: &RequestSubject<'_>) -> Finding {
    finding(carried_out(subject))
}

fn carried_out(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let done = match subject.done() {
        Ok(done) => done,
        Err(why) => return Ok(Finding::new(Held::Failed(why))),
    };
    let verdict = subject.judged(&done.episode)?;
    let mut faults = Vec::new();
    if verdict.ending != Ending::Pass || verdict.reward != FULL || verdict.alarm {
        faults.push(lost(&verdict));
    }
    match subject.graded(&done.state)? {
        Some(stored) if stored == verdict => {}
        Some(stored) => faults.push(format!("its state alone is judged otherwise: {}", lost(&stored))),
        None => faults.push("its state is none".to_owned()),
    }
    if let Some(tool) = done.calls.iter().map(|(_, tool, _)| tool).find(|tool| !subject.offers(tool)) {
        faults.push(format!("the script calls {tool}, which is not offered"));
    }
    if done.calls.len() > subject.task.open.calls as usize {
        faults.push(format!("the script makes {} calls, more than the agent may", done.calls.len()));
    }
    if !subject.is_blocked() {
        faults.extend(unexpected(subject, &done));
        faults.extend(idle_rows(subject));
        faults.extend(unasked(subject));
    }
    let finding = Finding::of(&faults).count("calls", done.calls.len());
    Ok(finding.count("checks", verdict.applicable()).count("rows", subject.effects.expected.len()))
}

fn lost(verdict: &Verdict) -> String {
    format!(
        "reward {}, gates {:?}, failed {:?}, alarm {}",
        verdict.reward,
        verdict.gates,
        verdict.failed(),
        verdict.alarm
    )
}

/// Differences that nothing expects, and expected new rows that are not there.
fn unexpected(subject: &RequestSubject<'_>, done: &super::done::Done) -> Vec<String> {
    let domain = &subject.domain;
    let effects = subject.effects;
    let mut faults = Vec::new();
    let bound: BTreeSet<_> = done.rows.iter().flatten().copied().collect();
    for (wanted, row) in effects.expected.iter().zip(&done.rows) {
        if row.is_none() {
            faults.push(format!("no row is the {} of {}", wanted.at, wanted.of));
        }
    }
    for (table, row, change) in &done.episode.diff().changes {
        let declared = domain.table(*table);
        if declared.log || declared.once {
            continue;
        }
        match change {
            Change::Added(_) | Change::Removed(_) if !bound.contains(&(*table, *row)) => {
                faults.push(format!("{} {row} came or went, and nothing expects it", declared.name));
            }
            Change::Added(_) | Change::Removed(_) => {}
            Change::Changed(fields) => {
                for field in fields.iter().filter(|field| is_compared(domain, *table, field.field.index())) {
                    let name = &declared.field(field.field).name;
                    let expects = effects.expected.iter().any(|wanted| {
                        wanted.table == declared.name
                            && wanted.row == Target::Id(*row)
                            && wanted.cells.contains_key(name)
                    });
                    if !expects {
                        faults.push(format!("{} {row}: {name} differs, and nothing expects it", declared.name));
                    }
                }
            }
        }
    }
    faults
}

/// Expected rows that are so in the first state already.
fn idle_rows(subject: &RequestSubject<'_>) -> Vec<String> {
    let domain = &subject.domain;
    let mut faults = Vec::new();
    for wanted in &subject.effects.expected {
        let (Target::Id(id), Some(table)) = (&wanted.row, domain.table_named(&wanted.table)) else { continue };
        let Some(cells) = row(&subject.first, (table, *id)) else { continue };
        for (name, cell) in &wanted.cells {
            let Some(field) = domain.table(table).field_named(name) else { continue };
            let before = json(domain, table, field.index(), &cells[field.index()]);
            if matches!(cell, ExpectedCell::Is(value) if *value == before) {
                faults.push(format!("{}: {name} of {} is so before anything is done", wanted.of, wanted.at));
            }
        }
    }
    faults
}

/// Clauses that nothing judges, rows of rules that do not exist, and ways that were taken without leaving a row.
fn unasked(subject: &RequestSubject<'_>) -> Vec<String> {
    let effects = subject.effects;
    let mut faults = Vec::new();
    for clause in subject.scenario.clauses.iter().filter(|clause| clause.when.is_none()) {
        let is_judged = match &clause.act {
            Asked::Answer { .. } => effects.answer.as_ref().is_some_and(|answer| answer.of == clause.id),
            // What is asked of a row that another clause makes is judged as part of that row.
            Asked::Change { rows, table, to } if rows.slot >= subject.scenario.cast.len() => {
                let makers = subject.scenario.clauses.iter().filter(
                    |clause| matches!(&clause.act, Asked::Make { table: made, name: Some(_), .. } if made == table),
                );
                let makers: BTreeSet<&str> = makers.map(|clause| &*clause.id).collect();
                let declared = subject.domain.table(*table);
                let has_all = |row: &ExpectedRow| {
                    to.iter().all(|(field, _)| row.cells.contains_key(&declared.field(*field).name))
                };
                effects.expected.iter().any(|row| makers.contains(&*row.of) && row.row == Target::New && has_all(row))
            }
            _ => effects.expected.iter().any(|row| row.of == clause.id && row.kind == CheckKind::Completion),
        };
        if !is_judged {
            faults.push(format!("nothing judges the clause {}", clause.id));
        }
    }
    for wanted in &effects.expected {
        let is_known = match wanted.kind {
            CheckKind::Completion => subject.scenario.clauses.iter().any(|clause| clause.id == wanted.of),
            CheckKind::Compliance => {
                subject.domain.rules.iter().any(|rule| rule.id == wanted.of && !rule.ways.is_empty())
            }
            CheckKind::Integrity => false,
        };
        if !is_known {
            faults.push(format!("a row is said to be {}'s, which asks for nothing", wanted.of));
        }
    }
    let ways = subject.task.sealed.case["ways"].as_array().cloned().unwrap_or_default();
    for way in ways.iter().filter_map(|way| way.as_str()) {
        // What a way wants of a row that a clause makes is part of that row.
        let on = subject.domain.rules.iter().filter(|rule| rule.id == way).flat_map(|rule| &rule.on);
        let tables: BTreeSet<&str> = on.map(|(table, _)| &*subject.domain.table(*table).name).collect();
        let is_part = effects.expected.iter().any(|row| row.row == Target::New && tables.contains(&*row.table));
        if !is_part && !effects.expected.iter().any(|row| row.of == way && row.kind == CheckKind::Compliance) {
            faults.push(format!("a way of {way} was taken, and nothing expects what it does"));
        }
    }
    faults
}

/// The same seed gives the same bytes, base and plants give the same world, and grading again gives the same verdict.
pub(crate) fn regenerate(subject: &RequestSubject<'_>) -> Finding {
    finding(again(subject))
}

fn again(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let mut faults = Vec::new();
    let task = subject.task;
    match (subject.remake)() {
        Err(why) => faults.push(format!("it could not be made again: {why}")),
        Ok(made) if made.digest() != task.digest() => {
            let parts = [
                ("the sealed part", made.sealed_bytes() != task.sealed_bytes()),
                ("the instruction", made.instruction != task.instruction),
                ("the world", made.world != task.world),
                ("the open part", made.open_bytes() != task.open_bytes()),
            ];
            let which = parts.iter().find(|(_, differs)| *differs).map_or("something", |(name, _)| *name);
            faults.push(format!("made again, {which} differs"));
        }
        Ok(_) => {}
    }
    if Digest::of(&task.world).to_string() != task.open.world {
        faults.push("the open part has another digest of the world".to_owned());
    }
    if Digest::of(task.instruction.as_bytes()).to_string() != task.open.instruction {
        faults.push("the open part has another digest of the instruction".to_owned());
    }
    let opened = subject.catalog.world_of_snapshot(&task.world).map_err(|error| error.to_string())?;
    if opened.origin() != subject.sandbox.origin() || opened.origin().to_string() != subject.effects.world {
        faults.push("opened again, the world is another".to_owned());
    }
    if opened.first_snapshot() != subject.first {
        faults.push("opened again, the world has other rows".to_owned());
    }
    let written = |verdict: &Verdict| serde_json::to_vec(verdict).map_err(|error| error.to_string());
    let play = || subject.play(&task.sealed.oracle).map(|(episode, _)| episode.snapshot());
    let state = play()?;
    let grade = |state: &Snapshot| -> Result<Vec<u8>, String> {
        written(&subject.graded(state)?.ok_or("what the oracle leaves is no state")?)
    };
    let first = grade(&state)?;
    for _ in 1..TIMES {
        if grade(&state)? != first {
            faults.push("grading a state again gives another verdict".to_owned());
        }
    }
    let bytes = state.to_bytes(&subject.domain);
    let read = Snapshot::from_bytes(&bytes, &subject.domain).map_err(|error| error.to_string())?;
    if grade(&read)? != first {
        faults.push("a state that went through bytes gets another verdict".to_owned());
    }
    if play()?.to_bytes(&subject.domain) != bytes {
        faults.push("the oracle leaves another state when it is played again".to_owned());
    }
    // A judge of its own, as another process would have.
    let other = EffectsGrader::new(Arc::clone(&opened), subject.effects, &subject.seat);
    let other = other.and_then(|other| other.grade(&state)).map_err(|error| error.to_string())?;
    if written(&other)? != first {
        faults.push("another judge gives another verdict".to_owned());
    }
    Ok(Finding::of(&faults).count("gradings", TIMES + 2))
}

/// Nobody outside reads scenarios.
pub(crate) fn outsider(_: &RequestSubject<'_>) -> Finding {
    na("no reader outside of the project knows scenarios; their rows are read again in SQL by `second-solver`")
}

/// On a single task there is nothing to see.
pub(crate) fn suite(_: &RequestSubject<'_>) -> Finding {
    na("this is about a suite as a whole")
}
