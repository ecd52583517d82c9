//! A first state as what it differs in from a seeded world. Tasks share seeded worlds; each keeps only what was planted for it.

use crate::{Change, Diff, SnapshotError};
use benchwright_base::{Digest, Json, RelationId, RowId, Value};
use benchwright_schema::{Domain, codec};
use serde::{Deserialize, Serialize};
use serde_json::Value as SerdeJson;

/// A first state by its base and what was planted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delta {
    /// The version of this document, which tells it from a snapshot.
    pub delta: u32,
    /// The domain of the world.
    pub domain: String,
    /// The size of the base.
    pub size: String,
    /// The seed of the base.
    pub seed: u64,
    /// The digest of the base's first state.
    pub base: String,
    /// The digest of the first state that it comes to.
    pub digest: String,
    /// Rows that are new or other than in the base, and rows that are gone, by table.
    pub tables: Vec<TableDelta>,
}

/// What differs in a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDelta {
    /// Its name.
    pub table: String,
    /// The id of the next row.
    pub next_id: RowId,
    /// The number of the next row.
    pub next_number: u32,
    /// Whole rows, cells in the order of the fields.
    pub rows: Vec<Vec<SerdeJson>>,
    /// The ids of rows that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<RowId>,
}

/// A table of a delta with its values read.
#[derive(Clone, PartialEq, Debug)]
pub struct TableChanges {
    /// Which table.
    pub table: RelationId,
    /// The id of the next row.
    pub next_id: RowId,
    /// The number of the next row.
    pub next_number: u32,
    /// Rows that are new or other than in the base.
    pub rows: Vec<Vec<Value>>,
    /// Rows that are gone.
    pub gone: Vec<RowId>,
}

/// How a document of this kind begins.
const HEAD: &[u8] = b"{\"delta\":";
/// The largest document that is read, in bytes.
const LARGEST: usize = 16 << 20;

impl Delta {
    /// The version that is written and read.
    pub const VERSION: u32 = 1;

    /// Whether bytes look like such a document rather than a snapshot.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(HEAD)
    }

    /// What differs, table by table. `counters` says which id and which number the next row of a table has; `row` gives a row as it is.
    pub fn tables_of(
        domain: &Domain,
        diff: &Diff,
        counters: &dyn Fn(RelationId) -> (RowId, u32),
        row: &dyn Fn(RelationId, RowId) -> Vec<Value>,
    ) -> Vec<TableDelta> {
        let mut tables: Vec<TableDelta> = Vec::new();
        for (table, id, change) in &diff.changes {
            let declared = domain.table(*table);
            if tables.last().is_none_or(|last| last.table != declared.name) {
                let (next_id, next_number) = counters(*table);
                tables.push(TableDelta {
                    table: declared.name.clone(),
                    next_id,
                    next_number,
                    rows: Vec::new(),
                    gone: Vec::new(),
                });
            }
            let Some(last) = tables.last_mut() else { continue };
            match change {
                Change::Removed(_) => last.gone.push(*id),
                Change::Added(_) | Change::Changed(_) => {
                    let cells = row(*table, *id);
                    let cells = declared.fields.iter().zip(&cells).map(|(field, value)| {
                        let mut bytes = Vec::new();
                        codec::write_value(&mut bytes, domain, field.ty, value);
                        serde_json::from_slice(&bytes).unwrap_or_default()
                    });
                    last.rows.push(cells.collect());
                }
            }
        }
        tables
    }

    /// The bytes of the document.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Writing to memory fails only for maps whose keys are no texts, and there are none.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Reads a document.
    pub fn from_bytes(bytes: &[u8]) -> Result<Delta, SnapshotError> {
        let bad = |why: String| SnapshotError::Malformed(why);
        if bytes.len() > LARGEST {
            return Err(bad(format!("it has {} bytes; at most {LARGEST} are read", bytes.len())));
        }
        let delta: Delta = serde_json::from_slice(bytes).map_err(|error| bad(error.to_string()))?;
        if delta.delta != Delta::VERSION {
            return Err(bad(format!("it is of version {}; this program reads {}", delta.delta, Delta::VERSION)));
        }
        Ok(delta)
    }

    /// The digest of the first state that it comes to.
    pub fn first(&self) -> Option<Digest> {
        Digest::parse(&self.digest)
    }

    /// Its values, read against the domain.
    pub fn changes(&self, domain: &Domain) -> Result<Vec<TableChanges>, SnapshotError> {
        let bad = |why: String| SnapshotError::Malformed(why);
        let mut found = Vec::new();
        for table in &self.tables {
            let id =
                domain.table_named(&table.table).ok_or_else(|| bad(format!("there is no table {}", table.table)))?;
            let declared = domain.table(id);
            let mut rows = Vec::new();
            for row in &table.rows {
                if row.len() != declared.fields.len() {
                    return Err(bad(format!("a row of {} has {} cells", table.table, row.len())));
                }
                let mut cells = Vec::with_capacity(row.len());
                for (field, json) in declared.fields.iter().zip(row) {
                    let text = json.to_string();
                    let value = Json::parse(&text).ok().and_then(|json| match json {
                        Json::Null => Some(Value::Null),
                        json => codec::read_value(domain, field.ty, &json).ok(),
                    });
                    let wrong = || bad(format!("{}.{} cannot be {json}", table.table, field.name));
                    let value = value.ok_or_else(wrong)?;
                    if value.is_null() && !field.nullable || codec::check_bounds(&value, field.bounds).is_err() {
                        return Err(wrong());
                    }
                    cells.push(value);
                }
                rows.push(cells);
            }
            found.push(TableChanges {
                table: id,
                next_id: table.next_id,
                next_number: table.next_number,
                rows,
                gone: table.gone.clone(),
            });
        }
        Ok(found)
    }
}
