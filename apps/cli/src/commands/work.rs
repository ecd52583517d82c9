//! `benchwright work`: does what others have planned.

use super::run::agents::{How, ModelOptionsOfRun, agents};
use crate::{failure::Failure, output, shared};
use benchwright_run::LONGEST_HOLD;
use benchwright_workshop::{
    Workshop,
    shared::{WorkOptions, Worked, work},
};
use serde_json::json;

/// Does what others have planned in a ledger, until nothing is left
#[derive(clap::Args)]
#[command(after_long_help = "\
`run`, `new`, `build` and `audit` with --ledger and --store plan and wait; this command does the work: any number of
processes, on any machines, started by anything (deploy/README.md). They agree by the ledger alone: each takes a lease of about
five seconds of work, keeps what comes of it in the store, and records it once. A process that dies loses its leases, which others
take when nothing was heard of it for --hold seconds. Asked to end (SIGTERM), it gives back what it has not finished.

What comes of it does not depend on who worked or how many. A plan that was made with other patterns, domains or another
version of the program is refused.

Examples:
  PGPASSWORD=... benchwright work --ledger postgres://bench@db/bench --store /shared/bench
  benchwright work --ledger postgres://bench@db/bench --store s3://bench/runs --forever --jobs 4

Keys of --json: runs, recorded, stale, refused {RUN: why}")]
pub(crate) struct Options {
    #[command(flatten)]
    shared: shared::Shared,
    /// Only this run [default: the oldest that is not done, then the next]
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// Waits for more when nothing is left
    #[arg(long)]
    forever: bool,
    #[command(flatten)]
    model: ModelOptionsOfRun,
    /// How long others wait for this process when nothing is heard of it, before they take what it holds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(i64).range(3..=LONGEST_HOLD / 1_000))]
    hold: i64,
    /// How many leases at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(workshop: &Workshop, options: &Options) -> anyhow::Result<()> {
    let Some(mut runs) = options.shared.open()? else {
        let next = "benchwright work --ledger postgres://USER@HOST/DATABASE --store DIR";
        return Err(Failure::wrong_use("nothing says where the work is", next));
    };
    runs.hold = Some(options.hold * 1_000);
    let workshop = workshop.clone().with_jobs(options.jobs).with_cancel(shared::asked_to_end()?);
    let agents = |plan: &benchwright_pack::RunPlan| {
        let how = How { model: &options.model, limits: plan.limits.clone(), program: None };
        agents(&plan.agents, &how).map(|(agents, _)| agents).map_err(Into::into)
    };
    let how = WorkOptions { only: options.run.clone(), forever: options.forever };
    let Worked { runs, recorded, stale, refused } = work(&workshop, &runs, &how, &agents)?;
    if options.json {
        output::json(&json!({ "runs": runs, "recorded": recorded, "stale": stale, "refused": refused }))?;
    } else {
        eprintln!("{recorded} items of {runs} runs recorded; {stale} were taken over by others");
    }
    for (run, why) in &refused {
        eprintln!("{run}: {why}");
    }
    match refused.len() {
        0 => Ok(()),
        many => {
            let next = "what each of them lacks; they are worked on where it is there";
            Err(Failure::missing(format!("{many} runs cannot be worked on here"), next))
        }
    }
}
