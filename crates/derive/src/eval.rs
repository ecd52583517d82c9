//! Expressions over a state and the cast.

use benchwright_base::{DateTime, RowId, TableId, Value};
use benchwright_expr::{
    Expr, Path, Source, Type,
    eval::{GivenValue, Judge, Records as _},
};
use benchwright_sandbox::{Live, Scratch};
use benchwright_schema::{
    Domain,
    ways::{Form, Said, Shows},
};
use benchwright_world::{seen::Known, written};

/// A state with what names stand for in it.
pub(crate) struct Eye<'e> {
    pub(crate) records: Live<'e>,
    given: Vec<GivenValue<&'e [Value]>>,
    /// The row of whoever acts.
    actor: Option<&'e [Value]>,
    now: DateTime,
    domain: &'e Domain,
}

impl<'e> Eye<'e> {
    /// Looks at a state as it stands.
    pub(crate) fn of(scratch: &'e Scratch, bound: &[Known]) -> Eye<'e> {
        Eye::at(scratch.records(), scratch.domain(), scratch.now(), bound)
    }

    pub(crate) fn at(records: Live<'e>, domain: &'e Domain, now: DateTime, bound: &[Known]) -> Eye<'e> {
        let row = |table: TableId, row: RowId| records.row(table, row);
        let given = bound
            .iter()
            .map(|known| match known {
                Known::Row(table, id) => {
                    id.and_then(|id| row(*table, id)).map_or(GivenValue::Value(Value::Null), GivenValue::Row)
                }
                Known::Rows(table, ids) => GivenValue::Rows(ids.iter().filter_map(|id| row(*table, *id)).collect()),
                Known::Value(_, value) => GivenValue::Value(value.clone()),
            })
            .collect();
        Eye { records, given, actor: None, now, domain }
    }

    /// Looks at a state in which rows that names stand for may be gone; of those it sees what was there before.
    pub(crate) fn with_gone(scratch: &'e Scratch, first: &'e Scratch, bound: &[Known]) -> Eye<'e> {
        let mut eye = Eye::of(scratch, bound);
        let row = |table: TableId, row: RowId| scratch.row(table, row).or_else(|| first.row(table, row));
        for (given, known) in eye.given.iter_mut().zip(bound) {
            match known {
                Known::Row(table, Some(id)) => {
                    *given = row(*table, *id).map_or(GivenValue::Value(Value::Null), GivenValue::Row);
                }
                Known::Rows(table, ids) => {
                    *given = GivenValue::Rows(ids.iter().filter_map(|id| row(*table, *id)).collect());
                }
                Known::Row(_, None) | Known::Value(..) => {}
            }
        }
        eye
    }

    /// The same for somebody who acts.
    pub(crate) fn acted_by(mut self, actor: Option<(TableId, RowId)>) -> Eye<'e> {
        self.actor = actor.and_then(|(table, row)| self.records.row(table, row));
        self
    }

    fn judge<'j>(&'j self, subject: Option<&'e [Value]>, it: Option<&'e [Value]>) -> Judge<'j, Live<'e>> {
        let mut judge = Judge::new(&self.records, self.now);
        judge.given = &self.given;
        judge.subject = subject;
        judge.subject_before = subject;
        judge.it = it;
        judge.actor = self.actor;
        judge
    }

    pub(crate) fn row(&self, table: TableId, row: RowId) -> Option<&'e [Value]> {
        self.records.row(table, row)
    }

    pub(crate) fn value(&self, expr: &Expr, it: Option<&'e [Value]>) -> Value {
        self.judge(None, it).value(expr)
    }

    /// The value of an expression about a row.
    pub(crate) fn value_on(&self, expr: &Expr, subject: &'e [Value], it: Option<&'e [Value]>) -> Value {
        self.judge(Some(subject), it).value(expr)
    }

    pub(crate) fn holds(&self, expr: &Expr, it: Option<&'e [Value]>) -> bool {
        self.judge(None, it).holds(expr)
    }

    /// The rows of a source for which a condition on `it` holds, in order of id; about a row, if there is one.
    pub(crate) fn rows(
        &self,
        source: &Source,
        condition: Option<&Expr>,
        subject: Option<&'e [Value]>,
    ) -> Vec<&'e [Value]> {
        let rows = self.judge(subject, None).rows(source);
        let holds =
            |row: &&'e [Value]| condition.is_none_or(|condition| self.judge(subject, Some(row)).holds(condition));
        rows.into_iter().filter(holds).collect()
    }

    /// What a path reaches from a row.
    pub(crate) fn reach(&self, row: &'e [Value], path: &Path) -> Value {
        self.judge(Some(row), None).value(&Expr::Field(0, path.clone()))
    }

    /// A value as people write it.
    pub(crate) fn show(&self, ty: Type, value: &Value, form: Form) -> String {
        written::value(self.domain, ty, value, form)
    }

    /// A text with its slots filled in; `number` stands for the number of a planted row.
    pub(crate) fn text(
        &self,
        parts: &[Said],
        it: Option<&'e [Value]>,
        subject: Option<&'e [Value]>,
        number: RowId,
    ) -> String {
        let mut text = String::new();
        for part in parts {
            match part {
                Said::Plain(plain) if plain == benchwright_spec::scenario::NUMBER => text.push_str(&number.to_string()),
                Said::Plain(plain) => text.push_str(plain),
                Said::Slot { shows, ty, form, .. } => text.push_str(&self.slot(shows, *ty, *form, it, subject)),
            }
        }
        text
    }

    /// What a slot shows.
    pub(crate) fn slot(
        &self,
        shows: &Shows,
        ty: Type,
        form: Form,
        it: Option<&'e [Value]>,
        subject: Option<&'e [Value]>,
    ) -> String {
        match shows {
            Shows::One(expr) => self.show(ty, &self.judge(subject, it).value(expr), form),
            Shows::Each(slot, path) => {
                let items = self.items(*slot - usize::from(subject.is_some()), ty, path);
                if form == Form::Count { written::count(items.len()) } else { written::list(&items) }
            }
        }
    }

    /// What a path reaches from each row of the set that a name stands for, as people write it.
    pub(crate) fn items(&self, slot: usize, ty: Type, path: &Path) -> Vec<String> {
        let Some(GivenValue::Rows(rows)) = self.given.get(slot) else { return Vec::new() };
        rows.iter().map(|row| self.show(ty, &self.reach(row, path), Form::Plain)).collect()
    }
}

/// The id of a row.
pub(crate) fn id_of(row: &[Value]) -> RowId {
    row.first().and_then(Value::as_ref_id).unwrap_or_default()
}
