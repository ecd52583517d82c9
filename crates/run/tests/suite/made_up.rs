//! Plans, records and a clock that are made up, for whoever tries a ledger.

use benchwright_base::Digest;
use benchwright_pack::{
    OpenPart, OpenTask, RunPlan, TaskLine, TrialKey, TrialRecord,
    run::{Limits, RUN_VERSION, Spent, TrialEnd, Used},
};
use benchwright_run::Clock;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

/// A plan of one agent.
pub(crate) fn plan(tasks: u32, attempts: u32) -> RunPlan {
    let line = |n: u32| TaskLine {
        id: format!("made-up-{n}"),
        digest: Digest::of(&n.to_be_bytes()).to_string(),
        domain: "made-up".to_owned(),
        pattern: "made/up".to_owned(),
        tier: "easy".to_owned(),
        dials: Vec::new(),
        objective: "none".to_owned(),
        cluster: "made/up".to_owned(),
        pair: None,
        obstacle: None,
        problem: None,
        horizon: 1,
        parameters: Default::default(),
    };
    let agents = vec!["steady".to_owned()];
    let tasks = (0..tasks).map(line).collect();
    let (settings, limits) = (BTreeMap::new(), Limits::default());
    RunPlan { version: RUN_VERSION, tasks, agents, settings, attempts, limits }
}

/// The open part of a task of which there is nothing but the id.
pub(crate) fn open(id: &str) -> OpenPart {
    let open = OpenTask {
        version: 1,
        canary: String::new(),
        id: id.to_owned(),
        domain: "made-up".to_owned(),
        role: "planner".to_owned(),
        actor: None,
        tools: Vec::new(),
        calls: 1,
        instruction: String::new(),
        world: String::new(),
        faults: None,
    };
    OpenPart { open, instruction: String::new(), world: Vec::new() }
}

/// A record of an error.
pub(crate) fn error(key: &TrialKey) -> TrialRecord {
    let end = TrialEnd::Error { cause: "made-up".to_owned(), detail: String::new() };
    TrialRecord { key: key.clone(), end, used: Used::default(), trusted: false, failed: None, spent: Spent::default() }
}

/// A clock that stands still until it is told.
#[derive(Clone, Default)]
pub(crate) struct Still(Arc<AtomicI64>);

impl Still {
    pub(crate) fn pass(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }

    pub(crate) fn clock(&self) -> Clock {
        let now = Arc::clone(&self.0);
        Box::new(move || now.load(Ordering::Relaxed))
    }
}

/// A clock that jumps ahead whenever it is read, so that no test waits for a real one.
pub(crate) fn jumping() -> Clock {
    let now = AtomicI64::new(0);
    Box::new(move || now.fetch_add(1_000, Ordering::Relaxed))
}
