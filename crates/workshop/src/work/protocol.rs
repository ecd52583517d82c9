//! What a worker is asked and what it answers: one JSON document on a line each, in order.

use benchwright_audit::{Attempt, TaskReport};
use benchwright_base::Digest;
use benchwright_solve::Answers;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, path::PathBuf};

/// What a worker is asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Makes a task and writes it into a store.
    Make(MakeRequest),
    /// Runs trials on a task of a store.
    Audit(AuditRequest),
    /// Finds ways through a task of a store.
    Attempts(AttemptsRequest),
    /// Ends the worker as a native fault would. Only tests ask for it.
    AbortForTests,
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Make(MakeRequest { pattern, tier, objective, seed, .. }) => {
                write!(f, "{pattern} {tier} {objective} seed {seed}")
            }
            Request::Audit(request) => f.write_str(&request.id),
            Request::Attempts(request) => f.write_str(&request.id),
            Request::AbortForTests => f.write_str("an end as by a native fault"),
        }
    }
}

/// Which task is made, and where it goes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MakeRequest {
    /// The name of the pattern, `group/slug`.
    pub pattern: String,
    /// A tier that the pattern offers.
    pub tier: String,
    /// An objective that the pattern offers at that tier.
    pub objective: String,
    /// The seed that the task is drawn from.
    pub seed: u64,
    /// The reading of a clause that tells it from its twin, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// The salt of the suite that it is made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// The share of tasks that carry a hostile text, in millionths.
    #[serde(default)]
    pub inject: u32,
    /// The folder of the store.
    pub out: PathBuf,
}

/// Which trials are run on which task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditRequest {
    /// The folder of the store.
    pub store: PathBuf,
    /// The id of a task in that store.
    pub id: String,
    /// The digest that it must have.
    pub digest: Digest,
    /// The trials, by name.
    pub trials: Vec<String>,
}

/// How many ways through which task are looked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptsRequest {
    /// The folder of the store.
    pub store: PathBuf,
    /// The id of a task in that store.
    pub id: String,
    /// Ways that break a rule, each.
    pub near_misses: usize,
    /// Ways beside the certified one that earn everything.
    pub other_ways: usize,
}

/// What a worker answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The task was made and stands in the store.
    Made(Made),
    /// The trials were run.
    Audited(TaskReport),
    /// Ways were found; fewer than were asked for where there are no more.
    Attempts(Vec<Attempt>),
    /// The request came to nothing.
    Failed(Failed),
}

/// A task that was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// The id of the task, under which it stands in the store.
    pub id: String,
    /// The digest of every byte of it.
    pub digest: String,
    /// The variables of its model.
    pub variables: usize,
    /// The constraints of its model.
    pub constraints: usize,
    /// The rules that apply to it.
    pub rules: usize,
    /// The checks that apply to the state its own plan leaves; `None` if that plan could not be carried out or judged.
    pub checks: Option<usize>,
    /// How many draws were thrown away before it, by cause.
    pub discarded: BTreeMap<String, u32>,
    /// What was measured of a request, such as its calls; nothing of other tasks.
    pub measures: BTreeMap<String, u64>,
    /// Why a request cannot be carried out, if it cannot.
    pub obstacle: Option<String>,
    /// What the solver said, where the store keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
}

/// Why a request came to nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    /// What happened, in a sentence.
    pub why: String,
    /// Whether something that is needed is missing.
    pub missing: bool,
    /// Whether it is the seed: nobody makes a task of it, now or ever.
    pub barren: bool,
}
