//! Trials: the agents play those of a lease, what they left is kept, and they are recorded.

use crate::{
    Agent, AgentError, Chain, Claim, Craft, Crew, Ended, Finish, Finished, Host, Lease, LedgerError, LedgerStore,
    Played, RunId, Segments, Stop, TrialFolder, chain::MOST_IN_LINK, crew::HOLD, events, segment::Growing,
};
use benchwright_pack::{
    Outcome, RunPlan, TaskLine, TrialKey, TrialRecord,
    run::{Score, Spent, TrialEnd, Used},
};
use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

/// How often a trial is tried before an error is recorded.
pub(crate) const TRIES: u32 = 3;
/// Causes that another try cannot mend.
const LASTING: [&str; 3] = ["runner", "auth", "request"];
/// The wait before the next try, doubled each time.
pub(crate) const WAIT: i64 = 2_000;
/// After how long a lease of many trials is closed whatever is left of it.
const LONGEST: Duration = Duration::from_secs(10);

/// How what trials leave is kept.
#[derive(Clone, Debug)]
pub enum Keeping {
    /// In a folder for each trial.
    Folders(TrialFolder),
    /// In segments of many trials, with their terminal states or without.
    Segments(Segments, bool),
}

impl Keeping {
    /// Whether terminal states are kept.
    fn states(&self) -> bool {
        match self {
            Keeping::Folders(_) => true,
            Keeping::Segments(_, states) => *states,
        }
    }

    /// The names of all that is kept.
    fn names(&self) -> io::Result<Vec<String>> {
        match self {
            Keeping::Folders(folders) => folders.names(),
            Keeping::Segments(segments, _) => segments.names(),
        }
    }

    /// Removes those of these names that the chain does not have.
    fn sweep(&self, names: &[String], chain: &Chain) -> io::Result<()> {
        let named: BTreeSet<&str> = chain.segments.iter().map(|segment| &*segment.name).collect();
        for name in names {
            match self {
                Keeping::Folders(folders) => folders.sweep(name, &|number| chain.folders.contains_key(&number))?,
                Keeping::Segments(segments, _) => segments.sweep(name, &named)?,
            }
        }
        Ok(())
    }
}

/// What a run is worked off with.
pub struct Driver<'a> {
    /// Who gives episodes and verdicts.
    pub host: &'a dyn Host,
    /// Which trials there are, who works on which, and what came of them.
    pub ledger: &'a dyn LedgerStore,
    /// The agents of the plan.
    pub agents: &'a [Box<dyn Agent + Send>],
    /// Where what trials leave is kept.
    pub keeping: Keeping,
    /// Milliseconds that trials are held before they must be held longer; half a minute by default.
    pub hold: Option<i64>,
    /// How many trials are played at a time, each by a thread of its own.
    pub jobs: usize,
    /// Set to stop before the next trial.
    pub stop: &'a AtomicBool,
}

/// How far a run is.
#[derive(Debug, Default)]
pub struct Progress {
    /// Trials that were recorded by this process.
    pub recorded: AtomicUsize,
    /// Trials that somebody else had taken over by the time they were done.
    pub stale: AtomicUsize,
}

/// Removes what no finish named and none will: what was there before nobody held a trial, or before all of them were recorded. What comes later
/// may be somebody's who works, so nothing is removed while somebody does.
pub fn sweep(ledger: &dyn LedgerStore, run: RunId, keeping: &Keeping) -> Result<(), LedgerError> {
    let before = keeping.names().map_err(LedgerError::Folder)?;
    if before.is_empty() || !is_still(ledger, run)? {
        return Ok(());
    }
    keeping.sweep(&before, &ledger.chain(run)?).map_err(LedgerError::Folder)
}

/// Whether nobody holds an item of a run, or all of them are recorded: then whatever was written before is named by now or never will be.
pub fn is_still(ledger: &dyn LedgerStore, run: RunId) -> Result<bool, LedgerError> {
    if ledger.fences(run)?.is_empty() {
        return Ok(true);
    }
    let standing = ledger.standing(run)?;
    Ok(standing.recorded == standing.planned)
}

/// Works off a run. Sweeps first what no recorded trial owns.
pub fn run(driver: &Driver<'_>, run: RunId, progress: &Progress) -> Result<(), LedgerError> {
    let plan = driver.ledger.plan(run)?;
    sweep(driver.ledger, run, &driver.keeping)?;
    let tasks = plan.tasks.iter().map(|task| (&*task.digest, task)).collect();
    let crew = Crew { ledger: driver.ledger, hold: driver.hold, jobs: driver.jobs, stop: driver.stop };
    crew.work_off(run, &Worker { driver, plan: &plan, tasks, progress })
}

/// This process at work on a run.
struct Worker<'a> {
    driver: &'a Driver<'a>,
    plan: &'a RunPlan,
    tasks: BTreeMap<&'a str, &'a TaskLine>,
    progress: &'a Progress,
}

/// What is recorded of a trial, and what it left: the episode and what was said.
type Over = (TrialRecord, Option<(Finished, Vec<Json>)>);

impl Craft for Worker<'_> {
    fn most(&self) -> usize {
        if matches!(self.driver.keeping, Keeping::Folders(_)) { 1 } else { MOST_IN_LINK }
    }

    fn work(&self, lease: &Lease) -> Result<(), LedgerError> {
        match &self.driver.keeping {
            Keeping::Folders(folders) => self.in_folders(lease, folders),
            Keeping::Segments(segments, states) => self.in_segments(lease, segments, *states),
        }
    }
}

impl Worker<'_> {
    fn is_stopped(&self) -> bool {
        self.driver.stop.load(Ordering::Relaxed)
    }

    fn recorded(&self, finish: Finish, trials: usize) {
        match finish {
            Finish::Recorded => self.progress.recorded.fetch_add(trials, Ordering::Relaxed),
            Finish::Stale => self.progress.stale.fetch_add(trials, Ordering::Relaxed),
        };
    }

    /// Works off a lease, each trial recorded by itself.
    fn in_folders(&self, lease: &Lease, folders: &TrialFolder) -> Result<(), LedgerError> {
        for claim in &lease.trials {
            let Some((record, left)) = self.play(lease, *claim)? else { continue };
            let finish = keep_folder(self.driver.ledger, folders, lease, claim.number, &record, left)?;
            events::finished(&record, finish);
            self.recorded(finish, 1);
        }
        Ok(())
    }

    /// Works off a lease into segments. Stopped, or when the lease lasts too long, it gives back what it did not begin.
    fn in_segments(&self, lease: &Lease, segments: &Segments, states: bool) -> Result<(), LedgerError> {
        let begun = Instant::now();
        let (mut growing, mut part) = (Growing::new(states), 1);
        for (at, claim) in lease.trials.iter().enumerate() {
            if self.is_stopped() || begun.elapsed() > LONGEST {
                let rest: Vec<i64> = lease.trials[at..].iter().map(|claim| claim.number).collect();
                self.driver.ledger.give_back(lease, &rest)?;
                break;
            }
            let Some((record, left)) = self.play(lease, *claim)? else { continue };
            let id = self.tasks.get(&*record.key.task).map_or("", |task| &*task.id);
            let left = left.as_ref().map(|(left, said)| (left, &**said));
            let added = growing.add(claim.number, id, &record, left);
            added.map_err(|error| LedgerError::Folder(io::Error::other(error)))?;
            if growing.is_full() {
                if self.close(lease, segments, part, &growing)? == Finish::Stale {
                    return Ok(());
                }
                (growing, part) = (Growing::new(states), part + 1);
            }
        }
        if !growing.is_empty() {
            self.close(lease, segments, part, &growing)?;
        }
        Ok(())
    }

    /// Writes a segment and has the ledger name it.
    fn close(&self, lease: &Lease, segments: &Segments, part: usize, of: &Growing) -> Result<Finish, LedgerError> {
        let (name, digest) = segments.write(lease.fence, part, of).map_err(LedgerError::Folder)?;
        let (numbers, errors) = (&of.numbers, &of.errors);
        let ended = Ended::Segment { numbers, errors, name: &name, digest: &digest };
        let finish = self.driver.ledger.finish(lease, ended)?;
        if finish == Finish::Stale {
            segments.remove(&name).map_err(LedgerError::Folder)?;
        }
        events::closed(&name, numbers.len(), errors.len(), finish);
        self.recorded(finish, numbers.len());
        Ok(finish)
    }

    /// Plays a trial of a lease. Nothing comes of it where it failed and was given back, to be tried again.
    fn play(&self, lease: &Lease, claim: Claim) -> Result<Option<Over>, LedgerError> {
        let lacks =
            || LedgerError::Stuck { number: claim.number, when: "never: the plan has no such trial".to_owned() };
        let key = self.plan.key(claim.number).ok_or_else(lacks)?;
        let task = self.tasks.get(&*key.task);
        let _trial = events::trial(claim, &key, task.map(|task| &*task.id)).entered();
        events::claimed();
        let begun = Instant::now();
        let unknown = || AgentError { cause: "runner".to_owned(), detail: "the plan has no such task".to_owned() };
        let played = task.ok_or_else(unknown).and_then(|task| self.episode(task, &key));
        if let Err(error) = &played
            && claim.tries + 1 < TRIES
            && !LASTING.contains(&&*error.cause)
        {
            events::given_back(&error.cause);
            self.driver.ledger.retry(lease, claim.number, WAIT << claim.tries)?;
            return Ok(None);
        }
        let wall = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(Some(record(key, played, wall)))
    }

    fn episode(&self, task: &TaskLine, key: &TrialKey) -> Result<(Finished, Played), AgentError> {
        let missing = || AgentError { cause: "runner".to_owned(), detail: format!("there is no agent {}", key.agent) };
        let Driver { host, agents, keeping, .. } = self.driver;
        let agent = agents.iter().find(|agent| agent.name() == key.agent).ok_or_else(missing)?;
        let open = host.open(&task.id)?;
        let mut episode = host.begin(&task.id)?;
        let played = agent.play(*host, &open, &mut *episode, key.attempt, &self.plan.limits)?;
        let left = episode.finish(keeping.states())?;
        Ok((left, played))
    }
}

/// Keeps what a trial left in a folder, and records it.
fn keep_folder(
    ledger: &dyn LedgerStore,
    folders: &TrialFolder,
    lease: &Lease,
    number: i64,
    record: &TrialRecord,
    left: Option<(Finished, Vec<Json>)>,
) -> Result<Finish, LedgerError> {
    let left = left.as_ref().map(|(left, transcript)| (left, &**transcript));
    let written = folders.write((number, lease.fence), record, left).map_err(LedgerError::Folder)?;
    let mut place = || folders.keep(&written, number);
    let ended = Ended::Folder { number, record, digest: &written.digest, place: &mut place };
    let finish = ledger.finish(lease, ended)?;
    if finish == Finish::Stale {
        std::fs::remove_dir_all(&written.path).map_err(LedgerError::Folder)?;
    }
    Ok(finish)
}

/// Records a trial that was played elsewhere, such as by a person: the next one of the run.
pub fn record_played(
    ledger: &dyn LedgerStore,
    folders: &TrialFolder,
    run: RunId,
    left: Finished,
    wall: u64,
) -> Result<Finish, LedgerError> {
    let plan = ledger.plan(run)?;
    let worker = ledger.join(run, HOLD)?;
    let Some(lease) = ledger.claim(worker, 1)? else { return Ok(Finish::Stale) };
    let next = lease.trials.first().and_then(|claim| Some((claim.number, plan.key(claim.number)?)));
    let Some((number, key)) = next else { return Ok(Finish::Stale) };
    let (record, left) = record(key, Ok((left, Played::plainly(Stop::Done))), wall);
    let finish = keep_folder(ledger, folders, &lease, number, &record, left)?;
    ledger.leave(worker)?;
    Ok(finish)
}

/// What is recorded of a trial, and what its folder keeps.
fn record(key: TrialKey, played: Result<(Finished, Played), AgentError>, wall: u64) -> Over {
    let (left, played) = match played {
        Ok(done) => done,
        Err(AgentError { cause, detail }) => {
            let end = TrialEnd::Error { cause, detail };
            let (used, spent) = (Used::default(), Spent { wall, ..Spent::default() });
            return (TrialRecord { key, end, used, trusted: false, failed: None, spent }, None);
        }
    };
    let limit = match played.stop {
        Stop::Done => None,
        Stop::Limit(which) => Some(which),
    };
    let end = match Score::of(&left.verdict, &left.frame_rules, limit) {
        Some(score) => TrialEnd::Scored(score),
        None => {
            let detail = "the terminal state could not be judged".to_owned();
            TrialEnd::Error { cause: "grader".to_owned(), detail }
        }
    };
    let refused = left.trace.calls.iter().filter(|call| matches!(call.outcome, Outcome::Refused(_))).count();
    let used = Used {
        calls: left.trace.calls.len() as u32,
        refused: refused as u32,
        turns: played.turns,
        tokens_in: played.tokens_in,
        tokens_out: played.tokens_out,
        cost: played.cost,
    };
    let spent = Spent { wall, world: left.world, turns: played.turn_times };
    let (trusted, failed) = (played.trusted, played.failed);
    (TrialRecord { key, end, used, trusted, failed, spent }, Some((left, played.transcript)))
}
