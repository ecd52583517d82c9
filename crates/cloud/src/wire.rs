//! The requests of `object_store`, made by `ureq`, which the program has anyway; so no second client and no second TLS come along. Each takes a
//! thread of the runtime that may block. What a service answers is read piece by piece, so that whoever wants no more of it stops it.

use crate::fault::{Trouble, code};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use object_store::{
    ClientConfigKey, ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    },
};
use std::{
    io::Read,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot},
    task::spawn_blocking,
};
use ureq::{
    Agent,
    http::{Method, Request, Response, request::Parts},
    tls::{PemItem, RootCerts, TlsConfig, parse_pem},
};

/// How long is waited for a connection, and for each piece that is sent or read.
const CONNECT: Duration = Duration::from_secs(10);
const EACH: Duration = Duration::from_secs(60);
/// How many connections are kept for the next request.
const KEPT: usize = 32;
/// How many bytes are read at a time, and how many such pieces wait for their reader.
const PIECE: usize = 256 << 10;
const AHEAD: usize = 4;
/// The most that is read of a refusal.
const REFUSAL: u64 = 64 << 10;
/// Where clouds tell their own machines who they are.
const METADATA: [&str; 3] = ["169.254.169.254", "169.254.170.2", "metadata.google.internal"];

#[derive(Debug)]
pub(crate) struct Wire;

impl HttpConnector for Wire {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allows_http = options.get_config_value(&ClientConfigKey::AllowHttp);
        let allows_http =
            allows_http.is_some_and(|value| matches!(&*value.to_ascii_lowercase(), "true" | "1" | "yes" | "on"));
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(!allows_http)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(KEPT)
            .max_idle_connections_per_host(KEPT)
            .timeout_connect(Some(CONNECT))
            .timeout_per_read(Some(EACH))
            .timeout_per_write(Some(EACH))
            .tls_config(TlsConfig::builder().root_certs(roots()?).build())
            .build();
        Ok(HttpClient::new(Client(config.new_agent())))
    }
}

/// Who is trusted: those whom browsers trust, or those of the file that `SSL_CERT_FILE` names.
fn roots() -> object_store::Result<RootCerts> {
    let Some(path) = std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty()) else {
        return Ok(RootCerts::WebPki);
    };
    let bad = |why: String| object_store::Error::Generic { store: "SSL_CERT_FILE", source: why.into() };
    let pem = std::fs::read(path).map_err(|why| bad(why.to_string()))?;
    let mut roots = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(root) = item.map_err(|why| bad(why.to_string()))? {
            roots.push(root);
        }
    }
    Ok(RootCerts::from(roots))
}

#[derive(Debug)]
struct Client(Agent);

#[async_trait::async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let agent = self.0.clone();
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let (tell, told) = oneshot::channel();
        spawn_blocking(move || exchange(&agent, parts, &body, tell));
        told.await.unwrap_or_else(|_| Err(trouble(Trouble::Away("the request was given up".to_owned()))))
    }
}

fn trouble(trouble: Trouble) -> HttpError {
    // Nothing is repeated by `object_store`, so the kind does not matter.
    HttpError::new(HttpErrorKind::Unknown, trouble)
}

type Answer = Result<HttpResponse, HttpError>;

/// Sends a request, tells what it is answered, and passes the body on for as long as somebody reads it.
fn exchange(agent: &Agent, parts: Parts, body: &[u8], tell: oneshot::Sender<Answer>) {
    let (answer, mut rest) = match ask(agent, parts, body) {
        Ok(answer) => answer,
        Err(why) => return drop(tell.send(Err(trouble(why)))),
    };
    let (pieces, reader) = mpsc::channel(AHEAD);
    if tell.send(Ok(answer.map(|()| HttpResponseBody::new(Pieces(reader))))).is_err() {
        return;
    }
    loop {
        let mut piece = Vec::with_capacity(PIECE);
        let read = match rest.by_ref().take(PIECE as u64).read_to_end(&mut piece) {
            Ok(0) => return,
            Ok(_) => Ok(Bytes::from(piece)),
            Err(why) => Err(trouble(Trouble::Away(why.to_string()))),
        };
        let ended = read.is_err();
        if pieces.blocking_send(read).is_err() || ended {
            return;
        }
    }
}

type Rest = Box<dyn Read + Send>;

fn ask(agent: &Agent, parts: Parts, body: &[u8]) -> Result<(Response<()>, Rest), Trouble> {
    let is_metadata = parts.uri.host().is_some_and(|host| METADATA.contains(&host));
    let away = |why: ureq::Error| match (is_metadata, why) {
        (true, _) => Trouble::NoCredentials,
        // It would repeat the address, which may have a signature.
        (false, ureq::Error::BadUri(_)) => Trouble::Away("it is no address of a service".to_owned()),
        (false, why) => Trouble::Away(why.to_string()),
    };
    let has_body = !body.is_empty() || matches!(parts.method, Method::PUT | Method::POST);
    let answer = match has_body {
        true => agent.run(Request::from_parts(parts, body)),
        false => agent.run(Request::from_parts(parts, ())),
    };
    let (head, body) = answer.map_err(away)?.into_parts();
    let answer = Response::from_parts(head, ());
    let status = answer.status();
    // A machine without a role, or one that may not ask.
    if is_metadata && !status.is_success() {
        return Err(Trouble::NoCredentials);
    }
    if status.is_server_error() || matches!(status.as_u16(), 408 | 429) {
        return Err(Trouble::Busy(status.as_u16()));
    }
    let mut rest: Rest = Box::new(body.into_reader());
    if status.as_u16() == 404 {
        let mut text = Vec::new();
        rest.take(REFUSAL).read_to_end(&mut text).map_err(|why| Trouble::Away(why.to_string()))?;
        if matches!(code(&String::from_utf8_lossy(&text)), Some("NoSuchBucket" | "ContainerNotFound")) {
            return Err(Trouble::NoBucket);
        }
        rest = Box::new(std::io::Cursor::new(text));
    }
    Ok((answer, rest))
}

/// A body whose pieces come from another thread.
struct Pieces(mpsc::Receiver<Result<Bytes, HttpError>>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
