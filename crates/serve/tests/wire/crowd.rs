//! Many clients, slow clients and clients that never finish: each limit refuses or closes whom it is for, by its name, and nobody else.

use crate::common::{Begun, Kept, Running, bearer, begun, send};
use benchwright_serve::{CrowdLimits, Options, Server, ServerError, Settings, Token};
use serde_json::json;
use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(20);

fn crowd(limits: CrowdLimits) -> Running {
    Running::start(Options { crowd: limits, ..Options::default() })
}

fn usual() -> CrowdLimits {
    CrowdLimits::default()
}

fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

/// Whether the server has closed a connection, read to its end.
fn is_closed(mut stream: &TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    loop {
        match stream.read(&mut [0; 4_096]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

fn is_closed_within(stream: &TcpStream, time: Duration) -> bool {
    let until = Instant::now() + time;
    while Instant::now() < until {
        if is_closed(stream) {
            return true;
        }
    }
    false
}

/// Whether something comes to hold, however busy the machine is.
fn settles(mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + LONG;
    while Instant::now() < until {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}

/// A line of the metrics.
fn metric(running: &Running, name: &str) -> f64 {
    let text = running.ask("GET", "/metrics", "").body;
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    line.unwrap_or_else(|| panic!("{name}: {text}")).rsplit(' ').next().unwrap().parse().unwrap()
}

fn list_users(episode: &Begun) -> String {
    format!("/episodes/{}/tools/list_users", episode.id)
}

/// The memory of this process, in KiB. Each test runs in one of its own.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_head_that_does_not_come_is_not_waited_for() {
    let running = crowd(CrowdLimits { head: SHORT, ..usual() });
    let silent = connect(running.control());
    let mut drips = connect(running.control());
    let mut kept = Kept::to(running.control());
    let token = running.control_token();
    assert_eq!(kept.ask("GET", "/episodes", &token, "").unwrap().0, 200);
    let dripping = thread::spawn(move || {
        let begun = Instant::now();
        // Each byte is in time; the head as a whole is not.
        for byte in b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: ".iter().chain([b'y'; 400].iter()) {
            if drips.write_all(&[*byte]).is_err() || is_closed(&drips) {
                break;
            }
        }
        begun.elapsed()
    });
    assert!(is_closed_within(&silent, LONG));
    assert!(dripping.join().unwrap() < Duration::from_secs(5));
    thread::sleep(SHORT * 3);
    assert_eq!(kept.ask("GET", "/episodes", &token, "").unwrap().0, 200, "one that rests is not late");
    assert_eq!(metric(&running, r#"benchwright_connections_closed_total{why="head_too_slow"}"#), 2.0);
}

#[test]
fn a_connection_that_rests_for_too_long_is_closed() {
    let running = crowd(CrowdLimits { rest: SHORT, ..usual() });
    let mut kept = Kept::to(running.control());
    let token = running.control_token();
    for _ in 0..5 {
        assert_eq!(kept.ask("GET", "/episodes", &token, "").unwrap().0, 200);
        thread::sleep(SHORT / 3);
    }
    thread::sleep(SHORT * 3);
    assert!(kept.ask("GET", "/episodes", &token, "").is_none());
    assert_eq!(metric(&running, r#"benchwright_connections_closed_total{why="idle"}"#), 1.0);
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let running = crowd(CrowdLimits { body: SHORT, ..usual() });
    let episode = running.csm();
    let path = list_users(&episode);
    let mut none = Kept::to(running.agents());
    none.announce("POST", &path, &episode.token, 100);
    let (status, body) = none.read().unwrap();
    assert_eq!((status, body.contains("body_too_slow")), (408, true), "{body}");
    assert!(none.ask("POST", &path, &episode.token, "{}").is_none(), "the connection cannot be used again");

    // A chunk at a time, without an end.
    let mut chunks = connect(running.agents());
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\ntransfer-encoding: chunked\r\n\r\n",
        bearer(&episode.token)
    );
    chunks.write_all(head.as_bytes()).unwrap();
    let begun = Instant::now();
    while begun.elapsed() < LONG && chunks.write_all(b"1\r\n \r\n").is_ok() && !is_closed(&chunks) {}
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(metric(&running, r#"benchwright_refusals_total{kind="body_too_slow"}"#), 2.0);
    assert_eq!(metric(&running, "benchwright_bodies_held_bytes"), 0.0);
    // One that takes its time within the limit is read.
    assert_eq!(Kept::to(running.agents()).ask("POST", &path, &episode.token, "{}").unwrap().0, 200);
}

#[test]
fn a_body_that_is_announced_too_large_or_never_ends_is_not_read() {
    let running = crowd(usual());
    let episode = running.csm();
    let path = list_users(&episode);
    let mut tera = Kept::to(running.agents());
    let begun = Instant::now();
    tera.announce("POST", &path, &episode.token, 1 << 40);
    let (status, body) = tera.read().unwrap();
    assert_eq!((status, body.contains("body_too_large")), (413, true), "{body}");
    assert!(begun.elapsed() < Duration::from_secs(2), "it is known from the head");

    let mut endless = connect(running.agents());
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\ntransfer-encoding: chunked\r\n\r\n",
        bearer(&episode.token)
    );
    endless.write_all(head.as_bytes()).unwrap();
    let chunk = [b"10000\r\n", &[b' '; 0x10000][..], b"\r\n"].concat();
    let sent = (0..2_000).take_while(|_| endless.write_all(&chunk).is_ok()).count();
    assert!(sent < 1_000, "{sent} chunks of 64 KiB were taken");
    assert_eq!(metric(&running, r#"benchwright_refusals_total{kind="body_too_large"}"#), 2.0);
}

#[test]
fn whoever_asks_and_does_not_read_is_not_answered_for_ever() {
    let running = crowd(CrowdLimits { answer: SHORT, ..usual() });
    let mut greedy = connect(running.control());
    let request = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let before = memory();
    greedy.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    // 10,000 requests at once, of which none is read: far more than any buffer of the system holds.
    let _ = greedy.write_all(&request.repeat(10_000));
    thread::sleep(SHORT * 2);
    let grown = memory().saturating_sub(before);
    assert!(grown < 24 << 10, "{grown} KiB for answers that nobody reads");
    let closed = || metric(&running, r#"benchwright_connections_closed_total{why="answer_not_read"}"#);
    assert!(settles(|| closed() == 1.0));
}

#[test]
fn ten_thousand_requests_on_one_connection_are_answered_in_order() {
    let running = crowd(usual());
    let mut stream = connect(running.control());
    let mut writes = stream.try_clone().unwrap();
    let asking = thread::spawn(move || {
        for at in 0..10_000 {
            let path = if at % 2 == 0 { "/health" } else { "/nothing" };
            let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
            writes.write_all(head.as_bytes()).unwrap();
        }
        writes.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    });
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    asking.join().unwrap();
    let statuses: Vec<&str> = all.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses.len(), 10_001);
    assert!(statuses.iter().enumerate().all(|(at, status)| *status == ["200", "404"][at % 2]));
}

#[test]
fn the_oldest_stranger_gives_way_and_a_known_client_never_does() {
    let running = crowd(CrowdLimits { strangers: 8, ..usual() });
    let episode = running.csm();
    let mut known = Kept::to(running.agents());
    assert_eq!(known.ask("POST", &list_users(&episode), &episode.token, "{}").unwrap().0, 200);
    let silent: Vec<TcpStream> = (0..50).map(|_| connect(running.agents())).collect();
    let newcomer = running.tool(&episode, "list_users", &json!({ "limit": 1 }));
    assert_eq!(newcomer.status, 200, "{}", newcomer.body);
    assert_eq!(known.ask("POST", &list_users(&episode), &episode.token, "{}").unwrap().0, 200);
    assert!(silent[..40].iter().all(|stream| is_closed_within(stream, LONG)), "the oldest had to leave");
    assert!(!is_closed(&silent[49]), "the youngest stays");
    assert!(metric(&running, r#"benchwright_connections_closed_total{why="gave_way"}"#) >= 42.0);
    assert!(metric(&running, r#"benchwright_connections{of="strangers"}"#) <= 8.0);
    assert!(settles(|| metric(&running, r#"benchwright_connections{of="known"}"#) == 2.0), "that one, and who asks");
}

#[test]
fn a_newcomer_gets_in_where_all_places_are_taken() {
    let running = crowd(CrowdLimits { connections: 8, ..usual() });
    let (episode, path) = (running.csm(), "/episodes");
    let token = running.control_token();
    thread::sleep(SHORT);
    let mut all: Vec<Kept> = Vec::new();
    for _ in 0..8 {
        let mut kept = Kept::to(running.control());
        assert_eq!(kept.ask("GET", path, &token, "").unwrap().0, 200);
        all.push(kept);
        thread::sleep(SHORT / 2);
    }
    assert_eq!(running.tool(&episode, "list_users", &json!({ "limit": 1 })).status, 200);
    assert!(all[0].ask("GET", path, &token, "").is_none(), "who has rested the longest gave way");
    assert_eq!(all[7].ask("GET", path, &token, "").unwrap().0, 200);
}

#[test]
fn a_token_has_so_many_connections_and_others_have_theirs() {
    let running = crowd(CrowdLimits { of_one_token: 4, ..usual() });
    let (greedy, honest) = (running.csm(), running.csm());
    let mut all: Vec<Kept> = (0..4).map(|_| Kept::to(running.agents())).collect();
    for kept in &mut all {
        assert_eq!(kept.ask("POST", &list_users(&greedy), &greedy.token, "{}").unwrap().0, 200);
        assert_eq!(kept.ask("POST", &list_users(&greedy), &greedy.token, "{}").unwrap().0, 200, "again on the same");
    }
    let more = running.tool(&greedy, "list_users", &json!({}));
    assert_eq!((more.status, &*more.code()), (429, "too_many_connections"), "{}", more.body);
    assert_eq!(running.tool(&honest, "list_users", &json!({})).status, 200);
    assert_eq!(metric(&running, r#"benchwright_refusals_total{kind="too_many_connections"}"#), 1.0);
    // A connection that is over, or shows another token, makes room.
    assert_eq!(all[0].ask("POST", &list_users(&honest), &honest.token, "{}").unwrap().0, 200);
    let mut next = Kept::to(running.agents());
    assert_eq!(next.ask("POST", &list_users(&greedy), &greedy.token, "{}").unwrap().0, 200);
    drop(all);
    assert!(settles(|| running.tool(&greedy, "list_users", &json!({})).status == 200));
}

/// Begins a body of 1 MB and leaves it unfinished.
fn unfinished(running: &Running, episode: &Begun, bytes: usize) -> Kept {
    let mut kept = Kept::to(running.agents());
    kept.announce("POST", &list_users(episode), &episode.token, 1_000_000);
    kept.write(&vec![b' '; bytes]);
    kept
}

#[test]
fn unfinished_bodies_have_a_budget_for_each_token_and_for_all() {
    let limits = CrowdLimits { bodies_of_one_token: 1_500_000, bodies: 300_000, room: SHORT, ..usual() };
    let running = crowd(limits);
    let (greedy, other, honest) = (running.csm(), running.csm(), running.csm());
    let held = || metric(&running, "benchwright_bodies_held_bytes");
    let first = unfinished(&running, &greedy, 150_000);
    assert!(settles(|| held() == 150_000.0), "it is being read");
    // What is announced counts, so that nothing of the second has to be read.
    let (status, body) = unfinished(&running, &greedy, 0).read().unwrap();
    assert_eq!((status, body.contains("too_many_bytes")), (429, true), "{body}");
    let (status, body) = unfinished(&running, &other, 190_000).read().unwrap();
    assert_eq!((status, body.contains("bodies_full")), (503, true), "{body}");
    // Who sends no more than there is room for is heard, and a body that came in one piece is not even counted.
    assert_eq!(running.tool(&honest, "list_users", &json!({})).status, 200);
    let large = format!("{{\"nobody\":\"{}\"}}", "x".repeat(100_000));
    assert_eq!(running.agent(&honest, "POST", "tools/find_user", &large).code(), "invalid_argument");
    assert_eq!(held(), 150_000.0);
    drop(first);
    assert!(settles(|| held() == 0.0), "what was held is given back");
}

#[test]
fn a_body_waits_for_room_beside_others_of_its_token() {
    let running = crowd(CrowdLimits { bodies_of_one_token: 1_500_000, room: LONG, ..usual() });
    let greedy = running.csm();
    let held = || metric(&running, "benchwright_bodies_held_bytes");
    let first = unfinished(&running, &greedy, 1);
    assert!(settles(|| held() == 1.0));
    let mut second = unfinished(&running, &greedy, 7);
    thread::sleep(SHORT);
    assert_eq!(held(), 1.0, "the second is not read yet");
    drop(first);
    assert!(settles(|| held() == 7.0), "it is read as soon as there is room");
    second.write(&[b' '; 999_993]);
    assert_eq!(second.read().unwrap().0, 200, "and answered when it is whole");
}

#[test]
fn an_episode_grows_by_so_many_rows_and_is_read_after_that() {
    let settings = Settings { most_rows: 10, ..Settings::default() };
    let running = Running::start(Options { settings, ..Options::default() });
    let (greedy, honest) = (running.csm(), running.csm());
    let group = |episode: &Begun, at: usize| {
        running.tool(episode, "add_new_user_group", &json!({ "name": format!("Group {at}"), "type": "support" }))
    };
    for at in 0..10 {
        assert_eq!(group(&greedy, at).status, 200);
    }
    let before = running.status(&greedy);
    let refused = group(&greedy, 10);
    assert_eq!((refused.status, &*refused.code()), (409, "rows_exhausted"), "{}", refused.body);
    assert_eq!(running.tool(&greedy, "list_users", &json!({ "limit": 1 })).status, 200, "what reads is answered");
    assert_eq!(running.tool(&greedy, "no_such_tool", &json!({})).code(), "not_found", "and so is what is no tool");
    assert_eq!(running.status(&greedy)["state"], before["state"], "the world was not asked");
    let trace = running.ask("GET", &format!("/episodes/{}/trace", greedy.id), "").json();
    assert_eq!(trace["calls"].as_array().unwrap().len(), 12, "what was refused here is no call of the world");
    assert_eq!(group(&honest, 10).status, 200);
    let fork = begun(&running.ask("POST", &format!("/episodes/{}/fork", greedy.id), ""));
    assert_eq!(group(&fork, 11).code(), "rows_exhausted", "a copy has no more room than its origin");

    // Over MCP it is a result that says so.
    let token = bearer(&greedy.token);
    let headers = [
        ("authorization", &*token),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
    ];
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "add_new_user_group", "arguments": { "name": "x", "type": "support" } } });
    let reply = send(running.agents(), "POST", &format!("/episodes/{}/mcp", greedy.id), &headers, &call.to_string());
    assert!(reply.json()["result"]["isError"] == true && reply.body.contains("rows_exhausted"), "{}", reply.body);
    assert_eq!(metric(&running, r#"benchwright_refusals_total{kind="rows_exhausted"}"#), 3.0);
}

#[test]
fn long_texts_count_as_many_rows() {
    let settings = Settings { most_rows: 100, ..Settings::default() };
    let running = Running::start(Options { settings, ..Options::default() });
    let episode = running.csm();
    let named = |at: usize| json!({ "name": format!("{at}{}", "x".repeat(60_000)), "type": "support" });
    let codes: Vec<String> = (0..4)
        .map(|at| running.tool(&episode, "add_new_user_group", &named(at)))
        .map(|reply| if reply.status == 200 { String::new() } else { reply.code() })
        .collect();
    assert_eq!(codes, ["", "rows_exhausted", "rows_exhausted", "rows_exhausted"]);
}

#[test]
fn where_memory_is_full_who_holds_most_has_to_stop() {
    let settings = Settings { most_memory: 512 << 10, ..Settings::default() };
    let running = Running::start(Options { settings, ..Options::default() });
    let (greedy, honest) = (running.csm(), running.csm());
    let group = |episode: &Begun, at: usize| {
        running.tool(episode, "add_new_user_group", &json!({ "name": format!("Group {at}"), "type": "support" }))
    };
    let refused = (0..2_000).map(|at| group(&greedy, at)).find(|reply| reply.status != 200).unwrap();
    assert_eq!((refused.status, &*refused.code()), (503, "memory_full"), "{}", refused.body);
    assert_eq!(running.tool(&greedy, "list_users", &json!({ "limit": 1 })).status, 200);
    for at in 0..20 {
        assert_eq!(group(&honest, at).status, 200, "who holds less than its part goes on");
    }
    let full = running.ask("POST", "/episodes", r#"{"domain":"csm"}"#);
    assert_eq!((full.status, &*full.code()), (503, "memory_full"), "{}", full.body);
    assert_eq!(running.ask("POST", &format!("/episodes/{}/fork", honest.id), "").code(), "memory_full");
    assert!(metric(&running, "benchwright_episodes_held_bytes") >= (512 << 10) as f64);
    // What is closed makes room.
    assert_eq!(running.ask("DELETE", &format!("/episodes/{}", greedy.id), "").status, 200);
    running.csm();
    assert_eq!(metric(&running, "benchwright_episodes_held_bytes"), 0.0);
}

#[test]
fn documents_that_are_asked_for_at_once_take_turns() {
    let running = crowd(CrowdLimits { documents: 1 << 10, answer: Duration::from_secs(2), ..usual() });
    let episode = running.begin(&json!({ "domain": "csm", "seed": 1, "size": "medium" }));
    let path = format!("/episodes/{}/snapshot", episode.id);
    let document = running.ask("GET", &path, "").body;
    // One client asks for more than the system's buffers hold and reads none of it.
    let mut greedy = connect(running.control());
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\n\r\n",
        bearer(&running.control_token())
    );
    greedy.write_all(head.repeat(1 + (24 << 20) / document.len()).as_bytes()).unwrap();
    thread::sleep(SHORT * 2);
    let begun = Instant::now();
    assert_eq!(running.ask("GET", &path, "").body, document);
    assert!(begun.elapsed() > SHORT, "it had to wait until the other was closed");
}

#[test]
fn mcp_leaves_nothing_open() {
    let running = crowd(usual());
    let episode = running.csm();
    let path = format!("/episodes/{}/mcp", episode.id);
    let token = bearer(&episode.token);
    let headers = [("authorization", &*token), ("accept", "text/event-stream")];
    // A stream that would never end, and the end of a session that never began.
    for method in ["GET", "DELETE"] {
        let reply = send(running.agents(), method, &path, &headers, "");
        assert_eq!(reply.status, 405, "{method}: {}", reply.body);
    }
    let headers = [
        ("authorization", &*token),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
    ];
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    for _ in 0..200 {
        let reply = send(running.agents(), "POST", &path, &headers, &hello.to_string());
        assert_eq!((reply.status, reply.head.contains("mcp-session-id")), (200, false));
    }
    assert!(
        settles(|| metric(&running, r#"benchwright_connections{of="known"}"#) <= 1.0),
        "only who asks is connected"
    );
    assert_eq!(metric(&running, "benchwright_episodes"), 1.0);
}

#[test]
fn metrics_are_for_the_control_token_and_name_nobody() {
    let running = Running::start(Options::default());
    let episode = running.csm();
    assert_eq!(running.tool(&episode, "list_users", &json!({ "limit": 1 })).status, 200);
    assert_eq!(running.tool(&episode, "list_user", &json!({})).status, 404);
    let own = bearer(&episode.token);
    let agent = send(running.control(), "GET", "/metrics", &[("authorization", &own)], "");
    assert_eq!((agent.status, &*agent.code()), (403, "not_for_agents"));
    assert_eq!(send(running.control(), "GET", "/metrics", &[], "").status, 401);
    let reply = running.ask("GET", "/metrics", "");
    assert!(reply.head.contains("content-type: text/plain; version=0.0.4"), "{}", reply.head);
    let text = reply.body;
    for secret in [&*episode.id, &*episode.token, &*running.control_token(), "list_user"] {
        assert!(!text.contains(secret), "{secret}");
    }
    for line in [
        r#"benchwright_requests_total{plane="agent",status="2xx"} 1"#,
        r#"benchwright_requests_total{plane="agent",status="4xx"} 1"#,
        r#"benchwright_requests_total{plane="control",status="2xx"} 1"#,
        r#"benchwright_requests_total{plane="control",status="4xx"} 2"#,
        r#"benchwright_refusals_total{kind="not_found"} 1"#,
        r#"benchwright_refusals_total{kind="not_for_agents"} 1"#,
        r#"benchwright_refusals_total{kind="unauthorized"} 1"#,
        r#"benchwright_request_seconds_count{plane="agent"} 2"#,
        r#"benchwright_request_seconds_bucket{plane="agent",le="+Inf"} 2"#,
        "benchwright_episodes 1",
        r#"benchwright_limit{of="episode_rows"} 200000"#,
        r#"benchwright_limit{of="head_seconds"} 10"#,
    ] {
        assert!(text.lines().any(|there| there == line), "{line}\n{text}");
    }
    // Every line is a comment, or a name with labels and a number; every name was explained before.
    let mut explained = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            explained.push(rest.split(' ').next().unwrap().to_owned());
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
            let name = name.split('{').next().unwrap();
            assert!(explained.iter().any(|known| name.starts_with(known.as_str())), "{line}");
        }
    }
}

#[test]
fn beyond_loopback_the_control_plane_wants_a_token_that_was_chosen() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let open = || Options { bind: "0.0.0.0:0".parse().unwrap(), ..Options::default() };
    let refused = runtime.block_on(Server::start(open())).err().unwrap();
    assert!(matches!(refused, ServerError::NeedsToken(_)), "{refused}");
    let token = Token::new("chosen-for-the-control-plane").unwrap();
    let server = runtime.block_on(Server::start(Options { control_token: Some(token), ..open() })).unwrap();
    assert!(server.control_address().ip().is_unspecified());
    runtime.block_on(server.stop());
    // Agents have tokens of their own, each for one episode.
    let agents = Options { bind_agents: Some("0.0.0.0:0".parse().unwrap()), ..Options::default() };
    runtime.block_on(runtime.block_on(Server::start(agents)).unwrap().stop());
}
