//! The files of an episode: those of the present stage, to its own agent, by the exact path and no other way.

use crate::common::{Begun, Running, bearer, send};
use benchwright_catalog::Catalog;
use benchwright_serve::{Options, Settings};
use serde_json::{Value as Json, json};
use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
};

const SHEET: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// A server of a desk with three files, of which one comes with the second stage.
fn desk() -> Running {
    let domains = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/desk/domains");
    Running::start(Options { settings: Settings::of(Catalog::from_folder(domains)), ..Options::default() })
}

fn begin(server: &Running) -> Begun {
    server.begin(&json!({ "domain": "desk", "seed": 1, "size": "small" }))
}

/// The whole answer, which may be no text.
fn raw(to: SocketAddr, method: &str, episode: &Begun, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(to).unwrap();
    let (id, token) = (&episode.id, &episode.token);
    let head = format!("{method} /episodes/{id}/files/{path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n");
    stream.write_all(format!("{head}authorization: Bearer {token}\r\n\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

fn paths(listed: &Json) -> Vec<&str> {
    listed["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

#[test]
fn files_are_listed_and_sent_as_they_are() {
    let server = desk();
    let episode = begin(&server);
    assert_eq!(episode.told["urls"]["files"], format!("http://{}/episodes/{}/files", server.agents(), episode.id));
    let listed = server.agent(&episode, "GET", "files", "");
    assert_eq!(listed.status, 200, "{}", listed.body);
    let told = listed.json();
    assert_eq!((&told["stage"], &told["last"]), (&json!(1), &json!(2)));
    assert_eq!(paths(&told), ["data/demand.xlsx", "data/items.csv"]);
    assert_eq!(told["files"][0], json!({ "path": "data/demand.xlsx", "media": SHEET, "bytes": 5 }));

    let text = server.agent(&episode, "GET", "files/data/items.csv", "");
    assert_eq!((text.status, text.body.lines().next()), (200, Some("item,batch")));
    assert!(text.head.contains("content-type: text/csv\r\n") && text.head.contains("nosniff"), "{}", text.head);
    let sheet = raw(server.agents(), "GET", &episode, "data/demand.xlsx");
    assert!(sheet.ends_with(&[b'\r', b'\n', b'P', b'K', 3, 4, 0xff]), "{sheet:?}");
    assert!(String::from_utf8_lossy(&sheet).to_lowercase().contains(&format!("content-type: {SHEET}")));
    let head = raw(server.agents(), "HEAD", &episode, "data/demand.xlsx");
    let head = String::from_utf8(head).unwrap().to_lowercase();
    assert!(head.starts_with("http/1.1 200") && head.contains("content-length: 5\r\n"), "{head}");
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    // To read is no call, and changes nothing.
    assert_eq!(server.status(&episode)["calls_used"], 0);
    let posted = server.agent(&episode, "POST", "files/data/items.csv", "{}");
    assert_eq!((posted.status, posted.code()), (405, "method_not_allowed".to_owned()));
}

#[test]
fn a_later_stages_file_is_not_there_before_its_stage() {
    let server = desk();
    let episode = begin(&server);
    let later = server.agent(&episode, "GET", "files/notes/later.md", "");
    assert_eq!((later.status, later.code()), (404, "not_found".to_owned()));
    assert!(!later.body.contains("press"), "{}", later.body);
    // It is told as one that never was.
    assert_eq!(later.body, server.agent(&episode, "GET", "files/notes/never.md", "").body);
    let moved = server.tool(&episode, "set_stage", &json!({ "id": 1, "current": 2 }));
    assert_eq!(moved.status, 200, "{}", moved.body);
    let later = server.agent(&episode, "GET", "files/notes/later.md", "");
    assert_eq!((later.status, &*later.body), (200, "The press is down."));
    assert_eq!(paths(&server.agent(&episode, "GET", "files", "").json()).len(), 3);
    // Another episode stands where it stood.
    assert_eq!(server.agent(&begin(&server), "GET", "files/notes/later.md", "").status, 404);
}

#[test]
fn no_other_path_and_no_other_token_leads_to_a_file() {
    let server = desk();
    let (episode, other) = (begin(&server), begin(&server));
    for path in [
        "../snapshot",
        "%2e%2e/snapshot",
        "data/../data/items.csv",
        "data/%2e%2e/data/items.csv",
        "./data/items.csv",
        "data//items.csv",
        "data/items.csv/",
        "/data/items.csv",
        "data/items.csv%00",
        "DATA/items.csv",
        "data",
        "data/",
        "",
        "..%2f..%2f..%2fetc/passwd",
        "/etc/passwd",
        "%ff",
    ] {
        let reply = raw(server.agents(), "GET", &episode, path);
        assert!(reply.starts_with(b"HTTP/1.1 404"), "{path}: {}", String::from_utf8_lossy(&reply));
    }
    let path = format!("/episodes/{}/files/data/items.csv", episode.id);
    let with = |token: &str| send(server.agents(), "GET", &path, &[("authorization", &bearer(token))], "").status;
    assert_eq!([with(&episode.token), with(&other.token), with(&server.control_token())], [200, 403, 403]);
    assert_eq!(send(server.agents(), "GET", &path, &[], "").status, 401);
    assert_eq!(server.ask("DELETE", &format!("/episodes/{}", episode.id), "").status, 200);
    assert_eq!(with(&episode.token), 410);
}

#[test]
fn a_world_without_files_says_so_and_its_description_has_none() {
    let server = desk();
    let described = |server: &Running, episode: &Begun| server.agent(episode, "GET", "openapi.json", "").json();
    let document = described(&server, &begin(&server));
    assert_eq!(document["paths"]["/files"]["get"]["operationId"], "listFiles");
    assert_eq!(document["paths"]["/files/{path}"]["get"]["parameters"][0]["name"], "path");
    let server = Running::start(Options::default());
    // A table of that name alone makes no workspace.
    for domain in ["csm", "drive"] {
        let episode = server.begin(&json!({ "domain": domain, "seed": 1, "size": "small" }));
        assert_eq!(episode.told["urls"].get("files"), None);
        for path in ["files", "files/data/items.csv"] {
            let reply = server.agent(&episode, "GET", path, "");
            assert_eq!((reply.status, reply.code()), (404, "not_found".to_owned()), "{domain} {path}");
        }
        assert_eq!(described(&server, &episode)["paths"].get("/files"), None);
    }
}
