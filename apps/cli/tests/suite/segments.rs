//! Runs of many trials, which are kept in segments: killed and resumed, judged again, and forged in the ways that segments can be.

use crate::{
    common::{Place, said},
    programs::benchwright,
};
use rusqlite::Connection;
use serde_json::Value as Json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

const AGENTS: [&str; 3] = ["idle", "random", "oracle"];
const ATTEMPTS: usize = 200;
const TRIALS: usize = 2 * AGENTS.len() * ATTEMPTS;

fn run(folder: &Path) -> Command {
    let mut command = benchwright(folder);
    command.args(["run", "grids", "--json", "--jobs", "2", "-k", &ATTEMPTS.to_string()]);
    for agent in AGENTS {
        command.args(["--agent", agent]);
    }
    command
}

fn verify(folder: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = benchwright(folder).args(["report", "--verify"]).args(more).output().unwrap();
    (output.status.code(), said(&output))
}

/// The files of a table of all segments, in order.
fn files(run: &Path, table: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(run.join("segments")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.to_string_lossy().ends_with(&format!(".{table}.parquet"))).collect();
    found.sort();
    found
}

#[test]
fn a_run_in_segments_is_killed_resumed_judged_again_and_forged() {
    let place = Place::new("segments");
    let folder = &place.0;
    let new = ["new", "grid/travel", "--tier", "h01-b00", "--seed", "1", "--count", "2", "-o", "grids"];
    assert!(benchwright(folder).args(new).output().unwrap().status.success());
    let mut killed = 0;
    for moment in [250, 400, 700] {
        let mut child = run(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(moment));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
    }
    assert!(killed > 0, "every run ended before it could be killed");
    let output = run(folder).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let told: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["planned"], &told["scored"], &told["errors"]), (&TRIALS.into(), &TRIALS.into(), &0.into()));
    assert_eq!(
        (&told["agents"]["oracle"]["pass_at_1"], &told["agents"]["idle"]["pass_at_1"]),
        (&1.0.into(), &0.0.into())
    );
    let kept = folder.join("runs").join(told["run"].as_str().unwrap());
    assert!(!kept.join("trials").exists(), "no trial has a folder");
    assert!(fs::read_dir(kept.join("segments")).unwrap().count() < TRIALS / 4);
    // Everything is judged again, from nothing but the calls.
    let (code, text) = verify(folder, &["--head", told["head"].as_str().unwrap()]);
    assert!(code == Some(0) && text.contains(&format!("{TRIALS} judged again to the same verdict, 0 are")), "{text}");
    let (code, text) = verify(folder, &["--sample", "25"]);
    assert!(code == Some(0) && text.contains("1200 trials recorded, 25 of them drawn: 25 judged again"), "{text}");
    // One of them as a folder, which its number and its task say.
    let unpack = ["export", "trials", told["run"].as_str().unwrap(), "1200", "-o", "unpacked"];
    assert!(benchwright(folder).args(unpack).output().unwrap().status.success());
    let trial = fs::read(folder.join("unpacked/trials/001200/trial.json")).unwrap();
    let trial: Json = serde_json::from_slice(&trial).unwrap();
    assert_eq!(
        (&trial["key"]["attempt"], &trial["end"]["scored"]["pass"]),
        (&ATTEMPTS.into(), &true.into()),
        "{trial}"
    );
    // Pages are made of them as of any other.
    let pages = ["report", "--html", "pages", "--details", "3"];
    assert!(benchwright(folder).args(pages).output().unwrap().status.success());
    assert_eq!(fs::read_dir(folder.join("pages/trials")).unwrap().count(), 6, "two agents failed");
    // A segment that nobody named is told, and mended by the next run.
    let orphan = kept.join("segments/99999999-1.trials.parquet");
    fs::write(&orphan, "left").unwrap();
    let (code, text) = verify(folder, &["--sample", "1"]);
    assert!(code == Some(1) && text.contains("99999999-1.trials.parquet: the ledger names no such segment"), "{text}");
    assert!(run(folder).output().unwrap().status.success() && !orphan.exists());

    // Forgings. Each is taken back before the next.
    let (trials, steps) = (files(&kept, "trials"), files(&kept, "steps"));
    let spare = folder.join("spare");
    let both = |path: &Path, forge: &dyn Fn(), expected: &str| {
        fs::copy(path, &spare).unwrap();
        forge();
        let (code, text) = verify(folder, &[]);
        assert!(code == Some(1) && text.contains(expected), "{expected} in\n{text}");
        fs::copy(&spare, path).unwrap();
    };
    let flip = |path: &Path| {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    both(&trials[1], &|| flip(&trials[1]), "it was changed after it was recorded: its digest differs");
    both(&steps[0], &|| flip(&steps[0]), "it was changed after it was recorded: its digest differs");
    both(&steps[1], &|| assert!(fs::copy(&steps[0], &steps[1]).is_ok()), "its digest differs");
    both(&trials[0], &|| fs::remove_file(&trials[0]).unwrap(), "is not there");
    both(&steps[0], &|| fs::remove_file(&steps[0]).unwrap(), "is not there");
    let ledger = folder.join("runs/ledger.sqlite");
    let sql = |statements: &str| Connection::open(&ledger).unwrap().execute_batch(statements).unwrap();
    sql("pragma wal_checkpoint(truncate)");
    both(&ledger, &|| sql("update trial set failed = 1 where number = 7"), "differ on whether trial 7 is an error");
    both(&ledger, &|| sql("update trial set state = 0, link = null where number = 9"), "trial 9 (");
    both(&ledger, &|| sql("update link set folder = 'ff' where place = 2"), "link 2 of the chain does not follow");
    let (code, text) = verify(folder, &[]);
    assert_eq!(code, Some(0), "{text}");
}
