//! A small HTTP client for one URL that keeps its connection, for the proxy that connects an MCP client on stdio with an
//! episode.

use axum::http::{HeaderName, HeaderValue, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use std::{io, time::Duration};
use tokio::{net::TcpStream, time};

/// How long a server may take to let somebody in.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("{0} is no plain http:// address")]
    Url(String),
    #[error("cannot reach {0}: {1}")]
    Connect(String, io::Error),
    #[error(transparent)]
    Http(#[from] hyper::Error),
    #[error(transparent)]
    Request(#[from] axum::http::Error),
}

/// A client of one URL.
pub(crate) struct Client {
    authority: String,
    path: String,
    token: HeaderValue,
    sender: Option<http1::SendRequest<Full<Bytes>>>,
}

impl Client {
    pub(crate) fn new(url: &str, token: &str) -> Result<Client, ClientError> {
        let wrong = || ClientError::Url(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http")).ok_or_else(wrong)?;
        let mut token = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| wrong())?;
        token.set_sensitive(true);
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Client { authority: authority.to_string(), path, token, sender: None })
    }

    /// Posts a body. A request that may have arrived is never sent twice.
    pub(crate) async fn post(
        &mut self,
        headers: &[(HeaderName, HeaderValue)],
        body: String,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let mut request = Request::post(&self.path)
            .header(header::HOST, &self.authority)
            .header(header::AUTHORIZATION, &self.token)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(body)))?;
        let mut sender = self.connected().await?;
        let response = sender.send_request(request).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        self.sender = Some(sender);
        Ok((status, bytes))
    }

    async fn connected(&mut self) -> Result<http1::SendRequest<Full<Bytes>>, ClientError> {
        if let Some(mut sender) = self.sender.take()
            && sender.ready().await.is_ok()
        {
            return Ok(sender);
        }
        let place = match self.authority.rsplit_once(':') {
            Some((_, port)) if port.parse::<u16>().is_ok() => self.authority.clone(),
            _ => format!("{}:80", self.authority),
        };
        let unreachable = |error| ClientError::Connect(place.clone(), error);
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        let connected = time::timeout(PATIENCE, TcpStream::connect(&place)).await.map_err(late);
        let stream = connected.and_then(|stream| stream).map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // It ends with the sender.
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(sender)
    }
}
