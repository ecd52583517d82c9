//! Files on their way: tables of texts, and what they are made from.

use crate::{
    layout::{Kind, Layout},
    records::{Cell, Records},
    written::{TrapText, Written},
};
use benchwright_schema::Table;

/// A table of texts on its way into a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// The columns of whole numbers.
    pub(crate) integers: Vec<String>,
}

impl Sheet {
    pub(crate) fn column(&self, name: &str) -> Result<usize, String> {
        let found = self.header.iter().position(|known| known == name);
        found.ok_or_else(|| format!("`{}` has no column `{name}`", self.name))
    }
}

/// A file on its way.
pub(crate) struct Draft {
    pub(crate) path: String,
    pub(crate) says: String,
    /// The stage from which on it is there.
    pub(crate) stage: i64,
    pub(crate) sheets: Vec<Sheet>,
    /// What columns mean that traps have added: sheet, column, meaning.
    pub(crate) added: Vec<(String, String, String)>,
}

/// What files are made from.
pub(crate) struct Source<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) written: &'a Written,
    /// The forms to hand in.
    pub(crate) forms: Vec<&'a Table>,
    pub(crate) records: &'a Records,
    /// The records that what is random in files follows from: those of a twin are its original's, so that they differ in one figure.
    pub(crate) before: &'a Records,
    pub(crate) traps: Vec<&'a TrapText>,
}

/// A cell as it stands in a file.
pub(crate) fn text(kind: Kind, cell: &Cell) -> String {
    match (kind, cell) {
        (_, Cell::None) => String::new(),
        (_, Cell::Text(text)) => text.clone(),
        (Kind::Money, Cell::Number(cents)) => decimal(*cents, 100, 2),
        (Kind::Quantity, Cell::Number(number)) => {
            decimal(*number, 1_000, 3).trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        (Kind::Bool, Cell::Number(number)) => if *number == 0 { "no" } else { "yes" }.to_owned(),
        (_, Cell::Number(number)) => number.to_string(),
    }
}

fn decimal(number: i64, of: u64, digits: usize) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let size = number.unsigned_abs();
    format!("{sign}{}.{:0digits$}", size / of, size % of)
}
