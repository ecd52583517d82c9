//! A server on loopback and a small blocking client, for the tests of this folder.

use crate::folder::Plain;
use benchwright_pack::{BoundKeys, Script, Store};
use benchwright_serve::{Options, Server, Settings};
use serde_json::{Value as Json, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// A server that stops when the test ends.
pub(crate) struct Running {
    runtime: tokio::runtime::Runtime,
    server: Option<Server>,
}

/// An answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// An episode as the server told it.
#[derive(Clone)]
pub(crate) struct Begun {
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) told: Json,
}

/// The folder of shipped tasks.
pub(crate) fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/demo")
}

/// A copy of the shipped tasks, to be tampered with. It is removed by the caller.
pub(crate) fn demo_copy(name: &str) -> PathBuf {
    let root = std::env::temp_dir().join(format!("benchwright-serve-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    copy(&demo(), &root);
    root
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The id of one shipped task.
pub(crate) fn demo_task() -> String {
    Store::at(demo()).ids().unwrap().remove(0)
}

/// Settings with the shipped tasks.
pub(crate) fn with_demo(may_read_sealed: bool) -> Options {
    let settings = Settings { tasks: Some(demo()), may_read_sealed, ..with_face() };
    Options { settings, ..Options::default() }
}

/// Settings with a face on every episode.
pub(crate) fn with_face() -> Settings {
    Settings { faces: vec![Arc::new(Plain)], ..Settings::default() }
}

impl Running {
    pub(crate) fn start(options: Options) -> Running {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start(options)).unwrap();
        Running { runtime, server: Some(server) }
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub(crate) fn runtime(&self) -> &tokio::runtime::Runtime {
        &self.runtime
    }

    pub(crate) fn control(&self) -> SocketAddr {
        self.server().control_address()
    }

    pub(crate) fn agents(&self) -> SocketAddr {
        self.server().agent_address()
    }

    pub(crate) fn control_token(&self) -> String {
        self.server().control_token().reveal().to_owned()
    }

    /// A request of the control plane with its token.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Reply {
        send(self.control(), method, path, &[("authorization", &bearer(&self.control_token()))], body)
    }

    /// Begins an episode.
    pub(crate) fn begin(&self, body: &Json) -> Begun {
        let reply = self.ask("POST", "/episodes", &body.to_string());
        assert_eq!(reply.status, 201, "{}", reply.body);
        begun(&reply)
    }

    /// Begins an episode of the small csm world.
    pub(crate) fn csm(&self) -> Begun {
        self.begin(&json!({ "domain": "csm", "seed": 1, "size": "small" }))
    }

    /// A request of the agent plane with the episode's token.
    pub(crate) fn agent(&self, episode: &Begun, method: &str, rest: &str, body: &str) -> Reply {
        let path = format!("/episodes/{}/{rest}", episode.id);
        send(self.agents(), method, &path, &[("authorization", &bearer(&episode.token))], body)
    }

    /// Calls a tool as plain JSON.
    pub(crate) fn tool(&self, episode: &Begun, name: &str, arguments: &Json) -> Reply {
        self.agent(episode, "POST", &format!("tools/{name}"), &arguments.to_string())
    }

    /// How the episode stands.
    pub(crate) fn status(&self, episode: &Begun) -> Json {
        let reply = self.ask("GET", &format!("/episodes/{}", episode.id), "");
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()
    }

    /// Plays a script through the tools.
    pub(crate) fn play(&self, episode: &Begun, script: &Script, keys: &mut BoundKeys) {
        for step in &script.steps {
            let arguments = keys.fill(&step.args).unwrap();
            let reply = self.tool(episode, &step.tool(), &arguments);
            assert_eq!(reply.status, 200, "{} {arguments}: {}", step.tool(), reply.body);
            keys.note(step, &reply.json()).unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.stop());
        }
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    /// The word of a typed error.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// An episode from the answer that told it.
pub(crate) fn begun(reply: &Reply) -> Begun {
    let told = reply.json();
    let text = |key: &str| told[key].as_str().unwrap().to_owned();
    Begun { id: text("id"), token: text("token"), told: told.clone() }
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// Sends one request on a connection of its own.
pub(crate) fn send(to: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("host: {to}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    read(&mut BufReader::new(stream))
}

fn read(stream: &mut BufReader<TcpStream>) -> Reply {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line.to_ascii_lowercase());
    }
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut body = String::new();
    stream.read_to_string(&mut body).unwrap();
    Reply { status, head, body }
}

/// A connection that is kept for further requests.
pub(crate) struct Kept {
    stream: BufReader<TcpStream>,
    host: SocketAddr,
}

impl Kept {
    pub(crate) fn to(host: SocketAddr) -> Kept {
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Kept { stream: BufReader::new(stream), host }
    }

    /// Sends the head of a request whose body has so many bytes.
    pub(crate) fn announce(&mut self, method: &str, path: &str, token: &str, length: usize) {
        let host = self.host;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n"
        );
        // A connection that is not there any more shows when the answer is read.
        let _ = self.stream.get_mut().write_all(head.as_bytes());
    }

    /// Sends the head, and the body only after a moment, so that the server begins to answer before it is there. Nothing,
    /// if the connection is not there any more.
    pub(crate) fn ask(&mut self, method: &str, path: &str, token: &str, body: &str) -> Option<(u16, String)> {
        self.announce(method, path, token, body.len());
        std::thread::sleep(Duration::from_millis(2));
        let _ = self.stream.get_mut().write_all(body.as_bytes());
        self.read()
    }

    /// Sends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.get_mut().write_all(bytes);
    }

    /// The status and the body of an answer.
    pub(crate) fn read(&mut self) -> Option<(u16, String)> {
        let (mut status, mut length, mut line) = (None, 0, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest.split(' ').next()?.parse().ok();
            } else if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            } else if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        Some((status?, String::from_utf8(body).ok()?))
    }
}
