//! `benchwright serve`: episodes of tasks over MCP and HTTP.

use crate::{Start, failure::Failure, output, tasks};
use benchwright_catalog::Catalog;
use benchwright_serve::{
    ONE_PORT, ONE_SOCKET, One, OneOptions, Options as ServerOptions, Server, ServerError, Settings, Starter, Token,
    collect, ready, stdio_proxy,
};
use benchwright_workshop::engines;
use serde_json::json;
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// Where the tokens are taken from, so that they stand in no list of processes.
pub(crate) const CONTROL_TOKEN: &str = "BENCHWRIGHT_CONTROL_TOKEN";
const EPISODE_TOKEN: &str = "BENCHWRIGHT_EPISODE_TOKEN";

/// Serves episodes of tasks over MCP and HTTP
#[derive(clap::Args)]
#[command(after_long_help = "\
The first line on stdout is JSON with the addresses and the control token. A client first posts to /episodes of the
control address, with that token; the answer has the addresses and the token of the new episode, with which an agent
reaches its tools and nothing else. With the control token one also lists tasks, and forks, reads, grades and closes
episodes:

  GET    /tasks                          the ids of the tasks, in pages: ?after=ID&limit=N
  GET    /openapi.json                   the control plane, described; no token needed
  POST   /episodes                       {\"task\": ID} or {\"domain\": NAME, \"size\": SIZE, \"seed\": N};
                                         NAME may join several, such as csm+itsm; \"engine\": WORD names another engine
  GET    /metrics                        requests, times, refusals, connections and limits, as Prometheus reads them
  GET    /episodes/ID                    limits, calls used, idle time
  POST   /episodes/ID/fork   POST /episodes/ID/grade   GET /episodes/ID/snapshot   DELETE /episodes/ID
         /episodes/ID/mcp                MCP over streamable HTTP
  POST   /episodes/ID/tools/NAME         one tool, plain JSON; GET /episodes/ID/openapi.json lists them
  GET    /episodes/ID/files/PATH         a file of the present stage; /episodes/ID/files lists them
  POST   /episodes/ID/json/2/MODEL/METHOD  a call as Odoo's JSON-2 has it, of worlds that are modelled on Odoo

Grading reads sealed files; without --grade it is refused. It answers ending (pass, fail, error), reward and scores from 0 to 1,
gates, phases and checks, as `grade --json` prints them. The server binds to loopback unless told otherwise, and
refuses foreign Host and Origin headers. The control token is taken from BENCHWRIGHT_CONTROL_TOKEN, or made; where other
machines reach the control plane, it has to be given. Nothing is encrypted: put a proxy in front.

Slow and silent clients are closed, and the oldest of them give way to new ones. Heads of requests have 10 s, bodies 20 s, a
connection may rest for 5 minutes; a token has 64 connections. What is too much is refused by name (too_many_connections,
rows_exhausted, memory_full, ...), and /metrics tells the limits.

With --log json or text, stderr tells of every episode begun, graded and ended, with RUST_LOG=debug also of every call:
its tool, its time, and whether it was refused. No token, header, argument or answer is ever in it.

With --one, a single episode is served for an agent that has a machine of its own: MCP at /mcp, tools at /tools/NAME,
their list at /openapi.json and files at /files of one fixed address, without a token. Control is by a socket that only the
user of the world and root can open; `benchwright collect` asks there for what was left. --ready starts it where it is not
running yet and ends when it answers, so that a health check can be what starts it.

Examples:
  benchwright serve out --grade
  benchwright serve --one out/open/ID --socket ./control/socket
  benchwright serve --one /task/world --ready --as bench
  benchwright serve out --grade --odoo
  benchwright serve out --grade --nemo
  benchwright serve --stdio http://127.0.0.1:PORT/episodes/ID/mcp    (token in BENCHWRIGHT_EPISODE_TOKEN)")]
pub(crate) struct Options {
    /// A folder that `new` or `build` wrote; without one only plain worlds are served
    #[arg(value_name = "DIR")]
    tasks: Option<PathBuf>,
    /// The address of the control plane, and of agents where they have none of their own
    /// [default: a free port of loopback; with --one, 127.0.0.1:8765]
    #[arg(long, value_name = "ADDR")]
    bind: Option<SocketAddr>,
    /// Another address for agents
    #[arg(long, value_name = "ADDR")]
    bind_agents: Option<SocketAddr>,
    /// Serves the wire of a NeMo Gym resources server too, for verifiers and NeMo Gym, at a free port or at ADDR
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", requires = "grade")]
    nemo: Option<SocketAddr>,
    /// Lets sealed files be read for grading
    #[arg(long)]
    grade: bool,
    /// Lets tasks run on the Odoo that `scripts/odoo up` started: POST /episodes {"task": ID, "engine": "odoo"}
    #[arg(long)]
    odoo: bool,
    /// Minutes after which an episode that nobody calls is closed
    #[arg(long, value_name = "MINUTES", default_value_t = 30)]
    idle: u64,
    /// The most rows that an episode may grow by; one with long texts counts as several
    #[arg(long, value_name = "ROWS", default_value_t = 200_000)]
    rows: u64,
    /// The most memory that the episodes may hold together, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2_048)]
    memory: u64,
    /// A host name that requests may name, besides loopback; may be given again
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Connects stdin and stdout to the MCP of one episode, instead of serving
    #[arg(long, value_name = "EPISODE_URL", conflicts_with_all = ["tasks", "grade", "bind_agents"])]
    stdio: Option<String>,
    /// Serves one episode of the task of this folder, DIR/open/ID or one with no other task
    #[arg(long, value_name = "TASK", conflicts_with_all = ["tasks", "grade", "bind_agents", "odoo", "hosts", "stdio"])]
    one: Option<PathBuf>,
    /// Starts it if nobody answers, and ends when it does
    #[arg(long, requires = "one")]
    ready: bool,
    /// The user that the world runs as, if root starts it; the task's folder is handed to it
    #[arg(long = "as", value_name = "USER", requires = "ready")]
    user: Option<String>,
    /// The control socket of the one episode
    #[arg(long, value_name = "FILE", default_value = ONE_SOCKET, requires = "one")]
    socket: PathBuf,
}

/// Runs the command.
pub(crate) fn run(start: &Start, catalog: &Catalog, options: &Options, has_log: bool) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if let Some(url) = &options.stdio {
        let token = std::env::var(EPISODE_TOKEN).map_err(|_| {
            Failure::wrong_use(
                format!("{EPISODE_TOKEN} is not set"),
                format!("{EPISODE_TOKEN}=TOKEN benchwright serve --stdio {url}"),
            )
        })?;
        return Ok(runtime.block_on(stdio_proxy(url, &token))?);
    }
    if let Some(task) = &options.one {
        return runtime.block_on(one(start, catalog, options, task));
    }
    if let Some(tasks) = options.tasks.as_ref().filter(|tasks| !tasks.join("open").is_dir()) {
        let next = "a folder that `benchwright new`, `build` or `demo -o` wrote";
        return Err(Failure::wrong_use(format!("{} has no tasks", tasks.display()), next));
    }
    let given = std::env::var(CONTROL_TOKEN).ok();
    let control_token = given.map(Token::new).transpose().map_err(|error| {
        Failure::wrong_use(format!("{CONTROL_TOKEN}: {error}"), "another token, or none, and one is made")
    })?;
    let mut settings = Settings {
        tasks: options.tasks.clone(),
        may_read_sealed: options.grade,
        idle: Duration::from_secs(options.idle.saturating_mul(60)),
        most_rows: options.rows,
        most_memory: options.memory.saturating_mul(1 << 20),
        ..engines::settings(catalog)
    };
    if options.odoo {
        settings.engines = settings.engines.with(engines::odoo(catalog, super::odoo::site(usize::MAX)?));
    }
    let server = ServerOptions {
        settings,
        bind: options.bind.unwrap_or((Ipv4Addr::LOCALHOST, 0).into()),
        bind_agents: options.bind_agents,
        bind_nemo: options.nemo,
        control_token,
        allowed_hosts: options.hosts.clone(),
        ..ServerOptions::default()
    };
    let (agents, nemo) = (options.bind_agents, options.nemo);
    warn_beyond_loopback([(options.bind, "the control token"), (agents, "the tokens of episodes"), (nemo, "no token")]);
    runtime.block_on(async {
        let server = Server::start(server).await.map_err(|error| match error {
            ServerError::NeedsToken(_) => {
                Failure::missing(error, format!("{CONTROL_TOKEN}=TOKEN benchwright serve ..."))
            }
            _ => Failure::missing(error, "another address with --bind"),
        })?;
        let mut told = json!({
            "control": format!("http://{}", server.control_address()),
            "agents": format!("http://{}", server.agent_address()),
            "token": server.control_token().reveal(),
        });
        if let Some(address) = server.nemo_address() {
            told["nemo"] = format!("http://{address}").into();
        }
        output::data(&format!("{told}\n"))?;
        if !has_log {
            eprintln!("serving; Ctrl-C ends it");
        }
        tokio::select! {
            () = server.wait() => {}
            stopped = tokio::signal::ctrl_c() => stopped?,
        }
        Ok(())
    })
}

/// Says of each address that other machines reach what keeps them out.
fn warn_beyond_loopback<const N: usize>(addresses: [(Option<SocketAddr>, &str); N]) {
    for (address, kept_by) in addresses {
        if let Some(address) = address.filter(|address| !address.ip().is_loopback()) {
            eprintln!("warning: other machines reach {address}, unencrypted; {kept_by} keeps them out");
        }
    }
}

/// Serves one episode, or sees that it is served.
async fn one(start: &Start, catalog: &Catalog, options: &Options, task: &Path) -> anyhow::Result<()> {
    let bind = options.bind.unwrap_or((Ipv4Addr::LOCALHOST, ONE_PORT).into());
    let failed = |error: ServerError| match &error {
        ServerError::Bind { .. } => Failure::missing(error, "another address with --bind"),
        ServerError::Socket { .. } => Failure::missing(error, "another place with --socket FILE, in a new folder"),
        _ => Failure::missing(error, "benchwright serve --help"),
    };
    if options.ready {
        // The same line without what was for the starter, and none of the starter's secrets.
        let mut given = start.words.iter().filter(|word| *word != "--ready");
        let mut command = Command::new(&start.program);
        while let Some(word) = given.next() {
            if word == "--as" {
                given.next();
            } else if !word.as_encoded_bytes().starts_with(b"--as=") {
                command.arg(word);
            }
        }
        let kept = std::env::vars_os().filter(|(name, _)| name == crate::DOMAINS_VARIABLE);
        command.env_clear().envs(kept);
        let (folder, socket, user) = (task.to_owned(), options.socket.clone(), options.user.clone());
        let starter = Starter { command, folder, socket, user };
        return ready(starter).await.map_err(failed);
    }
    warn_beyond_loopback([(Some(bind), "no token")]);
    let (store, task) = tasks::locate_only(task)?;
    let settings = Settings { tasks: Some(store.root().to_owned()), ..engines::settings(catalog) };
    let socket = options.socket.clone();
    let largest_body = ServerOptions::default().largest_body;
    let one = One::start(OneOptions { settings, task, bind, socket, largest_body }).await.map_err(failed)?;
    let base = format!("http://{}", one.address());
    output::data(&format!("{}\n", json!({ "mcp": format!("{base}/mcp"), "tools": format!("{base}/tools") })))?;
    tokio::select! {
        () = one.wait() => {}
        stopped = tokio::signal::ctrl_c() => stopped?,
    }
    Ok(())
}

/// Ends the episode of `serve --one` and writes what it left for `grade`
#[derive(clap::Args)]
#[command(after_long_help = "\
Writes snapshot.json, trace.json and about.json into a folder that is made for it and that only its owner can enter. No
link is followed and nothing is replaced; folders above that others can change are refused. Calls that come later are
refused. `benchwright grade TASK DIR` judges the folder.

Example:
  benchwright collect /var/lib/benchwright/collected")]
pub(crate) struct CollectOptions {
    /// The folder to write, which is not there yet
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The control socket of the world
    #[arg(long, value_name = "FILE", default_value = ONE_SOCKET)]
    socket: PathBuf,
}

/// Runs the command.
pub(crate) fn collected(options: &CollectOptions) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(collect(&options.socket, &options.folder));
    done.map_err(|error| Failure::missing(error, "benchwright serve --one TASK, and a new folder for DIR"))
}
