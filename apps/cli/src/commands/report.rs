//! `benchwright report`, `compare` and `power`: numbers of runs, with intervals that hold.

use crate::{failure::Failure, output, shared::Shared};
use benchwright_report::{
    Comparison, Side, Tally, compare_all,
    stats::{Design, power, smallest_difference},
    text,
};
use benchwright_workshop::{Error, Workshop, recorded::Recorded, runs::Runs};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, path::PathBuf};

/// Pages of failed trials for each agent, unless more are asked for.
const DETAILS: usize = 50;

/// Tells what came of a run, in tables or as pages
#[derive(clap::Args)]
#[command(after_long_help = "\
Intervals are of 95 % and cluster on the pattern, because tasks of one pattern are alike. With --html a folder of
static pages is written that opens from disk: an index with who is better and every task by every agent, a page for each task, for what
failed, and for each trial that is asked for, with what was said, why checks failed and what changed. Those of trials need the tasks of the run.

The records of a run are a chain of hashes. Every report checks its links and that every file is there. With --verify the
folders are held to their digests and the tasks to their lock, and the calls of every trial are made again and judged;
what differs is named, trial by trial, and what could not be judged again is told as not verified. The exit code is then 1.
A chain that was cut at its end, or made again as a whole, is seen only by who has a head from before: publish the one that
`run` prints, and give it to --head.

Examples:
  benchwright report
  benchwright report 2026-11-15T090000-out --verify
  benchwright report 2026-11-15T090000-out --html report --details failed

Keys of --json:
  run, head, records (the digest of all records, times apart), flaws, tasks, clusters, attempts, planned, attempted, scored, errors, mean_reward, pass_at_1, trials_per_s,
  environment_share, agents [{agent, all, by {tier, pattern, domain, objective, horizon, ways}, families, rules, grids,
  correlations, flaky, pairs, refusals, icc_cluster, icc_task}]
With --verify:
  run, head, links, trials, drawn, verified, errors, differs and not_verified [{trial, task, agent, attempt, file, what}]")]
pub(crate) struct Options {
    /// The run, by its name or its folder; `benchwright runs` lists them [default: the newest]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Where runs are kept
    #[arg(long, value_name = "RUNS", default_value = "runs", conflicts_with = "ledger")]
    runs: PathBuf,
    #[command(flatten)]
    shared: Shared,
    /// Writes pages into this folder
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Which trials get a page: failed, all, or so many failed ones of each agent
    #[arg(long, value_name = "failed|all|N", requires = "html")]
    details: Option<String>,
    /// The folder of the run's tasks [default: the one it was run on]
    #[arg(long, value_name = "DIR")]
    tasks: Option<PathBuf>,
    /// Judges every trial again from its calls and names all that is not as it was recorded
    #[arg(long, conflicts_with = "html")]
    verify: bool,
    /// A head of the run's records that was published: one that the chain never had is named
    #[arg(long, value_name = "HEAD", requires = "verify")]
    head: Option<String>,
    /// Judges only so many trials again, drawn by the head of the records
    #[arg(long, value_name = "N", requires = "verify")]
    sample: Option<usize>,
    /// How many trials are judged at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// A run with its records.
fn read(runs: &Runs, given: Option<&str>) -> anyhow::Result<Recorded> {
    Recorded::open(runs, given).map_err(|error| match error {
        Error::NoRun(_) => {
            let what = given.map_or("there is no run yet".to_owned(), |given| format!("there is no run `{given}`"));
            Failure::wrong_use(what, "benchwright run DIR --agent greedy")
        }
        other => other.into(),
    })
}

/// Runs `report`.
pub(crate) fn run(workshop: &Workshop, options: &Options) -> anyhow::Result<()> {
    let runs = match options.shared.open()? {
        Some(shared) => shared,
        None => Runs::open(&options.runs)?,
    };
    let read = read(&runs, options.run.as_deref())?;
    let workshop = workshop.clone().with_jobs(options.jobs);
    if options.verify {
        return verify(&workshop, &read, options);
    }
    let mut tally = Tally::new(&read.plan);
    let mut chosen = options.html.as_ref().map(|_| details(options)).transpose()?.map(|which| read.choose(which));
    let flaws = read.each(&mut |number, record| {
        if let Some(chosen) = &mut chosen {
            chosen.add(number, record);
        }
        tally.add(record)
    })?;
    let summary = tally.summary();
    if let (Some(folder), Some(chosen)) = (&options.html, chosen) {
        let sides: Vec<Side<'_>> = read.plan.agents.iter().map(|agent| Side { tally: &tally, agent }).collect();
        let tasks = read.tasks(options.tasks.as_deref()).ok();
        if tasks.is_none() {
            eprintln!(
                "the tasks of this run are not where they were, so no trial gets a page; --tasks DIR says where they are"
            );
        }
        for wrong in read.pages(&workshop, tasks.as_deref(), (&tally, compare_all(&sides)?), chosen, folder)? {
            eprintln!("warning: {wrong}");
        }
        eprintln!("next: open {}/index.html", folder.display());
    }
    if options.json {
        let flaws: Vec<String> = flaws.iter().map(ToString::to_string).collect();
        let mut told = json!({ "run": read.name, "head": read.head(), "records": read.digest()?, "flaws": flaws });
        if let (Json::Object(told), Json::Object(summary)) = (&mut told, serde_json::to_value(&summary)?) {
            told.extend(summary);
        }
        output::json(&told)?;
    } else {
        output::data(&text::summary(&summary, output::columns()))?;
        output::data(&format!("\nhead of the records: {}\n", read.head()))?;
    }
    // The numbers above are worth nothing if the records were changed.
    Ok(read.refuse(flaws)?)
}

/// Judges every trial again.
fn verify(workshop: &Workshop, read: &Recorded, options: &Options) -> anyhow::Result<()> {
    let found = read.verify(workshop, options.tasks.as_deref(), options.head.as_deref(), options.sample)?;
    match options.json {
        true => output::json(&serde_json::to_value(&found)?)?,
        false => output::data(&found.to_text())?,
    }
    let (differs, open) = (found.differs.len(), found.not_verified.len());
    let next = match (differs, open) {
        (0, 0) => return Ok(()),
        (0, _) => "--tasks DIR, with the open and the sealed parts of the run's tasks",
        _ => "the run again: benchwright run DIR --new; what differs above is not what was recorded",
    };
    Err(Failure::falls_short(
        format!("{differs} things differ and {open} trials are not verified in {}", read.name),
        next,
    ))
}

/// Which trials get a page: whether only those that did not pass, and of each agent how many.
fn details(options: &Options) -> anyhow::Result<(bool, usize)> {
    let wrong =
        |given: &str| Failure::wrong_use(format!("`{given}` is no number"), "--details failed, all or a number");
    Ok(match options.details.as_deref() {
        None => (true, DETAILS),
        Some("failed") => (true, usize::MAX),
        Some("all") => (false, usize::MAX),
        Some(number) => (true, number.parse().map_err(|_| wrong(number))?),
    })
}

/// Compares the agents of two runs on the same tasks
#[derive(clap::Args)]
#[command(after_long_help = "\
Differences are paired task by task, with errors clustered on the pattern, and corrected by Holm where several agents are
compared. The tasks must be the same, by digest. \"cannot distinguish\" is an answer.

Example:
  benchwright compare 2026-11-15T090000-out 2026-11-16T090000-out

Keys of --json:
  [{a, b, left_out, pass, p_holm, reward, tiers}]")]
pub(crate) struct CompareOptions {
    /// The runs, by name or folder; one alone compares its own agents
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    given: Vec<String>,
    /// Where runs are kept
    #[arg(long, value_name = "RUNS", default_value = "runs")]
    runs: PathBuf,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs `compare`.
pub(crate) fn compare(options: &CompareOptions) -> anyhow::Result<()> {
    let runs = Runs::open(&options.runs)?;
    let all = options.given.iter().map(|given| read(&runs, Some(given))).collect::<anyhow::Result<Vec<Recorded>>>()?;
    let mut tallies = Vec::new();
    for read in &all {
        let (tally, flaws) = read.tally()?;
        read.refuse(flaws)?;
        tallies.push(tally);
    }
    let mut sides = Vec::new();
    for (read, tally) in all.iter().zip(&tallies) {
        sides.extend(read.plan.agents.iter().map(|agent| Side { tally, agent }));
    }
    if sides.len() < 2 {
        return Err(Failure::wrong_use("there is one agent only", "benchwright compare RUN RUN"));
    }
    let found: Vec<Comparison> =
        compare_all(&sides).map_err(|error| Failure::wrong_use(error, "two runs on the same tasks"))?;
    match options.json {
        true => Ok(output::json(&serde_json::to_value(&found)?)?),
        false => Ok(output::data(&text::comparisons(&found, output::columns()))?),
    }
}

/// Says what a comparison could find before it is run
#[derive(clap::Args)]
#[command(after_long_help = "\
Example:
  benchwright power --tasks 300 --trials 4 --clusters 29

Keys of --json:
  power {DIFFERENCE: POWER}, smallest (found with power 0.8; null where none is)")]
pub(crate) struct PowerOptions {
    /// Tasks
    #[arg(long, value_name = "N", default_value_t = 300)]
    tasks: u32,
    /// Trials of each agent on each task
    #[arg(long, value_name = "K", default_value_t = 1)]
    trials: u32,
    /// Clusters of tasks: patterns
    #[arg(long, value_name = "G", default_value_t = 29)]
    clusters: u32,
    /// How much two results on one task agree, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.4)]
    agreement: f64,
    /// The success rate of the weaker agent
    #[arg(long, value_name = "RATE", default_value_t = 0.5)]
    base: f64,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs `power`.
pub(crate) fn power_of(options: &PowerOptions) -> anyhow::Result<()> {
    let PowerOptions { tasks, trials, clusters, agreement: icc, base, .. } = *options;
    let design = Design { tasks, trials, clusters, icc, base };
    let differences = [0.01, 0.02, 0.03, 0.05, 0.08, 0.10, 0.15, 0.20];
    if differences.iter().all(|difference| power(&design, *difference).is_none()) {
        let message = "such a comparison cannot be made";
        return Err(Failure::wrong_use(message, "2 clusters or more, no more clusters than tasks, shares from 0 to 1"));
    }
    if options.json {
        let powers: BTreeMap<String, Option<f64>> =
            differences.iter().map(|difference| (difference.to_string(), power(&design, *difference))).collect();
        return Ok(output::json(&json!({ "power": powers, "smallest": smallest_difference(&design, 0.8) }))?);
    }
    Ok(output::data(&text::power_table(&design, &differences, output::columns()))?)
}
