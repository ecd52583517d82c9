//! Works off a run with several threads: each claims a lease of its items, does them, and so on until none is left. One row of the ledger keeps
//! this process alive; what a process held that died is claimed by others when that row runs out.

use crate::{Lease, LedgerError, LedgerStore, RunId, Standing, WorkerId};
use std::{
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How long the items of a worker are held, in milliseconds, before another may take them. Who is alive holds them longer in time.
pub(crate) const HOLD: i64 = 30_000;
/// The longest that anybody may ask for: a row that says longer is none of ours.
pub const LONGEST_HOLD: i64 = 600_000;
/// How long a worker waits when others hold all that is left.
const IDLE: Duration = Duration::from_millis(200);
/// How much work a lease of many items is about.
const WORTH: Duration = Duration::from_secs(5);
/// How much larger a lease may be than the one before it. The first has one item: nobody knows yet how long one takes.
const GROWTH: usize = 8;

/// What is done with the items of a lease.
pub trait Craft: Sync {
    /// The most items of a lease.
    fn most(&self) -> usize;
    /// Does the items of a lease, and records them or gives them back.
    fn work(&self, lease: &Lease) -> Result<(), LedgerError>;
}

/// Those who work off a run in this process.
pub struct Crew<'a> {
    /// Which items there are, who works on which, and what came of them.
    pub ledger: &'a dyn LedgerStore,
    /// Milliseconds that items are held before they must be held longer; half a minute by default.
    pub hold: Option<i64>,
    /// How many leases are worked on at a time, each by a thread of its own.
    pub jobs: usize,
    /// Set to stop before the next lease.
    pub stop: &'a AtomicBool,
}

impl Crew<'_> {
    /// Works off a run, until all of it is recorded, by whomever, or it is stopped.
    pub fn work_off(&self, run: RunId, craft: &dyn Craft) -> Result<(), LedgerError> {
        let hold = self.hold.unwrap_or(HOLD);
        let id = self.ledger.join(run, hold)?;
        let alive = Alive { over: Mutex::new(false), ended: Condvar::new() };
        let ends: Result<(), LedgerError> = thread::scope(|scope| {
            let keeper = scope.spawn(|| alive.keep(self.ledger, id, hold));
            let work = || self.work((run, id), hold, craft);
            let threads: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(work)).collect();
            // Every thread has ended before the first failure is told.
            let ends: Vec<_> =
                threads.into_iter().map(|thread| thread.join().map_err(lost).and_then(|end| end)).collect();
            alive.end();
            keeper.join().map_err(lost).and_then(|end| end)?;
            ends.into_iter().collect()
        });
        let left = self.ledger.leave(id);
        ends.and(left)
    }

    fn work(&self, (run, id): (RunId, WorkerId), hold: i64, craft: &dyn Craft) -> Result<(), LedgerError> {
        let mut patience = Patience { hold, since: None };
        let mut size = 1;
        while !self.stop.load(Ordering::Relaxed) {
            let Some(lease) = self.ledger.claim(id, size.min(craft.most()))? else {
                let standing = self.ledger.standing(run)?;
                if standing.recorded == standing.planned {
                    return Ok(());
                }
                // Others hold the rest, or it waits to be tried again.
                patience.wait(&standing)?;
                continue;
            };
            patience.since = None;
            let begun = Instant::now();
            craft.work(&lease)?;
            size = next_size(lease.trials.len(), begun.elapsed(), craft.most());
        }
        Ok(())
    }
}

fn lost<E>(_: E) -> LedgerError {
    LedgerError::Lost("a worker")
}

/// Keeps this process alive in the ledger, and with it all that it holds.
struct Alive {
    over: Mutex<bool>,
    ended: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Alive {
    fn keep(&self, ledger: &dyn LedgerStore, worker: WorkerId, hold: i64) -> Result<(), LedgerError> {
        let wait = Duration::from_millis(u64::try_from(hold / 3).unwrap_or(1).max(1));
        let mut over = lock(&self.over);
        while !*over {
            over = self.ended.wait_timeout(over, wait).unwrap_or_else(PoisonError::into_inner).0;
            // What is no longer ours is found out when it is to be recorded.
            ledger.keep(worker)?;
        }
        Ok(())
    }

    fn end(&self) {
        *lock(&self.over) = true;
        self.ended.notify_all();
    }
}

/// How many items the next lease has, when so many took so long.
fn next_size(items: usize, took: Duration, most: usize) -> usize {
    let rate = items as f64 / took.as_secs_f64().max(1e-6);
    let worth = (rate * WORTH.as_secs_f64()) as usize;
    worth.clamp(1, items.saturating_mul(GROWTH).min(most))
}

/// How long it is waited for an item that nobody gives out.
struct Patience {
    hold: i64,
    /// Since when no row says when a trial can be had, in words that can be true.
    since: Option<Instant>,
}

impl Patience {
    /// Waits a moment. A trial that can be had neither now nor when a lease or a pause ends is in a row that was not written by this
    /// program: who holds a trial holds it longer in time, so that it is known after half a lease.
    fn wait(&mut self, standing: &Standing) -> Result<(), LedgerError> {
        // Others may hold theirs longer than this worker does, and no pause is as long.
        let (number, wait) = standing.next.unwrap_or_default();
        if (1..=LONGEST_HOLD).contains(&wait) {
            self.since = None;
        } else if let Some(since) = self.since
            && since.elapsed().as_millis() > u128::from(self.hold.unsigned_abs()) / 2
        {
            let when = if wait == 0 { "now, and it cannot".to_owned() } else { format!("in {} s", wait / 1_000) };
            return Err(LedgerError::Stuck { number, when });
        } else {
            self.since.get_or_insert_with(Instant::now);
        }
        thread::sleep(IDLE);
        Ok(())
    }
}
