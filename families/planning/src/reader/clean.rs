//! Undoes what was done to files, one function a kind, from nothing but the sentence's meaning and the files.

use super::table::{Read, Workspace};
use crate::{
    layout::Layout,
    written::{TrapKind, TrapText, Written},
};
use benchwright_files::{Dialect, Limits, csv};
use std::collections::BTreeMap;

/// Takes a trap out of the tables of the files.
pub(super) fn undo(
    layout: &Layout,
    written: &Written,
    trap: &TrapText,
    workspace: &Workspace,
    tables: &mut BTreeMap<String, Vec<Read>>,
) -> Result<(), String> {
    let (path, column) = trap.place();
    let file = written.files.iter().find(|file| file.path == path).ok_or("there is no such file")?;
    let has =
        |at: &usize| column.is_none_or(|column| file.tables[*at].columns.iter().any(|known| known.name == column));
    let sheet = (0..file.tables.len()).find(has).ok_or("no table of the file has the column")?;
    let keys: Vec<String> = {
        let table = &file.tables[sheet];
        let arguments = layout.arguments(&layout.tables[table.from]);
        let is_key = |from: usize| arguments.iter().any(|(key, _)| *key == from);
        table.columns.iter().filter(|column| is_key(column.from)).map(|column| column.name.clone()).collect()
    };
    let column = column.unwrap_or_default();
    // Blanks are looked up in another file.
    let usual = match trap.kind {
        TrapKind::Blank => Some(usual(layout, written, trap, tables)?),
        _ => None,
    };
    let read = tables.get_mut(path).and_then(|tables| tables.get_mut(sheet)).ok_or("the file was not read")?;
    match trap.kind {
        TrapKind::Unit => {
            let (at, unit) = (read.column(column)?, read.column("uom")?);
            for row in &mut read.rows {
                let of = trap.units.get(&row[unit]).ok_or_else(|| format!("the unit `{}` is not told", row[unit]))?;
                let number: i64 = row[at].parse().map_err(|_| format!("`{}` is no number", row[at]))?;
                if number % of != 0 {
                    return Err(format!("{number} {} is no whole number of the usual unit", row[unit]));
                }
                row[at] = (number / of).to_string();
            }
        }
        TrapKind::Stale => {
            let version = read.column("version")?;
            let at: Vec<usize> = keys.iter().map(|key| read.column(key)).collect::<Result<_, _>>()?;
            let mut newest: BTreeMap<Vec<String>, (i64, usize)> = BTreeMap::new();
            for (place, row) in read.rows.iter().enumerate() {
                let key: Vec<String> = at.iter().map(|at| row[*at].clone()).collect();
                let number: i64 = row[version].parse().map_err(|_| format!("`{}` is no version", row[version]))?;
                let known = newest.entry(key).or_insert((number, place));
                if number > known.0 {
                    *known = (number, place);
                }
            }
            let mut kept: Vec<usize> = newest.into_values().map(|(_, place)| place).collect();
            kept.sort_unstable();
            read.rows = kept.into_iter().map(|place| read.rows[place].clone()).collect();
        }
        TrapKind::Scope => {
            let at = read.column(trap.column.as_deref().unwrap_or_default())?;
            let ours = trap.ours.as_deref().unwrap_or_default();
            read.rows.retain(|row| row[at] == ours);
        }
        TrapKind::Recode => {
            let at = read.column(column)?;
            let path = trap.codes.as_deref().unwrap_or_default();
            let (_, body) = workspace.get(path).ok_or_else(|| format!("there is no {path}"))?;
            let codes = csv::read(path, body.as_bytes(), Dialect::Comma, &Limits::default());
            let codes: Read = codes.map_err(|faults| faults.to_string())?.into();
            let (old, new) = (codes.column("old")?, codes.column("new")?);
            let known: BTreeMap<&String, &String> = codes.rows.iter().map(|row| (&row[old], &row[new])).collect();
            for row in &mut read.rows {
                let code = known.get(&row[at]).ok_or_else(|| format!("the code `{}` is not translated", row[at]))?;
                row[at] = (*code).clone();
            }
        }
        TrapKind::Blank => {
            let (at, by) = (read.column(column)?, read.column(trap.by.as_deref().unwrap_or_default())?);
            for row in read.rows.iter_mut().filter(|row| row[at].is_empty()) {
                let found = usual.as_ref().and_then(|usual| usual.get(&row[by]));
                row[at] = found.ok_or_else(|| format!("what is usual for `{}` is not told", row[by]))?.clone();
            }
        }
        TrapKind::Sparse => {
            let at: Vec<usize> = keys.iter().map(|key| read.column(key)).collect::<Result<_, _>>()?;
            let [one, other] = at[..] else { return Err("two columns tell rows apart".to_owned()) };
            let mut members: Vec<String> = Vec::new();
            let mut all: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
            let mut place = |name: &String| {
                members.iter().position(|known| known == name).unwrap_or_else(|| {
                    members.push(name.clone());
                    members.len() - 1
                })
            };
            let rows: Vec<(usize, usize, &Vec<String>)> =
                read.rows.iter().map(|row| (place(&row[one]), place(&row[other]), row)).collect();
            for (from, to, row) in &rows {
                all.insert((*from, *to), (*row).clone());
            }
            for (from, to, row) in rows {
                all.entry((to, from)).or_insert_with(|| {
                    let mut mirror = row.clone();
                    mirror.swap(one, other);
                    mirror
                });
            }
            read.rows = all.into_values().collect();
        }
        TrapKind::Calendar => expand(read, column, 0)?,
        TrapKind::Zone => {
            let (at, clock) = (read.column(column)?, read.column("clock")?);
            for row in &mut read.rows {
                let ahead = trap.clocks.get(&row[clock]);
                let ahead = ahead.ok_or_else(|| format!("the clock `{}` is not told", row[clock]))?;
                let number: i64 = row[at].parse().map_err(|_| format!("`{}` is no number", row[at]))?;
                row[at] = (number - ahead).to_string();
            }
        }
        TrapKind::Memo => {
            let at = read.column(column)?;
            let path = trap.note.as_deref().unwrap_or_default();
            let (_, body) = workspace.get(path).ok_or_else(|| format!("there is no {path}"))?;
            let memo = trap.memo.as_deref().unwrap_or_default();
            let (lead, tail) = memo.split_once("{value}").ok_or("the memo has no value")?;
            let value = body.split_once(lead).and_then(|(_, rest)| rest.split_once(tail));
            let (value, _) = value.ok_or_else(|| format!("{path} does not say what holds"))?;
            for row in &mut read.rows {
                row[at] = value.to_owned();
            }
        }
    }
    Ok(())
}

/// Ranges as who does not know better takes them: the end does not count.
pub(super) fn misread(trap: &TrapText, tables: &mut BTreeMap<String, Vec<Read>>) {
    let (path, column) = trap.place();
    for read in tables.get_mut(path).into_iter().flatten() {
        // A file without ranges has nothing to be misread, and one that cannot be read is told when it is taken.
        let _ = expand(read, column.unwrap_or_default(), 1);
    }
}

/// A row for every number of a range, but for so many at its end.
fn expand(read: &mut Read, column: &str, less: i64) -> Result<(), String> {
    let (from, to) = (read.column(&format!("{column}_from"))?, read.column(&format!("{column}_to"))?);
    let mut rows = Vec::new();
    for row in &read.rows {
        let number = |at: usize| row[at].parse::<i64>().map_err(|_| format!("`{}` is no number", row[at]));
        for number in number(from)?..=number(to)? - less {
            let mut row = row.clone();
            row[from] = number.to_string();
            row.remove(to);
            rows.push(row);
        }
    }
    read.header[from] = column.to_owned();
    read.header.remove(to);
    read.rows = rows;
    Ok(())
}

/// What is usual, by key, as another file tells it.
fn usual(
    layout: &Layout,
    written: &Written,
    trap: &TrapText,
    tables: &BTreeMap<String, Vec<Read>>,
) -> Result<BTreeMap<String, String>, String> {
    let odd = || format!("`{}` stands in no file", trap.usual.as_deref().unwrap_or_default());
    let (table, column) = trap.usual.as_deref().and_then(|usual| usual.split_once('.')).ok_or_else(odd)?;
    for file in &written.files {
        for (declared, read) in file.tables.iter().zip(tables.get(&file.path).into_iter().flatten()) {
            let known = &layout.tables[declared.from];
            if known.name != table {
                continue;
            }
            let named = |wanted: &str| {
                let found = declared.columns.iter().find(|column| known.columns[column.from].name == wanted);
                found.and_then(|column| read.column(&column.name).ok())
            };
            let key = layout.arguments(known).first().map(|(key, _)| known.columns[*key].name.clone());
            if let (Some(key), Some(at)) = (key.and_then(|key| named(&key)), named(column)) {
                return Ok(read.rows.iter().map(|row| (row[key].clone(), row[at].clone())).collect());
            }
        }
    }
    Err(odd())
}
