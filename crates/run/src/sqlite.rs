//! The ledger in SQLite, which is what a laptop has. All SQL of this crate stands here and in `sqlite/`.
//!
//! No statement's cost grows with the run: what is open, waits or is held stands in a partial index of its own, and every query names the
//! index it means. Without that SQLite's planner takes the primary key, and goes through all that is done to find what is not.

mod earlier;

use crate::{
    Chain, Claim, Clock, Ended, Finish, Lease, LedgerError, LedgerStore, RunId, Standing, WorkerId,
    chain::{Flaw, Link, MOST_IN_LINK, Reader, Row, Told, first_hash, next_hash},
    ledger::{Malformed, Written, joined, parts, read, written},
    numbers,
};
use benchwright_pack::{TaskLine, WorkPlan};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard},
    time::Duration,
};

/// The form of the tables. A ledger of form 2 is brought to it, one of another form is refused.
const FORM: i64 = 3;

/// A plan is kept as its parts. A trial is `open` (0), `held` by a lease (1), `done` (2) or `waiting` to be tried again (3).
const TABLES: &str = "
    create table run (
        id     integer primary key,
        name   text not null,
        digest text not null,
        plan   text not null
    ) strict;
    create table task (
        run   integer not null references run,
        place integer not null,
        line  text not null,
        primary key (run, place)
    ) strict, without rowid;
    create table worker (
        id    integer primary key autoincrement,
        run   integer not null references run,
        hold  integer not null,
        until integer not null
    ) strict;
    create table lease (
        fence  integer primary key autoincrement,
        run    integer not null references run,
        worker integer not null references worker
    ) strict;
    create table trial (
        run    integer not null references run,
        number integer not null,
        state  integer not null default 0 check (state in (0, 1, 2, 3)),
        fence  integer not null default 0,
        until  integer not null default 0,
        tries  integer not null default 0,
        failed integer not null default 0 check (failed in (0, 1)),
        link   integer,
        record text,
        primary key (run, number),
        check ((state = 2) = (link is not null)),
        check (state = 2 or record is null)
    ) strict, without rowid;
    create index trial_open on trial (run, number) where state = 0;
    create index trial_held on trial (run, fence, number) where state = 1;
    create index trial_waiting on trial (run, until, number) where state = 3;
    create index trial_failed on trial (run, number) where failed = 1;
    create table link (
        run     integer not null references run,
        place   integer not null,
        numbers text not null,
        record  text,
        folder  text,
        segment text,
        hash    text not null,
        primary key (run, place),
        check (segment is null or record is null),
        check ((folder is null) = (record is null and segment is null))
    ) strict, without rowid;
";

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(30);

/// A ledger in one file.
pub struct SqliteLedger {
    path: PathBuf,
    connection: Mutex<Connection>,
    clock: Clock,
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

impl From<Malformed> for Fault {
    fn from(Malformed(why): Malformed) -> Fault {
        Fault::Malformed(why)
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
    /// Opens a ledger, or makes one. All who work on its runs have the same clock.
    pub fn open_file(path: &Path, clock: Clock) -> Result<SqliteLedger, LedgerError> {
        let connection = open(path).map_err(|fault| fault.of(path))?;
        Ok(SqliteLedger { path: path.to_owned(), connection: Mutex::new(connection), clock })
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
    if form(&connection)? == earlier::FORM {
        earlier::keep_aside(&connection, path)?;
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match form(&transaction)? {
        FORM => {}
        0 => transaction.execute_batch(TABLES)?,
        earlier::FORM => earlier::bring_over(&transaction)?,
        1 => {
            let why = format!(
                "it is of form 1, whose records were not chained; this program keeps form {FORM} and reads form 2: take \
                 another folder for runs, and read this one with the program that wrote it"
            );
            return Err(Fault::Malformed(why));
        }
        other => return Err(Fault::Malformed(format!("it is of form {other}, this program knows {FORM}"))),
    }
    transaction.pragma_update(None, "user_version", FORM)?;
    transaction.commit()?;
    Ok(connection)
}

fn form(connection: &Connection) -> Result<i64, Fault> {
    Ok(connection.query_row("pragma user_version", [], |row| row.get(0))?)
}

/// Writes a plan down as its parts, for a run that has none yet.
fn put_plan(transaction: &Transaction<'_>, run: i64, plan: &WorkPlan) -> Result<(), Fault> {
    let mut insert = transaction.prepare("insert into task (run, place, line) values (?1, ?2, ?3)")?;
    let (rest, tasks) = parts(plan)?;
    for (place, task) in (1_i64..).zip(tasks) {
        insert.execute(params![run, place, written(task)?])?;
    }
    transaction.execute("update run set plan = ?2 where id = ?1", params![run, rest])?;
    Ok(())
}

fn plan_of(connection: &Connection, run: i64) -> Result<WorkPlan, Fault> {
    let rest: String = connection.query_row("select plan from run where id = ?1", [run], |row| row.get(0))?;
    let mut tasks = Vec::new();
    let mut lines = connection.prepare("select line from task where run = ?1 order by place")?;
    let mut lines = lines.query([run])?;
    while let Some(row) = lines.next()? {
        let line = row.get_ref(0)?.as_str().map_err(|error| Fault::Malformed(error.to_string()))?;
        tasks.push(read::<TaskLine>("a task of the plan", line)?);
    }
    Ok(joined(&rest, tasks)?)
}

/// Adds a link to the chain of a run, inside the transaction of what it tells. Its place.
fn add_link(transaction: &Transaction<'_>, run: i64, numbers: &str, told: &Told) -> Result<i64, Fault> {
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
    let hash = next_hash(&before, place, numbers, told);
    let (record, folder, segment) = told.columns();
    let insert =
        "insert into link (run, place, numbers, record, folder, segment, hash) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    transaction.prepare_cached(insert)?.execute(params![run, place, numbers, record, folder, segment, hash])?;
    Ok(place)
}

/// Forgets a lease by which nothing is held any more.
fn forget_lease(transaction: &Transaction<'_>, run: i64, fence: i64) -> Result<(), Fault> {
    let empty = "delete from lease where fence = ?2 and not exists
                 (select 1 from trial indexed by trial_held where run = ?1 and fence = ?2 and state = 1)";
    transaction.prepare_cached(empty)?.execute([run, fence])?;
    Ok(())
}

/// What SQLite itself finds wrong with the file, such as an index that does not lead to its rows.
fn damage(connection: &Connection) -> Result<Vec<Flaw>, Fault> {
    let mut check = connection.prepare("pragma integrity_check(10)")?;
    let told = check.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let flaw = |what: String| Flaw { trial: None, what: format!("the database is damaged: {what}") };
    Ok(told.into_iter().filter(|what| what != "ok").map(flaw).collect())
}

/// The next trials that can be had: number and tries.
fn next(transaction: &Transaction<'_>, run: i64, now: i64, most: i64) -> Result<Vec<Claim>, Fault> {
    let all = [
        "select number, tries from trial indexed by trial_open where run = ?1 and state = 0 and ?2 = ?2
         order by number limit ?3",
        "select number, tries from trial indexed by trial_waiting where run = ?1 and state = 3 and until <= ?2
         order by until, number limit ?3",
        // Leases are few: those that are held.
        "select number, tries from lease join worker on worker.id = lease.worker
         join trial indexed by trial_held on trial.run = lease.run and trial.fence = lease.fence and trial.state = 1
         where lease.run = ?1 and worker.until <= ?2 order by number limit ?3",
    ];
    for query in all {
        let mut found = transaction.prepare_cached(query)?;
        let claim = |row: &rusqlite::Row<'_>| Ok(Claim { number: row.get(0)?, tries: row.get(1)? });
        let found = found.query_map([run, now, most], claim)?.collect::<Result<Vec<_>, _>>()?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

fn whole(count: i64) -> usize {
    usize::try_from(count).unwrap_or(0)
}

impl LedgerStore for SqliteLedger {
    fn begin(&self, name: &str, plan: &WorkPlan, fresh: bool) -> Result<(RunId, bool), LedgerError> {
        self.change(|transaction| {
            let digest = plan.digest().to_string();
            if !fresh {
                let newest = "select id from run where digest = ?1 order by id desc limit 1";
                let known: Option<i64> = transaction.query_row(newest, [&digest], |row| row.get(0)).optional()?;
                if let Some(known) = known {
                    return Ok((RunId(known), false));
                }
            }
            transaction.execute("insert into run (name, digest, plan) values (?1, ?2, '')", params![name, digest])?;
            let run = transaction.last_insert_rowid();
            put_plan(transaction, run, plan)?;
            let trials = i64::try_from(plan.items()).unwrap_or(i64::MAX);
            transaction.execute(
                "insert into trial (run, number) with recursive numbers (number) as
                 (select 1 where ?2 > 0 union all select number + 1 from numbers where number < ?2)
                 select ?1, number from numbers",
                [run, trials],
            )?;
            Ok((RunId(run), true))
        })
    }

    fn join(&self, run: RunId, hold: i64) -> Result<WorkerId, LedgerError> {
        let until = (self.clock)().saturating_add(hold);
        self.change(|transaction| {
            let insert = "insert into worker (run, hold, until) values (?1, ?2, ?3)";
            transaction.execute(insert, [run.0, hold, until])?;
            Ok(WorkerId(transaction.last_insert_rowid()))
        })
    }

    fn keep(&self, worker: WorkerId) -> Result<(), LedgerError> {
        let now = (self.clock)();
        self.change(|transaction| {
            transaction.execute("update worker set until = ?2 + hold where id = ?1", [worker.0, now])?;
            Ok(())
        })
    }

    fn leave(&self, worker: WorkerId) -> Result<(), LedgerError> {
        self.change(|transaction| {
            let held = "select run, fence from lease where worker = ?1";
            let mut held = transaction.prepare(held)?;
            let held = held.query_map([worker.0], |row| Ok([row.get(0)?, row.get(1)?]))?;
            let held = held.collect::<Result<Vec<[i64; 2]>, _>>()?;
            for of_lease in held {
                let back = "update trial indexed by trial_held set state = 0, fence = 0 where run = ?1 and fence = ?2 and state = 1";
                transaction.execute(back, of_lease)?;
            }
            transaction.execute("delete from lease where worker = ?1", [worker.0])?;
            transaction.execute("delete from worker where id = ?1", [worker.0])?;
            Ok(())
        })
    }

    fn claim(&self, worker: WorkerId, most: usize) -> Result<Option<Lease>, LedgerError> {
        let now = (self.clock)();
        let most = i64::try_from(most.clamp(1, MOST_IN_LINK)).unwrap_or(1);
        self.change(|transaction| {
            // Who asks is alive.
            let kept = "update worker set until = ?2 + hold where id = ?1 returning run";
            let run: Option<i64> =
                transaction.prepare_cached(kept)?.query_row([worker.0, now], |row| row.get(0)).optional()?;
            let Some(run) = run else { return Err(Fault::Malformed(format!("there is no worker {}", worker.0))) };
            let mut trials = next(transaction, run, now, most)?;
            trials.sort_by_key(|claim| claim.number);
            if trials.is_empty() {
                return Ok(None);
            }
            transaction.prepare_cached("insert into lease (run, worker) values (?1, ?2)")?.execute([run, worker.0])?;
            let fence = transaction.last_insert_rowid();
            let mut hold = transaction
                .prepare_cached("update trial set state = 1, fence = ?3, until = 0 where run = ?1 and number = ?2")?;
            for claim in &trials {
                hold.execute([run, claim.number, fence])?;
            }
            // Leases of workers that were not heard of, once all of their trials are taken.
            transaction.prepare_cached(
                "delete from lease where run = ?1 and worker in (select id from worker where until <= ?2) and not exists
                 (select 1 from trial indexed by trial_held where run = ?1 and fence = lease.fence and state = 1)",
            )?.execute([run, now])?;
            Ok(Some(Lease { run: RunId(run), fence, trials }))
        })
    }

    fn finish(&self, lease: &Lease, ended: Ended<'_>) -> Result<Finish, LedgerError> {
        let (run, fence) = (lease.run.0, lease.fence);
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let (Written { told, record }, (numbers, errors)) = (ended.written()?, ended.numbers());
            let place = add_link(&transaction, run, &numbers::written(numbers), &told)?;
            {
                let mut done = transaction.prepare_cached(
                    "update trial set state = 2, fence = 0, link = ?4, record = ?5, failed = ?6
                     where run = ?1 and number = ?2 and fence = ?3 and state = 1",
                )?;
                for number in numbers {
                    let failed = errors.binary_search(number).is_ok();
                    if done.execute(params![run, number, fence, place, record, failed])? == 0 {
                        // The transaction ends with nothing done.
                        return Ok(Finish::Stale);
                    }
                }
            }
            forget_lease(&transaction, run, fence)?;
            if let Ended::Folder { place, .. } = ended {
                // Whoever else comes to this trial waits for this transaction, so the folder is put in its place by one only.
                place().map_err(Fault::Folder)?;
            }
            transaction.commit()?;
            Ok(Finish::Recorded)
        })
    }

    fn give_back(&self, lease: &Lease, numbers: &[i64]) -> Result<(), LedgerError> {
        self.change(|transaction| {
            let mut back = transaction.prepare_cached(
                "update trial set state = 0, fence = 0 where run = ?1 and number = ?2 and fence = ?3 and state = 1",
            )?;
            for number in numbers {
                back.execute([lease.run.0, *number, lease.fence])?;
            }
            forget_lease(transaction, lease.run.0, lease.fence)
        })
    }

    fn retry(&self, lease: &Lease, number: i64, wait: i64) -> Result<(), LedgerError> {
        let at = (self.clock)().saturating_add(wait);
        self.change(|transaction| {
            transaction.execute(
                "update trial set state = 3, fence = 0, until = ?4, tries = tries + 1
                 where run = ?1 and number = ?2 and fence = ?3 and state = 1",
                [lease.run.0, number, lease.fence, at],
            )?;
            forget_lease(transaction, lease.run.0, lease.fence)
        })
    }

    fn take_back(&self, run: RunId) -> Result<usize, LedgerError> {
        self.change(|transaction| {
            let back = "update trial indexed by trial_held set state = 0, fence = 0 where run = ?1 and state = 1";
            let back = transaction.execute(back, [run.0])?;
            transaction.execute("delete from lease where run = ?1", [run.0])?;
            transaction.execute("delete from worker where run = ?1", [run.0])?;
            Ok(back)
        })
    }

    fn reopen_errors(&self, run: RunId) -> Result<usize, LedgerError> {
        self.change(|transaction| {
            let errors = "select number from trial indexed by trial_failed
                          where run = ?1 and failed = 1 and state = 2 order by number";
            let mut errors = transaction.prepare(errors)?;
            let numbers = errors.query_map([run.0], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
            for number in &numbers {
                transaction.execute(
                    "update trial set state = 0, record = null, link = null, failed = 0, until = 0, tries = 0
                     where run = ?1 and number = ?2",
                    params![run.0, number],
                )?;
                add_link(transaction, run.0, &number.to_string(), &Told::Again)?;
            }
            Ok(numbers.len())
        })
    }

    fn standing(&self, run: RunId) -> Result<Standing, LedgerError> {
        let now = (self.clock)();
        self.with(|connection| {
            let moment = connection.transaction()?;
            let count = |query: &str| -> Result<usize, Fault> {
                Ok(whole(moment.prepare_cached(query)?.query_row([run.0], |row| row.get(0))?))
            };
            // What is done is what is left: the other three are counted in indexes that are short when it matters.
            let tasks = count("select count(*) from task where run = ?1")?;
            let rest: String = moment.query_row("select plan from run where id = ?1", [run.0], |row| row.get(0))?;
            let planned = match joined(&rest, Vec::new())? {
                WorkPlan::Run(rest) => tasks.saturating_mul(rest.agents.len()).saturating_mul(rest.attempts as usize),
                other => other.items(),
            };
            let open = count("select count(*) from trial indexed by trial_open where run = ?1 and state = 0")?;
            let leased = count("select count(*) from trial indexed by trial_held where run = ?1 and state = 1")?;
            let waiting = count("select count(*) from trial indexed by trial_waiting where run = ?1 and state = 3")?;
            let errors = count("select count(*) from trial indexed by trial_failed where run = ?1 and failed = 1")?;
            let soonest = [
                "select number, 0 from trial indexed by trial_open where run = ?1 and state = 0 order by number limit 1",
                "select number, until from trial indexed by trial_waiting where run = ?1 and state = 3
                 order by until, number limit 1",
                // One that is held by nobody can never be had.
                "select number, coalesce(worker.until, 9223372036854775807) as at from trial indexed by trial_held
                 left join lease using (run, fence) left join worker on worker.id = lease.worker
                 where trial.run = ?1 and trial.state = 1 order by at, number limit 1",
            ];
            let mut next: Option<(i64, i64)> = None;
            for query in soonest {
                let mut found = moment.prepare_cached(query)?;
                let found: Option<(i64, i64)> =
                    found.query_row([run.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
                let found = found.map(|(number, at)| (number, at.saturating_sub(now).max(0)));
                next = [next, found].into_iter().flatten().min_by_key(|(_, wait)| *wait);
            }
            let recorded = planned.saturating_sub(open + leased + waiting);
            Ok(Standing { planned, recorded, errors, leased, next })
        })
    }

    fn work(&self, run: RunId) -> Result<WorkPlan, LedgerError> {
        self.with(|connection| plan_of(connection, run.0))
    }

    fn fences(&self, run: RunId) -> Result<Vec<i64>, LedgerError> {
        self.with(|connection| {
            let mut all = connection.prepare("select fence from lease where run = ?1 order by fence")?;
            Ok(all.query_map([run.0], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    fn chain(&self, run: RunId) -> Result<Chain, LedgerError> {
        self.with(|connection| {
            // All is of one moment: somebody may be recording trials.
            let moment = connection.transaction()?;
            let damage = damage(&moment)?;
            let plan = plan_of(&moment, run.0)?;
            let begun = "select name, digest from run where id = ?1";
            let (name, digest): (String, String) =
                moment.query_row(begun, [run.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let mut reader = Reader::new(&name, &plan, &digest);
            let mut links = moment.prepare(
                "select place, numbers, record, folder, segment, hash from link where run = ?1 order by place",
            )?;
            let mut links = links.query([run.0])?;
            while let Some(row) = links.next()? {
                let (place, told) = (row.get(0)?, Told::of((row.get(2)?, row.get(3)?, row.get(4)?)));
                let told = told.ok_or_else(|| Malformed(format!("link {place} tells nothing")))?;
                reader.link(Link { place, numbers: row.get(1)?, told, hash: row.get(5)? });
            }
            let mut rows = moment
                .prepare("select number, state, failed, link, record from trial where run = ?1 order by number")?;
            let mut rows = rows.query([run.0])?;
            while let Some(row) = rows.next()? {
                let is_done = row.get::<_, i64>(1)? == 2;
                let (number, link) = (row.get(0)?, row.get(3)?);
                reader.row(Row { number, is_done, is_error: row.get(2)?, link, record: row.get(4)? });
            }
            let mut chain = reader.end();
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
