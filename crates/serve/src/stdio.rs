//! MCP on standard input and output for one episode: lines of JSON-RPC are handed on to its URL, and the answers back.

use crate::client::{Client, ClientError};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value as Json, json};
use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Where a request of the era without `initialize` says its version.
const META_VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// Why a proxy ended.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The episode's URL or token cannot be used.
    #[error("{0}")]
    Url(String),
    /// A line could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves one episode on this program's standard input and output until the input ends.
pub async fn stdio_proxy(episode_url: &str, token: &str) -> Result<(), ProxyError> {
    let input = tokio::io::BufReader::new(tokio::io::stdin());
    proxy(episode_url, token, input, tokio::io::stdout()).await
}

/// Hands lines of JSON-RPC on to an episode's MCP URL, and its answers back, one after the other.
pub async fn proxy(
    episode_url: &str,
    token: &str,
    mut input: impl AsyncBufRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> Result<(), ProxyError> {
    let mut client = Client::new(episode_url, token).map_err(|error| ProxyError::Url(error.to_string()))?;
    // The version that an `initialize` agreed on, for the requests after it.
    let mut agreed = None;
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        if let Some(answer) = handed_on(&mut client, &mut agreed, text).await {
            output.write_all(answer.as_bytes()).await?;
            output.write_all(b"\n").await?;
            output.flush().await?;
        }
    }
}

/// The answer to a line, if it wants one.
async fn handed_on(client: &mut Client, agreed: &mut Option<String>, text: &str) -> Option<String> {
    let Ok(message) = serde_json::from_str::<Json>(text) else {
        return Some(error(&Json::Null, -32700, "the line is not JSON"));
    };
    let id = message.get("id").cloned();
    let method = message.get("method").and_then(Json::as_str).unwrap_or_default();
    let mut headers = Vec::new();
    let mut add = |name: HeaderName, value: Option<&str>| {
        headers.extend(value.and_then(|value| HeaderValue::from_str(value).ok()).map(|value| (name, value)));
    };
    let own = message.pointer(META_VERSION).and_then(Json::as_str);
    if method != "initialize" {
        add(VERSION, own.or(agreed.as_deref()));
    }
    if own.is_some() {
        add(METHOD, Some(method));
        add(NAME, message.pointer("/params/name").and_then(Json::as_str));
    }
    let sent = client.post(&headers, text.to_owned()).await;
    let id = id?;
    let (status, body) = match sent {
        Ok(answer) => answer,
        Err(problem) => return Some(error(&id, -32000, &unreachable(&problem))),
    };
    let Ok(answer) = serde_json::from_slice::<Json>(&body) else {
        let sentence = format!("{status}: {}", String::from_utf8_lossy(&body));
        return Some(error(&id, -32000, &sentence));
    };
    if answer.get("jsonrpc").is_none() {
        let sentence = answer.pointer("/error/message").and_then(Json::as_str).unwrap_or("the episode did not answer");
        return Some(error(&id, code_of(status), sentence));
    }
    if method == "initialize"
        && let Some(version) = answer.pointer("/result/protocolVersion").and_then(Json::as_str)
    {
        *agreed = Some(version.to_owned());
    }
    Some(answer.to_string())
}

fn unreachable(problem: &ClientError) -> String {
    format!("the episode cannot be reached: {problem}")
}

fn code_of(status: StatusCode) -> i32 {
    if status.is_client_error() { -32600 } else { -32603 }
}

fn error(id: &Json, code: i32, sentence: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": sentence } }).to_string()
}
