//! Workbooks read. Cells are taken one by one as they stand in the file: a file of a few hundred bytes can have a cell in the last row and
//! column of a sheet, and a table of all that is between would not fit anywhere.

use super::parts;
use crate::{Faults, Limits, Table, What, fault::Notes, number, table::check_header};
use calamine::{DataRef, ExcelDateTime, Reader as _, SheetType, Xlsx, XlsxError};
use std::{collections::BTreeMap, fmt, io::Cursor};

/// A workbook of somebody's, within limits.
pub struct Workbook {
    file: String,
    limits: Limits,
    book: Xlsx<Cursor<Vec<u8>>>,
}

impl fmt::Debug for Workbook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workbook").field("file", &self.file).field("sheets", &self.sheets()).finish_non_exhaustive()
    }
}

/// A table as it stands on a sheet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Titled {
    /// The title in the row above the header, if one was asked for.
    pub title: Option<String>,
    /// The table, called as the sheet is.
    pub table: Table,
}

/// What stands in the cells of a sheet, by row and column from 0; empty cells are not there.
type Grid = BTreeMap<usize, BTreeMap<usize, Result<String, What>>>;

impl Workbook {
    /// Opens a workbook.
    pub fn open(file: &str, bytes: &[u8], limits: &Limits) -> Result<Workbook, Faults> {
        let mut notes = Notes::of(file);
        if !limits.admit(bytes, &mut notes) {
            return Err(notes.faults);
        }
        // The archive is made anew, so that nothing is read but what was looked at.
        let parts = parts::unpack(bytes, limits.unpacked).and_then(|parts| parts::pack(&parts));
        let book =
            parts.and_then(|bytes| Xlsx::new(Cursor::new(bytes)).map_err(|error| What::NotXlsx(error.to_string())));
        match book {
            Ok(book) => Ok(Workbook { file: file.to_owned(), limits: *limits, book }),
            Err(what) => Err(notes.end(what)),
        }
    }

    /// The names of its sheets of cells, in their order.
    pub fn sheets(&self) -> Vec<String> {
        let sheets = self.book.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
        sheets.map(|sheet| sheet.name.clone()).collect()
    }

    /// The table on a sheet: its header stands in the first row, or in the second if there is a title above it, and begins in the first
    /// column. A number is told to the 15 digits that a spreadsheet shows, a date as `2026-03-02`, a time as `06:30:00`, both as
    /// `2026-03-02T06:30:00`, a truth as `true` or `false`, a formula by what it came to. Empty rows at the end are none.
    pub fn table(&mut self, sheet: &str, has_title: bool) -> Result<Titled, Faults> {
        let mut notes = Notes::sheet(&self.file, sheet);
        let names = self.sheets();
        if !names.iter().any(|name| name == sheet) {
            return Err(notes.end(What::NoSheet(names.join(", "))));
        }
        let above = usize::from(has_title) + 1;
        match self.grid(sheet, above) {
            Err(what) => Err(notes.end(what)),
            Ok(mut grid) => {
                let title = if has_title { title(grid.remove(&0).unwrap_or_default(), &mut notes) } else { None };
                let table = self.lay_out(sheet, grid, above, notes)?;
                Ok(Titled { title, table })
            }
        }
    }

    /// What stands on a sheet, row by row from the first, whether it is a table or not. Rows end with their last cell that is not empty,
    /// and the sheet with its last row that is not.
    pub fn cells(&mut self, sheet: &str) -> Result<Vec<Vec<String>>, Faults> {
        let mut notes = Notes::sheet(&self.file, sheet);
        let names = self.sheets();
        if !names.iter().any(|name| name == sheet) {
            return Err(notes.end(What::NoSheet(names.join(", "))));
        }
        let grid = match self.grid(sheet, 2) {
            Err(what) => return Err(notes.end(what)),
            Ok(grid) => grid,
        };
        let widths = grid.values().filter_map(|cells| cells.last_key_value()).map(|(column, _)| column + 1);
        let height = grid.last_key_value().map_or(0, |(row, _)| row + 1);
        if widths.sum::<usize>().saturating_add(height) > self.limits.cells() {
            return Err(notes.end(What::TooMany { of: "cells", most: self.limits.cells() }));
        }
        let mut rows = vec![Vec::new(); height];
        for (row, cells) in grid {
            let width = cells.last_key_value().map_or(0, |(column, _)| column + 1);
            rows[row] = vec![String::new(); width];
            for (column, cell) in cells {
                match cell {
                    Ok(text) => rows[row][column] = text,
                    Err(what) => notes.tell(Some(row + 1), Some(&(column + 1).to_string()), what),
                }
            }
        }
        notes.faults.or(rows)
    }

    /// All sheets, some of which have a title.
    pub fn tables(&mut self, has_title: impl Fn(&str) -> bool) -> Result<Vec<Titled>, Faults> {
        let mut faults = Faults::default();
        let mut tables = Vec::new();
        for sheet in self.sheets() {
            match self.table(&sheet, has_title(&sheet)) {
                Ok(table) => tables.push(table),
                Err(others) => faults.extend(others),
            }
        }
        faults.or(tables)
    }

    fn grid(&mut self, sheet: &str, above: usize) -> Result<Grid, What> {
        let not_xlsx = |error: XlsxError| What::NotXlsx(error.to_string());
        let Limits { unpacked, rows, columns, cell: longest, .. } = self.limits;
        let mut cells = self.book.worksheet_cells_reader(sheet).map_err(not_xlsx)?;
        let mut grid = Grid::new();
        let mut left = unpacked;
        while let Some(cell) = cells.next_cell().map_err(not_xlsx)? {
            let (row, column) = cell.get_position();
            // It is measured before it is copied: any number of cells can name the same long text.
            let text = text(cell.get_value(), longest);
            let size = match &text {
                Some(Ok(text)) if text.is_empty() => continue,
                Some(Ok(text)) => text.len(),
                Some(Err(_)) => 0,
                None => continue,
            };
            let (row, column) = (row as usize, column as usize);
            if row >= rows.saturating_add(above) {
                return Err(What::TooMany { of: "rows", most: rows });
            }
            if column >= columns {
                return Err(What::TooMany { of: "columns", most: columns });
            }
            left = left.checked_sub(size).ok_or(What::TooMany { of: "bytes in all cells", most: unpacked })?;
            if grid.entry(row).or_default().insert(column, text.unwrap_or_else(|| Ok(String::new()))).is_some() {
                return Err(What::NotXlsx("two cells are in one place".to_owned()));
            }
        }
        Ok(grid)
    }

    fn lay_out(&self, sheet: &str, mut grid: Grid, above: usize, mut notes: Notes) -> Result<Table, Faults> {
        let names = grid.remove(&(above - 1)).unwrap_or_default();
        let width = names.last_key_value().map_or(0, |(column, _)| column + 1);
        let mut header = vec![String::new(); width];
        for (column, name) in names {
            match name {
                Ok(name) => header[column] = name,
                Err(what) => notes.tell(Some(above), Some(&(column + 1).to_string()), what),
            }
        }
        // A name that could not be read was told already.
        if notes.faults.is_empty() {
            check_header(&header, Some(above), &mut notes);
        }
        if header.is_empty() {
            return Err(notes.faults);
        }
        let height = grid.last_key_value().map_or(0, |(row, _)| row + 1 - above);
        if height.saturating_mul(width) > self.limits.cells() {
            return Err(notes.end(What::TooMany { of: "cells", most: self.limits.cells() }));
        }
        let mut rows = vec![vec![String::new(); width]; height];
        for (row, cells) in grid {
            for (column, cell) in cells {
                match (cell, header.get(column)) {
                    (Err(what), Some(name)) => notes.tell(Some(row + 1), Some(name), what),
                    (Ok(text), Some(_)) => rows[row - above][column] = text,
                    (_, None) => {
                        notes.tell(Some(row + 1), None, What::Ragged { found: column + 1, expected: width });
                        break;
                    }
                }
            }
        }
        if !notes.faults.is_empty() {
            return Err(notes.faults);
        }
        Table::new(sheet, header, rows)
    }
}

/// The title: the one cell of the first row.
fn title(cells: BTreeMap<usize, Result<String, What>>, notes: &mut Notes) -> Option<String> {
    if let Some((column, _)) = cells.last_key_value().filter(|(column, _)| **column > 0) {
        notes.tell(Some(1), None, What::Ragged { found: column + 1, expected: 1 });
    }
    match cells.into_values().next() {
        Some(Ok(title)) => return Some(title),
        Some(Err(what)) => notes.tell(Some(1), Some("1"), what),
        None => notes.tell(Some(1), None, What::Cannot("there is no title above the header")),
    }
    None
}

/// What a cell says. None if it is empty.
fn text(value: &DataRef<'_>, longest: usize) -> Option<Result<String, What>> {
    let long = What::NoText("a number too large or too small to be written out");
    let said = match value {
        DataRef::Empty => return None,
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            return Some(within(text, longest));
        }
        DataRef::SharedString(text) => return Some(within(text, longest)),
        DataRef::Int(number) => Ok(number.to_string()),
        DataRef::Float(number) => number::plain_of_sheet(*number).ok_or(long),
        DataRef::Bool(truth) => Ok(truth.to_string()),
        DataRef::DateTime(time) => instant(time),
        DataRef::Error(_) => Err(What::NoText("an error")),
    };
    Some(said)
}

fn within(text: &str, longest: usize) -> Result<String, What> {
    if text.len() > longest {
        return Err(What::TooMany { of: "bytes in the cell", most: longest });
    }
    if text.contains('\0') { Err(What::Nul) } else { Ok(text.to_owned()) }
}

/// A date, a time of day, or both.
fn instant(time: &ExcelDateTime) -> Result<String, What> {
    /// The days that a spreadsheet counts, up to the end of the year 9999.
    const DAYS: f64 = 2_958_466.0;
    let days = time.as_f64();
    if time.is_duration() || !(0.0..DAYS).contains(&days) {
        return Err(What::NoText("a duration, or a date that no calendar has"));
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    Ok(match (days < 1.0, days.fract() == 0.0) {
        (true, _) => clock,
        (false, true) => date,
        (false, false) => format!("{date}T{clock}"),
    })
}
