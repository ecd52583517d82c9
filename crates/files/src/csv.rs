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
use ::csv::{ByteRecord, ReaderBuilder, Terminator, WriterBuilder};
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
    let mut writer =
        WriterBuilder::new().delimiter(dialect.separator()).terminator(Terminator::Any(b'\n')).from_writer(Vec::new());
    for (_, cells) in all {
        if writer.write_record(cells).is_err() {
            return Err(notes.end(What::Cannot("there is no memory for the file")));
        }
    }
    let text = writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| notes.end(What::Cannot("there is no memory for the file")))
}

/// The table of a file. It is called as the file is, without folders and ending.
pub fn read(file: &str, bytes: &[u8], dialect: Dialect, limits: &Limits) -> Result<Table, Faults> {
    let mut notes = Notes::of(file);
    if !limits.admit(bytes, &mut notes) {
        return Err(notes.faults);
    }
    let Scanned { lines, mut quotes } = scan(bytes, dialect.separator());
    let mut reader =
        ReaderBuilder::new().delimiter(dialect.separator()).has_headers(false).flexible(true).from_reader(bytes);
    let mut record = ByteRecord::new();
    let mut header: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    for line in lines {
        // A reader of memory does not fail, and rows of all lengths are taken.
        if !reader.read_byte_record(&mut record).unwrap_or(false) {
            break;
        }
        let broken = quotes.remove(&line);
        let names = header.as_deref().unwrap_or_default();
        let label = |at: usize| names.get(at).cloned().unwrap_or_else(|| (at + 1).to_string());
        for (at, what) in broken.iter().flatten() {
            notes.tell(Some(line), Some(&label(*at)), what.clone());
        }
        if header.is_none() && !limits.admit_columns(record.len(), Some(line), &mut notes) {
            return Err(notes.faults);
        }
        if header.is_some() && rows.len() == limits.rows {
            notes.whole(What::TooMany { of: "rows", most: limits.rows });
            break;
        }
        if rows.len().saturating_mul(names.len()) > limits.cells() {
            notes.whole(What::TooMany { of: "cells", most: limits.cells() });
            break;
        }
        // What a broken quote leaves of a row tells nothing about its length.
        if header.is_some() && broken.is_none() && record.len() != names.len() {
            notes.tell(Some(line), None, What::Ragged { found: record.len(), expected: names.len() });
            rows.push(Vec::new());
            continue;
        }
        let mut cells = Vec::with_capacity(record.len());
        for (at, cell) in record.iter().enumerate() {
            match std::str::from_utf8(cell) {
                Err(_) => notes.tell(Some(line), Some(&label(at)), What::NotUtf8),
                Ok(text) if text.contains('\0') => notes.tell(Some(line), Some(&label(at)), What::Nul),
                Ok(text) => {
                    limits.admit_cell(text, line, &label(at), &mut notes);
                    cells.push(text.to_owned());
                }
            }
        }
        match &header {
            Some(_) => rows.push(cells),
            None if cells.len() < record.len() => return Err(notes.faults),
            None => {
                check_header(&cells, Some(line), &mut notes);
                header = Some(cells);
            }
        }
    }
    let Some(header) = header else { return Err(notes.end(What::NoHeader)) };
    if !notes.faults.is_empty() {
        return Err(notes.faults);
    }
    Table::new(stem(file), header, rows)
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
