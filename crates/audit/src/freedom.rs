//! What a plan declares to be left open: cells that may hold anything, cells that the system writes by itself, rows that
//! promise nothing any more, and calls that do no harm. Whatever else an attack changes without the verdict falling is a hole.

use crate::Subject;
use benchwright_base::{DateTime, FieldId, RowId, TableId, Value};
use benchwright_expr::{
    Expr, Scope, check_truth,
    eval::{Judge, Records},
};
use benchwright_pack::{Change, Diff, FieldChange};
use benchwright_schema::{
    Domain,
    plan::{FreeText, PlanText, VoidText},
};
use benchwright_world::Terminal;
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

/// Why a cell need not hold one value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Freedom<'p> {
    /// It may hold anything, for this reason.
    Free(&'p str),
    /// The sentence of this rule leaves it open.
    Told(&'p str),
    /// It is open as far as this condition lets it.
    Held(&'p str),
    /// The system writes it by itself.
    Stamped,
}

/// The freedoms of a task's plan.
pub(crate) struct Freedoms<'p> {
    text: &'p PlanText,
    /// The condition by which rows of a table are known that promise nothing, by table, with the reason.
    void: BTreeMap<TableId, (Expr, &'p str)>,
}

impl<'p> Freedoms<'p> {
    /// What the plan of a task leaves open. A condition that cannot be read leaves nothing open.
    pub(crate) fn of(subject: &'p Subject<'_>) -> Freedoms<'p> {
        let compiled = |(table, void): (&String, &'p VoidText)| {
            let at = subject.domain.table_named(table)?;
            let when = check_truth(&void.when, &*subject.domain, Scope::on(at)).ok()?;
            Some((at, (when, &*void.why)))
        };
        Freedoms { text: &subject.text, void: subject.text.void.iter().filter_map(compiled).collect() }
    }

    /// Why a row promises nothing, if it does not.
    pub(crate) fn void<R: Records>(&self, records: &R, now: DateTime, table: TableId, row: RowId) -> Option<&'p str> {
        let (when, why) = self.void.get(&table)?;
        let row = records.row(table, row)?;
        Judge::new(records, now).of(row).holds(when).then_some(*why)
    }

    /// What is said of a field.
    pub(crate) fn field(&self, table: &str, field: &str) -> Option<Freedom<'p>> {
        if let Some(why) = self.text.free.get(table).and_then(|fields| fields.get(field)) {
            return Some(match why {
                FreeText::Because(why) => Freedom::Free(why),
                FreeText::Told(rule) => Freedom::Told(rule),
            });
        }
        if let Some(condition) = self.text.held.get(table).and_then(|fields| fields.get(field)) {
            return Some(Freedom::Held(condition));
        }
        let stamped = self.text.stamped.get(table)?;
        stamped.iter().any(|known| known == field).then_some(Freedom::Stamped)
    }

    /// The sentence or reason that leaves room for a field to go from one value to another.
    pub(crate) fn slack(&self, table: &str, field: &str, old: &Value, new: &Value) -> Option<&'p str> {
        let slack = self.text.slack.get(table).and_then(|fields| fields.get(field))?;
        let is_ordered = !matches!(old, Value::Enum(_) | Value::Ref(_) | Value::Text(_) | Value::Bool(_) | Value::Null);
        let room = match old.cmp(new) {
            _ if !is_ordered || new.is_null() => &slack.other,
            Ordering::Less => &slack.above,
            Ordering::Greater | Ordering::Equal => &slack.below,
        };
        room.as_deref()
    }

    /// Why calls of these tools, one after the other, do no harm.
    pub(crate) fn harmless(&self, calls: &str) -> Option<&'p str> {
        self.text.harmless.get(calls).map(|why| &**why)
    }

    /// The freedoms that the difference of two states makes use of, as notes; `None` if it goes beyond them.
    ///
    /// A stamp accompanies a change that is free. By itself it is none: whoever presses a button that only stamps has done something.
    pub(crate) fn covers<'b, 'a>(
        &self,
        domain: &Domain,
        diff: &Diff,
        before: &impl Terminal<'b>,
        after: &impl Terminal<'a>,
    ) -> Option<BTreeSet<String>> {
        let mut used = BTreeSet::new();
        for (table, row, change) in &diff.changes {
            let declared = domain.table(*table);
            let was_void = || self.void(before, before.now(), *table, *row);
            let is_void = || self.void(after, after.now(), *table, *row);
            let void = match change {
                Change::Removed(_) => was_void(),
                Change::Added(_) => is_void(),
                Change::Changed(_) => was_void().and_then(|_| is_void()),
            };
            if let Some(why) = void {
                used.insert(void_note(&declared.name, why));
                continue;
            }
            let (name, fields): (&str, Vec<FieldId>) = match change {
                Change::Removed(_) => return None,
                Change::Added(_) => (&declared.name, (1..declared.fields.len()).map(|at| FieldId(at as u16)).collect()),
                Change::Changed(changed) => {
                    let is_tight = |change: &&FieldChange| {
                        let field = &declared.field(change.field).name;
                        self.slack(&declared.name, field, &change.old, &change.new).is_none()
                    };
                    let noted = changed.iter().filter(|change| !is_tight(change));
                    used.extend(noted.map(|change| slack_note(&declared.name, &declared.field(change.field).name)));
                    (&declared.name, changed.iter().filter(is_tight).map(|change| change.field).collect())
                }
            };
            for field in fields {
                let field = &declared.field(field).name;
                match self.field(name, field)? {
                    Freedom::Stamped => {}
                    freedom => _ = used.insert(freedom.note(name, field)),
                }
            }
        }
        (!used.is_empty()).then_some(used)
    }
}

/// A field with room on a side, as a note of a finding.
pub(crate) fn slack_note(table: &str, field: &str) -> String {
    format!("{table}.{field} has slack")
}

/// A row that promises nothing, as a note of a finding.
pub(crate) fn void_note(table: &str, why: &str) -> String {
    format!("a row of {table} may hold anything: {why}")
}

impl Freedom<'_> {
    /// The freedom as a note of a finding.
    pub(crate) fn note(&self, table: &str, field: &str) -> String {
        match self {
            Freedom::Free(reason) => format!("{table}.{field} is free: {reason}"),
            Freedom::Told(rule) => format!("{table}.{field} is left open by {rule}"),
            Freedom::Held(condition) => format!("{table}.{field} is open as far as `{condition}`"),
            Freedom::Stamped => format!("{table}.{field} is stamped"),
        }
    }
}
