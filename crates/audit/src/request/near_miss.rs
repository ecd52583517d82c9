//! Near-misses of a request: what the script leaves with one thing wrong, and the script with one step otherwise. Each must be refused by
//! the check that is about it, or by the world itself. The share that is refused is the mutation score.

use super::{
    RequestSubject, answers, blocked,
    cells::survived,
    done::Done,
    finding, prose,
    state::{Key, add, has_notes, is_compared, is_same, json, others, put, row, take_away},
};
use crate::{Finding, ground::Here};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_calls::offered::Maker;
use benchwright_expr::Type;
use benchwright_pack::{
    Delta, RefusalCode, Script, Snapshot, Verdict,
    effects::{CheckKind, ExpectedCell, ExpectedRow, Target},
};
use benchwright_schema::ways::Wanted;
use benchwright_schema::{By, Stamp, Verb, arguments_schema};
use benchwright_spec::scenario::Asked;
use benchwright_world::ReplayError;
use std::collections::{BTreeMap, BTreeSet};

/// Other values that are tried of one cell.
const VALUES: usize = 3;
/// Other rows that are tried in the place of one.
const RECORDS: usize = 3;
/// Draws of a message to somebody else.
const DRAWS: usize = 12;
const FRAME: &str = "frame";

/// Every near-miss is refused by the check that is about it.
pub(crate) fn run(subject: &RequestSubject<'_>) -> Finding {
    finding(match subject.is_blocked() {
        true => blocked::near_misses(subject),
        false => all(subject),
    })
}

/// What became of near-misses.
pub(super) struct Misses<'s, 'a> {
    pub(super) subject: &'s RequestSubject<'a>,
    counts: BTreeMap<String, usize>,
    faults: Vec<String>,
    notes: BTreeSet<String>,
}

impl<'s, 'a> Misses<'s, 'a> {
    pub(super) fn new(subject: &'s RequestSubject<'a>) -> Misses<'s, 'a> {
        Misses { subject, counts: BTreeMap::new(), faults: Vec::new(), notes: BTreeSet::new() }
    }

    pub(super) fn count(&mut self, name: &str) {
        *self.counts.entry(name.to_owned()).or_default() += 1;
    }

    /// One whose verdict is known: refused by one of these checks, or survived.
    pub(super) fn verdict(&mut self, class: &str, what: &str, verdict: &Verdict, expected: &[&str]) {
        self.count("instances");
        self.count(class);
        match survived(verdict, expected) {
            None => self.count("killed"),
            Some(why) => self.faults.push(format!("{class}: {what}: {why}")),
        }
    }

    /// One that is a state. What no world can be in is none.
    pub(super) fn state(&mut self, class: &str, what: &str, state: &Snapshot, expected: &[&str]) -> Result<(), String> {
        if let Some(verdict) = self.subject.graded(state)? {
            self.verdict(class, what, &verdict, expected);
        }
        Ok(())
    }

    /// One that leaves the same as the script does: nothing is wrong with it.
    fn same(&mut self, class: &str) {
        self.count("instances");
        self.count("unbreakable");
        self.notes.insert(format!("{class}: it leaves the same state"));
    }

    /// Something that is wrong beside near-misses.
    pub(super) fn fault(&mut self, what: String) {
        self.faults.push(what);
    }

    pub(super) fn finding(self) -> Finding {
        let mut finding = Finding::of(&self.faults);
        finding.notes = self.notes.into_iter().collect();
        let survived = self.faults.len();
        let finding = self.counts.into_iter().fold(finding, |finding, (name, count)| finding.count(&name, count));
        finding.count("survived", survived)
    }
}

fn all(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let done = subject.done()?;
    let mut misses = Misses::new(subject);
    let near = Near::of(subject, &done);
    for (at, wanted) in subject.effects.expected.iter().enumerate() {
        let Some(key) = done.rows[at] else { continue };
        near.put_back(&mut misses, at, wanted)?;
        near.values(&mut misses, wanted, key)?;
        near.records(&mut misses, wanted, key)?;
        near.side_effects(&mut misses, wanted, key)?;
        prose::near_misses(&mut misses, &done, wanted, key)?;
    }
    near.steps(&mut misses)?;
    near.shortcuts(&mut misses)?;
    near.messages(&mut misses)?;
    answers::near_misses(&mut misses, &done)?;
    Ok(misses.finding())
}

/// The rows that were planted, by table: among them those that fail one condition alone.
fn planted(subject: &RequestSubject<'_>) -> BTreeMap<TableId, Vec<RowId>> {
    let mut planted = BTreeMap::new();
    let Ok(delta) = Delta::from_bytes(&subject.task.world) else { return planted };
    for table in &delta.tables {
        let Some(id) = subject.domain.table_named(&table.table) else { continue };
        let ids = table.rows.iter().filter_map(|cells| cells.first()?.as_u64()?.try_into().ok());
        planted.insert(id, ids.collect());
    }
    planted
}

pub(super) struct Near<'s, 'a> {
    subject: &'s RequestSubject<'a>,
    done: &'s Done,
    planted: BTreeMap<TableId, Vec<RowId>>,
}

impl<'s, 'a> Near<'s, 'a> {
    /// What is near to what the script leaves.
    pub(super) fn of(subject: &'s RequestSubject<'a>, done: &'s Done) -> Near<'s, 'a> {
        Near { subject, done, planted: planted(subject) }
    }

    /// How many expected rows a step is behind.
    fn of_step(&self, step: Option<usize>) -> usize {
        self.done.step_of.iter().filter(|other| step.is_some() && **other == step).count()
    }

    /// One expected row as it was before; of a set, one row of several.
    fn put_back(&self, misses: &mut Misses<'_, '_>, at: usize, wanted: &ExpectedRow) -> Result<(), String> {
        let mut state = self.done.state.clone();
        undone(self.subject, self.done, &mut state, at);
        let step = self.done.step_of[at];
        let is_each = step.is_some_and(|step| self.subject.task.sealed.oracle.steps[step].each.is_some());
        let class = if is_each && self.of_step(step) > 1 { "part_of_set" } else { "drop" };
        misses.state(class, &format!("{} of {}", wanted.at, wanted.of), &state, &[&wanted.of])
    }

    /// One expected cell with another value, and with what it is where nobody says anything.
    fn values(&self, misses: &mut Misses<'_, '_>, wanted: &ExpectedRow, key: Key) -> Result<(), String> {
        let domain = &self.subject.domain;
        for (name, cell) in &wanted.cells {
            let Some(field) = domain.table(key.0).field_named(name).map(FieldId::index) else { continue };
            let is_exact = !matches!(cell, ExpectedCell::Any | ExpectedCell::Prose(_));
            let (true, true, Some(cells)) = (is_exact, is_compared(domain, key.0, field), row(&self.done.state, key))
            else {
                continue;
            };
            let declared = &domain.table(key.0).fields[field];
            let is_open = |value: &Value| match cell {
                ExpectedCell::OneOf(values) => {
                    may_choose(self.subject, wanted, name) && values.contains(&json(domain, key.0, field, value))
                }
                _ => false,
            };
            let what = |value: &Value| {
                format!("{name} of {} as {}", wanted.at, super::state::told(domain, key.0, field, value))
            };
            let mut near = others(domain, &self.done.state, key, field);
            if let Type::Ref(to) = declared.ty {
                let planted = self.planted.get(&to).into_iter().flatten();
                near.splice(0..0, planted.map(|row| Value::Ref(*row)).filter(|value| *value != cells[field]));
            }
            near.retain(|value| !is_open(value));
            for value in near.into_iter().take(VALUES) {
                let mut state = self.done.state.clone();
                put(&mut state, key, field, value.clone());
                misses.state("wrong_value", &what(&value), &state, &[&wanted.of])?;
            }
            let default = declared.default.clone().or_else(|| declared.nullable.then_some(Value::Null));
            if let Some(default) = default.filter(|default| *default != cells[field] && !is_open(default)) {
                let mut state = self.done.state.clone();
                put(&mut state, key, field, default.clone());
                misses.state("default", &what(&default), &state, &[&wanted.of])?;
            }
        }
        Ok(())
    }

    /// Rows that could be taken for another: planted ones first.
    pub(super) fn neighbours(&self, key: Key) -> Vec<RowId> {
        let of_job: BTreeSet<Key> = self.done.rows.iter().flatten().copied().collect();
        let planted = self.planted.get(&key.0).into_iter().flatten().copied();
        let rows = self.done.state.tables[key.0.index()].rows.iter().filter_map(|cells| cells[0].as_ref_id());
        let mut found: Vec<RowId> = Vec::new();
        for row in planted.chain(rows.take(40)) {
            if row != key.1 && !of_job.contains(&(key.0, row)) && !found.contains(&row) {
                found.push(row);
            }
        }
        found
    }

    /// The change made on another row instead, and on another row as well.
    fn records(&self, misses: &mut Misses<'_, '_>, wanted: &ExpectedRow, key: Key) -> Result<(), String> {
        let domain = &self.subject.domain;
        let table = domain.table(key.0);
        let Some(cells) = row(&self.done.state, key).map(<[Value]>::to_vec) else { return Ok(()) };
        match wanted.row {
            Target::Id(_) | Target::Choice(_) => {
                let fields: Vec<usize> =
                    wanted.cells.keys().filter_map(|name| table.field_named(name)).map(FieldId::index).collect();
                let mut tried = 0;
                for other in self.neighbours(key) {
                    let Some(there) = row(&self.done.state, (key.0, other)) else { continue };
                    if fields.iter().all(|field| there[*field] == cells[*field]) || tried >= RECORDS {
                        continue;
                    }
                    tried += 1;
                    let mut more = self.done.state.clone();
                    for field in &fields {
                        put(&mut more, (key.0, other), *field, cells[*field].clone());
                    }
                    let what = format!("{} on {} {other}", wanted.of, table.name);
                    misses.state("overreach", &what, &more, &[FRAME])?;
                    let Some(before) = row(&self.subject.first, key) else { continue };
                    for field in &fields {
                        put(&mut more, key, *field, before[*field].clone());
                    }
                    misses.state("wrong_record", &what, &more, &[&wanted.of])?;
                }
            }
            Target::New => {
                for (field, declared) in table.fields.iter().enumerate() {
                    let (Type::Ref(to), Value::Ref(leads)) = (declared.ty, &cells[field]) else { continue };
                    if !is_compared(domain, key.0, field) {
                        continue;
                    }
                    for other in self.neighbours((to, *leads)).into_iter().take(1) {
                        let what = format!("{} for {} {other}", wanted.of, domain.table(to).name);
                        let mut state = self.done.state.clone();
                        put(&mut state, key, field, Value::Ref(other));
                        misses.state("wrong_record", &what, &state, &[&wanted.of])?;
                        if !has_notes(domain, key.0) {
                            let mut state = self.done.state.clone();
                            let mut more = cells.clone();
                            more[field] = Value::Ref(other);
                            add(domain, &mut state, key.0, more);
                            misses.state("overreach", &what, &state, &[FRAME])?;
                        }
                    }
                }
            }
            Target::Gone(_) => {
                for other in self.neighbours(key).into_iter().take(1) {
                    let mut state = self.done.state.clone();
                    take_away(domain, &mut state, (key.0, other));
                    misses.state("overreach", &format!("{} {other} gone too", table.name), &state, &[FRAME])?;
                }
            }
        }
        Ok(())
    }

    /// A second copy of a new row; a field of the job's rows that nobody named.
    fn side_effects(&self, misses: &mut Misses<'_, '_>, wanted: &ExpectedRow, key: Key) -> Result<(), String> {
        let domain = &self.subject.domain;
        let table = domain.table(key.0);
        let Some(cells) = row(&self.done.state, key).map(<[Value]>::to_vec) else { return Ok(()) };
        if wanted.row == Target::New {
            if !has_notes(domain, key.0) {
                let mut state = self.done.state.clone();
                add(domain, &mut state, key.0, cells);
                misses.state("side_effect", &format!("a second {}", wanted.at), &state, &[FRAME])?;
            }
            return Ok(());
        }
        let is_asked = |name: &str| {
            let rows = self.subject.effects.expected.iter().zip(&self.done.rows);
            rows.filter(|(_, row)| **row == Some(key)).any(|(wanted, _)| wanted.cells.contains_key(name))
        };
        let unnamed = |(field, declared): &(usize, &benchwright_schema::Field)| {
            is_compared(domain, key.0, *field) && !declared.prose && !is_asked(&declared.name)
        };
        for (field, declared) in table.fields.iter().enumerate().filter(unnamed).take(2) {
            let Some(value) = others(domain, &self.done.state, key, field).into_iter().next() else { continue };
            let mut state = self.done.state.clone();
            put(&mut state, key, field, value);
            misses.state("side_effect", &format!("{} of {} changed", declared.name, wanted.at), &state, &[FRAME])?;
        }
        Ok(())
    }

    /// A script that was changed, carried out as far as it goes.
    fn played(
        &self,
        misses: &mut Misses<'_, '_>,
        class: &str,
        what: &str,
        script: &Script,
        expected: &[&str],
    ) -> Result<(), String> {
        let (episode, ended) = self.subject.play(script)?;
        let verdict = self.subject.judged(&episode)?;
        let state = episode.snapshot();
        let answers = |script: &Script| script.steps.iter().filter(|step| step.model == answers::SUBMIT).count();
        if answers(script) == answers(&self.subject.task.sealed.oracle)
            && is_same(&self.subject.domain, &self.subject.first, &state, &self.done.state)
        {
            misses.same(class);
            return Ok(());
        }
        // Where the world refuses to go on, whatever is missing then is as good a name.
        let failed: Vec<&str> = verdict.failed();
        match &ended {
            Err(ReplayError::Refused { refusal, .. }) if names_it(refusal.rule.as_deref(), expected, refusal.code) => {
                misses.verdict(class, what, &verdict, &failed);
            }
            Err(_) if expected.is_empty() => misses.verdict(class, what, &verdict, &failed),
            _ => misses.verdict(class, what, &verdict, if expected.is_empty() { &failed } else { expected }),
        }
        Ok(())
    }

    /// Each step that writes left out.
    fn steps(&self, misses: &mut Misses<'_, '_>) -> Result<(), String> {
        let oracle = &self.subject.task.sealed.oracle;
        let expected = |at: usize| -> Vec<&str> {
            let rows = self.done.step_of.iter().zip(&self.subject.effects.expected);
            let mut ids: Vec<&str> =
                rows.filter(|(step, _)| **step == Some(at)).map(|(_, wanted)| &*wanted.of).collect();
            if oracle.steps[at].model == answers::SUBMIT {
                ids.extend(self.subject.effects.answer.iter().map(|answer| &*answer.of));
            }
            ids
        };
        for at in (0..oracle.steps.len()).filter(|at| self.done.steps[*at].writes()) {
            let mut script = oracle.clone();
            let left_out = script.steps.remove(at);
            let what = format!("without step {} ({})", at + 1, left_out.tool());
            self.played(misses, "drop", &what, &script, &expected(at))?;
        }
        Ok(())
    }

    /// What is asked for without what a rule wants on the way: the rule is named, and by the world's own judgement it is broken.
    fn shortcuts(&self, misses: &mut Misses<'_, '_>) -> Result<(), String> {
        let subject = self.subject;
        let expected = &subject.effects.expected;
        let ways = expected.iter().filter(|wanted| wanted.kind == CheckKind::Compliance);
        let ids: BTreeSet<&str> = ways.map(|wanted| &*wanted.of).collect();
        for id in &ids {
            let of: Vec<usize> = (0..expected.len()).filter(|at| expected[*at].of == *id).collect();
            let state = without(subject, self.done, id);
            misses.state("shortcut", &format!("without what {id} wants"), &state, &[*id])?;
            if let Ok(episode) = subject.sandbox.standing_at(&subject.seat, &state) {
                let start = subject.begin()?;
                let mut broken = episode.judge_since(&start, By::Tool);
                broken.extend(episode.judge());
                if !broken.iter().any(|broken| subject.domain.rules[broken.rule].id == *id) {
                    misses.fault(format!("shortcut: {id} is kept without what is said to be done for it"));
                }
            }
            let steps: BTreeSet<usize> = of.iter().filter_map(|at| self.done.step_of[*at]).collect();
            let mut script = subject.task.sealed.oracle.clone();
            let mut at = 0;
            script.steps.retain(|_| {
                at += 1;
                !steps.contains(&(at - 1))
            });
            self.played(misses, "shortcut", &format!("the calls without those for {id}"), &script, &[*id])?;
        }
        Ok(())
    }

    /// A message to somebody, where the domain can send any.
    fn messages(&self, misses: &mut Misses<'_, '_>) -> Result<(), String> {
        let domain = &self.subject.domain;
        for tool in domain.tools.iter().filter(|tool| tool.verb == Verb::Send && self.subject.offers(&tool.name)) {
            let schema = arguments_schema(domain, tool);
            let mut maker = Maker::new(&["message", &self.subject.task.open.id, &tool.name]);
            for _ in 0..DRAWS {
                let mut episode = self.done.episode.fork();
                let arguments = maker.arguments(&schema, &Here(&episode));
                if episode.call(&tool.name, &arguments.to_string()).is_ok() {
                    let verdict = self.subject.judged(&episode)?;
                    misses.verdict("side_effect", &format!("a message by {}", tool.name), &verdict, &[FRAME]);
                    break;
                }
            }
        }
        Ok(())
    }
}

/// The state with an expected row as it was before.
fn undone(subject: &RequestSubject<'_>, done: &Done, state: &mut Snapshot, at: usize) {
    let domain = &subject.domain;
    let wanted = &subject.effects.expected[at];
    let Some(key) = done.rows[at] else { return };
    let before = row(&subject.first, key);
    match (&wanted.row, before) {
        (Target::New, _) => take_away(domain, state, key),
        (Target::Gone(_), Some(cells)) => {
            let rows = &mut state.tables[key.0.index()].rows;
            let place = rows.partition_point(|known| known[0].as_ref_id() < Some(key.1));
            rows.insert(place, cells.to_vec());
        }
        (_, Some(cells)) => {
            // What the world works out of them is as it was, too.
            let declared = domain.table(key.0);
            let computed =
                (0..declared.fields.len()).filter(|at| matches!(declared.fields[*at].stamp, Some(Stamp::Computed(_))));
            let asked = wanted.cells.keys().filter_map(|name| declared.field_named(name)).map(FieldId::index);
            for field in asked.chain(computed) {
                put(state, key, field, cells[field].clone());
            }
        }
        _ => {}
    }
}

/// What the script leaves, without what is done for a rule.
pub(super) fn without(subject: &RequestSubject<'_>, done: &Done, rule: &str) -> Snapshot {
    let mut state = done.state.clone();
    let of = subject.effects.expected.iter().enumerate().filter(|(_, wanted)| wanted.of == rule);
    of.for_each(|(at, _)| undone(subject, done, &mut state, at));
    state
}

/// Whether a refusal speaks of what was left out: of the rule, or of no rule at all.
fn names_it(rule: Option<&str>, expected: &[&str], code: RefusalCode) -> bool {
    match rule {
        Some(rule) => expected.contains(&rule) || expected.is_empty(),
        None => code != RefusalCode::InvalidArgument,
    }
}

/// Whether the scenario, or a way of the policy, leaves a cell to whoever does the work.
fn may_choose(subject: &RequestSubject<'_>, wanted: &ExpectedRow, field: &str) -> bool {
    if wanted.kind == CheckKind::Compliance {
        return true;
    }
    let Some(clause) = subject.scenario.clauses.iter().find(|clause| clause.id == wanted.of) else { return false };
    let (table, cells) = match &clause.act {
        Asked::Change { table, to, .. } => (*table, to),
        Asked::Make { table, with, .. } => (*table, with),
        _ => return true,
    };
    let of_field = |(id, _): &&(FieldId, Wanted)| subject.domain.table(table).field(*id).name == field;
    cells.iter().find(of_field).is_some_and(|(_, wanted)| matches!(wanted, Wanted::OneOf(list) if list.len() > 1))
}
