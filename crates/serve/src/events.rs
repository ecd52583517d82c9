//! Everything the server reports to a log, in one place, so that a reader can see what it never reports: a token, a header, an
//! argument, an answer, or the sentence of an error, which may quote an argument. An error is reported by its word.
//!
//! An event that nobody listens to costs one comparison of levels; no clock is read for it. Which subscriber listens, if any,
//! is for the program to say.

use crate::{CallError, EpisodeId, Graded, ServeError};
use std::time::Instant;
use tracing::{Level, debug, enabled, info, warn};

/// What filters name this crate by, such as `RUST_LOG=benchwright_serve=debug`.
const TARGET: &str = "benchwright_serve";

/// An episode was begun, or copied from another.
pub(crate) fn begun(id: EpisodeId, task: Option<&str>, domain: &str, copy_of: Option<EpisodeId>) {
    let copy_of = copy_of.map(tracing::field::display);
    info!(target: TARGET, episode = %id, task, domain, copy_of, "episode begun");
}

/// An episode was ended by its owner.
pub(crate) fn ended(id: EpisodeId) {
    info!(target: TARGET, episode = %id, "episode ended");
}

/// Episodes that nobody used were closed.
pub(crate) fn reaped(episodes: usize) {
    if episodes > 0 {
        info!(target: TARGET, episodes, "idle episodes closed");
    }
}

/// A request was answered with an error. Whoever sent it may be a stranger, so nothing of it is told.
pub(crate) fn refused(status: u16, word: &str) {
    match status {
        500.. => warn!(target: TARGET, status, error = word, "request failed"),
        _ => debug!(target: TARGET, status, error = word, "request refused"),
    }
}

/// The clock of a call or a grading. It runs only while somebody listens.
pub(crate) struct Clock(Option<Instant>);

impl Clock {
    /// For a call, which is reported at the level `debug`.
    pub(crate) fn of_call() -> Clock {
        Clock(enabled!(target: TARGET, Level::DEBUG).then(Instant::now))
    }

    /// For a grading, which is reported at the level `info`.
    pub(crate) fn of_grading() -> Clock {
        Clock(enabled!(target: TARGET, Level::INFO).then(Instant::now))
    }

    fn micros(&self) -> Option<u64> {
        self.0.map(|begun| u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// A tool was called. `tool` is asked only if somebody listens, for a name that the world offers, or nothing: an agent may
    /// call by any text, and none of it goes into a log.
    pub(crate) fn called<'t, T>(
        &self,
        id: EpisodeId,
        tool: impl FnOnce() -> Option<&'t str>,
        result: &Result<T, CallError>,
    ) {
        let Some(micros) = self.micros() else { return };
        let tool = tool().unwrap_or("(not offered)");
        let error = result.as_ref().err().map(CallError::word);
        debug!(target: TARGET, episode = %id, tool, refused = error.is_some(), error, micros, "tool called");
    }

    /// A state was judged.
    pub(crate) fn graded(&self, id: EpisodeId, result: &Result<Graded, ServeError>) {
        let Some(micros) = self.micros() else { return };
        let error = result.as_ref().err().map(ServeError::word);
        info!(target: TARGET, episode = %id, error, micros, "episode graded");
    }
}
