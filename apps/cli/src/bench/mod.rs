//! `bench`: us beside the bare engine, alternating, in one run. One file per bench.

mod dials;
mod erp;
mod generate;
mod grid;
mod measure;
mod ops;
mod serve;
mod world;

use crate::{output, progress::Progress};
use anyhow::Result;
use benchwright_workshop::Workshop;
use serde_json::{Map, Value as Json};
use std::{path::Path, process::ExitCode};

/// The benches by name.
pub(crate) const NAMES: [&str; 7] = ["world", "serve", "generate", "grid", "ops", "dials", "erp"];
/// Those that need what may not be there, and are run only by name.
const BY_NAME: [&str; 1] = ["erp"];

/// What a bench found: the figures, the same as a table, and whether a target was missed.
struct Found {
    figures: Json,
    table: String,
    missed: bool,
}

/// Runs a bench, or all of them. Exit code 1 says that a target was missed; a quick run is too short to say that.
pub(crate) fn run(
    workshop: &Workshop,
    name: Option<&str>,
    json: bool,
    quick: bool,
    plots: Option<&Path>,
) -> Result<ExitCode> {
    let mut all = Map::new();
    let mut missed = false;
    let wanted = |bench: &&str| name.map_or(!BY_NAME.contains(bench), |name| name == *bench);
    for bench in NAMES.into_iter().filter(wanted) {
        let progress = Progress::start(format!("measuring {bench}"));
        let found = one(workshop, bench, quick, plots)?;
        drop(progress);
        missed |= !quick && found.missed;
        if !json {
            output::data(&found.table)?;
        }
        all.insert(bench.to_owned(), found.figures);
    }
    if json {
        let one = name.and_then(|name| all.remove(name));
        output::json(&one.unwrap_or_else(|| all.into()))?;
    }
    Ok(if missed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn one(workshop: &Workshop, bench: &str, quick: bool, plots: Option<&Path>) -> Result<Found> {
    let (figures, table, missed) = match bench {
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
            let figures = ops::run(workshop.catalog(), quick)?;
            (figures.to_json(), figures.to_table(), !figures.missed().is_empty())
        }
        "dials" => {
            let figures = dials::run(workshop, quick)?;
            if let Some(folder) = plots {
                figures.draw(folder)?;
            }
            (figures.to_json(), figures.to_table(), !figures.missed().is_empty())
        }
        "erp" => {
            let figures = erp::run(workshop.catalog(), quick)?;
            (figures.to_json(), figures.to_table(), figures.missed())
        }
        _ => {
            let figures = generate::run(workshop, quick)?;
            (figures.to_json(), figures.to_table(), false)
        }
    };
    Ok(Found { figures, table, missed })
}
