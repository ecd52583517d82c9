//! Folders of tasks that are kept for others: their shards, and their lock file last.

use crate::{
    Error, Temporary,
    runs::Runs,
    stream::{LARGEST_LOCK, LARGEST_SHARD},
};
use benchwright_depot::Depot;
use benchwright_export::{parquet, unpack};
use benchwright_pack::{
    Store,
    store::{OPEN_TREE, SEALED_TREE, SUITE_FILE},
    suite::LARGEST_SUITE,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Tasks of a shard: a worker needs all of a folder's tasks, so that their size does not matter.
const PER_SHARD: usize = 100;
/// The file of a run that says which folder its tasks are in.
const TASKS_FILE: &str = "tasks.txt";

/// Keeps the tasks of a folder for others, under a name that is theirs alone. The name.
pub fn put_tasks(store: &Store, runs: &Runs) -> Result<String, Error> {
    let suite = store.suite()?;
    let digest = suite.digest().ok_or(Error::NoTasks)?.to_string();
    let name = format!("tasks-{}", &digest[..16]);
    let depot = runs.kept(&name);
    if depot.has(SUITE_FILE)? {
        return Ok(name);
    }
    let folder = Temporary::new().map_err(Error::io(&std::env::temp_dir()))?;
    let shards = folder.path().join("shards");
    parquet(store, &shards, PER_SHARD)?;
    for tree in [OPEN_TREE, SEALED_TREE] {
        for file in Depot::folder(&shards).names(tree)? {
            let path = shards.join(tree).join(&file);
            depot.put(&format!("{tree}/{file}"), &fs::read(&path).map_err(Error::io(&path))?)?;
        }
    }
    depot.put(SUITE_FILE, suite.to_toml().as_bytes())?;
    Ok(name)
}

/// Notes in which folder the tasks of a run are.
pub(crate) fn note(runs: &Runs, run: &str, tasks: &str) -> Result<(), Error> {
    Ok(runs.kept(run).put(TASKS_FILE, format!("{tasks}\n").as_bytes())?)
}

/// Takes such a note away.
pub(crate) fn forget(runs: &Runs, run: &str) -> Result<(), Error> {
    Ok(runs.kept(run).remove(TASKS_FILE)?)
}

/// The folder that the tasks of a run are in.
pub(crate) fn of_run(runs: &Runs, run: &str) -> Result<String, Error> {
    let text = runs.kept(run).get(TASKS_FILE, LARGEST_LOCK)?;
    Ok(String::from_utf8_lossy(&text).trim_end().to_owned())
}

/// The tasks that are kept in a depot, unpacked on this machine for as long as this is there. They are held to their lock file.
pub fn fetched(depot: &Depot) -> Result<Fetched, Error> {
    let folder = Temporary::new().map_err(Error::io(&std::env::temp_dir()))?;
    let (shards, tasks) = (folder.path().join("shards"), folder.path().join("tasks"));
    let suite = depot.get(SUITE_FILE, LARGEST_SUITE)?;
    let put = |path: PathBuf, bytes: &[u8]| -> Result<(), Error> {
        let above = path.parent().unwrap_or(&path);
        fs::create_dir_all(above).map_err(Error::io(above))?;
        fs::write(&path, bytes).map_err(Error::io(&path))
    };
    for tree in [OPEN_TREE, SEALED_TREE] {
        for file in depot.names(tree)? {
            put(shards.join(tree).join(&file), &depot.get(&format!("{tree}/{file}"), LARGEST_SHARD)?)?;
        }
    }
    unpack(&shards, true, &Store::held_elsewhere(&tasks))?;
    put(tasks.join(SUITE_FILE), &suite)?;
    fs::remove_dir_all(&shards).map_err(Error::io(&shards))?;
    Ok(Fetched { _folder: folder, tasks })
}

/// Tasks that were fetched; they go with this.
#[derive(Debug)]
pub struct Fetched {
    _folder: Temporary,
    tasks: PathBuf,
}

impl Fetched {
    /// The folder of the tasks.
    pub fn path(&self) -> &Path {
        &self.tasks
    }
}
