//! A task as Harbor runs it, without containers: exported, served to an agent on a machine of its own, solved through the agent's address,
//! collected and judged.

use crate::common::{Place, first_task};
use serde_json::Value as Json;
use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Command, Output},
};

const IMAGE: &str = "localhost/benchwright@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn benchwright(place: &Place, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_benchwright")).args(words).current_dir(&place.0).output().unwrap()
}

fn done(place: &Place, words: &[&str]) -> Output {
    let output = benchwright(place, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The world of a task, which is ended with the test.
struct World<'p> {
    place: &'p Place,
    socket: String,
    address: String,
}

impl World<'_> {
    fn start<'p>(place: &'p Place, task: &str, name: &str) -> World<'p> {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let socket = place.path(&format!("{name}/control.sock"));
        let words = ["serve", "--one", task, "--bind", &address, "--socket", &socket, "--ready"];
        done(place, &words);
        // Who asks again finds it running.
        done(place, &words);
        World { place, socket, address }
    }

    fn call(&self, tool: &str, arguments: &str) -> u16 {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build().new_agent();
        let post = agent.post(format!("http://{}/tools/{tool}", self.address));
        post.header("content-type", "application/json").send(arguments).unwrap().status().as_u16()
    }

    fn collect(&self, into: &str) {
        done(self.place, &["collect", into, "--socket", &self.socket]);
    }
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        // Whoever has its control socket open is the world.
        let listed = Command::new("pgrep").args(["-f", &self.socket]).output().unwrap();
        for id in String::from_utf8_lossy(&listed.stdout).lines() {
            let _ = Command::new("kill").arg(id).status();
        }
    }
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn an_exported_task_is_solved_through_the_agents_address_and_judged_by_its_calls() {
    let place = Place::new("harbor");
    done(&place, &["demo", "-o", "demo"]);
    let refused =
        benchwright(&place, &["export", "harbor", "demo", "-o", "tasks", "--image", "localhost/benchwright:latest"]);
    assert_eq!(refused.status.code(), Some(2), "an image without a digest");
    done(&place, &["export", "harbor", "demo", "-o", "tasks", "--image", IMAGE]);
    let id = first_task(&place.0);
    let task = place.0.join("tasks").join(&id);
    let config: toml::Table = fs::read_to_string(task.join("task.toml")).unwrap().parse().unwrap();
    assert_eq!(config["schema_version"].as_str(), Some("1.4"));
    assert_eq!(config["environment"]["docker_image"].as_str(), Some(IMAGE));
    let dataset: toml::Table = fs::read_to_string(place.0.join("tasks/dataset.toml")).unwrap().parse().unwrap();
    assert_eq!(dataset["tasks"].as_array().unwrap().len(), 5);
    // What is sealed is where only the verifier's machine is made from.
    let sealed = fs::read(task.join("tests/task/sealed").join(&id).join("sealed.json")).unwrap();
    assert_eq!(sealed, fs::read(place.0.join("demo/sealed").join(&id).join("sealed.json")).unwrap());
    assert!(!task.join("environment/world/sealed").exists());

    let (world, tests) = (task.join("environment/world"), task.join("tests/task/open").join(&id));
    let (world, tests) = (world.to_str().unwrap(), tests.to_str().unwrap());
    let test = fs::read_to_string(task.join("tests/test.sh")).unwrap();
    let digest = test.split(" --digest ").nth(1).unwrap().split(' ').next().unwrap();
    let graded = |collected: &str, rewards: &str| {
        fs::create_dir(place.0.join(rewards)).unwrap();
        benchwright(&place, &["grade", tests, collected, "--digest", digest, "--rewards", rewards])
    };

    let idle = World::start(&place, world, "idle");
    idle.collect("idle-left");
    assert_eq!(graded("idle-left", "idle-rewards").status.code(), Some(1));
    assert_eq!(json(&place.0.join("idle-rewards/reward.json")), serde_json::json!({ "reward": 0.0 }));

    let solved = World::start(&place, world, "solved");
    for line in fs::read_to_string(task.join("solution/calls.tsv")).unwrap().lines() {
        let (tool, arguments) = line.split_once('\t').unwrap();
        assert_eq!(solved.call(tool, arguments), 200, "{line}");
    }
    solved.collect("left");
    assert_eq!(solved.call("sale_order_search_read", r#"{"domain":[]}"#), 410);
    assert_eq!(graded("left", "rewards").status.code(), Some(0));
    assert_eq!(json(&place.0.join("rewards/reward.json")), serde_json::json!({ "reward": 1.0 }));
    let verdict = json(&place.0.join("rewards/verdict.json"));
    let user = nix::unistd::geteuid().as_raw();
    assert_eq!((&verdict["callers"], &verdict["as_root"]), (&serde_json::json!([user]), &serde_json::json!(user == 0)));

    // A state without the calls that lead to it, calls without their state, and another task have no verdict, and no reward.
    for (name, from, file) in
        [("state", "left", "snapshot.json"), ("calls", "left", "trace.json"), ("about", "left", "about.json")]
    {
        let forged = place.0.join(format!("forged-{name}"));
        fs::create_dir(&forged).unwrap();
        for part in ["about.json", "trace.json", "snapshot.json"] {
            let source = if part == file { from } else { "idle-left" };
            fs::copy(place.0.join(source).join(part), forged.join(part)).unwrap();
        }
        if name == "about" {
            fs::write(forged.join(file), r#"{"version":1,"task":"another","callers":[]}"#).unwrap();
        }
        let rewards = format!("rewards-{name}");
        assert_eq!(graded(forged.to_str().unwrap(), &rewards).status.code(), Some(2), "{name}");
        assert!(!place.0.join(&rewards).join("reward.json").exists());
    }
    let other = benchwright(&place, &["grade", tests, "left", "--digest", &"0".repeat(64)]);
    assert_eq!(other.status.code(), Some(2));
}
