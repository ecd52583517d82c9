//! `bench generate`: what a task costs to make, beside the bare solver on the very models of those tasks.
//!
//! The numerator is the CPU time of `benchwright build` with its workers: sampling, every solve, rejected ones too, projecting
//! and packing. The denominator is the CPU time of the recorded models and parameters, already written as the library's own
//! messages, given to it again in this warm process. Both are measured in turns, block by block, and only what was run is told.

use crate::error::{OrWrong as _, Result, hold, wrong};
use benchwright_pack::{Suite, SuiteTask, store};
use benchwright_project::salted;
use benchwright_report::layout::columns;
use benchwright_workshop::{Maker, Temporary, Workers, Workshop, carried, suites};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
};

/// The suite that the sample is taken from.
const SUITE: &str = "erp-300";
/// Every so many of its tasks, which stand pattern by pattern, so that each has its share.
const STEP: usize = 5;
const QUICK_STEP: usize = 50;
/// The blocks in which the two sides take turns.
const BLOCKS: usize = 3;

/// What was measured.
pub(super) struct Figures {
    tasks: usize,
    solves: usize,
    cpu_s: f64,
    bare_solver_cpu_s: f64,
    by_tier: BTreeMap<String, usize>,
}

/// Measures.
pub(super) fn run(workshop: &Workshop, quick: bool) -> Result<Figures> {
    let solver = suites::solver_here()?.solver;
    let suite = carried::suite(SUITE).or_wrong(|| format!("the program carries no suite {SUITE}"))??;
    let sample: Vec<&SuiteTask> = suite.tasks.iter().step_by(if quick { QUICK_STEP } else { STEP }).collect();
    let mut figures = Figures { tasks: 0, solves: 0, cpu_s: 0.0, bare_solver_cpu_s: 0.0, by_tier: BTreeMap::new() };
    let mut maker = Maker::new(workshop);
    // The denominator is a warm process.
    maker.engines()?;
    for block in sample.chunks(sample.len().div_ceil(BLOCKS)) {
        let tasks = block.iter().map(|line| SuiteTask { digest: None, ..(*line).clone() }).collect();
        let wanted = Suite { solver: Some(solver.clone()), tasks, ..suite.clone() };
        let (locked, spent) = build(workshop, &wanted)?;
        figures.cpu_s += spent;
        for line in &locked.tasks {
            let seed = suite.split.seed(line.seed);
            let reading = line.reading.as_deref();
            let (task, recorded) = maker.make(&line.pattern, &line.tier, &line.objective, seed, reading, true)?;
            let task = match suite.salt_of(line) {
                Some(salt) => salted(task, &salt),
                None => task,
            };
            hold!(line.digest == Some(task.digest()), "{} was made twice and differs", suites::named(line));
            let engines = maker.engines()?;
            let messages: Vec<_> =
                recorded.iter().map(|solve| engines.first.message(&solve.model, &solve.limits)).collect();
            let begun = cpu(UsageWho::RUSAGE_SELF)?;
            for message in &messages {
                engines.first.respond(message)?;
            }
            figures.bare_solver_cpu_s += cpu(UsageWho::RUSAGE_SELF)? - begun;
            figures.solves += recorded.len();
            figures.tasks += 1;
            *figures.by_tier.entry(line.tier.clone()).or_default() += 1;
        }
    }
    Ok(figures)
}

/// Runs `benchwright build` on a suite; the suite with its digests, and the CPU seconds of it and all its children.
fn build(workshop: &Workshop, suite: &Suite) -> Result<(Suite, f64)> {
    let folder = Temporary::new()?;
    let file = folder.path().join("bench.toml");
    store::write_suite(&file, suite)?;
    let Workers::Processes { program, arguments } = workshop.workers() else {
        wrong!("`bench generate` measures the program `benchwright`, which is not known here");
    };
    // The words of a worker are those of the program with `worker` at their end.
    let mut command = Command::new(program);
    command.args(&arguments[..arguments.len().saturating_sub(1)]);
    command.arg("build").arg(&file).arg("-o").arg(folder.path().join("out")).args(["--jobs", "1"]);
    let begun = cpu(UsageWho::RUSAGE_CHILDREN)?;
    let status = command.stdout(Stdio::null()).status().or_wrong(|| "`benchwright build` could not be started")?;
    let spent = cpu(UsageWho::RUSAGE_CHILDREN)? - begun;
    hold!(status.success(), "`benchwright build` ended with {status}");
    Ok((store::read_suite(&file)?, spent))
}

/// The CPU time, of the user and the system, in seconds.
fn cpu(who: UsageWho) -> Result<f64> {
    let usage = getrusage(who)?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

impl Figures {
    fn ratio(&self) -> f64 {
        if self.bare_solver_cpu_s > 0.0 { self.cpu_s / self.bare_solver_cpu_s } else { 0.0 }
    }

    pub(super) fn to_json(&self) -> Json {
        let round = |number: f64| (number * 1000.0).round() / 1000.0;
        json!({
            "tasks": self.tasks,
            "cpu_s": round(self.cpu_s),
            "bare_solver_cpu_s": round(self.bare_solver_cpu_s),
            "ratio": round(self.ratio()),
            "solves": self.solves,
            "tiers": self.by_tier,
        })
    }

    pub(super) fn to_table(&self) -> String {
        let rows = [
            vec!["tasks".to_owned(), self.tasks.to_string()],
            vec!["solves".to_owned(), self.solves.to_string()],
            vec!["CPU of build, s".to_owned(), format!("{:.2}", self.cpu_s)],
            vec!["CPU of the bare solver, s".to_owned(), format!("{:.2}", self.bare_solver_cpu_s)],
            vec!["ratio".to_owned(), format!("{:.3}", self.ratio())],
        ];
        columns(&rows, &[1], 0)
    }
}
