//! The agent plane: the tools of one episode over MCP, plain JSON and OpenAPI, and its files. The faces of a program stand beside it.

use crate::{
    files,
    gate::{self, App, At, Problem, json},
    mcp, openapi,
};
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::StatusCode,
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
        .merge(files::routes())
}

async fn over_mcp(State(app): State<Arc<App>>, At(id): At<String>, request: Request) -> Answer {
    let (mut parts, body) = request.into_parts();
    let (entered, body) = app.agent(&id, &parts.headers, body).await?;
    parts.extensions.insert(mcp::Seat { episodes: Arc::clone(&app.episodes), entered, crowd: Arc::clone(&app.crowd) });
    Ok(app.mcp.handle(Request::from_parts(parts, Body::from(body))).await.into_response())
}

async fn tool(State(app): State<Arc<App>>, At((id, name)): At<(String, String)>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let (entered, body) = app.agent(&id, &parts.headers, body).await?;
    let arguments = gate::text(body)?;
    Ok(json(StatusCode::OK, gate::call(&app.episodes, entered, &name, &arguments).await?))
}

async fn described(State(app): State<Arc<App>>, At(id): At<String>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let (entered, _) = app.agent(&id, &parts.headers, body).await?;
    let world = app.episodes.world(entered.id)?;
    let document = openapi::of_tools(&world, &format!("{}/episodes/{id}", app.agents));
    Ok(json(StatusCode::OK, document.to_string()))
}
