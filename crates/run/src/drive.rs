//! Works off a run with several workers: each claims a trial, lets the agent play it, keeps its folder, records it, and so
//! on until none is left. While a trial is played its lease is renewed; one whose worker died is claimed by another when
//! the lease ends.

use crate::{
    Agent, AgentError, Claim, Finish, Finished, Host, LedgerError, LedgerStore, Played, RunId, Standing, Stop,
    TrialFolder, events,
};
use benchwright_pack::{
    Outcome, RunPlan, TaskLine, TrialRecord,
    run::{Score, Spent, TrialEnd, Used},
};
use serde_json::Value as Json;
use std::{
    collections::BTreeMap,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How long a trial is held, in milliseconds, before another may take it. Who is alive holds it longer in time.
const LEASE: i64 = 30_000;
/// How often a trial is tried before an error is recorded.
const TRIES: u32 = 3;
/// Causes that another try cannot mend.
const LASTING: [&str; 3] = ["runner", "auth", "request"];
/// The wait before the next try, doubled each time.
const WAIT: i64 = 2_000;
/// How long a worker waits when others hold all that is left.
const IDLE: Duration = Duration::from_millis(200);

/// What a run is worked off with.
pub struct Driver<'a> {
    /// Who gives episodes and verdicts.
    pub host: &'a dyn Host,
    /// Which trials there are, who works on which, and what came of them.
    pub ledger: &'a dyn LedgerStore,
    /// The agents of the plan.
    pub agents: &'a [Box<dyn Agent + Send>],
    /// Where folders are kept.
    pub folders: TrialFolder,
    /// Milliseconds of the clock that leases are counted by.
    pub now: &'a (dyn Fn() -> i64 + Sync),
    /// Milliseconds that a trial is held before it must be held longer; half a minute by default.
    pub lease: Option<i64>,
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

/// Works off a run. Sweeps folders first that no recorded trial owns.
pub fn run(driver: &Driver<'_>, run: RunId, progress: &Progress) -> Result<(), LedgerError> {
    let plan = driver.ledger.plan(run)?;
    let records = driver.ledger.records(run)?;
    let is_recorded = |number: i64| records.binary_search_by_key(&number, |(number, _)| *number).is_ok();
    if driver.ledger.standing(run)?.leased == 0 {
        driver.folders.sweep(&is_recorded, &|_| false).map_err(LedgerError::Folder)?;
    }
    let tasks: BTreeMap<&str, &TaskLine> = plan.tasks.iter().map(|task| (&*task.digest, task)).collect();
    let held = Held { claims: Mutex::default(), over: Mutex::new(false), ended: Condvar::new() };
    thread::scope(|scope| {
        let keeper = scope.spawn(|| held.keep(driver));
        let workers: Vec<_> = (0..driver.jobs.max(1))
            .map(|_| scope.spawn(|| work(driver, run, &plan, &tasks, &held, progress)))
            .collect();
        // Every worker has ended before the first failure is told.
        let ends: Vec<_> = workers.into_iter().map(|worker| worker.join().map_err(lost).and_then(|end| end)).collect();
        held.end();
        keeper.join().map_err(lost).and_then(|end| end)?;
        ends.into_iter().collect()
    })
}

fn lost<E>(_: E) -> LedgerError {
    LedgerError::Lost("a worker")
}

/// The trials that this process works on. They are held longer for as long as it is alive.
struct Held {
    claims: Mutex<BTreeMap<i64, Claim>>,
    over: Mutex<bool>,
    ended: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Held {
    fn keep(&self, driver: &Driver<'_>) -> Result<(), LedgerError> {
        let lease = driver.lease.unwrap_or(LEASE);
        let wait = Duration::from_millis(u64::try_from(lease / 3).unwrap_or(1).max(1));
        let mut over = lock(&self.over);
        while !*over {
            over = self.ended.wait_timeout(over, wait).unwrap_or_else(PoisonError::into_inner).0;
            let claims: Vec<Claim> = lock(&self.claims).values().cloned().collect();
            for claim in claims {
                // One that is no longer ours is found out when it is to be recorded.
                driver.ledger.renew(&claim, (driver.now)() + lease)?;
            }
        }
        Ok(())
    }

    fn end(&self) {
        *lock(&self.over) = true;
        self.ended.notify_all();
    }
}

fn work(
    driver: &Driver<'_>,
    run: RunId,
    plan: &RunPlan,
    tasks: &BTreeMap<&str, &TaskLine>,
    held: &Held,
    progress: &Progress,
) -> Result<(), LedgerError> {
    let lease = driver.lease.unwrap_or(LEASE);
    let mut patience = Patience { lease, since: None };
    while !driver.stop.load(Ordering::Relaxed) {
        let Some(claim) = driver.ledger.claim(run, (driver.now)(), lease)? else {
            let standing = driver.ledger.standing(run)?;
            if standing.recorded == standing.planned {
                return Ok(());
            }
            // Others hold the rest, or it waits to be tried again.
            patience.wait(&standing, (driver.now)())?;
            continue;
        };
        patience.since = None;
        let _trial = events::trial(&claim, tasks.get(&*claim.key.task).map(|task| &*task.id)).entered();
        events::claimed();
        lock(&held.claims).insert(claim.number, claim.clone());
        let begun = Instant::now();
        let played = tasks
            .get(&*claim.key.task)
            .ok_or_else(|| AgentError { cause: "runner".to_owned(), detail: "the plan has no such task".to_owned() })
            .and_then(|task| play(driver, plan, task, &claim));
        lock(&held.claims).remove(&claim.number);
        if let Err(error) = &played
            && claim.tries + 1 < TRIES
            && !LASTING.contains(&&*error.cause)
        {
            events::given_back(&error.cause);
            driver.ledger.give_back(&claim, (driver.now)() + (WAIT << claim.tries))?;
            continue;
        }
        let wall = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (record, left) = record(&claim, played, wall);
        let left = left.as_ref().map(|(left, transcript)| (left, &**transcript));
        let written = driver.folders.write(&claim, &record, left).map_err(LedgerError::Folder)?;
        let mut place = || driver.folders.keep(&written, claim.number);
        let finish = driver.ledger.finish(&claim, &record, &written.digest, &mut place)?;
        events::finished(&record, finish);
        match finish {
            Finish::Recorded => progress.recorded.fetch_add(1, Ordering::Relaxed),
            Finish::Stale => {
                std::fs::remove_dir_all(&written.path).map_err(LedgerError::Folder)?;
                progress.stale.fetch_add(1, Ordering::Relaxed)
            }
        };
    }
    Ok(())
}

/// How long it is waited for a trial that nobody gives out.
struct Patience {
    lease: i64,
    /// Since when no row says when a trial can be had, in words that can be true.
    since: Option<Instant>,
}

impl Patience {
    /// Waits a moment. A trial that can be had neither now nor when a lease or a pause ends is in a row that was not written by this
    /// program: who holds a trial holds it longer in time, so that it is known after half a lease.
    fn wait(&mut self, standing: &Standing, now: i64) -> Result<(), LedgerError> {
        let longest = self.lease.max(WAIT << TRIES);
        let (number, from) = standing.next.unwrap_or_default();
        if (now..=now + longest).contains(&from) {
            self.since = None;
        } else if let Some(since) = self.since
            && since.elapsed().as_millis() > u128::from(self.lease.unsigned_abs()) / 2
        {
            let when =
                if from < now { "now, and it cannot".to_owned() } else { format!("in {} s", (from - now) / 1_000) };
            return Err(LedgerError::Stuck { number, when });
        } else {
            self.since.get_or_insert_with(Instant::now);
        }
        thread::sleep(IDLE);
        Ok(())
    }
}

/// Records a trial that was played elsewhere, such as by a person: the next one of the run.
pub fn record_played(
    ledger: &dyn LedgerStore,
    folders: &TrialFolder,
    run: RunId,
    now: i64,
    left: Finished,
    wall: u64,
) -> Result<Finish, LedgerError> {
    let Some(claim) = ledger.claim(run, now, LEASE)? else { return Ok(Finish::Stale) };
    let (record, left) = record(&claim, Ok((left, Played::plainly(Stop::Done))), wall);
    let left = left.as_ref().map(|(left, transcript)| (left, &**transcript));
    let written = folders.write(&claim, &record, left).map_err(LedgerError::Folder)?;
    ledger.finish(&claim, &record, &written.digest, &mut || folders.keep(&written, claim.number))
}

fn play(driver: &Driver<'_>, plan: &RunPlan, task: &TaskLine, claim: &Claim) -> Result<(Finished, Played), AgentError> {
    let missing =
        || AgentError { cause: "runner".to_owned(), detail: format!("there is no agent {}", claim.key.agent) };
    let agent = driver.agents.iter().find(|agent| agent.name() == claim.key.agent).ok_or_else(missing)?;
    let open = driver.host.open(&task.id)?;
    let mut episode = driver.host.begin(&task.id)?;
    let played = agent.play(driver.host, &open, &mut *episode, claim.key.attempt, &plan.limits)?;
    let left = episode.finish()?;
    Ok((left, played))
}

/// What is recorded of a trial, and what its folder keeps.
fn record(
    claim: &Claim,
    played: Result<(Finished, Played), AgentError>,
    wall: u64,
) -> (TrialRecord, Option<(Finished, Vec<Json>)>) {
    let key = claim.key.clone();
    let (left, played) = match played {
        Ok(done) => done,
        Err(AgentError { cause, detail }) => {
            let end = TrialEnd::Error { cause, detail };
            let (used, spent) = (Used::default(), Spent { wall, world: 0 });
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
    let spent = Spent { wall, world: left.world };
    let (trusted, failed) = (played.trusted, played.failed);
    (TrialRecord { key, end, used, trusted, failed, spent }, Some((left, played.transcript)))
}
