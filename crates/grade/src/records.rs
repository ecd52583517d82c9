//! A snapshot as records that expressions are read over.

use benchwright_base::{FieldId, RelationId, RowId, Value};
use benchwright_expr::{
    eval::{Records, passes},
    walk::Test,
};
use benchwright_pack::Snapshot;
use std::ops::ControlFlow;

/// The rows of a snapshot.
#[derive(Clone, Copy)]
pub struct SnapshotRecords<'a>(pub &'a Snapshot);

impl<'a> Records for SnapshotRecords<'a> {
    type Row = &'a [Value];

    fn row(&self, relation: RelationId, id: RowId) -> Option<&'a [Value]> {
        let rows = &self.0.tables.get(relation.index())?.rows;
        let at = rows.binary_search_by_key(&Some(id), |row| row.first().and_then(Value::as_ref_id)).ok()?;
        Some(&rows[at])
    }
    fn field(&self, row: &&'a [Value], field: FieldId) -> Value {
        row.get(field.index()).cloned().unwrap_or_default()
    }
    fn select(
        &self,
        relation: RelationId,
        tests: &[Test<'_, Value>],
        each: &mut dyn FnMut(&'a [Value]) -> ControlFlow<()>,
    ) {
        let Some(table) = self.0.tables.get(relation.index()) else { return };
        for row in &table.rows {
            let row: &'a [Value] = row;
            if tests.iter().all(|test| passes(self, &row, test)) && each(row).is_break() {
                return;
            }
        }
    }
}
