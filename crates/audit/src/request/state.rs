//! States that are changed by hand: one cell, one row, and what hangs on a row that is taken away.

use crate::values::{Ground, place, shown};
use benchwright_base::{RelationId, RowId, TableId, Value};
use benchwright_expr::Source;
use benchwright_pack::Snapshot;
use benchwright_schema::{Domain, Stamp};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// No row of a request's world has a key.
static NO_KEYS: BTreeMap<String, BTreeMap<RowId, String>> = BTreeMap::new();

/// A row: its table and its id.
pub(super) type Key = (TableId, RowId);

/// The tables of a domain, by their places.
pub(super) fn tables(domain: &Domain) -> impl Iterator<Item = TableId> + use<> {
    (0..domain.tables.len()).map(|at| RelationId(at as u16))
}

/// Whether a judge of effects compares a cell: not what the world keeps for itself, not what its clock and its counters write.
pub(super) fn is_compared(domain: &Domain, table: TableId, field: usize) -> bool {
    let declared = domain.table(table);
    let is_own = |field: &benchwright_schema::Field| !field.log && matches!(field.stamp, None | Some(Stamp::Keep));
    field > 0 && !declared.log && !declared.once && declared.fields.get(field).is_some_and(is_own)
}

/// Whether rows of a table may be notes, which do no harm on records that somebody works on.
pub(super) fn has_notes(domain: &Domain, table: TableId) -> bool {
    domain.notes.iter().any(|note| matches!(note, Source::Rows { relation, .. } if *relation == table))
}

/// The cells of a row.
pub(super) fn row(state: &Snapshot, (table, row): Key) -> Option<&[Value]> {
    place(state, table, row).map(|at| &*state.tables[table.index()].rows[at])
}

/// Puts a value into a cell.
pub(super) fn put(state: &mut Snapshot, (table, row): Key, field: usize, value: Value) {
    if let Some(at) = place(state, table, row) {
        state.tables[table.index()].rows[at][field] = value;
    }
}

/// Takes a row away, and what cannot be without it. Who may refer to nothing does.
pub(super) fn take_away(domain: &Domain, state: &mut Snapshot, key: Key) {
    let mut gone = vec![key];
    while let Some((table, row)) = gone.pop() {
        if let Some(at) = place(state, table, row) {
            state.tables[table.index()].rows.remove(at);
        }
        for incoming in &domain.table(table).incoming {
            let nullable = domain.table(incoming.table).field(incoming.field).nullable;
            for cells in &mut state.tables[incoming.table.index()].rows {
                if cells[incoming.field.index()] != Value::Ref(row) {
                    continue;
                }
                match (nullable, cells[0].as_ref_id()) {
                    (true, _) => cells[incoming.field.index()] = Value::Null,
                    (false, Some(other)) => gone.push((incoming.table, other)),
                    (false, None) => {}
                }
            }
        }
    }
}

/// Puts a row in, with the id that comes next and a number of its own. What it is called.
pub(super) fn add(domain: &Domain, state: &mut Snapshot, table: TableId, mut cells: Vec<Value>) -> RowId {
    let declared = domain.table(table);
    let rows = &mut state.tables[table.index()];
    let id = rows.next_id;
    rows.next_id += 1;
    cells[0] = Value::Ref(id);
    for (at, field) in declared.fields.iter().enumerate() {
        if matches!(field.stamp, Some(Stamp::Number { .. })) {
            cells[at] = Value::text(format!("X{id:09}"));
        }
    }
    rows.rows.push(cells);
    id
}

/// Other values that a cell could have, the nearest first.
pub(super) fn others(domain: &Domain, state: &Snapshot, (table, row): Key, field: usize) -> Vec<Value> {
    let ground = Ground { domain, keys: &NO_KEYS };
    place(state, table, row).map(|at| ground.others(state, table, at, field)).unwrap_or_default()
}

/// A value as documents have it.
pub(super) fn json(domain: &Domain, table: TableId, field: usize, value: &Value) -> Json {
    shown(domain, domain.table(table).fields[field].ty, value)
}

/// A value as it is shown.
pub(super) fn told(domain: &Domain, table: TableId, field: usize, value: &Value) -> String {
    benchwright_schema::codec::show_value(domain, domain.table(table).fields[field].ty, value)
}

/// Whether two states that came from one are the same in all that is compared. New rows are compared by what is in them.
pub(super) fn is_same(domain: &Domain, first: &Snapshot, one: &Snapshot, other: &Snapshot) -> bool {
    tables(domain).all(|table| masked(domain, first, one, table) == masked(domain, first, other, table))
}

/// The compared cells of a table's rows: those of the first state by id, the others sorted by what is in them.
fn masked(domain: &Domain, first: &Snapshot, state: &Snapshot, table: TableId) -> Vec<Vec<Value>> {
    let is_new = |table: TableId, row: RowId| place(first, table, row).is_none();
    let declared = domain.table(table);
    if declared.log || declared.once {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for cells in &state.tables[table.index()].rows {
        let id = cells[0].as_ref_id().unwrap_or_default();
        let mut kept = Vec::with_capacity(cells.len());
        kept.push(if is_new(table, id) { Value::Null } else { cells[0].clone() });
        for (at, cell) in cells.iter().enumerate().filter(|(at, _)| is_compared(domain, table, *at)) {
            let leads_to_new = match (declared.fields[at].ty, cell) {
                (benchwright_expr::Type::Ref(to), Value::Ref(other)) => is_new(to, *other),
                _ => false,
            };
            kept.push(if leads_to_new { Value::Ref(RowId::MAX) } else { cell.clone() });
        }
        rows.push(kept);
    }
    rows.sort();
    rows
}
