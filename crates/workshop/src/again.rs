//! Makes the calls of a trace again: the one way in which what was recorded, or left elsewhere, is believed. It is strict. The trace must
//! begin at the first state of its task, in the agent's seat; whatever was answered must have been offered; every call must be answered as
//! it was, by the digest of the answer; and the state that is left must be the one that the trace names.

use benchwright_pack::{OpenTask, Outcome, Refusal, Trace, TraceCall};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_world::WorldError;
use std::sync::Arc;

/// Calls that were made again.
pub struct Again {
    /// The episode as they left it.
    pub episode: Episode,
    /// How each was answered, in order.
    pub answers: Vec<Result<String, Refusal>>,
}

/// Why the calls of a trace could not be made again as they were made.
#[derive(Debug, thiserror::Error)]
pub enum NotAgain {
    /// There is no episode to make them in.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The trace is of another first state.
    #[error("the trace begins at another first state, so it is of another task")]
    Start,
    /// The trace is of another seat, or of other declarations.
    #[error("the trace was made in another seat or with other declarations of {0}")]
    Seat(String),
    /// A tool answered that the task does not offer.
    #[error("the trace has an answer of `{0}`, which is not offered")]
    NotOffered(String),
    /// A call is answered otherwise than it was.
    #[error("call {nth} ({tool}) was {was}, and is {now}")]
    Answer {
        /// Its place, from 1.
        nth: usize,
        /// The tool.
        tool: String,
        /// How it ended by the trace.
        was: String,
        /// How it ends now.
        now: String,
    },
    /// The last state is another one.
    #[error("the calls of the trace lead to another state")]
    End,
}

/// Makes the calls of a trace again in a fresh episode of its task.
pub fn again(sandbox: &Arc<Sandbox>, open: &OpenTask, trace: &Trace) -> Result<Again, NotAgain> {
    let mut episode = sandbox.begin(&sandbox.seat_of(open), Conditions::of(open))?;
    let begun = episode.trace();
    if begun.start != trace.start {
        return Err(NotAgain::Start);
    }
    let seat = |trace: &Trace| (trace.domain.clone(), trace.domain_digest.clone(), trace.role.clone(), trace.actor);
    if seat(&begun) != seat(trace) {
        return Err(NotAgain::Seat(begun.domain));
    }
    let mut answered = trace.calls.iter().filter(|call| matches!(call.outcome, Outcome::Answered(_)));
    if let Some(call) = answered.find(|call| !open.tools.is_empty() && !open.tools.contains(&call.tool)) {
        return Err(NotAgain::NotOffered(call.tool.clone()));
    }
    let answers: Vec<_> = trace.calls.iter().map(|call| episode.call(&call.tool, &call.arguments)).collect();
    let again = episode.trace();
    let differs = |(_, (now, then)): &(usize, (&TraceCall, &TraceCall))| now.outcome != then.outcome;
    if let Some((nth, (now, then))) = again.calls.iter().zip(&trace.calls).enumerate().find(differs) {
        let ended = |outcome: &Outcome| match outcome {
            Outcome::Answered(hash) => format!("answered {hash}"),
            Outcome::Refused(kind) => format!("refused as {kind}"),
        };
        let (was, now) = (ended(&then.outcome), ended(&now.outcome));
        return Err(NotAgain::Answer { nth: nth + 1, tool: then.tool.clone(), was, now });
    }
    if again.calls.len() != trace.calls.len() || again.end != trace.end {
        return Err(NotAgain::End);
    }
    Ok(Again { episode, answers })
}
