//! Faces: other systems' words for the calls of an episode, on paths below its address. Which there are is in the settings.

use crate::{
    CallError, EpisodeId, Episodes,
    gate::{self, App, At, Problem, json},
};
use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
    response::Response,
    routing::post,
};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_world::{Calls, Face, FaceAnswer};
use std::sync::Arc;

/// The routes of all faces.
pub(crate) fn routes(faces: &[Arc<dyn Face>]) -> Router<Arc<App>> {
    faces.iter().fold(Router::new(), |routes, face| {
        let path = format!("/episodes/{{id}}/{}/{{*rest}}", face.path());
        let face = Arc::clone(face);
        let answer = move |State(app): State<Arc<App>>, At((id, rest)): At<(String, String)>, request: Request| {
            let face = Arc::clone(&face);
            async move { answered(&app, &face, &id, &rest, request).await }
        };
        routes.route(&path, post(answer))
    })
}

async fn answered(
    app: &App,
    face: &Arc<dyn Face>,
    id: &str,
    rest: &str,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let (entered, body) = app.agent(id, &parts.headers, body).await?;
    let body = gate::text(body)?;
    let answer = if entered.waits {
        let (episodes, face, rest) = (Arc::clone(&app.episodes), Arc::clone(face), rest.to_owned());
        gate::blocking(move || Ok(episodes.call_face(entered.id, &*face, &rest, &body))).await??
    } else {
        app.episodes.call_face(entered.id, &**face, rest, &body)?
    };
    let nothing = || Problem::new(StatusCode::NOT_FOUND, "not_found", "this world has nothing at that path");
    let FaceAnswer { status, body } = answer.ok_or_else(nothing)?;
    Ok(json(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body))
}

impl Episodes {
    /// Answers a body sent to a path of a face; nothing, if the face does not fit the world or has nothing there. What is no
    /// matter of the world (a closed episode, a budget that is used up) is an error of ours.
    pub fn call_face(
        &self,
        id: EpisodeId,
        face: &dyn Face,
        path: &str,
        body: &str,
    ) -> Result<Option<FaceAnswer>, CallError> {
        let world = self.world(id)?;
        if !face.fits(&*world.world) {
            return Ok(None);
        }
        let mut calls = Counted { episodes: self, id, stopped: None };
        let answer = face.answer(&*world.world, path, body, &mut calls);
        calls.stopped.map_or(Ok(answer), Err)
    }
}

/// The calls of a face, counted like all others.
struct Counted<'e> {
    episodes: &'e Episodes,
    id: EpisodeId,
    /// Why the face cannot go on: nothing of this was said by the world.
    stopped: Option<CallError>,
}

impl Counted<'_> {
    /// What the world refused is for the face to say in its words; the rest ends the request.
    fn told<T>(&mut self, result: Result<T, CallError>) -> Result<T, Refusal> {
        result.map_err(|error| match error {
            CallError::Refused(refusal) => refusal,
            other => {
                let refusal = Refusal::new(RefusalCode::BudgetExhausted, other.to_string());
                self.stopped = Some(other);
                refusal
            }
        })
    }
}

impl Calls for Counted<'_> {
    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let result = self.episodes.call(self.id, tool, arguments);
        self.told(result)
    }

    fn speak(&mut self, words: &[&str], body: &str) -> Result<FaceAnswer, Refusal> {
        let result = self.episodes.speak(self.id, words, body);
        self.told(result)
    }
}
