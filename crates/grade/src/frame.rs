//! The frame: whatever the task does not license to change must be as it was, and what it licenses is judged whole. Every row and
//! field that differs from the first state is looked up among the licences; a change without one fails the rule that answers for
//! that table, and so does a new or changed row that does not keep what is held of its fields. Reading is free.
//!
//! Rows that the system makes by itself are nobody's fault. They are no work either, and neither is what may hold anything: the
//! activity gate is lifted by documents.

use crate::read::{Keys, Members, member};
use crate::records::SnapshotRecords;
use benchwright_base::{FactId, RowId, SetId, TableId, Value};
use benchwright_expr::{
    Expr, Type,
    eval::{Facts, Judge, Records},
    specialise,
};
use benchwright_pack::Snapshot;
use benchwright_schema::{
    Domain,
    plan::{Bound, JobWord, Plan},
};
use benchwright_world::Terminal;
use std::collections::{BTreeMap, BTreeSet};

/// What the frame found.
#[derive(Default)]
pub(crate) struct Framed {
    /// Whether anything licensed was done.
    pub(crate) worked: bool,
    /// Every breach: the rule that answers for it, and what was found.
    pub(crate) broken: Vec<(String, String)>,
}

impl Framed {
    /// The rules that were broken, each once.
    pub(crate) fn rules(&self) -> BTreeSet<&str> {
        self.broken.iter().map(|(rule, _)| &**rule).collect()
    }
}

/// A task's frame made ready to judge many states: what is licensed, by table.
pub(crate) struct Frame(Vec<TableFrame>);

struct TableFrame {
    fields: Vec<Licence>,
    /// The rows of the first state that do not belong to the job.
    apart: BTreeSet<RowId>,
    /// The condition on a new row that is work, if any is licensed.
    new: Option<Expr>,
    /// The condition on a new row that the system makes.
    system: Option<Expr>,
    /// What is held of new and changed rows: the field, its condition as written and made ready.
    held: Vec<(usize, String, Expr)>,
    /// The rule that answers for the table.
    rule: String,
}

/// What may be done to a field of a row of the first state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Licence {
    /// No licence: the row or field must stay as it was.
    None,
    /// It may change, which is work.
    Change,
    /// It may change, but nobody reads what it holds.
    Free,
    /// It is never compared.
    Ignore,
}

/// The facts of a task in the words of a frame's conditions.
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) bound: &'a Bound,
    pub(crate) members: &'a Members,
}

impl Facts for Job<'_> {
    fn fact(&self, fact: FactId, arguments: &[Value]) -> Value {
        match (self.plan.job_word(fact), arguments) {
            (Some(JobWord::Fact(fact)), _) => self.bound.fact(fact, arguments),
            (Some(JobWord::Member(sort)), [value]) => member(self.bound, self.members, sort, value),
            (Some(JobWord::Day), [Value::Date(date)]) => Value::Int(i64::from(date.0) - i64::from(self.bound.anchor.0)),
            (Some(JobWord::Units), [Value::Quantity(n)]) if n % 1_000 == 0 => Value::Int(n / 1_000),
            _ => Value::Null,
        }
    }
    fn member(&self, set: SetId, at: usize) -> Option<Value> {
        Facts::member(self.bound, set, at)
    }
}

impl Frame {
    pub(crate) fn new(domain: &Domain, job: &Job<'_>, keys: &Keys) -> Frame {
        let plan = job.plan;
        let of_table = |(table, compiled): (&benchwright_schema::Table, &benchwright_schema::plan::TableFrame)| {
            let listed = |lists: &BTreeMap<String, Vec<String>>, field: &str| {
                lists.get(&table.name).is_some_and(|list| list.iter().any(|known| known == field))
            };
            let licence = |(at, field): (usize, &benchwright_schema::Field)| {
                let is_idle = || compiled.free.iter().chain(&compiled.stamped).any(|free| free.index() == at);
                match &*field.name {
                    name if listed(&plan.frame.ignore, name) => Licence::Ignore,
                    name if !listed(&plan.frame.change, name) => Licence::None,
                    _ if is_idle() => Licence::Free,
                    _ => Licence::Change,
                }
            };
            let apart = plan.frame.apart.iter().flat_map(|prefix| {
                let rows = keys.get(&table.name).into_iter().flatten();
                rows.filter(move |(_, key)| key.starts_with(&**prefix)).map(|(row, _)| *row)
            });
            let ready = |expr: &Expr| specialise(expr, &[], job);
            let answers = plan.frame.answers.get(&table.name).filter(|rule| is_known(plan, rule));
            TableFrame {
                fields: table.fields.iter().enumerate().map(licence).collect(),
                apart: apart.collect(),
                new: compiled.new.as_ref().map(ready),
                system: compiled.system.as_ref().map(ready),
                held: compiled.held.iter().map(|h| (h.field.index(), h.text.clone(), ready(&h.expr))).collect(),
                rule: answers.unwrap_or(&plan.frame.rule).clone(),
            }
        };
        Frame(domain.tables.iter().zip(&plan.tables).map(of_table).collect())
    }

    /// Judges what differs from the first state.
    pub(crate) fn judge<'s>(
        &self,
        domain: &Domain,
        job: &Job<'_>,
        first: &Snapshot,
        last: &impl Terminal<'s>,
    ) -> Framed {
        let found = Framed { worked: false, broken: Vec::new() };
        let apart_rule = job.plan.frame.apart_rule.as_deref().filter(|rule| is_known(job.plan, rule));
        let mut judging = Judging { frame: self, domain, job, first: SnapshotRecords(first), apart_rule, found };
        last.changes(&mut |(table, old, new)| match (old, new) {
            (Some(old), Some(new)) => judging.changed(table, old, new, last),
            (Some(old), None) => judging.removed(table, old),
            (None, Some(new)) => judging.added(table, new, last),
            (None, None) => {}
        });
        judging.found
    }

    fn is_apart(&self, table: TableId, row: Option<RowId>) -> bool {
        row.is_some_and(|row| self.0[table.index()].apart.contains(&row))
    }
}

/// Whether a rule is among those of the task.
fn is_known(plan: &Plan, rule: &str) -> bool {
    plan.rules.iter().any(|known| known.id == rule)
}

struct Judging<'a> {
    frame: &'a Frame,
    domain: &'a Domain,
    job: &'a Job<'a>,
    first: SnapshotRecords<'a>,
    /// The rule that answers for rows that do not belong to the job.
    apart_rule: Option<&'a str>,
    found: Framed,
}

impl<'a> Judging<'a> {
    fn name(&self, table: TableId) -> &'a str {
        &self.domain.table(table).name
    }

    /// Whether a field refers to a row that does not belong to the job.
    fn refers_apart(&self, table: TableId, at: usize, row: &[Value]) -> bool {
        match (self.domain.table(table).fields[at].ty, &row[at]) {
            (Type::Ref(to), Value::Ref(id)) => self.frame.is_apart(to, Some(*id)),
            _ => false,
        }
    }

    fn breach(&mut self, table: TableId, apart: bool, what: String) {
        let by_apart = self.apart_rule.filter(|_| apart);
        let rule = by_apart.unwrap_or(&self.frame.0[table.index()].rule).to_owned();
        self.found.broken.push((rule, what));
    }

    fn changed<'s>(&mut self, table: TableId, old: &[Value], new: &[Value], last: &impl Terminal<'s>) {
        let id = old[0].as_ref_id();
        let apart = self.frame.is_apart(table, id);
        let declared = self.domain.table(table);
        let name = &declared.name;
        let row = id.unwrap_or_default();
        for (at, licence) in self.frame.0[table.index()].fields.iter().enumerate() {
            if *licence == Licence::Ignore || old[at] == new[at] {
                continue;
            }
            let field = &declared.fields[at].name;
            if *licence == Licence::None || apart {
                self.breach(table, apart, format!("{name} {row}: {field} was changed"));
            } else if self.refers_apart(table, at, new) {
                self.breach(table, true, format!("{name} {row}: {field} refers to a record outside the job"));
            } else {
                self.found.worked |= *licence == Licence::Change;
            }
        }
        if !apart {
            self.held(table, Some(old), new, last);
        }
    }

    fn removed(&mut self, table: TableId, old: &[Value]) {
        let apart = self.frame.is_apart(table, old[0].as_ref_id());
        self.breach(table, apart, format!("a row of {} was deleted", self.name(table)));
    }

    fn added<'s>(&mut self, table: TableId, new: &[Value], last: &impl Terminal<'s>) {
        let name = self.name(table);
        if (1..new.len()).any(|at| self.refers_apart(table, at, new)) {
            return self.breach(table, true, format!("a new row of {name} refers to a record outside the job"));
        }
        let frame = &self.frame.0[table.index()];
        let row = new.first().and_then(Value::as_ref_id).and_then(|id| last.row(table, id));
        let meets = |condition: &Option<Expr>| {
            let judged = condition.as_ref().zip(row);
            judged.is_some_and(|(condition, row)| self.judge(last, row, last).holds(condition))
        };
        let is_work = meets(&frame.new);
        if !is_work && !meets(&frame.system) {
            return self.breach(table, false, format!("a row of {name} was added"));
        }
        self.found.worked |= is_work;
        self.held(table, None, new, last);
    }

    /// Holds the fields of a new or changed row to their conditions.
    fn held<'s>(&mut self, table: TableId, old: Option<&[Value]>, new: &[Value], last: &impl Terminal<'s>) {
        let frame = self.frame;
        let held = &frame.0[table.index()].held;
        let id = new.first().and_then(Value::as_ref_id).unwrap_or_default();
        if held.is_empty() {
            return;
        }
        let row = last.row(table, id);
        for (at, text, condition) in held {
            if row.is_some_and(|row| self.judge(last, row, last).holds(condition)) {
                continue;
            }
            // What was so in the first state, in a field that nobody changed, is nobody's fault.
            let was_so = old.is_some_and(|old| old[*at] == new[*at])
                && self.first.row(table, id).is_some_and(|row| !self.judge(&self.first, row, last).holds(condition));
            if !was_so {
                let declared = self.domain.table(table);
                let (name, field) = (&declared.name, &declared.fields[*at].name);
                self.breach(table, false, format!("{name} {id}: {field} does not keep `{text}`"));
            }
        }
    }

    /// A judge of one row, with the facts of the job.
    fn judge<'j, 's, R: Records>(&'j self, world: &'j R, row: R::Row, last: &impl Terminal<'s>) -> Judge<'j, R> {
        let mut judge = Judge::new(world, last.now()).of(row);
        judge.facts = self.job;
        judge
    }
}
