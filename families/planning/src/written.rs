//! Which records stand in which file, and what is done to a file before somebody sees it: `files.toml`.

use crate::layout::{Kind, Layout};
use benchwright_base::Diagnostic;
use benchwright_schema::{Document, KeyFault};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What the file is called in the folder of a workflow.
pub(crate) const FILE: &str = "files.toml";

/// How many traps a tier has, from the first one declared on.
pub(crate) fn traps_at(tier: &str) -> usize {
    match tier.split('-').next() {
        Some("easy") => 2,
        Some("medium") => 4,
        _ => 6,
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilesText {
    file: BTreeMap<String, FileText>,
    #[serde(default)]
    trap: Vec<TrapText>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    /// The tables in it, one or several with commas between.
    from: String,
    /// What is in it, after "holds".
    says: String,
    /// The sheet's name, in a workbook.
    #[serde(default)]
    sheet: Option<String>,
    /// The stage from which on it is there, with the rows that are told then; without one, it is there from the first on.
    #[serde(default)]
    stage: Option<i64>,
    /// `column as name: meaning`, with `table.` before the column where there are several tables.
    columns: Vec<String>,
}

/// A trap as it is written.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrapText {
    /// Its name, for reports.
    pub(crate) name: String,
    pub(crate) kind: TrapKind,
    /// The file, and the column in it where the kind is about one.
    pub(crate) at: String,
    /// The sentence that says what holds.
    pub(crate) says: String,
    /// For `unit`: what one of the usual unit is of each, the usual one being 1.
    #[serde(default)]
    pub(crate) units: BTreeMap<String, i64>,
    /// For `stale`: the column that older rows have otherwise, and how much of it in percent.
    #[serde(default)]
    pub(crate) was: Option<i64>,
    /// For `scope`: the column, the word of the rows that count, and the words of others.
    #[serde(default)]
    pub(crate) column: Option<String>,
    #[serde(default)]
    pub(crate) ours: Option<String>,
    #[serde(default)]
    pub(crate) others: Vec<String>,
    /// For `recode`: the file that translates, and what codes of the other system look like, `0{#4}`.
    #[serde(default)]
    pub(crate) codes: Option<String>,
    #[serde(default)]
    pub(crate) code: Option<String>,
    /// For `blank`: the column of another table that holds what a blank means, and the column of this one by which its row is found.
    #[serde(default)]
    pub(crate) usual: Option<String>,
    #[serde(default)]
    pub(crate) by: Option<String>,
    /// For `memo`: the memo's text with `{value}`, its file, and what the data file says instead, in percent.
    #[serde(default)]
    pub(crate) memo: Option<String>,
    #[serde(default)]
    pub(crate) note: Option<String>,
    /// For `zone`: how many minutes each clock is ahead of ours, ours being 0.
    #[serde(default)]
    pub(crate) clocks: BTreeMap<String, i64>,
}

/// What is done to a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TrapKind {
    /// Some rows are in another unit.
    Unit,
    /// Older versions of rows stand beside them.
    Stale,
    /// Rows of others stand among them.
    Scope,
    /// Another system's codes.
    Recode,
    /// Cells are empty where the usual value holds.
    Blank,
    /// A memo replaces what the file says.
    Memo,
    /// Of two rows that mirror each other one stands for both.
    Sparse,
    /// Numbers that follow each other stand as ranges, of which both ends count.
    Calendar,
    /// Some times are on another clock.
    Zone,
}

impl TrapKind {
    /// Whether anything of it is drawn, so that it can be laid otherwise.
    pub(crate) fn is_drawn(self) -> bool {
        match self {
            TrapKind::Unit | TrapKind::Stale | TrapKind::Scope | TrapKind::Zone | TrapKind::Blank => true,
            TrapKind::Recode | TrapKind::Memo | TrapKind::Sparse | TrapKind::Calendar => false,
        }
    }
}

/// The files of a workflow.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) files: Vec<File>,
    pub(crate) traps: Vec<TrapText>,
}

/// A file of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) says: String,
    /// The stage from which on it is there.
    pub(crate) stage: i64,
    /// Its tables with their columns.
    pub(crate) tables: Vec<FileTable>,
}

/// A table in a file.
#[derive(Clone, Debug)]
pub(crate) struct FileTable {
    /// What it is called there: the sheet, or the key of an object.
    pub(crate) name: String,
    /// The table of the records.
    pub(crate) from: usize,
    pub(crate) columns: Vec<FileColumn>,
}

/// A column of a table in a file.
#[derive(Clone, Debug)]
pub(crate) struct FileColumn {
    /// The column of the records.
    pub(crate) from: usize,
    /// What it is called in the file.
    pub(crate) name: String,
    /// What it means.
    pub(crate) means: String,
}

impl Written {
    /// Reads the file, or tells all its faults.
    pub(crate) fn read(text: &str, layout: &Layout) -> Result<Written, Vec<Diagnostic>> {
        let document = Document::new(FILE, text);
        let read: Option<FilesText> = document.read();
        if let Some(read) = read {
            let mut faults = Vec::new();
            let written = Written::of(read, layout, &mut faults);
            document.add(faults);
            if document.is_sound() {
                return Ok(written);
            }
        }
        Err(document.into_faults())
    }

    /// The same without the files of some tables.
    #[must_use]
    pub(crate) fn without(&self, layout: &Layout, tables: &[String]) -> Written {
        let mut less = self.clone();
        let is_of = |table: &FileTable| tables.contains(&layout.tables[table.from].name);
        less.files.retain(|file| !file.tables.iter().any(is_of));
        less
    }

    fn of(text: FilesText, layout: &Layout, faults: &mut Vec<KeyFault>) -> Written {
        let mut written = Written { files: Vec::new(), traps: Vec::new() };
        let mut told: BTreeMap<(usize, usize), String> = BTreeMap::new();
        for (path, file) in &text.file {
            if !["csv", "json", "xlsx"].iter().any(|end| path.ends_with(&format!(".{end}"))) {
                faults.push(KeyFault::new(["file", path], "a file ends with .csv, .json or .xlsx").at_key());
            }
            // Who reads by tools is given a workbook as the CSV of one sheet.
            if path.ends_with(".xlsx") && file.from.contains(',') {
                faults
                    .push(KeyFault::new(["file", path, "from"], "a workbook holds one table; several stand in .json"));
            }
            let mut tables = Vec::new();
            for from in file.from.split(',').map(str::trim) {
                let Some(at) = layout.tables.iter().position(|table| table.name == from) else {
                    let fault = KeyFault::new(["file", path, "from"], format!("there is no table `{from}`"));
                    faults.push(fault.instead_of(from, layout.tables.iter().map(|table| &*table.name)));
                    continue;
                };
                let name = file.sheet.clone().filter(|_| !file.from.contains(',')).unwrap_or_else(|| from.to_owned());
                tables.push(FileTable { name, from: at, columns: Vec::new() });
            }
            for (place, column) in file.columns.iter().enumerate() {
                let place = place.to_string();
                match column_of(column, &mut tables, layout) {
                    Err(why) => faults.push(KeyFault::new(["file", path, "columns", &*place], why)),
                    Ok(from) => {
                        if let Some(other) = told.insert(from, path.clone()).filter(|_| !is_key(layout, from)) {
                            let why = format!("{other} has this column already; a fact stands in one place");
                            faults.push(KeyFault::new(["file", path, "columns", &*place], why));
                        }
                    }
                }
            }
            let stage = file.stage.unwrap_or(1);
            if stage > 1 && !path.starts_with(&folder_of(stage)) {
                let why = format!("what comes with a stage stands in its folder, `{}`", folder_of(stage));
                faults.push(KeyFault::new(["file", path], why).at_key());
            }
            written.files.push(File { path: path.clone(), says: file.says.clone(), stage, tables });
        }
        for (at, table) in layout.tables.iter().enumerate() {
            for (column, declared) in table.columns.iter().enumerate() {
                if !told.contains_key(&(at, column)) {
                    let why = format!("no file tells `{}.{}`", table.name, declared.name);
                    faults.push(KeyFault::new(["file"], why).at_key());
                }
            }
        }
        for (place, trap) in text.trap.iter().enumerate() {
            let place = place.to_string();
            if let Err(why) = written.check(trap, layout) {
                faults.push(KeyFault::new(["trap", &*place], why));
            }
        }
        written.traps = text.trap;
        written
    }

    /// Holds a trap to what its kind needs.
    fn check(&self, trap: &TrapText, layout: &Layout) -> Result<(), String> {
        let (path, column) = trap.place();
        let file =
            self.files.iter().find(|file| file.path == path).ok_or_else(|| format!("there is no file `{path}`"))?;
        // A memo may be about one of several tables; all others are laid in a file of one.
        let has = |table: &&FileTable| column.is_some_and(|name| table.columns.iter().any(|known| known.name == name));
        let table = match (&file.tables[..], trap.kind) {
            ([table], _) => Some(table),
            (tables, TrapKind::Memo) => tables.iter().find(has),
            _ => None,
        };
        let table = table.ok_or("a trap is laid in a file of one table")?;
        let known = |name: &str| table.columns.iter().find(|column| column.name == name);
        let need = |column: Option<&str>| -> Result<Kind, String> {
            let column = column.and_then(known).ok_or_else(|| format!("`{}` names no column of {path}", trap.at))?;
            Ok(layout.tables[table.from].columns[column.from].kind)
        };
        let with = |given: bool, what: &str| if given { Ok(()) } else { Err(format!("this kind needs {what}")) };
        match trap.kind {
            TrapKind::Unit => {
                need(column)?;
                with(trap.units.len() > 1 && trap.units.values().any(|unit| *unit == 1), "`units`, one of which is 1")
            }
            TrapKind::Stale => {
                need(column)?;
                with(trap.was.is_some(), "`was`, in percent")
            }
            TrapKind::Scope => with(
                trap.column.is_some() && trap.ours.is_some() && !trap.others.is_empty(),
                "`column`, `ours` and `others`",
            ),
            TrapKind::Recode => {
                need(column)?;
                with(
                    trap.codes.is_some() && trap.code.as_ref().is_some_and(|code| code.contains("{#")),
                    "`codes` and `code`",
                )
            }
            TrapKind::Blank => {
                need(column)?;
                with(trap.usual.is_some() && trap.by.is_some(), "`usual` and `by`")
            }
            TrapKind::Sparse => {
                let keys = layout.arguments(&layout.tables[table.from]);
                let kinds: Vec<Kind> =
                    keys.iter().map(|(key, _)| layout.tables[table.from].columns[*key].kind).collect();
                let mirrors = matches!(kinds[..], [Kind::Ref(one), Kind::Ref(other)] if one == other);
                with(mirrors, "a table that is known by two references to one other table")
            }
            TrapKind::Calendar => {
                let kind = need(column)?;
                let whole = match kind {
                    Kind::Ref(to) => layout.argument(&layout.tables[to], 0).name() == "int",
                    kind => kind == Kind::Int,
                };
                with(whole, "a column of whole numbers")
            }
            TrapKind::Zone => {
                let kind = need(column)?;
                let clocks = trap.clocks.len() > 1 && trap.clocks.values().any(|ahead| *ahead == 0);
                with(kind == Kind::Int && clocks, "a column of minutes, and `clocks`, one of which is 0")
            }
            TrapKind::Memo => {
                need(column)?;
                with(trap.memo.is_some() && trap.note.is_some() && trap.was.is_some(), "`memo`, `note` and `was`")
            }
        }
    }
}

/// The folder of what comes with a stage.
pub(crate) fn folder_of(stage: i64) -> String {
    format!("stage-{stage}/")
}

impl TrapText {
    /// The file, and the column in it.
    pub(crate) fn place(&self) -> (&str, Option<&str>) {
        match self.at.split_once(' ') {
            Some((path, column)) => (path, Some(column.trim())),
            None => (&self.at, None),
        }
    }

    /// The switch of a case that has it.
    pub(crate) fn switch(&self) -> String {
        format!("trap.{}", self.name)
    }
}

fn is_key(layout: &Layout, (table, column): (usize, usize)) -> bool {
    let table = &layout.tables[table];
    layout.arguments(table).iter().any(|(key, _)| *key == column)
}

/// Puts `table.column as name: meaning` where it belongs.
fn column_of(text: &str, tables: &mut [FileTable], layout: &Layout) -> Result<(usize, usize), String> {
    let (head, means) = text.split_once(": ").ok_or("this is not `column as name: meaning`")?;
    let (column, name) = head.split_once(" as ").unwrap_or((head, head.rsplit('.').next().unwrap_or(head)));
    let (table, column) = match column.split_once('.') {
        Some((table, column)) => (Some(table), column),
        None => (None, column),
    };
    let found = tables.iter_mut().find(|known| match table {
        Some(table) => layout.tables[known.from].name == table,
        None => layout.tables[known.from].columns.iter().any(|known| known.name == column),
    });
    let found = found.ok_or_else(|| format!("none of the file's tables has `{column}`"))?;
    let declared = &layout.tables[found.from].columns;
    let from = declared.iter().position(|known| known.name == column);
    let from = from.ok_or_else(|| format!("`{}` has no column `{column}`", layout.tables[found.from].name))?;
    found.columns.push(FileColumn { from, name: name.trim().to_owned(), means: means.trim().to_owned() });
    Ok((found.from, from))
}
