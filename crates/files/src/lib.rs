//! Tables of texts to and from files: CSV, XLSX, JSON and Markdown. A table is a name, a header and rows of texts; what a text means, a
//! unit, a date, a code, is for whoever asks. Whatever is written here reads back as it was, and the same table gives the same bytes on
//! every machine; what a form cannot carry is refused when it is written. What is read may come from anybody: it is held to limits, and
//! every fault is told with its file, its row and its column.
//!
//! ```
//! use benchwright_files::{Dialect, Limits, Table, csv};
//!
//! let header = vec!["item".to_owned(), "qty".to_owned()];
//! let table = Table::new("demand", header, vec![vec!["A-1".to_owned(), "12".to_owned()]]).expect("it is rectangular");
//! let text = csv::write(&table, Dialect::Comma).expect("a CSV file can carry it");
//! assert_eq!(text, "item,qty\nA-1,12\n");
//! assert_eq!(csv::read("data/demand.csv", text.as_bytes(), Dialect::Comma, &Limits::default()), Ok(table));
//!
//! let faults = csv::read("data/demand.csv", b"item,qty\nA-1\n", Dialect::Comma, &Limits::default()).expect_err("a cell is missing");
//! assert_eq!(faults.to_string(), "data/demand.csv, row 2: it has 1 cell, and the header has 2");
//! ```

mod fault;
mod limits;
mod number;
mod table;

pub mod csv;
pub mod json;
pub mod markdown;
pub mod xlsx;

pub use csv::Dialect;
pub use fault::{Fault, Faults, LISTED, What};
pub use limits::Limits;
pub use table::Table;
