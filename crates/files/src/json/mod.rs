//! JSON: a table as a list of objects, several tables as an object of such lists, and two tables as documents, each with the list of its
//! lines inside it. Keys stand in the order of the header. In a column of whole numbers these are numbers and an empty cell is null;
//! whatever else is there, and in all other columns, is text.
//!
//! It cannot carry the header of a table without rows, which whoever reads it must then expect; two tables of one name; and lines that do
//! not stand in the order of their documents.

mod read;
mod tree;
mod write;

pub use read::{Expect, read, read_all, read_nested};
pub use write::{Form, write, write_all, write_nested};

/// Two tables as documents with their lines: which column of both tells which line belongs to which document. It is the first column of
/// the lines, and not written with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nesting<'a> {
    /// What the list of lines is called in a document. This is the name of their table, too.
    pub lines: &'a str,
    /// The column by which a document is known.
    pub key: &'a str,
}
