//! `benchwright serve`: episodes of tasks over MCP and HTTP.

use crate::{failure::Failure, output};
use benchwright_catalog::Catalog;
use benchwright_serve::{Options as ServerOptions, Server, Settings, Token, stdio_proxy};
use benchwright_workshop::engines;
use serde_json::json;
use std::{net::SocketAddr, path::PathBuf, time::Duration};

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
  GET    /episodes/ID                    limits, calls used, idle time
  POST   /episodes/ID/fork   POST /episodes/ID/grade   GET /episodes/ID/snapshot   DELETE /episodes/ID
         /episodes/ID/mcp                MCP over streamable HTTP
  POST   /episodes/ID/tools/NAME         one tool, plain JSON; GET /episodes/ID/openapi.json lists them
  POST   /episodes/ID/json/2/MODEL/METHOD  a call as Odoo's JSON-2 has it, of worlds that are modelled on Odoo

Grading reads sealed files; without --grade it is refused. It answers ending (pass, fail, error), reward and scores from 0 to 1,
gates, phases and checks, as `grade --json` prints them. The server binds to loopback unless told otherwise, and
refuses foreign Host and Origin headers. The control token is taken from BENCHWRIGHT_CONTROL_TOKEN, or made.

With --log json or text, stderr tells of every episode begun, graded and ended, with RUST_LOG=debug also of every call:
its tool, its time, and whether it was refused. No token, header, argument or answer is ever in it.

Examples:
  benchwright serve out --grade
  benchwright serve out --grade --odoo
  benchwright serve --stdio http://127.0.0.1:PORT/episodes/ID/mcp    (token in BENCHWRIGHT_EPISODE_TOKEN)")]
pub(crate) struct Options {
    /// A folder that `new` or `build` wrote; without one only plain worlds are served
    #[arg(value_name = "DIR")]
    tasks: Option<PathBuf>,
    /// The address of the control plane, and of agents where they have none of their own
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    bind: SocketAddr,
    /// Another address for agents
    #[arg(long, value_name = "ADDR")]
    bind_agents: Option<SocketAddr>,
    /// Lets sealed files be read for grading
    #[arg(long)]
    grade: bool,
    /// Lets tasks run on the Odoo that `scripts/odoo up` started: POST /episodes {"task": ID, "engine": "odoo"}
    #[arg(long)]
    odoo: bool,
    /// Minutes after which an episode that nobody calls is closed
    #[arg(long, value_name = "MINUTES", default_value_t = 30)]
    idle: u64,
    /// A host name that requests may name, besides loopback; may be given again
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Connects stdin and stdout to the MCP of one episode, instead of serving
    #[arg(long, value_name = "EPISODE_URL", conflicts_with_all = ["tasks", "grade", "bind_agents"])]
    stdio: Option<String>,
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options, has_log: bool) -> anyhow::Result<()> {
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
        ..engines::settings(catalog)
    };
    if options.odoo {
        settings.engines = settings.engines.with(engines::odoo(catalog, super::odoo::site(usize::MAX)?));
    }
    let server = ServerOptions {
        settings,
        bind: options.bind,
        bind_agents: options.bind_agents,
        control_token,
        allowed_hosts: options.hosts.clone(),
        ..ServerOptions::default()
    };
    runtime.block_on(async {
        let server =
            Server::start(server).await.map_err(|error| Failure::missing(error, "another address with --bind"))?;
        let told = json!({
            "control": format!("http://{}", server.control_address()),
            "agents": format!("http://{}", server.agent_address()),
            "token": server.control_token().reveal(),
        });
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
