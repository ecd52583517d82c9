//! `bench`: us beside the bare engine, alternating, in one run. One file per bench.

mod dials;
mod generate;
mod grid;
mod measure;
mod serve;
mod world;

use crate::{output, progress::Progress, work::Setting};
use anyhow::Result;
use serde_json::Map;
use std::{path::Path, process::ExitCode};

/// The benches by name.
pub(crate) const NAMES: [&str; 5] = ["world", "serve", "generate", "grid", "dials"];

/// Runs a bench, or all of them. Exit code 1 says that a target was missed; a quick run is too short to say that.
pub(crate) fn run(
    setting: &Setting,
    name: Option<&str>,
    json: bool,
    quick: bool,
    plots: Option<&Path>,
) -> Result<ExitCode> {
    let mut all = Map::new();
    let mut missed = false;
    for bench in NAMES.into_iter().filter(|bench| name.is_none_or(|name| name == *bench)) {
        let progress = Progress::start(format!("measuring {bench}"));
        let (figures, table) = match bench {
            "world" => {
                let figures = world::run(quick)?;
                missed |= !quick && !figures.missed().is_empty();
                (figures.to_json(), figures.to_table())
            }
            "serve" => {
                let figures = serve::run(quick)?;
                missed |= !quick && figures.missed();
                (figures.to_json(), figures.to_table())
            }
            "dials" => {
                let figures = dials::run(setting, quick)?;
                missed |= !quick && !figures.missed().is_empty();
                if let Some(folder) = plots {
                    figures.draw(folder)?;
                }
                (figures.to_json(), figures.to_table())
            }
            "grid" => {
                let figures = grid::run(setting, quick)?;
                missed |= !quick && !figures.missed().is_empty();
                (figures.to_json(), figures.to_table())
            }
            _ => {
                let figures = generate::run(setting, quick)?;
                (figures.to_json(), figures.to_table())
            }
        };
        drop(progress);
        if !json {
            output::data(&table)?;
        }
        all.insert(bench.to_owned(), figures);
    }
    if json {
        let one = name.and_then(|name| all.remove(name));
        output::json(&one.unwrap_or_else(|| all.into()))?;
    }
    Ok(if missed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
