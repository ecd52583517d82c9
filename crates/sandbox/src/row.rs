//! A row: its cells, and its JSON once somebody has asked for it.

use benchwright_base::{FieldId, RowId, StateHash, TableId, Value};
use std::sync::OnceLock;

/// A row of a state. It never changes; a changed row is another one.
#[derive(Debug)]
pub struct Row {
    cells: Box<[Value]>,
    json: OnceLock<Box<[u8]>>,
}

impl Row {
    /// A row from its cells, the first of which is its id.
    pub(crate) fn new(cells: Box<[Value]>) -> Row {
        Row { cells, json: OnceLock::new() }
    }

    /// Its id.
    #[inline]
    pub fn id(&self) -> RowId {
        match self.cells.first() {
            Some(Value::Ref(id)) => *id,
            _ => 0,
        }
    }

    /// A cell.
    #[inline]
    pub fn get(&self, field: FieldId) -> &Value {
        &self.cells[field.index()]
    }

    /// All cells.
    pub fn cells(&self) -> &[Value] {
        &self.cells
    }

    /// The hash of its cells as a row of a table.
    pub(crate) fn hash(&self, table: TableId) -> StateHash {
        self.hash_changes(table, |_| true)
    }

    /// The hash of some of its cells.
    pub(crate) fn hash_changes(&self, table: TableId, changed: impl Fn(usize) -> bool) -> StateHash {
        let cells = self.cells.iter().enumerate().filter(|(at, _)| changed(*at));
        cells.fold(StateHash::default(), |hash, (at, value)| {
            hash.with(StateHash::cell(table, self.id(), FieldId(at as u16), value))
        })
    }

    /// Its JSON with every field, written once.
    pub(crate) fn json(&self, write: impl FnOnce(&mut Vec<u8>, &[Value])) -> &[u8] {
        self.json.get_or_init(|| {
            let mut out = Vec::with_capacity(self.cells.len() * 32);
            write(&mut out, &self.cells);
            out.into_boxed_slice()
        })
    }
}
