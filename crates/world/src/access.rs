//! What somebody who only has a task's tools may do: call one and read its answer as JSON. Readers of instructions are handed no
//! more than this, whichever engine answers.

use serde_json::Value as Json;
use std::fmt;

/// What a reader of an instruction may do in the world: call a tool as the agent's role, for readers a read-only one.
pub trait ToolAccess {
    /// Calls a tool with a JSON object of arguments.
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, NotAnswered>;
}

/// Why a tool gave no answer: it refused, it is not offered, or its world could not be reached.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotAnswered(pub String);

impl From<String> for NotAnswered {
    fn from(why: String) -> NotAnswered {
        NotAnswered(why)
    }
}

/// What a tool answered, as JSON.
pub fn answered(answer: Result<impl AsRef<str>, impl fmt::Display>) -> Result<Json, NotAnswered> {
    let text = answer.map_err(|refusal| NotAnswered(refusal.to_string()))?;
    serde_json::from_str(text.as_ref()).map_err(|error| NotAnswered(error.to_string()))
}

impl From<NotAnswered> for String {
    fn from(why: NotAnswered) -> String {
        why.0
    }
}
