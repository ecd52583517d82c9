//! Workbooks written.

use super::{SHEET_COLUMNS, SHEET_ROWS, parts};
use crate::{Faults, Table, What, fault::Notes, number};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook, Worksheet, XlsxError};
use std::collections::BTreeSet;

/// The year that every workbook says it is from.
const YEAR: u16 = 2000;

/// A sheet to be written. It is called as its table is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sheet<'a> {
    /// What stands on it.
    pub table: &'a Table,
    /// A title in the row above the header.
    pub title: Option<&'a str>,
    /// The columns whose whole numbers are numbers. Whatever else stands in them, and in all others, is text; so is a number of more than
    /// the 15 digits that a spreadsheet keeps.
    pub integers: &'a [&'a str],
}

/// The bytes of a workbook with these sheets. A fault is told under the name of its table.
pub fn write(sheets: &[Sheet<'_>]) -> Result<Vec<u8>, Faults> {
    let mut faults = Faults::default();
    let mut names = BTreeSet::new();
    for sheet in sheets {
        let mut notes = Notes::of(sheet.table.name());
        if !names.insert(sheet.table.name().to_lowercase()) {
            notes
                .whole(What::Cannot("two sheets of a workbook cannot have one name, whatever the case of its letters"));
        }
        check(sheet, &mut notes);
        faults.extend(notes.faults);
    }
    if sheets.is_empty() {
        faults = Notes::of("").end(What::Cannot("a workbook has at least one sheet"));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let made = make(sheets).map_err(|error| What::NotXlsx(error.to_string()));
    // What the crate writes is packed, and in an order of its own; both may differ from one machine or version to another.
    let made = made.and_then(|bytes| parts::unpack(&bytes, usize::MAX - 1)).and_then(|mut parts| {
        parts.sort();
        parts::pack(&parts)
    });
    made.map_err(|what| Notes::of(sheets[0].table.name()).end(what))
}

fn make(sheets: &[Sheet<'_>]) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    let properties = DocProperties::new().set_creation_datetime(&ExcelDateTime::from_ymd(YEAR, 1, 1)?);
    workbook.set_properties(&properties);
    for Sheet { table, title, integers } in sheets {
        let sheet = workbook.add_worksheet();
        sheet.set_name(table.name())?;
        let mut at = 0;
        if let Some(title) = title {
            sheet.write_string(at, 0, *title)?;
            at += 1;
        }
        row(sheet, at, table.header().iter().map(|name| (&**name, false)))?;
        let is_integer: Vec<bool> = table.header().iter().map(|name| integers.contains(&&**name)).collect();
        for cells in table.rows() {
            at += 1;
            row(sheet, at, cells.iter().map(|cell| &**cell).zip(is_integer.iter().copied()))?;
        }
    }
    workbook.save_to_buffer()
}

fn row<'a>(sheet: &mut Worksheet, at: u32, cells: impl Iterator<Item = (&'a str, bool)>) -> Result<(), XlsxError> {
    for (column, (cell, is_integer)) in (0..).zip(cells) {
        match number::whole_of_sheet(cell).filter(|_| is_integer) {
            Some(number) => sheet.write_number(at, column, number)?,
            None => sheet.write_string(at, column, cell)?,
        };
    }
    Ok(())
}

/// Notes what a sheet cannot carry.
fn check(Sheet { table, title, .. }: &Sheet<'_>, notes: &mut Notes) {
    let name = table.name();
    let units = name.encode_utf16().count();
    if !(1..=31).contains(&units) || name.contains(['[', ']', ':', '*', '?', '/', '\\']) || has_control(name, false) {
        notes.whole(What::Cannot(
            "the name of a sheet has 1 to 31 characters, none of `[]:*?/\\` and none that cannot be seen",
        ));
    } else if name.starts_with('\'') || name.ends_with('\'') {
        notes.whole(What::Cannot("the name of a sheet begins and ends with no apostrophe"));
    }
    if *title == Some("") {
        notes.whole(What::Cannot("a title above a table is not empty"));
    }
    if let Some(why) = title.and_then(refuses) {
        notes.whole(What::Cannot(why));
    }
    if table.header().len() > SHEET_COLUMNS {
        notes.whole(What::TooMany { of: "columns", most: SHEET_COLUMNS });
    }
    if table.rows().len() > SHEET_ROWS - 2 {
        notes.whole(What::TooMany { of: "rows", most: SHEET_ROWS - 2 });
    }
    let rows = table.rows().iter().enumerate().map(|(at, row)| (Some(at + 1), &**row));
    for (row, cells) in std::iter::once((None, table.header())).chain(rows) {
        for (column, cell) in table.header().iter().zip(cells) {
            if let Some(why) = refuses(cell) {
                notes.tell(row, Some(column), What::Cannot(why));
            }
        }
    }
    if table.rows().last().is_some_and(|row| row.iter().all(String::is_empty)) {
        notes.tell(Some(table.rows().len()), None, What::Cannot("a sheet cannot end in a row that is empty"));
    }
}

/// Why a text cannot stand in a cell.
fn refuses(text: &str) -> Option<&'static str> {
    if has_control(text, true) {
        Some("a cell of a sheet has no control character but tab and newline, nor U+FFFE and U+FFFF")
    } else if text.len() > 32_767 && text.encode_utf16().count() > 32_767 {
        Some("a cell of a sheet has at most 32,767 UTF-16 units")
    } else if text.starts_with("<r>") && text.ends_with("</r>") {
        Some("a text that begins with `<r>` and ends in `</r>` would be taken for markup of the sheet")
    } else {
        None
    }
}

fn has_control(text: &str, blanks: bool) -> bool {
    let is_blank = |letter: char| blanks && matches!(letter, '\t' | '\n');
    text.chars().any(|letter| (letter < ' ' && !is_blank(letter)) || matches!(letter, '\u{fffe}' | '\u{ffff}'))
}
