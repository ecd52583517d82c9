//! Why the outsider has nothing to say of a task.

use benchwright_world::NotAnswered;

/// Why it has nothing to say.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Lost {
    /// Text or records say something that it does not understand, or do not say what it has to know.
    #[error("{0}")]
    NotUnderstood(String),
    /// What it read cannot be done.
    #[error("no plan keeps all the rules that it read")]
    NoPlan,
    /// The solver gave no proof within its limits, or failed.
    #[error("{0}")]
    Unproved(String),
}

impl From<String> for Lost {
    fn from(why: String) -> Lost {
        Lost::NotUnderstood(why)
    }
}

impl From<NotAnswered> for Lost {
    fn from(why: NotAnswered) -> Lost {
        Lost::NotUnderstood(why.0)
    }
}
