//! What a cell must be, and whether it is so in a state in which new rows are bound and choices are made.

use super::{
    prose::{Fact, ReadyProse},
    ready::Ready,
};
use benchwright_base::{Date, FieldId, RowId, TableId, Value};
use benchwright_expr::eval::Records as _;
use benchwright_sandbox::Live;
use benchwright_schema::Domain;
use std::{borrow::Cow, collections::BTreeSet};

/// What a cell must be, with every name resolved. Made rows and choices are told by their places.
pub(super) enum WantedCell {
    /// One of these values.
    Is(Vec<Value>),
    /// A reference to a new row.
    Made(usize),
    /// What a field of a new row is.
    MadeField(usize, FieldId),
    /// A reference to the row that is chosen.
    Chosen(usize),
    /// What a field of the row that is chosen is.
    ChosenField(usize, FieldId),
    /// A text with facts in it.
    Prose(ReadyProse<Where>),
    /// Anything.
    Any,
}

/// Where the fact of a slot is found.
pub(super) enum Where {
    /// It is known.
    Known(Fact),
    /// In a field of a new row.
    Made(usize, FieldId),
    /// In a field of the row that is chosen.
    Chosen(usize, FieldId),
}

impl WantedCell {
    /// Whether agreement says anything.
    pub(super) fn counts(&self) -> bool {
        !matches!(self, WantedCell::Any)
    }

    /// The new rows that must be bound before it can agree with anything.
    pub(super) fn needs(&self) -> Option<usize> {
        match self {
            WantedCell::Made(made) | WantedCell::MadeField(made, _) => Some(*made),
            _ => None,
        }
    }

    /// The new rows that it had better be judged after: those that its text speaks of.
    pub(super) fn likes(&self) -> BTreeSet<usize> {
        let WantedCell::Prose(prose) = self else { return BTreeSet::new() };
        let made = prose.slots.iter().filter_map(|slot| match slot.is {
            Where::Made(made, _) => Some(made),
            _ => None,
        });
        made.collect()
    }
}

/// A state with what stands for made rows and choices in it.
pub(super) struct Sight<'a> {
    pub(super) ready: &'a Ready,
    pub(super) domain: &'a Domain,
    pub(super) live: Live<'a>,
    /// The row of each choice.
    pub(super) chosen: &'a [RowId],
    /// The row of each expected row that is a new one, as far as it is bound.
    pub(super) bound: Vec<Option<RowId>>,
    /// The days on which the clock stood first and last.
    pub(super) days: [Date; 2],
}

impl<'a> Sight<'a> {
    /// A row of the state.
    pub(super) fn row(&self, table: TableId, id: RowId) -> Option<&'a [Value]> {
        self.live.row(table, id)
    }

    /// The new row that an expected one is bound to.
    pub(super) fn made(&self, at: usize) -> Option<&'a [Value]> {
        self.row(self.ready.expected[at].table, self.bound[at]?)
    }

    /// The row that is chosen.
    pub(super) fn chosen(&self, at: usize) -> Option<&'a [Value]> {
        self.row(self.ready.choices[at], self.chosen[at])
    }

    fn fact<'s>(&self, slot: &'s Where) -> Option<Cow<'s, Fact>> {
        let of_cell = |table: TableId, row: Option<&[Value]>, field: FieldId| {
            let ty = self.domain.table(table).field(field).ty;
            Fact::of_cell(self.domain, ty, row?.get(field.index())?).map(Cow::Owned)
        };
        match slot {
            Where::Known(fact) => Some(Cow::Borrowed(fact)),
            Where::Made(at, field) => of_cell(self.ready.expected[*at].table, self.made(*at), *field),
            Where::Chosen(at, field) => of_cell(self.ready.choices[*at], self.chosen(*at), *field),
        }
    }

    /// Judges a value; the error is what is wrong with it.
    pub(super) fn judge(&self, cell: &WantedCell, value: &Value) -> Result<(), Cow<'static, str>> {
        let same = |row: Option<&[Value]>, field: FieldId| row.and_then(|row| row.get(field.index())) == Some(value);
        let agrees = match cell {
            WantedCell::Any => true,
            WantedCell::Is(values) => values.contains(value),
            WantedCell::Made(at) => self.bound[*at].is_some_and(|id| *value == Value::Ref(id)),
            WantedCell::MadeField(at, field) => same(self.made(*at), *field),
            WantedCell::Chosen(at) => *value == Value::Ref(self.chosen[*at]),
            WantedCell::ChosenField(at, field) => same(self.chosen(*at), *field),
            WantedCell::Prose(prose) => {
                return prose.judge(value, &self.days, |slot| self.fact(slot)).map_err(Cow::Owned);
            }
        };
        if agrees { Ok(()) } else { Err(Cow::Borrowed("is not as asked")) }
    }

    /// What is wrong with the cells of a row, by field.
    pub(super) fn wrong_cells(&self, table: TableId, cells: &[(FieldId, WantedCell)], row: &[Value]) -> Vec<String> {
        let mut wrong = Vec::new();
        for (field, cell) in cells {
            let value = row.get(field.index()).unwrap_or(&Value::Null);
            if let Err(why) = self.judge(cell, value) {
                wrong.push(format!("`{}` {why}", self.domain.table(table).field(*field).name));
            }
        }
        wrong
    }
}
