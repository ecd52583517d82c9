//! Ten thousand live episodes at a time; and honest clients beside thousands that say nothing or never finish. Both take a while and
//! say figures, so they run only when asked for:
//! `cargo test --release -p benchwright-serve --test load -- --ignored --nocapture --test-threads 1`. BENCHWRIGHT_PROGRAM names a program
//! whose server is then met by the crowd.
//! A small crowd is met in every run of the tests.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_serve::{Options, Server};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value as Json, json};
use std::{
    env,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, ChildStdin, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The allocator of the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const FORKS: usize = 10_000;
/// Those who write in all of them at once.
const WRITERS: usize = 64;

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
        self.ask("POST", path, token, body)
    }

    fn ask(&mut self, method: &str, path: &str, token: &str, body: &str) -> (u16, &[u8]) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\naccept: application/json, \
             text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut status, mut length) = (0, 0);
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the connection was closed");
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
    memory_of("self")
}

fn memory_of(process: &str) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
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

/// Forks, writes in all of them, and closes them, where so many KiB were needed before: the highest memory in KiB, the times of the writes, and the same in words.
fn round(server: &Server, connection: &mut Connection, first: &str, before: u64) -> (u64, Vec<Duration>, String) {
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
    let each = |now: u64| now.saturating_sub(before) as f64 / FORKS as f64;
    let now = memory().0;
    say(format!("{FORKS} forks in {:?}: {now} KiB, {:.1} each", began.elapsed(), each(now)));
    let began = Instant::now();
    let clients: Vec<_> = forks
        .chunks(FORKS.div_ceil(WRITERS))
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
    say(format!(
        "{} writes of {WRITERS} clients in {took:?} ({rate:.0} a second), at most {peak} KiB, {:.1} each",
        times.len(),
        each(peak)
    ));
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
    let before = memory().0;
    println!("world of csm, medium: {before} KiB");
    let rounds = [1, 2].map(|_| round(&server, &mut connection, &first, before));
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

/// Says which part of a crowd this program plays, where it is none of a test.
const ROLE: &str = "BENCHWRIGHT_CROWD_ROLE";
/// What that part is told, in one line of JSON.
const TOLD: &str = "BENCHWRIGHT_CROWD_TOLD";
/// Names a program whose `serve` is measured instead of the server of this build, which is not optimised.
const PROGRAM: &str = "BENCHWRIGHT_PROGRAM";
/// Where a part says that it is ready.
const READY: &str = "crowd: ";
/// Who never finishes comes back after this.
const AGAIN: Duration = Duration::from_secs(1);

/// A part of a crowd in a process of its own, which ends with this.
struct Part {
    child: Child,
    _until: ChildStdin,
}

impl Part {
    /// Starts it, and what it said when it was ready.
    fn start(role: &str, told: &Json) -> (Part, Json) {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["part_of_a_crowd", "--exact", "--ignored", "--nocapture"]);
        command.env(ROLE, role).env(TOLD, told.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.find_map(|line| Some(line.unwrap().split_once(READY)?.1.to_owned()));
        let part = Part { _until: child.stdin.take().unwrap(), child };
        (part, serde_json::from_str(&ready.unwrap()).unwrap())
    }
}

/// The token of a program's control plane.
const TOKEN: &str = "a-token-for-this-measurement-only";

impl Part {
    /// A server that is a program, such as the one that is handed out.
    fn program(program: &str) -> (Part, Json) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", r#"ulimit -n "$(ulimit -Hn)"; exec "$0" serve --bind 127.0.0.1:0"#, program]);
        command.env("BENCHWRIGHT_CONTROL_TOKEN", TOKEN).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let told: Json = serde_json::from_str(&first).unwrap();
        let address = told["control"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        (Part { _until: child.stdin.take().unwrap(), child }, json!({ "address": address, "token": TOKEN }))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// No test: a part that the tests below start in another process.
#[test]
#[ignore = "a part of others"]
fn part_of_a_crowd() {
    let Ok(role) = env::var(ROLE) else { return };
    let told: Json = serde_json::from_str(&env::var(TOLD).unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let files = told["files"].as_u64().unwrap_or(hard);
    setrlimit(Resource::RLIMIT_NOFILE, files, files).unwrap();
    let mut server = None;
    let ready = match &*role {
        "server" => {
            let started = runtime.block_on(Server::start(Options::default())).unwrap();
            let address = started.control_address().to_string();
            let token = started.control_token().reveal().to_owned();
            server = Some(started);
            json!({ "address": address, "token": token })
        }
        _ => runtime.block_on(attack(&told)),
    };
    println!("\n{READY}{ready}");
    // Until whoever started it is gone.
    let _ = std::io::stdin().read(&mut [0]);
    drop((server, runtime));
    std::process::exit(0);
}

/// Holds connections that say nothing, and bodies that are never finished; whoever is put out comes back.
async fn attack(told: &Json) -> Json {
    let address: SocketAddr = told["address"].as_str().unwrap().parse().unwrap();
    let (silent, bodies) = (told["silent"].as_u64().unwrap(), told["bodies"].as_u64().unwrap());
    let seats = told["seats"].as_array().unwrap();
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    for at in 0..silent + bodies {
        let begins = (at >= silent).then(|| {
            let seat = &seats[at as usize % seats.len()];
            let head = format!(
                "POST /episodes/{}/tools/list_users HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
                 content-length: 1000000\r\n\r\n",
                text(&seat[0]),
                text(&seat[1])
            );
            [head.as_bytes(), &[b' '; 900_000]].concat()
        });
        tokio::spawn(async move {
            loop {
                if let Ok(mut stream) = tokio::net::TcpStream::connect(address).await {
                    if let Some(begins) = &begins {
                        let _ = stream.write_all(begins).await;
                    }
                    // It says no more, and reads until it is put out.
                    let _ = stream.read_to_end(&mut Vec::new()).await;
                }
                tokio::time::sleep(AGAIN).await;
            }
        });
        if at % 100 == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    tokio::time::sleep(AGAIN).await;
    json!({ "is": "there" })
}

/// Calls of honest clients for a time, each with an episode of its own and a pause after each call. Every fifth of a second each begins a
/// new connection, as a newcomer. Whoever is refused ends the test.
fn honest(address: SocketAddr, seats: &[(String, String)], time: Duration) -> (Vec<Duration>, String) {
    let clients: Vec<_> = seats
        .iter()
        .map(|(id, token)| {
            let (path, token) = (format!("/episodes/{id}/tools/list_users"), token.clone());
            thread::spawn(move || {
                let (begun, mut times) = (Instant::now(), Vec::new());
                while begun.elapsed() < time {
                    let newcomer = Instant::now();
                    let mut connection = Connection::to(address);
                    while newcomer.elapsed() < Duration::from_millis(200) {
                        let began = Instant::now();
                        let (status, body) = connection.post(&path, &token, r#"{"limit":5}"#);
                        times.push((begun.elapsed().as_secs(), began.elapsed()));
                        assert_eq!(status, 200, "{}", String::from_utf8_lossy(body));
                        thread::sleep(Duration::from_millis(4));
                    }
                }
                times
            })
        })
        .collect();
    let mut by_second: std::collections::BTreeMap<u64, Vec<Duration>> = std::collections::BTreeMap::new();
    for (second, took) in clients.into_iter().flat_map(|client| client.join().unwrap()) {
        by_second.entry(second).or_default().push(took);
    }
    let p99 = by_second.values().map(|times| format!("{:.1}", at(&sorted(times.clone()), 990).as_secs_f64() * 1e3));
    let told = p99.collect::<Vec<_>>().join(" ");
    (sorted(by_second.into_values().flatten().collect()), told)
}

/// What a crowd did to honest clients.
struct Met {
    quiet: Vec<Duration>,
    crowded: Vec<Duration>,
    /// The memory of the server before, and at its highest during the attack, in KiB.
    before: u64,
    peak: u64,
    /// All that in words.
    told: String,
}

/// A server, honest clients, and for half of the time a crowd, each in a process of its own.
fn meet(clients: usize, silent: usize, bodies: usize, files: Option<u64>, time: Duration) -> Met {
    let (server, told) = match env::var(PROGRAM) {
        Ok(program) if files.is_none() => Part::program(&program),
        _ => Part::start("server", &json!({ "files": files })),
    };
    let process = server.child.id().to_string();
    let address: SocketAddr = told["address"].as_str().unwrap().parse().unwrap();
    let control = told["token"].as_str().unwrap();
    let mut connection = Connection::to(address);
    let mut seat = || {
        let (status, body) = connection.post("/episodes", control, r#"{"domain":"csm","seed":1,"size":"medium"}"#);
        assert_eq!(status, 201);
        begun(body)
    };
    let seats: Vec<(String, String)> = (0..clients).map(|_| seat()).collect();
    let hostile: Vec<(String, String)> = (0..10).map(|_| seat()).collect();
    honest(address, &seats, time / 10);
    let (quiet, _) = honest(address, &seats, time);
    std::fs::write(format!("/proc/{process}/clear_refs"), "5").unwrap();
    let (before, _) = memory_of(&process);
    let attack = json!({ "address": told["address"], "silent": silent, "bodies": bodies, "seats": hostile });
    let (attackers, _) = Part::start("attackers", &attack);
    let (crowded, by_second) = honest(address, &seats, time);
    let (_, peak) = memory_of(&process);
    let mut asking = Connection::to(address);
    let (status, metrics) = asking.ask("GET", "/metrics", control, "");
    assert_eq!(status, 200);
    let metrics = String::from_utf8_lossy(metrics);
    let wanted = ["benchwright_connections", "benchwright_bodies", "benchwright_refusals"];
    let counted = metrics.lines().filter(|line| wanted.iter().any(|name| line.starts_with(name)));
    let counted: String = counted.map(|line| format!("  {line}\n")).collect();
    drop(attackers);
    let told = format!(
        "{clients} clients beside {silent} silent connections and {bodies} unfinished bodies\n\
         {counted}  quiet: {} calls, {}\n  crowded: {} calls, {}\n  p99 by second in ms: {by_second}\n  p99 {:.2} times the quiet one\n  \
         server: {before} KiB before, {peak} KiB at most",
        quiet.len(),
        quantiles(&quiet),
        crowded.len(),
        quantiles(&crowded),
        at(&crowded, 990).as_secs_f64() / at(&quiet, 990).as_secs_f64(),
    );
    Met { quiet, crowded, before, peak, told }
}

/// Nobody honest is refused, and 99 of 100 calls take at most twice as long as without the crowd.
#[test]
#[ignore = "a measurement"]
fn a_crowd_of_five_thousand() {
    let met = meet(32, 5_000, 500, None, Duration::from_secs(10));
    println!("{}", met.told);
    assert!(at(&met.crowded, 990) <= at(&met.quiet, 990) * 2);
    assert!(met.peak - met.before <= 256 << 10, "{} KiB more", met.peak - met.before);
}

/// The same in small, with fewer files than the crowd would take: whoever does not make it give way shuts everybody out.
#[test]
fn a_small_crowd_shuts_nobody_out() {
    let met = meet(8, 500, 50, Some(256), Duration::from_millis(1_200));
    println!("{}", met.told);
    let bound = (at(&met.quiet, 990) * 2).max(Duration::from_millis(100));
    assert!(at(&met.crowded, 990) <= bound, "{}", quantiles(&met.crowded));
    assert!(met.peak - met.before <= 128 << 10, "{} KiB more", met.peak - met.before);
}
