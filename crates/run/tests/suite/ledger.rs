//! Every trial is recorded exactly once, whoever dies or sleeps on the way.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::folder::folder;
use benchwright_base::Digest;
use benchwright_pack::{
    CheckStatus, Ending, OpenPart, OpenTask, Refusal, RunPlan, TaskLine, Trace, TrialKey, TrialRecord, Verdict,
    run::{Limits, RUN_VERSION, Spent, TrialEnd, Used},
};
use benchwright_project::Family;
use benchwright_run::{
    Agent, AgentError, Driver, Finish, Finished, Host, HostError, Hosted, LedgerStore, Played, Progress, Sealed,
    SqliteLedger, Stop, ToolCard, TrialFolder,
    folder::{SNAPSHOT_FILE, kept_diff},
    run,
};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering},
};

fn plan(tasks: u32, attempts: u32) -> RunPlan {
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
        horizon: 1,
        parameters: Default::default(),
    };
    let agents = vec!["steady".to_owned()];
    let tasks = (0..tasks).map(line).collect();
    let (settings, limits) = (BTreeMap::new(), Limits::default());
    RunPlan { version: RUN_VERSION, tasks, agents, settings, attempts, limits }
}

/// A host without a world: every episode ends with the same verdict.
struct MadeUpHost;

struct MadeUpEpisode;

impl Hosted for MadeUpEpisode {
    fn tools(&self) -> &[ToolCard] {
        &[]
    }
    fn call(&mut self, _: &str, _: &str) -> Result<String, Refusal> {
        Ok("{}".to_owned())
    }
    fn finish(self: Box<Self>) -> Result<Finished, HostError> {
        let verdict = Verdict {
            ending: Ending::Pass,
            reward: 1_000_000,
            constraints: 1_000_000,
            trace: 1_000_000,
            objective: 1_000_000,
            progress: 0,
            parts: Vec::new(),
            gates: Vec::new(),
            phases: Vec::new(),
            alarm: false,
            injection: None,
            paper_pass: true,
            checks: vec![benchwright_pack::Check {
                of: std::sync::Arc::new(benchwright_pack::Instance {
                    rule: "made/up".to_owned(),
                    code: "M.U".to_owned(),
                    family: "made-up".to_owned(),
                    at: Vec::new(),
                }),
                status: CheckStatus::Pass,
                why: None,
            }],
        };
        let trace = Trace {
            version: Trace::VERSION,
            domain: "made-up".to_owned(),
            domain_digest: String::new(),
            role: "planner".to_owned(),
            actor: None,
            start: String::new(),
            calls: Vec::new(),
            end: String::new(),
        };
        let snapshot = b"{}".to_vec();
        Ok(Finished { trace, snapshot, diff: "[]".to_owned(), verdict, frame_rules: Vec::new(), world: 1 })
    }
}

impl Host for MadeUpHost {
    fn open(&self, id: &str) -> Result<OpenPart, HostError> {
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
        Ok(OpenPart { open, instruction: String::new(), world: Vec::new() })
    }
    fn sealed(&self, _: &str) -> Result<Sealed, HostError> {
        Err(HostError { cause: "task", detail: "nothing is sealed here".to_owned() })
    }
    fn family(&self, _: &str) -> Result<&'static dyn Family, HostError> {
        Err(HostError { cause: "task", detail: "there is no family here".to_owned() })
    }
    fn begin(&self, _: &str) -> Result<Box<dyn Hosted + '_>, HostError> {
        Ok(Box::new(MadeUpEpisode))
    }
}

/// An agent that fails its first trials, as a server that comes and goes would make it.
struct Steady {
    failures: AtomicU32,
}

impl Agent for Steady {
    fn name(&self) -> &str {
        "steady"
    }
    fn play(&self, _: &dyn Host, _: &OpenPart, _: &mut dyn Hosted, _: u32, _: &Limits) -> Result<Played, AgentError> {
        let left = self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        match left {
            Ok(_) => Err(AgentError { cause: "server".to_owned(), detail: "503".to_owned() }),
            Err(_) => Ok(Played::plainly(Stop::Done)),
        }
    }
}

/// Works off a run with a clock that jumps ahead, so that no test waits for a real one.
fn work_off(root: &Path, ledger: &SqliteLedger, plan: &RunPlan, failures: u32, jobs: usize) -> Progress {
    let (id, _) = ledger.open("made-up", plan, false).unwrap();
    let agents: Vec<Box<dyn Agent + Send>> = vec![Box::new(Steady { failures: AtomicU32::new(failures) })];
    let (clock, stop, progress) = (AtomicI64::new(0), AtomicBool::new(false), Progress::default());
    let now = || clock.fetch_add(1_000, Ordering::Relaxed);
    let driver = Driver {
        host: &MadeUpHost,
        ledger,
        agents: &agents,
        folders: TrialFolder::of(root),
        now: &now,
        lease: Some(1_000_000_000),
        jobs,
        stop: &stop,
    };
    run(&driver, id, &progress).unwrap();
    progress
}

fn names(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root.join("trials"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn many_workers_record_each_trial_once() {
    let root = folder("once");
    let ledger = SqliteLedger::open_file(&root.join("ledger.sqlite")).unwrap();
    let plan = plan(40, 5);
    let progress = work_off(&root, &ledger, &plan, 0, 8);
    assert_eq!(progress.recorded.load(Ordering::Relaxed), 200);
    let (id, is_new) = ledger.open("again", &plan, false).unwrap();
    assert!(!is_new, "the same plan is the same run");
    let mut keys: Vec<TrialKey> = ledger.records(id).unwrap().into_iter().map(|(_, record)| record.key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 200);
    let expected: Vec<String> = (1..=200).map(|n| format!("{n:06}")).collect();
    assert_eq!(names(&root), expected);
    // Nothing is left to do.
    assert_eq!(work_off(&root, &ledger, &plan, 0, 2).recorded.load(Ordering::Relaxed), 0);
    let (other, is_new) = ledger.open("another", &plan, true).unwrap();
    assert!(is_new && other != id);
}

/// The digest of a folder that nobody looks at.
const FOLDER: &str = "00";

fn record(key: &TrialKey) -> TrialRecord {
    let end = TrialEnd::Error { cause: "made-up".to_owned(), detail: String::new() };
    TrialRecord { key: key.clone(), end, used: Used::default(), trusted: false, failed: None, spent: Spent::default() }
}

#[test]
fn who_wakes_after_the_lease_writes_nothing() {
    let root = folder("lease");
    let ledger = SqliteLedger::open_file(&root.join("ledger.sqlite")).unwrap();
    let (id, _) = ledger.open("made-up", &plan(1, 1), false).unwrap();
    let sleeper = ledger.claim(id, 0, 100).unwrap().unwrap();
    assert_eq!(ledger.claim(id, 99, 100).unwrap(), None, "it is held");
    let other = ledger.claim(id, 100, 100).unwrap().unwrap();
    assert!(other.fence > sleeper.fence);
    let mut moved = 0;
    let mut place = || {
        moved += 1;
        Ok(())
    };
    assert_eq!(ledger.finish(&sleeper, &record(&sleeper.key), FOLDER, &mut place).unwrap(), Finish::Stale);
    assert!(!ledger.renew(&sleeper, 1_000).unwrap());
    ledger.give_back(&sleeper, 0).unwrap();
    assert_eq!(ledger.standing(id).unwrap().leased, 1, "a sleeper gives nothing back");
    assert_eq!(ledger.finish(&other, &record(&other.key), FOLDER, &mut place).unwrap(), Finish::Recorded);
    assert_eq!(ledger.finish(&other, &record(&other.key), FOLDER, &mut place).unwrap(), Finish::Stale, "once");
    assert_eq!(moved, 1);
    assert_eq!(ledger.claim(id, 10_000, 1).unwrap(), None);
}

#[test]
fn a_folder_that_cannot_be_placed_leaves_the_trial_open() {
    let root = folder("place");
    let ledger = SqliteLedger::open_file(&root.join("ledger.sqlite")).unwrap();
    let (id, _) = ledger.open("made-up", &plan(1, 1), false).unwrap();
    let claim = ledger.claim(id, 0, 100).unwrap().unwrap();
    let mut place = || Err(std::io::Error::other("the disk is full"));
    assert!(ledger.finish(&claim, &record(&claim.key), FOLDER, &mut place).is_err());
    assert_eq!(ledger.standing(id).unwrap().recorded, 0);
    assert!(ledger.claim(id, 100, 100).unwrap().is_some());
}

#[test]
fn a_failure_that_passes_is_tried_again_and_one_that_stays_is_an_error_with_its_cause() {
    let root = folder("errors");
    let ledger = SqliteLedger::open_file(&root.join("ledger.sqlite")).unwrap();
    let plan = plan(1, 1);
    work_off(&root, &ledger, &plan, 2, 1);
    let (id, _) = ledger.open("", &plan, false).unwrap();
    assert!(matches!(ledger.records(id).unwrap()[0].1.end, TrialEnd::Scored(_)), "two failures, then it went well");
    let (id, _) = ledger.open("second", &plan, true).unwrap();
    work_off(&root, &ledger, &plan, 99, 1);
    let records = ledger.records(id).unwrap();
    assert!(matches!(&records[0].1.end, TrialEnd::Error { cause, .. } if cause == "server"));
    assert_eq!(ledger.standing(id).unwrap().errors, 1);
    assert_eq!(ledger.reopen_errors(id).unwrap(), 1);
    work_off(&root, &ledger, &plan, 0, 1);
    assert!(matches!(ledger.records(id).unwrap()[0].1.end, TrialEnd::Scored(_)));
}

#[test]
fn what_a_dead_process_left_is_swept() {
    let root = folder("sweep");
    let ledger = SqliteLedger::open_file(&root.join("ledger.sqlite")).unwrap();
    let plan = plan(2, 1);
    for orphan in [".under-way-000001-7", "000002"] {
        fs::create_dir_all(root.join("trials").join(orphan)).unwrap();
    }
    work_off(&root, &ledger, &plan, 0, 1);
    assert_eq!(names(&root), ["000001", "000002"]);
    assert!(root.join("trials/000002/verdict.json").exists(), "it is the new one");
    let kept = TrialFolder::of(&root).read(1).unwrap();
    assert_eq!(kept.verdict.ending, Ending::Pass);
    assert_eq!(TrialFolder::of(&root).unpacked(1, SNAPSHOT_FILE).unwrap(), b"{}");
}

#[test]
fn records_are_one_chain_whoever_records_them() {
    let root = folder("chain");
    let path = root.join("ledger.sqlite");
    let ledgers = [SqliteLedger::open_file(&path).unwrap(), SqliteLedger::open_file(&path).unwrap()];
    let plan = plan(30, 2);
    let (id, _) = ledgers[0].open("made-up", &plan, false).unwrap();
    assert_eq!(ledgers[0].chain(id).unwrap().hashes.len(), 1, "a run is the first link of its own chain");
    // Two runners on one ledger, four workers each, and one error that is tried again.
    std::thread::scope(|scope| {
        for ledger in &ledgers {
            scope.spawn(|| work_off(&root, ledger, &plan, 1, 4));
        }
    });
    let chain = ledgers[0].chain(id).unwrap();
    assert_eq!((chain.flaws.as_slice(), chain.hashes.len(), chain.records.len()), (&[][..], 61, 60));
    let folders = TrialFolder::of(&root);
    for (number, digest) in &chain.folders {
        assert_eq!(folders.digest(*number).unwrap(), *digest, "trial {number}");
    }
    // The times of a trial are of no digest; every other byte and name is.
    fs::write(folders.place(7).join("timing.json"), "{}").unwrap();
    assert_eq!(folders.digest(7).unwrap(), chain.folders[&7]);
    fs::write(folders.place(7).join("more.json"), "{}").unwrap();
    assert_ne!(folders.digest(7).unwrap(), chain.folders[&7]);
}

#[test]
fn an_error_that_is_opened_again_stays_in_the_chain() {
    let root = folder("reopened");
    let ledger = SqliteLedger::open_file(&root.join("ledger.sqlite")).unwrap();
    let plan = plan(2, 1);
    work_off(&root, &ledger, &plan, 99, 1);
    let (id, _) = ledger.open("", &plan, false).unwrap();
    let before = ledger.chain(id).unwrap();
    assert_eq!(ledger.reopen_errors(id).unwrap(), 2);
    work_off(&root, &ledger, &plan, 0, 1);
    let after = ledger.chain(id).unwrap();
    assert_eq!((after.flaws.as_slice(), after.hashes.len()), (&[][..], 7), "two errors, opened again, two scores");
    assert!(after.hashes.starts_with(&before.hashes), "what was published stays part of it");
}

#[test]
fn a_ledger_that_was_changed_is_told_with_the_trial() {
    let all = [
        (
            "update trial set record = replace(record, 'true', 'false') where number = 3",
            "trial 3: its row in the ledger was changed",
        ),
        ("update trial set record = '{' where number = 3", "trial 3: its record in the ledger cannot be read"),
        ("delete from trial where number = 4", "trial 4: its row was deleted"),
        ("update trial set state = 'open', record = null where number = 4", "trial 4: the chain has a record of it"),
        ("update trial set failed = 1 where number = 5", "trial 5: its row and its record differ"),
        ("update trial set agent = 'other' where number = 5", "trial 5: its row is of another trial"),
        (
            "insert into trial select run, 99, task, 'x', attempt, state, fence, until, tries, failed, record from trial where number = 1",
            "trial 99: the plan has no such trial",
        ),
        ("delete from link where place = 2", "link 2 was deleted from the chain"),
        (
            "update link set place = 99 where place = 2; update link set place = 2 where place = 3; update link set place = 3 where place = 99",
            "link 2 of the chain does not follow",
        ),
        (
            "insert into link select run, 7, number, record, folder, hash from link where place = 6",
            "records it a second time",
        ),
        ("update link set folder = '11' where place = 1", "link 1 of the chain does not follow"),
        ("delete from link where place = 6", "it is recorded, and the chain has no link of it"),
        ("update run set plan = replace(plan, 'easy', 'hard')", "the plan was changed"),
        ("update run set name = 'better'", "link 1 of the chain does not follow"),
    ];
    for (forged, expected) in all {
        let root = folder("changed");
        let path = root.join("ledger.sqlite");
        let (ledger, plan) = (SqliteLedger::open_file(&path).unwrap(), plan(6, 1));
        work_off(&root, &ledger, &plan, 0, 1);
        let id = ledger.newest().unwrap().unwrap();
        assert_eq!(ledger.chain(id).unwrap().flaws, []);
        rusqlite::Connection::open(&path).unwrap().execute_batch(forged).unwrap();
        let told: Vec<String> = ledger.chain(id).unwrap().flaws.iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|told| told.contains(expected)), "{forged}: {told:?}");
    }
}

/// A row that says that its trial can be had in a thousand years is no reason to wait for that.
#[test]
fn a_trial_that_nobody_can_have_is_an_error_and_no_wait() {
    let root = folder("stuck");
    let path = root.join("ledger.sqlite");
    let (ledger, plan) = (SqliteLedger::open_file(&path).unwrap(), plan(3, 1));
    let (id, _) = ledger.open("made-up", &plan, false).unwrap();
    let far = "update trial set until = 9000000000000000 where number = 2";
    rusqlite::Connection::open(&path).unwrap().execute_batch(far).unwrap();
    let agents: Vec<Box<dyn Agent + Send>> = vec![Box::new(Steady { failures: AtomicU32::new(0) })];
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let driver = Driver {
        host: &MadeUpHost,
        ledger: &ledger,
        agents: &agents,
        folders: TrialFolder::of(&root),
        now: &|| 0,
        lease: Some(300),
        jobs: 2,
        stop: &stop,
    };
    let told = run(&driver, id, &progress).unwrap_err().to_string();
    assert!(told.contains("trial 2") && told.contains("in 9000000000000 s"), "{told}");
    assert_eq!(progress.recorded.load(Ordering::Relaxed), 2, "the others are recorded");
}

#[test]
fn what_fails_names_the_ledger() {
    let root = folder("named");
    let path = root.join("ledger.sqlite");
    fs::write(&path, "no database, but long enough to be taken for one by its length").unwrap();
    let told = SqliteLedger::open_file(&path).err().unwrap().to_string();
    assert!(told.contains("ledger.sqlite"), "{told}");
    fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 1).unwrap();
    let told = SqliteLedger::open_file(&path).err().unwrap().to_string();
    assert!(told.contains("ledger.sqlite") && told.contains("form 1"), "{told}");
}

#[test]
fn a_long_diff_is_left_out_and_says_so() {
    assert_eq!(kept_diff("[]"), "[]");
    let long = "x".repeat((4 << 20) + 1);
    assert_eq!(kept_diff(&long), r#"{"left_out":{"bytes":4194305,"most":4194304}}"#);
}
