//! The trait of an agent (whatever works on a task: a policy, a model, a program outside) and what it leaves behind.

use crate::{Host, HostError, Hosted};
use benchwright_pack::{OpenPart, run::Limits};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Why an agent stopped without an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It says that it is done.
    Done,
    /// A limit was reached: `turns`, `tokens`, `time`, `cost`, `length`, `calls`.
    Limit(String),
}

/// What an agent did besides its calls.
#[derive(Clone, PartialEq, Debug)]
pub struct Played {
    /// Whether it was done or met a limit.
    pub stop: Stop,
    /// Turns of its model.
    pub turns: Option<u32>,
    /// Tokens that its model was sent; nothing where it has none or the server does not say.
    pub tokens_in: Option<u64>,
    /// Tokens that its model wrote; nothing where it has none or the server does not say.
    pub tokens_out: Option<u64>,
    /// Cost in millionths of a dollar.
    pub cost: Option<u64>,
    /// What its model took for each turn, in microseconds, without what was lost to others.
    pub turn_times: Vec<u64>,
    /// What was said, message by message; nothing for a policy.
    pub transcript: Vec<Json>,
    /// Whether it had the rights of who runs it, so that nothing but its word keeps it from what is sealed.
    pub trusted: bool,
    /// How its program ended and what it said last, where it said that it had failed. It is graded all the same: who could make an error
    /// of its failures would choose which of its trials count.
    pub failed: Option<String>,
}

impl Played {
    /// What a policy without a model leaves.
    pub fn plainly(stop: Stop) -> Played {
        Played {
            stop,
            turns: None,
            tokens_in: None,
            tokens_out: None,
            cost: None,
            turn_times: Vec::new(),
            transcript: Vec::new(),
            trusted: false,
            failed: None,
        }
    }
}

/// A failure that is not the agent's: the trial is tried again, and is an error in the end, never a score.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{cause}: {detail}")]
pub struct AgentError {
    /// What kind of failure: `rate-limit`, `server`, `stall`, `stream`, `auth`, `request`, `runner`, and of a program's
    /// surroundings `sandbox`, `signal`, `unstopped`.
    pub cause: String,
    /// What the failing part said, for people. Secrets were taken out of it.
    pub detail: String,
}

impl From<HostError> for AgentError {
    fn from(error: HostError) -> AgentError {
        AgentError { cause: error.cause.to_owned(), detail: error.detail }
    }
}

/// An agent: whatever works on a task, be it a policy, a model or a program outside.
pub trait Agent: Sync {
    /// Its name in records, with its model and setting.
    fn name(&self) -> &str;
    /// What else decides what it does, by name. It is part of what a run is.
    fn settings(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
    /// Works on a task until it is done or a limit is reached.
    fn play(
        &self,
        host: &dyn Host,
        task: &OpenPart,
        episode: &mut dyn Hosted,
        attempt: u32,
        limits: &Limits,
    ) -> Result<Played, AgentError>;
}
