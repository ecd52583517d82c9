//! The dialect of OpenAI Responses: a conversation as the body of a request, and an answer, whole or streamed, as a reply.

use super::{
    client::ModelOptions,
    error::Fault,
    events::Events,
    talk::{Message, Reply, ToolCall},
};
use crate::ToolCard;
use serde_json::{Value as Json, json};

/// The body of a request. Nothing is stored at the server: the whole conversation is sent each time.
pub(super) fn request(options: &ModelOptions, messages: &[Message], tools: &[&ToolCard]) -> Json {
    let mut input: Vec<Json> = Vec::new();
    for message in messages {
        match message {
            Message::System(text) => input.push(json!({ "role": "system", "content": text })),
            Message::User(text) => input.push(json!({ "role": "user", "content": text })),
            Message::Assistant { text, calls } => {
                if !text.is_empty() {
                    input.push(json!({ "role": "assistant", "content": text }));
                }
                input.extend(calls.iter().map(|call| {
                    let arguments = call.said_back().to_string();
                    json!({ "type": "function_call", "call_id": call.id, "name": call.name_back(), "arguments": arguments })
                }));
            }
            Message::Tool { id, text, .. } => {
                input.push(json!({ "type": "function_call_output", "call_id": id, "output": text }));
            }
        }
    }
    let mut body = json!({ "model": options.model, "input": input, "store": false });
    if !tools.is_empty() {
        let tool = |card: &&ToolCard| {
            json!({
                "type": "function", "name": card.name, "description": card.description,
                "parameters": card.arguments, "strict": false,
            })
        };
        body["tools"] = tools.iter().map(tool).collect();
    }
    if let Some(temperature) = options.temperature {
        body["temperature"] = temperature.into();
    }
    if let Some(most) = options.max_output {
        body["max_output_tokens"] = most.into();
    }
    if options.stream {
        body["stream"] = true.into();
    }
    body
}

/// Reads an answer that came in one piece.
pub(super) fn whole(body: &Json) -> Result<Reply, Fault> {
    if body["error"].is_object() {
        return Err(Fault::told(&body["error"]));
    }
    let items = body["output"].as_array().ok_or_else(|| Fault::stream("the answer has no output"))?;
    if !matches!(body["status"].as_str(), None | Some("completed" | "incomplete")) {
        return Err(Fault::stream(format!("the answer is {}", body["status"])));
    }
    let (mut text, mut calls, mut reasoning) = (String::new(), Vec::new(), String::new());
    for item in items {
        match item["type"].as_str() {
            Some("message") => {
                let parts = item["content"].as_array().into_iter().flatten();
                parts.filter_map(|part| part["text"].as_str()).for_each(|words| text.push_str(words));
            }
            Some("reasoning") => {
                let parts = item["summary"].as_array().into_iter().flatten();
                parts.filter_map(|part| part["text"].as_str()).for_each(|words| reasoning.push_str(words));
            }
            Some("function_call") => {
                let word = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
                calls.push(ToolCall { id: word("call_id"), name: word("name"), arguments: word("arguments") });
            }
            _ => {}
        }
    }
    let is_cut = body["incomplete_details"]["reason"] == "max_output_tokens";
    let usage = [body["usage"]["input_tokens"].as_u64(), body["usage"]["output_tokens"].as_u64()];
    Ok(Reply::of(text, calls, is_cut, usage).after(reasoning))
}

/// Reads an answer that comes in pieces: the last event holds all of it.
pub(super) fn stream(events: &mut Events<'_>) -> Result<Reply, Fault> {
    while let Some(event) = events.next()? {
        match event["type"].as_str() {
            Some("response.completed" | "response.incomplete" | "response.failed") => return whole(&event["response"]),
            Some("error") => {
                return Err(Fault::told(if event["error"].is_object() { &event["error"] } else { &event }));
            }
            _ => {}
        }
    }
    Err(Fault::stream("the stream ended before the answer did"))
}
