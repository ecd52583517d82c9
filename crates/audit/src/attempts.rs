//! Ways through a task as calls that anybody can make again: near-misses, each of which breaks a rule that it names, and other ways that
//! earn everything. The trials judge hundreds of them and keep none; whoever teaches by example takes a few of each task.

use crate::{
    RequestSubject, Subject,
    request::{right_ways, wrong_ways},
    trials::{alternates, near_miss},
};
use benchwright_grade::Grader;
use benchwright_pack::{Script, Trace};
use benchwright_world::{ReplayError, replay};
use serde::{Deserialize, Serialize};

/// A call of a tool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptCall {
    /// The name of the tool.
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}

/// A way through a task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// The check that it fails; nothing if it earns everything.
    pub rule: Option<String>,
    /// What is otherwise than in the certified way, in words.
    pub what: String,
    /// The calls, in order. Some may be refused.
    pub calls: Vec<AttemptCall>,
}

/// Why ways through a task could not be looked for: it cannot be carried out or judged, or no solver is at hand.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoAttempts(pub String);

impl From<String> for NoAttempts {
    fn from(why: String) -> NoAttempts {
        NoAttempts(why)
    }
}

impl From<ReplayError> for NoAttempts {
    fn from(error: ReplayError) -> NoAttempts {
        NoAttempts(error.to_string())
    }
}

impl Attempt {
    /// The calls of an episode that was played.
    pub(crate) fn of(rule: Option<&str>, what: &str, trace: Trace) -> Attempt {
        let calls = trace.calls.into_iter();
        let calls = calls.map(|call| AttemptCall { tool: call.tool, arguments: call.arguments }).collect();
        Attempt { rule: rule.map(str::to_owned), what: what.to_owned(), calls }
    }
}

impl Subject<'_> {
    /// So many near-misses of different rules, if there are; each has been judged.
    pub fn near_misses(&self, grader: &Grader<'_>, most: usize) -> Result<Vec<Attempt>, NoAttempts> {
        let scripts = near_miss::scripts(self, grader, most)?;
        let attempt = |(rule, at, script): near_miss::Breaking| {
            let what = if at.is_empty() { "broken".to_owned() } else { format!("broken for {}", at.join(", ")) };
            self.attempt(Some(&rule), &what, &script)
        };
        Ok(scripts.into_iter().map(attempt).collect::<Result<_, ReplayError>>()?)
    }

    /// So many other ways that earn everything, if there are.
    pub fn other_ways(&self, grader: &Grader<'_>, most: usize) -> Result<Vec<Attempt>, NoAttempts> {
        let scripts = alternates::scripts(self, grader, most)?;
        let attempts = scripts.iter().map(|script| self.attempt(None, "another plan that is as good", script));
        Ok(attempts.collect::<Result<_, ReplayError>>()?)
    }

    fn attempt(&self, rule: Option<&str>, what: &str, script: &Script) -> Result<Attempt, ReplayError> {
        let mut episode = self.begin().map_err(|error| ReplayError::Answer { at: 0, why: error.to_string() })?;
        replay(script, &mut self.bound_keys(), &mut episode)?;
        Ok(Attempt::of(rule, what, episode.trace()))
    }
}

impl RequestSubject<'_> {
    /// So many near-misses, of different checks where there are; each has been judged.
    pub fn near_misses(&self, most: usize) -> Result<Vec<Attempt>, NoAttempts> {
        Ok(wrong_ways(self, most)?)
    }

    /// So many other ways that earn everything, if there are.
    pub fn other_ways(&self, most: usize) -> Result<Vec<Attempt>, NoAttempts> {
        Ok(right_ways(self, most)?)
    }
}
