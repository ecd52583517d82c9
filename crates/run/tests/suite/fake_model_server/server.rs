//! A server that plays a model by a schedule, in three dialects, over plain HTTP on this machine.

use benchwright_run::model::Dialect;
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// What the server does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Says something and asks for calls: names and arguments as the model wrote them.
    Say(&'static str, Vec<(&'static str, String)>),
    /// Says something that is cut by the model's limit.
    Cut(&'static str),
    /// Answers well, but does not say how many tokens it used.
    Uncounted(&'static str),
    /// Refuses with a status, a `Retry-After`, and words.
    Status(u16, Option<u32>, String),
    /// Takes the request and sends nothing.
    Stall,
    /// Sends half of an answer and then nothing.
    StallMidway,
    /// Sends half of an answer and hangs up.
    HangUp,
    /// Sends half of an answer and ends it as if it were whole.
    EndMidway,
    /// Closes before the first byte.
    Close,
    /// Answers something that is none of the dialect.
    Gibberish,
    /// Answers with status 200 and an error inside.
    ErrorInside,
    /// Answers more than anyone reads.
    Endless,
    /// Answers a byte now and then, for ever.
    Drip,
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Json,
}

/// The server. The last act of its schedule is repeated for ever.
pub(crate) struct FakeModelServer {
    pub(crate) base_url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    stop: Arc<AtomicBool>,
}

impl FakeModelServer {
    pub(crate) fn start(dialect: Dialect, acts: Vec<Act>) -> FakeModelServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (asked, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (log, stopped) = (Arc::clone(&asked), Arc::clone(&stop));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (log, acts, stream) = (Arc::clone(&log), acts.clone(), stream.unwrap());
                thread::spawn(move || serve(stream, dialect, &acts, &log));
            }
        });
        FakeModelServer { base_url, asked, stop }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for FakeModelServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let address = self.base_url.trim_start_matches("http://").trim_end_matches("/v1");
        let _ = TcpStream::connect(address);
    }
}

fn serve(mut stream: TcpStream, dialect: Dialect, acts: &[Act], log: &Mutex<Vec<Asked>>) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or_default() == 0 {
        return;
    }
    let path = line.split(' ').nth(1).unwrap().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let body: Json = serde_json::from_slice(&body).unwrap();
    let is_stream = body["stream"] == true;
    let act = {
        let mut log = log.lock().unwrap();
        log.push(Asked { path, headers, body });
        acts[(log.len() - 1).min(acts.len() - 1)].clone()
    };
    // Who has had enough closes: then nothing more can be written, which is fine.
    let _ = play(&mut stream, dialect, is_stream, &act);
}

fn play(stream: &mut TcpStream, dialect: Dialect, is_stream: bool, act: &Act) -> std::io::Result<()> {
    let text = match act {
        Act::Say(text, calls) => said(dialect, is_stream, text, calls, false, true),
        Act::Cut(text) => said(dialect, is_stream, text, &[], true, true),
        Act::Uncounted(text) => said(dialect, is_stream, text, &[], false, false),
        Act::StallMidway | Act::HangUp | Act::EndMidway => {
            let call = [("order_create", r#"{"units":3}"#.to_owned())];
            let whole = said(dialect, is_stream, "I make the order.", &call, false, true);
            whole[..whole.len() / 2].to_owned()
        }
        Act::Status(status, after, words) => {
            let after = after.map_or(String::new(), |seconds| format!("retry-after: {seconds}\r\n"));
            let length = words.len();
            let head = format!("HTTP/1.1 {status} No\r\n{after}content-length: {length}\r\nconnection: close\r\n\r\n");
            return stream.write_all(format!("{head}{words}").as_bytes());
        }
        Act::Stall => return wait_until_closed(stream),
        Act::Close => return Ok(()),
        Act::Gibberish if is_stream => "data: {\"hello\": \"there\"}\n\ndata: <html>\n\n".to_owned(),
        Act::Gibberish => "<html>All is well</html>".to_owned(),
        Act::ErrorInside => {
            let error = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "too busy" } });
            if is_stream { event(&error) } else { error.to_string() }
        }
        Act::Endless | Act::Drip => String::new(),
    };
    let kind = if is_stream { "text/event-stream" } else { "application/json" };
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    if matches!(act, Act::Endless) {
        let chunk = format!("{:x}\r\n: {}\r\n", 65_536, "x".repeat(65_534));
        return (0..256).try_for_each(|_| stream.write_all(chunk.as_bytes()));
    }
    if matches!(act, Act::Drip) {
        return (0..400).try_for_each(|_| {
            thread::sleep(Duration::from_millis(50));
            stream.write_all(b"2\r\n:\n\r\n")
        });
    }
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())?;
    match act {
        Act::StallMidway => wait_until_closed(stream),
        Act::HangUp => Ok(()),
        _ => stream.write_all(b"0\r\n\r\n"),
    }
}

fn wait_until_closed(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0; 16]).map(drop)
}

fn event(data: &Json) -> String {
    let kind = data["type"].as_str().map_or(String::new(), |kind| format!("event: {kind}\n"));
    format!("{kind}data: {data}\n\n")
}

type Calls<'c> = &'c [(&'static str, String)];

/// An answer of the dialect. Every one used 10 tokens in and 5 out.
fn said(dialect: Dialect, is_stream: bool, text: &str, calls: Calls<'_>, is_cut: bool, is_counted: bool) -> String {
    match (dialect, is_stream) {
        (Dialect::Chat, false) => chat(text, calls, is_cut, is_counted).to_string(),
        (Dialect::Chat, true) => chat_stream(text, calls, is_cut, is_counted),
        (Dialect::Messages, false) => messages(text, calls, is_cut, is_counted).to_string(),
        (Dialect::Messages, true) => messages_stream(text, calls, is_cut, is_counted),
        (Dialect::Responses, false) => responses(text, calls, is_cut, is_counted).to_string(),
        (Dialect::Responses, true) => {
            let whole = responses(text, calls, is_cut, is_counted);
            let last = if is_cut { "response.incomplete" } else { "response.completed" };
            let first = json!({ "type": "response.created", "response": { "status": "in_progress", "output": [] } });
            let delta = json!({ "type": "response.output_text.delta", "delta": text });
            event(&first) + &event(&delta) + &event(&json!({ "type": last, "response": whole }))
        }
    }
}

fn chat_reason(calls: Calls<'_>, is_cut: bool) -> &'static str {
    match (is_cut, calls.is_empty()) {
        (true, _) => "length",
        (_, false) => "tool_calls",
        _ => "stop",
    }
}

fn chat(text: &str, calls: Calls<'_>, is_cut: bool, is_counted: bool) -> Json {
    let call = |(n, (name, arguments)): (usize, &(&str, String))| {
        let function = json!({ "name": name, "arguments": arguments });
        json!({ "id": format!("call-{n}"), "type": "function", "function": function })
    };
    let calls_told: Vec<Json> = calls.iter().enumerate().map(call).collect();
    let message = json!({ "role": "assistant", "content": text, "tool_calls": calls_told });
    let mut body = json!({ "choices": [{ "message": message, "finish_reason": chat_reason(calls, is_cut) }] });
    if is_counted {
        body["usage"] = json!({ "prompt_tokens": 10, "completion_tokens": 5 });
    }
    body
}

fn chat_stream(text: &str, calls: Calls<'_>, is_cut: bool, is_counted: bool) -> String {
    let piece = |delta: Json, reason: Json| event(&json!({ "choices": [{ "delta": delta, "finish_reason": reason }] }));
    let (one, two) = text.split_at(text.len() / 2);
    let mut out = piece(json!({ "role": "assistant", "content": one }), Json::Null);
    out += &piece(json!({ "content": two }), Json::Null);
    for (n, (name, arguments)) in calls.iter().enumerate() {
        let (one, two) = arguments.split_at(arguments.len() / 2);
        let first = json!({ "index": n, "id": format!("call-{n}"), "function": { "name": name, "arguments": one } });
        let second = json!({ "index": n, "function": { "arguments": two } });
        out += &piece(json!({ "tool_calls": [first] }), Json::Null);
        out += &piece(json!({ "tool_calls": [second] }), Json::Null);
    }
    out += &piece(json!({}), chat_reason(calls, is_cut).into());
    if is_counted {
        let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5 });
        out += &event(&json!({ "choices": [], "usage": usage }));
    }
    out + "data: [DONE]\n\n"
}

fn messages_reason(calls: Calls<'_>, is_cut: bool) -> &'static str {
    match (is_cut, calls.is_empty()) {
        (true, _) => "max_tokens",
        (_, false) => "tool_use",
        _ => "end_turn",
    }
}

fn messages(text: &str, calls: Calls<'_>, is_cut: bool, is_counted: bool) -> Json {
    let call = |(n, (name, arguments)): (usize, &(&str, String))| {
        let input = serde_json::from_str(arguments).unwrap_or_else(|_| Json::from(arguments.as_str()));
        json!({ "type": "tool_use", "id": format!("call-{n}"), "name": name, "input": input })
    };
    let words = json!({ "type": "text", "text": text });
    let content: Vec<Json> = [words].into_iter().chain(calls.iter().enumerate().map(call)).collect();
    let mut body = json!({ "type": "message", "content": content, "stop_reason": messages_reason(calls, is_cut) });
    if is_counted {
        body["usage"] = json!({ "input_tokens": 4, "cache_read_input_tokens": 6, "output_tokens": 5 });
    }
    body
}

fn messages_stream(text: &str, calls: Calls<'_>, is_cut: bool, is_counted: bool) -> String {
    let usage = if is_counted { json!({ "input_tokens": 10, "output_tokens": 1 }) } else { Json::Null };
    let mut out = event(&json!({ "type": "message_start", "message": { "content": [], "usage": usage } }));
    out += &event(&json!({ "type": "ping" }));
    let start =
        |n: usize, block: Json| event(&json!({ "type": "content_block_start", "index": n, "content_block": block }));
    let delta = |n: usize, delta: Json| event(&json!({ "type": "content_block_delta", "index": n, "delta": delta }));
    out += &start(0, json!({ "type": "text", "text": "" }));
    out += &delta(0, json!({ "type": "text_delta", "text": text }));
    for (n, (name, arguments)) in calls.iter().enumerate() {
        let (one, two) = arguments.split_at(arguments.len() / 2);
        out += &start(n + 1, json!({ "type": "tool_use", "id": format!("call-{n}"), "name": name, "input": {} }));
        out += &delta(n + 1, json!({ "type": "input_json_delta", "partial_json": one }));
        out += &delta(n + 1, json!({ "type": "input_json_delta", "partial_json": two }));
    }
    let usage = if is_counted { json!({ "output_tokens": 5 }) } else { Json::Null };
    let reason = json!({ "stop_reason": messages_reason(calls, is_cut) });
    out += &event(&json!({ "type": "message_delta", "delta": reason, "usage": usage }));
    out + &event(&json!({ "type": "message_stop" }))
}

fn responses(text: &str, calls: Calls<'_>, is_cut: bool, is_counted: bool) -> Json {
    let call = |(n, (name, arguments)): (usize, &(&str, String))| json!({ "type": "function_call", "call_id": format!("call-{n}"), "name": name, "arguments": arguments });
    let words = json!({ "type": "message", "content": [{ "type": "output_text", "text": text }] });
    let output: Vec<Json> = [words].into_iter().chain(calls.iter().enumerate().map(call)).collect();
    let status = if is_cut { "incomplete" } else { "completed" };
    let mut body = json!({ "object": "response", "status": status, "error": null, "output": output });
    if is_cut {
        body["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    }
    if is_counted {
        body["usage"] = json!({ "input_tokens": 10, "output_tokens": 5 });
    }
    body
}
