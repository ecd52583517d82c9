//! What a server is told when it starts: where tasks are, which engines and faces there are, what may be read, and the
//! limits.

use crate::Token;
use benchwright_catalog::Catalog;
use benchwright_world::{Engines, Face};
use std::{
    borrow::Cow,
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

/// How a text is rid of what no episode may keep, such as secrets that a program was handed. Nothing is taken out by default.
#[derive(Clone, Default)]
pub struct KeepOut(Option<Arc<Clean>>);

/// What makes a text clean.
type Clean = dyn Fn(&str) -> String + Send + Sync;

impl KeepOut {
    /// By a function, which is given names of tools and the JSON of arguments.
    pub fn by(clean: impl Fn(&str) -> String + Send + Sync + 'static) -> KeepOut {
        KeepOut(Some(Arc::new(clean)))
    }

    /// The text without it.
    pub(crate) fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.as_ref().map_or(Cow::Borrowed(text), |clean| Cow::Owned(clean(text)))
    }
}

impl fmt::Debug for KeepOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "KeepOut(…)" } else { "KeepOut" })
    }
}

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
    /// What is taken out of every call before the world is asked, so that nothing keeps it.
    pub keep_out: KeepOut,
    /// The most rows that an episode may grow by. One with long texts counts as several.
    pub most_rows: u64,
    /// The most bytes that all episodes together may hold, estimated from their rows and calls.
    pub most_memory: u64,
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
            keep_out: KeepOut::default(),
            most_rows: 200_000,
            most_memory: 2 << 30,
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

/// How many may be connected, how long each may take, and how much they may have on the way at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CrowdLimits {
    /// The most connections; fewer where the system lets the process open fewer files. The least used gives way to a new one.
    pub connections: usize,
    /// The most of them that have shown no token yet, and never more than half of all. The oldest gives way to a new one.
    pub strangers: usize,
    /// The most of one episode's token.
    pub of_one_token: usize,
    /// How long the head of a request may take, from its first byte; and how long a new connection may be silent. Each has up to as long
    /// again, so that those who came together do not come back together.
    pub head: Duration,
    /// How long a body may take, and a second more for each 64 KiB of it.
    pub body: Duration,
    /// How long a client may take to read an answer, and a second more for each 64 KiB of it.
    pub answer: Duration,
    /// How long a connection may rest between two requests.
    pub rest: Duration,
    /// The most bytes of bodies that are being read.
    pub bodies: usize,
    /// The most of them that come with one episode's token.
    pub bodies_of_one_token: usize,
    /// How long a body waits for room beside others of its token before it is refused. Whoever leaves bodies unfinished waits, and
    /// takes nothing meanwhile.
    pub room: Duration,
    /// The most bytes of snapshots and traces that are made or sent. One more waits.
    pub documents: usize,
}

impl Default for CrowdLimits {
    fn default() -> CrowdLimits {
        CrowdLimits {
            connections: 16_384,
            strangers: 8_192,
            of_one_token: 64,
            head: Duration::from_secs(10),
            body: Duration::from_secs(20),
            answer: Duration::from_secs(30),
            rest: Duration::from_secs(300),
            bodies: 256 << 20,
            bodies_of_one_token: 8 << 20,
            room: Duration::from_secs(5),
            documents: 512 << 20,
        }
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
    /// The token of the control plane; with none, one is drawn, which is not enough where others than this machine reach it.
    pub control_token: Option<Token>,
    /// Names of hosts, besides loopback, that requests may be addressed to or come from.
    pub allowed_hosts: Vec<String>,
    /// The largest body of a request, in bytes.
    pub largest_body: usize,
    /// How many may come at a time, and how long they may take.
    pub crowd: CrowdLimits,
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
            crowd: CrowdLimits::default(),
        }
    }
}
