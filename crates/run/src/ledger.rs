//! The ledger of runs: which trials are planned, who works on which, and what came of them. Behind a trait, because a team
//! keeps it in another database than a laptop.

use crate::{Chain, chain::Told};
use benchwright_base::Digest;
use benchwright_pack::{RunPlan, TaskLine, TrialRecord, WorkPlan, run::TrialEnd};
use std::path::PathBuf;

/// A run in the ledger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RunId(pub i64);

/// Somebody who works on a run: a process, by the one row that keeps it alive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerId(pub i64);

/// Trials that a worker holds together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// The run that they are of.
    pub run: RunId,
    /// The fencing number: no other lease ever has it, and only who holds a trial by it may record that trial.
    pub fence: i64,
    /// The trials, each once.
    pub trials: Vec<Claim>,
}

/// A trial of a lease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// Its number in the run.
    pub number: i64,
    /// How often it was given back because it had failed.
    pub tries: u32,
}

/// Trials of a lease that have ended, and where what came of them is kept.
pub enum Ended<'a> {
    /// One trial: its record is put into the ledger, and everything else into a folder.
    Folder {
        /// The number of the trial.
        number: i64,
        /// What came of it.
        record: &'a TrialRecord,
        /// The digest of the folder.
        digest: &'a str,
        /// Puts the folder in its place. It is part of the transaction: where it fails, nothing is recorded.
        place: &'a mut dyn FnMut() -> std::io::Result<()>,
    },
    /// Some trials, whose records and everything else are in a segment.
    Segment {
        /// The numbers of the trials, in order.
        numbers: &'a [i64],
        /// Those of them that are errors.
        errors: &'a [i64],
        /// The name of the segment, which no other has.
        name: &'a str,
        /// The digest of its files.
        digest: &'a str,
    },
}

/// What a finish writes down, in whichever database.
pub(crate) struct Written {
    pub(crate) told: Told,
    /// The record, where the ledger keeps it.
    pub(crate) record: Option<String>,
}

impl Ended<'_> {
    /// The numbers of the trials, and of those of them that are errors.
    pub(crate) fn numbers(&self) -> (&[i64], &[i64]) {
        match self {
            Ended::Folder { number, record, .. } => {
                let one = std::slice::from_ref(number);
                (one, if matches!(record.end, TrialEnd::Error { .. }) { one } else { &[] })
            }
            Ended::Segment { numbers, errors, .. } => (numbers, errors),
        }
    }

    pub(crate) fn written(&self) -> Result<Written, Malformed> {
        match self {
            Ended::Folder { record, digest, .. } => {
                let record = written(record)?;
                let told = Told::Folder(Digest::of(record.as_bytes()).to_string(), (*digest).to_owned());
                Ok(Written { told, record: Some(record) })
            }
            Ended::Segment { name, digest, .. } => {
                Ok(Written { told: Told::Segment((*name).to_owned(), (*digest).to_owned()), record: None })
            }
        }
    }
}

/// What is in a ledger and is none of ours, before it is said of which ledger.
pub(crate) struct Malformed(pub(crate) String);

/// Reads a document of a ledger.
pub(crate) fn read<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T, Malformed> {
    serde_json::from_str(text).map_err(|error| Malformed(format!("{what}: {error}")))
}

/// Writes a document for a ledger.
pub(crate) fn written(value: &impl serde::Serialize) -> Result<String, Malformed> {
    serde_json::to_string(value).map_err(|error| Malformed(error.to_string()))
}

/// A plan as ledgers keep it: the tasks of a run apart from the rest.
pub(crate) fn parts(plan: &WorkPlan) -> Result<(String, &[TaskLine]), Malformed> {
    match plan {
        WorkPlan::Run(plan) => Ok((written(&RunPlan { tasks: Vec::new(), ..plan.clone() })?, &plan.tasks)),
        other => Ok((written(other)?, &[])),
    }
}

/// The same back.
pub(crate) fn joined(rest: &str, tasks: Vec<TaskLine>) -> Result<WorkPlan, Malformed> {
    Ok(match read("the plan of the run", rest)? {
        WorkPlan::Run(plan) => WorkPlan::Run(RunPlan { tasks, ..plan }),
        other => other,
    })
}

/// What became of a record that was handed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finish {
    /// It is recorded now, once and for all.
    Recorded,
    /// Somebody else holds one of the trials by now, or it is recorded already: nothing was written.
    Stale,
}

/// Where a run stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    /// Trials of the plan.
    pub planned: usize,
    /// Those that are recorded.
    pub recorded: usize,
    /// Those of them that are errors.
    pub errors: usize,
    /// Those that somebody works on.
    pub leased: usize,
    /// Which of those that are not recorded can be had first, and in how many milliseconds.
    pub next: Option<(i64, i64)>,
}

/// Why the ledger could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The database failed, or cannot be opened.
    #[error("the ledger {} cannot be used: {why}", .path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What the database said.
        why: String,
    },
    /// What is in it is none of ours.
    #[error("the ledger {} holds what cannot be read: {why}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A trial is neither recorded nor can it be had, so that whoever waits for it waits for ever.
    #[error(
        "trial {number} of the run is not recorded, nobody works on it, and its row says that it can be had only {when}"
    )]
    Stuck {
        /// The number of the trial.
        number: i64,
        /// When, in words.
        when: String,
    },
    /// A run of agents was asked for, and it is something else.
    #[error("{name} is no run of agents: it is {what}")]
    NoTrials {
        /// Its name.
        name: String,
        /// What is done in it.
        what: &'static str,
    },
    /// A worker or the runner ended without saying why.
    #[error("{0} was lost")]
    Lost(&'static str),
    /// What was to be done could not be.
    #[error("{0}")]
    Undone(String),
    /// The folder of a trial could not be put in its place.
    #[error("the folder of a trial cannot be put in its place: {0}")]
    Folder(std::io::Error),
}

/// Milliseconds of a clock that all who work on a run share. A ledger that has none of its own is given one.
pub type Clock = Box<dyn Fn() -> i64 + Send + Sync>;

/// A ledger. All lengths of time are milliseconds of its own clock.
pub trait LedgerStore: Sync {
    /// The newest run with this plan, or a new one; always a new one with `fresh`. Says whether it is new. A *run* is whatever is worked off
    /// here: trials of agents, tasks that are made or audited.
    fn begin(&self, name: &str, plan: &WorkPlan, fresh: bool) -> Result<(RunId, bool), LedgerError>;
    /// A new worker of a run. What it holds can be taken by others when it was not heard of for so long.
    fn join(&self, run: RunId, hold: i64) -> Result<WorkerId, LedgerError>;
    /// Keeps a worker, and with it all that it holds, for as long again.
    fn keep(&self, worker: WorkerId) -> Result<(), LedgerError>;
    /// Gives back all that a worker holds, and forgets it.
    fn leave(&self, worker: WorkerId) -> Result<(), LedgerError>;
    /// The next trials that can be had, at most so many: those that nobody held yet, else those that wait to be tried again and may be by
    /// now, else those of workers that were not heard of. `None` when there are none now.
    fn claim(&self, worker: WorkerId, most: usize) -> Result<Option<Lease>, LedgerError>;
    /// Records trials of a lease, once, if all of them are still held by it, together with a link of the chain.
    fn finish(&self, lease: &Lease, ended: Ended<'_>) -> Result<Finish, LedgerError>;
    /// Gives trials of a lease back that were not begun, to be had at once.
    fn give_back(&self, lease: &Lease, numbers: &[i64]) -> Result<(), LedgerError>;
    /// Gives a trial back that failed, to be tried again after a wait.
    fn retry(&self, lease: &Lease, number: i64, wait: i64) -> Result<(), LedgerError>;
    /// Takes every trial back that somebody holds. Only for who knows that nobody is left who works on the run.
    fn take_back(&self, run: RunId) -> Result<usize, LedgerError>;
    /// Makes errors open again, so that a resumed run tries them once more.
    fn reopen_errors(&self, run: RunId) -> Result<usize, LedgerError>;
    /// Where a run stands.
    fn standing(&self, run: RunId) -> Result<Standing, LedgerError>;
    /// What is done in a run.
    fn work(&self, run: RunId) -> Result<WorkPlan, LedgerError>;
    /// The fences of the leases that somebody holds, expired ones too: what they write is not swept.
    fn fences(&self, run: RunId) -> Result<Vec<i64>, LedgerError>;
    /// What is recorded of a run, held to its chain: all that was changed, moved or deleted since is told.
    fn chain(&self, run: RunId) -> Result<Chain, LedgerError>;
    /// All runs, the newest first.
    fn runs(&self) -> Result<Vec<RunId>, LedgerError>;
    /// The run of a name, if there is one.
    fn named(&self, name: &str) -> Result<Option<RunId>, LedgerError>;
    /// The name of a run.
    fn name(&self, run: RunId) -> Result<String, LedgerError>;

    /// A run of agents, begun or found as [`LedgerStore::begin`] does.
    fn open(&self, name: &str, plan: &RunPlan, fresh: bool) -> Result<(RunId, bool), LedgerError> {
        self.begin(name, &WorkPlan::Run(plan.clone()), fresh)
    }

    /// The plan of a run of agents.
    fn plan(&self, run: RunId) -> Result<RunPlan, LedgerError> {
        match self.work(run)? {
            WorkPlan::Run(plan) => Ok(plan),
            other => Err(LedgerError::NoTrials { name: self.name(run)?, what: other.what() }),
        }
    }

    /// The newest run of agents, if there is one.
    fn newest(&self) -> Result<Option<RunId>, LedgerError> {
        for run in self.runs()? {
            if matches!(self.work(run)?, WorkPlan::Run(_)) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}
