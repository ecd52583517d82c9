//! `benchwright odoo`: holds the embedded ERP to a real Odoo 19.

use crate::{failure::Failure, output, tasks};
use benchwright_catalog::Catalog;
use benchwright_conformance::{Done, check, known, replay, run_cases};
use benchwright_odoo::{Difference, Site};
use benchwright_pack::Snapshot;
use benchwright_workshop::tasks::Judged;
use serde_json::{Value as Json, json};
use std::{fs, path::PathBuf};

/// Holds the embedded ERP to a real Odoo 19
#[derive(clap::Args)]
#[command(after_long_help = "\
Needs a running Odoo: `scripts/odoo up` installs and starts one, and $BENCHWRIGHT_ODOO names its folder where it
is not target/odoo. The exit code is 1 if the two disagree, and 3 if there is no Odoo.

Examples:
  benchwright odoo check out
  benchwright odoo check out --pattern procurement/routine-replenishment-cycle --json")]
pub(crate) struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Check(CheckOptions),
    Replay(ReplayOptions),
    Cases(CasesOptions),
    Compare(CompareOptions),
}

/// Runs oracle, idle and near-misses of tasks on Odoo, judged by the tasks' own verifiers
#[derive(clap::Args)]
#[command(after_long_help = "\
One task of each pattern, or all with --all. Each task is a line of JSON in the journal; a task whose line is there is
not run again, so the command can be stopped and started at will. Near-misses are calls; each must be refused by
the rule it breaks, on the embedded ERP and on Odoo.

Keys of --json:
  tasks, passed, near_misses, seconds, version, sha256, failed [{task, why}]")]
struct CheckOptions {
    /// A folder that `new` or `build` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Only tasks of this pattern; may be given again
    #[arg(long = "pattern", value_name = "NAME")]
    pattern: Vec<String>,
    /// Every task, not one of each pattern
    #[arg(long)]
    all: bool,
    /// Only this task; may be given again
    #[arg(long = "task", value_name = "ID")]
    tasks: Vec<String>,
    /// How many near-misses of each task
    #[arg(long, value_name = "N", default_value_t = 4)]
    near_misses: usize,
    /// Where the line of each task is kept [default: DIR/odoo-check.jsonl]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Makes drawn calls, legal and illegal, on both, and compares answers and states
#[derive(clap::Args)]
#[command(after_long_help = "\
The world is that of a task of the folder, without its surroundings. The same seed draws the same calls. Of 500
sequences or more, half of the calls must succeed on Odoo, and each method that tasks need must succeed 30 times and
be refused 10 times; what came too seldom is missed.

Keys of --json:
  sequences, calls, succeeded, seconds, version, methods {CALL: {succeeded, refused}},
  counted {METHOD: {succeeded, refused}}, deviations {KIND: {count, examples}}, missed [TEXT]")]
struct ReplayOptions {
    /// A folder that `new` or `build` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The task whose world is used [default: the smallest that has all kinds of records]
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// How many sequences of 20 calls
    #[arg(long, value_name = "N", default_value_t = 500)]
    sequences: usize,
    /// The number of the first sequence
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: usize,
    /// The seed they are drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Keeps a line for each sequence; one whose line is there is not run again
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the named cases of the conformance list on both
#[derive(clap::Args)]
#[command(after_long_help = "\
Each case is a few calls about one thing that Odoo does and a simulator must do too. Answers and states are compared.

Keys of --json:
  cases, passed, version, failed [{case, why}]")]
struct CasesOptions {
    /// A folder that `new` or `build` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The task whose world is used [default: the smallest that has all kinds of records]
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Compares two terminal states of a task, whichever engine left them
#[derive(clap::Args)]
#[command(after_long_help = "\
Rows of the first state are compared by their ids, later ones by the order in which they were made, and documents by
their place, not by their number. Needs no Odoo. The exit code is 1 if they differ.

Keys of --json:
  differences [{table, row, field, left, right}]")]
struct CompareOptions {
    /// The folder of the task's open part, DIR/open/ID, or DIR/ID
    #[arg(value_name = "TASK")]
    task: PathBuf,
    /// A snapshot
    #[arg(value_name = "SNAPSHOT")]
    left: PathBuf,
    /// Another
    #[arg(value_name = "SNAPSHOT")]
    right: PathBuf,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// The installation with at most so many of its slots, or what to do about it.
pub(super) fn site(slots: usize) -> anyhow::Result<Site> {
    Site::find(slots).map_err(|error| Failure::missing(error, "scripts/odoo up"))
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    match &options.what {
        What::Compare(options) => compare(catalog, options),
        What::Check(options) => {
            let site = site(1)?;
            let wanted = check::Wanted {
                dir: &options.dir,
                patterns: &options.pattern,
                tasks: &options.tasks,
                all: options.all,
                near_misses: options.near_misses,
                journal: options.journal.clone().unwrap_or_else(|| options.dir.join("odoo-check.jsonl")),
            };
            let summary = check::run(catalog, &site, &wanted)?;
            output::either(options.json, || summary.to_json(&site), || summary.to_table(&site))?;
            if summary.failed.is_empty() {
                return Ok(());
            }
            Err(Failure::falls_short(
                format!("{} tasks do not behave on Odoo as they should", summary.failed.len()),
                "the lines of the log",
            ))
        }
        What::Cases(options) => {
            let site = site(1)?;
            let outcomes = run_cases(catalog, &site, &options.dir, options.task.as_deref())?;
            let failed: Vec<_> = outcomes.iter().filter(|outcome| !outcome.faults.is_empty()).collect();
            if options.json {
                let list: Vec<Json> =
                    failed.iter().map(|case| json!({ "case": case.name, "why": case.faults })).collect();
                let passed = outcomes.len() - failed.len();
                output::json(
                    &json!({ "cases": outcomes.len(), "passed": passed, "version": site.version, "failed": list }),
                )?;
            } else {
                for case in &outcomes {
                    let said = if case.faults.is_empty() { "same".to_owned() } else { case.faults.join("; ") };
                    output::data(&format!("{:48} {:3} calls  {said}\n", case.name, case.calls))?;
                }
            }
            match failed.len() {
                0 => Ok(()),
                n => Err(Failure::falls_short(format!("{n} cases differ"), "the lines above")),
            }
        }
        What::Replay(options) => {
            let site = site(1)?;
            let wanted = replay::Wanted {
                dir: &options.dir,
                task: options.task.as_deref(),
                from: options.from,
                sequences: options.sequences,
                seed: options.seed,
                journal: options.journal.as_deref(),
            };
            let summary = replay::run(catalog, &site, &wanted)?;
            output::either(options.json, || summary.to_json(&site), || summary.to_table(&site))?;
            match (summary.deviations(), summary.missed().len()) {
                (0, 0) => Ok(()),
                (0, n) => Err(Failure::falls_short(format!("{n} kinds of calls came too seldom"), "the lines above")),
                (n, _) => Err(Failure::falls_short(
                    format!("{n} kinds of deviation"),
                    "domains/erp/FIDELITY.md lists those that are known",
                )),
            }
        }
    }
}

fn compare(catalog: &Catalog, options: &CompareOptions) -> anyhow::Result<()> {
    let (store, id) = tasks::locate(&options.task)?;
    let task = store.task(&id)?;
    let judged = Judged::open(catalog, &task)?;
    let read = |path: &PathBuf| {
        let wrong =
            |error: String| Failure::wrong_use(format!("{}: {error}", path.display()), "a snapshot of this task");
        let bytes = fs::read(path).map_err(|error| wrong(error.to_string()))?;
        Snapshot::from_bytes(&bytes, &judged.domain).map_err(|error| wrong(error.to_string()))
    };
    let (left, right) = (read(&options.left)?, read(&options.right)?);
    let is_known = |difference: &Difference| known(difference, Done::default()).is_some();
    let differences = benchwright_odoo::compare(&judged.domain, &judged.first, &left, &right, &is_known);
    let rows = differences.iter();
    if options.json {
        let list: Vec<Json> = rows
            .map(|d| json!({ "table": d.table, "row": d.row, "field": d.field, "left": d.left, "right": d.right }))
            .collect();
        output::json(&json!({ "differences": list }))?;
    } else {
        let lines = rows.map(|d| format!("{} {} {}: {} | {}\n", d.table, d.row, d.field, d.left, d.right));
        output::data(&lines.collect::<String>())?;
    }
    match differences.len() {
        0 => Ok(()),
        n => Err(Failure::falls_short(format!("{n} differences"), "the lines above")),
    }
}
