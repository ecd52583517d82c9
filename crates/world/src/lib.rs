//! The trait of a world: what the embedded sandbox and a real system of record have in common. It is synchronous; who
//! needs it otherwise wraps it.

use benchwright_base::{DateTime, RowId};
use benchwright_pack::{Refusal, Snapshot};
use std::sync::Arc;

/// Who acts in an episode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seat {
    /// The role, by its name in the domain.
    pub role: String,
    /// The row of the person, in the domain's table of people.
    pub actor: Option<RowId>,
}

/// Why an episode could not be begun, copied or read. Nothing of this kind is ever scored.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// What was asked for is not there; the sentence says what is.
    #[error("{0}")]
    NotThere(String),
    /// The engine behind the world failed.
    #[error("the world's engine failed: {0}")]
    Engine(String),
}

/// A world that episodes are begun in.
pub trait World {
    /// Its episodes.
    type Episode: Episode;

    /// Begins an episode at the world's first state.
    fn create(self: Arc<Self>, seat: &Seat) -> Result<Self::Episode, WorldError>;
}

/// An episode: one state of a world that changes by calls.
pub trait Episode: Sized {
    /// A copy that goes its own way from here.
    fn fork(&self) -> Result<Self, WorldError>;
    /// Calls a tool with a JSON object of arguments and returns the JSON answer. A refusal changes nothing.
    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal>;
    /// The state as a document.
    fn snapshot(&self) -> Result<Snapshot, WorldError>;
    /// The clock.
    fn now(&self) -> DateTime;
    /// The id by which calls name a row of the first state. An engine with ids of its own says so here.
    fn id_of(&self, _table: &str, row: RowId) -> RowId {
        row
    }
    /// Ends it and frees what it holds.
    fn close(self) -> Result<(), WorldError>;
}

mod replay;
mod terminal;

pub use replay::{ReplayError, ledger, replay};
pub use terminal::{Changed, Terminal};
