//! Everything that the workers report to a log, in one place: tasks made and audited, and shards written, each with its time. Of
//! a task only its id and what it was drawn from is reported, never its content; why a request failed stands in its answer.

use crate::{Answer, MakeRequest, Request};
use std::time::Duration;
use tracing::{Span, debug, info, info_span, warn};

/// What filters name this crate by, such as `RUST_LOG=benchwright_workshop=debug`.
const TARGET: &str = "benchwright_workshop";

/// What everything is reported in that a worker does for a request.
pub(crate) fn request(request: &Request) -> Span {
    match request {
        Request::Make(MakeRequest { pattern, tier, objective, seed, .. }) => {
            info_span!(target: TARGET, "make", pattern = &**pattern, tier = &**tier, objective = &**objective, seed)
        }
        Request::Audit(request) => info_span!(target: TARGET, "audit", task = &*request.id),
        Request::Attempts(request) => info_span!(target: TARGET, "attempts", task = &*request.id),
        Request::AbortForTests => Span::none(),
    }
}

/// A request was answered.
pub(crate) fn answered(answer: &Answer, took: Duration) {
    let millis = millis(took);
    match answer {
        Answer::Made(made) => {
            let discarded: u32 = made.discarded.values().sum();
            info!(target: TARGET, task = &*made.id, discarded, millis, "task made");
        }
        Answer::Audited(report) => {
            info!(target: TARGET, task = &*report.id, trials = report.trials.len(), millis, "task audited");
        }
        Answer::Attempts(found) => info!(target: TARGET, found = found.len(), millis, "ways found"),
        Answer::Failed(failed) => warn!(target: TARGET, missing = failed.missing, millis, "request failed"),
    }
}

/// A draw made no task.
pub(crate) fn thrown_away(attempt: u32, cause: &str) {
    info!(target: TARGET, attempt, cause, "draw thrown away");
}

/// A planner was asked something.
pub(crate) fn asked(question: &str, answer: &str, took: Duration) {
    debug!(target: TARGET, question, answer, millis = millis(took), "planner asked");
}

/// A kind of attack was tried on a task.
pub(crate) fn tried(trial: &str, millis: u64) {
    debug!(target: TARGET, trial, millis, "audit trial over");
}

/// A shard was written.
pub(crate) fn shard(part: usize, tasks: usize, took: Duration) {
    info!(target: TARGET, part, tasks, millis = millis(took), "shard written");
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
