//! Everything that a run reports to a log, in one place: which trials were claimed and what became of them, and each request to
//! a model. It never reports a key, a header, what an agent or a model said, an argument, or the command line of a program;
//! an error is reported by its cause.

use crate::{Claim, Finish};
use benchwright_pack::{TrialKey, TrialRecord, run::TrialEnd};
use std::time::Duration;
use tracing::{Span, debug, info, info_span, warn};

/// What filters name this crate by, such as `RUST_LOG=benchwright_run=debug`.
const TARGET: &str = "benchwright_run";

/// What everything is reported in that happens to a trial on the thread that plays it.
pub(crate) fn trial(claim: Claim, key: &TrialKey, task: Option<&str>) -> Span {
    // The name of a program is its command line, in which anything may stand.
    let agent = if key.agent.starts_with("exec:") { "exec" } else { &*key.agent };
    let attempt = key.attempt;
    info_span!(target: TARGET, "trial", number = claim.number, task, agent, attempt, tries = claim.tries)
}

/// A trial was claimed.
pub(crate) fn claimed() {
    debug!(target: TARGET, "trial claimed");
}

/// A trial failed for a reason that may pass, and goes back to be tried again.
pub(crate) fn given_back(cause: &str) {
    warn!(target: TARGET, cause, "trial given back");
}

/// A trial is over.
pub(crate) fn finished(record: &TrialRecord, finish: Finish) {
    let stale = finish == Finish::Stale;
    let (calls, refused, micros) = (record.used.calls, record.used.refused, record.spent.wall);
    match &record.end {
        TrialEnd::Scored(score) => {
            info!(target: TARGET, reward = score.reward, calls, refused, micros, stale, "trial scored");
        }
        TrialEnd::Error { cause, .. } => warn!(target: TARGET, cause = &**cause, micros, stale, "trial is an error"),
    }
}

/// A segment of trials is over.
pub(crate) fn closed(name: &str, trials: usize, errors: usize, finish: Finish) {
    let stale = finish == Finish::Stale;
    info!(target: TARGET, segment = name, trials, errors, stale, "segment closed");
}

/// A model was asked; `cause` says why it did not answer.
pub(crate) fn asked(model: &str, tries: u32, took: Duration, cause: Option<&str>) {
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    debug!(target: TARGET, model, tries, millis, cause, "model asked");
}
