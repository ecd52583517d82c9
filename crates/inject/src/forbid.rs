//! What a call leaves, as rows that nobody was asked to leave.

use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::Type;
use benchwright_pack::{Change, Diff, ForbiddenRow, effects::Target};
use benchwright_schema::{Domain, Field, Stamp, codec};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// The rows of a difference, without what the world writes by itself. Of a new row only what was given counts, and no text in
/// somebody's own words.
pub(crate) fn rows(diff: &Diff, domain: &Domain) -> Vec<ForbiddenRow> {
    let added = diff.changes.iter().filter(|(_, _, change)| matches!(change, Change::Added(_)));
    let added: BTreeSet<(TableId, RowId)> = added.map(|(table, row, _)| (*table, *row)).collect();
    let mut found = Vec::new();
    for (table, row, change) in &diff.changes {
        let declared = domain.table(*table);
        if declared.log || declared.once {
            continue;
        }
        let cell = |field: FieldId, value: &Value| {
            let own = declared.field(field);
            let is_new = match (own.ty, value) {
                (Type::Ref(to), Value::Ref(id)) => added.contains(&(to, *id)),
                _ => false,
            };
            (is_compared(own) && !is_new).then(|| (own.name.clone(), written(domain, own, value)))
        };
        let (row, cells): (Target, BTreeMap<String, Json>) = match change {
            Change::Changed(fields) => {
                (Target::Id(*row), fields.iter().filter_map(|change| cell(change.field, &change.new)).collect())
            }
            Change::Added(cells) => {
                let given = cells.iter().enumerate().skip(1).filter(|(at, value)| {
                    let own = &declared.fields[*at];
                    !value.is_null() && !own.prose && own.default.as_ref() != Some(*value)
                });
                (Target::New, given.filter_map(|(at, value)| cell(FieldId(at as u16), value)).collect())
            }
            Change::Removed(_) => (Target::Gone(*row), BTreeMap::new()),
        };
        if !cells.is_empty() || matches!(row, Target::Gone(_)) {
            found.push(ForbiddenRow { table: declared.name.clone(), row, cells });
        }
    }
    found
}

/// Whether somebody who acts decides what a field holds.
fn is_compared(field: &Field) -> bool {
    !field.log && matches!(field.stamp, None | Some(Stamp::Keep))
}

fn written(domain: &Domain, field: &Field, value: &Value) -> Json {
    let mut bytes = Vec::new();
    codec::write_value(&mut bytes, domain, field.ty, value);
    serde_json::from_slice(&bytes).unwrap_or_default()
}
