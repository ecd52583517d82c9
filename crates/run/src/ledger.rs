//! The ledger of runs: which trials are planned, who works on which, and what came of them. Behind a trait, because a team
//! keeps it in another database than a laptop.

use crate::Chain;
use benchwright_pack::{RunPlan, TrialKey, TrialRecord};
use std::path::PathBuf;

/// A run in the ledger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RunId(pub i64);

/// A trial that somebody works on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The run that the trial is of.
    pub run: RunId,
    /// Which task, agent and attempt.
    pub key: TrialKey,
    /// Its number in the run.
    pub number: i64,
    /// The fencing number: only its holder may record the trial.
    pub fence: i64,
    /// How often it was begun before.
    pub tries: u32,
}

/// What became of a record that was handed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finish {
    /// It is recorded now, once and for all.
    Recorded,
    /// Somebody else holds the trial by now, or it is recorded already: nothing was written.
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
    /// Which of those that are not recorded can be had first, and from when on.
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
    /// A worker or the runner ended without saying why.
    #[error("{0} was lost")]
    Lost(&'static str),
    /// The folder of a trial could not be put in its place.
    #[error("the folder of a trial cannot be put in its place: {0}")]
    Folder(std::io::Error),
}

/// A ledger. Times are milliseconds of one clock that all who work on a run share.
pub trait LedgerStore: Sync {
    /// The newest run with this plan, or a new one; always a new one with `fresh`. Says whether it is new.
    fn open(&self, name: &str, plan: &RunPlan, fresh: bool) -> Result<(RunId, bool), LedgerError>;
    /// The next trial that nobody holds, or whose holder's lease has run out. `None` when there is none now.
    fn claim(&self, run: RunId, now: i64, lease: i64) -> Result<Option<Claim>, LedgerError>;
    /// Holds a trial longer. `false` where it is no longer held.
    fn renew(&self, claim: &Claim, until: i64) -> Result<bool, LedgerError>;
    /// Records a trial, once, if the claim still holds it, with the digest of its folder. `place` puts that folder in its place and is
    /// part of the same transaction, as is the link of the chain: where one fails, nothing is recorded.
    fn finish(
        &self,
        claim: &Claim,
        record: &TrialRecord,
        folder: &str,
        place: &mut dyn FnMut() -> std::io::Result<()>,
    ) -> Result<Finish, LedgerError>;
    /// Gives a trial back, to be tried again not before `at`.
    fn give_back(&self, claim: &Claim, at: i64) -> Result<(), LedgerError>;
    /// Takes every trial back that somebody holds. Only for who knows that nobody is left who works on the run.
    fn take_back(&self, run: RunId) -> Result<usize, LedgerError>;
    /// Makes errors open again, so that a resumed run tries them once more.
    fn reopen_errors(&self, run: RunId) -> Result<usize, LedgerError>;
    /// Where a run stands.
    fn standing(&self, run: RunId) -> Result<Standing, LedgerError>;
    /// The plan of a run.
    fn plan(&self, run: RunId) -> Result<RunPlan, LedgerError>;
    /// The records of a run, in the order of the plan.
    fn records(&self, run: RunId) -> Result<Vec<(i64, TrialRecord)>, LedgerError>;
    /// What is recorded of a run, held to its chain: all that was changed, moved or deleted since is told.
    fn chain(&self, run: RunId) -> Result<Chain, LedgerError>;
    /// All runs, the newest first.
    fn runs(&self) -> Result<Vec<RunId>, LedgerError>;
    /// The newest run, if there is one.
    fn newest(&self) -> Result<Option<RunId>, LedgerError>;
    /// The run of a name, if there is one.
    fn named(&self, name: &str) -> Result<Option<RunId>, LedgerError>;
    /// The name of a run.
    fn name(&self, run: RunId) -> Result<String, LedgerError>;
}
