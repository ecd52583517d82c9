//! Where runs are kept: a ledger, and a folder for each.

use crate::Error;
use benchwright_base::DateTime;
use benchwright_run::SqliteLedger;
use nix::time::{ClockId, clock_gettime};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The file of the ledger.
const LEDGER: &str = "ledger.sqlite";

/// The folder of runs with its ledger.
pub struct Runs {
    root: PathBuf,
    /// The database of runs and trials, `ledger.sqlite`.
    pub ledger: SqliteLedger,
}

impl Runs {
    /// Opens it, or makes it.
    pub fn open(root: &Path) -> Result<Runs, Error> {
        let failed = |why: String| Error::Runs { path: root.to_owned(), why };
        fs::create_dir_all(root).map_err(|error| failed(error.to_string()))?;
        let ledger =
            SqliteLedger::open_file(&root.join(LEDGER), Box::new(now)).map_err(|error| failed(error.to_string()))?;
        Ok(Runs { root: root.to_owned(), ledger })
    }

    /// Where the ledger is.
    pub fn ledger_path(&self) -> PathBuf {
        self.root.join(LEDGER)
    }

    /// The folder of a run.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Notes which folder of tasks a run is on. It is no part of what a run is, and may move.
    pub fn note_tasks(&self, name: &str, tasks: &Path) -> io::Result<()> {
        fs::create_dir_all(self.folder(name))?;
        let tasks = fs::canonicalize(tasks)?;
        fs::write(self.folder(name).join("tasks.txt"), format!("{}\n", tasks.display()))
    }

    /// The folder of tasks that a run was last worked on with.
    pub fn tasks_of(&self, name: &str) -> Option<PathBuf> {
        let text = fs::read_to_string(self.folder(name).join("tasks.txt")).ok()?;
        Some(PathBuf::from(text.trim_end()))
    }

    /// A name that no run has yet: the time, and what it is about.
    pub fn fresh_name(&self, what: &str) -> String {
        let plain: String = what.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let time = DateTime(now() / 1_000).to_string().replace(':', "");
        let base = format!("{}-{plain}", time.trim_end_matches('Z'));
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        std::iter::once(base.clone()).chain(numbered).find(|name| !self.folder(name).exists()).unwrap_or(base)
    }
}

/// Somebody who works on a run. The kernel forgets it with the process, however that ends.
pub struct Working {
    file: fs::File,
    /// Whether nobody else works on the run.
    pub alone: bool,
}

impl Working {
    /// Says that this process works on the run of a folder.
    pub fn on(folder: &Path) -> io::Result<Working> {
        fs::create_dir_all(folder)?;
        let file = fs::File::options().create(true).append(true).open(folder.join("working"))?;
        let alone = file.try_lock().is_ok();
        if !alone {
            file.lock_shared()?;
        }
        Ok(Working { file, alone })
    }

    /// Lets others join in.
    pub fn share(&self) -> io::Result<()> {
        self.file.unlock()?;
        self.file.lock_shared()
    }
}

/// Milliseconds of the clock on the wall. Only the ledger and the names of runs hold it.
pub fn now() -> i64 {
    clock_gettime(ClockId::CLOCK_REALTIME).map_or(0, |time| time.tv_sec() * 1_000 + time.tv_nsec() / 1_000_000)
}
