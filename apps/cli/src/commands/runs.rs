//! `benchwright runs`: which runs a folder has, and how far each is.

use crate::{failure::Failure, layout::columns, output, shared::Shared};
use benchwright_report::html::RunLine;
use benchwright_workshop::{runs::Runs, view};
use serde_json::json;
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
    let told = |line: &RunLine| {
        json!({
            "run": line.name, "tasks": line.tasks, "agents": line.agents, "planned": line.planned, "recorded": line.recorded,
            "errors": line.errors, "working": line.working, "state": state(line),
        })
    };
    output::either(options.json, || lines.iter().map(told).collect(), || table(&lines))?;
    if let Some(newest) = lines.first().filter(|_| !options.json && !is_shared) {
        eprintln!("next: {}", next(newest, &options.runs.display().to_string()));
    }
    Ok(())
}

fn state(line: &RunLine) -> &'static str {
    match (line.recorded < line.planned, line.working) {
        (false, _) => "done",
        (true, 0) => "stopped",
        (true, _) => "going",
    }
}

fn next(newest: &RunLine, folder: &str) -> String {
    let runs = if folder == "runs" { String::new() } else { format!(" --runs {folder}") };
    match state(newest) {
        "done" => format!("benchwright report {}{runs}", newest.name),
        "going" => format!("benchwright view {folder}"),
        _ => "give the line that began it again; a run goes on where it stopped".to_owned(),
    }
}

fn table(lines: &[RunLine]) -> String {
    let mut rows = vec![["run", "tasks", "agents", "recorded", "of", "errors", "state"].map(str::to_owned).to_vec()];
    for line in lines {
        rows.push(vec![
            line.name.clone(),
            line.tasks.to_string(),
            line.agents.join(" "),
            line.recorded.to_string(),
            line.planned.to_string(),
            line.errors.to_string(),
            state(line).to_owned(),
        ]);
    }
    columns(&rows, &[1, 3, 4, 5], 0)
}
