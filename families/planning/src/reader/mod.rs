//! Reads a workspace as a careful planner does: every file by its declared columns, every trap undone by what its sentence says. What
//! comes of it are the records, or the first thing that was not understood.

mod clean;
pub(crate) mod table;
mod text;

pub(crate) use table::{Read, Workspace, cell};
pub(crate) use text::{of_text, read as read_brief};

use crate::{
    layout::Layout,
    records::{Cell, Records},
    written::{File, FileTable, TrapKind, TrapText, Written},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use benchwright_files::{Dialect, Limits, csv, json, xlsx};
use std::collections::{BTreeMap, BTreeSet};

/// The records that a workspace tells. `traps` are those whose sentences stand in the brief; without them the files are taken as they
/// are, as the hurried do.
pub(crate) fn records(
    layout: &Layout,
    written: &Written,
    traps: &[&TrapText],
    workspace: &Workspace,
) -> Result<Records, String> {
    let mut tables: BTreeMap<String, Vec<Read>> = BTreeMap::new();
    for file in &written.files {
        tables.insert(file.path.clone(), open(file, workspace)?);
    }
    // What was laid last is taken away first.
    for trap in traps.iter().rev() {
        clean::undo(layout, written, trap, workspace, &mut tables).map_err(|why| format!("{}: {why}", trap.at))?;
    }
    let ignored = |trap: &&TrapText| !traps.iter().any(|known| known.name == trap.name);
    for trap in written.traps.iter().filter(|trap| trap.kind == TrapKind::Calendar).filter(ignored) {
        clean::misread(trap, &mut tables);
    }
    let mut found: BTreeMap<String, BTreeMap<Vec<String>, Vec<Option<Cell>>>> = BTreeMap::new();
    let mut order: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for file in &written.files {
        for (table, read) in file.tables.iter().zip(&tables[&file.path]) {
            let (found, order) = (found.entry(layout.tables[table.from].name.clone()).or_default(), &mut order);
            let order = order.entry(layout.tables[table.from].name.clone()).or_default();
            take(layout, table, read, found, order).map_err(|why| format!("{}: {why}", file.path))?;
        }
    }
    let mut records = Records::default();
    for table in &layout.tables {
        let (mut found, order) = (found.remove(&table.name).unwrap_or_default(), order.remove(&table.name));
        let mut rows = Vec::new();
        for key in order.unwrap_or_default() {
            let Some(row) = found.remove(&key) else { continue };
            let cells: Option<Vec<Cell>> = row.into_iter().collect();
            rows.push(
                cells.ok_or_else(|| format!("a row of `{}` is not told in full: {}", table.name, key.join(", ")))?,
            );
        }
        records.0.insert(table.name.clone(), rows);
    }
    records.check(layout)?;
    Ok(records)
}

/// The tables of a file.
fn open(file: &File, workspace: &Workspace) -> Result<Vec<Read>, String> {
    let (media, body) = workspace.get(&file.path).ok_or_else(|| format!("there is no {}", file.path))?;
    let limits = Limits::default();
    let fault = |faults: benchwright_files::Faults| faults.to_string();
    match &**media {
        "text/csv" => Ok(vec![csv::read(&file.path, body.as_bytes(), Dialect::Comma, &limits).map_err(fault)?.into()]),
        "application/json" if file.tables.len() == 1 => {
            Ok(vec![json::read(&file.path, body.as_bytes(), json::Expect::default(), &limits).map_err(fault)?.into()])
        }
        "application/json" => {
            let mut tables =
                json::read_all(&file.path, body.as_bytes(), |_| json::Expect::default(), &limits).map_err(fault)?;
            let mut read = Vec::new();
            for table in &file.tables {
                let at = tables.iter().position(|known| known.name() == table.name);
                let at = at.ok_or_else(|| format!("{} has no `{}`", file.path, table.name))?;
                read.push(tables.swap_remove(at).into());
            }
            Ok(read)
        }
        _ => {
            let bytes = STANDARD.decode(body).map_err(|error| format!("{}: {error}", file.path))?;
            let mut book = xlsx::Workbook::open(&file.path, &bytes, &limits).map_err(fault)?;
            file.tables.iter().map(|table| Ok(book.table(&table.name, false).map_err(fault)?.table.into())).collect()
        }
    }
}

type Found = BTreeMap<Vec<String>, Vec<Option<Cell>>>;

/// Takes the columns of a file into the rows that they belong to.
fn take(
    layout: &Layout,
    table: &FileTable,
    read: &Read,
    found: &mut Found,
    order: &mut Vec<Vec<String>>,
) -> Result<(), String> {
    let declared = &layout.tables[table.from];
    let keys = layout.arguments(declared);
    let mut columns = Vec::new();
    for column in &table.columns {
        columns.push((column.from, read.column(&column.name)?));
    }
    let mut seen = BTreeSet::new();
    for row in &read.rows {
        let mut key = Vec::new();
        for (from, _) in &keys {
            let at = columns.iter().find(|(column, _)| column == from);
            let (_, at) = at.ok_or_else(|| format!("`{}` is not told", declared.columns[*from].name))?;
            key.push(row[*at].clone());
        }
        // Of two rows of one key, the hurried take the first.
        if !seen.insert(key.clone()) {
            continue;
        }
        if !found.contains_key(&key) {
            order.push(key.clone());
        }
        let cells = found.entry(key).or_insert_with(|| vec![None; declared.columns.len()]);
        for (from, at) in &columns {
            let kind = declared.columns[*from].kind;
            cells[*from] = Some(cell(layout, kind, &row[*at], declared.columns[*from].nullable)?);
        }
    }
    Ok(())
}
