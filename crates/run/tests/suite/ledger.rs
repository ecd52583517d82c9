//! Every trial is recorded exactly once, whoever dies or sleeps on the way.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::{
    folder::folder,
    made_up::{jumping, open, plan},
};
use benchwright_pack::{
    CheckStatus, Ending, OpenPart, Refusal, RunPlan, Trace, TrialKey, Verdict,
    run::{Limits, TrialEnd},
};
use benchwright_project::Family;
use benchwright_run::{
    Agent, AgentError, Driver, Finished, Host, HostError, Hosted, Keeping, LedgerStore, Left, Played, Progress, Sealed,
    Segments, SqliteLedger, Stop, ToolCard, TrialFolder,
    folder::{SNAPSHOT_FILE, kept_diff},
    run, sweep,
};
use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};

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
    fn finish(self: Box<Self>, _: bool) -> Result<Finished, HostError> {
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
        let left = Some(Left { snapshot: b"{}".to_vec(), diff: "[]".to_owned() });
        Ok(Finished { trace, left, verdict, frame_rules: Vec::new(), world: 1 })
    }
}

impl Host for MadeUpHost {
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

/// Works off a run.
fn work_off(keeping: Keeping, ledger: &SqliteLedger, plan: &RunPlan, failures: u32, jobs: usize) -> Progress {
    let (id, _) = ledger.open("made-up", plan, false).unwrap();
    let agents: Vec<Box<dyn Agent + Send>> = vec![Box::new(Steady { failures: AtomicU32::new(failures) })];
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let hold = Some(1_000_000_000);
    let driver = Driver { host: &MadeUpHost, ledger, agents: &agents, keeping, hold, jobs, stop: &stop };
    run(&driver, id, &progress).unwrap();
    progress
}

fn folders(root: &Path) -> Keeping {
    Keeping::Folders(TrialFolder::of(root))
}

fn opened(root: &Path) -> SqliteLedger {
    SqliteLedger::open_file(&root.join("ledger.sqlite"), jumping()).unwrap()
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
    let ledger = opened(&root);
    let plan = plan(40, 5);
    let progress = work_off(folders(&root), &ledger, &plan, 0, 8);
    assert_eq!(progress.recorded.load(Ordering::Relaxed), 200);
    let (id, is_new) = ledger.open("again", &plan, false).unwrap();
    assert!(!is_new, "the same plan is the same run");
    let mut keys: Vec<TrialKey> = ledger.chain(id).unwrap().records.into_iter().map(|(_, record)| record.key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 200);
    let expected: Vec<String> = (1..=200).map(|n| format!("{n:06}")).collect();
    assert_eq!(names(&root), expected);
    // Nothing is left to do.
    assert_eq!(work_off(folders(&root), &ledger, &plan, 0, 2).recorded.load(Ordering::Relaxed), 0);
    let (other, is_new) = ledger.open("another", &plan, true).unwrap();
    assert!(is_new && other != id);
}

#[test]
fn a_failure_that_passes_is_tried_again_and_one_that_stays_is_an_error_with_its_cause() {
    let root = folder("errors");
    let ledger = opened(&root);
    let plan = plan(1, 1);
    work_off(folders(&root), &ledger, &plan, 2, 1);
    let (id, _) = ledger.open("", &plan, false).unwrap();
    assert!(
        matches!(ledger.chain(id).unwrap().records[0].1.end, TrialEnd::Scored(_)),
        "two failures, then it went well"
    );
    let (id, _) = ledger.open("second", &plan, true).unwrap();
    work_off(folders(&root), &ledger, &plan, 99, 1);
    let records = ledger.chain(id).unwrap().records;
    assert!(matches!(&records[0].1.end, TrialEnd::Error { cause, .. } if cause == "server"));
    assert_eq!(ledger.standing(id).unwrap().errors, 1);
    assert_eq!(ledger.reopen_errors(id).unwrap(), 1);
    work_off(folders(&root), &ledger, &plan, 0, 1);
    assert!(matches!(ledger.chain(id).unwrap().records[0].1.end, TrialEnd::Scored(_)));
}

#[test]
fn what_a_dead_process_left_is_swept() {
    let root = folder("sweep");
    let ledger = opened(&root);
    let plan = plan(2, 1);
    for orphan in [".under-way-000001-7", "000002"] {
        fs::create_dir_all(root.join("trials").join(orphan)).unwrap();
    }
    work_off(folders(&root), &ledger, &plan, 0, 1);
    assert_eq!(names(&root), ["000001", "000002"]);
    assert!(root.join("trials/000002/verdict.json").exists(), "it is the new one");
    let kept = TrialFolder::of(&root).read(1).unwrap();
    assert_eq!(kept.verdict.unwrap().ending, Ending::Pass);
    assert_eq!(TrialFolder::of(&root).unpacked(1, SNAPSHOT_FILE).unwrap(), b"{}");
}

#[test]
fn records_are_one_chain_whoever_records_them() {
    let root = folder("chain");
    let path = root.join("ledger.sqlite");
    let ledgers = [(); 2].map(|()| SqliteLedger::open_file(&path, jumping()).unwrap());
    let plan = plan(30, 2);
    let (id, _) = ledgers[0].open("made-up", &plan, false).unwrap();
    assert_eq!(ledgers[0].chain(id).unwrap().hashes.len(), 1, "a run is the first link of its own chain");
    // Two runners on one ledger, four workers each, and one error that is tried again.
    std::thread::scope(|scope| {
        for ledger in &ledgers {
            scope.spawn(|| work_off(folders(&root), ledger, &plan, 1, 4));
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
    let ledger = opened(&root);
    let plan = plan(2, 1);
    work_off(folders(&root), &ledger, &plan, 99, 1);
    let (id, _) = ledger.open("", &plan, false).unwrap();
    let before = ledger.chain(id).unwrap();
    assert_eq!(ledger.reopen_errors(id).unwrap(), 2);
    work_off(folders(&root), &ledger, &plan, 0, 1);
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
        (
            "update trial set state = 0, record = null, link = null where number = 4",
            "trial 4: the chain has a record of it",
        ),
        ("update trial set failed = 1 where number = 5", "trial 5: its row and its record differ"),
        ("update trial set link = 2 where number = 5", "trial 5: its row names another link"),
        ("update trial set record = null where number = 5", "trial 5: its row has a record where the chain has none"),
        (
            "insert into trial select run, 99, state, fence, until, tries, failed, link, record from trial where number = 1",
            "trial 99: the plan has no such trial",
        ),
        ("delete from link where place = 2", "link 2 was deleted from the chain"),
        (
            "update link set place = 99 where place = 2; update link set place = 2 where place = 3; update link set place = 3 where place = 99",
            "link 2 of the chain does not follow",
        ),
        (
            "insert into link select run, 7, numbers, record, folder, segment, hash from link where place = 6",
            "records it a second time",
        ),
        ("update link set folder = '11' where place = 1", "link 1 of the chain does not follow"),
        ("delete from link where place = 6", "it is recorded, and the chain has no link of it"),
        ("update task set line = replace(line, 'easy', 'hard')", "the plan was changed"),
        ("update run set plan = replace(plan, 'steady', 'other')", "the plan was changed"),
        ("update link set numbers = '1-3' where place = 1", "link 1 of the chain does not follow"),
        ("update link set numbers = '1-99999999' where place = 1", "link 1 of the chain names no trials"),
        ("update run set name = 'better'", "link 1 of the chain does not follow"),
    ];
    for (forged, expected) in all {
        let root = folder("changed");
        let path = root.join("ledger.sqlite");
        let (ledger, plan) = (opened(&root), plan(6, 1));
        work_off(folders(&root), &ledger, &plan, 0, 1);
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
    let (ledger, plan) = (SqliteLedger::open_file(&path, Box::new(|| 0)).unwrap(), plan(3, 1));
    let (id, _) = ledger.open("made-up", &plan, false).unwrap();
    let far = "update trial set state = 3, until = 9000000000000000 where number = 2";
    rusqlite::Connection::open(&path).unwrap().execute_batch(far).unwrap();
    let agents: Vec<Box<dyn Agent + Send>> = vec![Box::new(Steady { failures: AtomicU32::new(0) })];
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let (ledger, keeping, hold) = (&ledger, folders(&root), Some(300));
    let driver = Driver { host: &MadeUpHost, ledger, agents: &agents, keeping, hold, jobs: 2, stop: &stop };
    let told = run(&driver, id, &progress).unwrap_err().to_string();
    assert!(told.contains("trial 2") && told.contains("in 9000000000000 s"), "{told}");
    assert_eq!(progress.recorded.load(Ordering::Relaxed), 2, "the others are recorded");
}

#[test]
fn what_fails_names_the_ledger() {
    let root = folder("named");
    let path = root.join("ledger.sqlite");
    fs::write(&path, "no database, but long enough to be taken for one by its length").unwrap();
    let told = SqliteLedger::open_file(&path, jumping()).err().unwrap().to_string();
    assert!(told.contains("ledger.sqlite"), "{told}");
    fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 1).unwrap();
    let told = SqliteLedger::open_file(&path, jumping()).err().unwrap().to_string();
    assert!(told.contains("ledger.sqlite") && told.contains("form 1"), "{told}");
}

#[test]
fn a_long_diff_is_left_out_and_says_so() {
    assert_eq!(kept_diff("[]"), "[]");
    let long = "x".repeat((4 << 20) + 1);
    assert_eq!(kept_diff(&long), r#"{"left_out":{"bytes":4194305,"most":4194304}}"#);
}

fn segments(root: &Path) -> Keeping {
    Keeping::Segments(Segments::of(root), false)
}

/// What a worker left that was killed, while others hold trials all the time, goes once all are recorded and not before.
#[test]
fn what_nobody_named_goes_when_all_is_recorded() {
    let root = folder("stray");
    let ledger = opened(&root);
    let plan = plan(10, 2);
    let (id, _) = ledger.open("made-up", &plan, false).unwrap();
    let other = ledger.join(id, 1_000_000_000).unwrap();
    let held = ledger.claim(other, 3).unwrap().unwrap();
    let stray = root.join("segments/00000077-1.trials.parquet");
    fs::create_dir_all(root.join("segments")).unwrap();
    fs::write(&stray, "half").unwrap();
    sweep(&ledger, id, &segments(&root)).unwrap();
    assert!(stray.is_file(), "somebody holds trials, and it may be theirs");
    ledger.give_back(&held, &held.trials.iter().map(|claim| claim.number).collect::<Vec<_>>()).unwrap();
    work_off(segments(&root), &ledger, &plan, 2, 4);
    fs::write(&stray, "half").unwrap();
    sweep(&ledger, id, &segments(&root)).unwrap();
    assert!(!stray.exists(), "all is recorded");
    let chain = ledger.chain(id).unwrap();
    assert_eq!((chain.recorded, chain.flaws.as_slice()), (20, &[][..]));
    for link in &chain.segments {
        assert!(!Segments::of(&root).records(link).unwrap().is_empty());
    }
}

#[test]
fn segments_keep_what_folders_keep() {
    let root = folder("segments");
    let ledger = opened(&root);
    let plan = plan(40, 5);
    // Left by a process that was killed before the ledger named it.
    fs::create_dir_all(root.join("segments")).unwrap();
    fs::write(root.join("segments/00000077-1.trials.parquet"), "half").unwrap();
    let progress = work_off(segments(&root), &ledger, &plan, 3, 4);
    assert_eq!(progress.recorded.load(Ordering::Relaxed), 200);
    let (id, _) = ledger.open("", &plan, false).unwrap();
    let chain = ledger.chain(id).unwrap();
    assert_eq!((chain.recorded, chain.flaws.as_slice(), chain.records.len()), (200, &[][..], 0));
    let kept = Segments::of(&root);
    assert_eq!(
        kept.names().unwrap().len(),
        chain.segments.len(),
        "no steps, no transcripts, nothing that is not named"
    );
    let mut numbers = Vec::new();
    for link in &chain.segments {
        let (all, segment) = (kept.records(link).unwrap(), kept.read(link).unwrap());
        for (number, record) in &all {
            assert_eq!(Some(&record.key), plan.key(*number).as_ref());
            assert!(matches!(&record.end, TrialEnd::Scored(score) if score.pass && score.reward == 1_000_000));
            assert_eq!(segment.record(*number), Some(record));
            assert_eq!(segment.kept(*number).unwrap().trace.role, "planner");
        }
        numbers.extend(all.iter().map(|(number, _)| *number));
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=200).collect::<Vec<_>>());
    // Any byte that differs is told.
    let link = &chain.segments[0];
    let path = kept.place(&link.name, "trials");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    let told = kept.records(link).unwrap_err().to_string();
    assert!(told.contains(&link.name) && told.contains("its digest differs"), "{told}");
}

/// The last hash of the chain as the program said that wrote the file.
const HEAD_OF_FORM_2: &str = "424b3dae5a89b2a1b95815d8ae332bdb1b965bb4a439db85d5802df4d2715c95";

#[test]
fn a_ledger_of_the_form_before_is_brought_over_and_stays_beside() {
    let root = folder("form-2");
    let path = root.join("ledger.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch(include_str!("../data/form2.sql")).unwrap();
    for _ in 0..2 {
        let ledger = opened(&root);
        let run = ledger.newest().unwrap().unwrap();
        let chain = ledger.chain(run).unwrap();
        assert_eq!((chain.head(), chain.flaws.as_slice()), (HEAD_OF_FORM_2, &[][..]));
        assert_eq!((chain.recorded, chain.records.len(), chain.folders.len()), (4, 4, 4));
        let standing = ledger.standing(run).unwrap();
        assert_eq!((standing.planned, standing.recorded, standing.errors), (4, 4, 2));
    }
    // It goes on as any other does.
    let ledger = opened(&root);
    let run = ledger.newest().unwrap().unwrap();
    assert_eq!(ledger.reopen_errors(run).unwrap(), 2);
    let worker = ledger.join(run, 1).unwrap();
    assert_eq!(ledger.claim(worker, 9).unwrap().unwrap().trials.len(), 2);
    let kept = rusqlite::Connection::open(root.join("ledger.sqlite.form2")).unwrap();
    let form: i64 = kept.query_row("pragma user_version", [], |row| row.get(0)).unwrap();
    let done: i64 = kept.query_row("select count(*) from trial where state = 'done'", [], |row| row.get(0)).unwrap();
    assert_eq!((form, done), (2, 4), "as it was");
    // One that was bent before is no better afterwards.
    let bent = root.join("bent");
    fs::create_dir(&bent).unwrap();
    let file = rusqlite::Connection::open(bent.join("ledger.sqlite")).unwrap();
    file.execute_batch(include_str!("../data/form2.sql")).unwrap();
    file.execute_batch("update trial set record = replace(record, 'task', 'tusk') where number = 3").unwrap();
    drop(file);
    let told = opened(&bent).chain(run).unwrap().flaws;
    assert!(told.iter().any(|flaw| flaw.trial == Some(3)), "{told:?}");
}
