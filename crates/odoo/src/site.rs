//! Where an Odoo is (address, key, PostgreSQL) and its databases: one template, and slots that are copied from it for
//! episodes.

use crate::OdooError;
use serde::Deserialize;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

/// The variable that names the folder of an installation.
const VARIABLE: &str = "BENCHWRIGHT_ODOO";

/// An installation, as `scripts/odoo up` describes it in `odoo.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Site {
    /// The address of its server.
    pub url: String,
    /// The folder of PostgreSQL's socket.
    pub socket: String,
    /// The port on which PostgreSQL listens.
    pub port: u16,
    /// The database that all others are copied from.
    pub template: String,
    /// The tablespace of copies.
    pub tablespace: String,
    /// The databases that episodes run in.
    pub slots: Vec<String>,
    /// What keeps other programs out of the slots, as long as it lives.
    #[serde(skip)]
    held: Arc<Vec<File>>,
    /// The key of the administrator, who plants and reads.
    pub admin_key: String,
    /// The key of the agent's user.
    pub agent_key: String,
    /// The version of the package.
    pub version: String,
    /// The digest of the package.
    pub sha256: String,
}

impl Site {
    /// Reads the description in an installation's folder.
    pub fn read(folder: &Path) -> Result<Site, OdooError> {
        let file = folder.join("odoo.json");
        let text =
            fs::read_to_string(&file).map_err(|error| OdooError::NotThere(format!("{}: {error}", file.display())))?;
        serde_json::from_str(&text).map_err(|error| OdooError::NotThere(format!("{}: {error}", file.display())))
    }

    /// The installation that $BENCHWRIGHT_ODOO names, else the one in `target/odoo`, with at most so many slots that no other
    /// program works in.
    pub fn find(slots: usize) -> Result<Site, OdooError> {
        let named = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let folder = named.unwrap_or_else(|| PathBuf::from("target/odoo"));
        Site::read(&folder)?.claim(&folder, slots)
    }

    /// The same installation, with at most so many of its slots: those that no other program works in.
    fn claim(mut self, folder: &Path, slots: usize) -> Result<Site, OdooError> {
        let locks = folder.join("run");
        let wrong = |error: std::io::Error| OdooError::NotThere(format!("{}: {error}", locks.display()));
        fs::create_dir_all(&locks).map_err(wrong)?;
        let (mut mine, mut held) = (Vec::new(), Vec::new());
        for slot in self.slots {
            let lock = File::options().create(true).append(true).open(locks.join(format!("{slot}.lock")));
            let lock = lock.map_err(wrong)?;
            if mine.len() < slots && lock.try_lock().is_ok() {
                mine.push(slot);
                held.push(lock);
            }
        }
        if mine.is_empty() {
            return Err(OdooError::NotThere(format!(
                "other programs work in every slot; wait for one to end, or start more with --slots: {}",
                locks.display()
            )));
        }
        (self.slots, self.held) = (mine, Arc::new(held));
        Ok(self)
    }

    /// Runs statements in a database, each a transaction of its own.
    pub(crate) fn sql(&self, database: &str, statements: &[String]) -> Result<String, OdooError> {
        let mut psql = Command::new("psql");
        psql.args(["-h", &self.socket, "-p", &self.port.to_string(), "-U", "postgres"]);
        psql.args(["-qAtX", "-v", "ON_ERROR_STOP=1", "-d", database]);
        for statement in statements {
            psql.args(["-c", statement]);
        }
        let done = psql.output().map_err(|error| OdooError::NotThere(format!("psql: {error}")))?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
        }
        Err(OdooError::Database(String::from_utf8_lossy(&done.stderr).trim().to_owned()))
    }

    /// Makes a database the copy of another. Whoever is in either is put out.
    pub(crate) fn copy(&self, from: &str, to: &str) -> Result<(), OdooError> {
        let mut statements = vec![format!("drop database if exists \"{to}\" with (force)")];
        if from != self.template {
            statements.push(format!(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = '{from}'"
            ));
        }
        statements.push(format!(
            "create database \"{to}\" template \"{from}\" owner odoo tablespace {} strategy file_copy",
            self.tablespace
        ));
        self.sql("postgres", &statements)?;
        // The server keeps caches per name; a number that it has not seen makes it drop them.
        let fresh = "insert into orm_signaling_default (id) select greatest((select max(id) from orm_signaling_default) + 1, \
                     floor((extract(epoch from clock_timestamp()) - 1700000000) * 10)::bigint)";
        self.sql(to, &[fresh.to_owned()]).map(|_| ())
    }

    /// Removes a database.
    pub(crate) fn remove(&self, name: &str) -> Result<(), OdooError> {
        self.sql("postgres", &[format!("drop database if exists \"{name}\" with (force)")]).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_programs_work_in_one_slot() {
        let folder = std::env::temp_dir().join(format!("benchwright-slots-{}", std::process::id()));
        let site = || Site {
            url: String::new(),
            socket: String::new(),
            port: 0,
            template: String::new(),
            tablespace: String::new(),
            slots: ["slot1", "slot2", "slot3"].map(str::to_owned).to_vec(),
            held: Arc::default(),
            admin_key: String::new(),
            agent_key: String::new(),
            version: String::new(),
            sha256: String::new(),
        };
        let first = site().claim(&folder, 1).unwrap();
        assert_eq!(first.slots, ["slot1"]);
        let second = site().claim(&folder, 9).unwrap();
        assert_eq!(second.slots, ["slot2", "slot3"]);
        assert!(site().claim(&folder, 1).unwrap_err().to_string().contains("every slot"));
        // A copy holds what it is a copy of.
        let copy = first.clone();
        drop(first);
        assert!(site().claim(&folder, 1).is_err());
        drop((copy, second));
        assert_eq!(site().claim(&folder, 9).unwrap().slots.len(), 3);
        fs::remove_dir_all(folder).unwrap();
    }
}
