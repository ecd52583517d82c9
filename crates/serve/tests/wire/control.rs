//! What the control plane tells of itself and of its tasks, and connections that are kept.

use crate::common::{Kept, Running, demo, demo_task, send, with_demo};
use benchwright_pack::Store;
use benchwright_serve::Options;
use serde_json::json;

#[test]
fn tasks_are_listed_in_pages_that_never_repeat() {
    let running = Running::start(with_demo(false));
    let all = Store::at(demo()).ids().unwrap();
    assert!(all.len() > 2);
    let whole = running.ask("GET", "/tasks", "").json();
    assert_eq!(whole, json!({ "count": all.len(), "tasks": all, "next": null }));

    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let query = after.map_or(String::new(), |after: String| format!("&after={after}"));
        let page = running.ask("GET", &format!("/tasks?limit=2{query}"), "").json();
        let ids: Vec<String> = serde_json::from_value(page["tasks"].clone()).unwrap();
        assert!(!ids.is_empty() && ids.len() <= 2);
        seen.extend(ids);
        match page["next"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen, all);
    let past = running.ask("GET", "/tasks?after=zzzz", "").json();
    assert_eq!((&past["tasks"], &past["next"]), (&json!([]), &json!(null)));
    for wrong in ["limit=many", "limit=-1", "page=2"] {
        let reply = running.ask("GET", &format!("/tasks?{wrong}"), "");
        assert_eq!((reply.status, &*reply.code()), (400, "invalid_request"), "{wrong}: {}", reply.body);
    }
    // Whatever is listed can be begun.
    running.begin(&json!({ "task": seen[0] }));
}

#[test]
fn a_server_without_tasks_says_so() {
    let running = Running::start(Options::default());
    let reply = running.ask("GET", "/tasks", "");
    assert_eq!((reply.status, &*reply.code()), (404, "not_found"));
}

#[test]
fn the_control_plane_describes_every_route_that_it_has() {
    let running = Running::start(with_demo(true));
    // It holds nothing secret, so that a client can be made of it before it has a token.
    let document = send(running.control(), "GET", "/openapi.json", &[], "").json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], format!("http://{}", running.control()));
    let episode = running.begin(&json!({ "task": demo_task() }));
    let mut routes = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, about) in operations.as_object().unwrap() {
            routes.push(format!("{} {path}", method.to_uppercase()));
            assert!(about["operationId"].is_string() && about["summary"].is_string(), "{path}");
            let has_id = about["parameters"].as_array().unwrap().iter().any(|parameter| parameter["name"] == "id");
            assert_eq!(has_id, path.contains("{id}"), "{path}");
            // The route is there, and it wants the token that the description says it wants.
            let real = path.replace("{id}", &"0".repeat(32));
            let reply = send(running.control(), &method.to_uppercase(), &real, &[], "{}");
            let expected = if about.get("security") == Some(&json!([])) { 200 } else { 401 };
            assert_eq!(reply.status, expected, "{method} {path}: {}", reply.body);
        }
    }
    routes.sort();
    let expected = [
        "DELETE /episodes/{id}",
        "GET /episodes",
        "GET /episodes/{id}",
        "GET /episodes/{id}/snapshot",
        "GET /episodes/{id}/trace",
        "GET /health",
        "GET /metrics",
        "GET /openapi.json",
        "GET /tasks",
        "POST /episodes",
        "POST /episodes/{id}/fork",
        "POST /episodes/{id}/grade",
    ];
    assert_eq!(routes, expected);

    // Answers have the keys that their schemas promise.
    let schema = |path: &str, method: &str, status: &str| {
        document["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"].clone()
    };
    let fork = running.ask("POST", &format!("/episodes/{}/fork", episode.id), "");
    for (answer, schema) in [
        (episode.told.clone(), schema("/episodes", "post", "201")),
        (fork.json(), schema("/episodes/{id}/fork", "post", "201")),
        (running.status(&episode), schema("/episodes/{id}", "get", "200")),
        (running.ask("GET", "/episodes", "").json(), schema("/episodes", "get", "200")),
        (running.ask("GET", "/tasks", "").json(), schema("/tasks", "get", "200")),
    ] {
        let known = schema["properties"].as_object().unwrap();
        for key in schema["required"].as_array().unwrap() {
            assert!(answer.get(key.as_str().unwrap()).is_some(), "{key} is missing in {answer}");
        }
        for key in answer.as_object().unwrap().keys() {
            assert!(known.contains_key(key), "{key} is not described");
        }
    }
}

/// What nobody reads of a request stays in its connection, which then cannot be used again.
#[test]
fn a_connection_is_kept_whatever_body_was_sent() {
    let running = Running::start(with_demo(true));
    let episode = running.begin(&json!({ "task": demo_task() }));
    let closed = running.csm();
    running.ask("DELETE", &format!("/episodes/{}", closed.id), "");
    let control = running.control_token();
    let here = format!("/episodes/{}", episode.id);
    let gone = format!("/episodes/{}", closed.id);
    for _ in 0..20 {
        let mut kept = Kept::to(running.control());
        for (method, path, token, expected) in [
            ("POST", format!("{here}/fork"), &control, 201),
            ("POST", format!("{here}/grade"), &control, 200),
            ("GET", here.clone(), &control, 200),
            ("GET", "/episodes".to_owned(), &control, 200),
            ("GET", "/tasks".to_owned(), &control, 200),
            ("DELETE", gone.clone(), &control, 410),
            ("POST", format!("{gone}/fork"), &control, 410),
            ("POST", "/episodes/none/grade".to_owned(), &control, 404),
            ("POST", format!("{here}/grade"), &episode.token, 403),
            ("POST", format!("{gone}/tools/list_users"), &closed.token, 410),
            ("POST", format!("{gone}/mcp"), &closed.token, 410),
            ("GET", format!("{here}/openapi.json"), &episode.token, 200),
        ] {
            let reply = kept.ask(method, &path, token, "{}");
            assert_eq!(reply.map(|(status, _)| status), Some(expected), "{method} {path}");
        }
    }
}

#[test]
fn a_stranger_is_answered_before_its_body_is_there() {
    let running = Running::start(Options::default());
    let mut kept = Kept::to(running.control());
    kept.announce("POST", "/episodes", "nobody", 1_000_000);
    assert_eq!(kept.read().map(|(status, _)| status), Some(401));
}
