//! `benchwright build`: makes a suite again and holds every task to its digest.

use crate::{
    failure::Failure,
    layout::{columns, counted},
    output,
    shared::{self, Shared},
};
use benchwright_base::nearest;
use benchwright_pack::{Store, StoreError, Suite, SuiteError, SuiteSolver, SuiteTask, store};
use benchwright_solve::PINNED_VERSION;
use benchwright_workshop::{
    Shortfall, Workshop, carried,
    shared::plan_make,
    suites::{self, Built, Figures, SolverHere, named},
};
use serde_json::{Map, Value as Json, json};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Makes a suite again and verifies every digest
#[derive(clap::Args)]
#[command(after_long_help = "\
Every task is made from its pattern, tier, objective and seed, by worker processes, and must have the
digest of its line. Where lines have no digest yet, and with --lock everywhere, the digests found are
written into SUITE.toml; --lock also draws the salt of its ids, once. The result does not depend on the number of jobs. A build that was cut off goes on
where it stopped when the same line is given again. With --inject that share of the tasks, by a draw for each, carries text that
asks for something else (docs/injection.md): a suite of its own, with DIR/suite.toml as its lock file. The suites of this repository come with
the program, by their names: demo, erp-300, twins-120, grid-324, ops-1150, ops-refusal-300.

The exit code is 1 if a task differs or could not be made, and 3 if the solver library here is another
than the one the suite was locked with.

Example:
  benchwright build erp-300 -o out

Keys of --json:
  tasks, digest, seconds, by {pattern, tier, objective}, short [{task, why}], requests {GROUP: {tasks, blocked, MEASURE}},
  figures {TIER: {tasks, variables, rules, checks, resamples, discarded}}")]
pub(crate) struct Options {
    /// The lock file, or the name of a suite that comes with the program
    #[arg(value_name = "SUITE.toml|NAME")]
    suite: PathBuf,
    /// The folder to write; with --store its name there
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    shared: Shared,
    /// How many worker processes [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Writes the digests found into the lock file, whatever it held
    #[arg(long, conflicts_with = "ledger")]
    lock: bool,
    /// Plants hostile text into this share of the tasks, from 0 to 1; the suite of DIR says so
    #[arg(long, value_name = "RATE", conflicts_with = "lock")]
    inject: Option<f64>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(workshop: &Workshop, options: &Options) -> anyhow::Result<()> {
    let workshop = workshop.clone().with_jobs(options.jobs);
    let mut suite = read(&options.suite)?;
    if options.lock && carried(&options.suite).is_some() {
        let message = format!("{} comes with the program and cannot be written", options.suite.display());
        return Err(Failure::wrong_use(message, "the path of a lock file"));
    }
    let locked = suite.name.clone();
    if let Some(rate) = options.inject {
        suite = suites::with_injections(suite, rate)?;
    }
    let catalog = workshop.catalog();
    let here = match options.lock {
        true => suites::solver_for(catalog, &suite)?,
        false => suites::solver_of(catalog, &suite)?,
    };
    // With other texts planted it is another suite, whose lock file is that of the folder.
    let is_open =
        suite.name == locked && (suite.solver.is_none() || suite.tasks.iter().any(|task| task.digest.is_none()));
    if options.lock && suite.salt.is_none() {
        // Written before anything is made, so that a build that was cut off goes on with it.
        suite.salt = Some(suites::fresh_salt()?);
        store::write_suite(&options.suite, &suite)?;
    }
    suite.solver = Some(warned(here));
    if let Some(runs) = options.shared.open()? {
        options.shared.invite();
        let name = options.output.to_string_lossy();
        return shared::told(&plan_make(&workshop, &runs, &name, &suite)?, options.json);
    }
    let store = Store::at(&options.output);
    let built = suites::make(&workshop, &suite, &store, !options.lock)?;
    if built.short.is_empty() && (options.lock || is_open) {
        store::write_suite(&options.suite, &built.suite)?;
        eprintln!("locked {}", options.suite.display());
    }
    if options.json {
        output::json(&to_json(&built))?;
    } else {
        output::data(&to_table(&built))?;
    }
    failure(&built).map_or(Ok(()), Err)
}

/// A suite that the program carries, if that is meant: a bare name is one, and a path never is.
fn carried(path: &Path) -> Option<Result<Suite, SuiteError>> {
    carried::suite(path.to_str()?)
}

/// Whether a suite that the program carries is meant, which cannot be written.
pub(super) fn is_carried(path: &Path) -> bool {
    carried(path).is_some()
}

/// Reads a lock file, or one of those that the program carries, by its name.
pub(super) fn read(path: &Path) -> anyhow::Result<Suite> {
    if let Some(suite) = carried(path) {
        return suite.map_err(|error| Failure::falls_short(error, "a program that was built anew"));
    }
    store::read_suite(path).map_err(|error| match &error {
        StoreError::Missing(_) => {
            let names = carried::suites();
            let given = path.file_stem().unwrap_or_default().to_string_lossy();
            let near =
                nearest(&given, names.clone()).map_or_else(|| names.collect::<Vec<_>>().join(" or "), str::to_owned);
            Failure::wrong_use(&error, format!("a suite that the program carries: benchwright build {near} -o DIR"))
        }
        StoreError::Suite { .. } => Failure::falls_short(&error, "mend the lock file"),
        _ => error.into(),
    })
}

/// A solver that is not everybody's is told.
pub(super) fn warned(here: SolverHere) -> SuiteSolver {
    if !here.is_pinned {
        eprintln!("warning: this solver library is not the pinned one ({PINNED_VERSION}); digests hold for it alone");
    }
    here.solver
}

/// The failure that this suite is, if it falls short.
pub(super) fn failure(built: &Built) -> Option<anyhow::Error> {
    let (line, first) = built.short.first()?;
    for (line, short) in &built.short {
        eprintln!("error: {}: {}", named(line), short.why);
    }
    let total = built.short.len();
    let message = format!("{} could not be made as wanted", counted(total, "task"));
    Some(match first.missing {
        true => Failure::missing(message, "benchwright doctor"),
        false => Failure::falls_short(
            message,
            format!(
                "benchwright new {} --tier {} --objective {} --seed {} -o DIR",
                line.pattern, line.tier, line.objective, line.seed
            ),
        ),
    })
}

/// The document of `--json`.
pub(super) fn to_json(built: &Built) -> Json {
    let by = |of: fn(&SuiteTask) -> &str| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (line, _) in &built.made {
            *counts.entry(of(line)).or_default() += 1;
        }
        json!(counts)
    };
    let digest = built.digest();
    let figures: Map<String, Json> =
        built.tiers().iter().map(|tier| ((*tier).to_owned(), figures_json(&built.figures(tier)))).collect();
    let short = |(line, short): &(SuiteTask, Shortfall)| json!({ "task": named(line), "why": short.why });
    json!({
        "tasks": built.made.len(),
        "digest": digest,
        "seconds": (built.seconds * 1000.0).round() / 1000.0,
        "by": {
            "pattern": by(|line| &line.pattern),
            "tier": by(|line| &line.tier),
            "objective": by(|line| &line.objective),
        },
        "figures": figures,
        "requests": built.requests(),
        "short": built.short.iter().map(short).collect::<Vec<_>>(),
    })
}

/// Figures by tier.
pub(super) fn to_table(built: &Built) -> String {
    let head = ["tier", "tasks", "variables", "rules", "checks", "thrown away", "per task"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for tier in built.tiers() {
        let figures = built.figures(tier);
        let per_task = figures.resamples as f64 / figures.tasks.max(1) as f64;
        rows.push(vec![
            tier.to_owned(),
            figures.tasks.to_string(),
            spread(&figures.variables),
            spread(&figures.rules),
            spread(&figures.checks),
            figures.resamples.to_string(),
            format!("{per_task:.2}"),
        ]);
    }
    let mut out = columns(&rows, &[1, 2, 3, 4, 5, 6], 0);
    let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, made) in &built.made {
        for (cause, count) in &made.discarded {
            *causes.entry(cause).or_default() += u64::from(*count);
        }
    }
    if !causes.is_empty() {
        let causes: Vec<String> = causes.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
        out.push_str(&format!("draws thrown away, by cause: {}\n", causes.join(", ")));
    }
    let unjudged = built.made.iter().filter(|(_, made)| made.checks.is_none()).count();
    if unjudged > 0 {
        out.push_str(&format!("{} whose own plan could not be carried out\n", counted(unjudged, "task")));
    }
    let digest = built.digest().unwrap_or_else(|| "none, because tasks are missing".to_owned());
    out.push_str(&format!("{} in {:.1} s, digest {digest}\n", counted(built.made.len(), "task"), built.seconds));
    out
}

fn figures_json(figures: &Figures) -> Json {
    let of = |list: &[usize]| match (list.first(), list.last()) {
        (Some(least), Some(most)) => json!({ "least": least, "median": list[list.len() / 2], "most": most }),
        _ => Json::Null,
    };
    json!({
        "tasks": figures.tasks,
        "variables": of(&figures.variables),
        "rules": of(&figures.rules),
        "checks": of(&figures.checks),
        "resamples": figures.resamples,
        "discarded": figures.discarded,
    })
}

/// `least median most` of a list in order.
fn spread(list: &[usize]) -> String {
    match (list.first(), list.last()) {
        (Some(least), Some(most)) => format!("{least} {} {most}", list[list.len() / 2]),
        _ => "-".to_owned(),
    }
}
