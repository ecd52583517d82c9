//! `audit --depth`, on folders of tasks and of shards, and what `show` says of it.

use crate::{
    common::Place,
    tasks::{data, document, has_solver, run},
};
use serde_json::{Value as Json, json};
use std::{fs, path::Path};

const CELL: &str = "grid/travel h01-b00 fill";

fn grids(place: &Place, name: &str, more: &[&str]) -> String {
    let out = place.path(name);
    let line = ["new", "grid/travel", "--tier", "h01-b00", "--seed", "1", "-o", &out, "--json"];
    data(&[&line[..], more].concat(), 0);
    out
}

fn read(path: impl AsRef<Path>) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_sample_is_audited_recorded_and_shown() {
    if !has_solver() {
        return;
    }
    let place = Place::new("depth");
    let out = grids(&place, "out", &["--count", "2"]);
    let trials = ["--trial", "idle", "--trial", "near-miss", "--trial", "dominance"];
    let told = data(&[&["audit", &out, "--depth", "sample"], &trials[..]].concat(), 0);
    let line = format!("{CELL}: dominance concerns none of 2 tasks; near-miss all 2 clean");
    assert!(told.lines().any(|told| told == line), "{told}");

    let record = place.0.join("out/audit.json");
    let kept = read(&record);
    let near_miss = json!({ "tried": 2, "clean": 2, "bound": 776_394 });
    assert_eq!(kept["report"]["cells"][CELL]["tasks"], 2);
    assert_eq!(kept["report"]["cells"][CELL]["trials"]["near-miss"], near_miss);
    assert_eq!(kept["report"]["trials"]["near-miss"]["seconds"], 0.0, "a record has no clock");

    let open = fs::read_dir(place.0.join("out/open")).unwrap();
    let id = open.map(|entry| entry.unwrap().file_name().into_string().unwrap()).min().unwrap();
    let task = format!("{out}/{id}");
    assert!(data(&["show", &task, "--reveal"], 0).contains(&format!("audited: {line}")));
    assert!(!data(&["show", &task], 0).contains(CELL), "the cell of a task is sealed");
    // A record of other tasks is not shown, and an audit that says nothing of a sample leaves what is known.
    fs::write(&record, fs::read_to_string(&record).unwrap().replace(kept["of"].as_str().unwrap(), &"0".repeat(64)))
        .unwrap();
    assert!(!data(&["show", &task, "--reveal"], 0).contains("audited:"));
    let plain = document(&["audit", &out, "--trial", "idle", "--json"], 0);
    assert!(plain.get("cells").is_none() && record.exists());
}

#[test]
fn shards_are_audited_as_they_stand_and_damage_is_no_pass() {
    let place = Place::new("depth-shards");
    let shards = grids(&place, "shards", &["--count", "4", "--shards"]);
    let line = ["audit", &*shards, "--depth", "sample", "--trial", "idle", "--trial", "regenerate", "--json"];
    let found = document(&line, 0);
    assert_eq!((&found["tasks"], &found["trials"]["regenerate"]["passed"]), (&json!(4), &json!(4)), "{found}");
    assert_eq!(found["cells"][CELL]["tasks"], 4);
    let record = place.0.join("shards/audit.json");
    assert_eq!(read(&record)["report"]["tasks"], 4);
    assert_eq!(run(&["audit", &shards, "--sample", "2"]).status.code(), Some(2));

    // The same tasks as they are exported, in two shards, held to their lock file.
    let out = grids(&place, "out", &["--count", "4"]);
    let (exported, lock) = (place.path("exported"), place.0.join("exported/suite.toml"));
    data(&["export", "parquet", &out, "-o", &exported, "--shard", "2"], 0);
    let line = ["audit", &*exported, "--trial", "idle", "--json"];
    assert_ne!(run(&line).status.code(), Some(0), "nothing says whose they are");
    fs::copy(place.0.join("out/suite.toml"), &lock).unwrap();
    assert_eq!(document(&line, 0)["trials"]["idle"]["passed"], 4);
    fs::remove_file(place.0.join("exported/sealed/part-00001.parquet")).unwrap();
    let missing = document(&line, 1);
    assert_eq!((&missing["tasks"], missing["errors"].as_array().unwrap().len()), (&json!(2), 2), "{missing}");

    // A byte of a shard that was changed.
    let part = fs::read_dir(place.0.join("shards/open")).unwrap().next().unwrap().unwrap().path();
    let name = part.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut bytes = fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&part, bytes).unwrap();
    let damaged = document(&["audit", &shards, "--trial", "idle", "--json"], 1);
    assert_eq!((&damaged["tasks"], &damaged["errors"][0]["task"]), (&json!(0), &json!(name)), "{damaged}");
    assert!(!record.exists(), "what was found before is not what is found now");
}
