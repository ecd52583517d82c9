//! The HTTP server around [`Episodes`]: the control plane and the agent plane, on one port or two, and the timer that
//! closes idle episodes.

use crate::{
    Episodes, Options, ServerError, Token, agent, control, faces,
    gate::{App, Problem, only_known_hosts},
    mcp, nemo,
};
use axum::{Router, http::StatusCode, middleware, serve::ListenerExt as _};
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{net::TcpListener, sync::watch, task::JoinSet, time};

/// How long a stopping server waits for requests under way.
const PATIENCE: Duration = Duration::from_secs(2);

/// A running server. It stops when it is dropped.
pub struct Server {
    episodes: Arc<Episodes>,
    control: SocketAddr,
    agents: SocketAddr,
    nemo: Option<SocketAddr>,
    token: Token,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Server {
    /// Binds and begins to serve.
    pub async fn start(options: Options) -> Result<Server, ServerError> {
        let Options { settings, bind: address, bind_agents, bind_nemo, control_token, allowed_hosts, largest_body } =
            options;
        let token = match control_token {
            Some(token) => token,
            None => Token::draw("")?,
        };
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
        });
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        match agent_listener {
            Some((listener, _)) => {
                tasks.spawn(listen(listener, finish(agent_routes, &app), stopped.clone()));
                tasks.spawn(listen(control_listener, finish(control::routes(), &app), stopped.clone()));
            }
            None => {
                let both = control::routes().merge(agent_routes);
                tasks.spawn(listen(control_listener, finish(both, &app), stopped.clone()));
            }
        }
        if let Some((listener, _)) = nemo_listener {
            tasks.spawn(listen(listener, finish(nemo::routes(), &app), stopped.clone()));
        }
        tasks.spawn(reap(Arc::clone(&episodes), stopped));
        Ok(Server { episodes, control: control_address, agents: agent_address, nemo, token, stop, tasks })
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
    let failed = |why| ServerError::Bind { address, why };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
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

async fn listen(listener: TcpListener, routes: Router, mut stopped: watch::Receiver<bool>) {
    // Answers are small and awaited; nothing is gained by gathering them.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let until = async move {
        let _ = stopped.wait_for(|stop| *stop).await;
    };
    // Failed connections end by themselves; the loop itself does not fail.
    let _ = axum::serve(listener, routes).with_graceful_shutdown(until).await;
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
