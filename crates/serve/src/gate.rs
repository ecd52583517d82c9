//! What every request passes first: the check of Host and Origin, of its token, and of the size of its body. And the form
//! in which every error is answered.

use crate::{
    CallError, EpisodeId, Episodes, ServeError,
    crowd::{self, Crowd, Share},
    episodes::Owner,
    error::error_json,
    events,
    mcp::McpService,
    metrics::{Plane, Refused},
    token::Lock,
};
use axum::{
    body::{Body, Bytes, HttpBody as _},
    extract::{FromRequestParts, Path, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use std::{future::poll_fn, net::IpAddr, pin::Pin, sync::Arc, task::Poll};
use tokio::time::{Instant, timeout_at};

/// How many times the largest body is read beyond it and thrown away, so that a client can hear that its body is too large.
const DRAINED: usize = 16;
/// What tells the control token from those of episodes, and from none.
const CONTROL: u64 = u64::MAX;

/// What every request needs.
pub(crate) struct App {
    pub(crate) episodes: Arc<Episodes>,
    pub(crate) control_lock: Lock,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) largest_body: usize,
    /// Where the control plane is: scheme, host and port.
    pub(crate) here: String,
    /// Where agents find their episodes.
    pub(crate) agents: String,
    pub(crate) mcp: McpService,
    pub(crate) crowd: Arc<Crowd>,
    /// What the connections of the control token have in common.
    pub(crate) control_share: Arc<Share>,
}

/// An agent that was let in.
#[derive(Clone, Copy)]
pub(crate) struct Entered {
    pub(crate) id: EpisodeId,
    /// Whether calls of its episode wait for something outside this process.
    pub(crate) waits: bool,
}

/// An error as it is answered: a status, a word and a sentence.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    word: &'static str,
    body: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, word: &'static str, sentence: &str) -> Problem {
        Problem { status, word, body: error_json(word, sentence) }
    }
}

impl From<ServeError> for Problem {
    fn from(error: ServeError) -> Problem {
        CallError::from(error).into()
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Problem {
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Problem { status, word: error.word(), body: error.to_json() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        events::refused(self.status.as_u16(), self.word);
        let mut response = json(self.status, self.body);
        response.extensions_mut().insert(Refused(self.word));
        if matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT) {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// The parts of a path. One that cannot be read leads nowhere.
pub(crate) struct At<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<At<T>, Problem> {
        let nowhere = |_| Problem::new(StatusCode::NOT_FOUND, "no_such_route", "the path cannot be read");
        Path::from_request_parts(parts, state).await.map(|Path(place)| At(place)).map_err(nowhere)
    }
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

impl App {
    /// Lets only the control token in. An agent is told that this is not for it.
    fn control_only(&self, headers: &HeaderMap) -> Result<(), Problem> {
        crowd::is_for(Plane::Control);
        let token = bearer(headers)?;
        if self.control_lock.opens(token) {
            return Ok(crowd::entered(CONTROL, usize::MAX, || Ok(Arc::clone(&self.control_share)))?);
        }
        match self.episodes.owner(token) {
            Owner::Agent(_) => Err(Problem::new(
                StatusCode::FORBIDDEN,
                "not_for_agents",
                "an episode's token does not open the control plane",
            )),
            Owner::Nobody => Err(wrong_token()),
        }
    }

    /// Lets only the episode's own token in.
    fn agent_only(&self, headers: &HeaderMap, episode: &str) -> Result<Entered, Problem> {
        crowd::is_for(Plane::Agent);
        let token = bearer(headers)?;
        let forbidden = |word, sentence| Err(Problem::new(StatusCode::FORBIDDEN, word, sentence));
        if self.control_lock.opens(token) {
            return forbidden("not_for_control", "the control token does not open an episode's tools");
        }
        let Owner::Agent(own) = self.episodes.owner(token) else { return Err(wrong_token()) };
        let id: EpisodeId = episode.parse()?;
        let waits = self.episodes.waits(id)?;
        if id != own {
            return forbidden("other_episode", "the token is of another episode");
        }
        self.known(id)?;
        Ok(Entered { id, waits })
    }

    /// The connection of this request has shown the token of an episode.
    pub(crate) fn known(&self, id: EpisodeId) -> Result<(), ServeError> {
        crowd::entered(id.number(), self.crowd.limits().of_one_token, || self.episodes.share(id))
    }

    /// Lets the control plane's client in, and reads its body.
    pub(crate) async fn control(&self, request: Request) -> Result<Bytes, Problem> {
        let (parts, body) = request.into_parts();
        Ok(self.with_body(self.control_only(&parts.headers), body).await?.1)
    }

    /// Lets an agent in, and reads its body.
    pub(crate) async fn agent(
        &self,
        episode: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<(Entered, Bytes), Problem> {
        self.with_body(self.agent_only(headers, episode), body).await
    }

    /// Lets whoever asks into an episode that is known by other means than a token, and reads the body.
    pub(crate) async fn without_token(&self, id: EpisodeId, body: Body) -> Result<(Entered, Bytes), Problem> {
        let let_in = self.known(id).and_then(|()| self.episodes.waits(id)).map(|waits| Entered { id, waits });
        self.with_body(let_in.map_err(Problem::from), body).await
    }

    /// The body of whoever was let in. That of a known client is read even if there is nothing for it here: what nobody
    /// reads stays in the connection, which then cannot be used again. Strangers are not listened to.
    async fn with_body<T>(&self, let_in: Result<T, Problem>, body: Body) -> Result<(T, Bytes), Problem> {
        match let_in {
            Ok(entered) => Ok((entered, self.body(body).await?)),
            Err(problem) if [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS].contains(&problem.status) => {
                Err(problem)
            }
            Err(problem) => {
                // Whatever came, the answer is the same.
                let _ = self.body(body).await;
                Err(problem)
            }
        }
    }

    /// The body of a request, if it is not too large.
    async fn body(&self, body: Body) -> Result<Bytes, Problem> {
        self.body_of(body, self.largest_body, true).await
    }

    /// The same with another measure of what is too large, and of whether a token's own budget is asked too.
    pub(crate) async fn body_of(&self, mut body: Body, largest: usize, of_token: bool) -> Result<Bytes, Problem> {
        // Nearly every body has come with its head. It is taken as it is, without a timer and without being counted.
        let first = poll_fn(|context| Poll::Ready(Pin::new(&mut body).poll_frame(context))).await;
        let mut next = match first {
            Poll::Ready(None) => return Ok(Bytes::new()),
            Poll::Ready(Some(Ok(frame))) if body.is_end_stream() => match frame.into_data() {
                Ok(data) if data.len() <= largest => return Ok(data),
                Ok(_) => return Err(too_large(largest)),
                Err(other) => Some(Ok(other)),
            },
            Poll::Ready(Some(frame)) => Some(frame),
            Poll::Pending => None,
        };
        let thrown_away = largest.saturating_add(self.largest_body.saturating_mul(DRAINED));
        let announced = body.size_hint().lower();
        if announced > thrown_away as u64 {
            return Err(too_large(largest));
        }
        let announced = usize::try_from(announced).unwrap_or(usize::MAX).min(largest);
        let mut held = self.crowd.hold(of_token, announced).await?;
        let (begun, limits) = (Instant::now(), self.crowd.limits());
        let (mut kept, mut length) = (Vec::<u8>::new(), 0);
        loop {
            let frame = match next.take() {
                Some(frame) => frame,
                None => match timeout_at(begun + limits.body + crowd::earned(kept.len() as u64), body.frame()).await {
                    Ok(Some(frame)) => frame,
                    Ok(None) => break,
                    Err(_) => return Err(ServeError::BodyTooSlow(limits.body.as_secs()).into()),
                },
            };
            let broken = |_| Problem::new(StatusCode::BAD_REQUEST, "invalid_request", "the body broke off");
            let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
            length += data.len();
            if length <= largest {
                held.grow(data.len())?;
                kept.extend_from_slice(&data);
            } else if length > thrown_away {
                break;
            }
        }
        if length <= largest { Ok(kept.into()) } else { Err(too_large(largest)) }
    }
}

fn too_large(largest: usize) -> Problem {
    let sentence = format!("the body has more than {largest} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", &sentence)
}

/// A body as text.
pub(crate) fn text(bytes: Bytes) -> Result<String, Problem> {
    String::from_utf8(bytes.into())
        .map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "invalid_argument", "the body is not UTF-8"))
}

/// Calls a tool: where the request is read, as it takes microseconds, unless the episode waits for something outside.
pub(crate) async fn call(
    episodes: &Arc<Episodes>,
    entered: Entered,
    tool: &str,
    arguments: &str,
) -> Result<String, CallError> {
    if !entered.waits {
        return episodes.call(entered.id, tool, arguments);
    }
    let (episodes, tool, arguments) = (Arc::clone(episodes), tool.to_owned(), arguments.to_owned());
    blocking(move || Ok(episodes.call(entered.id, &tool, &arguments))).await?
}

/// Work that reads files, visits whole states or waits, beside the threads that answer calls.
pub(crate) async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, ServeError> + Send + 'static,
) -> Result<R, ServeError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(ServeError::Engine("the work stopped half-way".to_owned())),
    }
}

fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return Err(wrong_token()) };
    let text = value.to_str().map_err(|_| wrong_token())?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token.trim()),
        _ => Err(wrong_token()),
    }
}

fn wrong_token() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "a bearer token is missing or not known here")
}

/// Refuses requests that are addressed to a foreign name or come from a foreign page: a page whose name was rebound to this
/// machine is both.
pub(crate) async fn only_known_hosts(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let known = |name: &str| is_known(&app.allowed_hosts, name);
    let headers = request.headers();
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok().and_then(host_of),
        (None, None) => request.uri().host(),
        _ => None,
    };
    let from_known = |origin: &HeaderValue| {
        let uri = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
        uri.is_some_and(|uri| uri.scheme().is_some() && uri.host().is_some_and(known))
    };
    if !host.is_some_and(known) || !headers.get_all(header::ORIGIN).iter().all(from_known) {
        let sentence = "requests must be addressed to this machine, and come from no foreign page";
        return Problem::new(StatusCode::FORBIDDEN, "foreign_host", sentence).into_response();
    }
    next.run(request).await
}

/// The name in a Host header, without its port.
pub(crate) fn host_of(host: &str) -> Option<&str> {
    let name = match host.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']')?;
            return is_port(port).then_some(name);
        }
        None => host.split_once(':').map_or((host, ""), |(name, _)| (name, &host[name.len()..])),
    };
    is_port(name.1).then_some(name.0)
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}

pub(crate) fn is_known(allowed: &[String], name: &str) -> bool {
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback
        || bare.eq_ignore_ascii_case("localhost")
        || allowed.iter().any(|known| known.eq_ignore_ascii_case(bare))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_and_allowed_names_are_known() {
        let allowed = ["bench.example".to_owned()];
        let known = |host: &str| host_of(host).is_some_and(|name| is_known(&allowed, name));
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.9.9.9", "[::1]:9", "[::1]", "Bench.Example:1"]
        {
            assert!(known(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com",
            "127.0.0.1.example.com",
            "localhost:80:80",
            "localhost:x",
            "[::1",
            "[::1]x",
            "10.0.0.1",
            "0.0.0.0",
            "evil@localhost",
            "localhost@evil",
        ] {
            assert!(!known(host), "{host}");
        }
    }
}
