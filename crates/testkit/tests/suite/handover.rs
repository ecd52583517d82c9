//! A family in a joined world that asks no solver, from making to grading: what applies to it holds, what does not says why.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_catalog::Catalog;
use benchwright_grade::FULL;
use benchwright_pack::{
    BoundKeys, CANARY, Ending, RunPlan, Split, Store, Suite, SuiteTask, Task,
    run::{Limits, RUN_VERSION, TrialEnd},
};
use benchwright_run::{Driver, Keeping, LedgerStore as _, Progress, SqliteLedger, TrialFolder, policy, run};
use benchwright_serve::{Options, Server, Settings};
use benchwright_testkit::handover;
use benchwright_workshop::{
    Temporary, Workshop,
    audits::{self, AuditOptions},
    host::StoreHost,
    suites,
};
use serde_json::{Value as Json, json};
use std::{
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
};

const TASKS: [(&str, u64); 3] = [("easy", 1), ("medium", 2), ("medium", 3)];

/// Makes the tasks into a folder that is gone with the test.
fn made(catalog: &Catalog) -> (Temporary, Store) {
    let line = |(tier, seed): &(&str, u64)| SuiteTask {
        pattern: "desk/outage".to_owned(),
        tier: (*tier).to_owned(),
        objective: "hand_over".to_owned(),
        seed: *seed,
        reading: None,
        digest: None,
        cluster: None,
    };
    let mut suite = Suite {
        name: "handover".to_owned(),
        version: 1,
        family: "handover".to_owned(),
        split: Split::Test,
        canary: CANARY.to_owned(),
        salt: None,
        inject: 0,
        bars: benchwright_pack::SuiteBars::default(),
        solver: None,
        unbreakable: std::collections::BTreeMap::new(),
        tasks: TASKS.iter().map(line).collect(),
    };
    suite.solver = Some(suites::solver_for(catalog, &suite).unwrap().solver);
    assert!(suite.solver.as_ref().unwrap().version.starts_with("none"), "no solver is asked");
    assert!(!suites::audit_asks_solver(catalog, &suite, &AuditOptions::default()));
    let folder = Temporary::new().unwrap();
    let store = Store::at(folder.path());
    let built = suites::make(&Workshop::new(catalog.clone()), &suite, &store, false).unwrap();
    assert!(built.short.is_empty(), "{:?}", built.short);
    (folder, store)
}

fn tasks(store: &Store) -> Vec<Task> {
    store.ids().unwrap().iter().map(|id| store.task(id).unwrap()).collect()
}

#[test]
fn a_sealed_task_tells_its_family_and_lives_in_a_joined_world() {
    let (_folder, store) = made(&handover::catalog());
    for task in tasks(&store) {
        assert_eq!((&*task.open.domain, &*task.sealed.family), ("csm+itsm", "handover"));
        assert!(task.open.id.starts_with("csm-itsm-"), "{}", task.open.id);
        let tools: Vec<String> = task.sealed.oracle.steps.iter().map(|step| step.tool()).collect();
        assert!(["create_incident", "update_case"].iter().all(|tool| tools.iter().any(|known| known == tool)));
    }
    // A program without the family says which one it lacks.
    let id = &store.ids().unwrap()[0];
    let task = store.task(id).unwrap();
    let error = benchwright_workshop::tasks::Judged::open(&Catalog::built_in(), &task).err().unwrap().to_string();
    assert!(error.contains("there is no family `handover`"), "{error}");
}

#[test]
fn the_trials_that_apply_hold_and_the_others_say_why_not() {
    let catalog = handover::catalog();
    let (_folder, store) = made(&catalog);
    let audit = audits::folder(&Workshop::new(catalog), &store, &AuditOptions::default()).unwrap();
    assert!(audit.is_clean(), "{:?} {:?}", audit.errors, audit.report.shortfalls);
    let optimiser = "the family `handover` offers no optimiser: there is no plan to compare with";
    let reader = "the family `handover` offers no reader of its briefs: nobody reads its briefs but the agent";
    let passes = [
        "idle",
        "oracle",
        "near-miss",
        "both-sides",
        "frame",
        "cells",
        "aftermath",
        "spam",
        "monotone",
        "clauses",
        "leak",
        "regenerate",
    ];
    let tasks = TASKS.len() as u64;
    for (name, trial) in &audit.report.trials {
        if passes.contains(&&**name) {
            assert_eq!((trial.run, trial.passed), (tasks, tasks), "{name}: {:?}", audit.report.shortfalls);
            continue;
        }
        if name == "suite" {
            assert_eq!((trial.run, trial.na), (1, 1), "three tasks are no suite: {:?}", trial.na_because);
            continue;
        }
        let why = match &**name {
            "closed-book" | "ablate" => reader,
            "injection" => "no record carries a hostile text",
            _ => optimiser,
        };
        assert_eq!((trial.na, trial.na_because.get(why)), (tasks, Some(&tasks)), "{name}: {:?}", trial.na_because);
    }
    assert_eq!(audit.report.trials.len(), benchwright_audit::TRIALS.len());
    assert_eq!(audit.report.mutation_score, Some(1.0));
    // Three rules of seven cases and three frames are each broken by calls, and named.
    assert_eq!(audit.report.trials["near-miss"].counts["alone"], 24);
    // What a program prints and keeps says the same.
    let told = serde_json::to_value(&audit.report).unwrap();
    assert_eq!(told["trials"]["worse"]["na_because"][optimiser], tasks);
    let task = &self::tasks(&store)[0];
    assert_eq!(store.audit(task).unwrap().unwrap().trials["closed-book"], json!({ "held": "na", "why": reader }));
}

#[test]
fn the_runner_gives_the_oracle_everything_idle_nothing_and_greedy_an_error() {
    let catalog = handover::catalog();
    let (folder, store) = made(&catalog);
    let host = StoreHost::new(&catalog, store.clone());
    let names = ["idle", "oracle", "greedy"];
    let plan = RunPlan {
        version: RUN_VERSION,
        tasks: store.ids().unwrap().iter().map(|id| host.line(id).unwrap()).collect(),
        agents: names.map(str::to_owned).to_vec(),
        settings: Default::default(),
        attempts: 1,
        limits: Limits::default(),
    };
    let agents: Vec<_> = names.iter().map(|name| policy(name).unwrap()).collect();
    let now = std::sync::atomic::AtomicI64::new(0);
    let clock = Box::new(move || now.fetch_add(10_000, Ordering::Relaxed));
    let ledger = SqliteLedger::open_file(&folder.path().join("ledger.sqlite"), clock).unwrap();
    let (id, _) = ledger.open("handover", &plan, false).unwrap();
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let keeping = Keeping::Folders(TrialFolder::of(&folder.path().join("run")));
    let driver = Driver { host: &host, ledger: &ledger, agents: &agents, keeping, hold: None, jobs: 2, stop: &stop };
    run(&driver, id, &progress).unwrap();
    let records = ledger.chain(id).unwrap().records;
    assert_eq!(records.len(), TASKS.len() * names.len());
    for (_, record) in records {
        match (&*record.key.agent, &record.end) {
            ("idle", TrialEnd::Scored(score)) => assert_eq!((score.reward, score.pass), (0, false)),
            ("oracle", TrialEnd::Scored(score)) => assert_eq!((score.reward, score.pass), (FULL, true)),
            ("greedy", TrialEnd::Error { detail, .. }) => {
                assert!(detail.contains("offers no reader of its briefs"), "{detail}");
            }
            (agent, end) => panic!("{agent}: {end:?}"),
        }
    }
}

/// Posts JSON with a token.
fn post(to: SocketAddr, path: &str, token: &str, body: &Json) -> Json {
    let mut request = ureq::post(format!("http://{to}{path}")).header("authorization", format!("Bearer {token}"));
    request =
        request.header("accept", "application/json, text/event-stream").header("content-type", "application/json");
    let mut answer = request.send(body.to_string()).unwrap();
    serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
}

#[test]
fn it_is_served_over_mcp_and_judged_there() {
    let (_folder, store) = made(&handover::catalog());
    let settings =
        Settings { tasks: Some(store.root().to_owned()), may_read_sealed: true, ..Settings::of(handover::catalog()) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start(Options { settings, ..Options::default() })).unwrap();
    let control = server.control_token().reveal().to_owned();
    for task in tasks(&store) {
        let told = post(server.control_address(), "/episodes", &control, &json!({ "task": task.open.id }));
        let (id, token) = (told["id"].as_str().unwrap(), told["token"].as_str().unwrap());
        assert_eq!(told["instruction"], task.instruction);
        let graded = || post(server.control_address(), &format!("/episodes/{id}/grade"), &control, &json!({}));
        assert_eq!(graded()["ending"], "fail");
        let ids = task.sealed.verifier.keys.values().flatten().map(|(id, key)| (key.clone(), *id));
        let mut ledger = BoundKeys::new(ids);
        for step in &task.sealed.oracle.steps {
            let params = json!({ "name": step.tool(), "arguments": ledger.fill(&step.args).unwrap() });
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let answer = post(server.agent_address(), &format!("/episodes/{id}/mcp"), token, &call);
            assert_ne!(answer["result"]["isError"], true, "{answer}");
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            ledger.note(step, &serde_json::from_str(text).unwrap()).unwrap();
        }
        assert_eq!(graded()["ending"], "pass", "{}", graded());
    }
    runtime.block_on(server.stop());
    assert_eq!(serde_json::to_value(Ending::Pass).unwrap(), "pass");
}
