//! The wire of NeMo Gym: a session from its row to its verdict, kept by a cookie.

use crate::common::{Reply, Running, demo, demo_task, send, with_demo};
use benchwright_pack::{BoundKeys, Store};
use benchwright_serve::Options;
use serde_json::{Value as Json, json};

fn running(may_read_sealed: bool) -> Running {
    Running::start(Options { bind_nemo: Some("127.0.0.1:0".parse().unwrap()), ..with_demo(may_read_sealed) })
}

fn post(running: &Running, path: &str, cookie: &str, body: &Json) -> Reply {
    // Clients send the cookies of other servers beside ours.
    let cookies = format!("another=1; {cookie}");
    send(running.server().nemo_address().unwrap(), "POST", path, &[("cookie", &cookies)], &body.to_string())
}

fn cookie(reply: &Reply) -> String {
    let line = reply.head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    line.unwrap_or_else(|| panic!("no cookie: {} {}", reply.head, reply.body)).split(';').next().unwrap().to_owned()
}

fn row() -> Json {
    json!({ "task": demo_task(), "responses_create_params": { "input": [], "b": 1, "a": 2.50 }, "_ng_task_index": 3 })
}

#[test]
fn a_session_is_seeded_called_and_verified_once() {
    let running = running(true);
    let task = Store::at(demo()).task(&demo_task()).unwrap();
    let seeded = post(&running, "/seed_session", "", &row());
    assert_eq!((seeded.status, &*seeded.body), (200, "{}"));
    let session = cookie(&seeded);
    let idle = cookie(&post(&running, "/seed_session", &session, &row()));
    assert_ne!(session, idle, "a row begins a session of its own, whatever cookie comes with it");

    let mut keys = BoundKeys::new(task.sealed.verifier.keys.values().flatten().map(|(id, key)| (key.clone(), *id)));
    for step in &task.sealed.oracle.steps {
        let reply = post(&running, &format!("/{}", step.tool()), &session, &keys.fill(&step.args).unwrap());
        assert_eq!((reply.status, cookie(&reply)), (200, session.clone()), "{}", reply.body);
        keys.note(step, &reply.json()).unwrap();
    }
    // What the world refuses is for the model to read.
    for (tool, arguments) in
        [("sale_order_read", json!([1])), ("no_such_tool", json!({})), ("sale_order_read", json!(null))]
    {
        let refused = post(&running, &format!("/{tool}"), &session, &arguments);
        assert_eq!((refused.status, cookie(&refused)), (200, session.clone()));
        assert!(!refused.code().is_empty(), "{}", refused.body);
    }

    let asked = json!({ "response": { "output": [] }, "task": "as it came", "responses_create_params": row()["responses_create_params"] });
    let verified = post(&running, "/verify", &session, &asked);
    let told = verified.json();
    assert_eq!((verified.status, &told["reward"], &told["passed"]), (200, &json!(1.0), &json!(true)));
    assert!(verified.body.starts_with(asked.to_string().trim_end_matches('}')), "the row comes back as it was");
    let nothing = post(&running, "/verify", &idle, &json!({})).json();
    assert_eq!(nothing, json!({ "reward": 0.0, "graded": 0.0, "passed": false }));

    assert_eq!(running.ask("GET", "/episodes", "").json()["count"], 0, "a verdict ends the session");
    for path in ["/verify", "/sale_order_read"] {
        let late = post(&running, path, &session, &json!({}));
        assert_eq!((late.status, &*late.code()), (410, "episode_closed"));
    }
}

#[test]
fn without_a_session_a_task_or_a_judge_there_is_no_reward() {
    let running = running(false);
    for (path, body, status) in [
        ("/verify", json!({}), 400),
        ("/sale_order_read", json!({}), 400),
        ("/seed_session", json!({ "row": 1 }), 400),
        ("/seed_session", json!({ "task": "erp-0000000000" }), 404),
        ("/seed_session", json!({ "task": "../../etc" }), 400),
        ("/aggregate_metrics", json!({}), 400),
    ] {
        let reply = post(&running, path, "benchwright=00.11", &body);
        assert_eq!(reply.status, status, "{path} {body}: {}", reply.body);
        assert!(reply.json().get("reward").is_none());
    }
    let session = cookie(&post(&running, "/seed_session", "", &row()));
    assert_eq!(post(&running, "/verify", &session, &json!([])).status, 400);
    let unjudged = post(&running, "/verify", &session, &json!({}));
    assert_eq!((unjudged.status, &*unjudged.code()), (403, "sealed_not_readable"));
    assert_eq!(running.ask("GET", "/episodes", "").json()["count"], 1, "what is not judged is not over");
    // Neither plane of the server is behind this address.
    let nemo = running.server().nemo_address().unwrap();
    let headers = [("authorization", &*crate::common::bearer(&running.control_token()))];
    assert_eq!(send(nemo, "GET", "/episodes", &headers, "").status, 405);
    assert_eq!(send(nemo, "GET", "/tasks/1", &headers, "").status, 404);
    assert_eq!(send(nemo, "POST", "/seed_session", &[("host", "evil.example")], &row().to_string()).status, 403);
}
