//! A snapshot behind the trait through which expressions read records, with an index of each table by id.

use benchwright_base::{DateTime, Digest, FieldId, RelationId, RowId, Value};
use benchwright_expr::{
    eval::{Records, passes},
    walk::Test,
};
use benchwright_pack::Snapshot;
use benchwright_world::{Changed, Terminal};
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

/// A terminal state as a document, beside the first one.
#[derive(Clone, Copy)]
pub(crate) struct Documents<'a> {
    pub(crate) first: &'a Snapshot,
    pub(crate) last: &'a Snapshot,
}

impl<'a> Records for Documents<'a> {
    type Row = &'a [Value];

    fn row(&self, relation: RelationId, id: RowId) -> Option<&'a [Value]> {
        SnapshotRecords(self.last).row(relation, id)
    }
    fn field(&self, row: &&'a [Value], field: FieldId) -> Value {
        SnapshotRecords(self.last).field(row, field)
    }
    fn select(
        &self,
        relation: RelationId,
        tests: &[Test<'_, Value>],
        each: &mut dyn FnMut(&'a [Value]) -> ControlFlow<()>,
    ) {
        SnapshotRecords(self.last).select(relation, tests, each);
    }
}

impl<'a> Terminal<'a> for Documents<'a> {
    fn domain(&self) -> &str {
        &self.last.domain
    }
    fn first(&self) -> Option<Digest> {
        self.last.first
    }
    fn now(&self) -> DateTime {
        self.last.now
    }
    fn changes(&self, each: &mut dyn FnMut(Changed<'_>)) {
        for (at, (before, after)) in self.first.tables.iter().zip(&self.last.tables).enumerate() {
            let table = RelationId(at as u16);
            let (mut b, mut a) = (before.rows.iter().peekable(), after.rows.iter().peekable());
            loop {
                match (b.peek(), a.peek()) {
                    (None, None) => break,
                    (Some(old), Some(new)) if old[0] == new[0] => {
                        if old != new {
                            each((table, Some(old), Some(new)));
                        }
                        b.next();
                        a.next();
                    }
                    (Some(old), new) if new.is_none_or(|new| old[0] < new[0]) => {
                        each((table, Some(old), None));
                        b.next();
                    }
                    (_, Some(new)) => {
                        each((table, None, Some(new)));
                        a.next();
                    }
                    (Some(_), None) => break,
                }
            }
        }
    }
}
