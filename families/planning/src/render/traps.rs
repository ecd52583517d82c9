//! What is done to files before somebody sees them, one function a kind. Each has a sentence that says what holds, and can be undone by
//! whoever reads it.

use super::draft::{Draft, Sheet, Source, text};
use crate::{
    layout::{KnownBy, Layout},
    records::{Cell, Records},
    written::{TrapKind, TrapText},
};
use benchwright_base::Stream;
use std::collections::BTreeMap;

/// The column of versions that stale rows bring.
const VERSION: &str = "version";
/// The column of units.
const UNIT: &str = "uom";
/// The column of clocks.
const CLOCK: &str = "clock";

/// The columns that take the place of one whose numbers stand as ranges.
fn ends(column: &str) -> [String; 2] {
    ["from", "to"].map(|end| format!("{column}_{end}"))
}

/// Lays a trap into the files, and adds the notes that it needs.
pub(super) fn lay(
    source: &Source<'_>,
    trap: &TrapText,
    stream: &mut Stream,
    drafts: &mut Vec<Draft>,
    notes: &mut Vec<(String, String)>,
) -> Result<(), String> {
    let (path, column) = trap.place();
    let fault = |why: String| format!("the trap `{}`: {why}", trap.name);
    let at = drafts.iter().position(|draft| draft.path == path).ok_or_else(|| fault(format!("no file {path}")))?;
    let of_column = |sheet: &Sheet| column.is_some_and(|column| sheet.header.iter().any(|known| known == column));
    let sheet = drafts[at].sheets.iter().position(|sheet| column.is_none() || of_column(sheet));
    let sheet = sheet.ok_or_else(|| fault(format!("{path} has no such column")))?;
    let name = drafts[at].sheets[sheet].name.clone();
    let column = column.unwrap_or_default();
    let draft = &mut drafts[at];
    let table = &mut draft.sheets[sheet];
    let means = |draft: &mut Draft, column: &str, means: &str| {
        draft.added.push((name.clone(), column.to_owned(), means.to_owned()));
    };
    match trap.kind {
        TrapKind::Unit => {
            unit(trap, table, column, stream).map_err(fault)?;
            means(draft, UNIT, &format!("unit of {column}"));
        }
        TrapKind::Stale => {
            let keys = keys(source, path, sheet);
            stale(trap, table, column, &keys, stream).map_err(fault)?;
            means(draft, VERSION, "version of the row");
        }
        TrapKind::Scope => {
            let keys = keys(source, path, sheet);
            let added = trap.column.clone().unwrap_or_default();
            scope(trap, table, &keys, stream);
            means(draft, &added, &format!("whose row it is: {} or another", trap.ours.as_deref().unwrap_or_default()));
        }
        TrapKind::Recode => {
            let codes = recode(trap, table, column, stream).map_err(fault)?;
            let path = trap.codes.clone().unwrap_or_default();
            let added = vec![
                ("codes".to_owned(), "old".to_owned(), "code in the old system".to_owned()),
                ("codes".to_owned(), "new".to_owned(), "code in ours".to_owned()),
            ];
            drafts.push(Draft {
                path,
                says: "which code of the old system is which of ours".to_owned(),
                stage: 1,
                sheets: vec![codes],
                added,
            });
        }
        TrapKind::Sparse => {
            let keys = keys(source, path, sheet);
            sparse(table, &keys).map_err(fault)?;
        }
        TrapKind::Calendar => {
            let [from, to] = ends(column);
            calendar(table, column).map_err(fault)?;
            means(draft, &from, &format!("the first {column} of the range"));
            means(draft, &to, &format!("the last {column} of the range"));
        }
        TrapKind::Zone => {
            zone(trap, table, column, stream).map_err(fault)?;
            means(draft, CLOCK, &format!("clock of {column}"));
        }
        TrapKind::Blank => blank(source, trap, table, column, stream).map_err(fault)?,
        TrapKind::Memo => {
            let note = memo(trap, table, column).map_err(fault)?;
            notes.push((trap.note.clone().unwrap_or_default(), note));
        }
    }
    Ok(())
}

/// The columns of a table in a file that tell its rows apart.
fn keys(source: &Source<'_>, path: &str, sheet: usize) -> Vec<String> {
    let file = source.written.files.iter().find(|file| file.path == path);
    let Some(table) = file.and_then(|file| file.tables.get(sheet)) else { return Vec::new() };
    let arguments = source.layout.arguments(&source.layout.tables[table.from]);
    let is_key = |from: usize| arguments.iter().any(|(key, _)| *key == from);
    table.columns.iter().filter(|column| is_key(column.from)).map(|column| column.name.clone()).collect()
}

/// Some numbers in another unit, with the unit beside each.
fn unit(trap: &TrapText, sheet: &mut Sheet, column: &str, stream: &mut Stream) -> Result<(), String> {
    let at = sheet.column(column)?;
    let usual = trap.units.iter().find(|(_, of)| **of == 1).map(|(name, _)| name.clone()).unwrap_or_default();
    let others: Vec<(&String, &i64)> = trap.units.iter().filter(|(_, of)| **of != 1).collect();
    sheet.header.insert(at + 1, UNIT.to_owned());
    for row in &mut sheet.rows {
        let number: i64 = row[at].parse().map_err(|_| format!("`{}` is no whole number", row[at]))?;
        let (unit, number) = match stream.below(3) {
            0 => {
                let (unit, of) = others[stream.below(others.len() as u64) as usize];
                (unit.clone(), number.checked_mul(*of).ok_or("a number is too large")?)
            }
            _ => (usual.clone(), number),
        };
        row[at] = number.to_string();
        row.insert(at + 1, unit);
    }
    Ok(())
}

/// Older versions of some rows, in which a column is otherwise.
fn stale(trap: &TrapText, sheet: &mut Sheet, column: &str, keys: &[String], stream: &mut Stream) -> Result<(), String> {
    let at = sheet.column(column)?;
    let was = trap.was.unwrap_or(100);
    let first = sheet.header.iter().position(|known| keys.contains(known)).map_or(0, |key| key + 1);
    sheet.header.insert(first, VERSION.to_owned());
    sheet.integers.push(VERSION.to_owned());
    let at = if at >= first { at + 1 } else { at };
    let mut rows = Vec::new();
    for (place, mut row) in std::mem::take(&mut sheet.rows).into_iter().enumerate() {
        row.insert(first, "1".to_owned());
        // Every third row was changed, the first one among them.
        if place == 0 || stream.below(3) == 0 {
            let mut old = row.clone();
            row[first] = "2".to_owned();
            old[at] = scaled(&old[at], was)?;
            // What is old stands first, where the hurried take it.
            rows.push(old);
        }
        rows.push(row);
    }
    sheet.rows = rows;
    Ok(())
}

/// A number with its decimals, at a share of it in percent.
fn scaled(text: &str, percent: i64) -> Result<String, String> {
    let digits = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let number: i64 = text.replace('.', "").parse().map_err(|_| format!("`{text}` is no number"))?;
    let number = number * percent / 100;
    let of = 10_i64.pow(digits as u32);
    Ok(match digits {
        0 => number.to_string(),
        _ => format!("{}.{:0digits$}", number / of, number % of),
    })
}

/// Rows of others, with the same keys as ours and numbers of their own.
fn scope(trap: &TrapText, sheet: &mut Sheet, keys: &[String], stream: &mut Stream) {
    let added = trap.column.clone().unwrap_or_default();
    let ours = trap.ours.clone().unwrap_or_default();
    let numbers: Vec<usize> = (0..sheet.header.len())
        .filter(|at| sheet.integers.contains(&sheet.header[*at]) && !keys.contains(&sheet.header[*at]))
        .collect();
    let mut rows = Vec::new();
    for mut row in std::mem::take(&mut sheet.rows) {
        let mut other = row.clone();
        row.insert(0, ours.clone());
        rows.push(row);
        // The others stand before ours as often as after.
        if stream.below(2) == 0 {
            for at in &numbers {
                let number: i64 = other[*at].parse().unwrap_or_default();
                // Far enough from ours that whoever takes it for ours plans otherwise.
                let percent = if stream.below(2) == 0 { 45 } else { 125 } + stream.below(36) as i64;
                other[*at] = (number * percent / 100).max(1).to_string();
            }
            other.insert(0, trap.others[stream.below(trap.others.len() as u64) as usize].clone());
            let last = rows.len() - stream.below(2) as usize;
            rows.insert(last, other);
        }
    }
    sheet.header.insert(0, added);
    sheet.rows = rows;
}

/// The codes of another system, and the table that translates them.
fn recode(trap: &TrapText, sheet: &mut Sheet, column: &str, stream: &mut Stream) -> Result<Sheet, String> {
    let at = sheet.column(column)?;
    let form = trap.code.clone().unwrap_or_default();
    let (lead, rest) = form.split_once("{#").ok_or("`code` has no number")?;
    let (digits, tail) = rest.split_once('}').ok_or("`code` has no number")?;
    let digits: usize = digits.parse().map_err(|_| "`code` has no number")?;
    let mut ours: Vec<String> = sheet.rows.iter().map(|row| row[at].clone()).collect();
    ours.sort();
    ours.dedup();
    let first = 100 + stream.below(400) as usize;
    let step = 3 + stream.below(14) as usize;
    let mut places: Vec<usize> = (0..ours.len()).collect();
    for last in (1..places.len()).rev() {
        places.swap(last, stream.below(last as u64 + 1) as usize);
    }
    let old = |place: usize| format!("{lead}{:0digits$}{tail}", first + step * places[place]);
    let mut rows: Vec<Vec<String>> =
        ours.iter().enumerate().map(|(place, new)| vec![old(place), new.clone()]).collect();
    rows.sort();
    for row in &mut sheet.rows {
        let place = ours.binary_search(&row[at]).map_err(|_| "a code was lost")?;
        row[at] = old(place);
    }
    sheet.integers.retain(|name| name != column);
    Ok(Sheet { name: "codes".to_owned(), header: vec!["old".to_owned(), "new".to_owned()], rows, integers: Vec::new() })
}

/// Cells that are empty where the usual value holds.
fn blank(
    source: &Source<'_>,
    trap: &TrapText,
    sheet: &mut Sheet,
    column: &str,
    stream: &mut Stream,
) -> Result<(), String> {
    let at = sheet.column(column)?;
    let by = sheet.column(trap.by.as_deref().unwrap_or_default())?;
    let usual = usual_values(source.layout, source.records, trap.usual.as_deref().unwrap_or_default())?;
    for row in &mut sheet.rows {
        let same = usual.get(&row[by]).is_some_and(|usual| *usual == row[at]);
        if same && stream.below(4) > 0 {
            row[at].clear();
        }
    }
    Ok(())
}

/// Of two rows that mirror each other, the later one goes.
fn sparse(sheet: &mut Sheet, keys: &[String]) -> Result<(), String> {
    let [one, other] = keys else { return Err("two columns tell rows apart".to_owned()) };
    let (one, other) = (sheet.column(one)?, sheet.column(other)?);
    let mirrored = |row: &[String]| {
        let mut row = row.to_vec();
        row.swap(one, other);
        row
    };
    let mut kept: Vec<Vec<String>> = Vec::new();
    for row in &sheet.rows {
        let mirror = mirrored(row);
        if row[one] != row[other]
            && !sheet.rows.iter().any(|known| known[one] == mirror[one] && known[other] == mirror[other])
        {
            return Err(format!("{}, {} has no mirror", row[one], row[other]));
        }
        if row[one] == row[other] || !kept.contains(&mirror) {
            kept.push(row.clone());
        }
    }
    // Who puts the mirrors back knows the order of members from where each is named first.
    let mut ranks: Vec<&String> = Vec::new();
    for name in kept.iter().flat_map(|row| [&row[one], &row[other]]) {
        if !ranks.contains(&name) {
            ranks.push(name);
        }
    }
    let place = |row: &Vec<String>| [one, other].map(|at| ranks.iter().position(|name| **name == row[at]));
    if !sheet.rows.is_sorted_by_key(place) {
        return Err("its rows are not in the order of what they name".to_owned());
    }
    sheet.rows = kept;
    Ok(())
}

/// Rows that are alike but for a number, which goes up by one from each to the next, as one row with the first and the last number.
fn calendar(sheet: &mut Sheet, column: &str) -> Result<(), String> {
    let at = sheet.column(column)?;
    let [from, to] = ends(column);
    let mut merged: Vec<Vec<String>> = Vec::new();
    for row in &sheet.rows {
        let number: i64 = row[at].parse().map_err(|_| format!("`{}` is no whole number", row[at]))?;
        let mut row = row.clone();
        row.insert(at + 1, row[at].clone());
        let follows = merged.last_mut().filter(|before| {
            let same = (0..row.len()).all(|cell| cell == at || cell == at + 1 || before[cell] == row[cell]);
            same && before[at + 1].parse() == Ok(number - 1)
        });
        match follows {
            Some(before) => before[at + 1] = row[at].clone(),
            None => merged.push(row),
        }
    }
    sheet.header[at] = from.clone();
    sheet.header.insert(at + 1, to.clone());
    if sheet.integers.iter().any(|name| name == column) {
        sheet.integers.retain(|name| name != column);
        sheet.integers.extend([from, to]);
    }
    sheet.rows = merged;
    Ok(())
}

/// Some times on another clock, with the clock beside each.
fn zone(trap: &TrapText, sheet: &mut Sheet, column: &str, stream: &mut Stream) -> Result<(), String> {
    let at = sheet.column(column)?;
    let ours = trap.clocks.iter().find(|(_, ahead)| **ahead == 0).map(|(name, _)| name.clone()).unwrap_or_default();
    let others: Vec<(&String, &i64)> = trap.clocks.iter().filter(|(_, ahead)| **ahead != 0).collect();
    sheet.header.insert(at + 1, CLOCK.to_owned());
    for row in &mut sheet.rows {
        let number: i64 = row[at].parse().map_err(|_| format!("`{}` is no whole number", row[at]))?;
        let (clock, ahead) = others[stream.below(others.len() as u64) as usize];
        // No clock shows a time before its day begins.
        let (clock, number) = match stream.below(2) == 0 && number + ahead >= 0 {
            true => (clock.clone(), number + ahead),
            false => (ours.clone(), number),
        };
        row[at] = number.to_string();
        row.insert(at + 1, clock);
    }
    Ok(())
}

/// What the file says is out of date, and a memo says what holds.
fn memo(trap: &TrapText, sheet: &mut Sheet, column: &str) -> Result<String, String> {
    let at = sheet.column(column)?;
    let [row] = &mut sheet.rows[..] else { return Err("a memo is about a table of one row".to_owned()) };
    let text = trap.memo.as_deref().unwrap_or_default().replace("{value}", &row[at]);
    row[at] = scaled(&row[at], trap.was.unwrap_or(100))?;
    Ok(format!("# Memo\n\n{text}\n"))
}

/// The usual values that blanks stand for, by the key of their row: `family.least_usual`.
fn usual_values(layout: &Layout, records: &Records, usual: &str) -> Result<BTreeMap<String, String>, String> {
    let odd = || format!("`{usual}` is no column of a table with a key");
    let (table, column) = usual.split_once('.').ok_or_else(odd)?;
    let table = layout.table(table).ok_or_else(odd)?;
    let KnownBy::Key(key) = table.known_by else { return Err(odd()) };
    let at = table.columns.iter().position(|known| known.name == column).ok_or_else(odd)?;
    let text = |row: &[Cell], at: usize| text(table.columns[at].kind, &row[at]);
    Ok(records.rows(&table.name).iter().map(|row| (text(row, key), text(row, at))).collect())
}
