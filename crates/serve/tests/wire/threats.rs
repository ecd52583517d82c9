//! Each threat that concerns the server, as a test that it must fail.

use crate::common::{Begun, Running, bearer, begun, demo_copy, demo_task, send, with_demo};
use benchwright_base::Stream;
use benchwright_catalog::Catalog;
use benchwright_pack::Store;
use benchwright_serve::{Options, Settings};
use serde_json::{Map, Value as Json, json};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Every control route with a method that it takes.
fn control_routes(id: &str) -> Vec<(&'static str, String)> {
    vec![
        ("GET", "/tasks".to_owned()),
        ("GET", "/episodes".to_owned()),
        ("POST", "/episodes".to_owned()),
        ("GET", format!("/episodes/{id}")),
        ("DELETE", format!("/episodes/{id}")),
        ("POST", format!("/episodes/{id}/fork")),
        ("POST", format!("/episodes/{id}/grade")),
        ("GET", format!("/episodes/{id}/snapshot")),
        ("GET", format!("/episodes/{id}/trace")),
    ]
}

/// Every agent route with a method that it takes.
fn agent_routes(id: &str) -> Vec<(&'static str, String)> {
    vec![
        ("POST", format!("/episodes/{id}/mcp")),
        ("POST", format!("/episodes/{id}/tools/list_users")),
        ("GET", format!("/episodes/{id}/openapi.json")),
        ("POST", format!("/episodes/{id}/plain/list_users")),
    ]
}

#[test]
fn threat_05_the_planes_have_tokens_of_their_own() {
    let running = Running::start(with_demo(true));
    let episode = running.begin(&json!({ "task": demo_task() }));
    let before = running.status(&episode);
    let to = running.control();
    let (agent, control) = (bearer(&episode.token), bearer(&running.control_token()));
    for (method, path) in control_routes(&episode.id) {
        let reply = send(to, method, &path, &[("authorization", &agent)], "{}");
        assert_eq!((reply.status, &*reply.code()), (403, "not_for_agents"), "{method} {path}");
    }
    for (method, path) in agent_routes(&episode.id) {
        let reply = send(to, method, &path, &[("authorization", &control)], "{}");
        assert_eq!((reply.status, &*reply.code()), (403, "not_for_control"), "{method} {path}");
    }
    let almost = format!("{}0", &agent[..agent.len() - 1]);
    let longer = format!("{agent}0");
    let wrong = ["Bearer", "Bearer ", "Basic eDp5", "Bearer x", "Bearer .", &almost[..], &longer, &agent[7..]];
    let all: Vec<_> = control_routes(&episode.id).into_iter().chain(agent_routes(&episode.id)).collect();
    for (method, path) in &all {
        let missing = send(to, method, path, &[], "{}");
        assert_eq!((missing.status, &*missing.code()), (401, "unauthorized"), "{method} {path}");
        assert!(missing.head.contains("www-authenticate: bearer"));
        for token in wrong.iter().filter(|token| **token != agent) {
            let reply = send(to, method, path, &[("authorization", token)], "{}");
            assert_eq!(reply.status, 401, "{method} {path} {token}");
        }
        let twice = send(to, method, path, &[("authorization", &agent), ("authorization", &control)], "{}");
        assert_eq!(twice.status, 401, "two tokens are none");
        // A token in the address is none: addresses are written to logs.
        let in_address = format!("{path}?token={}", episode.token);
        assert_eq!(send(to, method, &in_address, &[], "{}").status, 401);
    }
    let mut after = running.status(&episode);
    after["idle_seconds"] = before["idle_seconds"].clone();
    assert_eq!(after, before, "nothing of this did anything");
}

#[test]
fn threat_06_an_episode_is_out_of_reach_for_another() {
    let running = Running::start(with_demo(false));
    let (a, b) = (running.csm(), running.csm());
    let before = running.status(&b)["state"].clone();
    let to = running.agents();
    let own = bearer(&a.token);
    for (method, path) in agent_routes(&b.id) {
        let reply = send(to, method, &path, &[("authorization", &own)], r#"{"name":"x","type":"support"}"#);
        assert_eq!((reply.status, &*reply.code()), (403, "other_episode"), "{path}");
    }
    // The secret of one under the name of the other is neither's.
    let mixed = bearer(&format!("{}.{}", b.id, a.token.split_once('.').unwrap().1));
    let path = format!("/episodes/{}/tools/list_users", b.id);
    assert_eq!(send(to, "POST", &path, &[("authorization", &mixed)], "{}").status, 401);

    let mut stream = Stream::new(6, &["ids"]);
    let mut ids: Vec<String> =
        ["0", "..", "%2e%2e", "%00", "*", "-1", "A", "%F0%9F%98%80", &a.id[1..], &"f".repeat(5000)]
            .map(str::to_owned)
            .into();
    ids.push(a.id.to_uppercase());
    ids.push(format!("{}0", a.id));
    ids.push(format!("{}%20", a.id));
    for _ in 0..300 {
        // Neighbours of a real id, and ids at random.
        let mut digits: Vec<u8> = a.id.clone().into_bytes();
        for _ in 0..=stream.below(3) {
            let at = stream.below(32) as usize;
            digits[at] = b"0123456789abcdef"[stream.below(16) as usize];
        }
        let id = String::from_utf8(digits).unwrap();
        if id != a.id {
            ids.push(id);
        }
    }
    for id in ids {
        let reply = send(to, "POST", &format!("/episodes/{id}/tools/list_users"), &[("authorization", &own)], "{}");
        assert_eq!(reply.status, 404, "{id}: {}", reply.body);
        assert!(matches!(&*reply.code(), "no_such_episode" | "no_such_route"), "{id}: {}", reply.body);
    }
    assert_eq!(running.status(&b)["state"], before);
    assert_eq!(running.status(&b)["calls_used"], 0);

    // A closed episode says so, to its own agent and to control, on every route.
    assert_eq!(running.ask("DELETE", &format!("/episodes/{}", b.id), "").status, 200);
    let gone = bearer(&b.token);
    for (method, path) in agent_routes(&b.id) {
        let reply = send(to, method, &path, &[("authorization", &gone)], "{}");
        assert_eq!((reply.status, &*reply.code()), (410, "episode_closed"), "{path}");
    }
    for (method, path) in control_routes(&b.id).into_iter().filter(|(_, path)| path.contains(&b.id)) {
        let reply = running.ask(method, &path, "");
        assert_eq!((reply.status, &*reply.code()), (410, "episode_closed"), "{method} {path}");
    }
}

/// Texts that break programs which build commands, templates, paths or documents from them.
const ATTACKS: [&str; 20] = [
    "' OR '1'='1",
    "'; DROP TABLE user; --",
    "\" UNION SELECT password FROM user --",
    "1; UPDATE user SET role='admin'",
    "{{7*7}}",
    "${jndi:ldap://127.0.0.1/a}",
    "<%= 7*7 %>",
    "#{7*7}",
    "../../../../etc/passwd",
    "..\\..\\windows\\system32",
    "/dev/null",
    "file:///etc/passwd",
    "\"}],\"error\":{\"code\":\"",
    "\\\"\\u0000\\n",
    "\u{0}\u{1}\u{7f}",
    "\u{202e}\u{2066}evil\u{2069}",
    "e\u{301}ﬁİßẞ𝕌👩‍👩‍👧",
    "<script>alert(1)</script>",
    "%s%n%x%00",
    "$(id)`id`|id;id",
];

/// Whether a schema takes a text.
fn takes_text(schema: &Json) -> bool {
    schema["type"] == "string" || schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!("string")))
}

/// Any value that fits a schema, with an attack wherever a text may stand.
fn filled(schema: &Json, attack: &str) -> Json {
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    let kind = schema["type"].as_array().map_or(&schema["type"], |kinds| &kinds[0]).as_str().unwrap_or("string");
    match kind {
        "boolean" => json!(true),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "array" => json!([filled(&schema["items"], attack)]),
        "object" => {
            let properties = schema["properties"].as_object().cloned().unwrap_or_default();
            properties.iter().map(|(name, schema)| (name.clone(), filled(schema, attack))).collect()
        }
        _ => match schema["format"].as_str() {
            Some("date") => json!("2026-03-01"),
            Some("date-time") => json!("2026-03-01T08:00:00Z"),
            Some("time") => json!("08:00:00"),
            Some("duration") => json!("PT1H"),
            _ => json!(attack),
        },
    }
}

#[test]
fn threat_07_no_text_is_more_than_text() {
    let running = Running::start(Options::default());
    let episodes = running.server().episodes();
    let episode = running.csm();
    let id = episode.id.parse().unwrap();
    let domain = Catalog::built_in().find("csm").unwrap().domain;
    let (mut made, mut stood, mut refused) = (0, 0, 0);
    for tool in &domain.tools {
        let schema = benchwright_schema::arguments_schema(&domain, tool);
        let properties = schema["properties"].as_object().unwrap();
        let required: Vec<&str> = schema["required"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
        let texts: Vec<&String> =
            properties.iter().filter(|(_, schema)| takes_text(schema)).map(|(name, _)| name).collect();
        for (at, attack) in ATTACKS.iter().enumerate() {
            let mut calls: Vec<Json> = Vec::new();
            for target in &texts {
                // The attack in one argument, the required others as they should be.
                let mut arguments: Map<String, Json> = Map::new();
                for (name, schema) in properties {
                    if required.contains(&&**name) {
                        arguments.insert(name.clone(), filled(schema, &format!("plain {made} {at}")));
                    }
                }
                arguments.insert((*target).clone(), json!(attack));
                calls.push(arguments.into());
            }
            // The attack everywhere, in the name of an argument, and instead of the arguments.
            calls.push(filled(&schema, attack));
            calls.push(json!({ *attack: attack }));
            calls.push(json!(attack));
            for arguments in calls {
                made += 1;
                let before = episodes.status(id).unwrap().state;
                let text = arguments.to_string();
                match episodes.call(id, &tool.name, &text) {
                    Ok(answer) => {
                        stood += 1;
                        serde_json::from_str::<Json>(&answer)
                            .unwrap_or_else(|error| panic!("{} {text}: {error}", tool.name));
                        if tool.reads_only() {
                            assert_eq!(episodes.status(id).unwrap().state, before, "{} {text}", tool.name);
                        }
                    }
                    Err(error) => {
                        refused += 1;
                        assert!((400..500).contains(&error.status()), "{} {text}: {error}", tool.name);
                        serde_json::from_str::<Json>(&error.to_json()).unwrap();
                        assert_eq!(episodes.status(id).unwrap().state, before, "{} {text}", tool.name);
                    }
                }
            }
        }
    }
    assert!(made > 5_000 && stood > 500 && refused > 2_000, "{made} made, {stood} stood, {refused} refused");

    // Over the wire too: in the name of the tool, in the body, and stored and read back as it was.
    let episode = running.csm();
    for attack in ATTACKS {
        let encoded: String = attack.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let reply = running.agent(&episode, "POST", &format!("tools/{encoded}"), "{}");
        assert_eq!(reply.status, 404, "{attack}: {}", reply.body);
        let reply = running.agent(&episode, "POST", "tools/find_user", attack);
        assert_eq!((reply.status, &*reply.code()), (400, "invalid_argument"), "{attack}");
        let stored = running.tool(&episode, "add_new_user_group", &json!({ "name": attack, "type": "support" }));
        if stored.status == 200 {
            assert_eq!(stored.json()["name"], attack);
            let found = running.tool(&episode, "find_user_group", &json!({ "name": attack }));
            assert_eq!(found.json()["rows"].as_array().unwrap().len(), 1, "{attack}");
        } else {
            assert!((400..500).contains(&stored.status), "{attack}: {}", stored.body);
        }
    }
    let invalid = running.agent(&episode, "POST", "tools/%FF%FE", "{}");
    assert_eq!((invalid.status, &*invalid.code()), (404, "no_such_route"));
}

#[test]
fn threat_08_foreign_hosts_and_pages_are_refused() {
    let options = Options { allowed_hosts: vec!["bench.example".to_owned()], ..Options::default() };
    let running = Running::start(options);
    assert!(running.control().ip().is_loopback(), "loopback unless told otherwise");
    let episode = running.csm();
    let (to, own) = (running.agents(), bearer(&episode.token));
    let path = format!("/episodes/{}/tools/list_users", episode.id);
    let ask = |headers: &[(&str, &str)]| {
        let all: Vec<(&str, &str)> = headers.iter().copied().chain([("authorization", &*own)]).collect();
        send(to, "POST", &path, &all, "{}")
    };
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "0.0.0.0", "10.1.2.3", ""] {
        let reply = ask(&[("host", host)]);
        assert_eq!((reply.status, &*reply.code()), (403, "foreign_host"), "{host}");
        assert_eq!(send(to, "GET", "/health", &[("host", host)], "").status, 403);
    }
    for origin in [
        "https://evil.example",
        "http://localhost.evil.example",
        "null",
        "file://",
        "localhost",
        "http://127.0.0.1@evil.example",
    ] {
        let reply = ask(&[("origin", origin)]);
        assert_eq!((reply.status, &*reply.code()), (403, "foreign_host"), "{origin}");
    }
    assert_eq!(ask(&[("host", "localhost"), ("host", "evil.example")]).status, 403, "two hosts are none");
    for good in [
        ("host", "localhost:1"),
        ("host", "[::1]"),
        ("host", "bench.example"),
        ("origin", "http://localhost:3000"),
        ("origin", "https://bench.example"),
    ] {
        assert_eq!(ask(&[good]).status, 200, "{good:?}");
    }
}

#[test]
fn threat_09_no_tool_fetches_an_address() {
    let catalog = Catalog::built_in();
    for name in catalog.names().unwrap() {
        let domain = catalog.find(&name).unwrap().domain;
        for tool in &domain.tools {
            let schema = benchwright_schema::arguments_schema(&domain, tool).to_string();
            assert!(!schema.contains("\"format\":\"ur"), "{name}/{} takes an address", tool.name);
        }
    }
    // Addresses of pages and hooks are data: no code of a tool, of a domain's or of the engine's, can open a connection.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut left: Vec<PathBuf> =
        ["domains", "crates/sandbox/src", "crates/catalog/src"].map(|part| root.join(part)).into();
    let mut files = 0;
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            files += 1;
            for sign in
                ["std::net", "net::", "TcpStream", "UdpSocket", "UnixStream", "process::Command", "ureq", "hyper"]
            {
                assert!(!text.contains(sign), "{} has {sign}", path.display());
            }
        }
    }
    assert!(files > 60, "{files}");
    // An address in a text stays a text: nobody is called.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/hook?x=1", listener.local_addr().unwrap());
    let running = Running::start(Options::default());
    let episode = running.csm();
    let group = running.tool(&episode, "add_new_user_group", &json!({ "name": address, "type": "support" }));
    assert_eq!((group.status, &group.json()["name"]), (200, &json!(address)));
    let user = json!({ "name": address, "email": address, "role": "agent", "title": address });
    let user = running.tool(&episode, "add_new_user", &user);
    assert_eq!((user.status, &user.json()["title"]), (200, &json!(address)), "{}", user.body);
    assert_eq!(running.tool(&episode, "find_user", &json!({ "name": address })).status, 200);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "somebody called");
}

#[test]
fn threat_14_a_changed_task_is_refused() {
    let root = demo_copy("threat-14");
    let settings = Settings { tasks: Some(root.clone()), may_read_sealed: true, ..Settings::default() };
    let running = Running::start(Options { settings, ..Options::default() });
    let ids = Store::at(&root).ids().unwrap();
    let change = |path: &str, from: &str, to: &str| {
        let path = root.join(path);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
    };
    let grade = |episode: &Begun| running.ask("POST", &format!("/episodes/{}/grade", episode.id), "");

    // A world, a text or a line of the task that is not as it was made.
    for (id, file, from, to) in [
        (&ids[0], "world.json", "2032", "2033"),
        (&ids[1], "instruction.md", "the", "The"),
        (&ids[2], "task.json", "2000", "9000 "),
    ] {
        let before = running.begin(&json!({ "task": id }));
        assert_eq!(grade(&before).status, 200);
        change(&format!("open/{id}/{file}"), from, to);
        let refused = running.ask("POST", "/episodes", &json!({ "task": id }).to_string());
        assert_eq!((refused.status, &*refused.code()), (422, "task_refused"), "{file}: {}", refused.body);
        let refused = grade(&before);
        assert_eq!((refused.status, &*refused.code()), (422, "task_refused"), "{file}: {}", refused.body);
    }

    // More calls than the task had: a whole document, but not the one that the lock file names.
    let episode = running.begin(&json!({ "task": ids[3] }));
    change(&format!("open/{}/task.json", ids[3]), "\"calls\": 2000", "\"calls\": 9000");
    assert_eq!(grade(&episode).status, 422);
    let wider = running.begin(&json!({ "task": ids[3] }));
    assert_eq!(grade(&wider).status, 422);
    change(&format!("open/{}/task.json", ids[3]), "\"calls\": 9000", "\"calls\": 2000");
    assert_eq!(grade(&episode).status, 200);
    let other = grade(&wider);
    assert_eq!((other.status, &*other.code()), (409, "task_changed"), "{}", other.body);

    // A verifier that judges otherwise.
    let episode = running.begin(&json!({ "task": ids[4] }));
    assert_eq!(grade(&episode).status, 200);
    let sealed = root.join("sealed").join(&ids[4]).join("sealed.json");
    let mut document: Json = serde_json::from_slice(&fs::read(&sealed).unwrap()).unwrap();
    document["verifier"]["gates"] = json!([]);
    document["verifier"]["best"] = json!([0]);
    let mut bytes = serde_json::to_vec_pretty(&document).unwrap();
    bytes.push(b'\n');
    fs::write(&sealed, bytes).unwrap();
    let refused = grade(&episode);
    assert_eq!((refused.status, &*refused.code()), (422, "task_refused"), "{}", refused.body);
    fs::remove_dir_all(&root).unwrap();
}

#[test]
fn threat_15_size_number_and_time_are_bounded() {
    let settings = Settings { most_episodes: 3, ..Settings::default() };
    let running = Running::start(Options { settings, ..Options::default() });
    let episode = running.csm();

    // A body that is too large, on every face.
    let huge = format!("{{\"name\":\"{}\"}}", "x".repeat(2 << 20));
    assert_eq!(running.agent(&episode, "POST", "tools/find_user", &huge).status, 413);
    // Where a face answers before it has read all, what is unread may cut the answer off; so little is read in one go.
    let narrow = Running::start(Options { largest_body: 4_096, ..with_demo(false) });
    let begun = narrow.csm();
    let much = format!("{{\"name\":\"{}\"}}", "x".repeat(5_000));
    for (route, expected) in [("tools/find_user", 413), ("mcp", 413), ("plain/find_user", 413), ("none", 404)] {
        assert_eq!(narrow.agent(&begun, "POST", route, &much).status, expected, "{route}");
    }
    assert_eq!(running.ask("POST", "/episodes", &huge).code(), "body_too_large");
    // One that is just not too large is read, and refused for what it says.
    let large = format!("{{\"nobody\":\"{}\"}}", "x".repeat((1 << 20) - 20));
    assert_eq!(running.agent(&episode, "POST", "tools/find_user", &large).code(), "invalid_argument");
    assert_eq!(running.agent(&episode, "POST", "tools/find_user", &"[".repeat(1 << 20)).code(), "invalid_argument");

    // A page is bounded, however much is asked for.
    for limit in [json!(1_000_000), json!(i64::MAX), json!(1e300), json!(-1), json!("all")] {
        let reply = running.tool(&episode, "list_users", &json!({ "limit": limit }));
        assert_eq!((reply.status, &*reply.code()), (400, "invalid_argument"), "{limit}: {}", reply.body);
    }
    let most = running.tool(&episode, "list_users", &json!({ "limit": 200 })).json();
    assert!(most["rows"].as_array().unwrap().len() <= 200);

    // Calls hold only so much text.
    let text = format!("{{\"name\":\"{}\"}}", "y".repeat(1_000_000));
    let last =
        (0..20).map(|_| running.agent(&episode, "POST", "tools/find_user", &text)).find(|reply| reply.status == 409);
    assert_eq!(last.unwrap().code(), "trace_full");

    // Only so many live at a time, and a closed one makes room.
    let others = [running.csm(), running.csm()];
    let full = running.ask("POST", "/episodes", r#"{"domain":"csm"}"#);
    assert_eq!((full.status, &*full.code()), (503, "too_many_episodes"));
    assert_eq!(running.ask("POST", &format!("/episodes/{}/fork", episode.id), "").code(), "too_many_episodes");
    running.ask("DELETE", &format!("/episodes/{}", others[0].id), "");
    running.csm();
}

#[test]
fn threat_15_idle_episodes_are_reaped() {
    let settings = Settings { idle: Duration::from_secs(2), most_episodes: 500, ..Settings::default() };
    let running = Running::start(Options { settings, ..Options::default() });
    let episodes = running.server().episodes();
    for _ in 0..2 {
        let first = running.csm();
        let id = first.id.parse().unwrap();
        // Far fewer than can be made before the first is idle for too long, also where others use the machine.
        for at in 1..500 {
            let fork = episodes.fork(id).unwrap();
            episodes
                .call(
                    fork.id,
                    "add_new_user_group",
                    &json!({ "name": format!("g{at}"), "type": "support" }).to_string(),
                )
                .unwrap();
        }
        assert_eq!(episodes.len(), 500);
        assert_eq!(running.ask("POST", "/episodes", r#"{"domain":"csm"}"#).status, 503);
        // To look is no use; to call is.
        let until = Instant::now() + Duration::from_secs(15);
        while episodes.len() > 1 && Instant::now() < until {
            assert_eq!(running.tool(&first, "list_users", &json!({ "limit": 1 })).status, 200);
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(episodes.len(), 1, "the one in use lives on");
        while !episodes.is_empty() && Instant::now() < until {
            running.ask("GET", &format!("/episodes/{}", first.id), "");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(episodes.is_empty(), "no slot is left");
        let gone = running.tool(&first, "list_users", &json!({}));
        assert_eq!((gone.status, &*gone.code()), (410, "episode_closed"));
    }
}

#[test]
fn threat_16_the_server_says_when_it_is_over() {
    let settings = Settings { calls: 3, ..Settings::default() };
    let running = Running::start(Options { settings, ..Options::default() });
    let episode = running.csm();
    // No word of the agent ends, grades or restarts anything.
    for word in ["finish", "grade", "reset", "submit", "done"] {
        assert!((400..500).contains(&running.agent(&episode, "POST", word, "{}").status));
    }
    let group = |name: &str| running.tool(&episode, "add_new_user_group", &json!({ "name": name, "type": "support" }));
    assert_eq!(running.tool(&episode, "submit_task", &json!({ "reward": 1 })).status, 404);
    assert_eq!(group("one").status, 200);
    assert_eq!(group("one").status, 409);
    let last = running.status(&episode);
    assert_eq!((last["calls_left"].as_u64(), last["ended_by"].as_str()), (Some(0), None));

    let over = group("two");
    assert_eq!((over.status, &*over.code()), (409, "calls_exhausted"));
    let status = running.status(&episode);
    assert_eq!((status["calls_over"].as_u64(), status["ended_by"].as_str()), (Some(1), Some("calls_exhausted")));
    assert_eq!((&status["state"], status["calls_used"].as_u64()), (&last["state"], Some(3)));
    let trace = running.ask("GET", &format!("/episodes/{}/trace", episode.id), "").json();
    assert_eq!(trace["calls"].as_array().unwrap().len(), 3, "the world was not asked");

    // Over MCP it is a result that says so; a fork has no more calls than its origin.
    let token = bearer(&episode.token);
    let headers = [
        ("authorization", &*token),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
    ];
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "list_users", "arguments": {} } });
    let reply = send(running.agents(), "POST", &format!("/episodes/{}/mcp", episode.id), &headers, &call.to_string());
    assert_eq!(reply.json()["result"]["isError"], true);
    assert!(reply.body.contains("calls_exhausted"));
    let fork = begun(&running.ask("POST", &format!("/episodes/{}/fork", episode.id), ""));
    assert_eq!(running.tool(&fork, "list_users", &json!({})).code(), "calls_exhausted");
}
