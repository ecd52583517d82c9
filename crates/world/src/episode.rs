//! An episode: one copy of a world's first state, which an agent changes by calls, and which can be copied, read, compared
//! with how it began, and closed. Every engine has its own; this is what they have in common.

use crate::{Ability, FaceAnswer, WorldError, WorldState};
use benchwright_base::{DateTime, Digest, RowId, StateHash};
use benchwright_pack::{Diff, Refusal, Trace};
use benchwright_schema::Domain;

/// How much of this process's memory a state takes, in rows of about a kibibyte; one with long texts counts as several.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// As it stands.
    pub rows: u64,
    /// As it was at the beginning, which all episodes of a world share.
    pub first: u64,
}

impl Size {
    /// What it has grown by.
    pub fn grown(&self) -> u64 {
        self.rows.saturating_sub(self.first)
    }
}

/// One state of a world that changes by calls. What an engine cannot do is an error that says so, never a wrong answer.
pub trait Episode: Send {
    /// Calls a tool with a JSON object of arguments and returns the JSON answer. A refusal changes nothing; it stands in the
    /// trace like an answer.
    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal>;

    /// A copy that goes its own way from here, trace and all.
    fn fork(&self) -> Result<Box<dyn Episode>, WorldError> {
        Err(WorldError::Cannot(Ability::Fork))
    }

    /// The state as it stands.
    fn state(&self) -> Result<WorldState, WorldError>;

    /// The state as the canonical bytes of its document. Equal states have equal bytes.
    fn state_bytes(&self) -> Result<Vec<u8>, WorldError>;

    /// The hash of the state, where the engine has one at hand. Others would have to read everything to tell.
    fn state_hash(&self) -> Option<StateHash> {
        None
    }

    /// How much it takes, at the cost of a look, as it is asked for at every call. Nothing where the state is kept elsewhere.
    fn size(&self) -> Size {
        Size::default()
    }

    /// What tells one state from another: its hash, or the digest of its bytes where there is no hash.
    fn fingerprint(&self) -> Result<String, WorldError> {
        match self.state_hash() {
            Some(hash) => Ok(Trace::hash(hash)),
            None => Ok(Digest::of(&self.state_bytes()?).to_string()),
        }
    }

    /// The calls so far.
    fn trace(&self) -> Result<Trace, WorldError>;

    /// What differs from the first state.
    fn diff(&self) -> Result<Diff, WorldError> {
        Err(WorldError::Cannot(Ability::Diff))
    }

    /// The role that is played.
    fn role(&self) -> &str;

    /// The declarations of its tables and tools, where it has some.
    fn domain(&self) -> Option<&Domain> {
        None
    }

    /// The clock.
    fn now(&self) -> DateTime;

    /// The id by which calls name a row of the first state. An engine with ids of its own says so here.
    fn id_of(&self, _table: &str, row: RowId) -> RowId {
        row
    }

    /// Answers a call in the engine's own words, where its world says that it [speaks](crate::World::speaks) them. It stands
    /// in the trace as the call that it is.
    fn speak(&mut self, _words: &[&str], _body: &str) -> Result<FaceAnswer, WorldError> {
        Err(WorldError::Cannot(Ability::Speak))
    }

    /// Ends it and says whether all that it holds could be freed. One that is dropped frees the same and says nothing.
    fn close(self: Box<Self>) -> Result<(), WorldError> {
        Ok(())
    }
}
