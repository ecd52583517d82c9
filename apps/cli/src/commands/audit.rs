//! `benchwright audit`: tries to break every task of a folder or a suite.

use super::build;
use crate::{failure::Failure, output, shared::Shared};
use benchwright_export::is_sharded;
use benchwright_pack::{Store, Suite, store};
use benchwright_workshop::{
    Workshop,
    audits::{self, AuditOptions, Depth},
    freedoms,
    shared::plan_audit,
    suites,
    told::audit::{to_json, to_table},
};
use serde_json::json;
use std::path::PathBuf;

/// Tries to break every task of a folder or a suite
#[derive(clap::Args)]
#[command(after_long_help = "\
Every trial is run for real on the compiled task, by worker processes. A lock file is built into a
temporary folder first; in a folder, what was found is stored as sealed/ID/audit.json. Costly trials are run
on three tasks of each pattern unless they are named. An audit of a folder that was cut off goes on where it stopped.

With --depth all every trial is run on every task. With --depth sample the four that cost most, near-miss, both-sides,
ablate and dominance, are run on at most 299 tasks that are drawn of each cell (pattern, tier and objective), so many that,
if all are clean, fewer than 1 % are faulty with 95 % confidence; the other trials on every task. What that proves is kept
as DIR/audit.json. Shards are read one at a time, and what was found on them is kept there too; a suite of more than 5,000
tasks in shards is not compared with itself.

The exit code is 1 if a trial failed, a task could not be audited, a trial other than dominance and second-solver had no
verdict, the mutation score is below 1, or a trial could not break a larger share than the lock file says, and 3 if the
solver is missing or another than the one a lock file names.

Examples:
  benchwright audit out
  benchwright audit out --trial idle --trial oracle
  benchwright audit shards --depth sample
  benchwright audit suites/erp-300.toml --sample 29 --json
  benchwright audit --freedoms procurement/buy-with-a-fixed-deposit

Keys of --json:
  tasks, mutation_score,
  trials {NAME: {run, passed, na, na_because {WHY: count}, no_verdict, failed, seconds, counts}},
  shortfalls [[task, trial, what]], risen [WHAT], reasons {WHY: count}, errors [{task, why}],
  suite {held, why, counts, notes}, where a whole suite was audited,
  cells {\"PATTERN TIER OBJECTIVE\": {tasks, trials {NAME: {tried, clean, bound}}}} with --depth sample, where
  bound is the largest share of faulty tasks that is not ruled out, in millionths
With --freedoms, a list:
  pattern, free [{table, field, why, told}], held {TABLE: {FIELD: condition}}, stamped {TABLE: [field]},
  void {TABLE: {when, why}}, harmless {CALLS: why}")]
pub(crate) struct Options {
    /// A folder that `new` or `build` wrote, or a lock file; with --store a folder's name there
    #[arg(value_name = "DIR|SUITE.toml", required_unless_present = "freedoms")]
    what: Option<PathBuf>,
    /// Prints what the rules of patterns, or of all, leave open instead
    #[arg(long, value_name = "PATTERN", num_args = 0.., conflicts_with = "what")]
    freedoms: Option<Vec<String>>,
    /// Runs this trial only; may be given again
    #[arg(long = "trial", value_name = "NAME")]
    trials: Vec<String>,
    /// Audits N tasks only, spread over the patterns
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Runs every trial on every task, or the costly ones on a drawn sample of each cell
    #[arg(long, value_name = "DEPTH", value_parser = ["all", "sample"], conflicts_with = "sample")]
    depth: Option<String>,
    /// How many worker processes [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Writes the shares that no trial could break into the lock file, which later audits may not exceed
    #[arg(long, conflicts_with_all = ["sample", "trials", "depth"])]
    lock: bool,
    #[command(flatten)]
    shared: Shared,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(workshop: &Workshop, options: &Options) -> anyhow::Result<()> {
    if let Some(patterns) = &options.freedoms {
        let open = freedoms::of(workshop.catalog(), patterns)?;
        let told = if options.json { output::json(&json!(open)) } else { output::data(&freedoms::to_text(&open)) };
        return Ok(told?);
    }
    let what = options.what.clone().unwrap_or_default();
    if let Some((name, next)) = audits::no_trial(&options.trials) {
        return Err(Failure::wrong_use(format!("there is no trial `{name}`"), next));
    }
    if options.lock && (what.is_dir() || build::carried(&what).is_some()) {
        return Err(Failure::wrong_use("only a lock file can be locked", "the path of a lock file"));
    }
    let workshop = workshop.clone().with_jobs(options.jobs);
    let depth = options.depth.as_deref().map(|depth| if depth == "all" { Depth::All } else { Depth::Sample });
    let how = AuditOptions { trials: options.trials.clone(), sample: options.sample, depth };
    let audit = if let Some(runs) = options.shared.open()? {
        options.shared.invite();
        plan_audit(&workshop, &runs, &what.to_string_lossy(), &how)?
    } else if what.is_dir() {
        let store = Store::at(&what);
        // The audit of shards looks for the solver itself, once it knows their patterns.
        if !is_sharded(&what)
            && store.suite().ok().is_none_or(|suite| suites::audit_asks_solver(workshop.catalog(), &suite, &how))
        {
            build::warned(suites::solver_here()?);
        }
        audits::folder(&workshop, &store, &how)?
    } else {
        let suite = build::read(&what)?;
        if suites::audit_asks_solver(workshop.catalog(), &suite, &how) {
            build::warned(suites::solver_here()?);
        }
        suites::solver_of(workshop.catalog(), &suite)?;
        let held =
            if options.lock { Suite { unbreakable: Default::default(), ..suite.clone() } } else { suite.clone() };
        let audit = audits::suite(&workshop, &held, &how)?;
        if options.lock && audit.is_clean() {
            store::write_suite(&what, &Suite { unbreakable: audit.report.unbreakable(), ..suite })?;
            eprintln!("locked {}", what.display());
        }
        audit
    };
    let told = to_json(&audit)?;
    output::either(options.json, || told, || to_table(&audit))?;
    if audit.is_clean() {
        return Ok(());
    }
    Err(Failure::falls_short("the audit is not clean", format!("benchwright audit {} --json", what.display())))
}
