//! Exports of worlds and tasks to formats that other programs read, one file each. An export knows the declarations and a
//! snapshot, or a folder of tasks, not the engine that they came from.

mod parquet;
mod picture;
mod sqlite;

pub use parquet::{ParquetSummary, parquet, shard_paths, write_shard};
pub use picture::picture;
pub use sqlite::{SqliteSummary, sqlite};

use std::path::PathBuf;

/// Why an export was not made. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is a file of that name.
    #[error("{} is there already", .0.display())]
    AlreadyThere(PathBuf),
    /// The snapshot is of other declarations.
    #[error("the snapshot is not of these declarations of {0}")]
    OtherDeclarations(String),
    /// The snapshot holds a value that its field cannot hold.
    #[error("the snapshot does not hold together: {0}")]
    Malformed(String),
    /// A row was not taken.
    #[error("{table} {row} was not taken: {why}")]
    Row {
        /// The table.
        table: String,
        /// The row.
        row: String,
        /// What stood in the way.
        why: rusqlite::Error,
    },
    /// The file was written, but does not pass its own checks.
    #[error("the file that was written does not pass its check: {0}")]
    Check(String),
    /// SQLite failed.
    #[error("SQLite failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A task could not be read.
    #[error(transparent)]
    Store(#[from] benchwright_pack::StoreError),
    /// Parquet failed.
    #[error("{}: {why}", .path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What happened.
        why: ::parquet::errors::ParquetError,
    },
    /// The file could not be written.
    #[error("{}: {why}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        why: std::io::Error,
    },
}
