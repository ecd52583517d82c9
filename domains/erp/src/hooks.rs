//! What a model does beyond storing its records: a table of hooks that the record calls (create, write, unlink, read, search)
//! go through. A model is a type that implements [`Model`] in a file of its own; `models.rs` lists them all.

use crate::record::{Call, Cells};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{AnyRow, Row, RowView, Table};

/// Makes a value of a record when it is asked for.
pub(crate) type Made = fn(&Call<'_, '_>, RowId) -> Result<Value, Refusal>;
/// Finds records of a record when they are asked for.
pub(crate) type Found = fn(&Call<'_, '_>, RowId) -> Result<Vec<RowId>, Refusal>;

/// A model. What it does not say is as for a model that only stores.
pub(crate) trait Model: Sync {
    /// Its table.
    type Of: Table;
    /// The order in which its records come when a call does not say.
    const ORDER: &'static str = "id";
    /// Whether a record refuses a change before all of it is looked at.
    const LOOKS_FIRST: bool = false;
    /// The values that are made when they are asked for.
    const MADE: &'static [(&'static str, Made)] = &[];
    /// The lists of records that are found when they are asked for.
    const FOUND: &'static [(&'static str, Found)] = &[];
    /// A stored field that stands for something while it is empty, and for what.
    const WHILE_EMPTY: Option<(&'static str, Made)> = None;
    /// The lists of its own that `after_create` asks about.
    const LISTS: &'static [&'static str] = &[];

    /// The name under which a record is shown; nothing for its `name`.
    fn display(_call: &Call<'_, '_>, _row: &Row) -> Result<Option<String>, Refusal> {
        Ok(None)
    }

    /// Fills in what a new record gets from others. A record that is there already may stand for the new one.
    fn before_create(_call: &mut Call<'_, '_>, _cells: &mut Cells<Self::Of>) -> Result<Option<RowId>, Refusal> {
        Ok(None)
    }

    /// Makes what belongs to a new record; `given` names the lists that came with it.
    fn after_create(_call: &mut Call<'_, '_>, _id: RowId, _given: &[&str]) -> Result<(), Refusal> {
        Ok(())
    }

    /// What follows from a record that a call made by itself, and not as a part of another.
    fn added(_call: &mut Call<'_, '_>, _id: RowId) -> Result<(), Refusal> {
        Ok(())
    }

    /// Refuses or completes a change.
    fn before_write(_call: &mut Call<'_, '_>, _id: RowId, _cells: &mut Cells<Self::Of>) -> Result<(), Refusal> {
        Ok(())
    }

    /// What follows from a change.
    fn after_write(
        _call: &mut Call<'_, '_>,
        _id: RowId,
        _old: &RowView<Self::Of>,
        _cells: &Cells<Self::Of>,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    /// Refuses to let a record go, or lets go of what hangs on it.
    fn before_unlink(_call: &mut Call<'_, '_>, _id: RowId) -> Result<(), Refusal> {
        Ok(())
    }

    /// What follows from a record that is gone.
    fn after_unlink(_call: &mut Call<'_, '_>, _old: &RowView<Self::Of>) -> Result<(), Refusal> {
        Ok(())
    }
}

/// A model whose table is known only when a call comes.
pub(crate) trait Hooks: Sync {
    fn table(&self) -> &'static str;
    fn order(&self) -> &'static str;
    fn looks_first(&self) -> bool;
    fn made(&self) -> &'static [(&'static str, Made)];
    fn found(&self) -> &'static [(&'static str, Found)];
    fn while_empty(&self) -> Option<(&'static str, Made)>;
    fn lists(&self) -> &'static [&'static str];
    fn display(&self, call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal>;
    fn before_create(&self, call: &mut Call<'_, '_>, cells: &mut Cells<()>) -> Result<Option<RowId>, Refusal>;
    fn after_create(&self, call: &mut Call<'_, '_>, id: RowId, given: &[&str]) -> Result<(), Refusal>;
    fn added(&self, call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal>;
    fn before_write(&self, call: &mut Call<'_, '_>, id: RowId, cells: &mut Cells<()>) -> Result<(), Refusal>;
    fn after_write(
        &self,
        call: &mut Call<'_, '_>,
        id: RowId,
        old: &AnyRow,
        cells: &mut Cells<()>,
    ) -> Result<(), Refusal>;
    fn before_unlink(&self, call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal>;
    fn after_unlink(&self, call: &mut Call<'_, '_>, old: &AnyRow) -> Result<(), Refusal>;
}

impl<M: Model> Hooks for M {
    fn table(&self) -> &'static str {
        M::Of::NAME
    }

    fn order(&self) -> &'static str {
        M::ORDER
    }

    fn looks_first(&self) -> bool {
        M::LOOKS_FIRST
    }

    fn made(&self) -> &'static [(&'static str, Made)] {
        M::MADE
    }

    fn found(&self) -> &'static [(&'static str, Found)] {
        M::FOUND
    }

    fn while_empty(&self) -> Option<(&'static str, Made)> {
        M::WHILE_EMPTY
    }

    fn lists(&self) -> &'static [&'static str] {
        M::LISTS
    }

    fn display(&self, call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        M::display(call, row)
    }

    fn before_create(&self, call: &mut Call<'_, '_>, cells: &mut Cells<()>) -> Result<Option<RowId>, Refusal> {
        typed(cells, |cells| M::before_create(call, cells))
    }

    fn after_create(&self, call: &mut Call<'_, '_>, id: RowId, given: &[&str]) -> Result<(), Refusal> {
        M::after_create(call, id, given)
    }

    fn added(&self, call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        M::added(call, id)
    }

    fn before_write(&self, call: &mut Call<'_, '_>, id: RowId, cells: &mut Cells<()>) -> Result<(), Refusal> {
        typed(cells, |cells| M::before_write(call, id, cells))
    }

    fn after_write(
        &self,
        call: &mut Call<'_, '_>,
        id: RowId,
        old: &AnyRow,
        cells: &mut Cells<()>,
    ) -> Result<(), Refusal> {
        let old = old.of(call, M::Of::default())?;
        typed(cells, |cells| M::after_write(call, id, &old, cells))
    }

    fn before_unlink(&self, call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        M::before_unlink(call, id)
    }

    fn after_unlink(&self, call: &mut Call<'_, '_>, old: &AnyRow) -> Result<(), Refusal> {
        let old = old.of(call, M::Of::default())?;
        M::after_unlink(call, &old)
    }
}

/// Works on cells as those of a table.
fn typed<T, R>(cells: &mut Cells<()>, work: impl FnOnce(&mut Cells<T>) -> R) -> R {
    let mut own = Cells::new(std::mem::take(&mut cells.cells));
    let result = work(&mut own);
    cells.cells = own.cells;
    result
}
