//! `bench`: us beside the bare engine, alternating, in one run. One file per bench.

mod measure;
mod world;

use anyhow::{Result, bail};
use std::{
    io::{IsTerminal, Write},
    process::ExitCode,
};

/// The benches by name.
const NAMES: [&str; 1] = ["world"];

/// Runs a bench, or all of them. Exit code 1 says that a target was missed; a quick run is too short to say that.
pub(crate) fn run(name: Option<&str>, json: bool, quick: bool) -> Result<ExitCode> {
    if let Some(name) = name.filter(|name| !NAMES.contains(name)) {
        bail!("there is no bench `{name}`; there are: {}", NAMES.join(", "));
    }
    let figures = world::run(quick)?;
    let mut out = std::io::stdout().lock();
    if json {
        let world = figures.to_json();
        let shown = if name.is_some() { world } else { serde_json::json!({ "world": world }) };
        writeln!(out, "{shown}")?;
    } else {
        out.write_all(figures.to_table().as_bytes())?;
    }
    let missed = !quick && !figures.missed().is_empty();
    Ok(if missed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Says on a terminal what is under way.
fn say(what: &str) {
    let mut screen = std::io::stderr().lock();
    if screen.is_terminal() {
        // A line that cannot be shown is no reason to stop.
        let _ = write!(screen, "\r\x1b[K{what}");
        let _ = screen.flush();
    }
}
