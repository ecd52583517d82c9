//! `bench`: us beside the bare engine, alternating, in one run. One file per bench.

mod measure;
mod world;

use crate::{output, progress::Progress};
use anyhow::{Result, bail};
use std::process::ExitCode;

/// The benches by name.
const NAMES: [&str; 1] = ["world"];

/// Runs a bench, or all of them. Exit code 1 says that a target was missed; a quick run is too short to say that.
pub(crate) fn run(name: Option<&str>, json: bool, quick: bool) -> Result<ExitCode> {
    if let Some(name) = name.filter(|name| !NAMES.contains(name)) {
        bail!("there is no bench `{name}`; there are: {}", NAMES.join(", "));
    }
    let progress = Progress::start("measuring the world");
    let figures = world::run(quick)?;
    drop(progress);
    if json {
        let world = figures.to_json();
        output::json(&if name.is_some() { world } else { serde_json::json!({ "world": world }) })?;
    } else {
        output::data(&figures.to_table())?;
    }
    let missed = !quick && !figures.missed().is_empty();
    Ok(if missed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
