//! What can go wrong between us and a model's server.

use crate::AgentError;
use std::time::Duration;

/// What kind of failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The server asks for fewer requests (429).
    RateLimit,
    /// The server fails (5xx), or cannot be reached.
    Server,
    /// No byte came for too long.
    Stall,
    /// The answer was cut, or cannot be read.
    Stream,
    /// The key is not accepted (401, 403).
    Auth,
    /// The request is not accepted (other 4xx).
    Request,
    /// The conversation has grown beyond what the model can read (a 4xx that says so).
    Context,
    /// The time of the trial ran out while the model was answering.
    Time,
}

impl Cause {
    /// Its word in records.
    pub fn word(self) -> &'static str {
        match self {
            Cause::RateLimit => "rate-limit",
            Cause::Server => "server",
            Cause::Stall => "stall",
            Cause::Stream => "stream",
            Cause::Auth => "auth",
            Cause::Request | Cause::Context => "request",
            Cause::Time => "time",
        }
    }

    /// Whether another try may go better.
    pub fn passes(self) -> bool {
        matches!(self, Cause::RateLimit | Cause::Server | Cause::Stall | Cause::Stream)
    }
}

/// Why a model could not be asked. Secrets are taken out of it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {detail} (tries: {tries})", cause.word())]
pub struct ModelError {
    /// What kind of failure the last try met.
    pub cause: Cause,
    /// What the server said, cut to a few hundred characters.
    pub detail: String,
    /// How often it was tried.
    pub tries: u32,
}

impl From<ModelError> for AgentError {
    fn from(error: ModelError) -> AgentError {
        let detail = format!("{} (tries: {})", error.detail, error.tries);
        AgentError { cause: error.cause.word().to_owned(), detail }
    }
}

/// What one try met.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) cause: Cause,
    pub(super) detail: String,
    /// How long the server asks us to wait.
    pub(super) after: Option<Duration>,
}

impl Fault {
    pub(super) fn new(cause: Cause, detail: impl Into<String>) -> Fault {
        Fault { cause, detail: detail.into(), after: None }
    }

    /// An answer that cannot be read.
    pub(super) fn stream(detail: impl Into<String>) -> Fault {
        Fault::new(Cause::Stream, detail)
    }

    /// An error that a server tells inside an answer that began well.
    pub(super) fn told(error: &serde_json::Value) -> Fault {
        let text = |key: &str| error[key].as_str().unwrap_or_default();
        let kind = if text("type").is_empty() || text("type") == "error" { text("code") } else { text("type") };
        let cause = if kind.contains("rate_limit") { Cause::RateLimit } else { Cause::Server };
        let message = if text("message").is_empty() { error.to_string() } else { text("message").to_owned() };
        Fault::new(cause, format!("the answer is an error: {message}"))
    }
}
