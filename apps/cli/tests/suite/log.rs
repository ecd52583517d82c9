//! What stands in the log, and what never does: however much is asked for, no token, key, header, argument or sealed answer.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::common::first_task;
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

const CONTROL: &str = "control-token-that-no-log-may-hold";
const KEY: &str = "sk-key-that-no-log-may-hold";
const ARGUMENT: &str = "argument-that-no-log-may-hold";
const STRANGE_TOOL: &str = "tool_name_that_no_log_may_hold";
const STRANGER: &str = "stranger-token-that-no-log-may-hold";

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("benchwright-log-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let made = benchwright(&folder).args(["demo", "-o", "demo"]).output().unwrap();
    assert!(made.status.success());
    folder
}

fn benchwright(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchwright"));
    command.current_dir(folder).stdin(Stdio::null()).env_remove("RUST_LOG");
    command.env("BENCHWRIGHT_CONTROL_TOKEN", CONTROL).env("BENCHWRIGHT_MODEL_KEY", KEY).env("OPENAI_API_KEY", KEY);
    command
}

/// The texts of the arguments in the calls that carry out the certified plan.
fn sealed_answers(folder: &Path, task: &str) -> BTreeSet<String> {
    fn texts(value: &Json, into: &mut BTreeSet<String>) {
        match value {
            Json::String(text) if text.len() >= 6 => drop(into.insert(text.clone())),
            Json::Array(items) => items.iter().for_each(|item| texts(item, into)),
            Json::Object(map) => map.values().for_each(|item| texts(item, into)),
            _ => {}
        }
    }
    let sealed = fs::read(folder.join("demo/sealed").join(task).join("sealed.json")).unwrap();
    let sealed: Json = serde_json::from_slice(&sealed).unwrap();
    let mut found = BTreeSet::new();
    for step in sealed["oracle"]["steps"].as_array().unwrap() {
        texts(&step["args"], &mut found);
    }
    assert!(found.len() >= 10, "{found:?}");
    found
}

/// Every line as JSON, after a look that nothing secret is in it.
fn checked(log: &str, sealed: &BTreeSet<String>, more: &[&str]) -> Vec<Json> {
    let secrets = [CONTROL, KEY, ARGUMENT, STRANGE_TOOL, STRANGER, "canary", "Bearer", "authorization"];
    for secret in secrets.iter().chain(more).copied().chain(sealed.iter().map(|answer| &**answer)) {
        assert!(!log.contains(secret), "{secret} is in the log:\n{log}");
    }
    log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"))).collect()
}

fn messages(log: &[Json]) -> Vec<&str> {
    log.iter().map(|line| line["message"].as_str().unwrap()).collect()
}

/// Sends a request and reads status and body.
fn send(method: &str, url: &str, token: &str, body: &str) -> (u16, Json) {
    let agent = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build().new_agent();
    let request = ureq::http::Request::builder().method(method).uri(url);
    let request = request.header("authorization", format!("Bearer {token}")).header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream");
    let mut answer = agent.run(request.body(body.to_owned()).unwrap()).unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    (answer.status().as_u16(), serde_json::from_str(&text).unwrap())
}

#[test]
fn a_server_that_logs_everything_logs_no_secret() {
    let folder = folder("serve");
    let task = first_task(&folder);
    let mut line = benchwright(&folder);
    line.args(["--log", "json", "serve", "demo", "--grade"]).env("RUST_LOG", "trace");
    let mut server = line.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let told: Json = serde_json::from_str(&first).unwrap();
    let control = told["control"].as_str().unwrap();

    let (status, begun) = send("POST", &format!("{control}/episodes"), CONTROL, &json!({ "task": task }).to_string());
    assert_eq!(status, 201, "{begun}");
    let (id, token) = (begun["id"].as_str().unwrap(), begun["token"].as_str().unwrap());
    let tools = begun["urls"]["tools"].as_str().unwrap();
    let search = json!({ "domain": [["name", "=", ARGUMENT]] }).to_string();
    assert_eq!(send("POST", &format!("{tools}/res_partner_search_read"), token, &search).0, 200);
    let bad = json!({ (ARGUMENT): 1 }).to_string();
    assert_eq!(send("POST", &format!("{tools}/res_partner_search_read"), token, &bad).0, 400);
    assert_eq!(send("POST", &format!("{tools}/{STRANGE_TOOL}"), token, &search).0, 404);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "res_partner_search_read", "arguments": { "domain": [["name", "=", ARGUMENT]] } } });
    assert_eq!(send("POST", begun["urls"]["mcp"].as_str().unwrap(), token, &call.to_string()).0, 200);
    assert_eq!(send("POST", &format!("{tools}/res_partner_search_read"), STRANGER, "{}").0, 401);
    assert_eq!(send("POST", &format!("{control}/episodes/{id}/grade"), CONTROL, "{}").0, 200);
    assert_eq!(send("DELETE", &format!("{control}/episodes/{id}"), CONTROL, "").0, 200);
    server.kill().unwrap();
    let mut log = String::new();
    server.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    server.wait().unwrap();

    // The id of an episode is in its address and no secret; the rest of its token is.
    let secret = token.split_once('.').unwrap().1;
    let log = checked(&log, &sealed_answers(&folder, &task), &[secret]);
    let told = messages(&log);
    let ended = ["episode begun", "episode graded", "episode ended"];
    assert!(ended.iter().all(|message| told.contains(message)), "{told:?}");
    let calls: Vec<&Json> = log.iter().filter(|line| line["message"] == "tool called").collect();
    let seen: Vec<(&Json, &Json)> = calls.iter().map(|call| (&call["tool"], &call["refused"])).collect();
    let name = json!("res_partner_search_read");
    let (nothing, yes, no) = (json!("(not offered)"), json!(true), json!(false));
    assert_eq!(seen, [(&name, &no), (&name, &yes), (&nothing, &yes), (&name, &no)]);
    assert!(calls.iter().all(|call| call["micros"].is_u64() && call["episode"] == id), "{calls:?}");
    assert!(log.iter().any(|line| line["message"] == "request refused" && line["status"] == 401));
    fs::remove_dir_all(&folder).unwrap();
}

/// Runs agents on the first task, logging everything.
fn run(folder: &Path, more: &[&str]) -> Output {
    let mut line = benchwright(folder);
    line.args(["--log", "json", "run", "demo", "--json", "--new", "--jobs", "1", "--task", &first_task(folder)]);
    line.args(more).env("RUST_LOG", "trace").output().unwrap()
}

#[test]
fn a_run_logs_its_trials_and_neither_the_plan_nor_the_key_of_a_model() {
    let folder = folder("run");
    let sealed = sealed_answers(&folder, &first_task(&folder));
    let output = run(&folder, &["--agent", "oracle"]);
    assert!(output.status.success());
    let log = checked(&String::from_utf8(output.stderr).unwrap(), &sealed, &[]);
    let told = messages(&log);
    assert_eq!(told.iter().filter(|message| **message == "trial scored").count(), 1, "{told:?}");
    let call = log.iter().find(|line| line["message"] == "tool called").unwrap();
    assert_eq!((&call["span"]["name"], &call["span"]["agent"]), (&"trial".into(), &"oracle".into()));

    // A model's server that accepts no key.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while stream.read_line(&mut line).unwrap_or(0) > 2 {
                let low = line.to_ascii_lowercase();
                length = low.strip_prefix("content-length:").map_or(length, |text| text.trim().parse().unwrap());
                line.clear();
            }
            let _ = stream.read_exact(&mut vec![0; length]);
            let said = format!("{{\"error\":\"{KEY}\"}}");
            let head = format!("HTTP/1.1 401 No\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", said.len());
            let _ = stream.get_mut().write_all(format!("{head}{said}").as_bytes());
        }
    });
    let output = run(&folder, &["--agent", "react:some-model", "--base-url", &url]);
    let text = String::from_utf8(output.stderr).unwrap();
    // What the command itself says at the end is for a person.
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('{')).collect();
    let log = checked(&lines.join("\n"), &sealed, &[]);
    let asked = log.iter().find(|line| line["message"] == "model asked").unwrap();
    assert_eq!((&asked["model"], &asked["cause"]), (&"some-model".into(), &"auth".into()));
    assert!(messages(&log).contains(&"trial is an error"));
    assert!(!text.contains(KEY));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn nothing_is_logged_unless_somebody_asks() {
    let folder = folder("quiet");
    let quiet = benchwright(&folder).args(["patterns", "--json"]).output().unwrap();
    assert!(quiet.status.success() && quiet.stderr.is_empty());
    let wrong = benchwright(&folder).args(["--log", "xml", "patterns"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let mut line = benchwright(&folder);
    let wrong = line.arg("patterns").env("RUST_LOG", "benchwright_serve=loudly").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("RUST_LOG"));
    fs::remove_dir_all(&folder).unwrap();
}
