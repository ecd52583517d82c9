//! The whole life of an episode, over HTTP and in the program itself.

use crate::common::{Running, begun, demo, demo_task, with_demo};
use benchwright_pack::{BoundKeys, Diff, Ending, Store, Task};
use benchwright_sandbox::Conditions;
use benchwright_serve::{CallError, Episodes, Options, ServeError, Settings, Start, proxy};
use benchwright_world::WorldState;
use serde_json::{Value as Json, json};

fn keys(task: &Task) -> BoundKeys {
    let keys = &task.sealed.verifier.keys;
    BoundKeys::new(keys.values().flatten().map(|(id, key)| (key.clone(), *id)))
}

#[test]
fn a_domain_lives_from_its_beginning_to_its_end() {
    let running = Running::start(Options::default());
    let health = crate::common::send(running.control(), "GET", "/health", &[], "");
    assert_eq!((health.status, health.json()["status"].as_str()), (200, Some("ok")));

    let episode = running.csm();
    assert_eq!(episode.told["urls"]["mcp"], format!("http://{}/episodes/{}/mcp", running.agents(), episode.id));
    assert_eq!(episode.told["limits"]["body_bytes"], 1 << 20);
    let users = running.tool(&episode, "find_user", &json!({ "role": "agent", "limit": 2 }));
    assert_eq!(users.status, 200, "{}", users.body);
    assert_eq!(users.json()["rows"].as_array().unwrap().len(), 2);

    let before = running.status(&episode);
    let refused = running.tool(&episode, "get_user_by_email", &json!({ "email": "nobody@example.com" }));
    assert_eq!((refused.status, &*refused.code()), (404, "not_found"));
    let wrong = running.tool(&episode, "get_user_by_email", &json!({ "mail": "x" }));
    assert_eq!((wrong.status, &*wrong.code()), (400, "invalid_argument"));
    assert_eq!(running.status(&episode)["state"], before["state"], "a refusal changes nothing");

    // A fork goes its own way.
    let fork = begun(&running.ask("POST", &format!("/episodes/{}/fork", episode.id), ""));
    assert_ne!(fork.token, episode.token);
    let group = json!({ "name": "Night shift", "type": "support" });
    assert_eq!(running.tool(&fork, "add_new_user_group", &group).status, 200);
    assert_eq!(running.status(&episode)["state"], before["state"]);
    assert_ne!(running.status(&fork)["state"], before["state"]);
    let twice = running.tool(&fork, "add_new_user_group", &group);
    assert_eq!((twice.status, &*twice.code()), (409, "duplicate"));
    assert_eq!(running.ask("GET", "/episodes", "").json()["count"], 2);

    let snapshot = running.ask("GET", &format!("/episodes/{}/snapshot", fork.id), "");
    assert!(snapshot.body.contains("Night shift"));
    let trace = running.ask("GET", &format!("/episodes/{}/trace", fork.id), "").json();
    let calls = trace["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 5, "the calls before the fork are its own too");
    assert_eq!(calls[1]["outcome"]["refused"], "not_found");
    let status = running.status(&fork);
    assert_eq!((status["calls_used"].as_u64(), status["calls_left"].as_u64()), (Some(5), Some(99_995)));

    // Nothing to grade by, and the end.
    let graded = running.ask("POST", &format!("/episodes/{}/grade", fork.id), "");
    assert_eq!((graded.status, &*graded.code()), (403, "sealed_not_readable"));
    assert_eq!(running.ask("DELETE", &format!("/episodes/{}", fork.id), "").status, 200);
    let gone = running.ask("GET", &format!("/episodes/{}", fork.id), "");
    assert_eq!((gone.status, &*gone.code()), (410, "episode_closed"));
    assert_eq!(running.tool(&fork, "list_users", &json!({})).status, 410);
    assert_eq!(running.ask("GET", "/episodes", "").json()["count"], 1);
}

#[test]
fn what_cannot_begin_is_told() {
    let running = Running::start(with_demo(false));
    let cases = [
        ("{}", 400, "invalid_request"),
        ("[]", 400, "invalid_request"),
        ("{", 400, "invalid_request"),
        (r#"{"task":"a","domain":"csm"}"#, 400, "invalid_request"),
        (r#"{"domain":"csm","colour":"red"}"#, 400, "invalid_request"),
        (r#"{"domain":"csm","size":"galactic"}"#, 400, "invalid_request"),
        (r#"{"domain":"csm","role":"king"}"#, 400, "invalid_request"),
        (r#"{"domain":"../domains/csm"}"#, 400, "invalid_request"),
        (r#"{"domain":"nowhere"}"#, 404, "not_found"),
        (r#"{"task":"erp-0000000000"}"#, 404, "not_found"),
        (r#"{"task":"../erp"}"#, 400, "invalid_request"),
    ];
    for (body, status, code) in cases {
        let reply = running.ask("POST", "/episodes", body);
        assert_eq!((reply.status, &*reply.code()), (status, code), "{body}: {}", reply.body);
    }
    assert_eq!(running.ask("GET", "/episodes", "").json()["count"], 0);
    assert_eq!(running.ask("GET", "/nothing", "").code(), "no_such_route");
    assert_eq!(running.ask("PUT", "/episodes", "").code(), "method_not_allowed");
}

#[test]
fn a_task_is_played_and_graded() {
    let running = Running::start(with_demo(true));
    let id = demo_task();
    let task = Store::at(demo()).task(&id).unwrap();
    let episode = running.begin(&json!({ "task": id }));
    assert_eq!(episode.told["instruction"], task.instruction);
    assert_eq!(episode.told["limits"]["calls"], task.open.calls);

    // Idle earns nothing.
    let idle = running.ask("POST", &format!("/episodes/{}/grade", episode.id), "");
    assert_eq!(idle.status, 200, "{}", idle.body);
    assert_eq!((idle.json()["ending"].as_str(), idle.json()["reward"].as_f64()), (Some("fail"), Some(0.0)));

    running.play(&episode, &task.sealed.oracle, &mut keys(&task));
    let graded = running.ask("POST", &format!("/episodes/{}/grade", episode.id), "").json();
    assert_eq!((graded["ending"].as_str(), graded["reward"].as_f64()), (Some("pass"), Some(1.0)), "{graded}");
}

#[test]
fn without_permission_nothing_is_graded() {
    let running = Running::start(with_demo(false));
    let episode = running.begin(&json!({ "task": demo_task() }));
    let graded = running.ask("POST", &format!("/episodes/{}/grade", episode.id), "");
    assert_eq!((graded.status, &*graded.code()), (403, "sealed_not_readable"));
    assert_eq!(running.tool(&episode, "sale_order_search_read", &json!({ "domain": [] })).status, 200);
}

#[test]
fn the_same_life_without_http() {
    let id = demo_task();
    let task = Store::at(demo()).task(&id).unwrap();
    let settings = Settings { tasks: Some(demo()), may_read_sealed: true, ..Settings::default() };
    let episodes = Episodes::new(settings);
    let created = episodes.create(&Start::task(id)).unwrap();
    let again = episodes.create(&Start::task(&*task.open.id)).unwrap();
    assert_eq!(episodes.worlds(), 1, "one world for both");
    let mut keys = keys(&task);
    for step in &task.sealed.oracle.steps {
        let arguments = keys.fill(&step.args).unwrap();
        let answer = episodes.call(created.id, &step.tool(), &arguments.to_string()).unwrap();
        keys.note(step, &serde_json::from_str(&answer).unwrap()).unwrap();
    }
    let graded = episodes.grade(created.id).unwrap();
    assert_eq!((graded.verdict.ending, graded.task), (Ending::Pass, task.digest()));
    assert_eq!(Some(graded.state), episodes.status(created.id).unwrap().state);
    assert_eq!(episodes.grade(again.id).unwrap().verdict.reward, 0);
    assert_eq!(episodes.trace(created.id).unwrap().calls.len(), task.sealed.oracle.steps.len());
    assert!(episodes.diff(again.id).unwrap().is_empty() && !episodes.diff(created.id).unwrap().is_empty());
    let tools = episodes.tools(again.id).unwrap();
    assert_eq!(tools.line("sale_order_create").unwrap().name, "sale_order_create");
    let records = |id| match episodes.state(id).unwrap() {
        WorldState::Records(snapshot) => snapshot,
        other => panic!("the sandbox has {}", other.kind()),
    };
    let (first, last) = (records(again.id), records(created.id));
    assert_eq!(first.to_bytes(&sandbox_domain("erp")), task.world);
    assert_eq!(episodes.state_bytes(again.id).unwrap(), task.world);
    assert_eq!(Diff::between(&first, &last), episodes.diff(created.id).unwrap(), "one difference, two ways to it");
    episodes.close(created.id).unwrap();
    assert!(matches!(episodes.close(created.id), Err(ServeError::Closed(_))));
    let after = episodes.call(created.id, "sale_order_search_read", "{}");
    assert!(matches!(after, Err(CallError::Serve(ServeError::Closed(_)))));
    assert_eq!(episodes.len(), 1);
}

fn sandbox_domain(name: &str) -> std::sync::Arc<benchwright_schema::Domain> {
    benchwright_catalog::Catalog::built_in().find(name).unwrap().domain
}

#[test]
fn a_trace_replays_to_the_same_state() {
    let running = Running::start(Options::default());
    let episode = running.csm();
    for at in 0..5 {
        let group = json!({ "name": format!("Group {}", at % 3), "type": "support" });
        running.tool(&episode, "add_new_user_group", &group);
    }
    let trace = running.ask("GET", &format!("/episodes/{}/trace", episode.id), "");
    let trace = benchwright_pack::Trace::from_bytes(trace.body.as_bytes()).unwrap();
    let sandbox = benchwright_catalog::Catalog::built_in().world("csm", "small", 1).unwrap();
    let seat = benchwright_world::Seat { role: trace.role.clone(), actor: trace.actor };
    sandbox.begin(&seat, Conditions::default()).unwrap().replay(&trace).unwrap();
    assert_eq!(running.status(&episode)["state"], trace.end);
}

#[test]
fn the_description_lists_every_tool() {
    let running = Running::start(Options::default());
    let episode = running.csm();
    let document = running.agent(&episode, "GET", "openapi.json", "").json();
    let domain = sandbox_domain("csm");
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), domain.tools.len());
    for tool in &domain.tools {
        let operation = &paths[&format!("/tools/{}", tool.name)]["post"];
        assert_eq!(operation["operationId"], tool.name);
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(*schema, benchwright_schema::arguments_schema(&domain, tool));
        assert!(operation["responses"]["200"]["content"]["application/json"]["schema"].is_object());
    }
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], format!("http://{}/episodes/{}", running.agents(), episode.id));
}

#[test]
fn two_ports_keep_the_planes_apart() {
    let options = Options { bind_agents: Some("127.0.0.1:0".parse().unwrap()), ..Options::default() };
    let running = Running::start(options);
    assert_ne!(running.control(), running.agents());
    let episode = running.csm();
    assert_eq!(running.tool(&episode, "list_users", &json!({})).status, 200);
    let control = crate::common::bearer(&running.control_token());
    let there = crate::common::send(running.agents(), "GET", "/episodes", &[("authorization", &control)], "");
    assert_eq!((there.status, &*there.code()), (404, "no_such_route"));
    let path = format!("/episodes/{}/tools/list_users", episode.id);
    let own = crate::common::bearer(&episode.token);
    let here = crate::common::send(running.control(), "POST", &path, &[("authorization", &own)], "{}");
    assert_eq!((here.status, &*here.code()), (404, "no_such_route"));
}

#[test]
fn lines_are_handed_on_to_the_episode() {
    let running = Running::start(Options::default());
    let episode = running.csm();
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"find_user","arguments":{"limit":1}}}"#,
        "this is no JSON",
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"find_user","arguments":{"limit":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    ];
    let input = lines.join("\n");
    let url = episode.told["urls"]["mcp"].as_str().unwrap();
    let mut output = Vec::new();
    running.runtime().block_on(proxy(url, &episode.token, input.as_bytes(), &mut output)).unwrap();
    let output = String::from_utf8(output).unwrap();
    let answers: Vec<Json> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 4, "{output}");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answers[1]["result"]["structuredContent"]["rows"].as_array().unwrap().len(), 1);
    assert_eq!(answers[2]["error"]["code"], -32700);
    assert_eq!(answers[3]["result"]["resultType"], "complete", "{output}");
    assert_eq!(answers[3]["id"], 3);

    // A closed episode is an error of the request, not silence.
    running.ask("DELETE", &format!("/episodes/{}", episode.id), "");
    let mut output = Vec::new();
    let ping = br#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
    running.runtime().block_on(proxy(url, &episode.token, &ping[..], &mut output)).unwrap();
    let answer: Json = serde_json::from_slice(&output).unwrap();
    assert_eq!((answer["id"].as_i64(), answer["error"]["code"].as_i64()), (Some(9), Some(-32600)));
}

#[test]
fn callers_of_one_episode_take_turns() {
    let running = Running::start(Options::default());
    let episode = running.csm();
    std::thread::scope(|scope| {
        for caller in 0..8 {
            let (running, episode) = (&running, &episode);
            scope.spawn(move || {
                for at in 0..50 {
                    let group = json!({ "name": format!("Group {caller}-{at}"), "type": "support" });
                    assert_eq!(running.tool(episode, "add_new_user_group", &group).status, 200);
                }
            });
        }
    });
    assert_eq!(running.status(&episode)["calls_used"], 400);
    let trace = running.ask("GET", &format!("/episodes/{}/trace", episode.id), "").json();
    assert_eq!(trace["calls"].as_array().unwrap().len(), 400);
    let snapshot = running.ask("GET", &format!("/episodes/{}/snapshot", episode.id), "");
    assert_eq!(snapshot.body.matches("\"name\":\"Group ").count(), 400);
}

#[test]
fn only_so_many_worlds_are_kept() {
    let episodes = Episodes::new(Settings { most_worlds: 2, ..Settings::default() });
    let begin = |seed| episodes.create(&Start::domain("csm", "small", seed)).unwrap();
    let all = [1, 2, 3, 1].map(begin);
    assert_eq!(episodes.worlds(), 2);
    let states = all.each_ref().map(|created| episodes.status(created.id).unwrap().state);
    assert_eq!(states[0], states[3], "the same seed, the same world");
    assert_ne!(states[0], states[1]);
    for created in &all {
        assert!(episodes.call(created.id, "list_users", "{}").is_ok(), "an episode keeps its world");
    }
}
