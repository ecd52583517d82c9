//! A second reader: what names stand for and which rows break a rule is asked again, in SQL, of a copy of the records, and must be the
//! same. What has no counterpart in SQL is counted.

use super::{RequestSubject, done::Done, finding};
use crate::Finding;
use benchwright_base::{RowId, TableId, Value};
use benchwright_expr::{
    Expr, GivenType, Type,
    eval::{Judge, Records as _},
};
use benchwright_pack::{Snapshot, effects::CheckKind};
use benchwright_query::{Order, QueryError, Tables};
use benchwright_schema::Rule;
use benchwright_spec::scenario::{Form, Pick};
use benchwright_world::seen::Known;
use std::collections::{BTreeMap, BTreeSet};

/// Another reader finds the same rows, and the same rules broken.
pub(crate) fn run(subject: &RequestSubject<'_>) -> Finding {
    finding(again(subject))
}

/// Why a member is not asked for.
const UNNEEDED: &str = "a name that hangs on one that the script never needed";

/// What was read again.
#[derive(Default)]
struct Read {
    faults: Vec<String>,
    /// What is not asked, with how often.
    left: BTreeMap<String, usize>,
    counts: BTreeMap<&'static str, usize>,
}

impl Read {
    fn count(&mut self, what: &'static str, more: usize) {
        *self.counts.entry(what).or_default() += more;
    }

    /// What is not asked.
    fn pass_over(&mut self, what: &str) {
        self.count("asked", 1);
        *self.left.entry(what.to_owned()).or_default() += 1;
    }

    /// An answer, unless there is no asking.
    fn answer<T>(&mut self, answer: Result<T, QueryError>) -> Result<Option<T>, String> {
        match answer {
            Ok(answer) => {
                self.count("asked", 1);
                Ok(Some(answer))
            }
            Err(QueryError::Construct(what)) => {
                self.pass_over(what);
                Ok(None)
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

fn again(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let mut read = Read::default();
    let asked = |error: QueryError| error.to_string();
    let first = Tables::of(&subject.domain, &subject.first, None, subject.seat.actor).map_err(asked)?;
    members(subject, &first, &mut read)?;
    let all: Vec<&Rule> = subject.domain.rules.iter().collect();
    rules(subject, &subject.first, &first, &all, false, &mut read)?;
    if !subject.is_blocked() {
        let done = subject.done()?;
        let touched: BTreeSet<TableId> = done.episode.diff().changes.iter().map(|(table, _, _)| *table).collect();
        let in_play = |rule: &&Rule| rule.on.iter().any(|(table, _)| touched.contains(table));
        let in_play: Vec<&Rule> = subject.domain.rules.iter().filter(in_play).collect();
        let last = Tables::of(&subject.domain, &done.state, Some(&subject.first), subject.seat.actor).map_err(asked)?;
        rules(subject, &done.state, &last, &in_play, true, &mut read)?;
        ways(subject, &done, &mut read)?;
    }
    let mut finding = Finding::of(&read.faults);
    finding.notes = read.left.keys().map(|what| format!("{what} is not asked in SQL")).collect();
    let finding = read.counts.iter().fold(finding, |finding, (name, count)| finding.count(name, *count));
    Ok(finding.count("not asked", read.left.values().sum()))
}

/// The rows that members of the cast stand for.
fn members(subject: &RequestSubject<'_>, first: &Tables<'_>, read: &mut Read) -> Result<(), String> {
    let scenario = &subject.scenario;
    let script = subject.done()?;
    let mut given: Vec<Known> = Vec::new();
    for (at, member) in scenario.cast.iter().enumerate() {
        if scenario.idle.contains(&at) {
            given.push(Known::Value(Type::Null, Value::Null));
            continue;
        }
        let rows = bound(subject, &member.name);
        let known = match (member.table(), &rows, script.names.get(&member.name)) {
            (Some(table), Some(rows), _) if matches!(member.is, GivenType::Rows(_)) => Known::Rows(table, rows.clone()),
            (Some(table), Some(rows), _) => Known::Row(table, rows.first().copied()),
            (_, _, Some(known)) => known.clone(),
            _ => Known::Value(Type::Null, Value::Null),
        };
        let is_lost = subject
            .variant()
            .and_then(|variant| variant.lost.as_ref())
            .is_some_and(|lost| scenario.cast[lost.member].name == member.name);
        // A name that the script never needed stands for nothing here, and so does what hangs on it.
        let hangs = |expr: &Expr| {
            let mut unknown = false;
            expr.visit(&mut |part| {
                if let Expr::Field(slot, _) | Expr::Var(slot) = part {
                    unknown |= matches!(given.get(*slot), Some(Known::Value(Type::Null, _)));
                }
            });
            unknown
        };
        match &member.form {
            Form::Rows { pick: Pick::Draw(_) | Pick::Any, .. } => {}
            Form::Rows { pick, source, condition, by, .. } if !is_lost => {
                let tests = match source {
                    benchwright_expr::Source::Rows { tests, .. } => &tests[..],
                    _ => &[],
                };
                let parts = tests.iter().flat_map(|(_, _, values)| values).chain(condition).chain(by);
                if parts.into_iter().any(hangs) {
                    read.pass_over(UNNEEDED);
                } else {
                    let order = by.as_ref().map(|by| Order { by, last: matches!(pick, Pick::Last(_)) });
                    let asked = first.rows(source, condition.as_ref(), order, &given);
                    if let Some(mut found) = read.answer(asked)? {
                        if let Pick::First(count) | Pick::Last(count) = pick {
                            found.truncate(count.unwrap_or(1) as usize);
                        }
                        read.count("members", 1);
                        compared(&member.name, &found, rows.as_deref().unwrap_or_default(), read);
                        if let Some(read_by_script) = script.names.get(&member.name) {
                            compared(&member.name, &found, &rows_of(read_by_script), read);
                        }
                    }
                }
            }
            Form::Is(expr) if !hangs(expr) => {
                if let Known::Value(ty, value) = &known
                    && *ty != Type::Null
                    && let Some(false) = read.answer(first.comes_to(expr, *ty, value, &given))?
                {
                    read.faults.push(format!("{} comes to something else in SQL", member.name));
                }
            }
            Form::Number { range, condition } if !hangs(condition) => {
                if let Known::Value(Type::Int, Value::Int(number)) = &known
                    && let Some(found) = read.answer(first.number(*range, condition, &given))?
                    && found != Some(*number)
                {
                    read.faults.push(format!("{} is {number}, and {found:?} in SQL", member.name));
                }
            }
            Form::Is(_) | Form::Number { .. } => read.pass_over(UNNEEDED),
            Form::Rows { .. } | Form::Ask { .. } | Form::Drawn(_) => {}
        }
        given.push(known);
    }
    Ok(())
}

/// The rows that a member stands for, as the sealed part has them.
fn bound(subject: &RequestSubject<'_>, name: &str) -> Option<Vec<RowId>> {
    let rows = subject.task.sealed.case["rows"][name].as_array()?;
    Some(rows.iter().filter_map(|row| RowId::try_from(row.as_u64()?).ok()).collect())
}

fn rows_of(known: &Known) -> Vec<RowId> {
    match known {
        Known::Row(_, row) => row.iter().copied().collect(),
        Known::Rows(_, rows) => rows.clone(),
        Known::Value(..) => Vec::new(),
    }
}

fn compared(name: &str, found: &[RowId], known: &[RowId], read: &mut Read) {
    let (found, known): (BTreeSet<&RowId>, BTreeSet<&RowId>) = (found.iter().collect(), known.iter().collect());
    if found != known {
        read.faults.push(format!("{name} stands for {known:?}, and in SQL for {found:?}"));
    }
}

/// The rows that break rules in a state, by both readers.
fn rules(
    subject: &RequestSubject<'_>,
    state: &Snapshot,
    tables: &Tables<'_>,
    rules: &[&Rule],
    since: bool,
    read: &mut Read,
) -> Result<BTreeMap<String, usize>, String> {
    let here = subject.sandbox.standing_at(&subject.seat, state).map_err(|error| error.to_string())?;
    let start = subject.begin()?;
    let (world, before) = (here.live(), start.live());
    let mut judge = Judge::new(&world, here.now());
    if since {
        judge.before = &before;
    }
    judge.actor = subject.domain.actor.zip(subject.seat.actor).and_then(|(table, row)| world.row(table, row));
    let mut broken_by: BTreeMap<String, usize> = BTreeMap::new();
    for rule in rules {
        for (table, require) in &rule.on {
            let Some(found) = read.answer(tables.broken(*table, require))? else { continue };
            read.count("rules", 1);
            let mut broken = Vec::new();
            for cells in &state.tables[table.index()].rows {
                let Some(id) = cells[0].as_ref_id() else { continue };
                judge.subject = world.row(*table, id);
                judge.subject_before = if since { before.row(*table, id) } else { judge.subject };
                if !judge.holds(require) {
                    broken.push(id);
                }
            }
            read.count("judged", state.tables[table.index()].rows.len());
            *broken_by.entry(rule.id.clone()).or_default() += found.len();
            if found != broken {
                let name = &subject.domain.table(*table).name;
                read.faults.push(format!("{} is broken by {name} {broken:?}, and in SQL by {found:?}", rule.id));
            }
        }
    }
    Ok(broken_by)
}

/// Without what a way does, its rule is broken, in SQL too.
fn ways(subject: &RequestSubject<'_>, done: &Done, read: &mut Read) -> Result<(), String> {
    let expected = &subject.effects.expected;
    let ids: BTreeSet<&str> =
        expected.iter().filter(|row| row.kind == CheckKind::Compliance).map(|row| &*row.of).collect();
    for id in ids {
        let Some(rule) = subject.domain.rules.iter().find(|rule| rule.id == id) else { continue };
        let state = super::near_miss::without(subject, done, id);
        // A state that no world can be in is judged by nobody.
        if subject.sandbox.standing_at(&subject.seat, &state).is_err() {
            read.pass_over("a way without which no world can be");
            continue;
        }
        let asked = Tables::of(&subject.domain, &state, Some(&subject.first), subject.seat.actor);
        let records = asked.map_err(|error| error.to_string())?;
        let broken = rules(subject, &state, &records, &[rule], true, read)?;
        read.count("ways", 1);
        if broken.get(id) == Some(&0) {
            read.faults.push(format!("{id} is kept in SQL without what is said to be done for it"));
        }
    }
    Ok(())
}
