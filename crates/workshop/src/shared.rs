//! Work that is shared: planned in a ledger that many reach, done by whoever comes, kept where all of them can read it. Who plans waits and tells
//! how far it is; who works takes leases of whatever there is, trials of agents or tasks to be made or audited, until none is left.
//!
//! What comes of it does not depend on how many worked, on when they were killed, or on who they were: a plan says all that decides it, and
//! whoever would make something else of it is refused.

mod auditing;
mod making;
mod tasks;

pub use auditing::plan_audit;
pub use making::{MadeShared, plan_make};
pub use tasks::{Fetched, fetched, put_tasks};
pub(crate) use tasks::{forget as forget_tasks, note as note_tasks, of_run};

use crate::{Error, Workshop, host::StoreHost, progress::Work, runs::Runs, unfinished};
use benchwright_base::Digest;
use benchwright_catalog::Catalog;
use benchwright_pack::{RunPlan, Store, WorkPlan};
use benchwright_run::{
    Agent, Crew, Driver, Ended, Finish, Keeping, Lease, LedgerError, Progress, RunId, Standing, run as drive,
};
use std::{collections::BTreeMap, sync::atomic::Ordering, thread, time::Duration};

/// How often who plans looks how far the work is, and who works for ever looks for more.
const LOOK: Duration = Duration::from_millis(500);

/// Gives the agents of a plan, or says in a sentence why they cannot be had here.
pub type Agents<'a> =
    &'a (dyn Fn(&RunPlan) -> Result<Vec<Box<dyn Agent + Send>>, Box<dyn std::error::Error + Send + Sync>> + Sync);

/// Which work is taken, and for how long.
#[derive(Clone, Debug, Default)]
pub struct WorkOptions {
    /// Only this run.
    pub only: Option<String>,
    /// Waits for more when there is none.
    pub forever: bool,
}

/// How much this process did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Worked {
    /// Runs of which it took a lease.
    pub runs: usize,
    /// Items that it recorded: trials, shards, parts of audits.
    pub recorded: usize,
    /// Items that somebody else had taken over by the time they were done.
    pub stale: usize,
    /// Runs that cannot be worked on here, each with the reason.
    pub refused: BTreeMap<String, String>,
}

/// The run of a name with this plan, begun if it is not there. Two who begin it begin one.
fn begun(runs: &Runs, name: &str, plan: &WorkPlan) -> Result<RunId, Error> {
    if let Some(known) = runs.ledger.named(name)? {
        return match runs.ledger.work(known)? == *plan {
            true => Ok(known),
            false => Err(Error::OtherStream(runs.kept(name).place("").into())),
        };
    }
    let (run, _) = runs.ledger.begin(name, plan, false)?;
    match runs.ledger.name(run)? == name {
        true => Ok(run),
        // The same was made under another name.
        false => Ok(runs.ledger.begin(name, plan, true)?.0),
    }
}

/// What decides what is made of patterns, besides the plan: how they and their domains are declared, and the version of this program.
pub(crate) fn ground<'a>(catalog: &Catalog, patterns: impl Iterator<Item = &'a str>, has_injections: bool) -> String {
    let declared = unfinished::declared(catalog, patterns, has_injections);
    Digest::of_parts([("declared", declared.as_bytes()), ("version", env!("CARGO_PKG_VERSION").as_bytes())]).to_string()
}

/// Waits until all of a run is recorded, by whoever works on it, and tells how far it is.
pub fn watch(workshop: &Workshop, runs: &Runs, run: RunId) -> Result<Standing, Error> {
    let plan = runs.ledger.work(run)?;
    let mut standing = runs.ledger.standing(run)?;
    let mut work = Work::begin(workshop.progress(), plan.what(), standing.recorded, standing.planned);
    while standing.recorded < standing.planned {
        if workshop.cancel().is_cancelled() {
            return Err(Error::Cancelled);
        }
        thread::sleep(LOOK);
        standing = runs.ledger.standing(run)?;
        work.reach(standing.recorded);
    }
    Ok(standing)
}

/// Takes leases of whatever there is in a ledger, the oldest run first, until none is left or the work is cancelled. What was not finished by
/// then is given back.
pub fn work(workshop: &Workshop, runs: &Runs, options: &WorkOptions, agents: Agents<'_>) -> Result<Worked, Error> {
    let (mut worked, done) = (Worked::default(), Progress::default());
    if let Some(name) = &options.only {
        runs.ledger.named(name)?.ok_or_else(|| Error::NoRun(name.clone()))?;
    }
    loop {
        let mut all = runs.ledger.runs()?;
        all.reverse();
        let mut is_over = true;
        for run in all {
            let name = runs.ledger.name(run)?;
            let standing = runs.ledger.standing(run)?;
            let is_meant = options.only.as_ref().is_none_or(|only| *only == name);
            let is_refused = worked.refused.contains_key(&name);
            if !is_meant || is_refused || standing.recorded == standing.planned || workshop.cancel().is_cancelled() {
                continue;
            }
            is_over = false;
            worked.runs += 1;
            let ended = match runs.ledger.work(run)? {
                WorkPlan::Run(plan) => trials(workshop, runs, (run, &name), &plan, agents, &done),
                WorkPlan::Make { make } => making::work(workshop, runs, (run, &name), &make, &done),
                WorkPlan::Audit { audit } => auditing::work(workshop, runs, (run, &name), &audit, &done),
            };
            match ended {
                Ok(()) => {}
                Err(Error::Ledger(error)) => return Err(error.into()),
                // Somebody else may be able to, and there may be other work.
                Err(error) => drop(worked.refused.insert(name, error.to_string())),
            }
        }
        if workshop.cancel().is_cancelled() || (is_over && !options.forever) {
            break;
        }
        if is_over {
            thread::sleep(LOOK);
        }
    }
    worked.recorded = done.recorded.load(Ordering::Relaxed);
    worked.stale = done.stale.load(Ordering::Relaxed);
    Ok(worked)
}

/// Works on a run of agents.
fn trials(
    workshop: &Workshop,
    runs: &Runs,
    (run, name): (RunId, &str),
    plan: &RunPlan,
    agents: Agents<'_>,
    done: &Progress,
) -> Result<(), Error> {
    let lacking = |why: String| Error::Agents { run: name.to_owned(), why };
    let agents = agents(plan).map_err(|error| lacking(error.to_string()))?;
    for agent in &agents {
        let planned = plan.settings.get(agent.name()).cloned().unwrap_or_default();
        if agent.settings() != planned {
            return Err(lacking(format!("{} is set otherwise here than in the plan: {planned:?}", agent.name())));
        }
    }
    let tasks = fetched(&runs.kept(&of_run(runs, name)?))?;
    let host = StoreHost::new(workshop.catalog(), Store::at(tasks.path()));
    for line in &plan.tasks {
        if host.line(&line.id)?.digest != line.digest {
            let why = format!("the task {} that is kept is another than the one of the plan", line.id);
            return Err(Error::OtherTasks { run: name.to_owned(), why });
        }
    }
    let driver = Driver {
        host: &host,
        ledger: &*runs.ledger,
        agents: &agents,
        keeping: Keeping::Segments(runs.segments(name), false),
        hold: runs.hold,
        jobs: workshop.jobs(),
        stop: workshop.cancel().flag(),
    };
    Ok(drive(&driver, run, done)?)
}

/// Gives back what was not begun of a lease, from a place of it on.
fn give_back(runs: &Runs, lease: &Lease, at: usize) -> Result<(), LedgerError> {
    let rest: Vec<i64> = lease.trials[at..].iter().map(|claim| claim.number).collect();
    runs.ledger.give_back(lease, &rest)
}

/// Records one item of a lease, which is kept under a name.
fn record(
    runs: &Runs,
    lease: &Lease,
    number: i64,
    (name, digest): (&str, Digest),
    done: &Progress,
) -> Result<Finish, LedgerError> {
    let ended = Ended::Segment { numbers: &[number], errors: &[], name, digest: &digest.to_string() };
    let finish = runs.ledger.finish(lease, ended)?;
    match finish {
        Finish::Recorded => done.recorded.fetch_add(1, Ordering::Relaxed),
        Finish::Stale => done.stale.fetch_add(1, Ordering::Relaxed),
    };
    Ok(finish)
}

/// Those who work on something that is no run of agents.
fn crew<'a>(workshop: &'a Workshop, runs: &'a Runs) -> Crew<'a> {
    Crew { ledger: &*runs.ledger, hold: runs.hold, jobs: workshop.jobs(), stop: workshop.cancel().flag() }
}
