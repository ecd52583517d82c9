//! `benchwright build`: makes a suite again and holds every task to its digest.

use crate::{output, suites, tasks, work::Setting};
use benchwright_pack::{Store, store};
use std::path::PathBuf;

/// Makes a suite again and verifies every digest
#[derive(clap::Args)]
#[command(after_long_help = "\
Every task is made from its pattern, tier, objective and seed, by worker processes, and must have the
digest of its line. Where lines have no digest yet, and with --lock everywhere, the digests found are
written into SUITE.toml. The result does not depend on the number of jobs.

The exit code is 1 if a task differs or could not be made, and 3 if the solver library here is another
than the one the suite was locked with.

Example:
  benchwright build suites/erp-300.toml -o out

Keys of --json:
  tasks, digest, seconds, by {pattern, tier, objective},
  figures {TIER: {tasks, variables, rules, checks, resamples, discarded}}, short [{task, why}]")]
pub(crate) struct Options {
    /// The lock file
    #[arg(value_name = "SUITE.toml")]
    suite: PathBuf,
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// How many worker processes [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Writes the digests found into the lock file, whatever it held
    #[arg(long)]
    lock: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(setting: &Setting, options: &Options) -> anyhow::Result<()> {
    let mut suite = suites::read(&options.suite)?;
    suites::check_empty(&options.output)?;
    let catalog = &setting.catalog;
    let here = match options.lock {
        true => suites::solver_for(catalog, &suite.family)?,
        false => suites::solver_of(catalog, &suite)?,
    };
    let is_open = suite.solver.is_none() || suite.tasks.iter().any(|task| task.digest.is_none());
    suite.solver = Some(here);
    let store = Store::at(&options.output);
    let built = suites::make(setting, &suite, &store, options.jobs, !options.lock)?;
    if built.short.is_empty() && (options.lock || is_open) {
        store::write_suite(&options.suite, &built.suite).map_err(tasks::of_store)?;
        eprintln!("locked {}", options.suite.display());
    }
    if options.json {
        output::json(&built.to_json())?;
    } else {
        output::data(&built.to_table())?;
    }
    built.failure().map_or(Ok(()), Err)
}
