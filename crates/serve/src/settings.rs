//! What a server is told when it starts: where tasks are, which engines and faces there are, what may be read, and the
//! limits.

use crate::Token;
use benchwright_catalog::Catalog;
use benchwright_world::{Engines, Face};
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

/// What the episodes of a program may be and cost.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the families of tasks are found, whose checks grading needs.
    pub catalog: Catalog,
    /// What episodes run on. The first is taken where a request names none.
    pub engines: Engines,
    /// Further wires that episodes are reached by, where they fit.
    pub faces: Vec<Arc<dyn Face>>,
    /// The folder of tasks, in the form that `Store` writes.
    pub tasks: Option<PathBuf>,
    /// Whether sealed files may be read, which grading needs.
    pub may_read_sealed: bool,
    /// The time without a call after which an episode is closed.
    pub idle: Duration,
    /// The most episodes that live at a time.
    pub most_episodes: usize,
    /// The most worlds that are kept for further episodes.
    pub most_worlds: usize,
    /// The most calls of an episode whose task does not say.
    pub calls: u32,
    /// The tools of one page of MCP's list. Some clients read the first page only, so it holds a whole domain.
    pub tools_at_once: usize,
}

impl Settings {
    /// The usual settings over the domains of a catalogue, with the engine that it brings.
    pub fn of(catalog: Catalog) -> Settings {
        Settings {
            engines: Engines::of(catalog.engine()),
            catalog,
            faces: Vec::new(),
            tasks: None,
            may_read_sealed: false,
            idle: Duration::from_secs(30 * 60),
            most_episodes: 20_000,
            most_worlds: 64,
            calls: 100_000,
            tools_at_once: 500,
        }
    }
}

impl Default for Settings {
    /// The usual settings over the domains of the program.
    fn default() -> Settings {
        Settings::of(Catalog::built_in())
    }
}

/// What a server is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// How episodes are begun, and what they may cost.
    pub settings: Settings,
    /// Where the control plane listens. Port 0 takes a free one.
    pub bind: SocketAddr,
    /// Where the agent plane listens; with none, where the control plane does.
    pub bind_agents: Option<SocketAddr>,
    /// Where the wire of NeMo Gym listens; with none, nowhere.
    pub bind_nemo: Option<SocketAddr>,
    /// The token of the control plane; with none, one is drawn.
    pub control_token: Option<Token>,
    /// Names of hosts, besides loopback, that requests may be addressed to or come from.
    pub allowed_hosts: Vec<String>,
    /// The largest body of a request, in bytes.
    pub largest_body: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            settings: Settings::default(),
            bind: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            bind_agents: None,
            bind_nemo: None,
            control_token: None,
            allowed_hosts: Vec::new(),
            largest_body: 1 << 20,
        }
    }
}
