//! One episode at an address without a token, controlled by a socket, and what is collected of it.

use crate::common::{demo, demo_task, send};
use benchwright_pack::{Snapshot, Trace};
use benchwright_serve::{One, OneOptions, ServerError, Settings, Starter, collect, read_collected, ready};
use serde_json::json;
use std::{
    fs,
    io::Read as _,
    net::TcpStream,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use tokio::runtime::Runtime;

/// A folder for a test, which is removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("benchwright-one-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Folder(fs::canonicalize(path).unwrap())
    }

    fn socket(&self) -> PathBuf {
        self.0.join("run/control.sock")
    }

    fn options(&self) -> OneOptions {
        let settings = Settings { tasks: Some(demo()), ..Settings::default() };
        let bind = "127.0.0.1:0".parse().unwrap();
        OneOptions { settings, task: demo_task(), bind, socket: self.socket(), largest_body: 1 << 20 }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refused(done: Result<(), ServerError>) -> String {
    done.unwrap_err().to_string()
}

#[test]
fn an_episode_is_called_without_a_token_and_collected_by_its_owner_once() {
    let (folder, runtime) = (Folder::new("life"), Runtime::new().unwrap());
    let one = runtime.block_on(One::start(folder.options())).unwrap();
    let at = one.address();
    assert_eq!(send(at, "GET", "/health", &[], "").status, 200);
    let listed = send(at, "GET", "/openapi.json", &[], "").json();
    assert!(listed["paths"].as_object().unwrap().keys().any(|path| path == "/tools/sale_order_read"), "{listed}");
    assert_eq!(send(at, "POST", "/tools/sale_order_search_read", &[], r#"{"domain":[]}"#).status, 200);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
    let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    assert_eq!(send(at, "POST", "/mcp", &headers, &list).status, 200);
    // Nothing of the control plane is at that address, and no other page may call.
    for path in ["/episodes", "/task", "/end", "/snapshot", "/tasks"] {
        assert_eq!(send(at, "POST", path, &[], "").status, 404);
    }
    assert_eq!(send(at, "POST", "/tools/sale_order_read", &[("host", "evil.example")], "{}").status, 403);
    assert_eq!(fs::metadata(folder.socket().parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);

    let into = folder.0.join("collected");
    runtime.block_on(collect(&folder.socket(), &into)).unwrap();
    assert_eq!(fs::metadata(&into).unwrap().permissions().mode() & 0o777, 0o700);
    let left = read_collected(&into).unwrap();
    assert_eq!((&*left.task, &*left.callers), (&*demo_task(), &[Some(nix::unistd::geteuid().as_raw())][..]));
    assert_eq!(Trace::from_bytes(&left.trace).unwrap().calls.len(), 1);
    let late = send(at, "POST", "/tools/sale_order_search_read", &[], r#"{"domain":[]}"#);
    assert_eq!((late.status, &*late.code()), (410, "episode_closed"));
    // It is written once; a second time elsewhere it is the same.
    assert!(refused(runtime.block_on(collect(&folder.socket(), &into))).contains("exists"));
    let again = folder.0.join("again");
    runtime.block_on(collect(&folder.socket(), &again)).unwrap();
    assert_eq!(read_collected(&again).unwrap(), left);
    let domain = benchwright_catalog::Catalog::built_in().find("erp").unwrap().domain;
    assert!(Snapshot::from_bytes(&left.snapshot, &domain).is_ok());
}

#[test]
fn what_is_collected_follows_no_link_and_goes_where_nobody_else_writes() {
    let (folder, runtime) = (Folder::new("links"), Runtime::new().unwrap());
    let _one = runtime.block_on(One::start(folder.options())).unwrap();
    let (socket, elsewhere) = (folder.socket(), folder.0.join("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    let collected = |into: &Path| runtime.block_on(collect(&socket, into));
    symlink(&elsewhere, folder.0.join("link")).unwrap();
    assert!(refused(collected(&folder.0.join("link/collected"))).contains("link"));
    assert!(refused(collected(&folder.0.join("link"))).contains("exists"));
    symlink(elsewhere.join("nothing"), folder.0.join("dangling")).unwrap();
    assert!(refused(collected(&folder.0.join("dangling"))).contains("exists"));
    assert!(refused(collected(&folder.0.join("elsewhere/../x"))).contains(".."));
    let open = folder.0.join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(refused(collected(&open.join("collected"))).contains("others"));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "nothing went through a link");
    // A planted link in what is read back is refused too, and so is what has another form.
    let into = folder.0.join("collected");
    collected(&into).unwrap();
    fs::rename(into.join("snapshot.json"), elsewhere.join("snapshot.json")).unwrap();
    symlink(elsewhere.join("snapshot.json"), into.join("snapshot.json")).unwrap();
    assert!(read_collected(&into).unwrap_err().to_string().contains("plain"));
    fs::write(into.join("about.json"), "{}").unwrap();
    assert!(read_collected(&into).is_err());
    assert!(refused(runtime.block_on(collect(&folder.0.join("none"), &folder.0.join("more")))).contains("no world"));
    assert!(!folder.0.join("more").exists());
}

#[test]
fn a_socket_is_made_only_where_nobody_else_can_reach_it() {
    let (folder, runtime) = (Folder::new("socket"), Runtime::new().unwrap());
    let home = folder.socket().parent().unwrap().to_owned();
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
    let failed = runtime.block_on(One::start(folder.options())).err().unwrap().to_string();
    assert!(failed.contains("only this user"), "{failed}");
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    // What a world left that was ended by force is no hindrance; one that answers is.
    drop(std::os::unix::net::UnixListener::bind(folder.socket()).unwrap());
    let one = runtime.block_on(One::start(folder.options())).unwrap();
    assert!(runtime.block_on(One::start(folder.options())).is_err());
    assert_eq!(send(one.address(), "GET", "/health", &[], "").status, 200);
    // A starter sees that somebody answers, and starts nothing.
    let starter = |socket: PathBuf, command: Command| Starter { command, folder: demo(), socket, user: None };
    runtime.block_on(ready(starter(folder.socket(), Command::new("false")))).unwrap();
    let dead = runtime.block_on(ready(starter(folder.0.join("other/socket"), Command::new("false"))));
    assert!(refused(dead).contains("ended with"));
}

#[test]
fn an_agent_that_takes_all_connections_keeps_nobody_from_collecting() {
    let (folder, runtime) = (Folder::new("crowd"), Runtime::new().unwrap());
    let one = runtime.block_on(One::start(folder.options())).unwrap();
    let crowd: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(one.address()).unwrap()).collect();
    // Whoever says nothing gives way, the oldest first, to whoever speaks.
    assert_eq!(send(one.address(), "GET", "/health", &[], "").status, 200);
    let mut oldest = &crowd[0];
    oldest.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert_eq!(oldest.read(&mut [0; 16]).unwrap(), 0, "there is no place for it any more");
    runtime.block_on(collect(&folder.socket(), &folder.0.join("collected"))).unwrap();
}
