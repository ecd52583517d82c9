//! Episodes on an engine that is no sandbox, and faces on both: what the server does is the same, and what an engine cannot
//! do is said.

use crate::{
    common::{Begun, Running, bearer, demo_task, send, with_demo},
    folder::FolderEngine,
};
use benchwright_pack::{Files, Trace};
use benchwright_serve::{Episodes, ServeError, Settings, Start};
use benchwright_world::{Ability, WorldState};
use serde_json::{Value as Json, json};
use std::{fs, path::PathBuf, sync::Arc};

/// A server with the shipped tasks, the usual engine and one of folders. The folders are removed when it stops.
struct WithFolders {
    running: Running,
    root: PathBuf,
}

impl WithFolders {
    fn start(name: &str) -> WithFolders {
        let root = std::env::temp_dir().join(format!("benchwright-serve-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let mut options = with_demo(true);
        options.settings.engines = options.settings.engines.with(Arc::new(FolderEngine { root: root.clone() }));
        WithFolders { running: Running::start(options), root }
    }

    fn notes(&self) -> Begun {
        self.running.begin(&json!({ "domain": "notes", "engine": "folder", "seed": 7 }))
    }

    fn folders(&self) -> usize {
        fs::read_dir(&self.root).map_or(0, Iterator::count)
    }
}

impl Drop for WithFolders {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

#[test]
fn a_folder_of_files_is_served_like_any_world() {
    let server = WithFolders::start("folder");
    let running = &server.running;
    let episode = server.notes();
    assert_eq!(server.folders(), 1);

    // Plain JSON, and refusals that change nothing.
    assert_eq!(running.tool(&episode, "list_files", &json!({})).body, r#"["notes/begin.txt"]"#);
    let note = json!({ "path": "notes/one.txt", "text": "first" });
    assert_eq!(running.tool(&episode, "write_file", &note).status, 200);
    let out = running.tool(&episode, "write_file", &json!({ "path": "../out.txt", "text": "x" }));
    assert_eq!((out.status, &*out.code()), (400, "invalid_argument"), "{}", out.body);
    assert!(!server.root.join("out.txt").exists());
    let missing = running.tool(&episode, "read_file", &json!({ "path": "two" }));
    assert_eq!((missing.status, &*missing.code()), (404, "not_found"));

    // MCP.
    let headers = [
        ("authorization", &*bearer(&episode.token)),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
    ];
    let mcp = |method: &str, params: Json| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let reply = send(running.agents(), "POST", &format!("/episodes/{}/mcp", episode.id), &headers, &body);
        reply.json()["result"].clone()
    };
    let listed = mcp("tools/list", json!({}));
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["list_files", "read_file", "write_file"]);
    let read = mcp("tools/call", json!({ "name": "read_file", "arguments": { "path": "notes/one.txt" } }));
    assert_eq!(read["structuredContent"]["text"], "first");
    let document = running.agent(&episode, "GET", "openapi.json", "").json();
    assert_eq!(
        (document["info"]["title"].as_str(), document["paths"].as_object().unwrap().len()),
        (Some("A folder"), 3)
    );

    // The control plane.
    let status = running.status(&episode);
    assert_eq!((&status["domain"], &status["role"]), (&json!("notes"), &json!("writer")));
    assert_eq!((&status["state"], &status["calls_used"]), (&Json::Null, &json!(5)), "it has no hash at hand");
    let snapshot = running.ask("GET", &format!("/episodes/{}/snapshot", episode.id), "");
    let files = Files::from_bytes(snapshot.body.as_bytes()).unwrap();
    assert_eq!(files.get("notes/begin.txt"), Some(&b"seed 7\n"[..]));
    assert_eq!(files.get("notes/one.txt"), Some(&b"first"[..]));
    let trace = running.ask("GET", &format!("/episodes/{}/trace", episode.id), "");
    let trace = Trace::from_bytes(trace.body.as_bytes()).unwrap();
    assert_eq!(trace.calls.len(), 5);
    assert_ne!(trace.start, trace.end, "the digest of the files tells states apart");

    // What it cannot do is said, and nothing is left behind.
    let fork = running.ask("POST", &format!("/episodes/{}/fork", episode.id), "");
    assert_eq!((fork.status, &*fork.code()), (409, "cannot_fork"), "{}", fork.body);
    assert!(fork.json()["error"]["message"].as_str().unwrap().contains("begin another one instead"));
    assert_eq!(running.ask("GET", "/episodes", "").json()["count"], 1);
    assert_eq!(running.ask("DELETE", &format!("/episodes/{}", episode.id), "").status, 200);
    assert_eq!(running.tool(&episode, "list_files", &json!({})).status, 410);
    assert_eq!(server.folders(), 0, "a closed episode keeps no folder");
}

#[test]
fn what_no_judge_reads_earns_no_points() {
    let server = WithFolders::start("judge");
    let running = &server.running;
    let task = running.begin(&json!({ "task": demo_task(), "engine": "folder" }));
    assert!(task.told["instruction"].as_str().is_some_and(|text| !text.is_empty()));
    assert_eq!(running.tool(&task, "list_files", &json!({})).body, r#"["first.json"]"#);
    let graded = running.ask("POST", &format!("/episodes/{}/grade", task.id), "");
    assert_eq!((graded.status, &*graded.code()), (409, "no_judge"), "{}", graded.body);
    assert!(graded.json().get("reward").is_none());
    // The same task on the usual engine is judged.
    for engine in [json!({}), json!({ "engine": "sandbox" }), json!({ "engine": "embedded" })] {
        let mut asked = json!({ "task": demo_task() });
        asked.as_object_mut().unwrap().extend(engine.as_object().unwrap().clone());
        let episode = running.begin(&asked);
        let graded = running.ask("POST", &format!("/episodes/{}/grade", episode.id), "");
        assert_eq!((graded.status, graded.json()["ending"].as_str()), (200, Some("fail")), "{asked}: {}", graded.body);
    }
}

#[test]
fn an_engine_that_is_not_there_is_told_with_those_that_are() {
    let server = WithFolders::start("missing");
    let cases = [
        (json!({ "task": demo_task(), "engine": "abacus" }), 400, "sandbox, embedded, folder"),
        (json!({ "domain": "csm", "engine": "foldr" }), 400, "did you mean `folder`?"),
        (json!({ "domain": "csm", "engine": "folder" }), 404, "there are: notes"),
        (json!({ "domain": "notes", "engine": "folder", "role": "reader" }), 400, "there is: writer"),
        (json!({ "domain": "notes" }), 404, "notes"),
    ];
    for (body, status, part) in cases {
        let reply = server.running.ask("POST", "/episodes", &body.to_string());
        assert_eq!(reply.status, status, "{body}: {}", reply.body);
        assert!(reply.json()["error"]["message"].as_str().unwrap().contains(part), "{body}: {}", reply.body);
    }
    assert_eq!(server.folders(), 0);
}

#[test]
fn idle_folders_are_closed_too_and_in_the_program_all_is_the_same() {
    let root = std::env::temp_dir().join(format!("benchwright-serve-idle-{}", std::process::id()));
    let mut settings = Settings { idle: std::time::Duration::ZERO, ..Settings::default() };
    settings.engines = settings.engines.with(Arc::new(FolderEngine { root: root.clone() }));
    let episodes = Episodes::new(settings);
    let begin = || {
        let filling = benchwright_world::Filling { domain: "notes".to_owned(), size: None, seed: 1 };
        episodes.create(&Start::Domain { filling, role: None, engine: Some("folder".to_owned()) }).unwrap().id
    };
    let (one, two) = (begin(), begin());
    assert_eq!(episodes.worlds(), 1, "one world for both");
    episodes.call(one, "write_file", r#"{"path":"a","text":"b"}"#).unwrap();
    assert!(matches!(episodes.diff(one), Err(ServeError::Cannot(Ability::Diff))));
    assert!(matches!(episodes.fork(one), Err(ServeError::Cannot(Ability::Fork))));
    assert!(matches!(episodes.grade(one), Err(ServeError::SealedNotReadable)));
    assert!(matches!(episodes.state(one).unwrap(), WorldState::Files(files) if files.get("a") == Some(b"b")));
    assert_ne!(episodes.state_bytes(one).unwrap(), episodes.state_bytes(two).unwrap());
    // What was handed over is nobody's but the caller's.
    let handed_over = episodes.end(two).unwrap().unwrap();
    assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
    handed_over.close().unwrap();
    assert_eq!(episodes.reap(), 1);
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    fs::remove_dir_all(&root).unwrap();
}

#[test]
fn a_face_calls_tools_or_the_engine_itself_and_every_call_counts() {
    let server = WithFolders::start("face");
    let running = &server.running;
    let csm = running.csm();
    assert_eq!(csm.told["urls"]["plain"], format!("http://{}/episodes/{}/plain", running.agents(), csm.id));
    let same = running.tool(&csm, "find_user", &json!({ "limit": 1 })).body;
    let over_face = running.agent(&csm, "POST", "plain/find_user", r#"{"limit":1}"#);
    assert_eq!((over_face.status, over_face.body), (200, same));
    let refused = running.agent(&csm, "POST", "plain/no_such_tool", "{}");
    assert_eq!((refused.status, &*refused.code()), (418, "not_found"), "a refusal has the face's own form");
    let nothing = running.agent(&csm, "POST", "plain/nowhere", "{}");
    assert_eq!((nothing.status, &*nothing.code()), (404, "not_found"));
    assert_eq!(running.agent(&csm, "GET", "plain/find_user", "").status, 405);
    assert_eq!(running.status(&csm)["calls_used"], 3);

    let notes = server.notes();
    let own = running.agent(&notes, "POST", "plain/a/b", "12345");
    assert_eq!((own.status, own.json()), (207, json!({ "words": ["plain", "a/b"], "bytes": 5 })));
    assert_eq!(running.status(&notes)["calls_used"], 1);
    let trace = running.ask("GET", &format!("/episodes/{}/trace", notes.id), "").json();
    assert_eq!(trace["calls"][0]["tool"], "plain a/b");

    // Where a face does not fit there is none.
    let itsm = running.begin(&json!({ "domain": "itsm", "size": "small" }));
    assert!(itsm.told["urls"].get("plain").is_none());
    assert_eq!(running.agent(&itsm, "POST", "plain/list_users", "{}").status, 404);
    assert_eq!(running.status(&itsm)["calls_used"], 0);
}

#[test]
fn a_face_stops_where_the_calls_are_used_up() {
    let mut options = with_demo(false);
    options.settings.calls = 1;
    let running = Running::start(options);
    let episode = running.csm();
    assert_eq!(running.agent(&episode, "POST", "plain/list_users", "{}").status, 200);
    let over = running.agent(&episode, "POST", "plain/list_users", "{}");
    assert_eq!((over.status, &*over.code()), (409, "calls_exhausted"), "no word of the face hides it");
}
