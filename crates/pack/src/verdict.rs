//! What grading found: a line per check, gates, scores, and the reward.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};
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
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(from = "WrittenCheck")]
pub struct Check {
    /// The instance.
    pub of: Arc<Instance>,
    /// How it ended.
    pub status: CheckStatus,
    /// Why, where there is more to say.
    pub why: Option<String>,
}

impl Deref for Check {
    type Target = Instance;

    fn deref(&self) -> &Instance {
        &self.of
    }
}

/// A check as it is written: the instance in the same object as what was found of it.
#[derive(Deserialize)]
struct WrittenCheck {
    rule: String,
    code: String,
    family: String,
    #[serde(default)]
    at: Vec<String>,
    status: CheckStatus,
    #[serde(default)]
    why: Option<String>,
}

impl From<WrittenCheck> for Check {
    fn from(written: WrittenCheck) -> Check {
        let WrittenCheck { rule, code, family, at, status, why } = written;
        Check { of: Arc::new(Instance { rule, code, family, at }), status, why }
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("rule", &self.rule)?;
        map.serialize_entry("code", &self.code)?;
        map.serialize_entry("family", &self.family)?;
        if !self.at.is_empty() {
            map.serialize_entry("at", &self.at)?;
        }
        map.serialize_entry("status", &self.status)?;
        if let Some(why) = &self.why {
            map.serialize_entry("why", why)?;
        }
        map.end()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_written_flat_and_read_back() {
        let of = Instance { rule: "r".into(), code: "R".into(), family: "f".into(), at: vec!["o1".into()] };
        let one = Check { of: Arc::new(of.clone()), status: CheckStatus::Fail, why: Some("late".into()) };
        let two = Check { of: Arc::new(Instance { at: Vec::new(), ..of }), status: CheckStatus::NoVerdict, why: None };
        for (check, text) in [
            (one, r#"{"rule":"r","code":"R","family":"f","at":["o1"],"status":"fail","why":"late"}"#),
            (two, r#"{"rule":"r","code":"R","family":"f","status":"no-verdict"}"#),
        ] {
            assert_eq!(serde_json::to_string(&check).ok().as_deref(), Some(text));
            assert_eq!(serde_json::from_str::<Check>(text).ok(), Some(check));
        }
    }
}
