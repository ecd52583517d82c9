//! `benchwright runs`: which runs a folder has, and how far each is.

use crate::{failure::Failure, output, shared::Shared};
use benchwright_report::html::RunLine;
use benchwright_workshop::{listed, runs::Runs, view};
use std::path::PathBuf;

/// Lists the runs of a folder: how far each is, the newest first
#[derive(clap::Args)]
#[command(after_long_help = "\
Of every run: its tasks and agents, how many of its trials are recorded, and whether it is done, going on, or stopped before its end.

Examples:
  benchwright runs
  benchwright runs elsewhere --json

Keys of --json, a list:
  run, tasks, agents, planned, recorded, errors, working, state: done, going or stopped")]
pub(crate) struct Options {
    /// Where runs are kept
    #[arg(value_name = "RUNS", default_value = "runs", conflicts_with = "ledger")]
    runs: PathBuf,
    #[command(flatten)]
    shared: Shared,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let none = |what: String| Failure::wrong_use(what, "benchwright run DIR --agent greedy");
    let shared = options.shared.open()?;
    let is_shared = shared.is_some();
    let runs = match shared {
        Some(shared) => shared,
        None if options.runs.is_dir() => Runs::open(&options.runs)?,
        None => return Err(none(format!("there are no runs in {}", options.runs.display()))),
    };
    let lines = view::lines(&runs)?;
    if lines.is_empty() && !options.json {
        return Err(none("there is no run yet".to_owned()));
    }
    output::either(options.json, || lines.iter().map(listed::run).collect(), || listed::runs(&lines))?;
    if let Some(newest) = lines.first().filter(|_| !options.json && !is_shared) {
        eprintln!("next: {}", next(newest, &options.runs.display().to_string()));
    }
    Ok(())
}

fn next(newest: &RunLine, folder: &str) -> String {
    let runs = if folder == "runs" { String::new() } else { format!(" --runs {folder}") };
    match listed::state(newest) {
        "done" => format!("benchwright report {}{runs}", newest.name),
        "going" => format!("benchwright view {folder}"),
        _ => "give the line that began it again; a run goes on where it stopped".to_owned(),
    }
}
