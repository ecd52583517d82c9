//! The ledger in PostgreSQL, for many machines. All SQL for it stands here and in `postgres/tables.sql`.
//!
//! A claim begins at a random number and passes over rows that others are taking: who all begin at the first open one wait for each other. The
//! clock is the database's. Links of the chain are written by each finish and *sealed* afterwards, by whoever comes to it: they get their places
//! and hashes in the order in which they were committed, so that no finish waits for another.
//!
//! A server that goes away is waited for. Whatever is then asked again is asked so that it is done once: a claim by the fence that it was
//! given before, a finish by the name of its segment or the digests of its folder.

use crate::{
    Chain, Claim, Ended, Finish, Lease, LedgerError, LedgerStore, RunId, Standing, WorkerId,
    chain::{Link, MOST_IN_LINK, Reader, Row, Told, first_hash, next_hash},
    ledger::{Malformed, Written, joined, parts, read, written},
    numbers,
};
use ::postgres::{self, Client, Config, NoTls, Statement, Transaction, types::ToSql};
use benchwright_pack::{TaskLine, WorkPlan};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// The form of the tables.
const FORM: i32 = 1;
const TABLES: &str = include_str!("postgres/tables.sql");
/// The tables of one run, of which `N` is its number.
const RUN_TABLES: &str = include_str!("postgres/run.sql");
/// How long a server that went away is waited for, and how often it is asked.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(200);
/// Whoever makes tables or seals links holds these locks.
const MAKING: i64 = 0x6265_6e63;
const SEALING: i32 = 0x7365;
/// Rows that are read at a time.
const BATCH: i32 = 10_000;
/// Where the password is looked for, as every program of PostgreSQL does.
const PASSWORD: &str = "PGPASSWORD";

/// A ledger in a database.
pub struct PostgresLedger {
    config: Config,
    /// The address without a password, for messages.
    address: PathBuf,
    idle: Mutex<Vec<Connected>>,
    claims_in_order: bool,
}

/// A connection with the statements that it has prepared.
struct Connected {
    client: Client,
    statements: BTreeMap<String, Statement>,
}

/// Why a step failed, before it is said of which database.
enum Fault {
    /// The server went away, or two stood in each other's way: it may be asked again.
    Gone(String),
    Store(String),
    Malformed(String),
    Folder(std::io::Error),
}

/// States of SQL after which the same may be asked again: the server stops or starts, or two transactions stood in each other's way.
const PASSING: [&str; 5] = ["57P01", "57P02", "57P03", "40001", "40P01"];

impl From<postgres::Error> for Fault {
    fn from(error: postgres::Error) -> Fault {
        let io = std::error::Error::source(&error).is_some_and(|source| source.is::<std::io::Error>());
        let code = error.code().map(|code| code.code().to_owned());
        let passes = code.as_deref().is_some_and(|code| PASSING.contains(&code) || code.starts_with("08"));
        // What the server says is behind the error's own few words.
        let told = error.as_db_error().map_or_else(|| whole_of(&error), ToString::to_string);
        match error.is_closed() || io || passes {
            true => Fault::Gone(told),
            false => Fault::Store(told),
        }
    }
}

impl From<Malformed> for Fault {
    fn from(Malformed(why): Malformed) -> Fault {
        Fault::Malformed(why)
    }
}

fn whole_of(error: &postgres::Error) -> String {
    let source = std::error::Error::source(error).map(|source| format!(": {source}"));
    format!("{error}{}", source.unwrap_or_default())
}

type Parameters<'a> = [&'a (dyn ToSql + Sync)];

impl Connected {
    fn prepared(&mut self, sql: &str) -> Result<Statement, Fault> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn query(&mut self, sql: &str, parameters: &Parameters<'_>) -> Result<Vec<postgres::Row>, Fault> {
        let statement = self.prepared(sql)?;
        Ok(self.client.query(&statement, parameters)?)
    }

    fn execute(&mut self, sql: &str, parameters: &Parameters<'_>) -> Result<u64, Fault> {
        let statement = self.prepared(sql)?;
        Ok(self.client.execute(&statement, parameters)?)
    }

    fn one<T: for<'r> postgres::types::FromSql<'r>>(
        &mut self,
        sql: &str,
        parameters: &Parameters<'_>,
    ) -> Result<Option<T>, Fault> {
        self.query(sql, parameters)?.first().map(|row| row.try_get(0)).transpose().map_err(Fault::from)
    }
}

/// A statement about the trials of a run.
fn of(run: i64, sql: &str) -> String {
    sql.replace("trial_N", &format!("benchwright.trial_{run}"))
}

impl PostgresLedger {
    /// Opens the ledger of a database, `postgres://USER@HOST/DATABASE`, or makes its tables. The password is taken from `PGPASSWORD`.
    pub fn open_url(url: &str, password: Option<&str>) -> Result<PostgresLedger, LedgerError> {
        let fail = |why: String| LedgerError::Store { path: PathBuf::from("postgres"), why };
        let mut config: Config = url.parse().map_err(|error: postgres::Error| fail(whole_of(&error)))?;
        if config.get_password().is_some() {
            return Err(fail(format!(
                "its address has a password in it, which others would see; give it in {PASSWORD}"
            )));
        }
        if let Some(password) = password {
            config.password(password);
        }
        config.application_name("benchwright").connect_timeout(Duration::from_secs(10));
        let ledger =
            PostgresLedger { config, address: PathBuf::from(url), idle: Mutex::default(), claims_in_order: false };
        ledger.ask(&mut |to, _| ledger.make(to))?;
        Ok(ledger)
    }

    /// The same, but whose claims begin at the first open trial, to be measured beside those that do not.
    pub fn claiming_in_order(self) -> PostgresLedger {
        PostgresLedger { claims_in_order: true, ..self }
    }

    fn make(&self, to: &mut Connected) -> Result<(), Fault> {
        let mut transaction = to.client.transaction()?;
        transaction.execute("select pg_advisory_xact_lock($1)", &[&MAKING])?;
        let made = transaction.query_one("select to_regclass('benchwright.form') is not null", &[])?;
        if !made.try_get::<_, bool>(0)? {
            transaction.batch_execute(TABLES)?;
            transaction.execute("insert into benchwright.form values ($1)", &[&FORM])?;
        }
        let form: i32 = transaction.query_one("select form from benchwright.form", &[])?.try_get(0)?;
        if form != FORM {
            return Err(Fault::Malformed(format!("it is of form {form}, this program knows {FORM}")));
        }
        Ok(transaction.commit()?)
    }

    fn connected(&self) -> Result<Connected, Fault> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(connected) => Ok(connected),
            None => Ok(Connected { client: self.config.connect(NoTls)?, statements: BTreeMap::new() }),
        }
    }

    /// Asks the database, and again where it went away meanwhile; `work` is told whether it was asked before.
    fn ask<T>(&self, work: &mut dyn FnMut(&mut Connected, bool) -> Result<T, Fault>) -> Result<T, LedgerError> {
        let (begun, mut is_again) = (Instant::now(), false);
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let done = self.connected().and_then(|mut connected| {
                let done = work(&mut connected, is_again);
                if !matches!(done, Err(Fault::Gone(_))) {
                    idle().push(connected);
                }
                done
            });
            let path = self.address.clone();
            return match done {
                Ok(done) => Ok(done),
                Err(Fault::Gone(_)) if begun.elapsed() < PATIENCE => {
                    idle().clear();
                    is_again = true;
                    thread::sleep(PAUSE);
                    continue;
                }
                Err(Fault::Gone(why) | Fault::Store(why)) => Err(LedgerError::Store { path, why }),
                Err(Fault::Malformed(why)) => Err(LedgerError::Malformed { path, why }),
                Err(Fault::Folder(error)) => Err(LedgerError::Folder(error)),
            };
        }
    }

    /// Gives places and hashes to the links that were committed since. Where somebody else does it already it is left to them, unless it is
    /// waited for.
    fn seal(&self, to: &mut Connected, run: i64, waits: bool) -> Result<(), Fault> {
        loop {
            let mut transaction = to.client.transaction()?;
            let key = i32::try_from(run).unwrap_or(i32::MAX);
            if waits {
                transaction.execute("select pg_advisory_xact_lock($1, $2)", &[&SEALING, &key])?;
            } else if !transaction
                .query_one("select pg_try_advisory_xact_lock($1, $2)", &[&SEALING, &key])?
                .try_get::<_, bool>(0)?
            {
                return Ok(());
            }
            let (mut place, mut before) = last_of(&mut transaction, run)?;
            let open = "select id, numbers, record, folder, segment from benchwright.link
                        where run = $1 and place is null order by id limit 1000";
            let (mut ids, mut places, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
            for row in transaction.query(open, &[&run])? {
                let (numbers, told): (String, Told) = (row.try_get(1)?, told_by(&row, 2)?);
                place += 1;
                before = next_hash(&before, place, &numbers, &told);
                ids.push(row.try_get::<_, i64>(0)?);
                places.push(place);
                hashes.push(before.clone());
            }
            if ids.is_empty() {
                return Ok(());
            }
            let seal = "update benchwright.link set place = sealed.place, hash = sealed.hash
                        from unnest($1::bigint[], $2::bigint[], $3::text[]) as sealed (id, place, hash)
                        where link.id = sealed.id";
            transaction.execute(seal, &[&ids, &places, &hashes])?;
            transaction.commit()?;
        }
    }
}

/// The place and the hash of the last link that is sealed.
fn last_of(transaction: &mut Transaction<'_>, run: i64) -> Result<(i64, String), Fault> {
    let last =
        "select place, hash from benchwright.link where run = $1 and place is not null order by place desc limit 1";
    if let Some(row) = transaction.query_opt(last, &[&run])? {
        return Ok((row.try_get(0)?, row.try_get(1)?));
    }
    let row = transaction.query_one("select name, digest from benchwright.run where id = $1", &[&run])?;
    let (name, digest): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    Ok((0, first_hash(&name, &digest)))
}

/// What a link tells by its three columns, from this one on: record, folder, segment.
fn told_by(row: &postgres::Row, at: usize) -> Result<Told, Fault> {
    let told = Told::of((row.try_get(at)?, row.try_get(at + 1)?, row.try_get(at + 2)?));
    told.ok_or_else(|| Fault::Malformed("a link tells nothing".to_owned()))
}

/// The trials that can be had, in the order in which they are tried: from a number on, before it, those that waited long enough, and those of
/// workers that were not heard of. The parameters are fence, run, worker, most and the number.
const NEXT: [&str; 4] = [
    "select number from trial_N where state = 0 and number >= $5::bigint order by number limit $4::bigint for update skip locked",
    "select number from trial_N where state = 0 and number < $5::bigint order by number limit $4::bigint for update skip locked",
    "select number from trial_N where state = 3 and until <= clock_timestamp() and $5::bigint > 0 order by until, number limit $4::bigint
     for update skip locked",
    "select trial.number from benchwright.lease join benchwright.worker on worker.id = lease.worker
     join trial_N trial on trial.fence = lease.fence and trial.state = 1
     where lease.run = $2::bigint and worker.until <= clock_timestamp() and $5::bigint > 0 order by trial.number limit $4::bigint
     for update of trial skip locked",
];

fn taken(rows: &[postgres::Row]) -> Result<Vec<Claim>, Fault> {
    let claim = |row: &postgres::Row| {
        let tries: i32 = row.try_get(1)?;
        Ok(Claim { number: row.try_get(0)?, tries: u32::try_from(tries).unwrap_or(0) })
    };
    Ok(rows.iter().map(claim).collect::<Result<Vec<_>, postgres::Error>>()?)
}

impl LedgerStore for PostgresLedger {
    fn begin(&self, name: &str, plan: &WorkPlan, fresh: bool) -> Result<(RunId, bool), LedgerError> {
        let digest = plan.digest().to_string();
        self.ask(&mut |to, is_again| {
            let mut transaction = to.client.transaction()?;
            // Two who begin the same run begin one.
            transaction.execute("select pg_advisory_xact_lock($1)", &[&MAKING])?;
            if !fresh || is_again {
                let newest = "select id, name from benchwright.run where digest = $1 order by id desc limit 1";
                if let Some(row) = transaction.query_opt(newest, &[&digest])? {
                    let (id, known): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
                    if !fresh || known == name {
                        return Ok((RunId(id), is_again && known == name));
                    }
                }
            }
            let trials = i64::try_from(plan.items()).unwrap_or(i64::MAX);
            let (rest, tasks) = parts(plan)?;
            let insert =
                "insert into benchwright.run (name, digest, plan, trials) values ($1, $2, $3, $4) returning id";
            let run: i64 = transaction.query_one(insert, &[&name, &digest, &rest, &trials])?.try_get(0)?;
            let places: Vec<i64> = (1..).take(tasks.len()).collect();
            for (places, tasks) in places.chunks(BATCH as usize).zip(tasks.chunks(BATCH as usize)) {
                let lines = tasks.iter().map(written).collect::<Result<Vec<String>, Malformed>>()?;
                let insert = "insert into benchwright.task (run, place, line)
                              select $1, place, line from unnest($2::bigint[], $3::text[]) as told (place, line)";
                transaction.execute(insert, &[&run, &places, &lines])?;
            }
            transaction.batch_execute(&RUN_TABLES.replace("trial_N", &format!("trial_{run}")))?;
            transaction
                .execute(&of(run, "insert into trial_N (number) select generate_series(1, $1::bigint)"), &[&trials])?;
            transaction.commit()?;
            Ok((RunId(run), true))
        })
    }

    fn join(&self, run: RunId, hold: i64) -> Result<WorkerId, LedgerError> {
        self.ask(&mut |to, _| {
            let insert = "insert into benchwright.worker (run, hold, until)
                          values ($1, $2, clock_timestamp() + $2::bigint * interval '1 millisecond') returning id";
            let id: Option<i64> = to.one(insert, &[&run.0, &hold])?;
            id.map(WorkerId).ok_or_else(|| Fault::Malformed("a worker was not written down".to_owned()))
        })
    }

    fn keep(&self, worker: WorkerId) -> Result<(), LedgerError> {
        self.ask(&mut |to, _| {
            let kept = "update benchwright.worker set until = clock_timestamp() + hold * interval '1 millisecond'
                        where id = $1 returning run";
            match to.one(kept, &[&worker.0])? {
                Some(run) => {
                    // Leases of workers that were not heard of, once all of their trials were taken.
                    let empty = "delete from benchwright.lease where run = $1 and worker in
                                 (select id from benchwright.worker where until <= clock_timestamp()) and not exists
                                 (select 1 from trial_N trial where trial.fence = lease.fence and trial.state = 1)";
                    to.execute(&of(run, empty), &[&run])?;
                    self.seal(to, run, false)
                }
                None => Ok(()),
            }
        })
    }

    fn leave(&self, worker: WorkerId) -> Result<(), LedgerError> {
        self.ask(&mut |to, _| {
            let Some(run): Option<i64> = to.one("select run from benchwright.worker where id = $1", &[&worker.0])?
            else {
                return Ok(());
            };
            let mut transaction = to.client.transaction()?;
            let back = "update trial_N set state = 0, fence = 0
                        where state = 1 and fence in (select fence from benchwright.lease where worker = $1)";
            transaction.execute(&of(run, back), &[&worker.0])?;
            transaction.execute("delete from benchwright.lease where worker = $1", &[&worker.0])?;
            transaction.execute("delete from benchwright.worker where id = $1", &[&worker.0])?;
            transaction.commit()?;
            self.seal(to, run, false)
        })
    }

    fn claim(&self, worker: WorkerId, most: usize) -> Result<Option<Lease>, LedgerError> {
        let most = i64::try_from(most.clamp(1, MOST_IN_LINK)).unwrap_or(1);
        // Kept over a server that went away, so that what was claimed is not lost with its answer.
        let mut known: Option<(i64, i64, i64)> = None;
        self.ask(&mut |to, is_again| {
            // Who asks is alive.
            let kept = "update benchwright.worker set until = clock_timestamp() + hold * interval '1 millisecond' from benchwright.run
                        where worker.id = $1 and run.id = worker.run
                        returning run.id, nextval('benchwright.fence'), 1 + floor(random() * run.trials)::bigint";
            if known.is_none() {
                let rows = to.query(kept, &[&worker.0])?;
                let row = rows.first().ok_or_else(|| Fault::Malformed(format!("there is no worker {}", worker.0)))?;
                let from = if self.claims_in_order { 1 } else { row.try_get(2)? };
                known = Some((row.try_get(0)?, row.try_get(1)?, from));
            }
            let (run, fence, from) = known.unwrap_or_default();
            let lease = |trials: Vec<Claim>| Some(Lease { run: RunId(run), fence, trials });
            if is_again {
                let held = to.query(&of(run, "select number, tries from trial_N where fence = $1 and state = 1"), &[&fence])?;
                if !held.is_empty() {
                    let mut trials = taken(&held)?;
                    trials.sort_by_key(|claim| claim.number);
                    return Ok(lease(trials));
                }
            }
            let mut trials = Vec::new();
            for (nth, next) in NEXT.iter().enumerate() {
                // What is open from the number on is filled up with what is open before it.
                if !trials.is_empty() && nth > 1 {
                    break;
                }
                let left = most - i64::try_from(trials.len()).unwrap_or(most);
                if left == 0 {
                    break;
                }
                let claim = format!(
                    "with next as ({next}),
                     taken as (update trial_N trial set state = 1, fence = $1::bigint, until = null from next
                               where trial.number = next.number returning trial.number, trial.tries),
                     lease as (insert into benchwright.lease (fence, run, worker)
                               select $1::bigint, $2::bigint, $3::bigint where exists (select 1 from taken) on conflict do nothing)
                     select number, tries from taken"
                );
                trials.extend(taken(&to.query(&of(run, &claim), &[&fence, &run, &worker.0, &left, &from])?)?);
            }
            if trials.is_empty() {
                return Ok(None);
            }
            trials.sort_by_key(|claim| claim.number);
            Ok(lease(trials))
        })
    }

    fn finish(&self, lease: &Lease, mut ended: Ended<'_>) -> Result<Finish, LedgerError> {
        let (run, fence) = (lease.run.0, lease.fence);
        self.ask(&mut |to, is_again| {
            let (Written { told, record: text }, (numbers, errors)) = (ended.written()?, ended.numbers());
            let (record, folder, segment) = told.columns();
            // Asked before, it may have been done before the answer was lost.
            if is_again {
                let known = "select count(*) from trial_N trial join benchwright.link on link.id = trial.link
                             where trial.number = any($1) and trial.state = 2 and link.folder = $2
                             and link.record is not distinct from $3 and link.segment is not distinct from $4";
                let known: Option<i64> = to.one(&of(run, known), &[&numbers, &folder, &record, &segment])?;
                if known == i64::try_from(numbers.len()).ok() {
                    return Ok(Finish::Recorded);
                }
            }
            let link = to.prepared(
                "insert into benchwright.link (run, numbers, record, folder, segment) values ($1, $2, $3, $4, $5) returning id",
            )?;
            let done = to.prepared(&of(
                run,
                "update trial_N set state = 2, fence = 0, link = $1, record = $2, failed = number = any($3)
                 where number = any($4) and fence = $5 and state = 1",
            ))?;
            let empty = to.prepared(&of(
                run,
                "delete from benchwright.lease where fence = $1 and not exists
                 (select 1 from trial_N trial where trial.fence = $1 and trial.state = 1)",
            ))?;
            let mut transaction = to.client.transaction()?;
            let row = transaction.query_one(&link, &[&run, &numbers::written(numbers), &record, &folder, &segment])?;
            let id: i64 = row.try_get(0)?;
            let changed = transaction.execute(&done, &[&id, &text, &errors, &numbers, &fence])?;
            if usize::try_from(changed).ok() != Some(numbers.len()) {
                // The transaction ends with nothing done.
                return Ok(Finish::Stale);
            }
            transaction.execute(&empty, &[&fence])?;
            if let Ended::Folder { place, .. } = &mut ended {
                place().map_err(Fault::Folder)?;
            }
            transaction.commit()?;
            Ok(Finish::Recorded)
        })
    }

    fn give_back(&self, lease: &Lease, numbers: &[i64]) -> Result<(), LedgerError> {
        let back = "update trial_N set state = 0, fence = 0 where number = any($1) and fence = $2 and state = 1";
        self.back(lease, back, &[&numbers, &lease.fence])
    }

    fn retry(&self, lease: &Lease, number: i64, wait: i64) -> Result<(), LedgerError> {
        let back = "update trial_N set state = 3, fence = 0, tries = tries + 1,
                    until = clock_timestamp() + $3::bigint * interval '1 millisecond'
                    where number = $1 and fence = $2 and state = 1";
        self.back(lease, back, &[&number, &lease.fence, &wait])
    }

    fn take_back(&self, run: RunId) -> Result<usize, LedgerError> {
        self.ask(&mut |to, _| {
            let mut transaction = to.client.transaction()?;
            let back =
                transaction.execute(&of(run.0, "update trial_N set state = 0, fence = 0 where state = 1"), &[])?;
            transaction.execute("delete from benchwright.lease where run = $1", &[&run.0])?;
            transaction.execute("delete from benchwright.worker where run = $1", &[&run.0])?;
            transaction.commit()?;
            Ok(usize::try_from(back).unwrap_or(usize::MAX))
        })
    }

    fn reopen_errors(&self, run: RunId) -> Result<usize, LedgerError> {
        self.ask(&mut |to, _| {
            let mut transaction = to.client.transaction()?;
            let open = "update trial_N set state = 0, record = null, link = null, failed = false, until = null, tries = 0
                        where failed and state = 2 returning number";
            let rows = transaction.query(&of(run.0, open), &[])?;
            let mut numbers = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<i64>, _>>()?;
            numbers.sort_unstable();
            let told: Vec<String> = numbers.iter().map(i64::to_string).collect();
            let links = "insert into benchwright.link (run, numbers) select $1, numbers from unnest($2::text[]) as told (numbers)";
            transaction.execute(links, &[&run.0, &told])?;
            transaction.commit()?;
            Ok(numbers.len())
        })
    }

    fn standing(&self, run: RunId) -> Result<Standing, LedgerError> {
        self.ask(&mut |to, _| {
            let whole = |count: Option<i64>| usize::try_from(count.unwrap_or(0)).unwrap_or(0);
            let mut count = |sql: &str| -> Result<usize, Fault> { Ok(whole(to.one(&of(run.0, sql), &[])?)) };
            let open = count("select count(*) from trial_N where state = 0")?;
            let leased = count("select count(*) from trial_N where state = 1")?;
            let waiting = count("select count(*) from trial_N where state = 3")?;
            let errors = count("select count(*) from trial_N where failed")?;
            let planned = whole(to.one("select trials from benchwright.run where id = $1", &[&run.0])?);
            // One that is held by nobody can never be had.
            let millis =
                "coalesce(ceil(extract(epoch from (at - clock_timestamp())) * 1000)::bigint, 9223372036854775807)";
            let soonest = format!(
                "select number, greatest({millis}, 0) from (
                     (select number, clock_timestamp() as at from trial_N where state = 0 order by number limit 1)
                     union all (select number, until from trial_N where state = 3 order by until, number limit 1)
                     union all (select trial.number, worker.until from trial_N trial
                                left join benchwright.lease on lease.fence = trial.fence
                                left join benchwright.worker on worker.id = lease.worker
                                where trial.state = 1 order by worker.until nulls last, trial.number limit 1)
                 ) soonest order by at nulls last limit 1"
            );
            let rows = to.query(&of(run.0, &soonest), &[])?;
            let next = rows.first().map(|row| Ok::<_, Fault>((row.try_get(0)?, row.try_get(1)?))).transpose()?;
            let recorded = planned.saturating_sub(open + leased + waiting);
            Ok(Standing { planned, recorded, errors, leased, next })
        })
    }

    fn work(&self, run: RunId) -> Result<WorkPlan, LedgerError> {
        self.ask(&mut |to, _| plan_of(&mut to.client.transaction()?, run.0))
    }

    fn fences(&self, run: RunId) -> Result<Vec<i64>, LedgerError> {
        self.ask(&mut |to, _| {
            let rows = to.query("select fence from benchwright.lease where run = $1 order by fence", &[&run.0])?;
            Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
        })
    }

    fn chain(&self, run: RunId) -> Result<Chain, LedgerError> {
        self.ask(&mut |to, _| {
            self.seal(to, run.0, true)?;
            // All is of one moment: somebody may be recording trials.
            let moment = to.client.build_transaction().isolation_level(postgres::IsolationLevel::RepeatableRead);
            let mut moment = moment.read_only(true).start()?;
            let plan = plan_of(&mut moment, run.0)?;
            let begun = moment.query_one("select name, digest from benchwright.run where id = $1", &[&run.0])?;
            let (name, digest): (String, String) = (begun.try_get(0)?, begun.try_get(1)?);
            let mut reader = Reader::new(&name, &plan, &digest);
            // What was committed since it was sealed follows in the order in which it will be.
            let links = "select id, numbers, record, folder, segment, place, hash from benchwright.link
                         where run = $1 order by place nulls last, id";
            let (mut places, mut last) = (BTreeMap::new(), 0);
            each(&mut moment, links, &[&run.0], &mut |row| {
                let (numbers, told): (String, Told) = (row.try_get(1)?, told_by(row, 2)?);
                let sealed: (Option<i64>, Option<String>) = (row.try_get(5)?, row.try_get(6)?);
                let (place, hash) = match sealed {
                    (Some(place), Some(hash)) => (place, hash),
                    _ => (last + 1, next_hash(reader.head(), last + 1, &numbers, &told)),
                };
                last = place;
                places.insert(row.try_get::<_, i64>(0)?, place);
                reader.link(Link { place, numbers, told, hash });
                Ok(())
            })?;
            let rows = "select number, state, failed, link, record from trial_N order by number";
            each(&mut moment, &of(run.0, rows), &[], &mut |row| {
                let (state, link): (i16, Option<i64>) = (row.try_get(1)?, row.try_get(3)?);
                let link = link.map(|id| places.get(&id).copied().unwrap_or(0));
                let (number, is_error, record) = (row.try_get(0)?, row.try_get(2)?, row.try_get(4)?);
                reader.row(Row { number, is_done: state == 2, is_error, link, record });
                Ok(())
            })?;
            Ok(reader.end())
        })
    }

    fn runs(&self) -> Result<Vec<RunId>, LedgerError> {
        self.ask(&mut |to, _| {
            let rows = to.query("select id from benchwright.run order by id desc", &[])?;
            Ok(rows.iter().map(|row| row.try_get(0).map(RunId)).collect::<Result<_, _>>()?)
        })
    }

    fn named(&self, name: &str) -> Result<Option<RunId>, LedgerError> {
        self.ask(&mut |to, _| {
            let named = "select id from benchwright.run where name = $1 order by id desc limit 1";
            Ok(to.one(named, &[&name])?.map(RunId))
        })
    }

    fn name(&self, run: RunId) -> Result<String, LedgerError> {
        self.ask(&mut |to, _| {
            let name: Option<String> = to.one("select name from benchwright.run where id = $1", &[&run.0])?;
            name.ok_or_else(|| Fault::Malformed(format!("there is no run {}", run.0)))
        })
    }
}

impl PostgresLedger {
    /// Gives something of a lease back by a statement, and forgets the lease once nothing is held by it.
    fn back(&self, lease: &Lease, sql: &str, parameters: &Parameters<'_>) -> Result<(), LedgerError> {
        self.ask(&mut |to, _| {
            to.execute(&of(lease.run.0, sql), parameters)?;
            let empty = "delete from benchwright.lease where fence = $1 and not exists
                         (select 1 from trial_N trial where trial.fence = $1 and trial.state = 1)";
            to.execute(&of(lease.run.0, empty), &[&lease.fence])?;
            Ok(())
        })
    }
}

fn plan_of(transaction: &mut Transaction<'_>, run: i64) -> Result<WorkPlan, Fault> {
    let rest: String = transaction.query_one("select plan from benchwright.run where id = $1", &[&run])?.try_get(0)?;
    let mut tasks = Vec::new();
    each(transaction, "select line from benchwright.task where run = $1 order by place", &[&run], &mut |row| {
        tasks.push(read::<TaskLine>("a task of the plan", row.try_get(0)?)?);
        Ok(())
    })?;
    Ok(joined(&rest, tasks)?)
}

/// Goes through the rows of a query without holding them all.
fn each(
    transaction: &mut Transaction<'_>,
    sql: &str,
    parameters: &Parameters<'_>,
    row: &mut dyn FnMut(&postgres::Row) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let portal = transaction.bind(sql, parameters)?;
    loop {
        let rows = transaction.query_portal(&portal, BATCH)?;
        if rows.is_empty() {
            return Ok(());
        }
        rows.iter().try_for_each(&mut *row)?;
    }
}
