//! `benchwright new`: tasks of one pattern, fresh from seeds.

use super::build;
use crate::{
    failure::Failure,
    output,
    shared::{self, Shared},
};
use benchwright_catalog::Catalog;
use benchwright_pack::{Split, Store};
use benchwright_workshop::{
    Workshop,
    own::{self, Placed},
    shared::plan_make,
    stream as streams, suites,
    told::{self, stream},
};
use std::path::PathBuf;

/// Makes new tasks of a pattern
#[derive(clap::Args)]
#[command(after_long_help = "\
Task i has the seed N + i, so the same line makes the same tasks again. DIR gets the open parts under
open/, the sealed parts under sealed/, and the lock file suite.toml. A pattern that is given by the path to its
folder is called own/FOLDER in them; other commands find it by --patterns and the folder that it lies in.

The folder of a planning workflow can be given too. It is kept under domains/ in DIR, where other commands find it.
So is what --files makes of a workflow: the same rules on your own data, read by the columns of its files or by the
names that a columns.toml beside yours gives (docs/planning.md). There is one such task, and nothing is drawn.

A thousand tasks and more, and any number with --shards, are written as Parquet shards of a thousand, one
row a task. Only families that prove their tasks themselves can be streamed. Either way, what is cut off goes on when
the same line is given again.

Examples:
  benchwright new production/lowest-cost-sourcing-route --tier medium --seed 1 --count 3 -o out
  benchwright show out/open/ID
  benchwright new production/lowest-cost-sourcing-route --tier medium --seed 1 --count 500 --split train -o train
  benchwright new ./my-pattern --tier easy --seed 1 -o out
  benchwright --patterns . audit out
  benchwright new ./my-workflow --tier easy --seed 1 -o mine
  benchwright new planning/coatings --files examples/coatings-own -o own

Keys of --json: those of `build --json`; for shards tasks, shards, kept_shards, bytes, bytes_per_task,
cpu_s, tasks_per_cpu_s")]
pub(crate) struct Options {
    /// The pattern, by its name or the path to its folder; `benchwright patterns` lists them
    pattern: String,
    /// The tier: easy, medium or hard, as far as the pattern has it
    #[arg(long, required_unless_present = "files")]
    tier: Option<String>,
    /// The objective [default: the usual one of the pattern at that tier]
    #[arg(long)]
    objective: Option<String>,
    /// The seed of the first task
    #[arg(long, value_name = "N", required_unless_present = "files")]
    seed: Option<u64>,
    /// How many tasks
    #[arg(long, value_name = "K", default_value_t = 1)]
    count: u64,
    /// Makes the task of your own files: CSV, JSON or XLSX
    #[arg(long, value_name = "DIR", conflicts_with_all = ["count", "shards", "twins", "ledger"])]
    files: Option<PathBuf>,
    /// Makes each task twice, with the two readings of this clause: twins, of which a habit passes one
    #[arg(long, value_name = "CLAUSE", conflicts_with = "shards")]
    twins: Option<String>,
    /// What the tasks are for. Those of the two splits come from seeds of their own and are never the same
    #[arg(long, value_name = "SPLIT", default_value = "test", value_parser = ["test", "train"])]
    split: String,
    /// The folder to write; with --store its name there
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    shared: Shared,
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

impl Options {
    /// The pattern as it was given.
    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Puts a workflow that is not the program's into the store, if one is asked for.
    pub(crate) fn place(&self, catalog: &Catalog) -> anyhow::Result<Option<Placed>> {
        let is_own = self.files.is_some() || own::is_domain(&self.pattern);
        let place = || own::place(catalog, &self.pattern, self.files.as_deref(), &self.output);
        Ok(is_own.then(place).transpose()?)
    }
}

/// Runs the command.
pub(crate) fn run(workshop: &Workshop, options: &Options, placed: Option<Placed>) -> anyhow::Result<()> {
    let workshop = workshop.clone().with_jobs(options.jobs);
    let catalog = workshop.catalog();
    let by_path = || Catalog::pattern_path(&options.pattern).map(|(_, name)| name);
    let placed_as = placed.as_ref().map(|placed| placed.pattern.clone());
    let name = placed_as.or_else(by_path).unwrap_or_else(|| options.pattern.clone());
    let seed = options.seed.unwrap_or(1);
    let (seeds, tier) = (seed..seed.saturating_add(options.count), options.tier.as_deref().unwrap_or("medium"));
    let split = Split::from_word(&options.split).unwrap_or_default();
    let mut suite = suites::of_pattern(catalog, &name, tier, options.objective.as_deref(), split, seeds)?;
    if let Some(clause) = &options.twins {
        suite = suites::twins(catalog, suite, clause)?;
    }
    let streams = streams::can(catalog, &name).map_err(|e| Failure::of_catalog(e, &options.pattern))?;
    let shards = streams && (options.shards || options.count >= streams::FROM);
    if options.shards && !shards {
        let message = format!("{name} asks a solver or a world, so its tasks are not streamed");
        return Err(Failure::wrong_use(message, "leave --shards out, then: benchwright export parquet"));
    }
    suite.solver = Some(build::warned(suites::solver_for(catalog, &suite)?));
    if let Some(runs) = options.shared.open()? {
        options.shared.invite();
        let name = options.output.to_string_lossy();
        return shared::told(&plan_make(&workshop, &runs, &name, &suite)?, options.json);
    }
    if shards {
        let made = streams::make(&workshop, &suite, &options.output)?;
        output::either(options.json, || stream::to_json(&made), || stream::to_text(&made))?;
        return Ok(());
    }
    let store = Store::at(&options.output);
    let built = suites::make(&workshop, &suite, &store, false)?;
    if let (true, Some(placed)) = (built.made.is_empty(), &placed) {
        placed.take_back()?;
    }
    if options.json {
        output::json(&told::build::to_json(&built))?;
    } else {
        output::data(&told::build::to_table(&built))?;
        if let Some((_, made)) = built.made.first() {
            eprintln!("next: benchwright show {}", options.output.join("open").join(&made.id).display());
        }
    }
    build::failure(&built).map_or(Ok(()), Err)
}
