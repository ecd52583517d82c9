//! What a worker is asked and what it answers: one JSON document on a line each, in order.

use benchwright_audit::TaskReport;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// What a worker is asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Makes a task and writes it into a store.
    Make(MakeRequest),
    /// Runs trials on a task of a store.
    Audit(AuditRequest),
    /// Ends the worker as a native fault would. Only tests ask for it.
    AbortForTests,
}

/// Which task is made, and where it goes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MakeRequest {
    /// The pattern.
    pub(crate) pattern: String,
    /// The tier.
    pub(crate) tier: String,
    /// The objective.
    pub(crate) objective: String,
    /// The seed.
    pub(crate) seed: u64,
    /// The folder of the store.
    pub(crate) out: PathBuf,
}

/// Which trials are run on which task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditRequest {
    /// The folder of the store.
    pub(crate) store: PathBuf,
    /// The task.
    pub(crate) id: String,
    /// The trials, by name.
    pub(crate) trials: Vec<String>,
}

/// What a worker answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The task was made and stands in the store.
    Made(Made),
    /// The trials were run.
    Audited(TaskReport),
    /// Neither.
    Failed(Failed),
}

/// A task that was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Made {
    /// Its id.
    pub(crate) id: String,
    /// Its digest.
    pub(crate) digest: String,
    /// The variables of its model.
    pub(crate) variables: usize,
    /// The constraints of its model.
    pub(crate) constraints: usize,
    /// The rules that apply to it.
    pub(crate) rules: usize,
    /// The checks that apply to the state its own plan leaves; `None` if that plan could not be carried out or judged.
    pub(crate) checks: Option<usize>,
    /// How many draws were thrown away before it, by cause.
    pub(crate) discarded: BTreeMap<String, u32>,
}

/// Why a request came to nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failed {
    /// What happened.
    pub(crate) why: String,
    /// Whether something that is needed is missing.
    pub(crate) missing: bool,
}
