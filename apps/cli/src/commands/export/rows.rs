//! `benchwright export sft` and `preferences`: rows for training.

use crate::{failure::Failure, layout::counted};
use benchwright_pack::Store;
use benchwright_workshop::{
    Workshop,
    play::Offer,
    recorded::{Recorded, Which},
    rows::{self, RowsOptions, Written},
    runs::Runs,
    suites,
};
use std::path::{Path, PathBuf};

/// How many tasks without a row are named.
const NAMED: usize = 5;

#[derive(clap::Args)]
struct Common {
    /// A folder of tasks
    #[arg(value_name = "DIR")]
    tasks: PathBuf,
    /// The folder to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The tools that rows offer: all, oracle (those that the work needs) or oracle+N with N that look alike
    #[arg(long, value_name = "WHICH", default_value = "oracle")]
    tools: String,
    /// Also of tasks of the test split, which are there to measure with and say so in every row
    #[arg(long)]
    of_locked: bool,
    /// How many tasks at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// Parquet rows for supervised training: a task done right, in chat form, with its reward
#[derive(clap::Args)]
#[command(after_long_help = "\
Each row is a dialogue: the instruction, every call with its answer, last words. It is carried out and judged while it
is written, and its `reward` is the judge's. Without --runs it is the certified way of each task, and --alternates adds
others that earn everything. With --runs it is the passed trials of a recorded run; their calls are made again, and one
that is answered otherwise than it was is an error. Columns: messages, tools, reward, stop_condition, has_error,
is_truncated, source, trace, task, task_digest, canary, domain, pattern, tier, split. See docs/rows.md.

Examples:
  benchwright new grid/travel --split train --tier h01-b00 --count 100 -o train
  benchwright export sft train -o rows
  benchwright export sft train -o rows --runs runs --run 2026-11-15T090000-train")]
pub(super) struct SftOptions {
    #[command(flatten)]
    common: Common,
    /// Other ways of each task that earn everything, if there are so many
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "runs")]
    alternates: usize,
    /// Takes the trials of a run that is kept here
    #[arg(long, value_name = "RUNS")]
    runs: Option<PathBuf>,
    /// The run [default: the newest]
    #[arg(long, value_name = "RUN", requires = "runs")]
    run: Option<String>,
    /// Only the trials of this agent
    #[arg(long, value_name = "NAME", requires = "runs")]
    agent: Option<String>,
    /// Failed trials too
    #[arg(long, requires = "runs")]
    failed: bool,
}

/// Parquet pairs: a task done right, and done with one rule broken, which is named
#[derive(clap::Args)]
#[command(after_long_help = "\
The chosen one is the certified way. The rejected one is a near-miss as the audit makes them, carried out in the world as
calls: both are judged while they are written, and the rejected one fails the check that `rule` names. Columns: prompt,
chosen, rejected, tools, rule, what, chosen_reward, rejected_reward, chosen_trace, rejected_trace, task, task_digest,
canary, domain, pattern, tier, split. See docs/rows.md.

Example:
  benchwright export preferences train -o pairs")]
pub(super) struct PreferenceOptions {
    #[command(flatten)]
    common: Common,
    /// Pairs of each task, of different rules where there are
    #[arg(long, value_name = "N", default_value_t = 3)]
    pairs: usize,
}

impl Common {
    fn ready(&self, workshop: &Workshop, each: usize) -> anyhow::Result<(Workshop, Store, RowsOptions)> {
        suites::check_empty(&self.output)?;
        let options = RowsOptions { offered: Offer::parse(&self.tools)?, each, of_locked: self.of_locked };
        Ok((workshop.clone().with_jobs(self.jobs), Store::at(&self.tasks), options))
    }
}

/// Runs `sft`.
pub(super) fn sft(workshop: &Workshop, options: &SftOptions) -> anyhow::Result<()> {
    let (workshop, store, how) = options.common.ready(workshop, options.alternates)?;
    let out = &options.common.output;
    let written = match &options.runs {
        None => rows::sft(&workshop, &store, &how, out)?,
        Some(runs) => {
            let run = Recorded::open(&Runs::open(runs)?, options.run.as_deref())?;
            let which = Which { agent: options.agent.as_deref(), only_passed: !options.failed };
            rows::of_run(&workshop, &run, store.root(), &how, which, out)?
        }
    };
    told(out, &written, if options.runs.is_some() { "trial" } else { "task" })
}

/// Runs `preferences`.
pub(super) fn preferences(workshop: &Workshop, options: &PreferenceOptions) -> anyhow::Result<()> {
    let (workshop, store, how) = options.common.ready(workshop, options.pairs)?;
    let written = rows::preferences(&workshop, &store, &how, &options.common.output)?;
    told(&options.common.output, &written, "task")
}

fn told(out: &Path, written: &Written, what: &str) -> anyhow::Result<()> {
    let Written { rows, tasks, without } = written;
    let (count, files) = (counted(rows.rows, "row"), counted(rows.shards, "file"));
    eprintln!("wrote {}: {count} of {} in {files}, {} bytes", out.display(), counted(*tasks, what), rows.bytes);
    if without.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = without.iter().take(NAMED).map(|(id, why)| format!("\n  {id}: {why}")).collect();
    let (count, named) = (without.len(), named.concat());
    Err(Failure::falls_short(format!("{count} have no row:{named}"), "benchwright audit DIR --trial near-miss"))
}
