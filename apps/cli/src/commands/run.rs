//! `benchwright run`: agents on the tasks of a folder.

pub(crate) mod agents;

use self::agents::{How, ModelOptionsOfRun, ProgramOptions, agents};
use crate::{commands::serve::CONTROL_TOKEN, failure::Failure, output, shared::Shared};
use benchwright_pack::{SEALED_TREE, Store, run::Limits};
use benchwright_workshop::{
    RunOptions, Workshop,
    host::StoreHost,
    run::{Over, Run, plan_run},
    runs::Runs,
    told::run::{to_json, to_table},
};
use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// Puts agents on the tasks of a folder; resumes by default
#[derive(clap::Args)]
#[command(after_long_help = "\
Each agent tries each task K times. Every trial is recorded exactly once in RUNS/ledger.sqlite and has a folder
RUNS/NAME/trials/N with trace, verdict, final snapshot and diff; in runs of more than 1,000 trials it is instead a row of the
Parquet files in RUNS/NAME/segments (docs/records.md). Records are a chain of hashes; its head, which is printed at the end, is what `report --verify --head` holds the run to. A run that was cut off goes on where it stopped: the
newest run with the same tasks, agents, limits and K is resumed, unless --new is given. What fails without being
the agent's fault is tried again, and is an error in the end, never a zero.

Agents:
  idle     does nothing
  random   calls tools at random, with arguments that fit them
  spam     writes a field of every record and pushes every button
  greedy   reads the brief and takes the cheapest feasible offers
  reader, hurried, forgetful: plan with a solver, and read all, take files as they stand, or forget a rule
  oracle   carries out the certified plan
  obedient does that, and whatever text in a record asks for
  always-decline; first-hit, literal, defaults, careless: the oracle of a request with vices
  react:MODEL   a model that calls tools until it is done
  plan:MODEL    the same, after it has written a plan
  given:MODEL   the same, with the certified plan in words
A model agent is offered all tools, or with @oracle those that the work needs, or with @oracle+5 also so many others that
lie near: react:MODEL@oracle+5. Its key is taken from the environment and stands nowhere under RUNS.
  exec:COMMAND  any program, started by sh in an empty folder of a sandbox
A program finds BENCHWRIGHT_MCP_URL, BENCHWRIGHT_TOOLS_URL (add /NAME and post the arguments) and BENCHWRIGHT_TOKEN (bearer)
in its environment, the instruction on its standard input, and nothing else but PATH and what --pass names
(and nobody keeps: it is taken out of its calls before the world is asked). It sees the
system's files and what --see names, reaches its episode and nothing else, and is gone, with all that it left, before the
state is graded, however it ended. Sandboxes (--isolation) are made by bubblewrap or in a container of --image; who trusts the
program with the sealed files says --trust-agent. The record says which it was.

With --server URL the episodes are at a server elsewhere (`benchwright serve DIR`, no --grade needed; its control token is
taken from BENCHWRIGHT_CONTROL_TOKEN). Verdicts are still reached here.

Examples:
  benchwright run out --agent greedy
  benchwright run out --agent idle --agent oracle -k 5 --json
  benchwright run out --agent react:some-model --base-url http://127.0.0.1:8000/v1
  benchwright run out --agent 'exec:python3 /opt/agent/main.py' --see /opt/agent

Keys of --json:
  run, head (of the chain of its records), plan (its digest), planned, attempted, scored, errors, mean_reward, pass_at_1,
  seconds, trials_per_s, environment_share,
  agents {NAME: {planned, scored, errors, mean_reward, pass_at_1, errors_as_zero, highest_reward}}
  (rewards between 0 and 1, null where nothing was scored)")]
pub(crate) struct Options {
    /// A folder that `new` or `build` wrote
    #[arg(value_name = "DIR")]
    tasks: PathBuf,
    /// An agent; may be given again
    #[arg(long = "agent", value_name = "NAME", required = true)]
    agents: Vec<String>,
    /// How often each agent tries each task
    #[arg(short = 'k', long, value_name = "K", default_value_t = 1)]
    attempts: u32,
    #[command(flatten)]
    model: ModelOptionsOfRun,
    #[command(flatten)]
    program: ProgramOptions,
    /// A server that keeps the episodes [default: this process]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The most turns of a model in a trial [default: 400]
    #[arg(long, value_name = "N")]
    turns: Option<u32>,
    /// The most seconds of a trial [default: 3600]
    #[arg(long, value_name = "N")]
    seconds: Option<u32>,
    /// The most tokens of a trial, in and out
    #[arg(long, value_name = "N")]
    tokens: Option<u64>,
    /// The most dollars of a trial; needs --price
    #[arg(long, value_name = "DOLLARS")]
    cost: Option<f64>,
    /// Only this task; may be given again
    #[arg(long = "task", value_name = "ID")]
    only: Vec<String>,
    /// Where runs are kept
    #[arg(long, value_name = "RUNS", default_value = "runs", conflicts_with = "ledger")]
    runs: PathBuf,
    #[command(flatten)]
    shared: Shared,
    /// Starts another run, even where one with the same plan is there
    #[arg(long)]
    new: bool,
    /// Keeps the terminal state of each trial of a run with segments too
    #[arg(long, value_name = "states", value_parser = ["states"], conflicts_with = "ledger")]
    keep: Option<String>,
    /// How many trials at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(workshop: &Workshop, options: &Options) -> anyhow::Result<()> {
    let how = RunOptions {
        only: options.only.clone(),
        attempts: options.attempts,
        limits: options.limits(),
        new: options.new,
        keep_states: options.keep.is_some(),
    };
    how.check()?;
    let kept = [options.tasks.clone(), options.runs.clone()];
    let how_agents = How { model: &options.model, limits: options.limits(), program: Some((&options.program, &kept)) };
    let (agents, has_programs) = agents(&options.agents, &how_agents)?;
    let workshop = workshop.clone().with_jobs(options.jobs);
    let (catalog, store) = (workshop.catalog(), Store::at(&options.tasks));
    let secrets = options.program.secrets();
    let host = match &options.server {
        Some(url) => StoreHost::elsewhere(catalog, store, url, &control_token()?, &secrets),
        None if has_programs => StoreHost::served(catalog, store, &secrets)?,
        None => StoreHost::new(catalog, store),
    };
    if let Some(runs) = options.shared.open()? {
        if has_programs || options.server.is_some() {
            let message = "programs and servers elsewhere are for one machine";
            return Err(Failure::wrong_use(message, "policies and models, or no --ledger"));
        }
        let ran = plan_run(&workshop, &host, &agents, &runs, &how, &|name, before| {
            eprintln!("{name}: {} of {} trials are recorded", before.recorded, before.planned);
            options.shared.invite();
        })?;
        return told(&ran, options.json, &runs);
    }
    let kept = Runs::open(&options.runs)?;
    if has_programs {
        // A program that runs as another must find neither the plans nor what others did.
        for folder in [options.tasks.join(SEALED_TREE), options.runs.clone()] {
            keep_to_us(&folder)?;
        }
    }
    let run = Run::open(&workshop, &host, &agents, &kept, &how)?;
    if let Some((before, reopened)) = &run.resumed {
        let (name, recorded, planned) = (&run.name, before.recorded, before.planned);
        eprintln!("resuming {name}: {recorded} of {planned} trials are recorded, {reopened} errors are tried again");
    }
    told(&run.work_off()?, options.json, &kept)
}

/// Tells what came of a run; errors fall short.
fn told(over: &Over, is_json: bool, kept: &Runs) -> anyhow::Result<()> {
    let (summary, highest) = over.counted()?;
    if is_json {
        output::json(&to_json(over, &summary, &highest))?;
    } else {
        output::data(&to_table(&summary))?;
        eprintln!(
            "{} trials in {:.1} s; kept in {}",
            over.fresh,
            over.seconds,
            kept.folder(&over.recorded.name).display()
        );
        eprintln!("head of the records: {}", over.recorded.head());
    }
    let errors = summary.errors;
    if errors > 0 {
        return Err(Failure::falls_short(
            format!("{errors} trials are errors"),
            "the same command again, which tries them once more",
        ));
    }
    Ok(())
}

/// The token of a server elsewhere.
fn control_token() -> anyhow::Result<String> {
    std::env::var(CONTROL_TOKEN).map_err(|_| {
        let next = format!("{CONTROL_TOKEN}=TOKEN benchwright run ...; the server prints it when it starts");
        Failure::wrong_use(format!("{CONTROL_TOKEN} is not set"), next)
    })
}

/// Takes a folder away from everybody else.
fn keep_to_us(folder: &Path) -> anyhow::Result<()> {
    let failed = |error: io::Error| {
        let next = format!("chmod 700 {}, as its owner", folder.display());
        Failure::missing(format!("{} cannot be kept from programs: {error}", folder.display()), next)
    };
    let about = fs::metadata(folder).map_err(failed)?;
    if about.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        eprintln!("{}: only its owner may enter it now", folder.display());
    }
    Ok(())
}

impl Options {
    fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            turns: self.turns.unwrap_or(usual.turns),
            seconds: self.seconds.unwrap_or(usual.seconds),
            tokens: self.tokens,
            cost: self.cost.map(|dollars| (dollars.max(0.0) * 1e6).round() as u64),
        }
    }
}
