//! One episode at a fixed address, for runners that give an agent a machine of its own: its MCP and its tools need no token, since some
//! runners drop headers, and whoever reaches the address is the agent. The control plane is a socket in a folder that only the user
//! of the world and root can enter, and only they are answered.

mod collect;
mod peers;
mod socket;
mod start;

pub use collect::{Collected, collect, read_collected};
pub use start::{Starter, ready};

use crate::{
    CrowdLimits, EpisodeId, Episodes, ServerError, Settings, Start, Token,
    crowd::{AtFirst, Crowd},
    files,
    gate::{self, App, At, Problem, json},
    mcp,
    metrics::Plane,
    openapi,
    server::{Door, bind, finish, listen},
};
use axum::{
    Router,
    body::Body,
    extract::Request,
    http::StatusCode,
    response::{IntoResponse as _, Response},
    routing::{any, get, post},
};
use std::{io, net::SocketAddr, path::PathBuf, sync::Arc};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// The port of the agent where nobody says another.
pub const ONE_PORT: u16 = 8765;
/// The control socket where nobody says another.
pub const ONE_SOCKET: &str = "/run/benchwright/control.sock";

/// The most connections of the agent, far below the 1,024 open files that a process has everywhere: whoever took all files would
/// keep the control socket from being answered, and a trial that is lost could so be made one without a verdict.
const MOST_CONNECTIONS: usize = 256;

type Answer = Result<Response, Problem>;

/// What a world of one episode is told.
#[derive(Clone, Debug)]
pub struct OneOptions {
    /// How the episode is begun, and what it may cost.
    pub settings: Settings,
    /// The id of its task, whose open part is in the folder of the settings.
    pub task: String,
    /// Where the agent finds it.
    pub bind: SocketAddr,
    /// Where the control socket is made.
    pub socket: PathBuf,
    /// The largest body of a request, in bytes.
    pub largest_body: usize,
}

/// A running world of one episode. It stops when it is dropped.
pub struct One {
    address: SocketAddr,
    tasks: JoinSet<()>,
    _stop: watch::Sender<bool>,
}

/// The agent's door, at which it is noted who calls.
struct Noted {
    listener: TcpListener,
    callers: peers::Callers,
}

impl Door for Noted {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<TcpStream> {
        Door::accept(&self.listener).await
    }

    fn at_first(&self) -> AtFirst<TcpStream> {
        let callers = self.callers.clone();
        Some(Box::new(move |stream| callers.note(stream)))
    }
}

/// What the routes of the one episode share.
struct Seat {
    app: Arc<App>,
    id: EpisodeId,
}

impl One {
    /// Begins the episode, binds and serves.
    pub async fn start(options: OneOptions) -> Result<One, ServerError> {
        let OneOptions { settings, task, bind: wanted, socket, largest_body } = options;
        let (listener, address) = bind(wanted).await?;
        let base = format!("http://{address}");
        let episodes = Arc::new(Episodes::new(settings));
        let id = episodes.create(&Start::task(&*task))?.id;
        let most = MOST_CONNECTIONS;
        let crowd = Crowd::new(CrowdLimits { connections: most, of_one_token: most, ..CrowdLimits::default() });
        let app = Arc::new(App {
            episodes: Arc::clone(&episodes),
            // Nobody is given this one: control is by the socket.
            control_lock: Token::draw("")?.lock(),
            allowed_hosts: Vec::new(),
            largest_body,
            here: base.clone(),
            agents: base,
            mcp: mcp::service(largest_body),
            crowd: Arc::clone(&crowd),
            control_share: Arc::default(),
        });
        let callers = peers::Callers::default();
        let control = socket::Control::new(episodes, id, task, callers.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(socket::listen(socket::bind(&socket)?, control));
        let routes = finish(routes(&Arc::new(Seat { app: Arc::clone(&app), id })), &app);
        let (stop, stopped) = watch::channel(false);
        tasks.spawn(listen(Noted { listener, callers }, routes, Plane::Agent, Arc::clone(&crowd), stopped));
        tasks.spawn(crowd.watch());
        Ok(One { address, tasks, _stop: stop })
    }

    /// Where the agent finds it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until somebody ends the program or this future is dropped.
    pub async fn wait(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

fn routes(seat: &Arc<Seat>) -> Router<Arc<App>> {
    let seats = || Arc::clone(seat);
    let (for_mcp, for_tools, for_list, for_files, for_file) = (seats(), seats(), seats(), seats(), seats());
    Router::new()
        .route("/health", get(async || json(StatusCode::OK, "{\"status\":\"ok\"}")))
        .route("/mcp", any(move |request: Request| over_mcp(Arc::clone(&for_mcp), request)))
        .route(
            "/tools/{name}",
            post(move |At(name): At<String>, request: Request| tool(Arc::clone(&for_tools), name, request)),
        )
        .route("/openapi.json", get(move |request: Request| described(Arc::clone(&for_list), request)))
        .route("/files", get(move |request: Request| listed(Arc::clone(&for_files), request)))
        .route(
            "/files/{*path}",
            get(move |At(path): At<String>, request: Request| file(Arc::clone(&for_file), path, request)),
        )
}

async fn over_mcp(seat: Arc<Seat>, request: Request) -> Answer {
    let (mut parts, body) = request.into_parts();
    let (entered, body) = seat.app.without_token(seat.id, body).await?;
    let (episodes, crowd) = (Arc::clone(&seat.app.episodes), Arc::clone(&seat.app.crowd));
    parts.extensions.insert(mcp::Seat { episodes, entered, crowd });
    Ok(seat.app.mcp.handle(Request::from_parts(parts, Body::from(body))).await.into_response())
}

async fn tool(seat: Arc<Seat>, name: String, request: Request) -> Answer {
    let (entered, body) = seat.app.without_token(seat.id, request.into_body()).await?;
    let arguments = gate::text(body)?;
    Ok(json(StatusCode::OK, gate::call(&seat.app.episodes, entered, &name, &arguments).await?))
}

async fn listed(seat: Arc<Seat>, request: Request) -> Answer {
    let (entered, _) = seat.app.without_token(seat.id, request.into_body()).await?;
    files::listed(&seat.app.episodes, entered.id).await
}

async fn file(seat: Arc<Seat>, path: String, request: Request) -> Answer {
    let (entered, _) = seat.app.without_token(seat.id, request.into_body()).await?;
    files::sent(&seat.app.episodes, entered.id, path).await
}

async fn described(seat: Arc<Seat>, request: Request) -> Answer {
    let (entered, _) = seat.app.without_token(seat.id, request.into_body()).await?;
    let world = seat.app.episodes.world(entered.id)?;
    Ok(json(StatusCode::OK, openapi::of_tools(&world, &seat.app.agents).to_string()))
}
