//! `tasks` and `runs`: what there is, a line each, before and after it is there.

use crate::common::{Place, said};
use serde_json::Value as Json;
use std::process::{Command, Output, Stdio};

fn benchwright(place: &Place, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchwright"));
    command.current_dir(&place.0).stdin(Stdio::null()).args(words).output().expect("it is started")
}

#[test]
fn tasks_and_runs_are_listed() {
    let place = Place::new("listed");
    let json = |words: &[&str]| -> Json { serde_json::from_slice(&benchwright(&place, words).stdout).unwrap() };
    for (words, next) in [(["tasks", "demo"], "benchwright new"), (["runs", "runs"], "benchwright run DIR")] {
        let nothing = benchwright(&place, &words);
        assert_eq!(nothing.status.code(), Some(2), "{words:?}");
        assert!(said(&nothing).contains(next), "{}", said(&nothing));
    }
    assert!(!place.0.join("runs").exists(), "a list makes nothing");

    assert!(benchwright(&place, &["demo", "-o", "demo"]).status.success());
    let open = json(&["tasks", "demo", "--json"]);
    let sealed = json(&["tasks", "demo", "--reveal", "--json"]);
    let (open, sealed) = (open.as_array().unwrap(), sealed.as_array().unwrap());
    assert_eq!((open.len(), sealed.len()), (5, 5));
    for (open, sealed) in open.iter().zip(sealed) {
        assert_eq!(open["task"], sealed["task"]);
        assert!(
            open.get("pattern").is_none() && open.get("seed").is_none(),
            "what is sealed is told only when asked: {open}"
        );
        assert!(sealed["pattern"].is_string() && sealed["digest"].is_string(), "{sealed}");
    }
    let whole = benchwright(&place, &["show", "demo"]);
    assert_eq!(whole.status.code(), Some(2));
    assert!(said(&whole).contains("benchwright tasks demo"), "{}", said(&whole));

    assert!(benchwright(&place, &["run", "demo", "--agent", "idle", "--agent", "greedy", "-k", "2"]).status.success());
    let runs = json(&["runs", "--json"]);
    let run = &runs[0];
    let figures = ["tasks", "planned", "recorded", "errors", "working"].map(|key| run[key].as_u64().unwrap());
    assert_eq!(figures, [5, 20, 20, 0, 0], "{run}");
    assert_eq!(run["state"], "done");
    let next = format!("benchwright report {}", run["run"].as_str().unwrap());
    assert!(said(&benchwright(&place, &["runs"])).contains(&next));
}
