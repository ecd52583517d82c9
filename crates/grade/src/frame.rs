//! The frame: whatever the task does not license to change must be as it was. Every row and field that differs from the
//! first state is looked up among the licences; a change without one fails the rule that answers for that table. Reading is
//! free.

use crate::read::Keys;
use benchwright_base::{RelationId, RowId, TableId, Value};
use benchwright_expr::{Expr, Scope, Type, check_truth, eval::Judge};
use benchwright_schema::{Domain, plan::Plan};
use benchwright_world::Terminal;
use std::collections::BTreeSet;

/// What the frame found.
pub(crate) struct Framed {
    /// Whether anything licensed was done.
    pub(crate) worked: bool,
    /// Every breach: the rule that answers for it, and what was found.
    pub(crate) broken: Vec<(String, String)>,
}

/// A task's frame made ready to judge many states: what is licensed, by table.
pub(crate) struct Frame(Vec<TableFrame>);

struct TableFrame {
    fields: Vec<Licence>,
    /// The rows of the first state that do not belong to the job.
    apart: BTreeSet<RowId>,
    /// The condition on a new row, if any is licensed.
    new: Option<Expr>,
}

/// What may be done to a field of a row of the first state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Licence {
    /// No licence: the row or field must stay as it was.
    None,
    /// It may change, which is work.
    Change,
    /// It is never compared.
    Ignore,
}

impl Frame {
    pub(crate) fn new(domain: &Domain, plan: &Plan, keys: &Keys) -> Frame {
        let of_table = |(at, table): (usize, &benchwright_schema::Table)| {
            let listed = |lists: &std::collections::BTreeMap<String, Vec<String>>, field: &str| {
                lists.get(&table.name).is_some_and(|list| list.iter().any(|known| known == field))
            };
            let licence = |field: &benchwright_schema::Field| match &*field.name {
                name if listed(&plan.frame.ignore, name) => Licence::Ignore,
                name if listed(&plan.frame.change, name) => Licence::Change,
                _ => Licence::None,
            };
            let apart = plan.frame.apart.iter().flat_map(|prefix| {
                let rows = keys.get(&table.name).into_iter().flatten();
                rows.filter(move |(_, key)| key.starts_with(&**prefix)).map(|(row, _)| *row)
            });
            // A condition that cannot be read licenses nothing.
            let scope = Scope { subject: Some(RelationId(at as u16)) };
            let new = plan.frame.new.get(&table.name).and_then(|text| check_truth(text, domain, scope).ok());
            TableFrame { fields: table.fields.iter().map(licence).collect(), apart: apart.collect(), new }
        };
        Frame(domain.tables.iter().enumerate().map(of_table).collect())
    }

    /// Judges what differs from the first state.
    pub(crate) fn judge<'s>(&self, domain: &Domain, plan: &Plan, last: &impl Terminal<'s>) -> Framed {
        let found = Framed { worked: false, broken: Vec::new() };
        let mut judging = Judging { frame: self, domain, plan, found };
        last.changes(&mut |(table, old, new)| match (old, new) {
            (Some(old), Some(new)) => judging.changed(table, old, new),
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

struct Judging<'a> {
    frame: &'a Frame,
    domain: &'a Domain,
    plan: &'a Plan,
    found: Framed,
}

impl<'a> Judging<'a> {
    fn name(&self, table: TableId) -> &'a str {
        &self.domain.table(table).name
    }

    /// Whether a row refers to one that does not belong to the job.
    fn refers_apart(&self, table: TableId, row: &[Value]) -> bool {
        self.domain.table(table).fields.iter().zip(row).skip(1).any(|(field, value)| match (field.ty, value) {
            (Type::Ref(to), Value::Ref(id)) => self.frame.is_apart(to, Some(*id)),
            _ => false,
        })
    }

    fn breach(&mut self, table: TableId, apart: bool, what: String) {
        let frame = &self.plan.frame;
        let known = |rule: &&String| self.plan.rules.iter().any(|known| known.id == **rule);
        let by_apart = frame.apart_rule.as_ref().filter(|_| apart).filter(known);
        let by_table = frame.answers.get(self.name(table)).filter(known);
        let rule = by_apart.or(by_table).unwrap_or(&frame.rule).clone();
        self.found.broken.push((rule, what));
    }

    fn changed(&mut self, table: TableId, old: &[Value], new: &[Value]) {
        let id = old[0].as_ref_id();
        let apart = self.frame.is_apart(table, id);
        for (at, licence) in self.frame.0[table.index()].fields.iter().enumerate() {
            if *licence == Licence::Ignore || old[at] == new[at] {
                continue;
            }
            if *licence == Licence::Change && !apart {
                self.found.worked = true;
            } else {
                let declared = self.domain.table(table);
                let (name, field) = (&declared.name, &declared.fields[at].name);
                self.breach(table, apart, format!("{name} {}: {field} was changed", id.unwrap_or_default()));
            }
        }
    }

    fn removed(&mut self, table: TableId, old: &[Value]) {
        let apart = self.frame.is_apart(table, old[0].as_ref_id());
        self.breach(table, apart, format!("a row of {} was deleted", self.name(table)));
    }

    fn added<'s>(&mut self, table: TableId, new: &[Value], last: &impl Terminal<'s>) {
        let name = self.name(table);
        if self.refers_apart(table, new) {
            return self.breach(table, true, format!("a new row of {name} refers to a record outside the job"));
        }
        let licensed = self.frame.0[table.index()].new.as_ref().is_some_and(|condition| {
            let row = new.first().and_then(Value::as_ref_id).and_then(|id| last.row(table, id));
            row.is_some_and(|row| Judge::new(last, last.now()).of(row).holds(condition))
        });
        if licensed {
            self.found.worked = true;
        } else {
            self.breach(table, false, format!("a row of {name} was added"));
        }
    }
}
