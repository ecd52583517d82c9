//! Episodes at a server elsewhere, which has the open parts of the tasks and nothing sealed.

use super::{Again, Opened, failed, finished};
use benchwright_pack::{Refusal, RefusalCode, Snapshot, Trace, TraceCall};
use benchwright_run::{Finished, HostError, Hosted, Reach, ToolCard, model::Redactor};
use benchwright_world::Workspace;
use serde::Deserialize;
use serde_json::json;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a server says of a call that it does not make, by the agent's own doing.
const REFUSED: [&str; 4] = ["calls_exhausted", "rows_exhausted", "trace_full", "body_too_large"];
/// The most bytes of an answer.
const LARGEST: u64 = 256 << 20;

/// A server elsewhere.
pub(super) struct Elsewhere {
    agent: ureq::Agent,
    url: String,
    token: String,
    secrets: Redactor,
}

/// What a server tells of a new episode.
#[derive(Deserialize)]
struct Begun {
    id: String,
    token: String,
    urls: Urls,
}

#[derive(Deserialize)]
struct Urls {
    mcp: String,
    tools: String,
}

/// An error as a server tells it.
#[derive(Deserialize)]
struct Told {
    error: Fault,
}

#[derive(Deserialize)]
struct Fault {
    code: String,
    message: String,
    argument: Option<String>,
    rule: Option<String>,
}

impl Elsewhere {
    pub(super) fn new(url: &str, token: &str, secrets: &Redactor) -> Elsewhere {
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE));
        let agent = ureq::Agent::new_with_config(config.build());
        let url = url.trim_end_matches('/').to_owned();
        Elsewhere { agent, url, token: token.to_owned(), secrets: secrets.clone() }
    }

    fn post(&self, url: &str, token: &str, body: &str) -> Result<(u16, String), HostError> {
        let request = self.agent.post(url).header("authorization", format!("Bearer {token}"));
        read(request.header("content-type", "application/json").send(body))
    }

    fn control(&self, method: &str, path: &str, body: &str) -> Result<String, HostError> {
        let url = format!("{}{path}", self.url);
        let bearer = format!("Bearer {}", self.token);
        let (status, text) = match method {
            "GET" => read(self.agent.get(&url).header("authorization", bearer).call())?,
            "DELETE" => read(self.agent.delete(&url).header("authorization", bearer).call())?,
            _ => self.post(&url, &self.token, body)?,
        };
        if (200..300).contains(&status) {
            return Ok(text);
        }
        let said =
            serde_json::from_str(&text).map_or(text, |Told { error }| format!("{}: {}", error.code, error.message));
        Err(failed("server")(format!("{method} {path}: {status} {said}")))
    }

    pub(super) fn begin(&self, opened: Arc<Opened>) -> Result<Box<dyn Hosted + '_>, HostError> {
        let begun = Instant::now();
        let text = self.control("POST", "/episodes", &json!({ "task": opened.task.open.id }).to_string())?;
        let Begun { id, token, urls } =
            serde_json::from_str(&text).map_err(|error| failed("server")(format!("POST /episodes: {error}")))?;
        let reach = Reach { mcp: urls.mcp, tools: urls.tools, token };
        let world = begun.elapsed().as_nanos();
        Ok(Box::new(EpisodeElsewhere { opened, server: self, id, reach, lost: None, world }))
    }
}

fn read(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<(u16, String), HostError> {
    let lost = |error: ureq::Error| failed("server")(error.to_string());
    let mut answer = answer.map_err(lost)?;
    let text = answer.body_mut().with_config().limit(LARGEST).read_to_string().map_err(lost)?;
    Ok((answer.status().as_u16(), text))
}

/// An episode at a server elsewhere. It is closed when it is dropped.
struct EpisodeElsewhere<'s> {
    opened: Arc<Opened>,
    server: &'s Elsewhere,
    id: String,
    reach: Reach,
    /// Why it cannot be reached any more.
    lost: Option<HostError>,
    /// Nanoseconds at the server and on the way, for calls that came through here.
    world: u128,
}

impl EpisodeElsewhere<'_> {
    fn ask(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let gone = || Refusal::new(RefusalCode::InjectedFault, "the server cannot be reached");
        if self.lost.is_some() {
            return Err(gone());
        }
        // A name that is none would be another address.
        if !self.opened.tools.iter().any(|card| card.name == tool) {
            return Err(Refusal::new(RefusalCode::NotFound, format!("there is no tool `{tool}`")));
        }
        let (status, text) =
            match self.server.post(&format!("{}/{tool}", self.reach.tools), &self.reach.token, arguments) {
                Ok(answer) => answer,
                Err(error) => {
                    self.lost = Some(error);
                    return Err(gone());
                }
            };
        if status == 200 {
            return Ok(text);
        }
        match serde_json::from_str(&text).map(|Told { error }| (RefusalCode::from_word(&error.code), error)) {
            Ok((Some(code), Fault { message, argument, rule, .. })) => Err(Refusal { code, message, argument, rule }),
            Ok((None, error)) if REFUSED.contains(&&*error.code) => {
                Err(Refusal::new(RefusalCode::BudgetExhausted, error.message))
            }
            _ => {
                self.lost = Some(failed("server")(format!("{tool}: {status} {text}")));
                Err(gone())
            }
        }
    }
}

impl Hosted for EpisodeElsewhere<'_> {
    fn tools(&self) -> &[ToolCard] {
        &self.opened.tools
    }

    fn reach(&self) -> Option<Reach> {
        Some(self.reach.clone())
    }

    fn lost(&self) -> Option<HostError> {
        self.lost.clone()
    }

    /// The state is the server's, and what is declared is here.
    fn workspace(&self) -> Result<Option<Workspace>, HostError> {
        let domain = &self.opened.domain;
        if !Workspace::is_in(domain) {
            return Ok(None);
        }
        let text = self.server.control("GET", &format!("/episodes/{}/snapshot", self.id), "")?;
        let state = Snapshot::from_bytes(text.as_bytes(), domain);
        Ok(Workspace::of(domain, &state.map_err(|error| failed("server")(error.to_string()))?))
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let begun = Instant::now();
        let answer = self.ask(tool, arguments);
        self.world += begun.elapsed().as_nanos();
        answer
    }

    /// The calls are made again here: the state that they lead to must be the one the server says it is in.
    fn finish(self: Box<Self>, with_state: bool) -> Result<Finished, HostError> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let text = self.server.control("GET", &format!("/episodes/{}/trace", self.id), "")?;
        let trace = Trace::from_bytes(text.as_bytes()).map_err(|error| failed("server")(error.to_string()))?;
        let Again { episode, .. } = self.opened.replay(&trace)?;
        let secrets = &self.server.secrets;
        let clean = |call: &TraceCall| (secrets.json_text(&call.tool), secrets.json_text(&call.arguments));
        let is_clean = |call: &TraceCall| clean(call) == (call.tool.clone(), call.arguments.clone());
        if trace.calls.iter().all(is_clean) {
            return finished(&self.opened, &episode, self.world, with_state);
        }
        // The server has seen a secret, and what is kept here must not: the same calls without it are what is judged.
        let mut episode = self.opened.begin()?;
        for (tool, arguments) in trace.calls.iter().map(clean) {
            // A refusal is an answer like any other.
            let _ = episode.call(&tool, &arguments);
        }
        finished(&self.opened, &episode, self.world, with_state)
    }
}

impl Drop for EpisodeElsewhere<'_> {
    fn drop(&mut self) {
        // A server that is gone has closed it.
        let _ = self.server.control("DELETE", &format!("/episodes/{}", self.id), "");
    }
}
