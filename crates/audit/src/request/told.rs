//! That everything is told once: every clause, condition and fact by a span of the request, every rule and way by a line of the policy;
//! that what is told matters; and that no part of the request can be left out unnoticed.

use super::{RequestSubject, done::Done, finding, words};
use crate::Finding;
use benchwright_base::{FieldId, RowId, Value};
use benchwright_expr::{
    Expr, Path, Source, Type,
    eval::{GivenValue, Judge, Records as _},
};
use benchwright_pack::effects::{ExpectedCell, Target};
use benchwright_schema::{
    By,
    ways::{self, Said, Shows, Wanted},
};
use benchwright_spec::scenario::{Asked, Form, told};
use benchwright_world::seen::Known;
use std::collections::BTreeSet;

/// Rule ids and sentences match one to one, and so do clauses and spans.
pub(crate) fn clauses(subject: &RequestSubject<'_>) -> Finding {
    finding(all(subject))
}

/// No part of the request can be left out without something being untold.
pub(crate) fn ablate(subject: &RequestSubject<'_>) -> Finding {
    finding(ablated(subject))
}

/// Everything that the request must tell.
fn needed(subject: &RequestSubject<'_>) -> Vec<String> {
    let mut scenario = subject.scenario.clone();
    if let Some(variant) = subject.variant() {
        scenario.clauses.extend(variant.clauses.iter().cloned());
        scenario.ensure.extend(variant.ensure.iter().cloned());
    }
    told(&scenario, &subject.domain)
}

/// The spans of the request: what each tells, with its text.
fn spans<'s>(subject: &'s RequestSubject<'_>) -> Vec<(&'s str, &'s str)> {
    let clauses = subject.task.sealed.clauses.iter();
    clauses.flat_map(|clause| clause.tells.iter().map(|tells| (&**tells, clause.text.trim()))).collect()
}

/// What a text does not tell of what it must.
fn untold<'n>(needed: &'n [String], spans: &[(&str, &str)], text: &str) -> Vec<&'n str> {
    let is_told = |name: &str| {
        spans.iter().filter(|(tells, told)| *tells == name && !told.is_empty() && text.contains(told)).count() == 1
    };
    needed.iter().map(|name| &**name).filter(|name| !is_told(name)).collect()
}

fn all(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let mut faults = Vec::new();
    let (needed, spans) = (needed(subject), spans(subject));
    let request = subject.request();
    if request.is_empty() {
        faults.push("there is no request in the instruction".to_owned());
    }
    for name in untold(&needed, &spans, request) {
        faults.push(format!("nothing, or more than one span, tells `{name}`"));
    }
    let of_scenario = |name: &str| {
        let first = name.split('.').next().unwrap_or_default();
        subject.scenario.member(first).is_some() || subject.scenario.clauses.iter().any(|clause| clause.id == first)
    };
    for (tells, _) in spans.iter().filter(|(tells, _)| !needed.iter().any(|name| name == tells) && !of_scenario(tells))
    {
        faults.push(format!("a span tells `{tells}`, which does not exist"));
    }
    faults.extend(worded(subject));
    faults.extend(policy(subject));
    if !subject.task.instruction.contains(&format!("Your role is `{}`.", subject.seat.role)) {
        faults.push(format!("the instruction does not say that the role is {}", subject.seat.role));
    }
    let mut conditions = 0;
    if !subject.is_blocked() {
        faults.extend(judged(subject));
        let done = subject.done()?;
        faults.extend(rules(subject, &done));
        faults.extend(shown(subject, &done));
        let (count, idle) = idle(subject, &done)?;
        conditions = count;
        faults.extend(idle);
    }
    let finding = Finding::of(&faults).count("spans", spans.len()).count("told", needed.len());
    Ok(finding.count("rules", subject.domain.rules.len()).count("conditions", conditions))
}

/// The request is what its voice says, so that no digit and no word comes from nowhere.
fn worded(subject: &RequestSubject<'_>) -> Option<String> {
    words::filled(subject).is_none().then(|| "the request is not what its voice says".to_owned())
}

/// Every rule stands in the policy once, with its ways.
fn policy(subject: &RequestSubject<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let text = &subject.task.instruction;
    for rule in &subject.domain.rules {
        let head = format!("- `{}`: ", rule.id);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(&head)).collect();
        let [line] = lines[..] else {
            faults.push(format!("the policy has {} lines on {}", lines.len(), rule.id));
            continue;
        };
        let ways = rule.ways.iter().map(|way| &*way.says).filter(|says| !says.is_empty());
        for says in [&*rule.says].into_iter().chain(ways) {
            if line.matches(says).count() == 0 {
                faults.push(format!("the policy does not say of {}: {says}", rule.id));
            }
        }
        if line.contains("(Calls that break it are refused.)") != (rule.by == By::Tool) {
            faults.push(format!("the policy is wrong on who holds {}", rule.id));
        }
    }
    let known =
        |line: &&str| line.strip_prefix("- `").and_then(|line| line.split_once("`: ")).map(|(id, _)| id.to_owned());
    let stated: Vec<String> =
        text.lines().filter(|line| line.starts_with("- `")).filter_map(|line| known(&line)).collect();
    let is_lifecycle = |id: &str| id.contains('.');
    let is_rule = |id: &str| subject.domain.rules.iter().any(|rule| rule.id == id);
    faults.extend(
        stated
            .iter()
            .filter(|id| !is_rule(id) && !is_lifecycle(id))
            .map(|id| format!("the policy tells {id}, which is no rule")),
    );
    faults
}

/// What is told is judged: conditions on the end, and every fact that a text must mention.
fn judged(subject: &RequestSubject<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let effects = subject.effects;
    for ensure in &subject.scenario.ensure {
        if !effects.ensure.iter().any(|known| known.id == ensure.id) {
            faults.push(format!("`{}` is told, and nothing judges it", ensure.id));
        }
    }
    for clause in &subject.scenario.clauses {
        let (table, cells, is_new) = match &clause.act {
            Asked::Change { table, to, .. } => (*table, to, false),
            Asked::Make { table, with, .. } => (*table, with, true),
            _ => continue,
        };
        let declared = subject.domain.table(table);
        for (field, wanted) in cells {
            let name = &declared.field(*field).name;
            let rows = effects
                .expected
                .iter()
                .filter(|row| row.of == clause.id && row.table == declared.name && (row.row == Target::New) == is_new);
            for cell in rows.filter_map(|row| row.cells.get(name)) {
                match (wanted, cell) {
                    (Wanted::Tell(parts), ExpectedCell::Prose(prose)) => {
                        for part in parts {
                            let Said::Slot { text, optional: false, .. } = part else { continue };
                            if !prose.slots.iter().any(|slot| slot.name == *text && !slot.optional) {
                                faults
                                    .push(format!("{}: {name} must mention {text}, and nothing judges it", clause.id));
                            }
                        }
                    }
                    (Wanted::Tell(_), _) => {
                        faults.push(format!("{}: {name} is a text, and is not judged as one", clause.id))
                    }
                    (Wanted::OneOf(list), ExpectedCell::OneOf(values)) if values.len() == list.len() => {}
                    (Wanted::OneOf(list), ExpectedCell::Is(_)) if list.len() == 1 => {}
                    (Wanted::OneOf(_), _) => {
                        faults.push(format!("{}: not every value of {name} is accepted", clause.id))
                    }
                    (_, ExpectedCell::OneOf(_) | ExpectedCell::Any | ExpectedCell::Prose(_)) => {
                        faults.push(format!("{}: {name} is exactly told, and judged loosely", clause.id));
                    }
                    _ => {}
                }
            }
        }
    }
    faults
}

/// The rules that are listed are those that a judge holds on the tables that the script writes.
fn rules(subject: &RequestSubject<'_>, done: &Done) -> Vec<String> {
    let touched: BTreeSet<_> = done.episode.diff().changes.iter().map(|(table, _, _)| *table).collect();
    let holds = |rule: &&benchwright_schema::Rule| {
        rule.by == By::Verifier && rule.on.iter().any(|(table, _)| touched.contains(table))
    };
    let wanted: BTreeSet<&str> = subject.domain.rules.iter().filter(holds).map(|rule| &*rule.id).collect();
    let listed: BTreeSet<&str> = subject.effects.rules.iter().map(|rule| &**rule).collect();
    let missing = wanted.difference(&listed).map(|rule| format!("{rule} is on what is written, and is not listed"));
    let more = listed.difference(&wanted).map(|rule| format!("{rule} is listed, and is on nothing that is written"));
    missing.chain(more).collect()
}

/// What the request shows of rows is what they have.
fn shown(subject: &RequestSubject<'_>, done: &Done) -> Vec<String> {
    let Some(filled) = words::filled(subject) else { return Vec::new() };
    let names = subject.scenario.names();
    let start = subject.begin();
    let Ok(start) = start else { return Vec::new() };
    let live = start.live();
    let mut faults = Vec::new();
    let request = subject.request();
    let reached = |row: RowId, path: &Path| {
        let mut value = Value::Ref(row);
        for (of, field) in path {
            let Some(cells) = value.as_ref_id().and_then(|id| live.row(*of, id)) else { break };
            value = cells[field.index()].clone();
        }
        value.as_text().unwrap_or_default().to_owned()
    };
    for filled in filled {
        let Said::Slot { text, shows, ty: Type::Text, form, .. } = filled.slot else { continue };
        let named = |slot: usize| names.get(slot).and_then(|given| done.names.get(given.name));
        let fits = match shows {
            Shows::One(Expr::Field(slot, path)) => match named(*slot) {
                Some(Known::Row(_, Some(row))) => reached(*row, path) == filled.shows,
                _ => continue,
            },
            Shows::Each(slot, path) if *form != ways::Form::Count => match named(*slot) {
                // Where the list ends cannot be told from the text alone.
                Some(Known::Rows(_, rows)) => rows.iter().all(|row| request.contains(&reached(*row, path))),
                _ => continue,
            },
            _ => continue,
        };
        if !fits {
            faults.push(format!("the request shows `{}` for {text}", filled.shows));
        }
    }
    faults
}

/// Told conditions that do nothing: without them the same rows are found.
fn idle(subject: &RequestSubject<'_>, done: &Done) -> Result<(usize, Vec<String>), String> {
    let start = subject.begin()?;
    let live = start.live();
    let scenario = &subject.scenario;
    let row = |row: Option<_>| row.map_or(GivenValue::Value(Value::Null), GivenValue::Row);
    let given: Vec<GivenValue<&[Value]>> = scenario
        .names()
        .iter()
        .map(|name| match done.names.get(name.name) {
            Some(Known::Row(table, id)) => row(id.and_then(|id| live.row(*table, id))),
            Some(Known::Rows(table, ids)) => {
                GivenValue::Rows(ids.iter().filter_map(|id| live.row(*table, *id)).collect())
            }
            Some(Known::Value(_, value)) => GivenValue::Value(value.clone()),
            None => GivenValue::Value(Value::Null),
        })
        .collect();
    let needed = needed(subject);
    let (mut count, mut faults) = (0, Vec::new());
    for (at, member) in scenario.cast.iter().enumerate() {
        let Form::Rows { source: Source::Rows { relation, tests }, condition, .. } = &member.form else { continue };
        if member.is_drawn() {
            continue;
        }
        // A member sees those before it; what comes next is the row that it asks about.
        let known = &given[..at];
        let found = |tests: Vec<_>| -> usize {
            let mut judge = Judge::new(&live, start.now());
            judge.given = known;
            let rows = judge.rows(&Source::Rows { relation: *relation, tests });
            let holds = |row: &&[Value]| {
                let Some(condition) = condition else { return true };
                let mut judge = Judge::new(&live, start.now());
                judge.given = known;
                judge.it = Some(*row);
                judge.holds(condition)
            };
            rows.iter().filter(|row| holds(row)).count()
        };
        for nth in 0..tests.len() {
            let Some((table, field)) = tests[nth].0.last().copied() else { continue };
            let name = format!("{}.{}", member.name, subject.domain.table(table).field(field).name);
            // Only what is told can be overlooked, and only where everything that it hangs on was found.
            let parts = tests.iter().flat_map(|(_, _, values)| values).chain(condition);
            let hangs_on_unknown = parts.into_iter().any(|value| {
                let mut unknown = false;
                value.visit(&mut |part| {
                    if let Expr::Field(slot, _) = part {
                        unknown |= *slot < at && !done.names.contains_key(&scenario.cast[*slot].name);
                    }
                });
                unknown
            });
            if field == FieldId::ID || !needed.contains(&name) || hangs_on_unknown {
                continue;
            }
            count += 1;
            let rest =
                tests.iter().enumerate().filter(|(other, _)| *other != nth).map(|(_, test)| test.clone()).collect();
            if found(rest) <= found(tests.clone()) {
                faults.push(format!("`{name}` is told, and does nothing in this world"));
            }
        }
    }
    Ok((count, faults))
}

fn ablated(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let (needed, sealed) = (needed(subject), spans(subject));
    let mut faults = Vec::new();
    let Some(spans) = words::spans(subject) else {
        return Ok(Finding::of(&[
            "the request is not what its voice says, so nothing in it can be left out".to_owned()
        ]));
    };
    let request = subject.request();
    for span in &spans {
        let tells = &span.tells;
        if span.text.is_empty() || span.without == request {
            faults.push(format!("what tells `{tells}` says nothing"));
        }
        if span.again && needed.contains(tells) {
            faults.push(format!("what tells `{tells}` can be left out, and is told elsewhere"));
        }
        if !needed.contains(tells) {
            continue;
        }
        let told: Vec<&str> = sealed.iter().filter(|(known, _)| known == tells).map(|(_, text)| *text).collect();
        if told != [&*span.text] {
            faults.push(format!("`{tells}` is told by `{}`, and the sealed part has {told:?}", span.text));
        }
        // Whoever holds the rest to the scenario misses it.
        let rest: Vec<(&str, &str)> = sealed.iter().copied().filter(|(known, _)| known != tells).collect();
        if !untold(&needed, &rest, &span.without).contains(&&**tells) {
            faults.push(format!("what tells `{tells}` can be left out, and nothing is untold"));
        }
    }
    let known = |name: &String| spans.iter().any(|span| span.tells == *name);
    faults.extend(needed.iter().filter(|name| !known(name)).map(|name| format!("no span tells `{name}`")));
    Ok(Finding::of(&faults).count("instances", spans.len()))
}
