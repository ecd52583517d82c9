//! The HTTP server around [`Episodes`]: the control plane and the agent plane, on one port or two, the loop that takes connections,
//! and the timers that close idle episodes and connections that take too long.

use crate::{
    Episodes, Options, ServerError, Token, agent, control,
    crowd::{self, AtFirst, Crowd, Seat, Wire},
    faces,
    gate::{App, Problem, only_known_hosts},
    mcp,
    metrics::{Plane, Refused},
    nemo,
};
use axum::{Router, http::StatusCode, middleware};
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use std::{
    convert::Infallible,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::watch,
    task::JoinSet,
    time,
};

/// How long a stopping server waits for requests under way.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many connections the system keeps until they are taken. Where it allows fewer, it takes fewer.
const BACKLOG: u32 = 4_096;
/// The most bytes of a connection's buffer, which the head of a request must fit into.
const BUFFER: usize = 64 << 10;

/// A running server. It stops when it is dropped.
pub struct Server {
    episodes: Arc<Episodes>,
    control: SocketAddr,
    agents: SocketAddr,
    nemo: Option<SocketAddr>,
    token: Token,
    crowd: Arc<Crowd>,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Server {
    /// Binds and begins to serve.
    pub async fn start(options: Options) -> Result<Server, ServerError> {
        let Options { settings, bind: address, bind_agents, bind_nemo, .. } = options;
        let Options { control_token, allowed_hosts, largest_body, crowd, .. } = options;
        let token = match control_token {
            Some(token) => token,
            None if address.ip().is_loopback() => Token::draw("")?,
            None => return Err(ServerError::NeedsToken(address)),
        };
        let crowd = Crowd::new(crowd);
        let (control_listener, control_address) = bind(address).await?;
        let agent_listener = match bind_agents {
            Some(address) => Some(bind(address).await?),
            None => None,
        };
        let nemo_listener = match bind_nemo {
            Some(address) => Some(bind(address).await?),
            None => None,
        };
        let nemo = nemo_listener.as_ref().map(|(_, address)| *address);
        let agent_address = agent_listener.as_ref().map_or(control_address, |(_, address)| *address);
        let agent_routes = agent::routes().merge(faces::routes(&settings.faces));
        let episodes = Arc::new(Episodes::new(settings));
        let app = Arc::new(App {
            episodes: Arc::clone(&episodes),
            control_lock: token.lock(),
            allowed_hosts,
            largest_body,
            here: format!("http://{}", reachable(control_address)),
            agents: format!("http://{}", reachable(agent_address)),
            mcp: mcp::service(largest_body),
            crowd: Arc::clone(&crowd),
            control_share: Arc::default(),
        });
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut serve = |listener: TcpListener, routes: Router<Arc<App>>, plane| {
            tasks.spawn(listen(listener, finish(routes, &app), plane, Arc::clone(&crowd), stopped.clone()));
        };
        match agent_listener {
            Some((listener, _)) => {
                serve(listener, agent_routes, Plane::Agent);
                serve(control_listener, control::routes(), Plane::Control);
            }
            None => serve(control_listener, control::routes().merge(agent_routes), Plane::Control),
        }
        if let Some((listener, _)) = nemo_listener {
            serve(listener, nemo::routes(), Plane::Nemo);
        }
        tasks.spawn(reap(Arc::clone(&episodes), stopped.clone()));
        tasks.spawn(watch(Arc::clone(&crowd), stopped));
        Ok(Server { episodes, control: control_address, agents: agent_address, nemo, token, crowd, stop, tasks })
    }

    /// Where the control plane listens.
    pub fn control_address(&self) -> SocketAddr {
        self.control
    }

    /// Where the agent plane listens.
    pub fn agent_address(&self) -> SocketAddr {
        self.agents
    }

    /// Where the wire of NeMo Gym listens, if it was asked for.
    pub fn nemo_address(&self) -> Option<SocketAddr> {
        self.nemo
    }

    /// The token of the control plane.
    pub fn control_token(&self) -> &Token {
        &self.token
    }

    /// The episodes it serves.
    pub fn episodes(&self) -> &Arc<Episodes> {
        &self.episodes
    }

    /// How often nobody could connect for long, because this process had as many files open as it may. Whoever wanted to was not heard,
    /// and is not to blame for what it did not do.
    pub fn turned_away(&self) -> u64 {
        self.crowd.metrics().all_turned_away()
    }

    /// Takes no further requests, waits a moment for those under way, and ends.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        let _ = time::timeout(PATIENCE, all).await;
        self.tasks.shutdown().await;
    }

    /// Serves until somebody ends the program or this future is dropped.
    pub async fn wait(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

pub(crate) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServerError> {
    let listener = listening(address).map_err(|why| ServerError::Bind { address, why })?;
    let bound = listener.local_addr().map_err(|why| ServerError::Bind { address, why })?;
    Ok((listener, bound))
}

fn listening(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// An address that can be called: a server on every interface is found on loopback too.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip().is_unspecified() {
        true => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port()),
        false => address,
    }
}

pub(crate) fn finish(routes: Router<Arc<App>>, app: &Arc<App>) -> Router {
    let none = async || Problem::new(StatusCode::NOT_FOUND, "no_such_route", "there is nothing here");
    let other = async || Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "not with this method");
    routes
        .fallback(none)
        .method_not_allowed_fallback(other)
        .layer(middleware::from_fn_with_state(Arc::clone(app), only_known_hosts))
        .with_state(Arc::clone(app))
}

/// Where connections come from.
pub(crate) trait Door: Send + 'static {
    /// What is read from and written to.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The next one.
    fn accept(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// What is done when something is first heard on it. Of those that say nothing there may be many, and they cost no more than a place.
    fn at_first(&self) -> AtFirst<Self::Stream> {
        None
    }
}

impl Door for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = TcpListener::accept(self).await?;
        // Answers are small and awaited; nothing is gained by gathering them.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}

/// Takes connections and answers on them, until it is stopped; then those under way are waited for.
pub(crate) async fn listen(
    door: impl Door,
    routes: Router,
    plane: Plane,
    crowd: Arc<Crowd>,
    mut stopped: watch::Receiver<bool>,
) {
    let routes = TowerToHyperService::new(routes);
    let mut tasks = JoinSet::new();
    let mut failing = None;
    loop {
        let accepted = tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => break,
            Some(_) = tasks.join_next() => continue,
            accepted = door.accept() => accepted,
        };
        match accepted {
            Ok(stream) => {
                failing = None;
                let seat = crowd.seat().await;
                let line = Arc::clone(seat.line());
                line.served_by(tasks.spawn(attend(stream, door.at_first(), routes.clone(), plane, seat)));
            }
            Err(error) => crowd.not_accepted(&error, *failing.get_or_insert_with(Instant::now)).await,
        }
    }
    drop(door);
    while !tasks.is_empty() {
        crowd.close_resting();
        let _ = time::timeout(crowd::TICK, tasks.join_next()).await;
    }
}

/// Answers on one connection until it ends. Deadlines are not hyper's own, which would draw a timer for each request and know no
/// difference between a slow head and a client that rests.
async fn attend<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    at_first: AtFirst<S>,
    routes: TowerToHyperService<Router>,
    plane: Plane,
    seat: Seat,
) {
    let (line, routes) = (seat.line(), &routes);
    let answer = service_fn(move |request: Request<Incoming>| {
        let line = Arc::clone(line);
        async move {
            line.unblocked().await;
            line.asked(plane);
            let begun = Instant::now();
            let Ok(response) = routes.call(request).await;
            line.answered();
            let metrics = line.crowd().metrics();
            metrics.answered(line.plane(), response.status().as_u16(), begun.elapsed());
            if let Some(Refused(word)) = response.extensions().get() {
                metrics.refused(word);
            }
            Ok::<_, Infallible>(response)
        }
    });
    let mut http = http1::Builder::new();
    http.header_read_timeout(None).max_buf_size(BUFFER);
    let wire = Wire::new(stream, Arc::clone(line), at_first);
    let connection = http.serve_connection(TokioIo::new(wire), answer);
    // A failed connection ends by itself.
    let _ = crowd::on(Arc::clone(line), connection).await;
}

async fn watch(crowd: Arc<Crowd>, mut stopped: watch::Receiver<bool>) {
    tokio::select! {
        _ = stopped.wait_for(|stop| *stop) => {}
        () = crowd.watch() => {}
    }
}

async fn reap(episodes: Arc<Episodes>, mut stopped: watch::Receiver<bool>) {
    let every = (episodes.settings().idle / 4).clamp(Duration::from_millis(10), Duration::from_secs(30));
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            () = time::sleep(every) => { episodes.reap(); }
        }
    }
}
