//! Where an Odoo is, and its databases: a template, and slots that are copied from it.

use crate::OdooError;
use serde::Deserialize;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The variable that names the folder of an installation.
const VARIABLE: &str = "BENCHWRIGHT_ODOO";
/// The variable that names the slots to be used, with commas, so that two programs can share an installation.
const SLOTS: &str = "BENCHWRIGHT_ODOO_SLOTS";

/// An installation, as `scripts/odoo up` describes it in `odoo.json`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Site {
    /// The address of its server.
    pub url: String,
    /// The folder of PostgreSQL's socket.
    pub socket: String,
    /// PostgreSQL's port.
    pub port: u16,
    /// The database that all others are copied from.
    pub template: String,
    /// The tablespace of copies.
    pub tablespace: String,
    /// The databases that episodes run in.
    pub slots: Vec<String>,
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

    /// The installation that $BENCHWRIGHT_ODOO names, else the one in `target/odoo`.
    pub fn find() -> Result<Site, OdooError> {
        let named = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let mut site = Site::read(&named.unwrap_or_else(|| PathBuf::from("target/odoo")))?;
        if let Some(slots) = std::env::var(SLOTS).ok().filter(|slots| !slots.is_empty()) {
            site.slots.retain(|slot| slots.split(',').any(|wanted| wanted == slot));
        }
        Ok(site)
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
