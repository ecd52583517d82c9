//! A real Odoo as the engine of a world: a client of its JSON-2 calls, databases that are copied per episode, a task's first
//! state put into one, and its terminal records read back into the tables of the domain, so that one judge serves both
//! this engine and the embedded one.
//!
//! Rows of the first state keep the ids of the task's own snapshot, whatever ids Odoo gave them; rows made later are
//! numbered in the order in which they were made. `scripts/odoo up` installs and starts what this talks to.

mod canonical;
mod cells;
mod client;
mod engine;
mod episode;
pub mod face;
mod json2;
mod plant;
mod reading;
mod site;
mod world;

pub use canonical::{Difference, compare};
pub use client::{Answer, Client, error_body};
pub use engine::{FindDomain, OdooEngine};
pub use episode::OdooEpisode;
pub use json2::Json2;
pub use site::Site;
pub use world::{OdooWorld, Planted};

/// Why Odoo could not be used. Nothing of this kind is ever scored.
#[derive(Debug, thiserror::Error)]
pub enum OdooError {
    /// It is not installed, or not running.
    #[error("Odoo cannot be reached: {0}; `scripts/odoo up` starts it")]
    NotThere(String),
    /// The database behind it refused.
    #[error("PostgreSQL: {0}")]
    Database(String),
    /// It answered otherwise than it should.
    #[error("{call} answered {status}: {body}")]
    Answer {
        /// The model and method that were called.
        call: String,
        /// The HTTP status that Odoo answered with.
        status: u16,
        /// The body of the answer, shortened.
        body: String,
    },
    /// A record does not fit the tables of the domain.
    #[error("{0}")]
    Misfit(String),
}

impl From<OdooError> for benchwright_world::WorldError {
    fn from(error: OdooError) -> benchwright_world::WorldError {
        benchwright_world::WorldError::Engine(error.to_string())
    }
}
