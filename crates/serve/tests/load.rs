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

/// The memory of this program now and at its highest since it was last forgotten, in KiB.
fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let kib = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (kib("VmRSS:"), kib("VmHWM:"))
}

/// Forgets the highest.
fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

fn sorted(mut times: Vec<Duration>) -> Vec<Duration> {
    times.sort();
    times
}

fn at(times: &[Duration], per_mille: usize) -> Duration {
    times[(times.len() * per_mille / 1000).min(times.len() - 1)]
}

fn quantiles(times: &[Duration]) -> String {
    let [p50, p99, p999, most] = [500, 990, 999, 1000].map(|share| at(times, share));
    format!("p50 {p50:?}, p99 {p99:?}, p99.9 {p999:?}, most {most:?}")
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

fn begun(body: &[u8]) -> (String, String) {
    let told: Json = serde_json::from_slice(body).unwrap();
    (told["id"].as_str().unwrap().to_owned(), told["token"].as_str().unwrap().to_owned())
}

/// Forks, writes in all of them, and closes them: the highest memory in KiB, the times of the writes, and the same in words.
fn round(server: &Server, connection: &mut Connection, first: &str) -> (u64, Vec<Duration>, String) {
    let mut told = String::new();
    let mut say = |line: String| told.push_str(&format!("{line}\n"));
    let (address, control) = (server.control_address(), server.control_token().reveal());
    forget_peak();
    let path = format!("/episodes/{first}/fork");
    let began = Instant::now();
    let forks: Vec<(String, String)> = (0..FORKS)
        .map(|_| {
            let (status, body) = connection.post(&path, control, "");
            assert_eq!(status, 201);
            begun(body)
        })
        .collect();
    say(format!("{FORKS} forks in {:?}: {} KiB", began.elapsed(), memory().0));
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
    let times = sorted(clients.into_iter().flat_map(|client| client.join().unwrap()).collect());
    let took = began.elapsed();
    let rate = times.len() as f64 / took.as_secs_f64();
    assert_eq!(server.episodes().len(), FORKS + 1);
    let (_, peak) = memory();
    say(format!("{} writes of {CLIENTS} clients in {took:?} ({rate:.0} a second), at most {peak} KiB", times.len()));
    say(format!("  {}", quantiles(&times)));
    let began = Instant::now();
    for (id, _) in &forks {
        server.episodes().close(id.parse().unwrap()).unwrap();
    }
    say(format!("all closed in {:?}: {} KiB", began.elapsed(), memory().0));
    assert_eq!(server.episodes().len(), 1);
    (peak, times, told)
}

/// At most a gibibyte with the clients and the times they note, at most 50 ms for 99 of 100 writes, and a second round that
/// needs what the first did.
#[test]
#[ignore = "a measurement"]
fn ten_thousand_forks() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::start(Options::default())).unwrap();
    let control = server.control_token().reveal().to_owned();
    let mut connection = Connection::to(server.control_address());
    let (status, body) = connection.post("/episodes", &control, r#"{"domain":"csm","seed":1,"size":"medium"}"#);
    assert_eq!(status, 201);
    let (first, _) = begun(body);
    println!("world of csm, medium: {} KiB", memory().0);
    let rounds = [1, 2].map(|_| round(&server, &mut connection, &first));
    for (peak, times, told) in &rounds {
        print!("{told}");
        assert!(*peak <= 1 << 20, "{peak} KiB");
        assert!(at(times, 990) <= Duration::from_millis(50), "{}", quantiles(times));
    }
    let [first, second] = rounds.map(|(peak, ..)| peak as f64);
    println!("the second round needs {:.3} times the first", second / first);
    assert!(second <= first * 1.05, "{second} KiB after {first} KiB");
    drop(connection);
    runtime.block_on(server.stop());
}
