//! `benchwright new`: tasks of one pattern, fresh from seeds.

use crate::{failure::Failure, output, stream, suites, work::Setting};
use benchwright_pack::{CANARY, Store, Suite, SuiteTask};
use benchwright_project::Pattern;
use std::path::PathBuf;

/// Makes new tasks of a pattern
#[derive(clap::Args)]
#[command(after_long_help = "\
Task i has the seed N + i, so the same line makes the same tasks again. DIR gets the open parts under
open/, the sealed parts under sealed/, and the lock file suite.toml.

A thousand tasks and more, and any number with --shards, are written as Parquet shards of a thousand, one
row a task. If that is cut off, the same line goes on with the shards that are missing. Only families that
prove their tasks themselves can be streamed.

Examples:
  benchwright new production/lowest-cost-sourcing-route --tier medium --seed 1 --count 3 -o out
  benchwright show out/open/ID

Keys of --json: those of `build --json`; for shards tasks, shards, kept_shards, bytes, bytes_per_task,
cpu_s, tasks_per_cpu_s")]
pub(crate) struct Options {
    /// The pattern; `benchwright patterns` lists them
    pattern: String,
    /// The tier: easy, medium or hard, as far as the pattern has it
    #[arg(long)]
    tier: String,
    /// The objective [default: the usual one of the pattern at that tier]
    #[arg(long)]
    objective: Option<String>,
    /// The seed of the first task
    #[arg(long, value_name = "N")]
    seed: u64,
    /// How many tasks
    #[arg(long, value_name = "K", default_value_t = 1)]
    count: u64,
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Writes Parquet shards
    #[arg(long)]
    shards: bool,
    /// How many worker processes [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(setting: &Setting, options: &Options) -> anyhow::Result<()> {
    let pattern = setting.catalog.pattern(&options.pattern).map_err(|e| Failure::of_catalog(e, &options.pattern))?;
    let objective = objective(&pattern, &options.tier, options.objective.as_deref())?;
    let family = setting.catalog.family(&pattern.family).map_err(|e| Failure::of_catalog(e, &pattern.family))?;
    let shards = family.proof().is_some() && (options.shards || options.count >= stream::FROM);
    if options.shards && !shards {
        let message = format!("{} asks a solver, so its tasks are not streamed", pattern.name);
        return Err(Failure::wrong_use(message, "leave --shards out, then: benchwright export parquet"));
    }
    if !shards {
        suites::check_empty(&options.output)?;
    }
    let suite = Suite {
        name: pattern.name.replace(['/', '_'], "-"),
        version: 1,
        family: pattern.family.clone(),
        canary: CANARY.to_owned(),
        solver: Some(suites::solver_for(&setting.catalog, &pattern.family)?),
        tasks: lines(&pattern.name, &options.tier, &objective, options.seed, options.count)?,
    };
    if shards {
        let made = stream::make(setting, &suite, &options.output, options.jobs)?;
        if options.json {
            output::json(&made.to_json())?;
        } else {
            output::data(&made.to_text())?;
        }
        return Ok(());
    }
    let store = Store::at(&options.output);
    let built = suites::make(setting, &suite, &store, options.jobs, false)?;
    if options.json {
        output::json(&built.to_json())?;
    } else {
        output::data(&built.to_table())?;
        if let Some((_, made)) = built.made.first() {
            eprintln!("next: benchwright show {}", options.output.join("open").join(&made.id).display());
        }
    }
    built.failure().map_or(Ok(()), Err)
}

/// The objective that was asked for, or the usual one of the tier.
fn objective(pattern: &Pattern, tier: &str, wanted: Option<&str>) -> anyhow::Result<String> {
    let next = format!("benchwright patterns {}", pattern.name);
    let Some(cell) = pattern.cell(tier).filter(|cell| !cell.objectives.is_empty()) else {
        let tiers: Vec<&str> = pattern.head.cells.iter().map(|cell| &*cell.tier).collect();
        let message = format!("{} has no tier `{tier}`; it has {}", pattern.name, tiers.join(", "));
        return Err(Failure::wrong_use(message, next));
    };
    let wanted = wanted.unwrap_or(&cell.objectives[0]);
    if !pattern.admits(tier, wanted) {
        let known = cell.objectives.join(", ");
        let message = format!("{} has no objective `{wanted}` at tier {tier}; it has {known}", pattern.name);
        return Err(Failure::wrong_use(message, next));
    }
    Ok(wanted.to_owned())
}

fn lines(pattern: &str, tier: &str, objective: &str, seed: u64, count: u64) -> anyhow::Result<Vec<SuiteTask>> {
    const MOST: u64 = 1_000_000;
    // A lock file has no larger numbers.
    const LARGEST_SEED: u64 = i64::MAX as u64;
    if count == 0 || count > MOST || seed > LARGEST_SEED - count {
        let message = format!(
            "{count} tasks from seed {seed}: between 1 and {MOST} can be made at a time, with seeds up to {LARGEST_SEED}"
        );
        return Err(Failure::wrong_use(message, "another --count or --seed"));
    }
    let line = |at: u64| SuiteTask {
        pattern: pattern.to_owned(),
        tier: tier.to_owned(),
        objective: objective.to_owned(),
        seed: seed + at,
        digest: None,
        cluster: None,
    };
    Ok((0..count).map(line).collect())
}
