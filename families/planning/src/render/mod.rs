//! From records to files: each file is a table of texts, into which traps are laid before it is written.

pub(crate) mod draft;
mod traps;

use draft::text;
pub(crate) use draft::{Draft, Sheet, Source};

use crate::{
    forms::{form_columns, from_stage},
    layout::Kind,
    records::Cell,
    stages::lift::FIELD,
    written::{File, FileTable, folder_of},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use benchwright_base::{Digest, Stream};
use benchwright_expr::Type;
use benchwright_files::{Dialect, Table, csv, json, markdown, xlsx};
use std::fmt::Write as _;

/// The media type of a workbook.
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// A file of the workspace, as the world keeps it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Rendered {
    pub(crate) path: String,
    pub(crate) media: &'static str,
    pub(crate) body: String,
    /// The stage from which on it is there.
    pub(crate) stage: i64,
}

/// The files of a case: the data with its traps, the notes, the forms and the dictionary, by path.
pub(crate) fn files(source: &Source<'_>) -> Result<Vec<Rendered>, String> {
    // Whatever is random here follows from the records, so that whoever has them knows the files.
    let records = serde_json::to_string(&source.before.plain()).map_err(|error| error.to_string())?;
    let digest = Digest::of(records.as_bytes()).to_string();
    let seed = u64::from_str_radix(digest.get(..16).unwrap_or("0"), 16).unwrap_or_default();
    let mut drafts: Vec<Draft> = source.written.files.iter().map(|file| draft(source, file)).collect();
    let mut notes = Vec::new();
    for trap in &source.traps {
        let mut stream = match source.before.again(&trap.name) {
            0 => Stream::new(seed, &["trap", &trap.name]),
            again => Stream::new(seed, &["trap", &trap.name, &again.to_string()]),
        };
        traps::lay(source, trap, &mut stream, &mut drafts, &mut notes)?;
    }
    let mut files = Vec::new();
    for draft in &drafts {
        files.push(write(draft)?);
    }
    for (path, text) in notes {
        files.push(Rendered { path, media: "text/markdown", body: text, stage: 1 });
    }
    files.extend(forms(source)?);
    // What comes with a stage has a dictionary of its own.
    let mut stages: Vec<i64> = std::iter::once(1).chain(drafts.iter().map(|draft| draft.stage)).collect();
    stages.sort_unstable();
    stages.dedup();
    for stage in stages {
        files.push(dictionary(source, &drafts, stage)?);
    }
    files.sort();
    Ok(files)
}

fn draft(source: &Source<'_>, file: &File) -> Draft {
    let sheets = file.tables.iter().map(|table| sheet(source, table, file.stage)).collect();
    Draft { path: file.path.clone(), says: file.says.clone(), stage: file.stage, sheets, added: Vec::new() }
}

fn sheet(source: &Source<'_>, table: &FileTable, stage: i64) -> Sheet {
    let declared = &source.layout.tables[table.from];
    let kind = |column: usize| declared.columns[column].kind;
    let of_stage = declared.columns.iter().position(|column| column.name == FIELD);
    let is_now = |row: &&Vec<Cell>| match of_stage {
        Some(at) if stage > 1 => row[at] == Cell::Number(stage),
        _ => true,
    };
    let rows = source.records.rows(&declared.name).iter().filter(is_now);
    let rows = rows.map(|row| table.columns.iter().map(|column| text(kind(column.from), &row[column.from])).collect());
    let whole = table.columns.iter().filter(|column| match kind(column.from) {
        Kind::Int => true,
        Kind::Ref(to) => source.layout.argument(&source.layout.tables[to], 0).name() == "int",
        _ => false,
    });
    Sheet {
        name: table.name.clone(),
        header: table.columns.iter().map(|column| column.name.clone()).collect(),
        rows: rows.collect(),
        integers: whole.map(|column| column.name.clone()).collect(),
    }
}

fn write(draft: &Draft) -> Result<Rendered, String> {
    let table = |sheet: &Sheet| Table::new(&*sheet.name, sheet.header.clone(), sheet.rows.clone());
    let tables: Result<Vec<Table>, _> = draft.sheets.iter().map(table).collect();
    let tables = tables.map_err(|faults| faults.to_string())?;
    let integers: Vec<Vec<&str>> =
        draft.sheets.iter().map(|sheet| sheet.integers.iter().map(|name| &**name).collect()).collect();
    let fault = |faults: benchwright_files::Faults| faults.to_string();
    let (media, body) = match draft.path.rsplit('.').next() {
        Some("csv") => {
            let [table] = &tables[..] else { return Err(format!("{} holds one table", draft.path)) };
            ("text/csv", csv::write(table, Dialect::Comma).map_err(fault)?)
        }
        Some("json") => {
            let forms: Vec<json::Form<'_>> =
                tables.iter().zip(&integers).map(|(table, integers)| json::Form { table, integers }).collect();
            let body = match &forms[..] {
                [one] => json::write(*one),
                many => json::write_all(many).map_err(fault)?,
            };
            ("application/json", body)
        }
        _ => {
            let sheets = tables.iter().zip(&integers);
            let sheets: Vec<xlsx::Sheet<'_>> =
                sheets.map(|(table, integers)| xlsx::Sheet { table, title: None, integers }).collect();
            (XLSX, STANDARD.encode(xlsx::write(&sheets).map_err(fault)?))
        }
    };
    Ok(Rendered { path: draft.path.clone(), media, body, stage: draft.stage })
}

/// The head of every form, and what its columns may hold.
fn forms(source: &Source<'_>) -> Result<Vec<Rendered>, String> {
    let mut files = Vec::new();
    for table in &source.forms {
        let stage = from_stage(table);
        let header: Vec<String> = form_columns(table).map(|field| field.name.clone()).collect();
        let head = Table::new(&*table.name, header.clone(), Vec::new()).map_err(|faults| faults.to_string())?;
        let body = csv::write(&head, Dialect::Comma).map_err(|faults| faults.to_string())?;
        files.push(Rendered { path: format!("forms/{}.csv", table.name), media: "text/csv", body, stage });
        let mut properties = serde_json::Map::new();
        for field in form_columns(table) {
            properties.insert(field.name.clone(), schema(field));
        }
        let required: Vec<&str> =
            form_columns(table).filter(|field| !field.nullable).map(|field| &*field.name).collect();
        let object = serde_json::json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false
        });
        let schema = serde_json::json!({ "title": table.name, "type": "array", "items": object });
        let body = serde_json::to_string_pretty(&schema).map_err(|error| error.to_string())?;
        let path = format!("forms/{}.schema.json", table.name);
        files.push(Rendered { path, media: "application/json", body: format!("{body}\n"), stage });
    }
    Ok(files)
}

fn schema(field: &benchwright_schema::Field) -> serde_json::Value {
    let mut schema = match field.ty {
        Type::Int => serde_json::json!({ "type": "integer" }),
        Type::Bool => serde_json::json!({ "type": "boolean" }),
        Type::Money | Type::Quantity => serde_json::json!({ "type": "number" }),
        _ => serde_json::json!({ "type": "string" }),
    };
    if let (Type::Int, Some((low, high))) = (field.ty, field.bounds) {
        if low > i64::MIN {
            schema["minimum"] = low.into();
        }
        if high < i64::MAX {
            schema["maximum"] = high.into();
        }
    }
    schema
}

/// What every column of every file means that is there from a stage on.
fn dictionary(source: &Source<'_>, drafts: &[Draft], stage: i64) -> Result<Rendered, String> {
    let mut body = String::from("# Dictionary\n");
    for draft in drafts.iter().filter(|draft| draft.stage == stage) {
        let _ = write!(body, "\n## {}\n\nHolds {}.\n", draft.path, draft.says);
        let file = source.written.files.iter().find(|file| file.path == draft.path);
        let mut rows = Vec::new();
        for (at, sheet) in draft.sheets.iter().enumerate() {
            for (place, name) in sheet.header.iter().enumerate() {
                let known = file.and_then(|file| file.tables.get(at));
                let column =
                    known.and_then(|table| Some((table, table.columns.iter().find(|known| known.name == *name)?)));
                let (means, kind, key) = match column {
                    Some((table, column)) => {
                        let declared = &source.layout.tables[table.from];
                        let keys = source.layout.arguments(declared);
                        let is_key = keys.iter().any(|(key, _)| *key == column.from);
                        (column.means.clone(), declared.columns[column.from].kind, is_key)
                    }
                    None => {
                        let added = draft.added.iter().find(|(of, column, _)| *of == sheet.name && column == name);
                        // What a trap adds has no declaration; what stands in it shows what it is.
                        let is_whole = sheet.rows.iter().all(|row| row[place].parse::<i64>().is_ok());
                        let kind = if is_whole { Kind::Int } else { Kind::Text };
                        (added.map(|(_, _, means)| means.clone()).unwrap_or_default(), kind, false)
                    }
                };
                let kind = match kind {
                    Kind::Int => "whole number",
                    Kind::Money => "money",
                    Kind::Quantity => "number",
                    Kind::Bool => "yes or no",
                    Kind::Text => "text",
                    Kind::Ref(_) => "reference",
                };
                let key = if key { "yes" } else { "" };
                let table = if draft.sheets.len() > 1 { sheet.name.clone() } else { String::new() };
                rows.push(vec![table, name.clone(), means, kind.to_owned(), key.to_owned()]);
            }
        }
        let header = ["table", "column", "meaning", "type", "key"].map(str::to_owned).to_vec();
        let table = Table::new(&*draft.path, header, rows).map_err(|faults| faults.to_string())?;
        body.push('\n');
        body.push_str(&markdown::write(&table).map_err(|faults| faults.to_string())?);
    }
    let folder = if stage > 1 { folder_of(stage) } else { String::new() };
    Ok(Rendered { path: format!("{folder}dictionary.md"), media: "text/markdown", body, stage })
}
