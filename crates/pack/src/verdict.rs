//! What grading found: a line per check, gates, scores, and the reward.

use serde::{Deserialize, Serialize};
use std::{ops::Deref, sync::Arc};

/// How a check ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It does not apply.
    Na,
    /// It could not be judged.
    NoVerdict,
}

/// An instance of a rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Instance {
    /// The rule's id.
    pub rule: String,
    /// Its short code.
    pub code: String,
    /// Its family.
    pub family: String,
    /// What it is about: the members that `per` is bound to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<String>,
}

/// What was found of an instance of a rule, which verdicts share.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Check {
    /// The instance.
    #[serde(flatten, with = "shared")]
    pub of: Arc<Instance>,
    /// How it ended.
    pub status: CheckStatus,
    /// Why, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Deref for Check {
    type Target = Instance;

    fn deref(&self) -> &Instance {
        &self.of
    }
}

/// A shared instance is written as one of its own.
mod shared {
    use super::Instance;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<S: Serializer>(of: &Arc<Instance>, serializer: S) -> Result<S::Ok, S::Error> {
        Instance::serialize(of, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Instance>, D::Error> {
        Instance::deserialize(deserializer).map(Arc::new)
    }
}

/// One phase of the objective.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PhaseScore {
    /// Its name.
    pub name: String,
    /// The value of the terminal state, if it has one.
    pub value: Option<i64>,
    /// The best value.
    pub best: i64,
    /// The score in millionths.
    pub score: i64,
    /// Whether the value is within tolerance of the best.
    pub within: bool,
}

/// How a task ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// No gate fired, every check that applies passed, every scored phase is within tolerance.
    Pass,
    /// Something fell short.
    Fail,
    /// Something could not be judged; nothing is scored.
    Error,
}

/// The verdict on a terminal state. Scores and the reward are in millionths.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// How the task ended.
    pub ending: Ending,
    /// The reward.
    pub reward: i64,
    /// The share of constraint checks that passed.
    pub constraints: i64,
    /// The share of traceability checks that passed.
    pub trace: i64,
    /// The score of the objective.
    pub objective: i64,
    /// The gates that fired.
    pub gates: Vec<String>,
    /// The phases.
    pub phases: Vec<PhaseScore>,
    /// Whether a clean state is better than the certificate says is possible.
    pub alarm: bool,
    /// Whether the reward reaches the paper's bar of 0.99.
    pub paper_pass: bool,
    /// Every check.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// The ids of the rules that failed, each once, in order.
    pub fn failed(&self) -> Vec<&str> {
        let mut rules: Vec<&str> =
            self.checks.iter().filter(|c| c.status == CheckStatus::Fail).map(|c| &*c.rule).collect();
        rules.dedup();
        rules
    }

    /// The number of checks that apply.
    pub fn applicable(&self) -> usize {
        self.checks.iter().filter(|check| matches!(check.status, CheckStatus::Pass | CheckStatus::Fail)).count()
    }
}
