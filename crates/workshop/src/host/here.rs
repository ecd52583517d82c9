//! Episodes in this process, which programs outside may be let into.

use super::{Opened, failed, finished};
use crate::Error;
use benchwright_catalog::Catalog;
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_run::{Finished, HostError, Hosted, Reach, ToolCard, model::Redactor};
use benchwright_serve::{CallError, EpisodeId, Episodes, KeepOut, Options, Server, Settings, Start};
use benchwright_world::Workspace;
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

/// Longer than any trial lasts: the runner ends its episodes itself.
const IDLE: Duration = Duration::from_secs(7 * 24 * 3_600);

/// The worlds that are kept: each task is tried by several agents.
const WORLDS: usize = 2_000;

/// Episodes in this process.
pub(super) struct Here {
    episodes: Arc<Episodes>,
    /// The way in for programs outside: the server is stopped with it.
    door: Option<(Server, Runtime)>,
}

fn settings(catalog: &Catalog, tasks: &Path) -> Settings {
    let tasks = Some(tasks.to_owned());
    Settings { tasks, idle: IDLE, most_worlds: WORLDS, ..crate::engines::settings(catalog) }
}

impl Here {
    pub(super) fn alone(catalog: &Catalog, tasks: &Path) -> Here {
        Here { episodes: Arc::new(Episodes::new(settings(catalog, tasks))), door: None }
    }

    pub(super) fn served(catalog: &Catalog, tasks: &Path, secrets: &Redactor) -> Result<Here, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Serve(error.to_string()))?;
        // The control plane has a port of its own, so that agents have no address for it.
        let bind_agents = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let secrets = secrets.clone();
        let settings =
            Settings { keep_out: KeepOut::by(move |text| secrets.json_text(text)), ..settings(catalog, tasks) };
        let options = Options { settings, bind_agents, ..Options::default() };
        let server = runtime.block_on(Server::start(options)).map_err(|error| Error::Serve(error.to_string()))?;
        Ok(Here { episodes: Arc::clone(server.episodes()), door: Some((server, runtime)) })
    }

    pub(super) fn begin(&self, opened: Arc<Opened>) -> Result<Box<dyn Hosted + '_>, HostError> {
        let begun = Instant::now();
        let created = self.episodes.create(&Start::task(&*opened.task.open.id));
        let created = created.map_err(|error| failed("world")(error.to_string()))?;
        let reach = self.door.as_ref().map(|(server, _)| {
            let base = format!("http://{}/episodes/{}", server.agent_address(), created.id);
            let token = created.token.reveal().to_owned();
            Reach { mcp: format!("{base}/mcp"), tools: format!("{base}/tools"), token }
        });
        let (host, id, turned_away) = (self, created.id, self.turned_away());
        let world = begun.elapsed().as_nanos();
        Ok(Box::new(EpisodeHere { opened, host, id, reach, turned_away, is_over: false, world }))
    }

    /// How often programs outside could not connect so far.
    fn turned_away(&self) -> u64 {
        self.door.as_ref().map_or(0, |(server, _)| server.turned_away())
    }
}

/// An episode in this process. It is closed when it is dropped.
struct EpisodeHere<'h> {
    opened: Arc<Opened>,
    host: &'h Here,
    id: EpisodeId,
    reach: Option<Reach>,
    /// How often that was before it began.
    turned_away: u64,
    is_over: bool,
    /// Nanoseconds inside the world, for calls that came through here.
    world: u128,
}

impl Hosted for EpisodeHere<'_> {
    fn tools(&self) -> &[ToolCard] {
        &self.opened.tools
    }

    fn reach(&self) -> Option<Reach> {
        self.reach.clone()
    }

    /// A program that could not connect did nothing, and that is not its doing.
    fn lost(&self) -> Option<HostError> {
        let away = self.host.turned_away() - self.turned_away;
        let sentence = || format!("nobody could connect, {away} times: this process has as many files open as it may");
        (away > 0).then(|| failed("server")(sentence()))
    }

    fn workspace(&self) -> Result<Option<Workspace>, HostError> {
        self.host.episodes.workspace(self.id).map_err(|error| failed("world")(error.to_string()))
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let begun = Instant::now();
        let answer = self.host.episodes.call(self.id, tool, arguments);
        self.world += begun.elapsed().as_nanos();
        answer.map_err(|error| match error {
            CallError::Refused(refusal) => refusal,
            other => Refusal::new(RefusalCode::BudgetExhausted, other.to_string()),
        })
    }

    fn finish(mut self: Box<Self>, with_state: bool) -> Result<Finished, HostError> {
        self.is_over = true;
        let ended = self.host.episodes.end(self.id).map_err(|error| failed("world")(error.to_string()))?;
        let episode = ended.ok_or_else(|| failed("world")("a call stopped half-way".to_owned()))?;
        finished(&self.opened, &*episode, self.world, with_state)
    }
}

impl Drop for EpisodeHere<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // One that is gone already is as good as closed.
            let _ = self.host.episodes.close(self.id);
        }
    }
}
