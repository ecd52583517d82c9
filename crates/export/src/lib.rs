//! Writes worlds and tasks in formats that other programs read, one file each: a snapshot as a SQLite database, tasks as
//! Parquet shards or as folders that Harbor runs, what was done on them as rows for training and as logs that other programs show, the tables of a domain as
//! an SVG picture, and all that it declares as a page of Markdown. An export knows the declarations and a snapshot, a folder of
//! tasks, or a dialogue as plain data, and not the engine that they came from. The same input gives the same bytes.
//!
//! ```
//! use benchwright_export::picture;
//! use benchwright_schema::{Folder, load};
//!
//! # let files = [
//! #     ("domain.toml", "name = 'tickets'\ntitle = 'Tickets'\nrole = 'clerk'\nabout = 'Tickets.'"),
//! #     ("tables.toml", "[person]\nname = 'text'\n[ticket]\ntitle = 'text'\nowner = '-> person'"),
//! #     ("tools.toml", ""),
//! #     ("policy.toml", "[access]\nclerk = ['any on *']"),
//! # ];
//! # let folder = Folder::new("tickets", files.map(|(path, text)| (path.to_owned(), text.to_owned())));
//! // A domain with the tables `person` and `ticket`.
//! let domain = load(&folder).expect("the folder has no fault");
//! let svg = picture(&domain);
//! assert!(svg.starts_with("<svg") && svg.contains("ticket") && svg.contains("person"));
//! ```

mod atif;
pub mod dialogue;
mod harbor;
mod inspect;
mod nested;
pub mod notation;
mod parquet;
mod picture;
mod reference;
mod rows;
mod sqlite;
mod zip;

pub use atif::{ATIF_VERSION, atif};
pub use dialogue::Dialogue;
pub use harbor::{HarborFolder, HarborOptions, HarborReward};
pub use inspect::InspectLog;
pub use parquet::{ParquetSummary, ShardTask, is_sharded, parquet, shard, shard_tasks, unpack};
pub use picture::picture;
pub use reference::{extent, reference};
pub use rows::{Pair, RowsFolder, RowsSummary, read_rows};
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
        /// The table that the row was to go into.
        table: String,
        /// The id of the row.
        row: String,
        /// What stood in the way.
        why: rusqlite::Error,
    },
    /// The file was written, but does not pass its own checks.
    #[error("the file that was written does not pass its check: {0}")]
    Check(String),
    /// SQLite failed at something else than a row.
    #[error("SQLite failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A task could not be read.
    #[error(transparent)]
    Store(#[from] benchwright_pack::StoreError),
    /// A shard could not be written.
    #[error("{}: {why}", .path.display())]
    Parquet {
        /// The shard.
        path: PathBuf,
        /// What the writer of Parquet said.
        why: ::parquet::errors::ParquetError,
    },
    /// The file could not be written.
    #[error("{}: {why}", .path.display())]
    Io {
        /// The file or folder that could not be used.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
}
