//! Tasks that are made by whoever comes: an item is a shard, whose name and bytes are the same whoever makes it.

use super::{begun, crew, give_back, ground, record, watch};
use crate::{
    Error, Maker, Workshop,
    runs::Runs,
    stream::{self, Shard},
    suites,
};
use benchwright_depot::Depot;
use benchwright_pack::{MakePlan, Suite, SuiteTask, WorkPlan};
use benchwright_run::{Craft, Lease, LedgerError, Progress, RunId};
use std::sync::{Mutex, PoisonError};

/// Tasks of a shard where each asks a solver or a world, which takes most of a second.
const PER_SHARD_OF_SLOW: usize = 10;

/// What was made of a plan.
#[derive(Clone, Debug)]
pub struct MadeShared {
    /// The name of the run, and of the folder of the tasks.
    pub name: String,
    /// The plan, whose lines tell what was to be made.
    pub tasks: u64,
    /// Its shards.
    pub shards: usize,
    /// Lines without a task, or with another than the lock file says, each with the reason.
    pub short: Vec<(SuiteTask, String)>,
}

/// The plan of a suite. Lines that are seeds in a row are told by the first.
fn plan_of(workshop: &Workshop, suite: &Suite) -> Result<MakePlan, Error> {
    let catalog = workshop.catalog();
    let first = suite.tasks.first().ok_or(Error::NoTasks)?;
    let follows = |(at, line): (usize, &SuiteTask)| {
        let seed = first.seed.checked_add(at as u64);
        seed == Some(line.seed) && SuiteTask { seed: first.seed, ..line.clone() } == *first
    };
    let in_a_row = first.digest.is_none() && suite.tasks.iter().enumerate().all(follows);
    let streams = stream::can(catalog, &first.pattern).map_err(Error::catalog(&first.pattern))?;
    let told = match in_a_row {
        true => Suite { tasks: vec![first.clone()], ..suite.clone() },
        false => suite.clone(),
    };
    let patterns = suite.tasks.iter().map(|line| &*line.pattern);
    Ok(MakePlan {
        suite: told.to_toml(),
        tasks: suite.tasks.len() as u64,
        per_shard: if streams { stream::PER_SHARD } else { PER_SHARD_OF_SLOW } as u32,
        ground: ground(catalog, patterns, suite.inject > 0),
    })
}

/// All lines of a plan.
fn suite_of(name: &str, plan: &MakePlan) -> Result<Suite, Error> {
    let bad = |why: String| Error::OtherTasks { run: name.to_owned(), why };
    let suite = Suite::from_toml(name, &plan.suite).map_err(|error| bad(error.to_string()))?;
    match &suite.tasks[..] {
        tasks if tasks.len() as u64 == plan.tasks => Ok(suite),
        [first] => {
            let line = |at: u64| SuiteTask { seed: first.seed.saturating_add(at), ..first.clone() };
            Ok(Suite { tasks: (0..plan.tasks).map(line).collect(), ..suite.clone() })
        }
        _ => Err(bad("the plan has another number of tasks than its lines".to_owned())),
    }
}

/// Plans the tasks of a suite under a name, waits until they are made, and writes their lock file. The same plan under the same name is
/// taken up again.
pub fn plan_make(workshop: &Workshop, runs: &Runs, name: &str, suite: &Suite) -> Result<MadeShared, Error> {
    let make = plan_of(workshop, suite)?;
    let head = stream::head(suite, make.per_shard as usize)?;
    let plan = WorkPlan::Make { make };
    if runs.ledger.named(name)?.is_none() {
        runs.kept(name).put(stream::HEAD, head.as_bytes())?;
    }
    let run = begun(runs, name, &plan)?;
    watch(workshop, runs, run)?;
    let depot = runs.kept(name);
    let names: Vec<String> = segments(runs, run, name)?.into_iter().map(|(name, _)| name).collect();
    let (locked, mut short) = stream::lock(suite, &depot, &names)?;
    let digests = suite.tasks.iter().filter_map(|line| Some((line, line.digest?)));
    let is_other = |(line, digest): &(&SuiteTask, _)| {
        let now = locked.line(&line.pattern, &line.tier, &line.objective, line.seed, line.reading.as_deref());
        now.is_some_and(|now| now.digest != Some(*digest))
    };
    let other = "its digest is not the one of the lock file";
    short.extend(digests.filter(is_other).map(|(line, _)| (line.clone(), other.to_owned())));
    Ok(MadeShared { name: name.to_owned(), tasks: suite.tasks.len() as u64, shards: names.len(), short })
}

/// The names of what a run recorded, in the order of its items, each with its digest, as its chain has them.
pub(super) fn segments(runs: &Runs, run: RunId, name: &str) -> Result<Vec<(String, String)>, Error> {
    let chain = runs.ledger.chain(run)?;
    if !chain.flaws.is_empty() {
        return Err(Error::Flawed { run: name.to_owned(), path: runs.ledger_path(), flaws: chain.flaws });
    }
    let mut all: Vec<_> = chain.segments.into_iter().filter(|segment| segment.numbers.first().is_some()).collect();
    all.sort_by_key(|segment| segment.numbers.first());
    Ok(all.into_iter().map(|segment| (segment.name, segment.digest)).collect())
}

/// Works on a plan.
pub(super) fn work(
    workshop: &Workshop,
    runs: &Runs,
    (run, name): (RunId, &str),
    plan: &MakePlan,
    done: &Progress,
) -> Result<(), Error> {
    let catalog = workshop.catalog();
    let suite = suite_of(name, plan)?;
    let patterns = suite.tasks.iter().map(|line| &*line.pattern);
    if ground(catalog, patterns, suite.inject > 0) != plan.ground {
        return Err(Error::OtherGround { run: name.to_owned() });
    }
    suites::solver_of(catalog, &suite)?;
    let first = suite.tasks.first().map_or("", |line| &*line.pattern);
    let streams = stream::can(catalog, first).map_err(Error::catalog(first))?;
    let alone = workshop.clone().quiet().with_jobs(Some(1));
    let (depot, makers) = (runs.kept(name), Mutex::default());
    let making = Making { workshop: &alone, runs, suite: &suite, plan, depot, streams, makers, done };
    Ok(crew(workshop, runs).work_off(run, &making)?)
}

struct Making<'a> {
    /// Each thread of it does one thing at a time.
    workshop: &'a Workshop,
    runs: &'a Runs,
    suite: &'a Suite,
    plan: &'a MakePlan,
    depot: Depot,
    /// Whether tasks are made in this process.
    streams: bool,
    /// Those that nobody uses now: what they have read is read once.
    makers: Mutex<Vec<Maker<'a>>>,
    done: &'a Progress,
}

impl Making<'_> {
    fn shard(&self, number: i64) -> Result<Shard, Error> {
        let lacks = || LedgerError::Stuck { number, when: "never: the plan has no such shard".to_owned() };
        let lines = self.plan.lines(number).ok_or_else(lacks)?;
        let lines: Vec<&SuiteTask> = self.suite.tasks[lines.start as usize..lines.end as usize].iter().collect();
        let tasks = match self.streams {
            true => {
                let makers = || self.makers.lock().unwrap_or_else(PoisonError::into_inner);
                let mut maker = makers().pop().unwrap_or_else(|| Maker::new(self.workshop));
                let mut tasks = Vec::with_capacity(lines.len());
                for line in lines {
                    tasks.push(match stream::task_of(&mut maker, self.suite, line) {
                        Err(error) if error.is_missing() => return Err(error),
                        made => made.map_err(|error| error.to_string()),
                    });
                }
                makers().push(maker);
                tasks
            }
            false => stream::tasks_of(self.workshop, self.suite, &lines)?,
        };
        Shard::of(usize::try_from(number - 1).unwrap_or(0), tasks)
    }
}

impl Craft for Making<'_> {
    fn most(&self) -> usize {
        100
    }

    fn work(&self, lease: &Lease) -> Result<(), LedgerError> {
        let undone = |error: Error| LedgerError::Undone(error.to_string());
        for (at, claim) in lease.trials.iter().enumerate() {
            if self.workshop.cancel().is_cancelled() {
                return give_back(self.runs, lease, at);
            }
            let shard = match self.shard(claim.number) {
                Err(Error::Cancelled) => return give_back(self.runs, lease, at),
                made => made.map_err(undone)?,
            };
            // Whoever else makes it puts the same bytes under the same name.
            shard.keep(&self.depot).map_err(undone)?;
            record(self.runs, lease, claim.number, (&shard.name, shard.digest()), self.done)?;
        }
        Ok(())
    }
}
