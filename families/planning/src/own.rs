//! Somebody's own files instead of drawn records: each is read by the columns that the workflow's files have, or by the names that
//! `columns.toml` beside them gives, and whatever is not understood is told with its file, row and column, all of it at once. What comes
//! of it are two files of a workflow: its records, and files without traps that are called as theirs are.

use crate::{
    layout::{Kind, KnownBy, Layout},
    reader,
    records::{Cell, OWN, Records},
    workflow::Planning,
    written::{FILE, FileTable, Written},
};
use benchwright_files::{Dialect, Limits, csv, json, xlsx};
use benchwright_schema::Document;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// How somebody calls their files and columns.
const COLUMNS: &str = "columns.toml";

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    #[serde(default)]
    file: Vec<Named>,
}

/// What one of the workflow's files is called.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    /// The workflow's file.
    is: String,
    /// Which of its tables, where it has several.
    #[serde(default)]
    table: Option<String>,
    /// What it is called here, in the folder.
    path: String,
    /// The sheet, in a workbook.
    #[serde(default)]
    sheet: Option<String>,
    /// What columns are called here, by what the workflow calls them.
    #[serde(default)]
    columns: BTreeMap<String, String>,
}

/// A table in somebody's file.
struct Source<'w> {
    path: String,
    sheet: String,
    says: &'w str,
    table: &'w FileTable,
    /// Its columns: the column of the records, what it is called, what it means.
    columns: Vec<(usize, String, &'w str)>,
    /// Whether the file has other tables too.
    is_one_of_many: bool,
}

/// A table as it was read: its header, and each row with where it stands.
struct Seen {
    header: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
}

/// The files of a workflow that take the place of its own, or all that is wrong.
pub(crate) fn taken(
    family: &Planning,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<BTreeMap<String, String>, Vec<String>> {
    let names = match files.get(COLUMNS).map(|bytes| String::from_utf8_lossy(bytes)) {
        None => Names::default(),
        Some(text) => {
            let document = Document::new(COLUMNS, &text);
            match document.read() {
                Some(names) if document.is_sound() => names,
                _ => return Err(document.into_faults().iter().map(ToString::to_string).collect()),
            }
        }
    };
    let mut faults = Vec::new();
    let sources = sources(&family.written, names, &mut faults);
    let records = records(&family.layout, &sources, files, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    let records = serde_json::to_string_pretty(&records).unwrap_or_default();
    Ok(BTreeMap::from([(OWN.to_owned(), records), (FILE.to_owned(), declared(&family.layout, &sources))]))
}

/// The tables of the workflow's files as somebody calls them.
fn sources<'w>(written: &'w Written, names: Names, faults: &mut Vec<String>) -> Vec<Source<'w>> {
    let mut named = names.file;
    let mut found = Vec::new();
    for file in &written.files {
        let many = file.tables.len() > 1;
        for table in &file.tables {
            let is_this = |named: &Named| {
                named.is == file.path && named.table.as_deref().map_or(!many, |known| known == table.name)
            };
            let at = named.iter().position(is_this);
            let own = at.map(|at| named.remove(at));
            let mut renamed = own.as_ref().map(|own| own.columns.clone()).unwrap_or_default();
            let columns = table.columns.iter().map(|column| {
                let name = renamed.remove(&column.name).unwrap_or_else(|| column.name.clone());
                (column.from, name, &*column.means)
            });
            let columns: Vec<(usize, String, &str)> = columns.collect();
            for unknown in renamed.keys() {
                faults.push(format!("{COLUMNS}: {} has no column `{unknown}`", file.path));
            }
            for (_, name, _) in columns.iter().filter(|(_, name, _)| name.contains(": ") || name.contains(" as ")) {
                faults.push(format!("{COLUMNS}: the column `{name}` needs a name without `: ` and ` as `"));
            }
            if let Some(own) = own.as_ref().filter(|own| own.path.starts_with("forms/")) {
                faults
                    .push(format!("{COLUMNS}: {} needs another path; under forms/ stands what is handed in", own.path));
            }
            found.push(Source {
                path: own.as_ref().map_or(&file.path, |own| &own.path).clone(),
                sheet: own.as_ref().and_then(|own| own.sheet.clone()).unwrap_or_else(|| table.name.clone()),
                is_one_of_many: many && own.is_none(),
                says: &file.says,
                table,
                columns,
            });
        }
    }
    for unknown in named {
        let known: Vec<&str> = written.files.iter().map(|file| &*file.path).collect();
        let table = unknown.table.map(|table| format!(" with a table `{table}`")).unwrap_or_default();
        faults.push(format!("{COLUMNS}: there is no file `{}`{table}; there are {}", unknown.is, known.join(", ")));
    }
    let mut paths = BTreeSet::new();
    for source in found.iter().filter(|source| !source.is_one_of_many) {
        if !paths.insert(&source.path) {
            faults.push(format!("{COLUMNS}: {} is named twice; each file holds one table", source.path));
        }
    }
    found
}

/// Opens a table of a file.
fn open(source: &Source<'_>, files: &BTreeMap<String, Vec<u8>>) -> Result<Seen, Vec<String>> {
    let listed = |faults: benchwright_files::Faults| faults.to_string().lines().map(str::to_owned).collect::<Vec<_>>();
    let (path, limits) = (&*source.path, Limits::default());
    let bytes = files.get(path).ok_or_else(|| {
        vec![format!(
            "{path}: there is no such file in the folder; {COLUMNS} says what files are called that have other names"
        )]
    })?;
    let counted = |table: benchwright_files::Table, first: usize| {
        let (header, rows) = table.into_parts();
        Seen { header, rows: rows.into_iter().enumerate().map(|(at, row)| (at + first, row)).collect() }
    };
    match path.rsplit('.').next() {
        Some("csv") => {
            let head = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let dialect = if head.contains(&b';') { Dialect::Semicolon } else { Dialect::Comma };
            let lines = csv::lines(path, bytes, dialect, &limits);
            let seen = Seen { header: lines.header, rows: lines.rows };
            if lines.faults.is_empty() { Ok(seen) } else { Err(listed(lines.faults)) }
        }
        Some("json") if source.is_one_of_many => {
            let tables = json::read_all(path, bytes, |_| json::Expect::default(), &limits).map_err(listed)?;
            let found = tables.into_iter().find(|known| known.name() == source.table.name);
            found
                .map(|table| counted(table, 1))
                .ok_or_else(|| vec![format!("{path}: there is no `{}`", source.table.name)])
        }
        Some("json") => Ok(counted(json::read(path, bytes, json::Expect::default(), &limits).map_err(listed)?, 1)),
        Some("xlsx") => {
            let mut book = xlsx::Workbook::open(path, bytes, &limits).map_err(listed)?;
            Ok(counted(book.table(&source.sheet, false).map_err(listed)?.table, 2))
        }
        _ => Err(vec![format!("{path}: a file ends with .csv, .json or .xlsx")]),
    }
}

/// The rows of a table by their keys, and these in the order in which they were seen.
#[derive(Default)]
struct Known {
    order: Vec<Vec<String>>,
    rows: BTreeMap<Vec<String>, Row>,
}

/// What is known of a row so far: its cells, and where it was seen first.
struct Row {
    cells: Vec<Option<Cell>>,
    first: (String, usize),
}

/// The records that the files tell.
fn records(
    layout: &Layout,
    sources: &[Source<'_>],
    files: &BTreeMap<String, Vec<u8>>,
    faults: &mut Vec<String>,
) -> Records {
    let mut found: BTreeMap<usize, Known> = BTreeMap::new();
    // References are looked up when every row is known: table, key, and what to say if it is not there.
    let mut referred: Vec<(usize, Cell, String)> = Vec::new();
    let mut unread = BTreeSet::new();
    for source in sources {
        let at = source.table.from;
        let seen = match open(source, files) {
            Ok(seen) => seen,
            Err(more) => {
                unread.insert(at);
                faults.extend(more);
                continue;
            }
        };
        let declared = &layout.tables[at];
        let mut places = Vec::new();
        for (from, name, _) in &source.columns {
            match seen.header.iter().position(|known| known.trim() == name) {
                Some(place) => places.push((*from, name, place)),
                None => {
                    let all = seen.header.join(", ");
                    faults.push(format!("{}, row 1: there is no column `{name}` among {all}", source.path));
                }
            }
        }
        if places.len() < source.columns.len() {
            unread.insert(at);
            continue;
        }
        let keys: Vec<usize> = layout.arguments(declared).into_iter().map(|(column, _)| column).collect();
        let Known { order, rows } = found.entry(at).or_default();
        let mut told: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        for (line, texts) in &seen.rows {
            let mut cells = vec![None; declared.columns.len()];
            for (from, name, place) in &places {
                let place_of = || format!("{}, row {line}, column `{name}`", source.path);
                match cell(layout, at, *from, texts[*place].trim()) {
                    Ok(cell) => {
                        if let (Kind::Ref(to), false) = (declared.columns[*from].kind, cell == Cell::None) {
                            referred.push((to, cell.clone(), place_of()));
                        }
                        cells[*from] = Some(cell);
                    }
                    Err(why) => faults.push(format!("{}: {why}", place_of())),
                }
            }
            let key: Option<Vec<String>> = keys.iter().map(|key| Some(cells[*key].as_ref()?.key())).collect();
            let Some(key) = key else { continue };
            let named = |column: &usize| places.iter().find(|(from, ..)| from == column).map(|(_, name, _)| &***name);
            let by: Vec<&str> = keys.iter().filter_map(named).collect();
            if let Some(other) = told.insert(key.clone(), *line) {
                let what = match keys.is_empty() {
                    true => "there is one row of this and no more".to_owned(),
                    false => format!("row {other} says this already: {}", key.join(", ")),
                };
                faults.push(format!("{}, row {line}, column `{}`: {what}", source.path, by.join("`, `")));
                continue;
            }
            let row = rows.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                Row { cells: vec![None; declared.columns.len()], first: (source.path.clone(), *line) }
            });
            for (known, cell) in row.cells.iter_mut().zip(cells) {
                *known = cell.or(known.take());
            }
        }
    }
    let mut records = Records::default();
    for (at, table) in layout.tables.iter().enumerate() {
        let Known { order, mut rows } = found.remove(&at).unwrap_or_default();
        if order.is_empty() && table.known_by == KnownBy::Nothing && !unread.contains(&at) {
            let source = sources.iter().find(|source| source.table.from == at);
            let path = source.map_or(&*table.name, |source| &source.path);
            faults.push(format!("{path}, row 1: there is no row below the header"));
        }
        let mut kept = Vec::new();
        for key in &order {
            let Some(Row { cells, first: (path, line) }) = rows.remove(key) else { continue };
            match cells.into_iter().collect::<Option<Vec<Cell>>>() {
                Some(cells) => kept.push(cells),
                // What could not be read was told.
                None if !faults.is_empty() => kept.push(Vec::new()),
                None => faults.push(format!("{path}, row {line}: {} is not told in full by all files", key.join(", "))),
            }
        }
        // Keys of rows that have other faults count as there, so that nothing is told twice.
        if let KnownBy::Key(_) = table.known_by
            && !unread.contains(&at)
        {
            let there: BTreeSet<&String> = order.iter().filter_map(|key| key.first()).collect();
            for (_, cell, place) in referred.iter().filter(|(to, ..)| *to == at) {
                if !there.contains(&cell.key()) {
                    faults.push(format!("{place}: `{}` is no {} of the files", cell.key(), table.name));
                }
            }
        }
        records.0.insert(table.name.clone(), kept);
    }
    records
}

/// A text as a cell that the records may hold.
fn cell(layout: &Layout, table: usize, column: usize, text: &str) -> Result<Cell, String> {
    let declared = &layout.tables[table].columns[column];
    if text.is_empty() && !declared.nullable {
        return Err("there is nothing".to_owned());
    }
    let what = match declared.kind {
        Kind::Int => "whole number",
        Kind::Money => "amount with at most two decimals",
        Kind::Quantity => "number with at most three decimals",
        Kind::Bool => "`yes` or `no`",
        Kind::Text | Kind::Ref(_) => "code",
    };
    let cell =
        reader::cell(layout, declared.kind, text, declared.nullable).map_err(|_| format!("`{text}` is no {what}"))?;
    let field = &layout.domain.tables[table].fields[column + 1];
    if let Some((low, high)) = field.bounds {
        let (number, of) = match &cell {
            Cell::Number(number) => (*number, ""),
            Cell::Text(text) => (text.chars().count() as i64, " characters long"),
            Cell::None => return Ok(cell),
        };
        if number < low {
            return Err(format!("`{text}` must be at least {low}{of}"));
        }
        if number > high {
            return Err(format!("`{text}` must be at most {high}{of}"));
        }
    }
    Ok(cell)
}

/// The workflow's `files.toml` with these files in the place of its own, and without traps.
fn declared(layout: &Layout, sources: &[Source<'_>]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut paths: Vec<&str> = sources.iter().map(|source| &*source.path).collect();
    paths.dedup();
    let mut out = String::new();
    for path in paths {
        let tables: Vec<&Source<'_>> = sources.iter().filter(|source| source.path == path).collect();
        let from: Vec<&str> = tables.iter().map(|source| &*layout.tables[source.table.from].name).collect();
        out += &format!("[file.{}]\nfrom = {}\n", quoted(path), quoted(&from.join(", ")));
        if let (true, Some(source)) = (path.ends_with(".xlsx"), tables.first()) {
            out += &format!("sheet = {}\n", quoted(&source.sheet));
        }
        out += &format!("says = {}\ncolumns = [\n", quoted(tables.first().map_or("", |source| source.says)));
        for source in tables {
            let table = &layout.tables[source.table.from];
            for (from, name, means) in &source.columns {
                let column = &table.columns[*from].name;
                out += &format!("    {},\n", quoted(&format!("{}.{column} as {name}: {means}", table.name)));
            }
        }
        out += "]\n\n";
    }
    out
}
