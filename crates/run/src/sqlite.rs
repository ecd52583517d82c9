//! The ledger in SQLite, which is what a laptop has. All SQL of this crate stands here.

use crate::{Claim, Finish, LedgerError, LedgerStore, RunId, Standing};
use benchwright_pack::{RunPlan, TrialKey, TrialRecord, run::TrialEnd};
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use std::{
    path::Path,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

/// The form of the tables. A ledger of another form is refused.
const FORM: i64 = 1;

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
";

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(30);

/// A ledger in one file.
pub struct SqliteLedger {
    connection: Mutex<Connection>,
}

impl From<rusqlite::Error> for LedgerError {
    fn from(error: rusqlite::Error) -> LedgerError {
        LedgerError::Store(error.to_string())
    }
}

impl SqliteLedger {
    /// Opens a ledger, or makes one.
    pub fn open_file(path: &Path) -> Result<SqliteLedger, LedgerError> {
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
            other => return Err(LedgerError::Malformed(format!("it is of form {other}, this program knows {FORM}"))),
        }
        transaction.commit()?;
        Ok(SqliteLedger { connection: Mutex::new(connection) })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked left no transaction open: they end when they are dropped.
        self.connection.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, LedgerError> {
    serde_json::from_str(text).map_err(|error| LedgerError::Malformed(error.to_string()))
}

fn written(value: &impl serde::Serialize) -> Result<String, LedgerError> {
    serde_json::to_string(value).map_err(|error| LedgerError::Malformed(error.to_string()))
}

impl LedgerStore for SqliteLedger {
    fn open(&self, name: &str, plan: &RunPlan, fresh: bool) -> Result<(RunId, bool), LedgerError> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
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
        {
            let mut insert = transaction.prepare(
                "insert into trial (run, number, task, agent, attempt, state) values (?1, ?2, ?3, ?4, ?5, 'open')",
            )?;
            let mut number = 0_i64;
            for agent in &plan.agents {
                for attempt in 1..=plan.attempts {
                    for task in &plan.tasks {
                        number += 1;
                        insert.execute(params![run, number, task.digest, agent, attempt])?;
                    }
                }
            }
        }
        transaction.commit()?;
        Ok((RunId(run), true))
    }

    fn claim(&self, run: RunId, now: i64, lease: i64) -> Result<Option<Claim>, LedgerError> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Open trials and those whose lease has ended: both have an `until` that is past. Least tried first, so that one that always
        // fails holds up no other. Each claim raises the fence, and what an earlier holder writes then matches no row.
        let next = "select number, task, agent, attempt, fence, tries from trial
                    where run = ?1 and state <> 'done' and until <= ?2 order by tries, number limit 1";
        let found = transaction
            .prepare_cached(next)?
            .query_row(params![run.0, now], |row| {
                let key = TrialKey { task: row.get(1)?, agent: row.get(2)?, attempt: row.get(3)? };
                Ok(Claim { run, key, number: row.get(0)?, fence: row.get::<_, i64>(4)? + 1, tries: row.get(5)? })
            })
            .optional()?;
        let Some(claim) = found else { return Ok(None) };
        transaction
            .prepare_cached(
                "update trial set state = 'leased', fence = ?3, until = ?4, tries = tries + 1
                 where run = ?1 and number = ?2",
            )?
            .execute(params![run.0, claim.number, claim.fence, now + lease])?;
        transaction.commit()?;
        Ok(Some(claim))
    }

    fn renew(&self, claim: &Claim, until: i64) -> Result<bool, LedgerError> {
        let changed = self.lock().execute(
            "update trial set until = ?4 where run = ?1 and number = ?2 and fence = ?3 and state = 'leased'",
            params![claim.run.0, claim.number, claim.fence, until],
        )?;
        Ok(changed == 1)
    }

    fn finish(
        &self,
        claim: &Claim,
        record: &TrialRecord,
        place: &mut dyn FnMut() -> std::io::Result<()>,
    ) -> Result<Finish, LedgerError> {
        let failed = matches!(record.end, TrialEnd::Error { .. });
        let record = written(record)?;
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let changed = transaction
            .prepare_cached(
                "update trial set state = 'done', record = ?4, failed = ?5
                 where run = ?1 and number = ?2 and fence = ?3 and state = 'leased'",
            )?
            .execute(params![claim.run.0, claim.number, claim.fence, record, failed])?;
        if changed == 0 {
            return Ok(Finish::Stale);
        }
        // Whoever else comes to this trial waits for this transaction, so the folder is put in its place by one only.
        place().map_err(LedgerError::Folder)?;
        transaction.commit()?;
        Ok(Finish::Recorded)
    }

    fn give_back(&self, claim: &Claim, at: i64) -> Result<(), LedgerError> {
        self.lock().execute(
            "update trial set state = 'open', until = ?4 where run = ?1 and number = ?2 and fence = ?3 and state = 'leased'",
            params![claim.run.0, claim.number, claim.fence, at],
        )?;
        Ok(())
    }

    fn take_back(&self, run: RunId) -> Result<usize, LedgerError> {
        let back = "update trial set state = 'open', until = 0 where run = ?1 and state = 'leased'";
        Ok(self.lock().execute(back, [run.0])?)
    }

    fn reopen_errors(&self, run: RunId) -> Result<usize, LedgerError> {
        Ok(self.lock().execute(
            "update trial set state = 'open', record = null, failed = 0, until = 0, tries = 0
             where run = ?1 and state = 'done' and failed = 1",
            [run.0],
        )?)
    }

    fn standing(&self, run: RunId) -> Result<Standing, LedgerError> {
        let counts = "select count(*), coalesce(sum(state = 'done'), 0), coalesce(sum(failed), 0),
                      coalesce(sum(state = 'leased'), 0) from trial where run = ?1";
        Ok(self.lock().query_row(counts, [run.0], |row| {
            let count = |at: usize| row.get::<_, i64>(at).map(|n| n as usize);
            Ok(Standing { planned: count(0)?, recorded: count(1)?, errors: count(2)?, leased: count(3)? })
        })?)
    }

    fn plan(&self, run: RunId) -> Result<RunPlan, LedgerError> {
        let plan: String = self.lock().query_row("select plan from run where id = ?1", [run.0], |row| row.get(0))?;
        read(&plan)
    }

    fn records(&self, run: RunId) -> Result<Vec<(i64, TrialRecord)>, LedgerError> {
        let connection = self.lock();
        let mut all =
            connection.prepare("select number, record from trial where run = ?1 and state = 'done' order by number")?;
        let rows = all.query_map([run.0], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        rows.map(|row| {
            let (number, record) = row?;
            Ok((number, read(&record)?))
        })
        .collect()
    }

    fn runs(&self) -> Result<Vec<RunId>, LedgerError> {
        let connection = self.lock();
        let mut all = connection.prepare("select id from run order by id desc")?;
        let ids = all.query_map([], |row| row.get(0).map(RunId))?.collect::<Result<_, _>>()?;
        Ok(ids)
    }

    fn newest(&self) -> Result<Option<RunId>, LedgerError> {
        let newest: Option<i64> = self.lock().query_row("select max(id) from run", [], |row| row.get(0))?;
        Ok(newest.map(RunId))
    }

    fn named(&self, name: &str) -> Result<Option<RunId>, LedgerError> {
        let named = "select id from run where name = ?1 order by id desc limit 1";
        let found: Option<i64> = self.lock().query_row(named, [name], |row| row.get(0)).optional()?;
        Ok(found.map(RunId))
    }

    fn name(&self, run: RunId) -> Result<String, LedgerError> {
        Ok(self.lock().query_row("select name from run where id = ?1", [run.0], |row| row.get(0))?)
    }
}
