//! Making a suite: every task by a worker, every digest held to the lock file, and what came of it in figures.

use crate::{
    Error, Made, Shortfall, Workshop,
    audits::AuditOptions,
    carried, own,
    unfinished::{self, Log},
};
use benchwright_base::Digest;
use benchwright_catalog::Catalog;
use benchwright_derive::DERIVATION;
use benchwright_pack::{MOST_INJECTED, SHORTEST_SALT, Split, Store, Suite, SuiteSolver, SuiteTask, tier_place};
use benchwright_project::{Pattern, Solver};
use benchwright_solve::{Answers, Library, Said};
use serde_json::{Value as Json, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    time::Instant,
};

/// What a build has done so far, while it is not finished.
const UNFINISHED: &str = "build.unfinished.jsonl";
/// What a store keeps of a solver's answers, in its folder; beside a lock file, what everybody may take them from.
pub const ANSWERS: &str = "certificates";
/// The most tasks that are made of a pattern at a time.
pub const MOST_TASKS: u64 = 1_000_000;
/// The largest seed: a lock file has no larger numbers.
pub const LARGEST_SEED: u64 = Split::NUMBERS - 1;

/// The suite of some seeds of a pattern at a tier, without digests; without an objective, with the usual one.
pub fn of_pattern(
    catalog: &Catalog,
    pattern: &str,
    tier: &str,
    objective: Option<&str>,
    split: Split,
    seeds: Range<u64>,
) -> Result<Suite, Error> {
    let (pattern, family, objective) = match catalog.is_scenario(pattern) {
        true => {
            let (scenario, _) = catalog.scenario(pattern).map_err(Error::catalog(pattern))?;
            let objective = objective.unwrap_or(benchwright_derive::DONE).to_owned();
            let known = || {
                let names = scenario.blocked.iter().map(|blocked| &*blocked.name);
                [benchwright_derive::DONE].into_iter().chain(names).collect::<Vec<_>>().join(", ")
            };
            if objective != benchwright_derive::DONE && scenario.variant(&objective).is_none() {
                let (pattern, tier, known) = (pattern.to_owned(), tier.to_owned(), known());
                return Err(Error::NoObjective { pattern, tier, objective, known });
            }
            (pattern.to_owned(), benchwright_derive::FAMILY.to_owned(), objective)
        }
        false => {
            let pattern = catalog.pattern(pattern).map_err(Error::catalog(pattern))?;
            let objective = objective_of(&pattern, tier, objective)?;
            (pattern.name.clone(), pattern.family, objective)
        }
    };
    let count = seeds.end.saturating_sub(seeds.start);
    if split == Split::Committed {
        return Err(Error::Uncommitted);
    }
    // The end is the first that is not drawn.
    if count == 0 || count > MOST_TASKS || seeds.end > LARGEST_SEED {
        return Err(Error::Count { count, seed: seeds.start });
    }
    let line = |seed: u64| SuiteTask {
        pattern: pattern.clone(),
        tier: tier.to_owned(),
        objective: objective.clone(),
        seed,
        reading: None,
        digest: None,
        cluster: None,
    };
    Ok(Suite {
        name: pattern.replace(['/', '_'], "-"),
        version: 1,
        family,
        split,
        canary: split.canary().to_owned(),
        salt: None,
        inject: 0,
        bars: benchwright_pack::SuiteBars::default(),
        solver: None,
        unbreakable: std::collections::BTreeMap::new(),
        tasks: seeds.map(line).collect(),
    })
}

/// A suite with every line twice, once for each reading of a clause: pairs of twins.
pub fn twins(catalog: &Catalog, suite: Suite, clause: &str) -> Result<Suite, Error> {
    let pattern = suite.tasks.first().map_or("", |task| &*task.pattern);
    let pattern = catalog.pattern(pattern).map_err(Error::catalog(pattern))?;
    let family = catalog.family(&pattern.family, &pattern.domain).map_err(Error::catalog(&pattern.family))?;
    let clauses = family.readings().map_or(&[][..], |readings| readings.clauses());
    let of = |reading: &'static str| reading.split('/').next().unwrap_or(reading);
    let Some(readings) = clauses.iter().find(|[one, _]| of(one) == clause) else {
        let known: Vec<&str> = clauses.iter().map(|[one, _]| of(one)).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Error::NoClause { family: pattern.family, clause: clause.to_owned(), known });
    };
    let both =
        |line: SuiteTask| readings.map(|reading| SuiteTask { reading: Some(reading.to_owned()), ..line.clone() });
    Ok(Suite { tasks: suite.tasks.into_iter().flat_map(both).collect(), ..suite })
}

/// The suite in which a share of the tasks, from 0 to 1, carries a hostile text. It is another suite, with digests of its own; one that
/// has that share already is left as it is.
pub fn with_injections(suite: Suite, rate: f64) -> Result<Suite, Error> {
    if !(0.0..=1.0).contains(&rate) {
        return Err(Error::Rate(rate));
    }
    let inject = (rate * f64::from(MOST_INJECTED)).round() as u32;
    if inject == suite.inject {
        return Ok(suite);
    }
    let tasks = suite.tasks.into_iter().map(|task| SuiteTask { digest: None, ..task }).collect();
    Ok(Suite { name: format!("{}-injected", suite.name), inject, tasks, ..suite })
}

/// The objective that was asked for, or the usual one of the tier.
fn objective_of(pattern: &Pattern, tier: &str, wanted: Option<&str>) -> Result<String, Error> {
    let (name, tier) = (pattern.name.clone(), tier.to_owned());
    let Some(cell) = pattern.cell(&tier).filter(|cell| !cell.objectives.is_empty()) else {
        let tiers: Vec<&str> = pattern.head.cells.iter().map(|cell| &*cell.tier).collect();
        return Err(Error::NoTier { pattern: name, tier, known: tiers.join(", ") });
    };
    let wanted = wanted.unwrap_or(&cell.objectives[0]).to_owned();
    if !pattern.admits(&tier, &wanted) {
        return Err(Error::NoObjective { pattern: name, tier, objective: wanted, known: cell.objectives.join(", ") });
    }
    Ok(wanted)
}

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
    if suite.tasks.first().is_some_and(|task| catalog.is_scenario(&task.pattern)) {
        let (version, library) = (DERIVATION.to_owned(), Digest::of(DERIVATION.as_bytes()).to_string());
        let solver = SuiteSolver { version, library };
        return Ok(SolverHere { solver, is_pinned: true });
    }
    // Any of its patterns knows the family. One that is not there is told when its task is made.
    let pattern = suite.tasks.first().and_then(|task| catalog.pattern(&task.pattern).ok());
    let family = pattern.and_then(|pattern| catalog.family(&pattern.family, &pattern.domain).ok());
    match family.and_then(Solver::not_asked) {
        Some(identity) => {
            let solver = SuiteSolver { version: identity.version, library: identity.library };
            Ok(SolverHere { solver, is_pinned: true })
        }
        None => solver_here(),
    }
}

/// Whether an audit of a suite asks a solver: where no pattern's family is optimised, none is, and no trial that fits every family
/// asks one.
pub fn audit_asks_solver(catalog: &Catalog, suite: &Suite, options: &AuditOptions) -> bool {
    let patterns: BTreeSet<&str> = suite.tasks.iter().map(|task| &*task.pattern).collect();
    patterns_ask_solver(catalog, patterns.into_iter(), options)
}

/// The same, of the patterns of tasks.
pub(crate) fn patterns_ask_solver<'a>(
    catalog: &Catalog,
    patterns: impl Iterator<Item = &'a str>,
    options: &AuditOptions,
) -> bool {
    if !options.asks_solver() {
        return false;
    }
    patterns.filter(|name| !catalog.is_scenario(name)).any(|name| {
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

/// A salt from the system's randomness, for the ids of a suite.
pub fn fresh_salt() -> Result<String, Error> {
    let mut bytes = [0; SHORTEST_SALT / 2];
    getrandom::fill(&mut bytes).map_err(|error| Error::Randomness(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Refuses a folder that holds something.
pub fn check_empty(folder: &Path) -> Result<(), Error> {
    check_holds_only(folder, None)
}

/// Refuses a folder that holds something else than what is named.
fn check_holds_only(folder: &Path, allowed: Option<&str>) -> Result<(), Error> {
    let other = |entry: io::Result<fs::DirEntry>| {
        !entry.is_ok_and(|entry| Some(entry.file_name().as_os_str()) == allowed.map(AsRef::as_ref))
    };
    match fs::read_dir(folder).map(|mut entries| entries.any(other)) {
        Ok(true) => Err(Error::Occupied(folder.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(Error::IsFile(folder.to_owned())),
        Ok(false) | Err(_) => Ok(()),
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

/// Takes up the build of a suite that was cut off, or begins one in an empty folder. Also the tasks that are made already, by the
/// number of their line.
fn begin(catalog: &Catalog, suite: &Suite, store: &Store) -> Result<(Log, BTreeMap<usize, Made>), Error> {
    let path = store.root().join(UNFINISHED);
    let work = json!({ "building": unfinished::ground(catalog, suite), "tasks": suite.tasks.len() });
    if unfinished::head(&path).as_ref() != Some(&work) {
        check_holds_only(store.root(), Some(own::DOMAINS))?;
    }
    fs::create_dir_all(store.root()).map_err(Error::io(store.root()))?;
    let (log, done) = Log::take_up::<Made>(&path, &work)?;
    // What was written is held to what was noted.
    let is_there =
        |made: &Made| store.unlocked_task(&made.id).is_ok_and(|task| task.digest().to_string() == made.digest);
    let done: BTreeMap<usize, Made> =
        done.into_iter().filter(|(at, made)| *at < suite.tasks.len() && is_there(made)).collect();
    let ids: BTreeSet<&str> = done.values().map(|made| &*made.id).collect();
    store.retain(&|id| ids.contains(id))?;
    Ok((log, done))
}

/// Makes the tasks of a suite into a store. With `held`, the digests of the lock file must come out. A build that was cut off goes on
/// where it stopped when it is given the same suite and folder.
pub fn make(workshop: &Workshop, suite: &Suite, store: &Store, held: bool) -> Result<Built, Error> {
    make_with(workshop, suite, store, held, &Answers::default())
}

/// The same with a solver's answers that are known; what is asked beyond them is kept in the store too.
pub fn make_with(
    workshop: &Workshop,
    suite: &Suite,
    store: &Store,
    held: bool,
    known: &Answers,
) -> Result<Built, Error> {
    let begun = Instant::now();
    let (mut log, mut done) = begin(workshop.catalog(), suite, store)?;
    if !known.said.is_empty() {
        write_answers(&store.root().join(ANSWERS), known)?;
    }
    let open: Vec<usize> = (0..suite.tasks.len()).filter(|at| !done.contains_key(at)).collect();
    let tasks: Vec<&SuiteTask> = open.iter().map(|at| &suite.tasks[*at]).collect();
    let mut noted = Ok(());
    let answers = workshop.make_all(suite, &tasks, store, done.len(), &mut |at, made| {
        if noted.is_ok() {
            noted = log.note(open[at], made);
        }
    });
    noted?;
    let mut answers: BTreeMap<usize, _> = open.into_iter().zip(answers).collect();
    let mut kept = Answers::default();
    let mut built = Built {
        suite: Suite { tasks: Vec::new(), ..suite.clone() },
        made: Vec::new(),
        short: Vec::new(),
        seconds: begun.elapsed().as_secs_f64(),
    };
    for (at, line) in suite.tasks.iter().enumerate() {
        let made = match done.remove(&at).map(Ok).or_else(|| answers.remove(&at).flatten()) {
            Some(Ok(made)) => made,
            // The work was cancelled before it.
            None => continue,
            Some(Err(short)) => {
                built.short.push((line.clone(), short));
                continue;
            }
        };
        if let Some(answers) = made.answers.clone() {
            kept.by = answers.by.or(kept.by);
            kept.said.extend(answers.said);
        }
        let digest = Digest::parse(&made.digest).ok_or(Error::Worker)?;
        if let Some(locked) = line.digest.filter(|locked| held && *locked != digest) {
            let why = format!("its digest is {digest}, the lock file says {locked}");
            built.short.push((line.clone(), Shortfall { why, missing: false, barren: false }));
        }
        let line = SuiteTask { digest: Some(digest), ..line.clone() };
        built.suite.tasks.push(line.clone());
        built.made.push((line, made));
    }
    if workshop.cancel().is_cancelled() {
        // No lock file: nobody is to take a part of the suite for the whole.
        return Err(Error::Cancelled);
    }
    if !kept.said.is_empty() {
        write_answers(&store.root().join(ANSWERS), &kept)?;
    }
    if !built.suite.tasks.is_empty() {
        store.write_suite(&built.suite)?;
    }
    log.finish()?;
    Ok(built)
}

/// What a solver said of the tasks of a suite, beside its lock file.
pub struct Proofs {
    path: PathBuf,
    kept: Answers,
    /// What is taken from there.
    pub known: Answers,
}

impl Proofs {
    /// Those beside a lock file, or of a suite that is carried; with `again`, nothing is taken from them.
    pub fn beside(suite: &Path, again: bool) -> Result<Proofs, Error> {
        let path = suite.with_extension(ANSWERS);
        let carried = || suite.to_str().filter(|_| !suite.exists()).and_then(carried::proofs);
        let kept = match (read_answers(&path)?, carried()) {
            (Some(kept), _) => kept,
            (None, Some(text)) => answers(&path, text)?,
            (None, None) => Answers::default(),
        };
        let known = if again { Answers::default() } else { kept.clone() };
        Ok(Proofs { path, kept, known })
    }

    /// The solver that a suite needs: the one that is here, or where its proofs are known the one it was locked with. To lock it, any
    /// that is here will do.
    pub fn solver_of(&self, catalog: &Catalog, suite: &Suite, lock: bool) -> Result<SolverHere, Error> {
        match &suite.solver {
            _ if lock => solver_for(catalog, suite),
            Some(solver) if self.known.by.is_some() => Ok(SolverHere { solver: solver.clone(), is_pinned: true }),
            _ => solver_of(catalog, suite),
        }
    }

    /// Takes nothing that another solver than this one said, so that what is locked is one solver's.
    pub fn only_by(&mut self, solver: &SuiteSolver) {
        // An answer's engine calls itself by a longer name than a lock file does; its library is the same.
        if self.known.by.as_ref().is_none_or(|(_, library)| *library != solver.library) {
            self.known = Answers::default();
        }
    }

    /// Writes what the build of a store needed beside the lock file.
    pub fn keep(&self, store: &Store) -> Result<(), Error> {
        match answers_in(store.root())? {
            Some(found) if !found.said.is_empty() => write_answers(&self.path, &found),
            _ => Ok(()),
        }
    }

    /// Holds the answers that the build of a store needed to those that are kept, if there are some.
    pub fn hold(&self, store: &Store) -> Result<(), Error> {
        let found = answers_in(store.root())?.unwrap_or_default();
        let differs = |(asked, said): &(&String, &Said)| self.kept.said.get(*asked) != Some(*said);
        match found.said.iter().filter(differs).count() {
            0 => Ok(()),
            _ if self.kept.said.is_empty() => Ok(()),
            differ => Err(Error::Answers {
                path: self.path.clone(),
                why: format!("{differ} of {} answers are others now", found.said.len()),
            }),
        }
    }
}

/// A solver's answers that a store keeps, if it keeps any.
pub(crate) fn answers_in(store: &Path) -> Result<Option<Answers>, Error> {
    read_answers(&store.join(ANSWERS))
}

/// A solver's answers in a file; none where there is no file.
pub(crate) fn read_answers(path: &Path) -> Result<Option<Answers>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(path)(error)),
    };
    answers(path, &text).map(Some)
}

/// A solver's answers as a file has them.
fn answers(path: &Path, text: &str) -> Result<Answers, Error> {
    Answers::read(text).map_err(|why| Error::Answers { path: path.to_owned(), why: why.to_string() })
}

/// Writes a solver's answers.
pub(crate) fn write_answers(path: &Path, answers: &Answers) -> Result<(), Error> {
    let text = answers.write().map_err(|error| Error::io(path)(error.into()))?;
    fs::write(path, text).map_err(Error::io(path))
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

    /// What was measured of requests, by the group of their pattern: how many there are, the mean and the most of each measure and of the
    /// checks, and how many cannot be carried out, by why. Nothing where there are none.
    pub fn requests(&self) -> Json {
        let mut groups: BTreeMap<&str, Vec<&Made>> = BTreeMap::new();
        for (line, made) in self.made.iter().filter(|(_, made)| !made.measures.is_empty()) {
            groups.entry(line.pattern.split('/').next().unwrap_or_default()).or_default().push(made);
        }
        let all: Vec<&Made> = groups.values().flatten().copied().collect();
        if all.is_empty() {
            return Json::Null;
        }
        let told = groups.iter().map(|(name, made)| ((*name).to_owned(), measured(made)));
        Json::Object(told.chain([("all".to_owned(), measured(&all))]).collect())
    }
}

fn measured(made: &[&Made]) -> Json {
    let (blocked, done): (Vec<&Made>, Vec<&Made>) = made.iter().partition(|made| made.obstacle.is_some());
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for kind in blocked.iter().filter_map(|made| made.obstacle.as_deref()) {
        *kinds.entry(kind).or_default() += 1;
    }
    let figures = |values: Vec<u64>| {
        let mean = values.iter().sum::<u64>() as f64 / values.len().max(1) as f64;
        json!({ "mean": (mean * 100.0).round() / 100.0, "most": values.iter().max() })
    };
    let names: BTreeSet<&String> = done.iter().flat_map(|made| made.measures.keys()).collect();
    let mut told = serde_json::Map::new();
    told.insert("tasks".to_owned(), done.len().into());
    told.insert("blocked".to_owned(), json!(kinds));
    for name in names {
        let values = done.iter().map(|made| made.measures.get(name).copied().unwrap_or_default());
        told.insert(name.clone(), figures(values.collect()));
    }
    let checks = done.iter().filter_map(|made| made.checks).map(|checks| checks as u64);
    told.insert("checks".to_owned(), figures(checks.collect()));
    Json::Object(told)
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
    let reading = line.reading.as_ref().map_or_else(String::new, |reading| format!(" read as {reading}"));
    format!("{} {} {} seed {}{reading}", line.pattern, line.tier, line.objective, line.seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Temporary;
    use benchwright_solve::Said;

    /// What the solver of a lock file said before is taken when it is locked anew, though its engine calls itself by a longer name.
    #[test]
    fn a_suite_that_is_locked_anew_takes_what_its_solver_said() {
        let place = Temporary::new().unwrap();
        let suite = place.path().join("some.toml");
        let by = Some(("CP-SAT 9.9".to_owned(), "the library".to_owned()));
        let said = BTreeMap::from([("asked".to_owned(), Said::Infeasible)]);
        write_answers(&suite.with_extension(ANSWERS), &Answers { by, said }).unwrap();
        for (library, kept) in [("the library", 1), ("another", 0)] {
            let mut proofs = Proofs::beside(&suite, false).unwrap();
            proofs.only_by(&SuiteSolver { version: "9.9".to_owned(), library: library.to_owned() });
            assert_eq!(proofs.known.said.len(), kept, "{library}");
        }
    }
}
