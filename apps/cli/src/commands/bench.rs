//! `benchwright bench`: how fast it is, beside the bare engine.

use crate::{output, progress::Progress};
use benchwright_bench::{BY_NAME, NAMES, measure};
use benchwright_workshop::Workshop;
use serde_json::Map;
use std::{fs, path::PathBuf};

/// How fast it is, beside the bare engine, alternating in one run
#[derive(clap::Args)]
#[command(after_long_help = "\
Both sides run on the same machine in turns, so that their ratio means something where the single
numbers do not.

Example:
  benchwright bench world --json

Keys of `bench world --json`:
  episodes_per_s, sqlite_episodes_per_s, ratio, reset_ns, fork_ns, live_bytes, and more beside them
Keys of `bench serve --json`: calls, answer_bytes, mcp {p50_us, bare_p50_us, ratio}, json {p50_us, bare_p50_us, ratio}
Keys of `bench generate --json`: tasks, cpu_s, bare_solver_cpu_s, ratio, solves, tiers
Keys of `bench grid --json`:
  episodes_per_s, plain_episodes_per_s, ratio, calls, grade_us, tasks, generate {settings, median_ms,
  p99_ms, worst_ms, p99_to_median}
Keys of `bench ops --json`:
  least_episodes_per_s, missed, domains {NAME: {episodes_per_s, cpu_us, ending_cpu_us, rows, changes,
  calls [{tool, cpu_us}]}}, request {scenario, episodes_per_s, sqlite_episodes_per_s, ratio, calls, checks}
Keys of `bench dials --json`:
  per_cell, r2 {AGENT}, cells [{agent, open, decoys, tasks, passed, success, low, high, steps}], failing, missed
Keys of `bench ledger --json`, with PostgreSQL where BENCHWRIGHT_POSTGRES is the address of one, and run only by name:
  sqlite {workers, lease, trials, trials_per_s}, sqlite_claim {few_us, many_us, ratio},
  postgres {random, ordered, single: as sqlite; done, claim: as sqlite_claim}, missed
Keys of `bench planning --json`, which reads the problems of a checkout, takes half an hour (--quick: seconds) and is run only by name:
  cases [{case, value, bound, known, work, landed_work, lower_s, grade_ms}], missed
Keys of `bench erp --json`, which needs a running Odoo (`scripts/odoo up`) and is run only by name:
  odoo {reset_ms, call_ms, grade_ms, episodes_per_s}, embedded {the same, in process},
  embedded_gateway {the same, over HTTP}, ratio, gateway_ratio, version
Keys of `bench python --json`, which needs the package benchwright and is run only by name:
  ratio, python_episode_us, empty_call_ns, fork_ns, two_threads, rust_two_threads, batch_steps_per_s, batch_kib_each, missed
Keys of `bench sandbox --json`, which needs bubblewrap and is run only by name:
  bare {p50_ms, p95_ms}, ways {bubblewrap, container: the same}, at_once {sandboxes, seconds, failed, left}, missed")]
pub(crate) struct Options {
    /// The bench; without one, all that need nothing else
    #[arg(value_parser = NAMES)]
    name: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    /// Measures for a short time only: enough to see that it works
    #[arg(long)]
    quick: bool,
    /// Where `dials` writes its plots
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
}

/// Runs the command; the exit code says whether a target was missed.
pub(crate) fn run(workshop: &Workshop, options: &Options) -> anyhow::Result<u8> {
    let mut all = Map::new();
    let mut missed = false;
    let name = options.name.as_deref();
    let wanted = |bench: &&str| name.map_or(!BY_NAME.contains(bench), |name| name == *bench);
    for bench in NAMES.into_iter().filter(wanted) {
        let progress = Progress::start(format!("measuring {bench}"));
        let found = measure(workshop, bench, options.quick)?;
        drop(progress);
        missed |= found.missed;
        if !options.json {
            output::data(&found.table)?;
        }
        if let Some(folder) = &options.plots {
            fs::create_dir_all(folder)?;
            for (name, svg) in &found.plots {
                fs::write(folder.join(name), svg)?;
            }
        }
        all.insert(bench.to_owned(), found.figures);
    }
    if options.json {
        let one = name.and_then(|name| all.remove(name));
        output::json(&one.unwrap_or_else(|| all.into()))?;
    }
    Ok(missed.into())
}
