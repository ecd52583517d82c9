//! The calls of an episode as a shared list: adding one is cheap, copying it is one reference count.

use benchwright_pack::{Outcome, RefusalCode, TraceCall};
use std::sync::Arc;

/// The calls made so far.
#[derive(Clone, Default)]
pub(crate) struct TraceLog {
    last: Option<Arc<Entry>>,
}

struct Entry {
    /// The tool's name and the arguments, one after the other.
    text: Box<str>,
    tool_len: u32,
    /// The hash of the answer, or the kind of refusal.
    outcome: Result<u64, RefusalCode>,
    before: Option<Arc<Entry>>,
}

impl TraceLog {
    pub(crate) fn push(&mut self, tool: &str, arguments: &str, outcome: Result<u64, RefusalCode>) {
        let mut text = String::with_capacity(tool.len() + arguments.len());
        text.push_str(tool);
        text.push_str(arguments);
        let entry = Entry { text: text.into(), tool_len: tool.len() as u32, outcome, before: self.last.take() };
        self.last = Some(Arc::new(entry));
    }

    /// The calls in the order they were made.
    pub(crate) fn calls(&self) -> Vec<TraceCall> {
        let mut calls = Vec::new();
        let mut at = self.last.as_deref();
        while let Some(entry) = at {
            let (tool, arguments) = entry.text.split_at(entry.tool_len as usize);
            calls.push(TraceCall {
                tool: tool.to_owned(),
                arguments: arguments.to_owned(),
                outcome: match entry.outcome {
                    Ok(hash) => Outcome::Answered(format!("{hash:016x}")),
                    Err(code) => Outcome::Refused(code.word().to_owned()),
                },
            });
            at = entry.before.as_deref();
        }
        calls.reverse();
        calls
    }
}

impl Drop for Entry {
    /// Frees a long list in a loop: one entry freeing the next would run out of stack.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(entry) = next.and_then(Arc::into_inner) {
            let mut entry = entry;
            next = entry.before.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_very_long_trace_is_freed_and_forks_keep_their_own() {
        let mut log = TraceLog::default();
        for _ in 0..300_000 {
            log.push("tool", "{}", Ok(1));
        }
        let mut fork = log.clone();
        fork.push("other", "{}", Err(RefusalCode::NotFound));
        drop(log);
        assert_eq!(fork.calls().len(), 300_001);
        assert_eq!(fork.calls()[300_000].tool, "other");
    }
}
