//! The dialect of Anthropic Messages: a conversation as the body of a request, and an answer, whole or streamed, as a
//! reply.

use super::{
    client::ModelOptions,
    error::Fault,
    events::Events,
    talk::{Message, Reply, ToolCall},
};
use crate::ToolCard;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The most tokens of an answer where nothing was said: this dialect demands a number.
const MAX_OUTPUT: u32 = 8_192;

/// The body of a request.
pub(super) fn request(options: &ModelOptions, messages: &[Message], tools: &[&ToolCard]) -> Json {
    let mut system: Vec<&str> = Vec::new();
    let mut turns: Vec<(&str, Vec<Json>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Message::System(text) => {
                system.push(text);
                continue;
            }
            Message::User(text) => ("user", vec![json!({ "type": "text", "text": text })]),
            Message::Assistant { text, calls } => ("assistant", assistant(text, calls)),
            Message::Tool { id, text, refused, .. } => {
                let answer = json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": refused });
                ("user", vec![answer])
            }
        };
        // Turns alternate: the answers to all calls of a turn stand in one.
        match turns.last_mut() {
            Some((last, said)) if *last == role => said.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    let turn = |(role, content): &(&str, Vec<Json>)| json!({ "role": role, "content": content });
    let mut body = json!({
        "model": options.model,
        "max_tokens": options.max_output.unwrap_or(MAX_OUTPUT),
        "messages": turns.iter().map(turn).collect::<Vec<_>>(),
    });
    if !system.is_empty() {
        body["system"] = system.join("\n\n").into();
    }
    if !tools.is_empty() {
        let tool = |card: &&ToolCard| json!({ "name": card.name, "description": card.description, "input_schema": card.arguments });
        body["tools"] = tools.iter().map(tool).collect();
    }
    if let Some(temperature) = options.temperature {
        body["temperature"] = temperature.into();
    }
    if options.stream {
        body["stream"] = true.into();
    }
    body
}

fn assistant(text: &str, calls: &[ToolCall]) -> Vec<Json> {
    let words = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    let call = |call: &ToolCall| json!({ "type": "tool_use", "id": call.id, "name": call.name_back(), "input": call.said_back() });
    words.into_iter().chain(calls.iter().map(call)).collect()
}

/// Tokens in are counted whether they came from a cache or not.
fn tokens_in(usage: &Json) -> Option<u64> {
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
    let cached: u64 = cached.iter().filter_map(|key| usage[*key].as_u64()).sum();
    Some(usage["input_tokens"].as_u64()? + cached)
}

fn is_cut(reason: &Json) -> bool {
    reason == "max_tokens" || reason == "model_context_window_exceeded"
}

/// Reads an answer that came in one piece.
pub(super) fn whole(body: &Json) -> Result<Reply, Fault> {
    if body["error"].is_object() {
        return Err(Fault::told(&body["error"]));
    }
    let blocks = body["content"].as_array().ok_or_else(|| Fault::stream("the answer has no content"))?;
    let (mut text, mut calls, mut reasoning) = (String::new(), Vec::new(), String::new());
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => text.push_str(block["text"].as_str().unwrap_or_default()),
            Some("thinking") => reasoning.push_str(block["thinking"].as_str().unwrap_or_default()),
            Some("tool_use") => {
                // Some servers pass on what the model wrote as a text where it is no object.
                let arguments = block["input"].as_str().map_or_else(|| block["input"].to_string(), str::to_owned);
                calls.push(call(block, arguments));
            }
            _ => {}
        }
    }
    let usage = [tokens_in(&body["usage"]), body["usage"]["output_tokens"].as_u64()];
    Ok(Reply::of(text, calls, is_cut(&body["stop_reason"]), usage).after(reasoning))
}

fn call(block: &Json, arguments: String) -> ToolCall {
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    ToolCall { id: text("id"), name: text("name"), arguments }
}

/// Reads an answer that comes in pieces.
pub(super) fn stream(events: &mut Events<'_>) -> Result<Reply, Fault> {
    let (mut text, mut calls, mut usage) = (String::new(), BTreeMap::<u64, ToolCall>::new(), [None; 2]);
    let (mut cut, mut is_whole, mut reasoning) = (false, false, String::new());
    while let Some(event) = events.next()? {
        let at = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str() {
            Some("error") => return Err(Fault::told(&event["error"])),
            Some("message_start") => usage[0] = tokens_in(&event["message"]["usage"]),
            Some("content_block_start") => {
                let block = &event["content_block"];
                text.push_str(block["text"].as_str().unwrap_or_default());
                if block["type"] == "tool_use" {
                    calls.insert(at, call(block, String::new()));
                }
            }
            Some("content_block_delta") => {
                text.push_str(event["delta"]["text"].as_str().unwrap_or_default());
                reasoning.push_str(event["delta"]["thinking"].as_str().unwrap_or_default());
                if let Some(call) = calls.get_mut(&at) {
                    call.arguments.push_str(event["delta"]["partial_json"].as_str().unwrap_or_default());
                }
            }
            Some("message_delta") => {
                cut = is_cut(&event["delta"]["stop_reason"]);
                usage[1] = event["usage"]["output_tokens"].as_u64().or(usage[1]);
            }
            Some("message_stop") => {
                is_whole = true;
                break;
            }
            _ => {}
        }
    }
    if !is_whole {
        return Err(Fault::stream("the stream ended before the answer did"));
    }
    Ok(Reply::of(text, calls.into_values().collect(), cut, usage).after(reasoning))
}
