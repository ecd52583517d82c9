//! CSV as in RFC 4180, with `\n` at the end of a row, and with a comma or a semicolon between cells. Reading is strict about quotes, which
//! the crate `csv` is not: it takes a quote that is never closed for the rest of the file. A byte order mark at the beginning is passed
//! over, and so are lines with nothing in them.
//!
//! It cannot carry a NUL character, nor a first column whose name begins with a byte order mark.

use crate::{
    Faults, Limits, Table, What,
    fault::Notes,
    table::{check_header, stem},
};
use ::csv::{ByteRecord, ReaderBuilder, Terminator, Writer, WriterBuilder};
use std::collections::BTreeMap;

/// What stands between cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// A comma, as most programs write it.
    #[default]
    Comma,
    /// A semicolon, as programs write it where the comma stands in numbers.
    Semicolon,
}

impl Dialect {
    fn separator(self) -> u8 {
        match self {
            Dialect::Comma => b',',
            Dialect::Semicolon => b';',
        }
    }
}

const MARK: &str = "\u{feff}";

/// The text of a file with this table.
pub fn write(table: &Table, dialect: Dialect) -> Result<String, Faults> {
    let mut notes = Notes::of(table.name());
    let all = std::iter::once((None, table.header()))
        .chain(table.rows().iter().enumerate().map(|(at, row)| (Some(at + 1), &**row)));
    for (row, cells) in all.clone() {
        for (column, _) in table.header().iter().zip(cells).filter(|(_, cell)| cell.contains('\0')) {
            notes.tell(row, Some(column), What::Nul);
        }
    }
    if let Some(first) = table.header().first().filter(|first| first.starts_with(MARK)) {
        notes.tell(
            None,
            Some(first),
            What::Cannot("the first column of a CSV file cannot begin with a byte order mark"),
        );
    }
    if !notes.faults.is_empty() {
        return Err(notes.faults);
    }
    let mut writer = writer(dialect);
    for (_, cells) in all {
        if writer.write_record(cells).is_err() {
            return Err(notes.end(What::Cannot("there is no memory for the file")));
        }
    }
    let text = writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| notes.end(What::Cannot("there is no memory for the file")))
}

/// Rows of cells one after the other, whatever the first of them is: for whoever shows a sheet as it stands.
pub fn write_rows<'a>(rows: impl IntoIterator<Item = &'a [String]>, dialect: Dialect) -> Option<String> {
    let mut writer = writer(dialect);
    for cells in rows {
        writer.write_record(cells).ok()?;
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

fn writer(dialect: Dialect) -> Writer<Vec<u8>> {
    WriterBuilder::new()
        .delimiter(dialect.separator())
        .terminator(Terminator::Any(b'\n'))
        .flexible(true)
        .from_writer(Vec::new())
}

/// The table of a file. It is called as the file is, without folders and ending.
pub fn read(file: &str, bytes: &[u8], dialect: Dialect, limits: &Limits) -> Result<Table, Faults> {
    let Lines { header, rows, faults, .. } = lines(file, bytes, dialect, limits);
    if !faults.is_empty() {
        return Err(faults);
    }
    Table::new(stem(file), header, rows.into_iter().map(|(_, cells)| cells).collect())
}

/// What can be read of a file that may have faults, for whoever has more to say of its rows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines {
    /// The line of the header, mostly the first.
    pub top: usize,
    /// The names of the columns; none if they cannot be read.
    pub header: Vec<String>,
    /// The rows that are as long as the header and can be read, each with the line on which it begins.
    pub rows: Vec<(usize, Vec<String>)>,
    /// What is wrong with all others.
    pub faults: Faults,
}

/// The rows of a file with their lines, and its faults.
pub fn lines(file: &str, bytes: &[u8], dialect: Dialect, limits: &Limits) -> Lines {
    let mut notes = Notes::of(file);
    let mut read = Lines::default();
    if limits.admit(bytes, &mut notes) {
        let has_header = read_lines(bytes, dialect, limits, &mut read, &mut notes);
        if !has_header && notes.faults.is_empty() {
            notes.whole(What::NoHeader);
        }
    }
    read.faults = notes.faults;
    read
}

/// Reads rows and notes faults; gives whether there is a header.
fn read_lines(bytes: &[u8], dialect: Dialect, limits: &Limits, read: &mut Lines, notes: &mut Notes) -> bool {
    let Scanned { lines, mut quotes } = scan(bytes, dialect.separator());
    let mut reader =
        ReaderBuilder::new().delimiter(dialect.separator()).has_headers(false).flexible(true).from_reader(bytes);
    let mut record = ByteRecord::new();
    let mut has_header = false;
    let mut seen = 0;
    for line in lines {
        // A reader of memory does not fail, and rows of all lengths are taken.
        if !reader.read_byte_record(&mut record).unwrap_or(false) {
            break;
        }
        let broken = quotes.remove(&line);
        let names = &read.header;
        let label = |at: usize| names.get(at).cloned().unwrap_or_else(|| (at + 1).to_string());
        for (at, what) in broken.iter().flatten() {
            notes.tell(Some(line), Some(&label(*at)), what.clone());
        }
        if !has_header && !limits.admit_columns(record.len(), Some(line), notes) {
            return false;
        }
        if has_header && seen == limits.rows {
            notes.whole(What::TooMany { of: "rows", most: limits.rows });
            break;
        }
        if seen.saturating_mul(names.len()) > limits.cells() {
            notes.whole(What::TooMany { of: "cells", most: limits.cells() });
            break;
        }
        seen += usize::from(has_header);
        // What a broken quote leaves of a row tells nothing about its length.
        if has_header && record.len() != names.len() {
            if broken.is_none() {
                notes.tell(Some(line), None, What::Ragged { found: record.len(), expected: names.len() });
            }
            continue;
        }
        let mut cells = Vec::with_capacity(record.len());
        for (at, cell) in record.iter().enumerate() {
            match std::str::from_utf8(cell) {
                Err(_) => notes.tell(Some(line), Some(&label(at)), What::NotUtf8),
                Ok(text) if text.contains('\0') => notes.tell(Some(line), Some(&label(at)), What::Nul),
                Ok(text) if limits.admit_cell(text, line, &label(at), notes) => cells.push(text.to_owned()),
                Ok(_) => {}
            }
        }
        let is_whole = cells.len() == record.len() && broken.is_none();
        if !has_header {
            if cells.len() < record.len() {
                return false;
            }
            check_header(&cells, Some(line), notes);
            (read.top, read.header, has_header) = (line, cells, true);
        } else if is_whole {
            read.rows.push((line, cells));
        }
    }
    has_header
}

/// What the crate `csv` does not tell: on which line each row begins, and which quotes stand where none can, by line, with their column.
struct Scanned {
    lines: Vec<usize>,
    quotes: BTreeMap<usize, Vec<(usize, What)>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Row,
    Cell,
    Plain,
    Quoted,
    /// After a quote in a quoted cell: the cell ends here, or the quote is one of two.
    Closing,
}

fn scan(bytes: &[u8], separator: u8) -> Scanned {
    let bytes = bytes.strip_prefix(MARK.as_bytes()).unwrap_or(bytes);
    let mut scanned = Scanned { lines: Vec::new(), quotes: BTreeMap::new() };
    let (mut at, mut line, mut column, mut begun) = (At::Row, 1, 0, 1);
    let mut bytes = bytes.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let is_end = byte == b'\n' || byte == b'\r';
        if at == At::Row && !is_end {
            scanned.lines.push(line);
            (begun, column, at) = (line, 0, At::Cell);
        }
        at = match (at, byte) {
            (At::Quoted, b'"') => At::Closing,
            (At::Quoted, _) => At::Quoted,
            (At::Closing, b'"') => At::Quoted,
            (At::Cell, b'"') => At::Quoted,
            (_, byte) if byte == separator => {
                column += 1;
                At::Cell
            }
            _ if is_end => At::Row,
            (At::Closing, _) | (At::Plain, b'"') => {
                scanned.quotes.entry(begun).or_default().push((column, What::StrayQuote));
                At::Plain
            }
            _ => At::Plain,
        };
        // A return and the newline after it are one end of a line.
        if byte == b'\n' || (byte == b'\r' && bytes.peek() != Some(&b'\n')) {
            line += 1;
        }
    }
    if at == At::Quoted {
        scanned.quotes.entry(begun).or_default().push((column, What::Unclosed));
    }
    scanned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> String {
        read("d/t.csv", bytes, Dialect::Comma, &Limits::default()).unwrap_err().to_string()
    }

    #[test]
    fn every_fault_is_told_with_its_row_and_column() {
        let bytes = b"a,b\n\"x\ny\",1\n\n2\n3,\xff\n4,\0\n5,6,7\n\"8\"8,9\n8,9\"\n";
        assert_eq!(
            told(bytes),
            "d/t.csv, row 5: it has 1 cell, and the header has 2\n\
             d/t.csv, row 6, column `b`: it is not UTF-8\n\
             d/t.csv, row 7, column `b`: there is a NUL character\n\
             d/t.csv, row 8: it has 3 cells, and the header has 2\n\
             d/t.csv, row 9, column `a`: a quote stands inside a cell; quote the whole cell and double the quotes in it\n\
             d/t.csv, row 10, column `b`: a quote stands inside a cell; quote the whole cell and double the quotes in it"
        );
        assert_eq!(
            told(b"a,b\n1,2\n3,\"4\n5,6\n"),
            "d/t.csv, row 3, column `b`: a quote is opened here and never closed"
        );
        assert_eq!(
            told(b"a,,a\n"),
            "d/t.csv, row 1, column `2`: the column has no name\nd/t.csv, row 1, column `3`: two columns are called `a`"
        );
        assert_eq!(told(b"\xef\xbb\xbf\n\r\n"), "d/t.csv: there is no header");
    }

    #[test]
    fn sound_rows_are_read_beside_broken_ones() {
        let read = |bytes: &[u8]| lines("t.csv", bytes, Dialect::Comma, &Limits::default());
        let got = read(b"\n\na,b\n\"x\ny\",1\n\n2\n3,\xff\n4,\0\n5,6\n7,8\"\n");
        assert_eq!((got.top, got.header.join(",")), (3, "a,b".to_owned()));
        let rows: Vec<(usize, String)> = got.rows.iter().map(|(line, cells)| (*line, cells.join("|"))).collect();
        assert_eq!(rows, [(4, "x\ny|1".to_owned()), (10, "5|6".to_owned())]);
        let broken: Vec<Option<usize>> = got.faults.listed().iter().map(|fault| fault.row).collect();
        assert_eq!(broken, [7, 8, 9, 11].map(Some));
        assert_eq!(read(b"").faults.listed()[0].what, What::NoHeader);
        assert_eq!(read(b"a,\xff\n1,2\n").rows, []);
    }

    #[test]
    fn rows_are_written_as_they_stand() {
        let rows = [vec!["Forecast".to_owned()], vec!["a,b".to_owned(), "x\ny".to_owned()], vec![String::new()]];
        let text = write_rows(rows.iter().map(|cells| &**cells), Dialect::Comma).unwrap();
        assert_eq!(text, "Forecast\n\"a,b\",\"x\ny\"\n\"\"\n");
    }

    #[test]
    fn a_hundred_faults_are_listed_and_the_others_counted() {
        let faults =
            read("t", &[b"a,b\n".as_slice(), &b"1\n".repeat(250)].concat(), Dialect::Comma, &Limits::default())
                .unwrap_err();
        assert_eq!((faults.listed().len(), faults.more()), (100, 150));
        assert!(faults.to_string().ends_with("row 101: it has 1 cell, and the header has 2\nand 150 more"));
    }

    #[test]
    fn returns_and_byte_order_marks_of_other_programs_are_read() {
        let table =
            read("t.csv", b"\xef\xbb\xbfa;b\r\n1,5;\"x;y\"\r\n", Dialect::Semicolon, &Limits::default()).unwrap();
        assert_eq!((table.header().join("|"), table.rows()[0].join("|")), ("a|b".into(), "1,5|x;y".into()));
    }

    #[test]
    fn limits_hold() {
        let limits = Limits { bytes: 40, unpacked: 24 * 4, rows: 2, columns: 2, cell: 3 };
        let told = |bytes: &[u8]| read("t", bytes, Dialect::Comma, &limits).map_err(|faults| faults.to_string());
        assert!(told(b"a,b\n1,2\n3,4\n").is_ok());
        assert_eq!(told(&[b'a'; 41]), Err("t: there are more than 40 bytes".into()));
        assert_eq!(told(b"a,b\n1,2\n3,4\n5,6\n"), Err("t: there are more than 2 rows".into()));
        assert_eq!(told(b"a,b,c\n"), Err("t, row 1: there are more than 2 columns".into()));
        assert_eq!(told(b"a,b\n1,2345\n"), Err("t, row 2, column `b`: there are more than 3 bytes in the cell".into()));
    }
}
