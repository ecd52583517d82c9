//! A table: a name, a header and rows of texts. Every column has a name of its own and every row a cell for each.

use crate::{Faults, What, fault::Notes};
use std::collections::BTreeSet;

/// A table of texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    name: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table. Faults are told by the number of the row, without the header.
    pub fn new(name: impl Into<String>, header: Vec<String>, rows: Vec<Vec<String>>) -> Result<Table, Faults> {
        let name = name.into();
        let mut notes = Notes::of(&name);
        check_header(&header, None, &mut notes);
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.len() != header.len()) {
            notes.tell(Some(at + 1), None, What::Ragged { found: row.len(), expected: header.len() });
        }
        notes.faults.or(Table { name, header, rows })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Its rows.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// The place of a column, from 0.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }

    /// The cell of a row, from 0, in a column.
    pub fn cell(&self, row: usize, column: &str) -> Option<&str> {
        let at = self.column(column)?;
        Some(self.rows.get(row)?.get(at)?)
    }

    /// The same table under another name.
    pub fn named(self, name: impl Into<String>) -> Table {
        Table { name: name.into(), ..self }
    }

    /// Its header and rows, to make another of them.
    pub fn into_parts(self) -> (Vec<String>, Vec<Vec<String>>) {
        (self.header, self.rows)
    }
}

/// Notes what is wrong with a header.
pub(crate) fn check_header(header: &[String], row: Option<usize>, notes: &mut Notes) {
    if header.is_empty() {
        notes.tell(row, None, What::NoHeader);
    }
    let mut seen = BTreeSet::new();
    for (at, name) in header.iter().enumerate() {
        if name.is_empty() {
            notes.tell(row, Some(&(at + 1).to_string()), What::Unnamed);
        } else if !seen.insert(name) {
            notes.tell(row, Some(&(at + 1).to_string()), What::Twice(name.clone()));
        }
    }
}

/// The name of the table in a file that tells none: that of the file, without folders and ending.
pub(crate) fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_rectangular_and_its_columns_have_names_of_their_own() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let table = Table::new("t", texts(&["a", "b"]), vec![texts(&["1", "2"])]).unwrap();
        assert_eq!((table.cell(0, "b"), table.cell(1, "b"), table.cell(0, "c")), (Some("2"), None, None));
        let faults = Table::new("t", texts(&["a", "", "a"]), vec![texts(&["1", "2", "3"]), texts(&["1"])]).unwrap_err();
        assert_eq!(
            faults.to_string(),
            "t, column `2`: the column has no name\nt, column `3`: two columns are called `a`\n\
             t, row 2: it has 1 cell, and the header has 3"
        );
        assert_eq!(Table::new("t", Vec::new(), Vec::new()).unwrap_err().listed()[0].what, What::NoHeader);
    }

    #[test]
    fn the_name_of_a_file_is_that_of_its_table() {
        for (file, name) in [("data/a.b.csv", "a.b"), ("a", "a"), (".csv", ".csv"), ("x\\y.xlsx", "y"), ("", "")] {
            assert_eq!(stem(file), name);
        }
    }
}
