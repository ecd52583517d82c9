//! Ten thousand live episodes at a time. It takes a while and says figures, so it runs only when asked for:
//! `cargo test --release -p benchwright-serve --test load -- --ignored --nocapture`.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_serve::{Options, Server};
use serde_json::{Value as Json, json};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

/// The allocator of the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const FORKS: usize = 10_000;
const CLIENTS: usize = 32;
const CALLS: usize = 5_000;

/// A connection that is kept.
struct Connection {
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
}

impl Connection {
    fn to(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream: BufReader::new(stream), body: Vec::new() }
    }

    fn post(&mut self, path: &str, token: &str, body: &str) -> (u16, &[u8]) {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\naccept: application/json, \
             text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut status, mut length) = (0, 0);
        let mut line = String::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            if line.starts_with("HTTP/1.1 ") {
                status = line[9..12].parse().unwrap();
            } else if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            } else if line == "\r\n" {
                break;
            }
        }
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body).unwrap();
        (status, &self.body)
    }
}

/// The memory of this program in MB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: usize| times[(times.len() * share / 1000).min(times.len() - 1)];
    format!("p50 {:?}, p99 {:?}, p99.9 {:?}, most {:?}", at(500), at(990), at(999), at(1000))
}

/// The eight writes of an episode: rows made, changed and linked.
fn writes(at: usize) -> Vec<(&'static str, Json)> {
    let mut writes = Vec::new();
    for n in 0..2 {
        writes.push(("add_new_user_group", json!({ "name": format!("Group {at}-{n}"), "type": "support" })));
        let email = format!("p{at}-{n}@example.com");
        writes.push(("add_new_user", json!({ "name": format!("Person {at}-{n}"), "email": email, "role": "agent" })));
        writes.push(("update_user_details", json!({ "id": 5 + n + at % 50, "title": format!("Lead {at}") })));
        let place =
            json!({ "name": format!("Site {at}-{n}"), "street": "Main Street 1", "city": "london", "country": "uk" });
        writes.push(("add_location", place));
    }
    writes
}

#[test]
#[ignore = "a measurement"]
fn ten_thousand_forks() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::start(Options::default())).unwrap();
    let address = server.control_address();
    let control = server.control_token().reveal().to_owned();
    let mut connection = Connection::to(address);
    let (status, body) = connection.post("/episodes", &control, r#"{"domain":"csm","seed":1,"size":"medium"}"#);
    assert_eq!(status, 201);
    let begun = |body: &[u8]| {
        let told: Json = serde_json::from_slice(body).unwrap();
        (told["id"].as_str().unwrap().to_owned(), told["token"].as_str().unwrap().to_owned())
    };
    let first = begun(body);
    println!("world of csm, medium: {} MB", memory());

    let path = format!("/episodes/{}/fork", first.0);
    let began = Instant::now();
    let forks: Vec<(String, String)> = (0..FORKS)
        .map(|_| {
            let (status, body) = connection.post(&path, &control, "");
            assert_eq!(status, 201);
            begun(body)
        })
        .collect();
    println!("{FORKS} forks in {:?}: {} MB", began.elapsed(), memory());

    let began = Instant::now();
    let clients: Vec<_> = forks
        .chunks(FORKS.div_ceil(CLIENTS))
        .enumerate()
        .map(|(client, forks)| {
            let forks = forks.to_vec();
            thread::spawn(move || {
                let mut connection = Connection::to(address);
                let mut times = Vec::new();
                for (at, (id, token)) in forks.iter().enumerate() {
                    for (tool, arguments) in writes(client * 1000 + at) {
                        let path = format!("/episodes/{id}/tools/{tool}");
                        let body = arguments.to_string();
                        let began = Instant::now();
                        let (status, body) = connection.post(&path, token, &body);
                        times.push(began.elapsed());
                        assert_eq!(status, 200, "{}", String::from_utf8_lossy(body));
                    }
                }
                times
            })
        })
        .collect();
    let times: Vec<Duration> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    let took = began.elapsed();
    let rate = times.len() as f64 / took.as_secs_f64();
    println!("{} writes of {CLIENTS} clients in {took:?} ({rate:.0} a second): {} MB", times.len(), memory());
    println!("  {}", quantiles(times));
    assert_eq!(server.episodes().len(), FORKS + 1);

    // One client, one read, on two faces.
    let (id, token) = &first;
    let call = r#"{"id":1}"#;
    let over_mcp = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "find_account_by_id", "arguments": { "id": 1 } },
    })
    .to_string();
    for (face, path, body) in [
        ("plain JSON", format!("/episodes/{id}/tools/find_account_by_id"), call),
        ("MCP", format!("/episodes/{id}/mcp"), &over_mcp),
    ] {
        let mut times = Vec::new();
        for _ in 0..CALLS {
            let began = Instant::now();
            let (status, _) = connection.post(&path, token, body);
            times.push(began.elapsed());
            assert_eq!(status, 200);
        }
        println!("{CALLS} reads of one client over {face}: {}", quantiles(times));
    }
    let id = first.0.parse().unwrap();
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let began = Instant::now();
        server.episodes().call(id, "find_account_by_id", call).unwrap();
        times.push(began.elapsed());
    }
    println!("{CALLS} reads without HTTP: {}", quantiles(times));
    let began = Instant::now();
    for (id, _) in &forks {
        server.episodes().close(id.parse().unwrap()).unwrap();
    }
    println!("all closed in {:?}: {} MB", began.elapsed(), memory());
    drop(connection);
    runtime.block_on(server.stop());
}
