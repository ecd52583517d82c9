//! Why something was not done. Each error has a word and an HTTP status that clients rely on, and a sentence for people.

use crate::EpisodeId;
use benchwright_base::json;
use benchwright_catalog::CatalogError;
use benchwright_grade::JudgeError;
use benchwright_pack::{Refusal, RefusalCode, StoreError};
use benchwright_world::{Ability, WorldError};
use std::net::SocketAddr;

/// Why an episode could not be begun, copied, read, graded or closed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There never was such an episode.
    #[error("there is no such episode")]
    NoEpisode,
    /// It was closed, by somebody or because it was idle.
    #[error("the episode {0} is closed, or was idle for too long")]
    Closed(EpisodeId),
    /// There are as many as may be.
    #[error("there are {0} live episodes, and no more may be; close some")]
    TooMany(usize),
    /// The episodes hold as much memory as they may.
    #[error("the episodes of this server hold {0} MiB, and no more may be; close some")]
    MemoryFull(u64),
    /// The token has as many connections as it may.
    #[error("this token has {0} connections, and no more may be; use those")]
    TooManyConnections(usize),
    /// The token has as many bytes on the way as it may.
    #[error("the unfinished bodies of this token have {0} bytes, and no more may be; finish some")]
    TooManyBytes(usize),
    /// All tokens together have as many bytes on the way as may be.
    #[error("the unfinished bodies of all clients have {0} bytes, and no more may be; try again")]
    BodiesFull(usize),
    /// The body did not come in time.
    #[error("the body did not come within {0} s")]
    BodyTooSlow(u64),
    /// The request itself is wrong.
    #[error("{0}")]
    Asked(String),
    /// There is no such task or domain.
    #[error("{0}")]
    NotThere(String),
    /// A task is not as it was made, or its world cannot be opened.
    #[error("the task is refused: {0}")]
    TaskRefused(String),
    /// The task's files are others than when the episode began.
    #[error("the task {0} was changed after the episode began")]
    TaskChanged(String),
    /// The episode has no task to be graded by.
    #[error("the episode has no task to be graded by")]
    NoTask,
    /// This server may not read sealed files.
    #[error("this server may not read sealed files, so it cannot grade")]
    SealedNotReadable,
    /// The engine of the episode can do this in no episode.
    #[error("{0}")]
    Cannot(Ability),
    /// No judge reads states of this kind.
    #[error("the state of this episode is {0}, and there is no judge for that; read it and judge it outside")]
    NoJudge(&'static str),
    /// The verifier could not judge.
    #[error(transparent)]
    Grade(#[from] JudgeError),
    /// A call of the episode stopped half-way; nothing of it can be trusted.
    #[error("a call stopped half-way; the episode cannot be trusted any more")]
    Broken,
    /// The machine or the engine failed.
    #[error("the engine failed: {0}")]
    Engine(String),
}

impl ServeError {
    /// The word that clients rely on, such as `no_such_episode`.
    pub fn word(&self) -> &'static str {
        match self {
            ServeError::NoEpisode => "no_such_episode",
            ServeError::Closed(_) => "episode_closed",
            ServeError::TooMany(_) => "too_many_episodes",
            ServeError::MemoryFull(_) => "memory_full",
            ServeError::TooManyConnections(_) => "too_many_connections",
            ServeError::TooManyBytes(_) => "too_many_bytes",
            ServeError::BodiesFull(_) => "bodies_full",
            ServeError::BodyTooSlow(_) => "body_too_slow",
            ServeError::Asked(_) => "invalid_request",
            ServeError::NotThere(_) => "not_found",
            ServeError::TaskRefused(_) => "task_refused",
            ServeError::TaskChanged(_) => "task_changed",
            ServeError::NoTask => "no_task",
            ServeError::SealedNotReadable => "sealed_not_readable",
            ServeError::Cannot(ability) => ability.word(),
            ServeError::NoJudge(_) => "no_judge",
            ServeError::Grade(_) => "cannot_grade",
            ServeError::Broken => "episode_broken",
            ServeError::Engine(_) => "engine_failed",
        }
    }

    /// The HTTP status it is answered with.
    pub fn status(&self) -> u16 {
        match self {
            ServeError::Asked(_) => 400,
            ServeError::SealedNotReadable => 403,
            ServeError::NoEpisode | ServeError::NotThere(_) => 404,
            ServeError::TaskChanged(_) | ServeError::NoTask | ServeError::Cannot(_) | ServeError::NoJudge(_) => 409,
            ServeError::BodyTooSlow(_) => 408,
            ServeError::Closed(_) => 410,
            ServeError::TaskRefused(_) => 422,
            ServeError::Grade(_) | ServeError::Broken | ServeError::Engine(_) => 500,
            ServeError::TooManyConnections(_) | ServeError::TooManyBytes(_) => 429,
            ServeError::TooMany(_) | ServeError::MemoryFull(_) | ServeError::BodiesFull(_) => 503,
        }
    }
}

impl From<WorldError> for ServeError {
    fn from(error: WorldError) -> ServeError {
        match error {
            WorldError::NotThere(what) => ServeError::NotThere(what),
            WorldError::Asked(what) => ServeError::Asked(what),
            WorldError::Refused(why) => ServeError::TaskRefused(why),
            WorldError::Cannot(ability) => ServeError::Cannot(ability),
            WorldError::Engine(why) => ServeError::Engine(why),
        }
    }
}

impl From<StoreError> for ServeError {
    fn from(error: StoreError) -> ServeError {
        match error {
            StoreError::Missing(_) => ServeError::NotThere(error.to_string()),
            StoreError::Name(_) => ServeError::Asked(error.to_string()),
            StoreError::Io { .. } => ServeError::Engine(error.to_string()),
            _ => ServeError::TaskRefused(error.to_string()),
        }
    }
}

impl From<CatalogError> for ServeError {
    fn from(error: CatalogError) -> ServeError {
        WorldError::from(error).into()
    }
}

/// Why a call was not answered.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The world refused it; nothing changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The episode's calls are used up; the world was not asked.
    #[error("all {0} calls of this episode are used up")]
    CallsExhausted(u32),
    /// The calls of the episode hold as much text as a trace may; the world was not asked.
    #[error("the calls of this episode hold {0} bytes, and no more are kept")]
    TraceFull(usize),
    /// The state has grown by as many rows as it may; the world was not asked. What only reads is still answered.
    #[error("the state of this episode has grown by {0} rows, and no more may be; only what reads is answered")]
    RowsExhausted(u64),
    /// There was no episode to ask.
    #[error(transparent)]
    Serve(#[from] ServeError),
}

impl CallError {
    /// The word that clients rely on: a refusal's own, or such as `calls_exhausted`.
    pub fn word(&self) -> &'static str {
        match self {
            CallError::Refused(refusal) => refusal.code.word(),
            CallError::CallsExhausted(_) => "calls_exhausted",
            CallError::TraceFull(_) => "trace_full",
            CallError::RowsExhausted(_) => "rows_exhausted",
            CallError::Serve(error) => error.word(),
        }
    }

    /// Its HTTP status. A fault that a task injects looks like a failing service, all other refusals are the caller's.
    pub fn status(&self) -> u16 {
        match self {
            CallError::Refused(refusal) => match refusal.code {
                RefusalCode::NotFound => 404,
                RefusalCode::InvalidArgument => 400,
                RefusalCode::Forbidden => 403,
                RefusalCode::RuleViolated => 422,
                RefusalCode::TransitionNotAllowed | RefusalCode::Duplicate | RefusalCode::Referenced => 409,
                RefusalCode::BudgetExhausted => 409,
                RefusalCode::InjectedFault => 503,
            },
            CallError::CallsExhausted(_) | CallError::TraceFull(_) | CallError::RowsExhausted(_) => 409,
            CallError::Serve(error) => error.status(),
        }
    }

    /// As the JSON an agent gets, in the form of a refusal.
    pub fn to_json(&self) -> String {
        match self {
            CallError::Refused(refusal) => refusal.to_json(),
            other => error_json(other.word(), &other.to_string()),
        }
    }
}

/// The JSON of every error: a word and a sentence.
pub(crate) fn error_json(word: &str, sentence: &str) -> String {
    let mut out = b"{\"error\":{\"code\":".to_vec();
    json::write_text(&mut out, word);
    out.extend_from_slice(b",\"message\":");
    json::write_text(&mut out, sentence);
    out.extend_from_slice(b"}}");
    String::from_utf8_lossy(&out).into_owned()
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is taken or not ours.
    #[error("cannot listen on {address}: {why}")]
    Bind {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system said.
        why: std::io::Error,
    },
    /// The control socket cannot be made there.
    #[error("no control socket at {}: {why}", .path.display())]
    Socket {
        /// Where it was to be.
        path: std::path::PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
    /// A world did not come to answer.
    #[error("{0}")]
    NotReady(String),
    /// What a world left could not be collected, or is not what was collected.
    #[error("{0}")]
    NotCollected(String),
    /// Others than this machine could reach the control plane, and nobody chose its token.
    #[error("{0} is reached from other machines, so the control plane needs a token that was chosen for it")]
    NeedsToken(SocketAddr),
    /// What else kept it from starting, such as no randomness for a token.
    #[error(transparent)]
    Serve(#[from] ServeError),
}
