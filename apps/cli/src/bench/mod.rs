//! `bench`: us beside the bare engine, alternating, in one run. One file per bench.

mod erp;
mod generate;
mod measure;
mod world;

use crate::{output, progress::Progress, work::Setting};
use anyhow::Result;
use serde_json::Map;
use std::process::ExitCode;

/// The benches by name.
pub(crate) const NAMES: [&str; 3] = ["world", "generate", "erp"];
/// Those that need what may not be there, and are run only by name.
const BY_NAME: [&str; 1] = ["erp"];

/// Runs a bench, or all of them. Exit code 1 says that a target was missed; a quick run is too short to say that.
pub(crate) fn run(setting: &Setting, name: Option<&str>, json: bool, quick: bool) -> Result<ExitCode> {
    let mut all = Map::new();
    let mut missed = false;
    let wanted = |bench: &&str| name.map_or(!BY_NAME.contains(bench), |name| name == *bench);
    for bench in NAMES.into_iter().filter(wanted) {
        let progress = Progress::start(format!("measuring {bench}"));
        let (figures, table) = if bench == "world" {
            let figures = world::run(quick)?;
            missed |= !quick && !figures.missed().is_empty();
            (figures.to_json(), figures.to_table())
        } else if bench == "erp" {
            let figures = erp::run(&setting.catalog, quick)?;
            missed |= !quick && figures.missed();
            (figures.to_json(), figures.to_table())
        } else {
            let figures = generate::run(setting, quick)?;
            (figures.to_json(), figures.to_table())
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
