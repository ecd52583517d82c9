//! The calls of an episode as a shared list of chunks: adding a call to a chunk of one's own costs no allocation of its own,
//! copying the list is one reference count, and a fork begins a chunk of its own with its next call.

use benchwright_pack::{Outcome, RefusalCode, TraceCall};
use std::sync::Arc;

/// The calls made so far.
#[derive(Clone, Default)]
pub(crate) struct TraceLog {
    last: Option<Arc<Chunk>>,
}

struct Chunk {
    /// The tools and arguments of all calls, one after the other.
    text: String,
    calls: Vec<Entry>,
    before: Option<Arc<Chunk>>,
}

struct Entry {
    tool_len: u32,
    arguments_len: u32,
    /// The hash of the answer, or the kind of refusal.
    outcome: Result<u64, RefusalCode>,
}

impl TraceLog {
    pub(crate) fn push(&mut self, tool: &str, arguments: &str, outcome: Result<u64, RefusalCode>) {
        let entry = Entry { tool_len: tool.len() as u32, arguments_len: arguments.len() as u32, outcome };
        if let Some(chunk) = self.last.as_mut().and_then(Arc::get_mut) {
            return chunk.push(tool, arguments, entry);
        }
        let (text, calls) = (String::with_capacity(256), Vec::with_capacity(4));
        let mut chunk = Chunk { text, calls, before: self.last.take() };
        chunk.push(tool, arguments, entry);
        self.last = Some(Arc::new(chunk));
    }

    /// The calls in the order they were made.
    pub(crate) fn calls(&self) -> Vec<TraceCall> {
        let mut chunks = Vec::new();
        let mut at = self.last.as_deref();
        while let Some(chunk) = at {
            chunks.push(chunk);
            at = chunk.before.as_deref();
        }
        let mut calls = Vec::new();
        for chunk in chunks.into_iter().rev() {
            let mut rest = chunk.text.as_str();
            for entry in &chunk.calls {
                let (tool, after) = rest.split_at(entry.tool_len as usize);
                let (arguments, after) = after.split_at(entry.arguments_len as usize);
                rest = after;
                calls.push(TraceCall {
                    tool: tool.to_owned(),
                    arguments: arguments.to_owned(),
                    outcome: match entry.outcome {
                        Ok(hash) => Outcome::Answered(format!("{hash:016x}")),
                        Err(code) => Outcome::Refused(code.word().to_owned()),
                    },
                });
            }
        }
        calls
    }
}

impl Chunk {
    fn push(&mut self, tool: &str, arguments: &str, entry: Entry) {
        self.text.push_str(tool);
        self.text.push_str(arguments);
        self.calls.push(entry);
    }
}

impl Drop for Chunk {
    /// Frees a long list in a loop: one chunk freeing the next would run out of stack.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut chunk) = next.and_then(Arc::into_inner) {
            next = chunk.before.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_share_what_was_before_and_nothing_after() {
        let mut log = TraceLog::default();
        log.push("first", "{}", Ok(1));
        let mut fork = log.clone();
        fork.push("second", "{\"a\":1}", Err(RefusalCode::NotFound));
        log.push("third", "", Ok(3));
        let names = |log: &TraceLog| log.calls().iter().map(|call| call.tool.clone()).collect::<Vec<_>>();
        assert_eq!(names(&log), ["first", "third"]);
        assert_eq!(names(&fork), ["first", "second"]);
        assert_eq!(fork.calls()[1].arguments, "{\"a\":1}");
    }

    #[test]
    fn a_very_long_list_of_chunks_is_freed() {
        let mut log = TraceLog::default();
        let mut kept = TraceLog::default();
        for _ in 0..300_000 {
            kept = log.clone();
            log.push("tool", "{}", Ok(1));
        }
        assert_eq!(kept.calls().len(), 299_999);
        drop(log);
        drop(kept);
    }
}
