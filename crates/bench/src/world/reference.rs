//! The reference world: a committed domain of 164 tables with 12 fields each, and its rows by a formula. The files are
//! made by `generate.rs` and held to it by a test.

use crate::error::{Error, OrWrong as _, Result};
use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::{Snapshot, SnapshotTable};
use benchwright_schema::{Domain, Folder};
use std::sync::Arc;

/// How many tables the world has.
pub(super) const TABLES: usize = 164;
/// How many rows each table has: 10,004 in all.
pub(super) const ROWS: u32 = 61;
/// How many rows each table of the large world has: 100,040 in all.
pub(super) const LARGE_ROWS: u32 = 610;
/// The people and assignments that references to them go round.
const OWNERS: u32 = 50;
/// The table that the rule looks in.
pub(super) const LAST: usize = TABLES - 1;
/// The states of a row, in the order of the enumeration.
pub(super) const STATES: [&str; 4] = ["new", "open", "hold", "closed"];

const FILES: [(&str, &str); 4] = [
    ("domain.toml", include_str!("../../data/world/domain.toml")),
    ("tables.toml", include_str!("../../data/world/tables.toml")),
    ("tools.toml", include_str!("../../data/world/tools.toml")),
    ("policy.toml", include_str!("../../data/world/policy.toml")),
];

/// The name of a table.
pub(super) fn table_name(table: usize) -> String {
    format!("t{table:03}")
}

/// The table that `parent_id` refers to.
pub(super) fn parent_of(table: usize) -> usize {
    table.saturating_sub(1)
}

/// The committed domain.
pub(super) fn domain() -> Result<Arc<Domain>> {
    let folder = Folder::new("world", FILES.map(|(path, text)| (path.to_owned(), text.to_owned())));
    let domain = benchwright_schema::load(&folder).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        Error::Wrong(format!("the reference world has faults:\n{}", faults.join("\n")))
    })?;
    Ok(Arc::new(domain))
}

/// The first state with so many rows in each table.
pub(super) fn snapshot(domain: &Domain, rows: u32) -> Result<Snapshot> {
    let tables = (0..TABLES).map(|table| {
        let rows_of = (1..=rows).map(|id| cells(table, id)).collect::<Result<_>>()?;
        Ok(SnapshotTable { next_id: rows + 1, next_number: 1, rows: rows_of })
    });
    Ok(Snapshot {
        domain: domain.name.clone(),
        domain_digest: domain.digest,
        first: None,
        now: domain.now,
        tables: tables.collect::<Result<_>>()?,
    })
}

/// One row, in the order of the fields.
fn cells(table: usize, id: RowId) -> Result<Vec<Value>> {
    let x = table as u32 * 7919 + id * 104_729;
    let around = (id - 1) % OWNERS + 1;
    let owner = if table == LAST { around } else { x % OWNERS + 1 };
    let assigned = match (table, x % 2) {
        (LAST, _) => Value::Ref(around),
        (_, 1) => Value::Ref(owner),
        _ => Value::Null,
    };
    let day = x % 28 + 1;
    let minute = x % 60;
    let number = i64::from(x);
    Ok(vec![
        Value::Ref(id),
        Value::Ref(x % id + 1),
        Value::Ref(owner),
        Value::Enum((x % STATES.len() as u32) as u16),
        Value::text(record_name(table, id)),
        Value::text(format!("A longer free text description for record {id} in table {table}, value {x}.")),
        Value::Money(number % 1000 * 100 + 50),
        Value::Int(number % 100),
        instant(&format!("2026-01-{day:02}T09:{minute:02}:00Z"))?,
        instant(&format!("2026-02-{day:02}T10:00:00Z"))?,
        Value::Bool(x % 2 == 1),
        assigned,
    ])
}

/// What stands in a row's unique `name`.
fn record_name(table: usize, id: RowId) -> String {
    format!("name of record {table}-{id}")
}

fn instant(text: &str) -> Result<Value> {
    DateTime::parse(text).map(Value::DateTime).or_wrong(|| format!("{text} is not an instant"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_has_164_tables_of_12_fields_and_10_004_rows() {
        let domain = domain().unwrap();
        assert_eq!(domain.tables.len(), TABLES);
        assert!(domain.tables.iter().all(|table| table.fields.len() == 12));
        let snapshot = snapshot(&domain, ROWS).unwrap();
        assert_eq!(snapshot.tables.iter().map(|table| table.rows.len()).sum::<usize>(), 10_004);
        assert!(benchwright_sandbox::Sandbox::from_snapshot(domain, &[], &snapshot).is_ok());
    }
}
