//! What a world of one episode left, carried into a folder for the judge, and read back by it. The folder is made anew, for its owner
//! alone, below folders that nobody else can change; no link is followed and nothing is replaced.

use super::socket::ask;
use crate::ServerError;
use axum::http::{Method, StatusCode};
use benchwright_pack::{LARGEST_SNAPSHOT, LARGEST_TRACE};
use serde::Deserialize;
use std::{
    fs,
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Component, Path, PathBuf},
};

/// The files, each with the path that it is asked for by and the most bytes that are read back.
const FILES: [(&str, &str, usize); 3] = [
    ("about.json", "/about", 1 << 16),
    ("trace.json", "/trace", LARGEST_TRACE),
    ("snapshot.json", "/snapshot", LARGEST_SNAPSHOT),
];
/// The version of what is collected.
const VERSION: u32 = 1;
/// Others may not write, unless they can only add.
const OTHERS_WRITE: u32 = 0o022;
const ADD_ONLY: u32 = 0o1000;

/// What an episode left, as it was collected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Collected {
    /// The id of its task.
    pub task: String,
    /// The users who called; nothing for one that could not be seen.
    pub callers: Vec<Option<u32>>,
    /// The calls, as the bytes of a trace.
    pub trace: Vec<u8>,
    /// The last state, as the bytes of a snapshot.
    pub snapshot: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    version: u32,
    task: String,
    callers: Vec<Option<u32>>,
}

/// Ends the episode of a world and writes what it left into a folder that is not there yet.
pub async fn collect(socket: &Path, folder: &Path) -> Result<(), ServerError> {
    let failed = |why: String| ServerError::NotCollected(why);
    let asked = async |method: Method, path: &str| match ask(socket, method, path).await {
        Ok((StatusCode::OK, body)) => Ok(body),
        Ok((status, body)) => Err(failed(format!("the world answered {status}: {}", String::from_utf8_lossy(&body)))),
        Err(error) => Err(failed(format!("no world answers at {}: {error}", socket.display()))),
    };
    let io = |error: io::Error| failed(format!("{}: {error}", folder.display()));
    let folder = std::path::absolute(folder).map_err(io)?;
    check_above(&folder).map_err(failed)?;
    asked(Method::POST, "/end").await?;
    fs::DirBuilder::new().mode(0o700).create(&folder).map_err(io)?;
    for (name, path, _) in FILES {
        let body = asked(Method::GET, path).await?;
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(name));
        file.and_then(|mut file| file.write_all(&body)).map_err(io)?;
    }
    Ok(())
}

/// That nobody but root and this user can put something else in the way of a path.
fn check_above(path: &Path) -> Result<(), String> {
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(format!("{}: say it without `..`", path.display()));
    }
    let own = nix::unistd::geteuid().as_raw();
    for folder in path.ancestors().skip(1) {
        let shown = folder.display();
        let about = fs::symlink_metadata(folder).map_err(|error| format!("{shown}: {error}"))?;
        if !about.is_dir() {
            return Err(format!("{shown} is a link or no folder"));
        }
        let (mode, owner) = (about.mode(), about.uid());
        if (owner != 0 && owner != own) || (mode & OTHERS_WRITE != 0 && mode & ADD_ONLY == 0) {
            return Err(format!("{shown} can be changed by others"));
        }
    }
    Ok(())
}

/// Reads a folder that was collected. It may have been copied; links are not followed, and there is nothing else in it.
pub fn read_collected(folder: &Path) -> Result<Collected, ServerError> {
    let failed = |path: &Path, why: String| ServerError::NotCollected(format!("{}: {why}", path.display()));
    let read = |(name, _, most): (&str, &str, usize)| {
        let path: PathBuf = folder.join(name);
        let about = fs::symlink_metadata(&path).map_err(|error| failed(&path, error.to_string()))?;
        if !about.is_file() || about.len() > most as u64 {
            return Err(failed(&path, format!("it is no plain file of at most {most} bytes")));
        }
        let mut bytes = Vec::new();
        let opened = fs::File::open(&path).and_then(|file| file.take(most as u64).read_to_end(&mut bytes));
        opened.map_err(|error| failed(&path, error.to_string()))?;
        Ok(bytes)
    };
    let [about, trace, snapshot] = FILES.map(read);
    let (about, trace, snapshot) = (about?, trace?, snapshot?);
    let about: About =
        serde_json::from_slice(&about).map_err(|error| failed(&folder.join(FILES[0].0), error.to_string()))?;
    if about.version != VERSION {
        return Err(failed(folder, format!("it is of version {}, and {VERSION} is read", about.version)));
    }
    Ok(Collected { task: about.task, callers: about.callers, trace, snapshot })
}
