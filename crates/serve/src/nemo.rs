//! The wire of a NeMo Gym resources server, through which verifiers and NeMo Gym's agents reach episodes: a session is seeded from a
//! row, its tools are called by their names, and it is verified at the end. The session is a cookie, which is all that opens it; the
//! episode is closed by its verdict, or when it was idle for too long.

mod metrics;

use crate::{
    CallError, EpisodeId, ServeError, Start,
    episodes::Owner,
    gate::{self, App, At, Problem, blocking, json},
};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use benchwright_pack::Ending;
use serde::Deserialize;
use serde_json::json as object;
use std::sync::Arc;

type Answer = Result<Response, Problem>;

/// The name of our cookie. Clients send those of other servers beside it.
const COOKIE: &str = "benchwright";
/// The paths that are no tools.
pub const NEMO_RESERVED: [&str; 4] = ["seed_session", "verify", "aggregate_metrics", "mcp"];
/// The largest row with the whole conversation: tools stand in it twice, and all that they answered.
const LARGEST_VERIFY: usize = 64 << 20;

/// The routes.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(async || json(StatusCode::OK, "{\"status\":\"ok\"}")))
        .route("/seed_session", post(seed))
        .route("/verify", post(verify))
        .route("/aggregate_metrics", post(aggregate))
        .route("/{tool}", post(tool))
}

/// What is read of a row; the rest is for whoever wrote it.
#[derive(Deserialize)]
struct Row {
    task: String,
}

async fn seed(State(app): State<Arc<App>>, request: Request) -> Answer {
    let body = read(&app, request.into_body()).await?;
    let row: Row = serde_json::from_slice(&body)
        .map_err(|error| ServeError::Asked(format!("the row has no `task` to begin: {error}")))?;
    let episodes = Arc::clone(&app.episodes);
    let created = blocking(move || episodes.create(&Start::task(row.task))).await?;
    Ok(kept(json(StatusCode::OK, "{}"), created.token.reveal()))
}

async fn tool(State(app): State<Arc<App>>, At(name): At<String>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let (id, token) = session(&app, &parts.headers)?;
    // Some clients keep the cookies of the last answer only, so it comes with every one, and with what went wrong too.
    let answered = async {
        let (entered, body) = app.without_token(id, body).await?;
        let arguments = gate::text(body)?;
        match gate::call(&app.episodes, entered, &name, &arguments).await {
            Ok(answer) => Ok(json(StatusCode::OK, answer)),
            // A refusal is for the model to read, as an answer is.
            Err(CallError::Refused(refusal)) => Ok(json(StatusCode::OK, refusal.to_json())),
            Err(other) => Err(Problem::from(other)),
        }
    };
    Ok(kept(answered.await.unwrap_or_else(|problem| problem.into_response()), &token))
}

async fn verify(State(app): State<Arc<App>>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let (id, token) = session(&app, &parts.headers)?;
    let body = gate::text(read(&app, body).await?)?;
    let is_object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&body).is_ok();
    let Some(open) = body.trim_end().strip_suffix('}').filter(|_| is_object) else {
        return Err(ServeError::Asked("the body is no JSON object".to_owned()).into());
    };
    let episodes = Arc::clone(&app.episodes);
    // What cannot be judged is an error, and the session stays for another try; a verdict ends it.
    let verdict = blocking(move || {
        let graded = episodes.grade(id)?;
        episodes.close(id)?;
        Ok(graded.verdict)
    });
    let verdict = verdict.await?;
    if verdict.ending == Ending::Error {
        return Err(ServeError::Engine("nothing could be judged".to_owned()).into());
    }
    let passed = verdict.ending == Ending::Pass;
    // The row is sent back as it came, and what was found stands behind it.
    let comma = if open.trim_end().ends_with('{') { "" } else { "," };
    let (reward, graded) = (f64::from(u8::from(passed)), verdict.reward as f64 / 1e6);
    let told = object!({ "reward": reward, "graded": graded, "passed": passed }).to_string();
    let answer = format!("{open}{comma}{}", told.trim_start_matches('{'));
    Ok(kept(json(StatusCode::OK, answer), &token))
}

async fn aggregate(State(app): State<Arc<App>>, request: Request) -> Answer {
    let body = read(&app, request.into_body()).await?;
    let asked = |error: String| ServeError::Asked(error);
    let answer = metrics::of(&body).map_err(asked)?;
    Ok(json(StatusCode::OK, answer.to_string()))
}

/// The session of a request, and its cookie.
fn session(app: &App, headers: &HeaderMap) -> Result<(EpisodeId, String), Problem> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut ours = pairs
        .flat_map(|pairs| pairs.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value.trim_matches('"'));
    let found = ours.find_map(|token| match app.episodes.owner(token) {
        Owner::Agent(id) => Some((id, token.to_owned())),
        Owner::Nobody => None,
    });
    let none = || Problem::new(StatusCode::BAD_REQUEST, "no_session", "there is no session; POST /seed_session first");
    let (id, token) = found.ok_or_else(none)?;
    app.known(id)?;
    Ok((id, token))
}

/// An answer with the cookie of its session.
fn kept(mut response: Response, token: &str) -> Response {
    let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Lax");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// A row or many, which are a trainer's: they count against the budget of all, and not against that of a session.
async fn read(app: &App, body: Body) -> Result<Bytes, Problem> {
    app.body_of(body, LARGEST_VERIFY, false).await
}
