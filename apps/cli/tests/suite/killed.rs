//! `run` is killed at random moments and resumed: every trial is recorded exactly once, none is lost, no file is an orphan.
//! `BENCHWRIGHT_KILLS` says how often; five times by default.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::programs::processes_with;
use benchwright_base::Stream;
use serde_json::Value as Json;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

const AGENTS: [&str; 3] = ["random", "greedy", "oracle"];
const ATTEMPTS: usize = 30;
const TRIALS: usize = 5 * AGENTS.len() * ATTEMPTS;

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("killed");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn benchwright(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchwright"));
    command.current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

fn start(folder: &Path) -> Child {
    let mut command = benchwright(folder);
    command.args(["run", "demo", "--json", "--jobs", "2", "-k", &ATTEMPTS.to_string()]);
    for agent in AGENTS {
        command.args(["--agent", agent]);
    }
    command.stdout(Stdio::piped()).spawn().unwrap()
}

fn task_ids(folder: &Path) -> Vec<String> {
    let open = fs::read_dir(folder.join("demo/open")).unwrap();
    let mut ids: Vec<String> = open.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    ids.sort();
    ids
}

#[test]
fn a_run_that_is_killed_goes_on_and_records_each_trial_once() {
    let folder = folder();
    assert!(benchwright(&folder).args(["demo", "-o", "demo"]).stdout(Stdio::null()).status().unwrap().success());
    let kills: u32 = std::env::var("BENCHWRIGHT_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(5);
    let mut moments = Stream::new(7, &["killed"]);
    let mut killed = 0;
    for _ in 0..kills {
        let mut child = start(&folder);
        sleep(Duration::from_millis(moments.below(600) + 50));
        // A child that has ended by itself is left in peace.
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
    }
    assert!(killed > 0, "every run ended before it could be killed");
    let output = start(&folder).wait_with_output().unwrap();
    assert!(output.status.success());
    let told: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["planned"], TRIALS);
    assert_eq!((&told["attempted"], &told["scored"], &told["errors"]), (&TRIALS.into(), &TRIALS.into(), &0.into()));
    assert_eq!(told["agents"]["oracle"]["pass_at_1"], 1.0);
    // One folder for each trial, whole, and nothing else.
    let trials = folder.join("runs").join(told["run"].as_str().unwrap()).join("trials");
    let names: BTreeSet<String> =
        fs::read_dir(&trials).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let expected: BTreeSet<String> = (1..=TRIALS).map(|number| format!("{number:06}")).collect();
    assert_eq!(names, expected);
    for name in &names {
        for file in ["trial.json", "trace.json", "verdict.json", "diff.json.gz", "snapshot.json.gz", "timing.json"] {
            assert!(trials.join(name).join(file).is_file(), "{name}/{file}");
        }
    }
    // All was one run.
    let runs =
        fs::read_dir(folder.join("runs")).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count();
    assert_eq!(runs, 1);
    // What is kept is judged again to the same verdict.
    let ids = task_ids(&folder);
    for name in names.iter().step_by(37) {
        let trial: Json = serde_json::from_slice(&fs::read(trials.join(name).join("trial.json")).unwrap()).unwrap();
        let number: usize = name.parse().unwrap();
        // Trials are numbered agent by agent, attempt by attempt, task by task.
        let task = Path::new("demo/open").join(&ids[(number - 1) % ids.len()]);
        let snapshot = trials.join(name).join("snapshot.json.gz");
        let again = benchwright(&folder).arg("grade").arg(task).arg(snapshot).arg("--json").output().unwrap();
        let again: Json = serde_json::from_slice(&again.stdout).unwrap();
        let kept: Json = serde_json::from_slice(&fs::read(trials.join(name).join("verdict.json")).unwrap()).unwrap();
        assert_eq!(again, kept, "{name} {}", trial["key"]);
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Programs in sandboxes: `BENCHWRIGHT_TRIALS` trials of a small one, and the runner killed so often at as many moments. Nothing is lost, nothing
/// is there twice, and no process is left.
#[test]
fn a_run_of_programs_that_is_killed_leaves_no_process_and_loses_no_trial() {
    let number = |name: &str, usual: u32| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (trials, kills) = (number("BENCHWRIGHT_TRIALS", 40), number("BENCHWRIGHT_KILLS", 3));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("killed-programs");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    assert!(benchwright(&folder).args(["demo", "-o", "demo"]).stdout(Stdio::null()).status().unwrap().success());
    let start = || {
        let mut command = benchwright(&folder);
        command.args(["run", "demo", "--json", "--jobs", "4", "-k", &(trials / 5).to_string(), "--agent"]);
        command.arg("exec:(setsid sleep 983.75 &); sleep 0.05").stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut moments = Stream::new(8, &["killed programs"]);
    let mut killed = 0;
    for _ in 0..kills {
        let mut child = start();
        sleep(Duration::from_millis(moments.below(u64::from(trials) * 20 / u64::from(kills)) + 400));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
        let begun = std::time::Instant::now();
        while processes_with("983.75") > 0 {
            assert!(begun.elapsed() < Duration::from_secs(10), "a program outlives its runner");
            sleep(Duration::from_millis(20));
        }
    }
    assert!(killed > 0, "every run ended before it could be killed");
    let output = start().wait_with_output().unwrap();
    let told: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["planned"], &told["scored"], &told["errors"]), (&trials.into(), &trials.into(), &0.into()));
    let kept = fs::read_dir(folder.join("runs").join(told["run"].as_str().unwrap()).join("trials")).unwrap();
    assert_eq!(kept.count(), trials as usize);
    assert_eq!(processes_with("983.75"), 0);
    fs::remove_dir_all(&folder).unwrap();
}
