//! `bench serve`: one call over our server, beside bare servers of the same crates that answer with the same bytes.
//!
//! One client with one open connection for each server makes the same `get` again and again, in blocks that take turns.
//! The bare servers hold no world: they check nothing, look nothing up, and send what ours answered first.

use crate::error::{OrWrong as _, Result, hold, wrong};
use axum::{Router, body::Bytes, http::header, routing::post};
use benchwright_report::layout::columns;
use benchwright_serve::{Options, Server, Start};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, InitializeResult,
        ServerCapabilities,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::{Value as Json, json};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    sync::Arc,
    time::Instant,
};
use tokio::net::TcpListener;

/// Calls to each server.
const CALLS: usize = 5_000;
const QUICK_CALLS: usize = 500;
/// The blocks in which the servers take turns.
const BLOCKS: usize = 20;
/// How many times as long as the bare server ours may take.
const MCP_BAR: f64 = 1.2;
const JSON_BAR: f64 = 1.5;
/// What is called.
const TOOL: &str = "find_account_by_id";
const ARGUMENTS: &str = r#"{"id":1}"#;

/// What was measured, in microseconds.
pub(super) struct Figures {
    calls: usize,
    bytes: usize,
    mcp: f64,
    bare_mcp: f64,
    json: f64,
    bare_json: f64,
}

impl Figures {
    pub(super) fn missed(&self) -> bool {
        self.mcp / self.bare_mcp > MCP_BAR || self.json / self.bare_json > JSON_BAR
    }

    pub(super) fn to_json(&self) -> Json {
        let tenth = |number: f64| (number * 10.0).round() / 10.0;
        let ratio = |ours: f64, bare: f64| (ours / bare * 1_000.0).round() / 1_000.0;
        json!({
            "calls": self.calls,
            "answer_bytes": self.bytes,
            "mcp": { "p50_us": tenth(self.mcp), "bare_p50_us": tenth(self.bare_mcp), "ratio": ratio(self.mcp, self.bare_mcp) },
            "json": { "p50_us": tenth(self.json), "bare_p50_us": tenth(self.bare_json), "ratio": ratio(self.json, self.bare_json) },
        })
    }

    pub(super) fn to_table(&self) -> String {
        let mut rows = vec![["", "ours p50 us", "bare p50 us", "ratio", "at most"].map(str::to_owned).to_vec()];
        for (name, ours, bare, bar) in [
            ("MCP beside rmcp", self.mcp, self.bare_mcp, MCP_BAR),
            ("JSON beside axum", self.json, self.bare_json, JSON_BAR),
        ] {
            let ratio = ours / bare;
            rows.push(vec![
                name.to_owned(),
                format!("{ours:.1}"),
                format!("{bare:.1}"),
                format!("{ratio:.3}"),
                format!("{bar}"),
            ]);
        }
        columns(&rows, &[1, 2, 3, 4], 0)
    }
}

/// Measures.
pub(super) fn run(quick: bool) -> Result<Figures> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let server = runtime.block_on(Server::start(Options::default()))?;
    let start = Start::domain("csm", "medium", 1);
    let mut seats = Vec::new();
    for _ in 0..2 {
        let episode = server.episodes().create(&start)?;
        seats.push((episode.id, episode.token.reveal().to_owned()));
    }
    let [(plain, plain_token), (mcp, mcp_token)] = &*seats else { wrong!("two episodes were begun") };
    let asked = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": TOOL, "arguments": serde_json::from_str::<Json>(ARGUMENTS)? },
    });
    let asked = asked.to_string();
    let mut json_door =
        Door::open(server.agent_address(), &format!("/episodes/{plain}/tools/{TOOL}"), plain_token, ARGUMENTS)?;
    let mut mcp_door = Door::open(server.agent_address(), &format!("/episodes/{mcp}/mcp"), mcp_token, &asked)?;
    let answer = json_door.call()?;
    let text = String::from_utf8(answer.clone())?;
    let bare_json = runtime.block_on(bare_axum(answer.clone()))?;
    let bare_mcp = runtime.block_on(bare_rmcp(text))?;
    let mut bare_json_door = Door::open(bare_json, "/tool", plain_token, ARGUMENTS)?;
    let mut bare_mcp_door = Door::open(bare_mcp, "/mcp", mcp_token, &asked)?;
    hold!(bare_json_door.call()? == answer, "the bare JSON server answers otherwise");
    hold!(bare_mcp_door.call()? == mcp_door.call()?, "the bare MCP server answers otherwise");
    let calls = if quick { QUICK_CALLS } else { CALLS };
    let mut doors = [mcp_door, bare_mcp_door, json_door, bare_json_door];
    let mut times = [const { Vec::new() }; 4];
    // The first block warms up and does not count.
    for block in 0..=BLOCKS {
        for (door, times) in doors.iter_mut().zip(&mut times) {
            for _ in 0..calls / BLOCKS {
                let begun = Instant::now();
                door.call()?;
                if block > 0 {
                    times.push(begun.elapsed().as_nanos() as f64 / 1_000.0);
                }
            }
        }
    }
    runtime.block_on(server.stop());
    let [mcp, bare_mcp, json, bare_json] = times.map(median);
    Ok(Figures { calls, bytes: answer.len(), mcp, bare_mcp, json, bare_json })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

async fn listen(routes: Router) -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        use axum::serve::ListenerExt as _;
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let _ = axum::serve(listener, routes).await;
    });
    Ok(address)
}

/// A server that reads a body and sends an answer.
async fn bare_axum(answer: Vec<u8>) -> Result<SocketAddr> {
    let answer = Bytes::from(answer);
    let reply = async move |_: Bytes| ([(header::CONTENT_TYPE, "application/json")], answer.clone());
    listen(Router::new().route("/tool", post(reply))).await
}

/// A tool that always answers the same.
#[derive(Clone)]
struct Bare {
    text: String,
    object: Json,
}

impl ServerHandler for Bare {
    fn get_info(&self) -> InitializeResult {
        let mut info = InitializeResult::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("bare", "1");
        info
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text.clone())]);
        result.structured_content = Some(self.object.clone());
        Ok(result.into())
    }
}

/// The protocol's own server, told what ours is told: no sessions, plain JSON.
async fn bare_rmcp(text: String) -> Result<SocketAddr> {
    let object = serde_json::from_str(&text)?;
    let bare = Bare { text, object };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None);
    let service =
        StreamableHttpService::new(move || Ok(bare.clone()), Arc::new(NeverSessionManager::default()), config);
    listen(Router::new().nest_service("/mcp", service)).await
}

/// One open connection, over which one request is made again and again.
struct Door {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
}

impl Door {
    fn open(address: SocketAddr, path: &str, token: &str, body: &str) -> Result<Door> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Ok(Door { stream: BufReader::new(stream), request: request.into_bytes() })
    }

    fn call(&mut self) -> Result<Vec<u8>> {
        self.stream.get_mut().write_all(&self.request)?;
        let (mut line, mut length, mut is_first) = (String::new(), None, true);
        loop {
            line.clear();
            hold!(self.stream.read_line(&mut line)? > 0, "the connection was closed");
            if is_first {
                hold!(line.starts_with("HTTP/1.1 200"), "{}", line.trim_end());
                is_first = false;
            }
            if line == "\r\n" {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = Some(value.trim().parse::<usize>()?);
            }
        }
        let mut body = vec![0; length.or_wrong(|| "the answer does not say how long it is")?];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }
}
