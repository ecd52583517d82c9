//! `report --html` and `view`: a real run's pages from disk and from the address that `view` tells, byte for byte the same.

use crate::common::Place;
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

fn benchwright(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchwright"));
    command.current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::null());
    command
}

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn pages_of_a_run_are_the_same_from_disk_and_from_view() {
    let place = Place::new("view");
    let done = |words: &[&str]| assert!(benchwright(&place.0).args(words).status().unwrap().success(), "{words:?}");
    done(&["demo", "-o", "demo"]);
    done(&["run", "demo", "--agent", "idle", "--agent", "greedy"]);
    done(&["report", "--html", "pages", "--details", "all"]);
    let mut view = benchwright(&place.0);
    let mut view = Running(view.args(["view", "runs"]).stdout(Stdio::piped()).spawn().unwrap());
    let mut address = String::new();
    BufReader::new(view.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let address = address.trim().trim_end_matches('/');
    // No proxy leads back to this machine.
    let agent = ureq::Agent::config_builder().proxy(None).build().new_agent();
    let get = |path: &str| {
        let found = agent.get(format!("{address}/{path}")).call();
        found.map(|mut found| found.body_mut().read_to_string().unwrap())
    };
    let list = get("").unwrap();
    let run = fs::read_dir(place.0.join("runs")).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let run = run.unwrap().file_name().unwrap().to_string_lossy().into_owned();
    assert!(list.contains(&format!("<a href=\"{run}/index.html\">")) && list.contains("<td>10</td>"), "{list}");
    let mut seen = [0; 3];
    for (at, folder) in ["", "tasks/", "trials/"].into_iter().enumerate() {
        for entry in fs::read_dir(place.0.join("pages").join(folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_dir() {
                continue;
            }
            let name = format!("{folder}{}", entry.file_name().to_string_lossy());
            let kept = fs::read_to_string(entry.path()).unwrap();
            assert!(get(&format!("{run}/{name}")).unwrap() == kept, "{name}");
            seen[at] += 1;
        }
    }
    assert_eq!(seen, [3, 5, 10]);
    let trial = fs::read_dir(place.0.join("pages/trials"))
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let trials: Vec<String> = trial.collect();
    let count = |words: &str| trials.iter().filter(|page| page.contains(words)).count();
    assert_eq!((count("<div class=\"brief\"><h3>"), count("Gates that fired: activity")), (10, 5));
    assert!(count("is wanted</li>") >= 5 && count("sell: ") == 10, "why in words, and the plan beside");
    for path in ["nowhere", "nowhere/index.html", &format!("{run}/trials/0.html"), &format!("{run}/../../etc/passwd")] {
        assert!(matches!(get(path), Err(ureq::Error::StatusCode(404))), "{path}");
    }
    let strange = agent.get(address).header("host", "example.org").call();
    assert!(matches!(strange, Err(ureq::Error::StatusCode(403))));
}
