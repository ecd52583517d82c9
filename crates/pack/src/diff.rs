//! The exact difference of two states of one world: rows added, rows removed, fields changed, each with its values before
//! and after.

use crate::Snapshot;
use benchwright_base::{FieldId, RelationId, RowId, TableId, Value, json, number};
use benchwright_schema::{Domain, codec};
use std::collections::{BTreeMap, BTreeSet};

/// A field that changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldChange {
    /// The field of the row's table.
    pub field: FieldId,
    /// The value in the earlier state.
    pub old: Value,
    /// The value in the later state.
    pub new: Value,
}

/// What happened to one row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// It is new; its cells.
    Added(Vec<Value>),
    /// It is gone; the cells it had.
    Removed(Vec<Value>),
    /// Some of its fields changed; never empty.
    Changed(Vec<FieldChange>),
}

/// All changes, by table and row in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diff {
    /// Table, row, and what happened to it.
    pub changes: Vec<(TableId, RowId, Change)>,
}

impl Diff {
    /// Whether the two states hold the same rows.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// What differs between two snapshots of one domain, by table and row. The sandbox has the same from its own maps
    /// without reading every row.
    pub fn between(old: &Snapshot, new: &Snapshot) -> Diff {
        let id = |row: &[Value]| row.first().and_then(Value::as_ref_id).unwrap_or_default();
        let mut changes = Vec::new();
        for (at, (old, new)) in old.tables.iter().zip(&new.tables).enumerate() {
            let table = RelationId(at as u16);
            let before: BTreeMap<RowId, &[Value]> = old.rows.iter().map(|row| (id(row), &**row)).collect();
            let after: BTreeMap<RowId, &[Value]> = new.rows.iter().map(|row| (id(row), &**row)).collect();
            let ids: BTreeSet<RowId> = before.keys().chain(after.keys()).copied().collect();
            for id in ids {
                let change = match (before.get(&id), after.get(&id)) {
                    (None, Some(new)) => Change::Added(new.to_vec()),
                    (Some(old), None) => Change::Removed(old.to_vec()),
                    (Some(old), Some(new)) if old != new => {
                        let cells = old.iter().zip(*new).enumerate().filter(|(_, (old, new))| old != new);
                        let changed = |(at, (old, new)): (usize, (&Value, &Value))| FieldChange {
                            field: FieldId(at as u16),
                            old: old.clone(),
                            new: new.clone(),
                        };
                        Change::Changed(cells.map(changed).collect())
                    }
                    _ => continue,
                };
                changes.push((table, id, change));
            }
        }
        Diff { changes }
    }

    /// As lines for a person: `+ table 12 field=value …`, `- table 12 …`, `~ table 12 field: old -> new`.
    pub fn to_text(&self, domain: &Domain) -> String {
        let mut out = String::new();
        for (table, row, change) in &self.changes {
            let declared = domain.table(*table);
            let cell = |field: usize, value: &Value| {
                let mut bytes = Vec::new();
                codec::write_value(&mut bytes, domain, declared.fields[field].ty, value);
                String::from_utf8_lossy(&bytes).into_owned()
            };
            match change {
                Change::Added(cells) | Change::Removed(cells) => {
                    let sign = if matches!(change, Change::Added(_)) { '+' } else { '-' };
                    out.push_str(&format!("{sign} {} {row}", declared.name));
                    for (at, value) in cells.iter().enumerate().skip(1).filter(|(_, value)| !value.is_null()) {
                        out.push_str(&format!(" {}={}", declared.fields[at].name, cell(at, value)));
                    }
                    out.push('\n');
                }
                Change::Changed(fields) => {
                    for change in fields {
                        let at = change.field.index();
                        let (name, old, new) =
                            (&declared.fields[at].name, cell(at, &change.old), cell(at, &change.new));
                        out.push_str(&format!("~ {} {row} {name}: {old} -> {new}\n", declared.name));
                    }
                }
            }
        }
        out
    }

    /// As canonical JSON: a list of `{"table","id","added"|"removed"|"changed"}`.
    pub fn to_json(&self, domain: &Domain) -> String {
        let mut out = vec![b'['];
        for (at, (table, row, change)) in self.changes.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            let declared = domain.table(*table);
            out.extend_from_slice(b"{\"table\":");
            json::write_text(&mut out, &declared.name);
            out.extend_from_slice(b",\"id\":");
            number::write_int(&mut out, i64::from(*row));
            match change {
                Change::Added(cells) | Change::Removed(cells) => {
                    let key: &[u8] =
                        if matches!(change, Change::Added(_)) { b",\"added\":{" } else { b",\"removed\":{" };
                    out.extend_from_slice(key);
                    for (at, value) in cells.iter().enumerate().skip(1) {
                        if at > 1 {
                            out.push(b',');
                        }
                        let field = &declared.fields[at];
                        json::write_text(&mut out, &field.name);
                        out.push(b':');
                        codec::write_value(&mut out, domain, field.ty, value);
                    }
                }
                Change::Changed(fields) => {
                    out.extend_from_slice(b",\"changed\":{");
                    for (at, change) in fields.iter().enumerate() {
                        if at > 0 {
                            out.push(b',');
                        }
                        let field = declared.field(change.field);
                        json::write_text(&mut out, &field.name);
                        out.extend_from_slice(b":[");
                        codec::write_value(&mut out, domain, field.ty, &change.old);
                        out.push(b',');
                        codec::write_value(&mut out, domain, field.ty, &change.new);
                        out.push(b']');
                    }
                }
            }
            out.extend_from_slice(b"}}");
        }
        out.push(b']');
        String::from_utf8_lossy(&out).into_owned()
    }
}
