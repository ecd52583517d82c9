//! A state as it leaves its engine: the records of a domain's tables, or a folder of files.

use benchwright_pack::{Files, Snapshot};

/// A state as it leaves its engine. Which kind it is decides which judges can read it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WorldState {
    /// Rows of the tables of a domain.
    Records(Snapshot),
    /// A folder of files, by path.
    Files(Files),
}

impl WorldState {
    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            WorldState::Records(_) => "records",
            WorldState::Files(_) => "a folder of files",
        }
    }
}
