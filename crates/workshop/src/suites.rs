//! Making a suite: every task by a worker, every digest held to the lock file, and what came of it in figures.

use crate::{Error, Made, Shortfall, Workshop};
use benchwright_base::Digest;
use benchwright_catalog::Catalog;
use benchwright_pack::{Store, Suite, SuiteSolver, SuiteTask, tier_place};
use benchwright_project::Solver;
use benchwright_solve::Library;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
    time::Instant,
};

/// A solver as a lock file names it, and whether it is the one whose digests everybody gets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SolverHere {
    /// For the head of a lock file.
    pub solver: SuiteSolver,
    /// Whether it is the pinned one; with another, digests hold for it alone.
    pub is_pinned: bool,
}

/// The solver that is here.
pub fn solver_here() -> Result<SolverHere, Error> {
    let library = Library::find()?;
    let digest = library.sha256().map_err(Error::Library)?;
    let version = library.version()?;
    let is_pinned = library.is_pinned().map_err(Error::Library)?;
    Ok(SolverHere { solver: SuiteSolver { version, library: digest.to_string() }, is_pinned })
}

/// The solver of a suite's family: the one that is here, or who stands for it where none is asked.
pub fn solver_for(catalog: &Catalog, suite: &Suite) -> Result<SolverHere, Error> {
    // Any of its patterns knows the family. One that is not there is told when its task is made.
    let pattern = suite.tasks.first().and_then(|task| catalog.pattern(&task.pattern).ok());
    let family = pattern.and_then(|pattern| catalog.family(&pattern.family, &pattern.domain).ok());
    match family.and_then(Solver::not_asked) {
        Some(papers) => {
            let solver = SuiteSolver { version: papers.version, library: papers.library };
            Ok(SolverHere { solver, is_pinned: true })
        }
        None => solver_here(),
    }
}

/// Whether the audit of a suite asks a solver: where no pattern's family is optimised, none is.
pub fn audit_asks_solver(catalog: &Catalog, suite: &Suite) -> bool {
    let patterns: BTreeSet<&str> = suite.tasks.iter().map(|task| &*task.pattern).collect();
    patterns.into_iter().any(|name| {
        let pattern = catalog.pattern(name).ok();
        let family = pattern.and_then(|pattern| catalog.family(&pattern.family, &pattern.domain).ok());
        family.is_none_or(|family| family.optimised().is_some())
    })
}

/// The solver that is here, which must be the one that a suite was locked with, if it was.
pub fn solver_of(catalog: &Catalog, suite: &Suite) -> Result<SolverHere, Error> {
    let here = solver_for(catalog, suite)?;
    match &suite.solver {
        Some(locked) if locked.library != here.solver.library => {
            Err(Error::OtherSolver { locked: locked.clone(), here: here.solver })
        }
        _ => Ok(here),
    }
}

/// Refuses a folder that holds something.
pub fn check_empty(folder: &Path) -> Result<(), Error> {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(false) => Err(Error::Occupied(folder.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(Error::IsFile(folder.to_owned())),
        Ok(true) | Err(_) => Ok(()),
    }
}

/// A suite that was made.
#[derive(Clone, Debug)]
pub struct Built {
    /// The suite with the digests that its tasks have, without the tasks that could not be made.
    pub suite: Suite,
    /// The tasks that were made, each with its line.
    pub made: Vec<(SuiteTask, Made)>,
    /// Those that were not, or that differ from the lock file.
    pub short: Vec<(SuiteTask, Shortfall)>,
    /// Seconds by the wall.
    pub seconds: f64,
}

/// Makes the tasks of a suite into a store. With `held`, the digests of the lock file must come out.
pub fn make(workshop: &Workshop, suite: &Suite, store: &Store, held: bool) -> Result<Built, Error> {
    let begun = Instant::now();
    let answers = workshop.make_all(suite, store);
    let mut built = Built {
        suite: Suite { tasks: Vec::new(), ..suite.clone() },
        made: Vec::new(),
        short: Vec::new(),
        seconds: begun.elapsed().as_secs_f64(),
    };
    for (line, answer) in suite.tasks.iter().zip(answers) {
        let made = match answer {
            Some(Ok(made)) => made,
            // The work was cancelled before it.
            None => continue,
            Some(Err(short)) => {
                built.short.push((line.clone(), short));
                continue;
            }
        };
        let digest = Digest::parse(&made.digest).ok_or(Error::Worker)?;
        if let Some(locked) = line.digest.filter(|locked| held && *locked != digest) {
            let why = format!("its digest is {digest}, the lock file says {locked}");
            built.short.push((line.clone(), Shortfall { why, missing: false }));
        }
        let line = SuiteTask { digest: Some(digest), ..line.clone() };
        built.suite.tasks.push(line.clone());
        built.made.push((line, made));
    }
    if !built.suite.tasks.is_empty() {
        store.write_suite(&built.suite)?;
    }
    if workshop.cancel().is_cancelled() {
        return Err(Error::Cancelled);
    }
    Ok(built)
}

impl Built {
    /// The digest of the whole suite, if nothing of it is missing or differs.
    pub fn digest(&self) -> Option<String> {
        self.suite.digest().filter(|_| self.short.is_empty()).map(|digest| digest.to_string())
    }

    /// The tiers that there are, in order.
    pub fn tiers(&self) -> Vec<&str> {
        let mut tiers: Vec<&str> = self.made.iter().map(|(line, _)| &*line.tier).collect();
        tiers.sort_by_key(|tier| (tier_place(tier), *tier));
        tiers.dedup();
        tiers
    }

    /// The figures of a tier.
    pub fn figures(&self, tier: &str) -> Figures {
        let mut figures = Figures::default();
        for (_, made) in self.made.iter().filter(|(line, _)| line.tier == tier) {
            figures.tasks += 1;
            figures.variables.push(made.variables);
            figures.rules.push(made.rules);
            figures.checks.extend(made.checks);
            for (cause, count) in &made.discarded {
                figures.resamples += u64::from(*count);
                *figures.discarded.entry(cause.clone()).or_default() += u64::from(*count);
            }
        }
        for list in [&mut figures.variables, &mut figures.rules, &mut figures.checks] {
            list.sort_unstable();
        }
        figures
    }
}

/// The figures of one tier; the lists are in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Tasks.
    pub tasks: usize,
    /// The variables of their models.
    pub variables: Vec<usize>,
    /// The rules that apply to them.
    pub rules: Vec<usize>,
    /// The checks that apply to the states their own plans leave.
    pub checks: Vec<usize>,
    /// Draws that were thrown away.
    pub resamples: u64,
    /// The same by cause.
    pub discarded: BTreeMap<String, u64>,
}

/// A line of a lock file in words.
pub fn named(line: &SuiteTask) -> String {
    format!("{} {} {} seed {}", line.pattern, line.tier, line.objective, line.seed)
}
