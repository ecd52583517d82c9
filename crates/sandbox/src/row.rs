//! A row of a table: its cells, and its JSON once somebody has asked for it, so that rows which are listed often are
//! written out once.

use benchwright_base::{FieldId, RowId, StateHash, TableId, Value};
use std::sync::OnceLock;

/// A row of a state. It never changes; a changed row is another one.
#[derive(Debug)]
pub struct Row {
    cells: Box<[Value]>,
    json: OnceLock<Box<[u8]>>,
    weight: u32,
}

/// The bytes of text that weigh as much as a row without any: it is kept once in the cells and once in the JSON.
const TEXT_OF_ONE: usize = 512;

impl Row {
    /// A row from its cells, the first of which is its id.
    pub(crate) fn new(cells: Box<[Value]>) -> Row {
        let text = |value: &Value| if let Value::Text(text) = value { text.len() } else { 0 };
        let weight = u32::try_from(1 + cells.iter().map(text).sum::<usize>() / TEXT_OF_ONE).unwrap_or(u32::MAX);
        Row { cells, json: OnceLock::new(), weight }
    }

    /// What it costs to keep, in rows without long texts. Text that rows share counts for each of them, because their JSON does
    /// not share it.
    #[inline]
    pub(crate) fn weight(&self) -> u64 {
        u64::from(self.weight)
    }

    /// The row's id, which is its first cell.
    #[inline]
    pub fn id(&self) -> RowId {
        match self.cells.first() {
            Some(Value::Ref(id)) => *id,
            _ => 0,
        }
    }

    /// The value of a field of the row's table.
    #[inline]
    pub fn get(&self, field: FieldId) -> &Value {
        &self.cells[field.index()]
    }

    /// The values of all fields, in the order of the table; the first is the id.
    #[inline]
    pub fn cells(&self) -> &[Value] {
        &self.cells
    }

    /// The hash of its cells as a row of a table.
    pub(crate) fn hash(&self, table: TableId) -> StateHash {
        self.cells.iter().enumerate().fold(StateHash::default(), |hash, (at, value)| {
            hash.with(StateHash::cell(table, self.id(), FieldId(at as u16), value))
        })
    }

    /// The hash of a state once this row has taken the place of an old one with its id.
    pub(crate) fn hash_beside(&self, table: TableId, old: &Row, mut hash: StateHash) -> StateHash {
        let cell = |at: usize, value: &Value| StateHash::cell(table, self.id(), FieldId(at as u16), value);
        for (at, (old, new)) in old.cells.iter().zip(&self.cells).enumerate() {
            if old != new {
                hash = hash.without(cell(at, old)).with(cell(at, new));
            }
        }
        hash
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
