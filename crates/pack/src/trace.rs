//! A trace: the calls of an episode in order, with how each ended and the hashes of the state before and after. It is
//! enough to make the same calls again and see that they lead to the same state.

use benchwright_base::{Digest, StateHash};
use serde::{Deserialize, Serialize};

/// The largest trace that is read, in bytes.
pub const LARGEST_TRACE: usize = 64 << 20;

/// How a call ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// It was answered; the hash of the answer's bytes.
    Answered(String),
    /// It was refused; the kind of refusal.
    Refused(String),
}

/// One call and how it ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceCall {
    /// The name of the tool, as it was asked for.
    pub tool: String,
    /// The arguments, as they were given.
    pub arguments: String,
    /// Answered or refused. Answers are kept as hashes: whoever replays the calls has them again.
    pub outcome: Outcome,
}

/// The calls of an episode, with what is needed to replay them and to see that the replay is the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The version of this format.
    pub version: u32,
    /// The name of the domain that was played in.
    pub domain: String,
    /// The digest of its declarations.
    pub domain_digest: String,
    /// The role that was played.
    pub role: String,
    /// The row of the person who acted.
    pub actor: Option<u32>,
    /// The state's hash before the first call.
    pub start: String,
    /// The calls, in the order in which they were made.
    pub calls: Vec<TraceCall>,
    /// The state's hash after the last call.
    pub end: String,
}

/// Why a trace could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// It is too large.
    #[error("the trace has {0} bytes; at most {LARGEST_TRACE} are read")]
    TooLarge(usize),
    /// It is not a trace.
    #[error("this is not a trace: {0}")]
    Malformed(String),
    /// It is of another version.
    #[error("the trace is of version {0}; this program reads version {version}", version = Trace::VERSION)]
    Version(u32),
}

impl Trace {
    /// The version that is written.
    pub const VERSION: u32 = 1;

    /// The one form of this document.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a trace, within limits of size and of the version that is known.
    pub fn from_bytes(bytes: &[u8]) -> Result<Trace, TraceError> {
        if bytes.len() > LARGEST_TRACE {
            return Err(TraceError::TooLarge(bytes.len()));
        }
        let trace: Trace = serde_json::from_slice(bytes).map_err(|error| TraceError::Malformed(error.to_string()))?;
        if trace.version != Trace::VERSION {
            return Err(TraceError::Version(trace.version));
        }
        Ok(trace)
    }

    /// The digest of the canonical bytes.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.to_bytes())
    }

    /// How a hash is written in a trace.
    pub fn hash(hash: StateHash) -> String {
        hash.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_reads_back_and_another_version_is_refused() {
        let trace = Trace {
            version: Trace::VERSION,
            domain: "shop".into(),
            domain_digest: Digest::of(b"").to_string(),
            role: "admin".into(),
            actor: Some(1),
            start: Trace::hash(StateHash::of(b"1")),
            calls: vec![TraceCall {
                tool: "find".into(),
                arguments: "{\"a\":\"é\"}".into(),
                outcome: Outcome::Refused("not_found".into()),
            }],
            end: Trace::hash(StateHash::of(b"2")),
        };
        assert_eq!(Trace::from_bytes(&trace.to_bytes()).unwrap(), trace);
        let other = Trace { version: 7, ..trace };
        assert!(matches!(Trace::from_bytes(&other.to_bytes()), Err(TraceError::Version(7))));
        assert!(matches!(Trace::from_bytes(b"[[[["), Err(TraceError::Malformed(_))));
        assert!(Trace::from_bytes("[".repeat(1_000_000).as_bytes()).is_err());
    }
}
