//! The files of an episode's world, for agents that want them as they are: those of the present stage, as a list and by path. A file that is no
//! text has no other way to an agent's own programs.

use crate::{
    EpisodeId, Episodes, ServeError,
    gate::{App, At, Problem, blocking, json},
};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::get,
};
use benchwright_world::{WorkFile, WorkspaceError};
use serde_json::json as object;
use std::sync::Arc;

type Answer = Result<Response, Problem>;

/// The routes.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route("/episodes/{id}/files", get(list)).route("/episodes/{id}/files/{*path}", get(one))
}

async fn list(State(app): State<Arc<App>>, At(id): At<String>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let (entered, _) = app.agent(&id, &parts.headers, body).await?;
    listed(&app.episodes, entered.id).await
}

async fn one(State(app): State<Arc<App>>, At((id, path)): At<(String, String)>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let (entered, _) = app.agent(&id, &parts.headers, body).await?;
    sent(&app.episodes, entered.id, path).await
}

/// The list of the files that are there at the present stage.
pub(crate) async fn listed(episodes: &Arc<Episodes>, id: EpisodeId) -> Answer {
    let episodes = Arc::clone(episodes);
    let told = blocking(move || {
        let Some(desk) = episodes.workspace(id)? else { return Ok(None) };
        let line = |file: &WorkFile| {
            let bytes = file.bytes().map_err(broken)?.len();
            Ok(object!({ "path": file.path, "media": file.media, "bytes": bytes }))
        };
        let files = desk.files().map(line).collect::<Result<Vec<_>, ServeError>>()?;
        Ok(Some(object!({ "stage": desk.stage, "last": desk.last, "files": files })))
    });
    let nothing = || Problem::new(StatusCode::NOT_FOUND, "not_found", "this world has no files; call its tools");
    Ok(json(StatusCode::OK, told.await?.ok_or_else(nothing)?.to_string()))
}

/// What a file of the present stage holds. Its path has to be exactly that of the file.
pub(crate) async fn sent(episodes: &Arc<Episodes>, id: EpisodeId, path: String) -> Answer {
    let episodes = Arc::clone(episodes);
    let found = blocking(move || {
        let desk = episodes.workspace(id)?;
        let Some(file) = desk.as_ref().and_then(|desk| desk.file(&path)) else { return Ok(None) };
        // A text is not copied: whoever reads slowly holds what the episode holds anyway.
        let body: Body = match file.text() {
            Some(text) => Bytes::from_owner(Text(Arc::clone(text))).into(),
            None => file.bytes().map_err(broken)?.into_owned().into(),
        };
        Ok(Some((file.media.clone(), body)))
    });
    let sentence = "there is no such file at this stage; `files` lists those that are there";
    let nothing = || Problem::new(StatusCode::NOT_FOUND, "not_found", sentence);
    let (media, body) = found.await?.ok_or_else(nothing)?;
    let mut response = Response::new(body);
    let media = HeaderValue::from_str(&media).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

/// A text that a state has, as bytes.
struct Text(Arc<str>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

fn broken(error: WorkspaceError) -> ServeError {
    ServeError::Engine(error.to_string())
}
