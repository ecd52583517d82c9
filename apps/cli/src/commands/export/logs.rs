//! `benchwright export inspect`, `atif` and `trials`: recorded runs as logs of other programs, and as folders.

use crate::{failure::Failure, layout::counted};
use benchwright_export::ExportError;
use benchwright_workshop::{Error, Workshop, play::Offer, recorded::Recorded, runs::Runs, suites};
use std::path::PathBuf;

#[derive(clap::Args)]
struct Common {
    /// The run, by its name or its folder
    #[arg(value_name = "RUN")]
    run: String,
    /// Where runs are kept
    #[arg(long, value_name = "RUNS", default_value = "runs")]
    runs: PathBuf,
    /// The folder of the run's tasks [default: the one it was run on]
    #[arg(long, value_name = "DIR")]
    tasks: Option<PathBuf>,
}

#[derive(clap::Args)]
struct One {
    /// Only this agent of the run
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

/// An Inspect log (.eval) of a recorded run, a sample a trial
#[derive(clap::Args)]
#[command(after_long_help = "\
The calls of every trial are made again for their answers, and one that is answered otherwise than it was is an error.
A log is of one agent: where a run has several, --agent says which. See docs/inspect-logs.md.

Example:
  benchwright export inspect 2026-11-15T090000-out -o run.eval && inspect view --log-dir .")]
pub(super) struct InspectOptions {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    one: One,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Trajectories in Harbor's format (ATIF 1.8), a file a trial
#[derive(clap::Args)]
#[command(after_long_help = "\
Writes OUT/000001.json and so on, by the number of the trial. See docs/inspect-logs.md.

Example:
  benchwright export atif 2026-11-15T090000-out -o trajectories
  python -m harbor.utils.trajectory_validator trajectories/000001.json")]
pub(super) struct AtifOptions {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    one: One,
    /// The folder to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

/// Trials as folders: what was called, what was left, what the judge said
#[derive(clap::Args)]
#[command(after_long_help = "\
A run of more than 1,000 trials keeps columns, from which this makes OUT/trials/000017 and so on, as shorter runs have them. The
calls are made again, and a trial that is judged otherwise than it was is an error.

Example:
  benchwright export trials 2026-11-15T090000-out 17 4711 -o trials")]
pub(super) struct TrialOptions {
    #[command(flatten)]
    common: Common,
    /// The numbers of the trials
    #[arg(value_name = "N", required = true)]
    numbers: Vec<i64>,
    /// The folder to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

impl Common {
    fn open(&self) -> anyhow::Result<(Recorded, PathBuf)> {
        let run = Recorded::open(&Runs::open(&self.runs)?, Some(&self.run))?;
        let tasks = run.tasks(self.tasks.as_deref())?;
        Ok((run, tasks))
    }
}

/// Runs `inspect`.
pub(super) fn inspect(workshop: &Workshop, options: &InspectOptions) -> anyhow::Result<()> {
    let (run, tasks) = options.common.open()?;
    let agent = run.agent(options.one.agent.as_deref())?;
    let out = &options.output;
    let written = run.inspect(workshop, &tasks, &Offer::All, agent, out).map_err(|error| match error {
        Error::Export(ExportError::AlreadyThere(path)) => super::already_there(&path),
        error => error.into(),
    });
    let (count, bytes) = written?;
    eprintln!("wrote {}: {} of {agent}, {bytes} bytes", out.display(), counted(count, "sample"));
    Ok(())
}

/// Runs `atif`.
pub(super) fn atif(workshop: &Workshop, options: &AtifOptions) -> anyhow::Result<()> {
    suites::check_empty(&options.output)?;
    let (run, tasks) = options.common.open()?;
    let agent = options.one.agent.as_deref();
    if let Some(unknown) = agent.filter(|agent| !run.plan.agents.iter().any(|known| known == agent)) {
        return Err(Failure::wrong_use(format!("the run has no agent {unknown}"), run.plan.agents.join(", ")));
    }
    let count = run.atif(workshop, &tasks, &Offer::All, agent, &options.output)?;
    eprintln!("wrote {}: {}", options.output.display(), counted(count, "trial"));
    Ok(())
}

/// Runs `trials`.
pub(super) fn trials(workshop: &Workshop, options: &TrialOptions) -> anyhow::Result<()> {
    suites::check_empty(&options.output)?;
    let (run, tasks) = options.common.open()?;
    run.unpack(workshop, &tasks, &options.numbers, &options.output)?;
    eprintln!("wrote {}: {}", options.output.display(), counted(options.numbers.len(), "trial"));
    Ok(())
}
