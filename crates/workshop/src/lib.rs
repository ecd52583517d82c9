//! The library under the program: makes tasks, builds and audits suites, streams shards, gives out episodes and keeps runs.
//! Nothing here prints or asks for arguments; what takes long is told to a [`Progress`] and stopped by a [`Cancel`].

pub mod audits;
pub mod carried;
pub mod engines;
mod error;
mod events;
pub mod host;
mod progress;
pub mod runs;
pub mod stream;
pub mod suites;
pub mod tasks;
pub mod tokens;
mod work;
pub mod worlds;

pub use benchwright_catalog::Catalog;
pub use error::Error;
pub use progress::{Cancel, Progress, Step};
pub use work::{
    Answer, AuditRequest, Failed, Made, MakeRequest, Maker, Request, Shortfall, Temporary, Workers, Workshop,
    maker::Engines,
};
