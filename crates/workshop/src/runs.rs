//! Where runs are kept: a ledger, and a folder for each.

use crate::Error;
use benchwright_base::DateTime;
use benchwright_depot::Depot;
use benchwright_run::{LedgerStore, PostgresLedger, Segments, SqliteLedger};
use nix::time::{ClockId, clock_gettime};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The file of the ledger.
const LEDGER: &str = "ledger.sqlite";
/// Where the password of a PostgreSQL is looked for, as every program of it does.
const PASSWORD: &str = "PGPASSWORD";

/// A ledger, and where what it tells of is kept.
pub struct Runs {
    depot: Depot,
    /// The database of runs and trials: `ledger.sqlite` of a folder, or a PostgreSQL.
    pub ledger: Box<dyn LedgerStore + Send>,
    /// Where the ledger is.
    address: PathBuf,
    is_shared: bool,
    /// Milliseconds for which what this process works on is held for it when nothing is heard of it; half a minute by default.
    pub hold: Option<i64>,
}

impl Runs {
    /// Those of a folder with its own ledger, which are made if they are not there.
    pub fn open(root: &Path) -> Result<Runs, Error> {
        let failed = |why: String| Error::Runs { path: root.to_owned(), why };
        fs::create_dir_all(root).map_err(|error| failed(error.to_string()))?;
        let address = root.join(LEDGER);
        let ledger = SqliteLedger::open_file(&address, Box::new(now)).map_err(|error| failed(error.to_string()))?;
        Ok(Runs { depot: Depot::folder(root), ledger: Box::new(ledger), address, is_shared: false, hold: None })
    }

    /// Those of a ledger that many share, such as `postgres://USER@HOST/DATABASE`, and of a depot that all of them reach. The password is taken
    /// from `PGPASSWORD`.
    pub fn shared(ledger: &str, depot: Depot) -> Result<Runs, Error> {
        let address = PathBuf::from(ledger);
        let password = std::env::var(PASSWORD).ok();
        let ledger = PostgresLedger::open_url(ledger, password.as_deref())?;
        Ok(Runs { depot, ledger: Box::new(ledger), address, is_shared: true, hold: None })
    }

    /// Whether others work with the ledger whom nobody here knows of.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Where the ledger is.
    pub fn ledger_path(&self) -> PathBuf {
        self.address.clone()
    }

    /// What is kept under a name: what a run left, or tasks.
    pub fn kept(&self, name: &str) -> Depot {
        self.depot.within(name)
    }

    /// The folder of a run, as far as it is on this machine.
    pub fn folder(&self, name: &str) -> PathBuf {
        let root = self.depot.local().unwrap_or_else(|| self.depot.place("").into());
        root.join(name)
    }

    /// Where what a run left is kept.
    pub fn segments(&self, name: &str) -> Segments {
        match self.is_shared {
            true => Segments::within(&self.kept(name)),
            false => Segments::of(&self.folder(name)),
        }
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
        // What is kept elsewhere has small letters.
        let base = if self.is_shared { base.to_ascii_lowercase() } else { base };
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        let is_free = |name: &String| match self.is_shared {
            true => !matches!(self.ledger.named(name), Ok(Some(_))),
            false => !self.folder(name).exists(),
        };
        std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
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
