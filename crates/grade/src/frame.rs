//! The frame: whatever the task does not license to change must be as it was. Reading is free.

use crate::read::Keys;
use benchwright_base::{TableId, Value};
use benchwright_expr::{Scope, Type, check_truth, eval::Judge};
use benchwright_schema::{Domain, plan::Plan};
use benchwright_world::Terminal;

/// What the frame found.
pub(crate) struct Framed {
    /// Whether anything licensed was done.
    pub(crate) worked: bool,
    /// Every breach: the rule that answers for it, and what was found.
    pub(crate) broken: Vec<(String, String)>,
}

struct Frame<'a> {
    domain: &'a Domain,
    plan: &'a Plan,
    keys: &'a Keys,
    found: Framed,
}

/// Judges what differs from the first state.
pub(crate) fn judge<'s>(domain: &Domain, plan: &Plan, keys: &Keys, last: &impl Terminal<'s>) -> Framed {
    let found = Framed { worked: false, broken: Vec::new() };
    let mut frame = Frame { domain, plan, keys, found };
    last.changes(&mut |(table, old, new)| match (old, new) {
        (Some(old), Some(new)) => frame.changed(table, old, new),
        (Some(old), None) => frame.removed(table, old),
        (None, Some(new)) => frame.added(table, new, last),
        (None, None) => {}
    });
    frame.found
}

impl Frame<'_> {
    fn name(&self, table: TableId) -> &str {
        &self.domain.table(table).name
    }

    fn is_apart(&self, table: TableId, row: Option<u32>) -> bool {
        let Some(apart) = &self.plan.frame.apart else { return false };
        let key = row.and_then(|row| self.keys.get(self.name(table))?.get(&row));
        key.is_some_and(|key| key.starts_with(&**apart))
    }

    /// Whether a row refers to one that does not belong to the job.
    fn refers_apart(&self, table: TableId, row: &[Value]) -> bool {
        self.domain.table(table).fields.iter().zip(row).skip(1).any(|(field, value)| match (field.ty, value) {
            (Type::Ref(to), Value::Ref(id)) => self.is_apart(to, Some(*id)),
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
        if old == new {
            return;
        }
        let declared = self.domain.table(table);
        let id = old[0].as_ref_id();
        let mut apart = None;
        let listed = |lists: &std::collections::BTreeMap<String, Vec<String>>, field: &str| {
            lists.get(&declared.name).is_some_and(|list| list.iter().any(|known| known == field))
        };
        let mut breaches = Vec::new();
        for (field, (old, new)) in declared.fields.iter().zip(old.iter().zip(new)) {
            if old == new || listed(&self.plan.frame.ignore, &field.name) {
                continue;
            }
            let apart = *apart.get_or_insert_with(|| self.is_apart(table, id));
            if !apart && listed(&self.plan.frame.change, &field.name) {
                self.found.worked = true;
            } else {
                breaches.push(format!("{} {}: {} was changed", declared.name, id.unwrap_or_default(), field.name));
            }
        }
        for what in breaches {
            self.breach(table, apart == Some(true), what);
        }
    }

    fn removed(&mut self, table: TableId, old: &[Value]) {
        let apart = self.is_apart(table, old[0].as_ref_id());
        let what = format!("a row of {} was deleted", self.name(table));
        self.breach(table, apart, what);
    }

    fn added<'s>(&mut self, table: TableId, new: &[Value], last: &impl Terminal<'s>) {
        let name = self.name(table).to_owned();
        if self.refers_apart(table, new) {
            return self.breach(table, true, format!("a new row of {name} refers to a record outside the job"));
        }
        let licensed = self.plan.frame.new.get(&name).is_some_and(|condition| {
            // A condition that cannot be read licenses nothing.
            check_truth(condition, self.domain, Scope { subject: Some(table) }).is_ok_and(|condition| {
                let row = new.first().and_then(Value::as_ref_id).and_then(|id| last.row(table, id));
                row.is_some_and(|row| Judge::new(last, last.now()).of(row).holds(&condition))
            })
        });
        if licensed {
            self.found.worked = true;
        } else {
            self.breach(table, false, format!("a row of {name} was added"));
        }
    }
}
