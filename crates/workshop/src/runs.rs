//! Where runs are kept: a ledger, and a folder for each.

use crate::Error;
use benchwright_base::DateTime;
use benchwright_run::{LedgerError, LedgerStore, PostgresLedger, SqliteLedger};
use nix::time::{ClockId, clock_gettime};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The file of the ledger.
const LEDGER: &str = "ledger.sqlite";
/// Where the password of a PostgreSQL is looked for, as every program of it does.
const PASSWORD: &str = "PGPASSWORD";

/// The folder of runs with its ledger.
pub struct Runs {
    root: PathBuf,
    /// The database of runs and trials: `ledger.sqlite` of the folder, or a PostgreSQL.
    pub ledger: Box<dyn LedgerStore + Send>,
    /// The address of the ledger, where others may work with it whom nobody here knows of.
    shared: Option<String>,
}

impl Runs {
    /// Opens it, or makes it.
    pub fn open(root: &Path) -> Result<Runs, Error> {
        Runs::with(root, None)
    }

    /// The same with the ledger of an address, such as `postgres://USER@HOST/DATABASE`. Its password is taken from `PGPASSWORD`.
    pub fn with(root: &Path, ledger: Option<&str>) -> Result<Runs, Error> {
        let failed = |why: String| Error::Runs { path: root.to_owned(), why };
        fs::create_dir_all(root).map_err(|error| failed(error.to_string()))?;
        let opened: Result<Box<dyn LedgerStore + Send>, LedgerError> = match ledger {
            None => SqliteLedger::open_file(&root.join(LEDGER), Box::new(now)).map(|ledger| Box::new(ledger) as _),
            Some(url) => {
                let password = std::env::var(PASSWORD).ok();
                PostgresLedger::open_url(url, password.as_deref()).map(|ledger| Box::new(ledger) as _)
            }
        };
        let opened = opened.map_err(|error| failed(error.to_string()))?;
        Ok(Runs { root: root.to_owned(), ledger: opened, shared: ledger.map(str::to_owned) })
    }

    /// Whether all who work with the ledger are on this machine and hold the lock of the run's folder.
    pub fn is_local(&self) -> bool {
        self.shared.is_none()
    }

    /// Where the ledger is.
    pub fn ledger_path(&self) -> PathBuf {
        self.shared.as_ref().map_or_else(|| self.root.join(LEDGER), PathBuf::from)
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
