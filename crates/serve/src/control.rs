//! The control plane: episodes are begun, copied, looked at, graded and closed. Every route stands once in a table, with what
//! the plane's own description says of it.

use crate::{
    Created, EpisodeId, ServeError, Start,
    crowd::Document,
    gate::{self, App, At, Problem, blocking, json},
    metrics,
    openapi::{self, Operation},
    worlds::store,
};
use axum::{
    Router,
    extract::{Query, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::{MethodRouter, delete, get, post},
};
use benchwright_world::{Filling, Workspace};
use serde::Deserialize;
use serde_json::{Value as Json, json as object};
use std::sync::Arc;

type Answer = Result<Response, Problem>;

/// How many ids of tasks are listed at a time, if nobody says, and at most.
const TASKS_AT_ONCE: usize = 1_000;
const MOST_TASKS: usize = 10_000;

/// A route, and what the description says of it.
struct Route {
    path: &'static str,
    handler: MethodRouter<Arc<App>>,
    about: Operation,
}

/// The routes.
pub(crate) fn routes() -> Router<Arc<App>> {
    table().into_iter().fold(Router::new(), |router, route| router.route(route.path, route.handler))
}

/// The description of the plane, at its address.
fn description(base: &str) -> Json {
    openapi::of_control(base, table().into_iter().map(|route| (route.path, route.about)))
}

fn table() -> Vec<Route> {
    let route = |path, handler, about| Route { path, handler, about };
    let health = get(async || json(StatusCode::OK, "{\"status\":\"ok\"}"));
    vec![
        route("/health", health, Operation::get("health", "Whether the server answers").open()),
        route("/openapi.json", get(described), Operation::get("openapi", "This description").open()),
        route("/metrics", get(told), Operation::get("metrics", "Counts and limits, as Prometheus reads them")),
        route(
            "/tasks",
            get(tasks),
            Operation::get("listTasks", "The ids of the tasks in pages: `next` is the `after` of the next")
                .asks("after", "The last id of the page before", "string")
                .asks("limit", "The most ids of a page", "integer")
                .answers(openapi::tasks()),
        ),
        route(
            "/episodes",
            post(create),
            Operation::post("createEpisode", "Begins an episode of a task, or of a domain's own world")
                .takes(openapi::beginning())
                .answers(openapi::begun())
                .created(),
        ),
        route(
            "/episodes",
            get(count),
            Operation::get("countEpisodes", "How many episodes live").answers(openapi::count()),
        ),
        route(
            "/episodes/{id}",
            get(status),
            Operation::get("getEpisode", "How an episode stands").answers(openapi::status()),
        ),
        route(
            "/episodes/{id}",
            delete(close),
            Operation::delete("closeEpisode", "Ends an episode").answers(openapi::closed()),
        ),
        route(
            "/episodes/{id}/fork",
            post(fork),
            Operation::post("forkEpisode", "A copy that goes its own way, with a token of its own")
                .answers(openapi::begun())
                .created(),
        ),
        route(
            "/episodes/{id}/snapshot",
            get(snapshot),
            Operation::get("getSnapshot", "The state: rows of tables, or a folder of files"),
        ),
        route("/episodes/{id}/trace", get(trace), Operation::get("getTrace", "The calls, in order")),
        route(
            "/episodes/{id}/grade",
            post(grade),
            Operation::post("gradeEpisode", "The verdict on the state as it stands"),
        ),
    ]
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
        match (task, domain) {
            (Some(id), None) if size.is_none() && seed.is_none() && role.is_none() => Ok(Start::Task { id, engine }),
            (None, Some(domain)) => {
                let filling = Filling { domain, size, seed: seed.unwrap_or(1) };
                Ok(Start::Domain { filling, role, engine })
            }
            _ => Err(ServeError::Asked(
                "give either a `task`, or a `domain` with `size`, `seed` and `role` as you like".to_owned(),
            )),
        }
    }
}

async fn create(State(app): State<Arc<App>>, request: Request) -> Answer {
    let body = gate::text(app.control(request).await?)?;
    let beginning: Beginning =
        serde_json::from_str(&body).map_err(|error| ServeError::Asked(format!("the body: {error}")))?;
    let start = beginning.start()?;
    let episodes = Arc::clone(&app.episodes);
    let created = blocking(move || episodes.create(&start)).await?;
    Ok(begun(&app, &created))
}

async fn fork(State(app): State<Arc<App>>, At(id): At<String>, request: Request) -> Answer {
    let id = controlled(&app, &id, request).await?;
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
    if let Ok(opened) = app.episodes.world(*id) {
        if opened.world.domain().is_some_and(|domain| Workspace::is_in(domain)) {
            urls["files"] = format!("{base}/files").into();
        }
        for face in app.episodes.settings().faces.iter().filter(|face| face.fits(&*opened.world)) {
            urls[face.name()] = format!("{base}/{}", face.path()).into();
        }
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

async fn described(State(app): State<Arc<App>>) -> Response {
    json(StatusCode::OK, description(&app.here).to_string())
}

/// Which page of the tasks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    after: Option<String>,
    limit: Option<usize>,
}

async fn tasks(State(app): State<Arc<App>>, request: Request) -> Answer {
    let page = Query::try_from_uri(request.uri());
    app.control(request).await?;
    let Query(Page { after, limit }) = page.map_err(|error| ServeError::Asked(error.body_text()))?;
    let limit = limit.unwrap_or(TASKS_AT_ONCE).clamp(1, MOST_TASKS);
    let episodes = Arc::clone(&app.episodes);
    let ids = blocking(move || Ok(store(episodes.settings())?.ids()?)).await?;
    let from = after.map_or(0, |after| ids.partition_point(|id| *id <= after));
    let rest = &ids[from..];
    let shown = &rest[..limit.min(rest.len())];
    let next = shown.last().filter(|_| shown.len() < rest.len());
    Ok(json(StatusCode::OK, object!({ "count": ids.len(), "tasks": shown, "next": next }).to_string()))
}

async fn count(State(app): State<Arc<App>>, request: Request) -> Answer {
    app.control(request).await?;
    let body = object!({ "count": app.episodes.len(), "most": app.episodes.settings().most_episodes });
    Ok(json(StatusCode::OK, body.to_string()))
}

async fn status(State(app): State<Arc<App>>, At(id): At<String>, request: Request) -> Answer {
    let id = controlled(&app, &id, request).await?;
    let episodes = Arc::clone(&app.episodes);
    let status = blocking(move || episodes.status(id)).await?;
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

async fn snapshot(State(app): State<Arc<App>>, At(id): At<String>, request: Request) -> Answer {
    let id = controlled(&app, &id, request).await?;
    let room = room(&app, id).await?;
    let episodes = Arc::clone(&app.episodes);
    let bytes = blocking(move || episodes.state_bytes(id)).await?;
    Ok(json(StatusCode::OK, room.body(bytes)))
}

async fn trace(State(app): State<Arc<App>>, At(id): At<String>, request: Request) -> Answer {
    let id = controlled(&app, &id, request).await?;
    let room = room(&app, id).await?;
    let episodes = Arc::clone(&app.episodes);
    let trace = blocking(move || Ok(episodes.trace(id)?.to_bytes())).await?;
    Ok(json(StatusCode::OK, room.body(trace)))
}

async fn grade(State(app): State<Arc<App>>, At(id): At<String>, request: Request) -> Answer {
    let id = controlled(&app, &id, request).await?;
    let _room = room(&app, id).await?;
    let episodes = Arc::clone(&app.episodes);
    let graded = blocking(move || episodes.grade(id)).await?;
    let body = serde_json::to_vec(&graded.verdict).map_err(|error| ServeError::Engine(error.to_string()))?;
    Ok(json(StatusCode::OK, body))
}

async fn close(State(app): State<Arc<App>>, At(id): At<String>, request: Request) -> Answer {
    let id = controlled(&app, &id, request).await?;
    let episodes = Arc::clone(&app.episodes);
    blocking(move || episodes.close(id)).await?;
    Ok(json(StatusCode::OK, object!({ "closed": id.to_string() }).to_string()))
}

/// Waits for room for what is made of a whole state, so that many who ask at once do not have it in memory at once.
async fn room(app: &App, id: EpisodeId) -> Result<Document, ServeError> {
    let episodes = Arc::clone(&app.episodes);
    let bytes = blocking(move || episodes.document_bytes(id)).await?;
    Ok(app.crowd.document(bytes).await)
}

async fn told(State(app): State<Arc<App>>, request: Request) -> Answer {
    app.control(request).await?;
    let mut response = Response::new(metrics::text(&app.crowd, &app.episodes).into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
    Ok(response)
}

async fn controlled(app: &App, id: &str, request: Request) -> Result<EpisodeId, Problem> {
    app.control(request).await?;
    Ok(id.parse()?)
}
