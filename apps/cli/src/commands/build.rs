//! `benchwright build`: makes a suite again and holds every task to its digest.

use crate::{
    failure::Failure,
    layout::counted,
    output,
    shared::{self, Shared},
};
use benchwright_base::nearest;
use benchwright_pack::{Store, StoreError, Suite, SuiteError, SuiteSolver, store};
use benchwright_solve::PINNED_VERSION;
use benchwright_workshop::{
    Workshop, carried,
    shared::plan_make,
    suites::{self, Built, Proofs, SolverHere, named},
    told::build::{to_json, to_table},
};
use std::path::{Path, PathBuf};

/// Makes a suite again and verifies every digest
#[derive(clap::Args)]
#[command(after_long_help = "\
Every task is made from its pattern, tier, objective and seed, by worker processes, and must have the digest of its line. What the solver
said of a planning task is kept beside the lock file, in SUITE.certificates: with it nothing is solved again and no solver library is
needed; --prove solves it all the same, and must come to the same. Where lines have no digest yet, and with --lock everywhere, the digests
found are written into SUITE.toml; --lock also draws the salt of its ids, once, and takes what is kept for what does not change. The result does not depend on the number of jobs. A build
that was cut off goes on where it stopped when the same line is given again. With --inject that share of the tasks, by a draw for each,
carries text that asks for something else (docs/injection.md): a suite of its own, with DIR/suite.toml as its lock file. The suites of
this repository come with the program, by their names: demo, erp-300, twins-120, grid-324, ops-1150, ops-refusal-300, planning-29,
planning-24, planning-107, planning-beyond.

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
    /// Asks the solver for everything, also for what SUITE.certificates holds, and compares
    #[arg(long)]
    prove: bool,
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
    let mut proofs = Proofs::beside(&options.suite, options.prove)?;
    let here = proofs.solver_of(workshop.catalog(), &suite, options.lock)?;
    if options.lock {
        proofs.only_by(&here.solver);
    }
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
    let built = suites::make_with(&workshop, &suite, &store, !options.lock, &proofs.known)?;
    if built.short.is_empty() && (options.lock || is_open) {
        store::write_suite(&options.suite, &built.suite)?;
        proofs.keep(&store)?;
        eprintln!("locked {}", options.suite.display());
    }
    output::either(options.json, || to_json(&built), || to_table(&built))?;
    if options.prove && !options.lock {
        proofs.hold(&store)?;
    }
    failure(&built).map_or(Ok(()), Err)
}

/// A suite that the program carries, if that is meant: a bare name is one, and a path never is. It cannot be written.
pub(super) fn carried(path: &Path) -> Option<Result<Suite, SuiteError>> {
    carried::suite(path.to_str()?)
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
