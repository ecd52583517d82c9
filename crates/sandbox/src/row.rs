//! A row: its cells, its hash, and its JSON once somebody has asked for it.

use benchwright_base::{FieldId, RowHash, RowId, TableId, Value};
use std::sync::OnceLock;

/// A row of a state. It never changes; a changed row is another one.
#[derive(Debug)]
pub struct Row {
    cells: Box<[Value]>,
    hash: RowHash,
    json: OnceLock<Box<[u8]>>,
}

impl Row {
    /// A row of a table from its cells, the first of which is its id.
    pub(crate) fn new(table: TableId, cells: Box<[Value]>, scratch: &mut Vec<u8>) -> Row {
        scratch.clear();
        scratch.extend_from_slice(&table.0.to_le_bytes());
        for cell in &cells {
            cell.canonical_bytes(scratch);
        }
        Row { hash: RowHash::of(scratch), cells, json: OnceLock::new() }
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

    pub(crate) fn hash(&self) -> RowHash {
        self.hash
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
