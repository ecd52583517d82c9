//! Pages for a browser on this machine: what a function says stands at a path is answered, and nothing else can be asked. It listens on
//! loopback alone and hears nobody who came under another name, so that no page from elsewhere can read these.

use crate::{
    ServerError,
    gate::{host_of, is_known},
};
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use std::{net::SocketAddr, sync::Arc};
use tokio::net::TcpListener;

/// What stands at a path: a page, or nothing.
pub type Answer = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Pages that are shown.
pub struct Shown {
    listener: TcpListener,
    address: SocketAddr,
}

impl Shown {
    /// Listens on a port of loopback; 0 for one that is free.
    pub async fn bind(port: u16) -> Result<Shown, ServerError> {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let failed = |why: std::io::Error| ServerError::Bind { address, why };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Shown { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until the process ends.
    pub async fn serve(self, answer: Arc<Answer>) -> std::io::Result<()> {
        let routes = Router::new().fallback(handle).with_state(answer);
        axum::serve(self.listener, routes).await
    }
}

/// Whether a request came under a name of this machine's own.
fn is_here(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    host_of(host).is_some_and(|name| is_known(&[], name))
}

async fn handle(State(answer): State<Arc<Answer>>, request: Request) -> Response {
    if !is_here(request.headers()) {
        return told(
            StatusCode::FORBIDDEN,
            "only 127.0.0.1 and localhost are answered".to_owned(),
            "text/plain; charset=utf-8",
        );
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return told(StatusCode::METHOD_NOT_ALLOWED, "pages are only read".to_owned(), "text/plain; charset=utf-8");
    }
    let path = request.uri().path().trim_start_matches('/').to_owned();
    // Reading records and making calls again takes its time.
    match tokio::task::spawn_blocking(move || answer(&path)).await {
        Ok(Some(page)) => told(StatusCode::OK, page, "text/html; charset=utf-8"),
        Ok(None) => told(StatusCode::NOT_FOUND, "there is no such page".to_owned(), "text/plain; charset=utf-8"),
        Err(_) => told(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the page could not be made".to_owned(),
            "text/plain; charset=utf-8",
        ),
    }
}

fn told(status: StatusCode, body: String, kind: &'static str) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_heard() {
        let heard =
            |host: &'static str| is_here(&HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))]));
        for host in ["localhost", "localhost:80", "127.0.0.1:8123", "[::1]:9", "[::1]"] {
            assert!(heard(host), "{host}");
        }
        for host in ["", "example.org", "localhost.example.org:80", "127.0.0.1.example.org", "evil:localhost"] {
            assert!(!heard(host), "{host}");
        }
        assert!(!is_here(&HeaderMap::new()));
    }
}
