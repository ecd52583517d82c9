//! Writes a run of millions of made-up trials, in the files of real ones, for whoever measures what a report of it takes:
//! `BENCHWRIGHT_RUNS=runs BENCHWRIGHT_ATTEMPTS=8231 cargo nextest run --run-ignored only -E 'test(a_run_of_millions_is_written)'`.

use crate::made_up::{jumping, open, plan};
use benchwright_base::Digest;
use benchwright_pack::{
    Check, CheckStatus, Ending, Instance, OpenPart, Outcome, Refusal, Trace, TraceCall, Verdict, run::Limits,
};
use benchwright_project::Family;
use benchwright_run::{
    Agent, AgentError, Driver, Finished, Host, HostError, Hosted, Keeping, LedgerStore, Played, Progress, Sealed,
    Segments, SqliteLedger, Stop, ToolCard, run,
};
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

const TASKS: u32 = 324;
const AGENTS: [&str; 3] = ["idle", "random", "oracle"];

#[derive(Default)]
struct Varied(AtomicU64);

/// An episode with what is drawn for it.
struct Episode(Digest);

impl Hosted for Episode {
    fn tools(&self) -> &[ToolCard] {
        &[]
    }
    fn call(&mut self, _: &str, _: &str) -> Result<String, Refusal> {
        Ok("{}".to_owned())
    }
    fn finish(self: Box<Self>, _: bool) -> Result<Finished, HostError> {
        let drawn = self.0.0;
        let check = |n: u8| Check {
            of: Arc::new(Instance {
                rule: format!("made/up-{n}"),
                code: "M.U".to_owned(),
                family: format!("made-up-{}", n % 3),
                at: Vec::new(),
            }),
            status: if drawn[usize::from(n)] < 80 { CheckStatus::Fail } else { CheckStatus::Pass },
            why: None,
        };
        let checks: Vec<Check> = (0..6).map(check).collect();
        let pass = checks.iter().all(|check| check.status == CheckStatus::Pass);
        let reward = if pass { 1_000_000 } else { i64::from(drawn[7]) * 3_000 };
        let call = |n: u8| TraceCall {
            tool: format!("tool_{n}"),
            arguments: format!("{{\"id\":{}}}", drawn[usize::from(n)]),
            outcome: match drawn[usize::from(n) + 8] < 40 {
                true => Outcome::Refused("not_found".to_owned()),
                false => Outcome::Answered(Digest::of(&drawn[..usize::from(n)]).to_string()),
            },
        };
        let verdict = Verdict {
            ending: if pass { Ending::Pass } else { Ending::Fail },
            reward,
            constraints: reward,
            trace: 1_000_000,
            objective: reward,
            progress: 0,
            parts: Vec::new(),
            gates: (drawn[9] < 30).then(|| "frame".to_owned()).into_iter().collect(),
            phases: Vec::new(),
            alarm: false,
            injection: None,
            paper_pass: pass,
            checks,
        };
        let trace = Trace {
            version: Trace::VERSION,
            domain: "made-up".to_owned(),
            domain_digest: Digest::of(b"made-up").to_string(),
            role: "planner".to_owned(),
            actor: None,
            start: Digest::of(&drawn[..1]).to_string(),
            calls: (0..3).map(call).collect(),
            end: self.0.to_string(),
        };
        Ok(Finished { trace, left: None, verdict, frame_rules: Vec::new(), world: u64::from(drawn[10]) })
    }
}

impl Host for Varied {
    fn open(&self, id: &str) -> Result<OpenPart, HostError> {
        Ok(open(id))
    }
    fn sealed(&self, _: &str) -> Result<Sealed, HostError> {
        Err(HostError { cause: "task", detail: "nothing is sealed here".to_owned() })
    }
    fn family(&self, _: &str) -> Result<&'static dyn Family, HostError> {
        Err(HostError { cause: "task", detail: "there is no family here".to_owned() })
    }
    fn begin(&self, _: &str) -> Result<Box<dyn Hosted + '_>, HostError> {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        if number % 1_000 == 999 {
            return Err(HostError { cause: "runner", detail: format!("made up, {}", number % 7_000) });
        }
        Ok(Box::new(Episode(Digest::of(&number.to_le_bytes()))))
    }
}

struct Named(&'static str);

impl Agent for Named {
    fn name(&self) -> &str {
        self.0
    }
    fn play(&self, _: &dyn Host, _: &OpenPart, _: &mut dyn Hosted, _: u32, _: &Limits) -> Result<Played, AgentError> {
        Ok(Played::plainly(Stop::Done))
    }
}

#[test]
#[ignore = "it writes gigabytes, and asserts nothing that smaller runs do not"]
fn a_run_of_millions_is_written() {
    let root = PathBuf::from(std::env::var("BENCHWRIGHT_RUNS").unwrap());
    let attempts: u32 = std::env::var("BENCHWRIGHT_ATTEMPTS").unwrap().parse().unwrap();
    let mut plan = plan(TASKS, attempts);
    plan.agents = AGENTS.map(str::to_owned).to_vec();
    for (at, task) in plan.tasks.iter_mut().enumerate() {
        (task.pattern, task.cluster) = (format!("made/up-{}", at % 12), format!("made/up-{}", at % 12));
        task.horizon = u32::try_from(at % 40).unwrap();
    }
    let run_folder = root.join("made-up");
    std::fs::create_dir_all(&run_folder).unwrap();
    let ledger = SqliteLedger::open_file(&root.join("ledger.sqlite"), jumping()).unwrap();
    let (id, _) = ledger.open("made-up", &plan, false).unwrap();
    let agents: Vec<Box<dyn Agent + Send>> = AGENTS.map(|name| Box::new(Named(name)) as _).into();
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let keeping = Keeping::Segments(Segments::of(&run_folder), false);
    let hold = Some(1_000_000_000_000);
    let driver =
        Driver { host: &Varied::default(), ledger: &ledger, agents: &agents, keeping, hold, jobs: 2, stop: &stop };
    run(&driver, id, &progress).unwrap();
    assert_eq!(progress.recorded.load(Ordering::Relaxed), plan.trials());
}
