//! How fast it is. A bench runs us and a bare baseline in turns in one process, so that their ratio means something on a machine
//! that others use too, where the single numbers do not. One file for each bench.
//!
//! ```no_run
//! use benchwright_workshop::{Catalog, Workshop};
//!
//! let workshop = Workshop::new(Catalog::built_in());
//! let measured = benchwright_bench::measure(&workshop, "world", true)?;
//! println!("{}", measured.table);
//! # Ok::<(), benchwright_bench::Error>(())
//! ```

mod dials;
mod erp;
mod error;
mod generate;
mod grid;
mod ledger;
mod measure;
mod ops;
mod planning;
mod python;
mod requests;
mod sandbox;
mod serve;
mod world;

pub use error::{Error, Result};

use benchwright_workshop::Workshop;
use serde_json::Value as Json;

/// The benches by name.
pub const NAMES: [&str; 11] =
    ["world", "serve", "generate", "grid", "ops", "dials", "ledger", "planning", "erp", "python", "sandbox"];

/// Those that need what may not be there, and are run only by name.
pub const BY_NAME: [&str; 5] = ["ledger", "planning", "erp", "python", "sandbox"];

/// What a bench found.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The figures, as a document.
    pub figures: Json,
    /// The same for a reader.
    pub table: String,
    /// Whether a target was missed. A quick run is too short to say that.
    pub missed: bool,
    /// Drawings of the figures, by file name; few benches have some.
    pub plots: Vec<(&'static str, String)>,
}

/// Runs a bench; a quick run is only long enough to see that it works.
pub fn measure(workshop: &Workshop, name: &str, quick: bool) -> Result<Measured> {
    let mut plots = Vec::new();
    let (figures, table, missed) = match name {
        "world" => {
            let figures = world::run(quick)?;
            (figures.to_json(), figures.to_table(), !figures.missed().is_empty())
        }
        "serve" => {
            let figures = serve::run(quick)?;
            (figures.to_json(), figures.to_table(), figures.missed())
        }
        "grid" => {
            let figures = grid::run(workshop, quick)?;
            (figures.to_json(), figures.to_table(), !figures.missed().is_empty())
        }
        "ops" => {
            let figures = ops::run(workshop, quick)?;
            (figures.to_json(), figures.to_table(), !figures.missed().is_empty())
        }
        "dials" => {
            let figures = dials::run(workshop, quick)?;
            plots = dials::plots(&figures);
            (figures.to_json(), figures.to_table(), !figures.missed().is_empty())
        }
        "erp" => {
            let figures = erp::run(workshop.catalog(), quick)?;
            (figures.to_json(), figures.to_table(), figures.missed())
        }
        "ledger" => {
            let figures = ledger::run(quick)?;
            (figures.to_json(), figures.to_table(), !figures.missed().is_empty())
        }
        "planning" => {
            let figures = planning::run(quick)?;
            (figures.to_json(), figures.to_table(), !figures.missed().is_empty())
        }
        "sandbox" => {
            let figures = sandbox::run(quick)?;
            (figures.to_json(), figures.to_table(), !figures.missed().is_empty())
        }
        "python" => {
            let figures = python::run(quick)?;
            (figures.to_json(), figures.to_table(), !figures.missed().is_empty())
        }
        "generate" => {
            let figures = generate::run(workshop, quick)?;
            (figures.to_json(), figures.to_table(), false)
        }
        _ => return Err(Error::NoBench(name.to_owned())),
    };
    Ok(Measured { figures, table, missed: missed && !quick, plots })
}
