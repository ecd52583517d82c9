//! The rules of the house, held by a program: `layers` for the graph of crates and of the files of domain code, `tidy` for the form of the files, `domains`
//! for the list of what has code, `supply` for what comes from others. All look at everything and return all faults at once. `tests/house.rs` runs them with the
//! other tests.

use std::fmt;
use std::path::{Path, PathBuf};

pub mod domains;
pub mod layers;
mod modules;
mod outsiders;
pub mod picture;
pub mod release;
mod rust_text;
pub mod supply;
pub mod tidy;

/// One fault: where it is and what is wrong.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fault {
    /// The file, relative to the root of the workspace.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and the mend where it is not plain.
    pub what: String,
}

impl Fault {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Fault {
        Fault { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// What a check looked at and what it found.
#[derive(Debug)]
pub struct Outcome {
    /// What was looked at, in words, such as `11 crates`.
    pub seen: String,
    /// Every fault, by file and line.
    pub faults: Vec<Fault>,
}

/// The folder that holds the workspace's Cargo.toml.
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
