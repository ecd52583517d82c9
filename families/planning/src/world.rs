//! The first state of a task's world: the files of the workspace, the stage, and forms that nobody has handed in. The records
//! themselves are not in it.

use crate::render::Rendered;
use benchwright_base::Value;
use benchwright_pack::{Snapshot, SnapshotTable};
use benchwright_project::FirstState;
use benchwright_schema::Domain;
use std::collections::BTreeMap;

/// The first state with these files and forms, of work in so many stages.
pub(crate) fn first_state(
    domain: &Domain,
    files: &[Rendered],
    forms: &[&str],
    last: i64,
) -> Result<FirstState, String> {
    let mut tables = Vec::new();
    let mut keys = BTreeMap::new();
    for table in &domain.tables {
        let mut rows = Vec::new();
        match &*table.name {
            "file" => {
                let mut named = BTreeMap::new();
                for (at, file) in files.iter().enumerate() {
                    let id = at as u32 + 1;
                    named.insert(id, format!("file/{}", file.path));
                    let row = |name: &str| match name {
                        "id" => Value::Ref(id),
                        "path" => Value::text(&*file.path),
                        "media" => Value::text(file.media),
                        "stage" => Value::Int(file.stage),
                        "body" => Value::text(&*file.body),
                        _ => Value::Null,
                    };
                    rows.push(table.fields.iter().map(|field| row(&field.name)).collect());
                }
                keys.insert("file".to_owned(), named);
            }
            "stage" => {
                let cell = |name: &str| match name {
                    "id" => Value::Ref(1),
                    "last" => Value::Int(last),
                    "forms" => Value::text(forms.join(" ")),
                    _ => Value::Int(1),
                };
                rows.push(table.fields.iter().map(|field| cell(&field.name)).collect());
                keys.insert("stage".to_owned(), BTreeMap::from([(1, "stage".to_owned())]));
            }
            _ => {}
        }
        tables.push(SnapshotTable { next_id: rows.len() as u32 + 1, next_number: 1, rows });
    }
    let snapshot =
        Snapshot { domain: domain.name.clone(), domain_digest: domain.digest, first: None, now: domain.now, tables };
    Ok(FirstState { snapshot, keys })
}
