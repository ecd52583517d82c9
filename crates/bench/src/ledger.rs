//! `bench ledger`: what it costs to give out trials and to record them, and whether that grows with the run. Workers claim leases and finish them
//! at once, in SQLite with a few threads, in PostgreSQL with many; there the claim from a random number on runs in turns with one that
//! begins at the first open trial. PostgreSQL is measured where `BENCHWRIGHT_POSTGRES` is the address of one, whose ledger is lost.

use crate::error::{Error, Result, hold};
use crate::measure::median;
use benchwright_base::Digest;
use benchwright_pack::{
    RunPlan, TaskLine,
    run::{Limits, RUN_VERSION},
};
use benchwright_run::{Ended, Finish, LedgerStore, PostgresLedger, RunId, SqliteLedger};
use benchwright_workshop::Temporary;
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

/// The fewest trials a second that PostgreSQL must bear with leases of 32.
const LEAST: f64 = 20_000.0;
/// How much slower a claim may be among many trials that are done.
const MOST_SLOWER: f64 = 1.5;
/// Connections to PostgreSQL.
const WORKERS: usize = 64;
const IN_LEASE: usize = 32;
const ADDRESS: &str = "BENCHWRIGHT_POSTGRES";

/// How a ledger was measured.
struct Rate {
    workers: usize,
    lease: usize,
    trials: usize,
    per_s: f64,
}

/// What was measured.
pub(super) struct Figures {
    sqlite: Rate,
    /// Microseconds of a claim, among few and among many trials that are done.
    sqlite_claim_us: (f64, f64),
    postgres: Option<InPostgres>,
}

struct InPostgres {
    random: Rate,
    ordered: Rate,
    single: Rate,
    done: (usize, usize),
    claim_us: (f64, f64),
}

impl Rate {
    fn to_json(&self) -> Json {
        let Rate { workers, lease, trials, per_s } = self;
        json!({ "workers": workers, "lease": lease, "trials": trials, "trials_per_s": per_s.round() })
    }
}

fn ratio((few, many): (f64, f64)) -> f64 {
    many / few.max(1e-9)
}

impl Figures {
    /// The bars that were missed.
    pub(super) fn missed(&self) -> Vec<&'static str> {
        let of = self.postgres.as_ref();
        let bars = [
            ("sqlite claim", ratio(self.sqlite_claim_us) <= MOST_SLOWER),
            ("postgres rate", of.is_none_or(|of| of.random.per_s >= LEAST)),
            ("postgres claim", of.is_none_or(|of| ratio(of.claim_us) <= MOST_SLOWER)),
        ];
        bars.iter().filter(|(_, held)| !held).map(|(name, _)| *name).collect()
    }

    /// The document of `--json`.
    pub(super) fn to_json(&self) -> Json {
        let claims = |us: (f64, f64)| json!({ "few_us": us.0.round(), "many_us": us.1.round(), "ratio": (ratio(us) * 100.0).round() / 100.0 });
        let of = |of: &InPostgres| {
            json!({
                "random": of.random.to_json(), "ordered": of.ordered.to_json(), "single": of.single.to_json(),
                "done": [of.done.0, of.done.1], "claim": claims(of.claim_us),
            })
        };
        json!({
            "sqlite": self.sqlite.to_json(), "sqlite_claim": claims(self.sqlite_claim_us),
            "postgres": self.postgres.as_ref().map(of), "missed": self.missed(),
        })
    }

    /// The same for a reader.
    pub(super) fn to_table(&self) -> String {
        let line = |name: &str, rate: &Rate| {
            format!(
                "  {name:<22} {:>9.0} trials a second: {} workers, leases of {}, {} trials\n",
                rate.per_s, rate.workers, rate.lease, rate.trials
            )
        };
        let claims = |name: &str, us: (f64, f64)| {
            format!("  {name:<22} {:>9.0} us among few that are done, {:.0} us among many\n", us.0, us.1)
        };
        let mut out = "trials claimed and recorded\n".to_owned();
        out.push_str(&line("SQLite", &self.sqlite));
        out.push_str(&claims("SQLite, a claim", self.sqlite_claim_us));
        match &self.postgres {
            None => out.push_str(&format!(
                "  PostgreSQL was not measured: {ADDRESS} is not set; `scripts/postgres up` prints one\n"
            )),
            Some(of) => {
                out.push_str(&line("PostgreSQL", &of.random));
                out.push_str(&line("PostgreSQL, in order", &of.ordered));
                out.push_str(&line("PostgreSQL, one by one", &of.single));
                out.push_str(&claims("PostgreSQL, a claim", of.claim_us));
            }
        }
        out
    }
}

fn plan(trials: usize) -> RunPlan {
    let line = |n: usize| TaskLine {
        id: format!("bench-{n}"),
        digest: Digest::of(&n.to_be_bytes()).to_string(),
        domain: "bench".to_owned(),
        pattern: "bench/ledger".to_owned(),
        tier: "easy".to_owned(),
        dials: Vec::new(),
        objective: "none".to_owned(),
        cluster: "bench/ledger".to_owned(),
        pair: None,
        obstacle: None,
        problem: None,
        horizon: 1,
        parameters: BTreeMap::new(),
    };
    let (agents, settings, limits) = (vec!["bench".to_owned()], BTreeMap::new(), Limits::default());
    let attempts = u32::try_from(trials / 100).unwrap_or(u32::MAX);
    RunPlan { version: RUN_VERSION, tasks: (0..100).map(line).collect(), agents, settings, attempts, limits }
}

/// Claims and records trials with so many workers, until so many are recorded or none is left.
fn rate(ledger: &dyn LedgerStore, run: RunId, workers: usize, lease: usize, most: usize) -> Result<Rate> {
    let recorded = AtomicUsize::new(0);
    let work = || -> Result<()> {
        let worker = ledger.join(run, 600_000)?;
        while recorded.load(Ordering::Relaxed) < most {
            let Some(held) = ledger.claim(worker, lease)? else { break };
            let numbers: Vec<i64> = held.trials.iter().map(|claim| claim.number).collect();
            let (name, digest) = (format!("{:08}-1", held.fence), Digest::of(&held.fence.to_be_bytes()).to_string());
            let ended = Ended::Segment { numbers: &numbers, errors: &[], name: &name, digest: &digest };
            hold!(ledger.finish(&held, ended)? == Finish::Recorded, "a lease was recorded twice");
            recorded.fetch_add(numbers.len(), Ordering::Relaxed);
        }
        Ok(ledger.leave(worker)?)
    };
    let begun = Instant::now();
    thread::scope(|scope| {
        let all: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        all.into_iter().try_for_each(|one| one.join().map_err(|_| Error::Wrong("a worker was lost".to_owned()))?)
    })?;
    let trials = recorded.into_inner();
    Ok(Rate { workers, lease, trials, per_s: trials as f64 / begun.elapsed().as_secs_f64() })
}

/// Microseconds of a claim of one trial, in the middle of some; each is given back.
fn claim_us(ledger: &dyn LedgerStore, run: RunId) -> Result<f64> {
    let worker = ledger.join(run, 600_000)?;
    let mut taken = Vec::new();
    for _ in 0..300 {
        let begun = Instant::now();
        let held = ledger.claim(worker, 1)?.ok_or_else(|| Error::Wrong("no trial is left to claim".to_owned()))?;
        taken.push(begun.elapsed().as_secs_f64() * 1e6);
        ledger.give_back(&held, &[held.trials[0].number])?;
    }
    ledger.leave(worker)?;
    Ok(median(taken))
}

/// Measures.
pub(super) fn run(quick: bool) -> Result<Figures> {
    let (small, large) = if quick { (1_000, 20_000) } else { (10_000, 1_000_000) };
    let folder = Temporary::new()?;
    let sqlite = SqliteLedger::open_file(&folder.path().join("ledger.sqlite"), Box::new(|| 0))?;
    let (few, _) = sqlite.open("few", &plan(2 * small), true)?;
    rate(&sqlite, few, 1, 1_000, small)?;
    let (many, _) = sqlite.open("many", &plan(large + small), true)?;
    let in_sqlite = rate(&sqlite, many, 2, 100, large)?;
    let sqlite_claim_us = (claim_us(&sqlite, few)?, claim_us(&sqlite, many)?);
    let postgres = std::env::var(ADDRESS).ok().map(|url| in_postgres(&url, quick)).transpose()?;
    Ok(Figures { sqlite: in_sqlite, sqlite_claim_us, postgres })
}

fn in_postgres(url: &str, quick: bool) -> Result<InPostgres> {
    let mut client = postgres::Client::connect(url, postgres::NoTls)?;
    client.batch_execute("drop schema if exists benchwright cascade")?;
    let ledger = PostgresLedger::open_url(url, None)?;
    let trials = if quick { 20_000 } else { 1_000_000 };
    let (run, _) = ledger.open("random", &plan(trials), true)?;
    let random = rate(&ledger, run, WORKERS, IN_LEASE, trials)?;
    // As it was before anybody knew better, on a run of its own.
    let in_order = PostgresLedger::open_url(url, None)?.claiming_in_order();
    let (run, _) = in_order.open("ordered", &plan(trials), true)?;
    let ordered = rate(&in_order, run, WORKERS, IN_LEASE, trials / 5)?;
    let (run, _) = ledger.open("single", &plan(trials), true)?;
    let single = rate(&ledger, run, WORKERS, 1, trials / 20)?;
    let done = if quick { (1_000, 100_000) } else { (10_000, 10_000_000) };
    let mut claims = [0.0; 2];
    for (claim, done) in claims.iter_mut().zip([done.0, done.1]) {
        let (run, _) = ledger.open("done", &plan(done + 10_000), true)?;
        // Recorded by one link, which is not looked at here.
        let link = "insert into benchwright.link (run, numbers, folder, segment) values ($1, '1', '', '') returning id";
        let link: i64 = client.query_one(link, &[&run.0])?.try_get(0)?;
        let is_done = format!("update benchwright.trial_{} set state = 2, link = $1 where number <= $2", run.0);
        client.execute(&is_done, &[&link, &i64::try_from(done)?])?;
        client.batch_execute(&format!("vacuum analyze benchwright.trial_{}", run.0))?;
        *claim = claim_us(&ledger, run)?;
    }
    Ok(InPostgres { random, ordered, single, done, claim_us: (claims[0], claims[1]) })
}
