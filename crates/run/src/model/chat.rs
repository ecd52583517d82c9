//! The dialect of Chat Completions: a conversation as the body of a request, and an answer, whole or streamed, as a reply.

use super::{
    client::ModelOptions,
    error::Fault,
    events::Events,
    talk::{Message, Reply, ToolCall},
};
use crate::ToolCard;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The body of a request.
pub(super) fn request(options: &ModelOptions, messages: &[Message], tools: &[&ToolCard]) -> Json {
    let mut body = json!({ "model": options.model, "messages": messages.iter().map(message).collect::<Vec<_>>() });
    if !tools.is_empty() {
        let tool = |card: &&ToolCard| {
            let function = json!({
                "name": card.name, "description": card.description, "parameters": card.arguments,
            });
            json!({ "type": "function", "function": function })
        };
        body["tools"] = tools.iter().map(tool).collect();
    }
    if let Some(temperature) = options.temperature {
        body["temperature"] = temperature.into();
    }
    if let Some(most) = options.max_output {
        body["max_completion_tokens"] = most.into();
    }
    if options.stream {
        body["stream"] = true.into();
        body["stream_options"] = json!({ "include_usage": true });
    }
    body
}

fn message(message: &Message) -> Json {
    match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } => {
            let content = if text.is_empty() { Json::Null } else { text.as_str().into() };
            let mut said = json!({ "role": "assistant", "content": content });
            if !calls.is_empty() {
                let call = |call: &ToolCall| {
                    let function = json!({ "name": call.name_back(), "arguments": call.said_back().to_string() });
                    json!({ "id": call.id, "type": "function", "function": function })
                };
                said["tool_calls"] = calls.iter().map(call).collect();
            }
            said
        }
        Message::Tool { id, text, .. } => json!({ "role": "tool", "tool_call_id": id, "content": text }),
    }
}

/// A text, or the texts of a list of parts.
fn words(content: &Json) -> String {
    match content {
        Json::String(text) => text.clone(),
        Json::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// What was thought, under the two names that servers give it.
fn thought(message: &Json) -> &str {
    let names = ["reasoning_content", "reasoning"];
    names.iter().find_map(|name| message[*name].as_str()).unwrap_or_default()
}

fn usage(told: &Json) -> [Option<u64>; 2] {
    [told["prompt_tokens"].as_u64(), told["completion_tokens"].as_u64()]
}

/// Reads an answer that came in one piece.
pub(super) fn whole(body: &Json) -> Result<Reply, Fault> {
    if body["error"].is_object() {
        return Err(Fault::told(&body["error"]));
    }
    let choice = &body["choices"][0];
    let said = &choice["message"];
    if !said.is_object() {
        return Err(Fault::stream("the answer has no message"));
    }
    let call = |call: &Json| ToolCall {
        id: call["id"].as_str().unwrap_or_default().to_owned(),
        name: call["function"]["name"].as_str().unwrap_or_default().to_owned(),
        arguments: call["function"]["arguments"].as_str().unwrap_or_default().to_owned(),
    };
    let calls = said["tool_calls"].as_array().into_iter().flatten().map(call).collect();
    let is_cut = choice["finish_reason"] == "length";
    let reply = Reply::of(words(&said["content"]), calls, is_cut, usage(&body["usage"]));
    Ok(reply.after(thought(said).to_owned()))
}

/// Reads an answer that comes in pieces.
pub(super) fn stream(events: &mut Events<'_>) -> Result<Reply, Fault> {
    let (mut text, mut calls, mut tokens) = (String::new(), BTreeMap::<u64, ToolCall>::new(), [None; 2]);
    let (mut finish, mut reasoning) = (None, String::new());
    while let Some(event) = events.next()? {
        if event["error"].is_object() {
            return Err(Fault::told(&event["error"]));
        }
        if event["usage"].is_object() {
            tokens = usage(&event["usage"]);
        }
        let choice = &event["choices"][0];
        text.push_str(&words(&choice["delta"]["content"]));
        reasoning.push_str(thought(&choice["delta"]));
        for (n, piece) in choice["delta"]["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let at = piece["index"].as_u64().unwrap_or(n as u64);
            let empty = || ToolCall { id: String::new(), name: String::new(), arguments: String::new() };
            let call = calls.entry(at).or_insert_with(empty);
            let more = |key: &Json| key.as_str().unwrap_or_default().to_owned();
            if call.id.is_empty() {
                call.id = more(&piece["id"]);
            }
            call.name.push_str(&more(&piece["function"]["name"]));
            call.arguments.push_str(&more(&piece["function"]["arguments"]));
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            finish = Some(reason == "length");
        }
    }
    let is_cut = finish.ok_or_else(|| Fault::stream("the stream ended before the answer did"))?;
    Ok(Reply::of(text, calls.into_values().collect(), is_cut, tokens).after(reasoning))
}
