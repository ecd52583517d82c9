//! Why a bench could not measure. Most of it is one thing: what was measured is not what should have been, which is said in words.

use std::fmt;

/// Why a bench could not measure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No bench has this name.
    #[error("there is no bench `{0}`")]
    NoBench(String),
    /// The workshop could not make or open what is measured.
    #[error(transparent)]
    Workshop(#[from] benchwright_workshop::Error),
    /// There is no Odoo to measure.
    #[error(transparent)]
    Odoo(#[from] benchwright_odoo::OdooError),
    /// Something beside what is measured failed, such as a file or a server.
    #[error("{0}")]
    Outside(Box<dyn std::error::Error + Send + Sync>),
    /// What is measured does not behave: two sides answer differently, a call is refused, a list lacks something.
    #[error("{0}")]
    Wrong(String),
}

/// What a bench gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of libraries that a bench can do nothing about.
macro_rules! outside {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error::Outside(error.into())
            }
        })*
    };
}

outside!(
    benchwright_grade::GradeError,
    benchwright_grade::JudgeError,
    benchwright_pack::ScriptError,
    benchwright_run::LedgerError,
    benchwright_sandbox::LoadError,
    benchwright_pack::SuiteError,
    benchwright_serve::ServeError,
    benchwright_serve::ServerError,
    benchwright_solve::EngineError,
    benchwright_world::ReplayError,
    benchwright_world::WorldError,
    nix::errno::Errno,
    postgres::Error,
    rusqlite::Error,
    rusqlite::types::FromSqlError,
    serde_json::Error,
    std::fmt::Error,
    std::io::Error,
    std::num::ParseIntError,
    std::num::TryFromIntError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    ureq::Error,
);

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

impl Error {
    /// Says what is wrong.
    pub(crate) fn wrong(what: impl fmt::Display) -> Error {
        Error::Wrong(what.to_string())
    }
}

/// Says what is wrong where something is missing or failed.
pub(crate) trait OrWrong<T> {
    /// The value, or these words.
    fn or_wrong<W: fmt::Display>(self, words: impl FnOnce() -> W) -> Result<T>;
}

impl<T> OrWrong<T> for Option<T> {
    fn or_wrong<W: fmt::Display>(self, words: impl FnOnce() -> W) -> Result<T> {
        self.ok_or_else(|| Error::wrong(words()))
    }
}

impl<T, E: fmt::Display> OrWrong<T> for Result<T, E> {
    fn or_wrong<W: fmt::Display>(self, words: impl FnOnce() -> W) -> Result<T> {
        self.map_err(|error| Error::Wrong(format!("{}: {error}", words())))
    }
}

/// Ends a function with an [`Error::Wrong`] of these words.
macro_rules! wrong {
    ($($words:tt)*) => { return Err($crate::error::Error::Wrong(format!($($words)*))) };
}
pub(crate) use wrong;

/// Ends a function with an [`Error::Wrong`] unless a condition holds.
macro_rules! hold {
    ($condition:expr, $($words:tt)*) => { if !$condition { $crate::error::wrong!($($words)*) } };
}
pub(crate) use hold;
