//! The control plane of a world of one episode: a socket of the file system. Whoever asks must be the user of the world, or root; the
//! kernel says who asks.

use super::peers::Callers;
use crate::{
    EpisodeId, Episodes, ServeError, ServerError,
    gate::{Problem, blocking, json},
};
use axum::{
    Router,
    extract::{ConnectInfo, Request, connect_info::Connected},
    http::{Method, StatusCode},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::{get, post},
    serve::IncomingStream,
};
use http_body_util::{BodyExt as _, Empty};
use hyper::{body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::json as object;
use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::net::{UnixListener, UnixStream};

type Answer = Result<Response, Problem>;

/// What the socket answers about.
pub(super) struct Control {
    episodes: Arc<Episodes>,
    id: EpisodeId,
    task: String,
    callers: Callers,
    /// What was left, once it is over.
    ended: Mutex<Option<Arc<Ended>>>,
}

/// What an episode left.
struct Ended {
    about: String,
    trace: Vec<u8>,
    snapshot: Vec<u8>,
}

impl Control {
    pub(super) fn new(episodes: Arc<Episodes>, id: EpisodeId, task: String, callers: Callers) -> Arc<Control> {
        Arc::new(Control { episodes, id, task, callers, ended: Mutex::default() })
    }

    /// Ends the episode, if it is not over: no call comes after what is read here.
    fn end(&self) -> Result<Arc<Ended>, ServeError> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ended) = &*ended {
            return Ok(Arc::clone(ended));
        }
        let episode = self.episodes.end(self.id)?.ok_or(ServeError::Broken)?;
        let about = object!({ "version": 1, "task": self.task, "callers": self.callers.all() }).to_string();
        let left = Ended { about, trace: episode.trace()?.to_bytes(), snapshot: episode.state_bytes()? };
        Ok(Arc::clone(ended.insert(Arc::new(left))))
    }
}

/// Makes the socket in a folder that nobody else can enter.
pub(super) fn bind(path: &Path) -> Result<UnixListener, ServerError> {
    let failed = |why| ServerError::Socket { path: path.to_owned(), why };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    own_folder(folder).map_err(failed)?;
    if std::os::unix::net::UnixStream::connect(path).is_err() && fs::symlink_metadata(path).is_ok() {
        // What a world left that was ended by force.
        fs::remove_file(path).map_err(failed)?;
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

/// Makes a folder that only its user can enter, or sees that it is one.
fn own_folder(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other,
    }
    let about = fs::symlink_metadata(folder)?;
    let is_own = about.is_dir() && about.uid() == nix::unistd::geteuid().as_raw() && about.mode() & 0o077 == 0;
    if is_own {
        return Ok(());
    }
    let sentence = format!("{} is no folder of this user that only this user can enter", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, sentence))
}

/// Who is at the other end of the socket.
#[derive(Clone, Copy)]
struct Peer(Option<u32>);

impl Connected<IncomingStream<'_, UnixListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Peer {
        Peer(stream.io().peer_cred().ok().map(|peer| peer.uid()))
    }
}

async fn only_owner(ConnectInfo(Peer(user)): ConnectInfo<Peer>, request: Request, next: Next) -> Response {
    let own = nix::unistd::geteuid().as_raw();
    match user {
        Some(user) if user == own || user == 0 => next.run(request).await,
        _ => Problem::new(StatusCode::FORBIDDEN, "not_for_agents", "this socket is for who runs the world")
            .into_response(),
    }
}

pub(super) async fn listen(listener: UnixListener, control: Arc<Control>) {
    let with = |answer: fn(&Ended) -> Vec<u8>| {
        let control = Arc::clone(&control);
        get(move || read(Arc::clone(&control), answer))
    };
    let task = object!({ "task": control.task }).to_string();
    let ending = Arc::clone(&control);
    let routes = Router::new()
        .route("/task", get(async move || json(StatusCode::OK, task.clone())))
        .route("/end", post(move || end(Arc::clone(&ending))))
        .route("/about", with(|ended| ended.about.clone().into_bytes()))
        .route("/trace", with(|ended| ended.trace.clone()))
        .route("/snapshot", with(|ended| ended.snapshot.clone()))
        .layer(middleware::from_fn(only_owner));
    // Failed connections end by themselves; the loop itself does not fail.
    let _ = axum::serve(listener, routes.into_make_service_with_connect_info::<Peer>()).await;
}

async fn end(control: Arc<Control>) -> Answer {
    blocking(move || control.end().map(drop)).await?;
    Ok(json(StatusCode::OK, "{}"))
}

async fn read(control: Arc<Control>, answer: fn(&Ended) -> Vec<u8>) -> Answer {
    let ended = control.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let alive = || Problem::new(StatusCode::CONFLICT, "not_over", "the episode is not over; POST /end first");
    Ok(json(StatusCode::OK, answer(&*ended.ok_or_else(alive)?)))
}

/// Asks the socket of a world.
pub(super) async fn ask(socket: &Path, method: Method, path: &str) -> io::Result<(StatusCode, Bytes)> {
    let stream = UnixStream::connect(socket).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // It ends with the sender.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    let request = hyper::Request::builder().method(method).uri(path).header("host", "localhost");
    let request = request.body(Empty::<Bytes>::new()).map_err(io::Error::other)?;
    let response = sender.send_request(request).await.map_err(io::Error::other)?;
    let status = response.status();
    Ok((status, response.into_body().collect().await.map_err(io::Error::other)?.to_bytes()))
}
