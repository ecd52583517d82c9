//! Why the two could not be compared. That they differ is no error: it is what is found.

use std::fmt;

/// Why the embedded ERP could not be held to an Odoo.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The workshop could not open a task.
    #[error(transparent)]
    Workshop(#[from] benchwright_workshop::Error),
    /// The Odoo cannot be used.
    #[error(transparent)]
    Odoo(#[from] benchwright_odoo::OdooError),
    /// A state cannot be judged.
    #[error(transparent)]
    Grade(#[from] benchwright_grade::GradeError),
    /// The embedded world cannot be loaded.
    #[error(transparent)]
    Load(#[from] benchwright_sandbox::LoadError),
    /// An episode cannot be begun.
    #[error(transparent)]
    World(#[from] benchwright_world::WorldError),
    /// A script cannot be carried out.
    #[error(transparent)]
    Replay(#[from] benchwright_world::ReplayError),
    /// The log cannot be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The task lacks what a comparison needs, or was planted otherwise.
    #[error("{0}")]
    Wrong(String),
}

/// What a comparison gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<benchwright_catalog::CatalogError> for Error {
    fn from(error: benchwright_catalog::CatalogError) -> Error {
        Error::Workshop(benchwright_workshop::Error::Catalog { asked: String::new(), error })
    }
}

impl From<benchwright_pack::StoreError> for Error {
    fn from(error: benchwright_pack::StoreError) -> Error {
        Error::Workshop(error.into())
    }
}

impl From<benchwright_workshop::tasks::TaskError> for Error {
    fn from(error: benchwright_workshop::tasks::TaskError) -> Error {
        Error::Workshop(error.into())
    }
}

/// Says what is wrong where something is missing or failed.
pub(crate) trait OrWrong<T> {
    /// The value, or these words.
    fn or_wrong<W: fmt::Display>(self, words: impl FnOnce() -> W) -> Result<T>;
}

impl<T> OrWrong<T> for Option<T> {
    fn or_wrong<W: fmt::Display>(self, words: impl FnOnce() -> W) -> Result<T> {
        self.ok_or_else(|| Error::Wrong(words().to_string()))
    }
}

impl<T, E: fmt::Display> OrWrong<T> for Result<T, E> {
    fn or_wrong<W: fmt::Display>(self, words: impl FnOnce() -> W) -> Result<T> {
        self.map_err(|error| Error::Wrong(format!("{}: {error}", words())))
    }
}
