//! The ledger in SQLite, which is what a laptop has. All SQL of this crate stands here.

use crate::{
    Chain, Claim, Finish, LedgerError, LedgerStore, RunId, Standing,
    chain::{Flaw, Kept, Link, Row, first_hash, next_hash},
};
use benchwright_base::Digest;
use benchwright_pack::{RunPlan, TrialKey, TrialRecord, run::TrialEnd};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard},
    time::Duration,
};

/// The form of the tables. A ledger of another form is refused.
const FORM: i64 = 2;

const TABLES: &str = "
    create table run (
        id     integer primary key,
        name   text not null,
        digest text not null,
        plan   text not null
    ) strict;
    create table trial (
        run     integer not null references run,
        number  integer not null,
        task    text not null,
        agent   text not null,
        attempt integer not null,
        state   text not null check (state in ('open', 'leased', 'done')),
        fence   integer not null default 0,
        until   integer not null default 0,
        tries   integer not null default 0,
        failed  integer not null default 0,
        record  text,
        primary key (run, number),
        unique (run, task, agent, attempt),
        check ((state = 'done') = (record is not null))
    ) strict, without rowid;
    create index trial_state on trial (run, state, until);
    create table link (
        run    integer not null references run,
        place  integer not null,
        number integer not null,
        record text,
        folder text,
        hash   text not null,
        primary key (run, place),
        check ((record is null) = (folder is null))
    ) strict, without rowid;
";

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(30);

/// A ledger in one file.
pub struct SqliteLedger {
    path: PathBuf,
    connection: Mutex<Connection>,
}

/// Why a step failed, before it is said of which file.
enum Fault {
    Store(String),
    Malformed(String),
    Folder(std::io::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Store(error.to_string())
    }
}

impl Fault {
    fn of(self, path: &Path) -> LedgerError {
        let path = path.to_owned();
        match self {
            Fault::Store(why) => LedgerError::Store { path, why },
            Fault::Malformed(why) => LedgerError::Malformed { path, why },
            Fault::Folder(error) => LedgerError::Folder(error),
        }
    }
}

impl SqliteLedger {
    /// Opens a ledger, or makes one.
    pub fn open_file(path: &Path) -> Result<SqliteLedger, LedgerError> {
        let connection = open(path).map_err(|fault| fault.of(path))?;
        Ok(SqliteLedger { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked left no transaction open: they end when they are dropped.
        self.connection.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Does something with the database; what fails names the file.
    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, Fault>) -> Result<T, LedgerError> {
        work(&mut self.lock()).map_err(|fault| fault.of(&self.path))
    }

    /// The same in a transaction that nobody else writes beside; it stands if all of it went well.
    fn change<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>) -> Result<T, LedgerError> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        })
    }
}

fn open(path: &Path) -> Result<Connection, Fault> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    // A process that is killed loses nothing that was committed; only a machine that loses its power might.
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", "on")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let form: i64 = transaction.query_row("pragma user_version", [], |row| row.get(0))?;
    match form {
        FORM => {}
        0 => {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "user_version", FORM)?;
        }
        1 => {
            let why = "it is of form 1, whose records were not chained; this program keeps and reads form 2: take another \
                       folder for runs, and read this one with the program that wrote it";
            return Err(Fault::Malformed(why.to_owned()));
        }
        other => return Err(Fault::Malformed(format!("it is of form {other}, this program knows {FORM}"))),
    }
    transaction.commit()?;
    Ok(connection)
}

fn read<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::Malformed(format!("{what}: {error}")))
}

fn written(value: &impl serde::Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::Malformed(error.to_string()))
}

/// Adds a link to the chain of a run, inside the transaction of what it tells.
fn add_link(transaction: &Transaction<'_>, run: i64, number: i64, recorded: Option<(&str, &str)>) -> Result<(), Fault> {
    let last = "select place, hash from link where run = ?1 order by place desc limit 1";
    let last: Option<(i64, String)> =
        transaction.prepare_cached(last)?.query_row([run], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (place, before) = match last {
        Some((place, hash)) => (place.saturating_add(1), hash),
        None => {
            let begun = "select name, digest from run where id = ?1";
            let first = |name: String, plan: String| first_hash(&name, &plan);
            (1, transaction.query_row(begun, [run], |row| Ok(first(row.get(0)?, row.get(1)?)))?)
        }
    };
    let hash = next_hash(&before, place, number, recorded);
    let (record, folder) = recorded.unzip();
    transaction
        .prepare_cached("insert into link (run, place, number, record, folder, hash) values (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![run, place, number, record, folder, hash])?;
    Ok(())
}

/// What SQLite itself finds wrong with the file, such as an index that does not lead to its rows.
fn damage(connection: &Connection) -> Result<Vec<Flaw>, Fault> {
    let mut check = connection.prepare("pragma integrity_check(10)")?;
    let told = check.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let flaw = |what: String| Flaw { trial: None, what: format!("the database is damaged: {what}") };
    Ok(told.into_iter().filter(|what| what != "ok").map(flaw).collect())
}

impl LedgerStore for SqliteLedger {
    fn open(&self, name: &str, plan: &RunPlan, fresh: bool) -> Result<(RunId, bool), LedgerError> {
        self.change(|transaction| {
            let digest = plan.digest().to_string();
            if !fresh {
                let newest = "select id from run where digest = ?1 order by id desc limit 1";
                let known: Option<i64> = transaction.query_row(newest, [&digest], |row| row.get(0)).optional()?;
                if let Some(known) = known {
                    return Ok((RunId(known), false));
                }
            }
            transaction.execute(
                "insert into run (name, digest, plan) values (?1, ?2, ?3)",
                params![name, digest, written(plan)?],
            )?;
            let run = transaction.last_insert_rowid();
            let mut insert = transaction.prepare(
                "insert into trial (run, number, task, agent, attempt, state) values (?1, ?2, ?3, ?4, ?5, 'open')",
            )?;
            for (number, key) in (1_i64..).zip(plan.keys()) {
                insert.execute(params![run, number, key.task, key.agent, key.attempt])?;
            }
            Ok((RunId(run), true))
        })
    }

    fn claim(&self, run: RunId, now: i64, lease: i64) -> Result<Option<Claim>, LedgerError> {
        self.change(|transaction| {
            // Open trials and those whose lease has ended: both have an `until` that is past. Least tried first, so that one that
            // always fails holds up no other. Each claim raises the fence, and what an earlier holder writes then matches no row.
            let next = "select number, task, agent, attempt, fence, tries from trial
                        where run = ?1 and state <> 'done' and until <= ?2 order by tries, number limit 1";
            let found = transaction
                .prepare_cached(next)?
                .query_row(params![run.0, now], |row| {
                    let key = TrialKey { task: row.get(1)?, agent: row.get(2)?, attempt: row.get(3)? };
                    Ok(Claim {
                        run,
                        key,
                        number: row.get(0)?,
                        fence: row.get::<_, i64>(4)?.saturating_add(1),
                        tries: row.get(5)?,
                    })
                })
                .optional()?;
            let Some(claim) = found else { return Ok(None) };
            transaction
                .prepare_cached(
                    "update trial set state = 'leased', fence = ?3, until = ?4, tries = tries + 1
                     where run = ?1 and number = ?2",
                )?
                .execute(params![run.0, claim.number, claim.fence, now + lease])?;
            Ok(Some(claim))
        })
    }

    fn renew(&self, claim: &Claim, until: i64) -> Result<bool, LedgerError> {
        self.with(|connection| {
            let changed = connection.execute(
                "update trial set until = ?4 where run = ?1 and number = ?2 and fence = ?3 and state = 'leased'",
                params![claim.run.0, claim.number, claim.fence, until],
            )?;
            Ok(changed == 1)
        })
    }

    fn finish(
        &self,
        claim: &Claim,
        record: &TrialRecord,
        folder: &str,
        place: &mut dyn FnMut() -> std::io::Result<()>,
    ) -> Result<Finish, LedgerError> {
        let failed = matches!(record.end, TrialEnd::Error { .. });
        self.change(|transaction| {
            let record = written(record)?;
            let changed = transaction
                .prepare_cached(
                    "update trial set state = 'done', record = ?4, failed = ?5
                     where run = ?1 and number = ?2 and fence = ?3 and state = 'leased'",
                )?
                .execute(params![claim.run.0, claim.number, claim.fence, record, failed])?;
            if changed == 0 {
                return Ok(Finish::Stale);
            }
            let digest = Digest::of(record.as_bytes()).to_string();
            add_link(transaction, claim.run.0, claim.number, Some((&digest, folder)))?;
            // Whoever else comes to this trial waits for this transaction, so the folder is put in its place by one only.
            place().map_err(Fault::Folder)?;
            Ok(Finish::Recorded)
        })
    }

    fn give_back(&self, claim: &Claim, at: i64) -> Result<(), LedgerError> {
        self.with(|connection| {
            connection.execute(
                "update trial set state = 'open', until = ?4
                 where run = ?1 and number = ?2 and fence = ?3 and state = 'leased'",
                params![claim.run.0, claim.number, claim.fence, at],
            )?;
            Ok(())
        })
    }

    fn take_back(&self, run: RunId) -> Result<usize, LedgerError> {
        let back = "update trial set state = 'open', until = 0 where run = ?1 and state = 'leased'";
        self.with(|connection| Ok(connection.execute(back, [run.0])?))
    }

    fn reopen_errors(&self, run: RunId) -> Result<usize, LedgerError> {
        self.change(|transaction| {
            let errors = "select number from trial where run = ?1 and state = 'done' and failed = 1 order by number";
            let mut errors = transaction.prepare(errors)?;
            let numbers = errors.query_map([run.0], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
            for number in &numbers {
                transaction.execute(
                    "update trial set state = 'open', record = null, failed = 0, until = 0, tries = 0
                     where run = ?1 and number = ?2",
                    params![run.0, number],
                )?;
                add_link(transaction, run.0, *number, None)?;
            }
            Ok(numbers.len())
        })
    }

    fn standing(&self, run: RunId) -> Result<Standing, LedgerError> {
        self.with(|connection| {
            let counts = "select count(*), coalesce(sum(state = 'done'), 0), coalesce(sum(failed), 0),
                          coalesce(sum(state = 'leased'), 0) from trial where run = ?1";
            let counts = connection.query_row(counts, [run.0], |row| {
                let count = |at: usize| row.get::<_, i64>(at).map(|n| n as usize);
                Ok([count(0)?, count(1)?, count(2)?, count(3)?])
            })?;
            let [planned, recorded, errors, leased] = counts;
            let next =
                "select number, until from trial where run = ?1 and state <> 'done' order by until, number limit 1";
            let next = connection.query_row(next, [run.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            Ok(Standing { planned, recorded, errors, leased, next })
        })
    }

    fn plan(&self, run: RunId) -> Result<RunPlan, LedgerError> {
        self.with(|connection| {
            let plan: String = connection.query_row("select plan from run where id = ?1", [run.0], |row| row.get(0))?;
            read("the plan of the run", &plan)
        })
    }

    fn records(&self, run: RunId) -> Result<Vec<(i64, TrialRecord)>, LedgerError> {
        self.with(|connection| {
            let mut all = connection
                .prepare("select number, record from trial where run = ?1 and state = 'done' order by number")?;
            let rows = all.query_map([run.0], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
            rows.map(|row| {
                let (number, record) = row?;
                Ok((number, read(&format!("the record of trial {number}"), &record)?))
            })
            .collect()
        })
    }

    fn chain(&self, run: RunId) -> Result<Chain, LedgerError> {
        let plan = self.plan(run)?;
        self.with(|connection| {
            // All is of one moment: somebody may be recording trials.
            let moment = connection.transaction()?;
            let damage = damage(&moment)?;
            let begun = "select name, digest from run where id = ?1";
            let (name, digest): (String, String) =
                moment.query_row(begun, [run.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let mut rows = moment.prepare(
                "select number, task, agent, attempt, failed, record from trial where run = ?1 order by number",
            )?;
            let rows = rows.query_map([run.0], |row| {
                let key = TrialKey { task: row.get(1)?, agent: row.get(2)?, attempt: row.get(3)? };
                Ok(Row { number: row.get(0)?, key, is_error: row.get(4)?, record: row.get(5)? })
            })?;
            let rows = rows.collect::<Result<_, _>>()?;
            let mut links =
                moment.prepare("select place, number, record, folder, hash from link where run = ?1 order by place")?;
            let links = links.query_map([run.0], |row| {
                let recorded = row.get::<_, Option<String>>(2)?.zip(row.get(3)?);
                Ok(Link { place: row.get(0)?, number: row.get(1)?, recorded, hash: row.get(4)? })
            })?;
            let links = links.collect::<Result<_, _>>()?;
            let mut chain = Chain::of(&Kept { name: &name, plan: (&plan, &digest), rows, links });
            chain.flaws.extend(damage);
            Ok(chain)
        })
    }

    fn runs(&self) -> Result<Vec<RunId>, LedgerError> {
        self.with(|connection| {
            let mut all = connection.prepare("select id from run order by id desc")?;
            let ids = all.query_map([], |row| row.get(0).map(RunId))?.collect::<Result<_, _>>()?;
            Ok(ids)
        })
    }

    fn newest(&self) -> Result<Option<RunId>, LedgerError> {
        self.with(|connection| {
            let newest: Option<i64> = connection.query_row("select max(id) from run", [], |row| row.get(0))?;
            Ok(newest.map(RunId))
        })
    }

    fn named(&self, name: &str) -> Result<Option<RunId>, LedgerError> {
        self.with(|connection| {
            let named = "select id from run where name = ?1 order by id desc limit 1";
            let found: Option<i64> = connection.query_row(named, [name], |row| row.get(0)).optional()?;
            Ok(found.map(RunId))
        })
    }

    fn name(&self, run: RunId) -> Result<String, LedgerError> {
        self.with(|connection| {
            Ok(connection.query_row("select name from run where id = ?1", [run.0], |row| row.get(0))?)
        })
    }
}
