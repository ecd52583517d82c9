//! What is wrong with a file, and where. A reader goes on after a fault wherever it can, so that whoever mends a file sees all of them at
//! once; of a file that is wrong everywhere the first hundred are listed and the others counted.

use std::fmt;

/// The most faults that are listed.
pub const LISTED: usize = 100;

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The file, as whoever asked calls it; the table, where one cannot be written.
    pub file: String,
    /// The sheet of a workbook, or the table of a file that has several.
    pub sheet: Option<String>,
    /// From 1: the line of a text file where the row begins, the row of a sheet, the number of an object in its list. Of a table
    /// that cannot be written: the number of the row, without the header.
    pub row: Option<usize>,
    /// The column's name, or its number from 1 where it has none.
    pub column: Option<String>,
    /// What it is.
    pub what: What,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(sheet) = &self.sheet {
            write!(f, ", sheet `{sheet}`")?;
        }
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column `{column}`")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// What can be wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum What {
    /// There is no header.
    #[error("there is no header")]
    NoHeader,
    /// A column has no name.
    #[error("the column has no name")]
    Unnamed,
    /// Two columns have one name.
    #[error("two columns are called `{0}`")]
    Twice(String),
    /// A row is longer or shorter than the header.
    #[error("it has {found} {}, and the header has {expected}", if *.found == 1 { "cell" } else { "cells" })]
    Ragged {
        /// How many cells it has.
        found: usize,
        /// How many columns there are.
        expected: usize,
    },
    /// There is more than is read.
    #[error("there are more than {most} {of}")]
    TooMany {
        /// Of what.
        of: &'static str,
        /// How many are read.
        most: usize,
    },
    /// The text is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// There is a NUL character.
    #[error("there is a NUL character")]
    Nul,
    /// A quote is opened and never closed.
    #[error("a quote is opened here and never closed")]
    Unclosed,
    /// A quote where none can stand.
    #[error("a quote stands inside a cell; quote the whole cell and double the quotes in it")]
    StrayQuote,
    /// The form has no room for it.
    #[error("{0}")]
    Cannot(&'static str),
    /// This is no workbook.
    #[error("this is not a workbook that can be read: {0}")]
    NotXlsx(String),
    /// There is no such sheet.
    #[error("there is no sheet of this name; there are {0}")]
    NoSheet(String),
    /// A cell has no text.
    #[error("the cell holds {0}, not a text or a number")]
    NoText(&'static str),
    /// This is no JSON.
    #[error("this is not JSON: {0}")]
    NotJson(String),
    /// A key is there twice.
    #[error("`{path}` is there twice")]
    KeyTwice {
        /// Where.
        path: String,
    },
    /// A key is missing.
    #[error("`{path}` is missing")]
    KeyMissing {
        /// Where.
        path: String,
    },
    /// A key that the others have not.
    #[error("`{path}` is none of the columns")]
    KeyUnknown {
        /// Where.
        path: String,
    },
    /// Lists and objects inside each other beyond what a table needs.
    #[error("`{path}` is nested deeper than {most} levels")]
    TooDeep {
        /// Where.
        path: String,
        /// How deep it may be.
        most: usize,
    },
    /// Something else stands there.
    #[error("`{path}` is {found}; it must be {expected}")]
    Mistyped {
        /// Where.
        path: String,
        /// What is there.
        found: &'static str,
        /// What must be there.
        expected: &'static str,
    },
    /// There is no such heading.
    #[error("there is no heading `{0}`")]
    NoHeading(String),
    /// There is no table.
    #[error("there is no table")]
    NoTable,
}

/// All that is wrong, in the order in which it was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Faults {
    listed: Vec<Fault>,
    more: usize,
}

impl Faults {
    /// Those that are listed, at most a hundred.
    pub fn listed(&self) -> &[Fault] {
        &self.listed
    }

    /// How many there are beyond those that are listed.
    pub fn more(&self) -> usize {
        self.more
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// How many there are in all.
    pub fn count(&self) -> usize {
        self.listed.len() + self.more
    }

    /// Adds one.
    pub fn push(&mut self, fault: Fault) {
        if self.listed.len() < LISTED {
            self.listed.push(fault);
        } else {
            self.more += 1;
        }
    }

    /// Adds all of another file's.
    pub fn extend(&mut self, others: Faults) {
        self.more += others.more;
        others.listed.into_iter().for_each(|fault| self.push(fault));
    }

    /// The value, if there is no fault.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Faults> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.listed.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// Where faults are noted while one file, or one sheet of it, is read or written.
pub(crate) struct Notes {
    file: String,
    sheet: Option<String>,
    pub(crate) faults: Faults,
}

impl Notes {
    pub(crate) fn of(file: &str) -> Notes {
        Notes { file: file.to_owned(), sheet: None, faults: Faults::default() }
    }

    pub(crate) fn sheet(file: &str, sheet: &str) -> Notes {
        Notes { sheet: Some(sheet.to_owned()), ..Notes::of(file) }
    }

    /// From here on it is about a sheet, or about the whole file.
    pub(crate) fn turn_to(&mut self, sheet: Option<&str>) {
        self.sheet = sheet.map(str::to_owned);
    }

    /// Notes a fault.
    pub(crate) fn tell(&mut self, row: Option<usize>, column: Option<&str>, what: What) {
        let (file, sheet) = (self.file.clone(), self.sheet.clone());
        self.faults.push(Fault { file, sheet, row, column: column.map(str::to_owned), what });
    }

    /// Notes a fault of the file as a whole.
    pub(crate) fn whole(&mut self, what: What) {
        self.tell(None, None, what);
    }

    /// Ends with one last fault of the file as a whole.
    pub(crate) fn end(mut self, what: What) -> Faults {
        self.whole(what);
        self.faults
    }
}
