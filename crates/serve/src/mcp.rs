//! The tools of an episode over MCP. `rmcp` answers both eras of the protocol, the one with `initialize` and the one without,
//! and is kept from making sessions: which episode is meant comes with every request, from its URL.

use crate::{
    CallError, Episodes,
    crowd::Crowd,
    gate::{self, Entered},
    tools,
    worlds::Opened,
};
use axum::http::request::Parts;
use benchwright_world::ToolLine;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, InitializeResult,
        JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, Tool, ToolAnnotations,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::Value as Json;
use std::sync::Arc;

/// The service of all episodes.
pub(crate) type McpService = StreamableHttpService<Handler, NeverSessionManager>;

/// The episode of a request.
#[derive(Clone)]
pub(crate) struct Seat {
    pub(crate) episodes: Arc<Episodes>,
    pub(crate) entered: Entered,
    pub(crate) crowd: Arc<Crowd>,
}

/// Answers one request. It holds nothing.
pub(crate) struct Handler;

/// The service: no sessions, answers in plain JSON. Hosts, origins and sizes were checked before.
pub(crate) fn service(largest_body: usize) -> McpService {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        .with_max_request_body_bytes(largest_body)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    StreamableHttpService::new(|| Ok(Handler), Arc::new(NeverSessionManager::default()), config)
}

/// A tool as MCP lists it.
pub(crate) fn listed(line: &ToolLine) -> Tool {
    let object = |json: Json| match json {
        Json::Object(map) => Arc::new(map),
        _ => Arc::new(JsonObject::new()),
    };
    let hints = ToolAnnotations::new().read_only(line.reads_only).destructive(line.destroys).open_world(false);
    Tool::new(line.name.clone(), line.description.clone(), object(line.arguments.clone()))
        .with_raw_output_schema(object(tools::answer_object(line)))
        .with_annotations(hints)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> InitializeResult {
        let mut info = InitializeResult::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("benchwright", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (seat, world) = seat(&context)?;
        let most = seat.episodes.settings().tools_at_once.max(1);
        let cursor = request.and_then(|request| request.cursor);
        let (tools, next) = page(&world, cursor.as_deref(), most)?;
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (seat, world) = seat(&context)?;
        let arguments = match request.arguments {
            Some(arguments) => Json::Object(arguments).to_string(),
            None => "{}".to_owned(),
        };
        // An unknown tool is a call like any other: it is counted and stands in the trace.
        let result = gate::call(&seat.episodes, seat.entered, &request.name, &arguments).await;
        let line = world.tools.line(&request.name);
        if let Err(error) = &result {
            seat.crowd.metrics().refused(error.word());
        }
        let answer = match (result, line) {
            (Ok(answer), Some(line)) => answered(line, answer)?,
            (Err(CallError::Refused(refusal)), None) => return Err(ErrorData::invalid_params(refusal.message, None)),
            (Err(CallError::Serve(error)), _) => return Err(failed(&error.to_string(), error.word())),
            (Err(error), _) => CallToolResult::error(vec![ContentBlock::text(error.to_json())]),
            (Ok(_), None) => return Err(failed("a tool answered that is not offered", "engine_failed")),
        };
        Ok(answer.into())
    }
}

fn answered(line: &ToolLine, answer: String) -> Result<CallToolResult, ErrorData> {
    let json = serde_json::from_str(&answer).map_err(|error| failed(&error.to_string(), "engine_failed"))?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer)]);
    result.structured_content = Some(tools::as_object(line, json));
    Ok(result)
}

/// A page of tools and the cursor of the next. A cursor names the last tool that was listed, so no page repeats one.
fn page(world: &Opened, cursor: Option<&str>, most: usize) -> Result<(Vec<Tool>, Option<String>), ErrorData> {
    let from = match cursor {
        None => 0,
        Some(last) => match world.tools.place(last) {
            Some(at) => at + 1,
            None => return Err(ErrorData::invalid_params("the cursor is not known", None)),
        },
    };
    let rest = world.tools.listed().get(from..).unwrap_or_default();
    let tools: Vec<Tool> = rest.iter().take(most).cloned().collect();
    let next = (rest.len() > most).then(|| tools.last().map(|tool| tool.name.to_string())).flatten();
    Ok((tools, next))
}

fn seat(context: &RequestContext<RoleServer>) -> Result<(Seat, Arc<Opened>), ErrorData> {
    let parts = context.extensions.get::<Parts>();
    let Some(seat) = parts.and_then(|parts| parts.extensions.get::<Seat>()) else {
        return Err(failed("the request has no episode", "engine_failed"));
    };
    let world = seat.episodes.world(seat.entered.id).map_err(|error| failed(&error.to_string(), error.word()))?;
    Ok((seat.clone(), world))
}

fn failed(sentence: &str, word: &str) -> ErrorData {
    ErrorData::internal_error(sentence.to_owned(), Some(serde_json::json!({ "code": word })))
}
