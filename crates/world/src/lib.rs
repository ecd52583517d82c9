//! The traits that every engine implements, so that whoever serves or judges an episode need not know what keeps its state:
//! the sandbox in memory, a real system of record, or a folder of files.
//!
//! An [`Engine`] is asked for by a word and opens worlds; a [`World`] is one first state with the tools that work on it; an
//! [`Episode`] is one copy of that state, changed by calls. All of it is synchronous; who needs it otherwise wraps it. What
//! an engine cannot do is a typed error ([`Ability`]), never a wrong answer.
//!
//! ```
//! use benchwright_pack::OpenPart;
//! use benchwright_world::{Ability, Engine, Engines, Filling, World, WorldError};
//! use std::sync::Arc;
//!
//! /// An engine that has not been finished.
//! #[derive(Debug)]
//! struct Folders;
//!
//! impl Engine for Folders {
//!     fn names(&self) -> &[&str] {
//!         &["folder", "files"]
//!     }
//!     fn open(&self, task: &OpenPart) -> Result<Arc<dyn World>, WorldError> {
//!         Err(WorldError::Refused(format!("{} cannot be opened yet", task.open.id)))
//!     }
//! }
//!
//! let engines = Engines::of(Arc::new(Folders));
//! let found = engines.find(Some("files")).expect("it is in the table");
//! let empty = Filling { domain: "csm".to_owned(), size: None, seed: 1 };
//! assert!(matches!(found.fill(&empty), Err(WorldError::Cannot(Ability::Fill))));
//! let error = engines.find(Some("foldre")).expect_err("nobody has that word");
//! assert_eq!(error.to_string(), "there is no engine `foldre`; did you mean `folder`?");
//! ```

mod access;
mod engine;
mod episode;
mod face;
pub mod obey;
mod replay;
pub mod seen;
mod state;
mod terminal;
mod tools;
pub mod workspace;
pub mod written;

pub use access::{NotAnswered, ToolAccess, answered};
pub use engine::{About, Engine, Engines, Filling, World};
pub use episode::{Episode, Size};
pub use face::{Calls, Face, FaceAnswer};
pub use replay::{ReplayError, bound_keys, replay};
pub use state::WorldState;
pub use terminal::{Changed, Terminal};
pub use tools::ToolLine;
pub use workspace::{WorkFile, Workspace, WorkspaceError};

use benchwright_base::RowId;
use std::fmt;

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
    /// There is no such world; the sentence says what there is.
    #[error("{0}")]
    NotThere(String),
    /// The world is there, but not what was asked of it: a role, a size, a person.
    #[error("{0}")]
    Asked(String),
    /// A first state cannot be opened.
    #[error("{0}")]
    Refused(String),
    /// The engine can do this in none of its episodes.
    #[error("{0}")]
    Cannot(Ability),
    /// The engine behind the world failed.
    #[error("the world's engine failed: {0}")]
    Engine(String),
}

/// What some engines can do and others cannot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ability {
    /// To copy an episode midway.
    Fork,
    /// To tell what differs from the first state.
    Diff,
    /// To make a world without a task.
    Fill,
    /// To answer in words of its own instead of through tools.
    Speak,
}

impl Ability {
    /// The word of the error that says it is missing.
    pub fn word(self) -> &'static str {
        match self {
            Ability::Fork => "cannot_fork",
            Ability::Diff => "cannot_diff",
            Ability::Fill => "cannot_fill",
            Ability::Speak => "cannot_speak",
        }
    }
}

impl fmt::Display for Ability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ability::Fork => "this engine cannot copy an episode midway; begin another one instead",
            Ability::Diff => "this engine cannot tell what changed; read the state and compare",
            Ability::Fill => "this engine has no worlds of its own; name a task",
            Ability::Speak => "this engine has no words of its own; call its tools",
        })
    }
}
