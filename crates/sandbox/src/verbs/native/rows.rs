//! Rows and tables as native code reads them: only what the role may see, and by names that were checked.

use super::{NativeCall, fault};
use crate::{
    access::Actor,
    names::{ColumnOf, Place, Resolved, Table, Word, WordOf},
    row::Row,
    state::{State, TableState},
};
use benchwright_base::{DateTime, FieldId, RowId, TableId, Value};
use benchwright_pack::Refusal;
use benchwright_schema::Action;
use std::{marker::PhantomData, sync::Arc};

/// A row of a table that a native tool may see.
pub struct RowView<T> {
    names: Arc<Resolved>,
    row: Arc<Row>,
    /// Whether its secret fields may be seen.
    reveals: bool,
    table: PhantomData<fn() -> T>,
}

impl<T> Clone for RowView<T> {
    fn clone(&self) -> RowView<T> {
        RowView { names: Arc::clone(&self.names), row: Arc::clone(&self.row), ..*self }
    }
}

impl<T> RowView<T> {
    /// A row with the names by which it is read.
    pub(super) fn new(names: Arc<Resolved>, row: Arc<Row>, reveals: bool) -> RowView<T> {
        RowView { names, row, reveals, table: PhantomData }
    }

    /// Its id.
    pub fn id(&self) -> RowId {
        self.row.id()
    }

    /// A field; null if it is secret and the role may not see it.
    #[inline]
    pub fn get(&self, column: impl ColumnOf<T>) -> Value {
        self.see(column.slot()).cloned().unwrap_or_default()
    }

    /// A number in its smallest unit; nothing is 0.
    #[inline]
    pub fn number(&self, column: impl ColumnOf<T>) -> i64 {
        self.see(column.slot()).and_then(Value::as_number).unwrap_or_default()
    }

    /// The row that a field refers to.
    #[inline]
    pub fn link(&self, column: impl ColumnOf<T>) -> Option<RowId> {
        self.see(column.slot()).and_then(Value::as_ref_id)
    }

    /// Whether a field is true.
    #[inline]
    pub fn flag(&self, column: impl ColumnOf<T>) -> bool {
        self.see(column.slot()) == Some(&Value::Bool(true))
    }

    /// A text; nothing is empty.
    pub fn words(&self, column: impl ColumnOf<T>) -> String {
        self.see(column.slot()).and_then(Value::as_text).unwrap_or_default().to_owned()
    }

    /// An instant; nothing if it is null.
    #[inline]
    pub fn instant(&self, column: impl ColumnOf<T>) -> Option<DateTime> {
        match self.see(column.slot()) {
            Some(Value::DateTime(instant)) => Some(*instant),
            _ => None,
        }
    }

    /// Whether an enum field has a word.
    #[inline]
    pub fn is<C: ColumnOf<T>>(&self, column: C, word: impl WordOf<T, C>) -> bool {
        self.see(column.slot()) == Some(&Value::Enum(self.names.words[usize::from(word.slot())]))
    }

    /// Whether an enum field has one of several words.
    #[inline]
    pub fn is_any<C: ColumnOf<T>, const N: usize>(&self, column: C, words: [Word<T, C>; N]) -> bool {
        let Some(Value::Enum(at)) = self.see(column.slot()) else { return false };
        words.into_iter().any(|word| self.names.words[usize::from(word.slot())] == *at)
    }

    /// A field, if it may be seen.
    #[inline]
    fn see(&self, slot: u16) -> Option<&Value> {
        let Place { field, secret } = self.names.columns[usize::from(slot)];
        (self.reveals || !secret).then(|| self.row.get(field))
    }
}

/// A row whose table is known only by its id.
#[derive(Clone)]
pub struct AnyRow {
    pub(super) table: TableId,
    pub(super) row: RowView<()>,
}

impl AnyRow {
    /// The same as a row of a table, which it must be.
    pub fn of<T: Table>(&self, call: &NativeCall<'_, '_>, table: T) -> Result<RowView<T>, Refusal> {
        let RowView { names, row, reveals, .. } = self.row.clone();
        if call.table(table) == self.table {
            return Ok(RowView { names, row, reveals, table: PhantomData });
        }
        let [is, not] = [self.table, call.table(table)].map(|table| &call.domain().table(table).name);
        Err(fault(format!("a row of `{is}` was taken for one of `{not}`")))
    }
}

/// A table as a native tool reads it: the rows that the role may see, each as a whole.
#[derive(Clone, Copy)]
pub struct Seen<'n> {
    pub(super) table: TableId,
    pub(super) rows: &'n TableState,
    pub(super) state: &'n State,
    pub(super) actor: &'n Actor<'n>,
    /// Whether each row must be asked for.
    pub(super) conditional: bool,
}

impl<'n> Seen<'n> {
    /// The table.
    pub fn table(&self) -> TableId {
        self.table
    }

    /// A row by its id.
    #[inline]
    pub fn get(&self, id: RowId) -> Option<&'n Row> {
        self.rows.rows.get(id).map(|row| &**row).filter(|row| self.shows(row))
    }

    /// The rows that refer by a field to a row, in order of id.
    #[inline]
    pub fn referring(self, field: FieldId, to: RowId) -> impl Iterator<Item = &'n Row> {
        let mut rows = self.rows.referring(&self.actor.compiled.tables[self.table.index()], field, to);
        // Not a filter: that becomes a call for each row.
        std::iter::from_fn(move || {
            loop {
                let row = rows.next()?;
                if self.shows(row) {
                    return Some(&**row);
                }
            }
        })
    }

    /// All rows, in order of id.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = &'n Row> {
        self.rows.rows.iter().map(|(_, row)| &**row).filter(move |row| self.shows(row))
    }

    #[inline]
    fn shows(&self, row: &Row) -> bool {
        !self.conditional || self.actor.may(self.state, self.table, Action::Read, row)
    }
}
