//! The control plane: episodes are begun, copied, looked at, graded and closed.

use crate::{
    Created, EpisodeId, ServeError, Start,
    gate::{App, At, Problem, json},
};
use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::json as object;
use std::sync::Arc;

type Answer = Result<Response, Problem>;

/// The routes.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/health", get(async || json(StatusCode::OK, "{\"status\":\"ok\"}")))
        .route("/episodes", get(count).post(create))
        .route("/episodes/{id}", get(status).delete(close))
        .route("/episodes/{id}/fork", post(fork))
        .route("/episodes/{id}/snapshot", get(snapshot))
        .route("/episodes/{id}/trace", get(trace))
        .route("/episodes/{id}/grade", post(grade))
}

/// What begins an episode: a task, or a domain with how it is filled.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Beginning {
    task: Option<String>,
    engine: Option<String>,
    domain: Option<String>,
    size: Option<String>,
    seed: Option<u64>,
    role: Option<String>,
}

impl Beginning {
    fn start(self) -> Result<Start, ServeError> {
        let Beginning { task, engine, domain, size, seed, role } = self;
        let on_odoo = match engine.as_deref() {
            None | Some("embedded") => false,
            Some("odoo") => true,
            Some(_) => return Err(ServeError::Asked("`engine` is `embedded` or `odoo`".to_owned())),
        };
        match (task, domain) {
            (Some(task), None) if size.is_none() && seed.is_none() && role.is_none() => {
                Ok(if on_odoo { Start::Odoo(task) } else { Start::Task(task) })
            }
            (None, Some(domain)) if !on_odoo => Ok(Start::Domain { domain, size, seed: seed.unwrap_or(1), role }),
            _ => Err(ServeError::Asked(
                "give either a `task`, or a `domain` with `size`, `seed` and `role` as you like".to_owned(),
            )),
        }
    }
}

async fn create(State(app): State<Arc<App>>, request: Request) -> Answer {
    app.control_only(request.headers())?;
    let body = app.text(request.into_body()).await?;
    let beginning: Beginning =
        serde_json::from_str(&body).map_err(|error| ServeError::Asked(format!("the body: {error}")))?;
    let start = beginning.start()?;
    let episodes = Arc::clone(&app.episodes);
    let created = blocking(move || episodes.create(&start)).await?;
    Ok(begun(&app, &created))
}

async fn fork(State(app): State<Arc<App>>, headers: HeaderMap, At(id): At<String>) -> Answer {
    let id = controlled(&app, &headers, &id)?;
    let episodes = Arc::clone(&app.episodes);
    let created = blocking(move || episodes.fork(id)).await?;
    Ok(begun(&app, &created))
}

/// What is told of a new episode.
fn begun(app: &App, created: &Created) -> Response {
    let Created { id, token, limits, instruction } = created;
    let base = format!("{}/episodes/{id}", app.agents);
    let mut urls = object!({
        "mcp": format!("{base}/mcp"),
        "tools": format!("{base}/tools"),
        "openapi": format!("{base}/openapi.json"),
    });
    if app.episodes.world(*id).is_ok_and(|world| world.tools.has_models()) {
        urls["json2"] = format!("{base}/json/2").into();
    }
    let mut body = object!({
        "id": id.to_string(),
        "token": token.reveal(),
        "urls": urls,
        "limits": {
            "calls": limits.calls,
            "idle_seconds": limits.idle.as_secs(),
            "body_bytes": app.largest_body,
        },
    });
    if let Some(instruction) = instruction {
        body["instruction"] = instruction.as_str().into();
    }
    json(StatusCode::CREATED, body.to_string())
}

async fn count(State(app): State<Arc<App>>, headers: HeaderMap) -> Answer {
    app.control_only(&headers)?;
    let body = object!({ "count": app.episodes.len(), "most": app.episodes.settings().most_episodes });
    Ok(json(StatusCode::OK, body.to_string()))
}

async fn status(State(app): State<Arc<App>>, headers: HeaderMap, At(id): At<String>) -> Answer {
    let id = controlled(&app, &headers, &id)?;
    let status = app.episodes.status(id)?;
    let body = object!({
        "id": id.to_string(),
        "task": status.task,
        "domain": status.domain,
        "role": status.role,
        "limits": {
            "calls": status.limits.calls,
            "idle_seconds": status.limits.idle.as_secs(),
            "body_bytes": app.largest_body,
        },
        "calls_used": status.calls_used,
        "calls_left": status.limits.calls.saturating_sub(status.calls_used),
        "calls_over": status.calls_over,
        "ended_by": (status.calls_over > 0).then_some("calls_exhausted"),
        "idle_seconds": status.idle.as_secs(),
        "state": status.state,
    });
    Ok(json(StatusCode::OK, body.to_string()))
}

async fn snapshot(State(app): State<Arc<App>>, headers: HeaderMap, At(id): At<String>) -> Answer {
    let id = controlled(&app, &headers, &id)?;
    let episodes = Arc::clone(&app.episodes);
    let bytes = blocking(move || episodes.snapshot_bytes(id)).await?;
    Ok(json(StatusCode::OK, bytes))
}

async fn trace(State(app): State<Arc<App>>, headers: HeaderMap, At(id): At<String>) -> Answer {
    let id = controlled(&app, &headers, &id)?;
    let episodes = Arc::clone(&app.episodes);
    let trace = blocking(move || episodes.trace(id)).await?;
    Ok(json(StatusCode::OK, trace.to_bytes()))
}

async fn grade(State(app): State<Arc<App>>, headers: HeaderMap, At(id): At<String>) -> Answer {
    let id = controlled(&app, &headers, &id)?;
    let episodes = Arc::clone(&app.episodes);
    let graded = blocking(move || episodes.grade(id)).await?;
    let body = serde_json::to_vec(&graded.verdict).map_err(|error| ServeError::Engine(error.to_string()))?;
    Ok(json(StatusCode::OK, body))
}

async fn close(State(app): State<Arc<App>>, headers: HeaderMap, At(id): At<String>) -> Answer {
    let id = controlled(&app, &headers, &id)?;
    app.episodes.close(id)?;
    Ok(json(StatusCode::OK, object!({ "closed": id.to_string() }).to_string()))
}

fn controlled(app: &App, headers: &HeaderMap, id: &str) -> Result<EpisodeId, Problem> {
    app.control_only(headers)?;
    Ok(id.parse()?)
}

/// Work that reads files or visits whole states, beside the threads that answer calls.
async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, ServeError> + Send + 'static,
) -> Result<R, ServeError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(ServeError::Engine("the work stopped half-way".to_owned())),
    }
}
