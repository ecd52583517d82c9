//! Names that native code uses. A domain's tables are declared in TOML and its native tools are written in Rust, so the Rust
//! must name tables, columns and words of enums that another file declares. A crate lists those names once, with
//! [`names!`](crate::names!), and gets a type for each. A name that is not in the list, or a column of another table, does
//! not compile; a name in the list that the domain does not declare is a [`NamesError`] when a world is made. What is left at
//! run time is an index into a table of fields: no text is compared.
//!
//! ```
//! use benchwright_base::{RowId, Value};
//! use benchwright_pack::Refusal;
//! use benchwright_sandbox::{NativeCall, cell};
//!
//! mod names {
//!     benchwright_sandbox::names! {
//!         tables { paper, shelf }
//!         columns { copies of paper; state of paper, shelf; }
//!         words { sold_out of paper.state; }
//!         arguments { paper }
//!     }
//! }
//! use names::{a, c, t, w};
//!
//! fn sell(call: &mut NativeCall<'_, '_>) -> Result<Value, Refusal> {
//!     let paper = call.row(t::paper, call.reference(a::paper)?)?;
//!     let over = call.word(t::paper, c::state, w::sold_out);
//!     call.update(t::paper, paper.id(), &[cell(c::copies, Value::Int(0)), cell(c::state, over)])?;
//!     Ok(paper.get(c::copies))
//! }
//! ```
//!
//! A column that the list does not give the table is no program:
//!
//! ```compile_fail
//! # mod names {
//! #     benchwright_sandbox::names! {
//! #         tables { paper, shelf }
//! #         columns { copies of paper; state of paper, shelf; }
//! #     }
//! # }
//! # use names::{c, t};
//! fn copies(shelf: &benchwright_sandbox::RowView<t::shelf>) -> benchwright_base::Value {
//!     shelf.get(c::copies)
//! }
//! ```

mod macros;
mod resolve;

use crate::verbs::NativeFn;
use benchwright_base::Value;
use benchwright_schema as schema;
pub(crate) use resolve::{Code, Place, Resolved, resolve};
use std::{fmt, marker::PhantomData};

/// The names that a crate uses, as its list says them.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The crate.
    pub of: &'static str,
    /// Tables, by their names in their own domain.
    pub tables: &'static [&'static str],
    /// Columns, each after its table.
    pub columns: &'static [(&'static str, &'static str)],
    /// Words of enums, each after its table and column.
    pub words: &'static [(&'static str, &'static str, &'static str)],
    /// Arguments that at least one of the tools takes.
    pub arguments: &'static [&'static str],
    /// Columns whose places are fixed: table, column, place.
    pub fixed: &'static [(&'static str, &'static str, u16)],
    /// What else the crate wants of the tables.
    pub check: Option<Check>,
}

/// Names what a crate wants of a domain's tables and is not there. Tables are asked for by their names in their own domain.
pub type Check = for<'d> fn(&dyn Fn(&str) -> Option<&'d schema::Table>) -> Vec<NameFault>;

/// A native tool: its name, its code, and the names that the code uses.
#[derive(Clone, Copy)]
pub struct NativeTool {
    /// Its name in its own domain.
    pub name: &'static str,
    /// What it does.
    pub code: NativeFn,
    /// The names of the crate that the code stands in.
    pub names: &'static Names,
}

/// A table that native code names.
pub trait Table: Copy + Default + 'static {
    /// Its place in the crate's list.
    const SLOT: u16;
    /// Its name in its own domain.
    const NAME: &'static str;
}

/// A column of a table: one from the crate's list, or a [`Column`] that was chosen at run time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not listed as a column of `{T}`",
    note = "columns that native code uses are listed with their tables in the crate's `names!`"
)]
pub trait ColumnOf<T>: Copy {
    /// Its place in the crate's list.
    fn slot(self) -> u16;

    /// The same as a value, so that one of several columns can be chosen.
    fn of(self) -> Column<T> {
        Column { slot: self.slot(), table: PhantomData }
    }
}

/// A word of an enum column: one from the crate's list, or a [`Word`] that was chosen at run time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not listed as a word of the column `{C}` of `{T}`",
    note = "words that native code uses are listed with their columns in the crate's `names!`"
)]
pub trait WordOf<T, C>: Copy {
    /// Its place in the crate's list.
    fn slot(self) -> u16;

    /// The same as a value, so that one of several words can be chosen.
    fn of(self) -> Word<T, C> {
        Word { slot: self.slot(), column: PhantomData }
    }
}

/// One of the columns of a table.
pub struct Column<T> {
    slot: u16,
    table: PhantomData<fn() -> T>,
}

/// One of the words of a column.
pub struct Word<T, C> {
    slot: u16,
    column: PhantomData<fn() -> (T, C)>,
}

/// An argument of a native tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArgumentName(u16, &'static str);

/// A value for a column of a table.
pub struct Cell<T> {
    pub(crate) slot: u16,
    pub(crate) value: Value,
    table: PhantomData<fn() -> T>,
}

/// A value for a column.
pub fn cell<T, C: ColumnOf<T>>(column: C, value: Value) -> Cell<T> {
    Cell { slot: column.slot(), value, table: PhantomData }
}

impl<T> Clone for Column<T> {
    fn clone(&self) -> Column<T> {
        *self
    }
}
impl<T> Copy for Column<T> {}

impl<T, C> Clone for Word<T, C> {
    fn clone(&self) -> Word<T, C> {
        *self
    }
}
impl<T, C> Copy for Word<T, C> {}

impl<T> Clone for Cell<T> {
    fn clone(&self) -> Cell<T> {
        Cell { slot: self.slot, value: self.value.clone(), table: PhantomData }
    }
}

impl<T> Cell<T> {
    /// The value.
    pub fn value(&self) -> &Value {
        &self.value
    }
}

impl<T> ColumnOf<T> for Column<T> {
    fn slot(self) -> u16 {
        self.slot
    }
}

impl<T> PartialEq for Column<T> {
    fn eq(&self, other: &Column<T>) -> bool {
        self.slot == other.slot
    }
}

impl<T, C> PartialEq for Word<T, C> {
    fn eq(&self, other: &Word<T, C>) -> bool {
        self.slot == other.slot
    }
}

impl<T, C> WordOf<T, C> for Word<T, C> {
    fn slot(self) -> u16 {
        self.slot
    }
}

impl ArgumentName {
    /// The argument at a place of a crate's list.
    #[doc(hidden)]
    pub const fn new(names: &Names, name: &'static str) -> ArgumentName {
        let mut at = 0;
        while at < names.arguments.len() {
            if same(names.arguments[at], name) {
                return ArgumentName(at as u16, name);
            }
            at += 1;
        }
        panic!("an argument is not in the list that was made of it");
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        plain(self.1)
    }

    pub(crate) fn slot(self) -> usize {
        usize::from(self.0)
    }
}

impl Names {
    /// The same with a check of what else the crate wants of the tables.
    pub const fn with_check(self, check: Check) -> Names {
        Names { check: Some(check), ..self }
    }

    /// The place of a table.
    #[doc(hidden)]
    pub const fn table(&self, table: &str) -> u16 {
        let mut at = 0;
        while at < self.tables.len() {
            if same(self.tables[at], table) {
                return at as u16;
            }
            at += 1;
        }
        panic!("a column is listed with a table that is not");
    }

    /// The place of a column.
    #[doc(hidden)]
    pub const fn column(&self, table: &str, column: &str) -> u16 {
        let mut at = 0;
        while at < self.columns.len() {
            if same(self.columns[at].0, table) && same(self.columns[at].1, column) {
                return at as u16;
            }
            at += 1;
        }
        panic!("a column is not in the list that was made of it");
    }

    /// The place of a word.
    #[doc(hidden)]
    pub const fn word(&self, table: &str, column: &str, word: &str) -> u16 {
        let mut at = 0;
        while at < self.words.len() {
            let known = self.words[at];
            if same(known.0, table) && same(known.1, column) && same(known.2, word) {
                return at as u16;
            }
            at += 1;
        }
        panic!("a word is not in the list that was made of it");
    }
}

/// Whether two texts are the same; the usual comparison is not for constants.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// A name without the mark that Rust wants before its own words.
fn plain(name: &'static str) -> &'static str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Native code that does not fit its domain.
#[derive(Debug, thiserror::Error)]
#[error("the native code of {of} does not fit the domain {domain}:{}", listed(.faults))]
pub struct NamesError {
    /// The crate of the code.
    pub of: &'static str,
    /// The domain.
    pub domain: String,
    /// Everything that the code names and the domain does not have.
    pub faults: Vec<NameFault>,
}

/// A name that a domain does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameFault {
    /// What is not there.
    pub what: String,
    /// The name that was meant, if one is near.
    pub near: Option<String>,
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.near.as_ref().map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
    }
}

fn listed(faults: &[NameFault]) -> String {
    faults.iter().map(|fault| format!("\n  {fault}")).collect()
}
