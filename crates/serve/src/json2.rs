//! Odoo's JSON-2 over an episode: `POST /episodes/{id}/json/2/{model}/{method}`. On the embedded ERP the calls are the
//! domain's tools; on Odoo they go to the episode's database, with our key. The budget, the models and the errors are the
//! same on both.

use crate::{
    CallError, EpisodeId, Episodes,
    gate::{App, At, Problem, json},
};
use axum::{
    extract::{Request, State},
    http::StatusCode,
    response::Response,
};
use benchwright_odoo::{Answer, face};
use std::sync::Arc;

/// Answers a record call.
pub(crate) async fn method(
    State(app): State<Arc<App>>,
    At((id, model, method)): At<(String, String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let id = app.agent_only(request.headers(), &id)?;
    let world = app.episodes.world(id)?;
    if !world.tools.has_models() {
        return Err(Problem::new(StatusCode::NOT_FOUND, "not_found", "this domain has no models"));
    }
    let body = app.text(request.into_body()).await?;
    let answer = if app.episodes.is_on_odoo(id)? {
        // It waits for another server, so it waits beside the threads that answer calls.
        let episodes = Arc::clone(&app.episodes);
        let waited = tokio::task::spawn_blocking(move || episodes.record_call(id, &model, &method, &body)).await;
        waited.map_err(|_| {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "engine_failed", "the call stopped half-way")
        })??
    } else {
        app.episodes.record_call(id, &model, &method, &body)?
    };
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Ok(json(status, answer.body))
}

impl Episodes {
    /// Makes a record call in Odoo's form and answers in it. What is no matter of the world (a closed episode, a budget that
    /// is used up) is an error of ours.
    pub fn record_call(&self, id: EpisodeId, model: &str, method: &str, body: &str) -> Result<Answer, CallError> {
        let world = self.world(id)?;
        let domain = world.sandbox.domain();
        if self.is_on_odoo(id)? {
            return match face::closed(domain, model, method) {
                Some(answer) => Ok(answer),
                None => self.call_odoo(id, model, method, body),
            };
        }
        let mut stopped = None;
        let mut call = |tool: &str, arguments: &str| match self.call(id, tool, arguments) {
            Ok(answer) => Ok(answer),
            Err(CallError::Refused(refusal)) => Err(refusal),
            Err(other) => {
                let message = other.to_string();
                stopped = Some(other);
                Err(benchwright_pack::Refusal::new(benchwright_pack::RefusalCode::BudgetExhausted, message))
            }
        };
        let answer = face::answer(domain, model, method, body, &mut call);
        stopped.map_or(Ok(answer), Err)
    }
}
