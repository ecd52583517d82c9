//! The agent plane: the tools of one episode over MCP, plain JSON, OpenAPI and JSON-2. A call takes microseconds, so it
//! runs where the request is read.

use crate::{
    EpisodeId,
    gate::{App, At, Problem, json},
    json2, mcp, openapi,
};
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
    routing::{any, get, post},
};
use std::sync::Arc;

type Answer = Result<Response, Problem>;

/// The routes.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/episodes/{id}/mcp", any(over_mcp))
        .route("/episodes/{id}/tools/{name}", post(tool))
        .route("/episodes/{id}/openapi.json", get(described))
        .route("/episodes/{id}/json/2/{model}/{method}", post(json2::method))
}

async fn over_mcp(State(app): State<Arc<App>>, At(id): At<String>, request: Request) -> Answer {
    let id = app.agent_only(request.headers(), &id)?;
    let (mut parts, body) = request.into_parts();
    let body = app.body(body).await?;
    parts.extensions.insert(mcp::Seat { episodes: Arc::clone(&app.episodes), id });
    Ok(app.mcp.handle(Request::from_parts(parts, Body::from(body))).await.into_response())
}

async fn tool(State(app): State<Arc<App>>, At((id, name)): At<(String, String)>, request: Request) -> Answer {
    let id = app.agent_only(request.headers(), &id)?;
    call(&app, id, &name, request).await
}

async fn call(app: &App, id: EpisodeId, name: &str, request: Request) -> Answer {
    let arguments = app.text(request.into_body()).await?;
    Ok(json(StatusCode::OK, app.episodes.call(id, name, &arguments)?))
}

async fn described(State(app): State<Arc<App>>, headers: HeaderMap, At(id): At<String>) -> Answer {
    let id = app.agent_only(&headers, &id)?;
    let world = app.episodes.world(id)?;
    let document = openapi::document(&world, &format!("{}/episodes/{id}", app.agents));
    Ok(json(StatusCode::OK, document.to_string()))
}
