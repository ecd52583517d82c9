//! A conversation with a model in types of our own: messages, calls of tools, replies. Each dialect translates them into
//! the JSON of its server and back.

use serde_json::{Value as Json, json};

/// The longest name of a tool that all servers take.
const LONGEST_NAME: usize = 64;

/// A call that a model asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolCall {
    /// What ties the answer to it.
    pub id: String,
    /// The name of the tool as the model wrote it; there may be no such tool.
    pub name: String,
    /// The arguments as the model wrote them; they may be no JSON at all.
    pub arguments: String,
}

/// Why the arguments that a model wrote are no object.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArgumentsError {
    /// They are JSON of another kind.
    #[error("the arguments are no JSON object")]
    NoObject,
    /// They are no JSON; what the reader said.
    #[error("the arguments are no JSON: {0}")]
    NoJson(String),
}

impl ToolCall {
    /// The arguments as an object; nothing at all counts as none.
    pub fn object(&self) -> Result<Json, ArgumentsError> {
        if self.arguments.trim().is_empty() {
            return Ok(json!({}));
        }
        match serde_json::from_str::<Json>(&self.arguments) {
            Ok(object @ Json::Object(_)) => Ok(object),
            Ok(_) => Err(ArgumentsError::NoObject),
            Err(error) => Err(ArgumentsError::NoJson(error.to_string())),
        }
    }

    /// The arguments as they are said back to the model. Servers refuse what is no object, so that becomes an empty one; the
    /// answer to the call tells what was wrong.
    pub(super) fn said_back(&self) -> Json {
        self.object().unwrap_or_else(|_| json!({}))
    }

    /// The name as it is said back to the model: servers refuse names that no tool could have.
    pub(super) fn name_back(&self) -> String {
        let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = self.name.chars().take(LONGEST_NAME).map(fits).collect();
        if name.is_empty() { "unnamed".to_owned() } else { name }
    }
}

/// One message of a conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// What the agent is.
    System(String),
    /// What is asked of it.
    User(String),
    /// What the model said.
    Assistant {
        /// What it wrote.
        text: String,
        /// The calls that it asks for, in order.
        calls: Vec<ToolCall>,
    },
    /// What a tool answered.
    Tool {
        /// The id of the call.
        id: String,
        /// The name of the tool that answers.
        name: String,
        /// The answer, or the refusal, as JSON.
        text: String,
        /// Whether the call was refused.
        refused: bool,
    },
}

impl Message {
    /// As a line of a transcript.
    pub fn to_json(&self) -> Json {
        match self {
            Message::System(text) => json!({ "role": "system", "text": text }),
            Message::User(text) => json!({ "role": "user", "text": text }),
            Message::Assistant { text, calls } => {
                let call = |call: &ToolCall| json!({ "id": call.id, "name": call.name, "arguments": call.arguments });
                json!({ "role": "assistant", "text": text, "calls": calls.iter().map(call).collect::<Vec<_>>() })
            }
            Message::Tool { id, name, text, refused } => {
                json!({ "role": "tool", "id": id, "name": name, "text": text, "refused": refused })
            }
        }
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finish {
    /// It has said what it wanted to say.
    Done,
    /// It wants answers to its calls.
    Calls,
    /// Its output was cut by its limit.
    Length,
}

/// What a model said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// What the model wrote.
    pub text: String,
    /// The calls that it asks for, in order.
    pub calls: Vec<ToolCall>,
    /// Whether it is done, waits for answers, or was cut.
    pub finish: Finish,
    /// Tokens in, where the server says.
    pub tokens_in: Option<u64>,
    /// Tokens out, where the server says.
    pub tokens_out: Option<u64>,
    /// What the model thought before it spoke, where the server says. It is kept and never said back.
    pub reasoning: String,
}

impl Reply {
    /// A reply whose finish follows from what it holds, unless its output was cut.
    pub(super) fn of(text: String, mut calls: Vec<ToolCall>, is_cut: bool, usage: [Option<u64>; 2]) -> Reply {
        for (n, call) in calls.iter_mut().enumerate().filter(|(_, call)| call.id.is_empty()) {
            call.id = format!("call_{n}");
        }
        let finish = match (is_cut, calls.is_empty()) {
            (true, _) => Finish::Length,
            (false, false) => Finish::Calls,
            (false, true) => Finish::Done,
        };
        let [tokens_in, tokens_out] = usage;
        Reply { text, calls, finish, tokens_in, tokens_out, reasoning: String::new() }
    }

    /// The reply, with what the model thought.
    pub(super) fn after(mut self, reasoning: String) -> Reply {
        self.reasoning = reasoning;
        self
    }

    /// A line of a transcript, with what is known of the reply beside its message.
    pub(super) fn beside(&self, mut line: Json) -> Json {
        for (name, tokens) in [("tokens_in", self.tokens_in), ("tokens_out", self.tokens_out)] {
            if let Some(tokens) = tokens {
                line[name] = tokens.into();
            }
        }
        if !self.reasoning.is_empty() {
            line["reasoning"] = self.reasoning.as_str().into();
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::super::{chat, messages, responses};
    use super::Message;
    use serde_json::json;

    #[test]
    fn what_a_model_thought_is_kept_beside_its_message_and_never_said_back() {
        let usage = json!({ "prompt_tokens": 7, "completion_tokens": 3, "input_tokens": 7, "output_tokens": 3 });
        let chat = chat::whole(&json!({
            "choices": [{ "message": { "content": "yes", "reasoning_content": "hm" }, "finish_reason": "stop" }], "usage": usage,
        }));
        let messages = messages::whole(&json!({
            "content": [{ "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "yes" }], "usage": usage,
        }));
        let responses = responses::whole(&json!({
            "output": [
                { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }] },
                { "type": "message", "content": [{ "type": "output_text", "text": "yes" }] },
            ],
            "usage": usage,
        }));
        for reply in [chat, messages, responses] {
            let reply = reply.unwrap();
            let message = Message::Assistant { text: reply.text.clone(), calls: Vec::new() };
            let line = reply.beside(message.to_json());
            assert_eq!((&line["text"], &line["reasoning"]), (&json!("yes"), &json!("hm")));
            assert_eq!((&line["tokens_in"], &line["tokens_out"]), (&json!(7), &json!(3)));
            assert!(!message.to_json().to_string().contains("hm"));
        }
    }
}
