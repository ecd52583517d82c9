//! Tasks that are audited by whoever comes: an item is some of a shard's tasks, and what was found on them adds up.

use super::{begun, crew, give_back, ground, making, record, watch};
use crate::{
    Audit, AuditOptions, Error, Workshop,
    audits::{
        Depth,
        depth::{Choice, keep_record},
        shards::{Shard, as_a_whole, looked_at, read, tried},
    },
    runs::Runs,
    stream, suites,
};
use benchwright_audit::AuditReport;
use benchwright_base::Digest;
use benchwright_depot::Depot;
use benchwright_pack::{AuditPlan, ShardLine, Suite, Task, WorkPlan, store::SUITE_FILE, suite::LARGEST_SUITE};
use benchwright_run::{Craft, Finish, Lease, LedgerError, Progress, RunId, is_still};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

/// Tasks of an item: of those that ask no solver, and of those that may, which takes longer.
const PER_ITEM: u32 = 100;
const PER_ITEM_OF_SLOW: u32 = 20;
/// The largest document of an item that is read.
const LARGEST_PART: usize = 256 << 20;
/// Shards that are held in memory, for who has several of their items.
const MOST_READ: usize = 4;

/// What was found on an item.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    report: AuditReport,
    /// Tasks that could not be audited, each with the reason.
    errors: Vec<(String, String)>,
}

fn file_of(name: &str) -> String {
    format!("{name}.audit.json")
}

/// Where the parts of an audit are kept.
fn parts(runs: &Runs, run: &str) -> Depot {
    runs.kept(run).within("segments")
}

/// Plans the audit of tasks that are kept under a name, waits until all of them are audited, and says what was found, which is kept beside them
/// too. The same audit is taken up again. It must say how deep it goes.
pub fn plan_audit(workshop: &Workshop, runs: &Runs, name: &str, options: &AuditOptions) -> Result<Audit, Error> {
    let (Some(depth), None) = (options.depth, options.sample) else { return Err(Error::NoDepth) };
    let depot = runs.kept(name);
    let nothing = || Error::NoTasksIn(depot.place("").into());
    let locked = stream::locked(&depot)?.ok_or_else(nothing)?;
    let mut audit = Audit::default();
    let mut choice = Choice::new(workshop.catalog(), options);
    let shards = looked_at(workshop, &depot, locked, &mut choice, &mut audit)?;
    if !audit.errors.is_empty() {
        return Ok(audit);
    }
    let slow = suites::patterns_ask_solver(workshop.catalog(), choice.patterns(), options);
    let plan = AuditPlan {
        tasks: name.to_owned(),
        shards: shards
            .iter()
            .map(|shard| ShardLine { name: shard.name.clone(), tasks: shard.digests.len() as u32 })
            .collect(),
        per_item: if slow { PER_ITEM_OF_SLOW } else { PER_ITEM },
        trials: options.trials.clone(),
        samples: depth == Depth::Sample,
        drawn: if depth == Depth::Sample { choice.drawn().map(|task| task.to_string()).collect() } else { Vec::new() },
        patterns: choice.patterns().map(str::to_owned).collect(),
        ground: ground(workshop.catalog(), choice.patterns(), true),
    };
    let plan = WorkPlan::Audit { audit: plan };
    let run_name = format!("audit-{name}-{}", &plan.digest().to_string()[..12]);
    let run = begun(runs, &run_name, &plan)?;
    watch(workshop, runs, run)?;

    let kept = parts(runs, &run_name);
    sweep(runs, run, &kept)?;
    for (name, digest) in making::segments(runs, run, &run_name)? {
        let bad = |why: String| Error::Damaged { path: kept.place(&file_of(&name)).into(), why };
        let bytes = kept.get(&file_of(&name), LARGEST_PART)?;
        if Digest::of(&bytes).to_string() != digest {
            return Err(bad("it was changed after it was recorded: its digest differs".to_owned()));
        }
        let part: Part = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        audit.report.merge(part.report);
        audit.errors.extend(part.errors);
    }
    choice.prove(&mut audit.report);
    let suite = depot.get(SUITE_FILE, LARGEST_SUITE).ok();
    let suite = suite.and_then(|text| Suite::from_toml(SUITE_FILE, &String::from_utf8(text).ok()?).ok());
    if let (Some(suite), true) = (&suite, audit.errors.is_empty()) {
        audit.report.hold(&options.held(&suite.unbreakable));
    }
    let digests = || shards.iter().flat_map(|shard| &shard.digests);
    as_a_whole(&depot, &shards, digests().count(), suite.as_ref(), options, &mut audit)?;
    if audit.errors.is_empty() {
        let of = Digest::of_parts(digests().map(|digest| ("task", &digest.0[..])));
        keep_record(&depot, of, &audit.report)?;
    }
    Ok(audit)
}

/// Works on an audit.
pub(super) fn work(
    workshop: &Workshop,
    runs: &Runs,
    (run, name): (RunId, &str),
    plan: &AuditPlan,
    done: &Progress,
) -> Result<(), Error> {
    let catalog = workshop.catalog();
    let patterns = || plan.patterns.iter().map(|pattern| &**pattern);
    if ground(catalog, patterns(), true) != plan.ground {
        return Err(Error::OtherGround { run: name.to_owned() });
    }
    let depth = if plan.samples { Depth::Sample } else { Depth::All };
    let options = AuditOptions { trials: plan.trials.clone(), sample: None, depth: Some(depth) };
    if suites::patterns_ask_solver(catalog, patterns(), &options) {
        suites::solver_here()?;
    }
    let drawn: BTreeSet<Digest> = plan.drawn.iter().filter_map(|task| Digest::parse(task)).collect();
    let choice = Choice::planned(catalog, &options, drawn);
    let kept = parts(runs, name);
    sweep(runs, run, &kept)?;
    let (alone, tasks) = (workshop.clone().quiet().with_jobs(Some(1)), runs.kept(&plan.tasks));
    let read = Mutex::default();
    let auditing = Auditing { workshop: &alone, runs, plan, choice: &choice, tasks, kept, read, done };
    Ok(crew(workshop, runs).work_off(run, &auditing)?)
}

/// Removes what no finish named, where nobody may still name it.
fn sweep(runs: &Runs, run: RunId, kept: &Depot) -> Result<(), Error> {
    let there = kept.names("")?;
    if there.is_empty() || !is_still(&*runs.ledger, run)? {
        return Ok(());
    }
    let chain = runs.ledger.chain(run)?;
    let named: BTreeSet<String> = chain.segments.iter().map(|segment| file_of(&segment.name)).collect();
    for name in there.iter().filter(|name| !named.contains(*name)) {
        kept.remove(name)?;
    }
    Ok(())
}

struct Auditing<'a> {
    /// Each thread of it does one thing at a time.
    workshop: &'a Workshop,
    runs: &'a Runs,
    plan: &'a AuditPlan,
    choice: &'a Choice<'a>,
    tasks: Depot,
    kept: Depot,
    /// The shards that were read last.
    read: Mutex<BTreeMap<String, Arc<Vec<Task>>>>,
    done: &'a Progress,
}

impl Auditing<'_> {
    /// The tasks of a shard, which must be those of its lock.
    fn shard(&self, line: &ShardLine) -> Result<Arc<Vec<Task>>, Error> {
        let lock = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&line.name) {
            return Ok(Arc::clone(known));
        }
        let digests = stream::read_lock(&self.tasks, &line.name)?.into_iter().filter_map(Result::ok).collect();
        let tasks = Arc::new(read(&self.tasks, &Shard { name: line.name.clone(), digests })?);
        let mut all = lock();
        if all.len() >= MOST_READ {
            all.clear();
        }
        all.insert(line.name.clone(), Arc::clone(&tasks));
        Ok(tasks)
    }

    fn part(&self, number: i64) -> Result<Part, Error> {
        let lacks = |when: &str| LedgerError::Stuck { number, when: when.to_owned() };
        let (line, range) = self.plan.part(number).ok_or_else(|| lacks("never: the plan has no such part"))?;
        let tasks = self.shard(line)?;
        let tasks = tasks.get(range).ok_or_else(|| lacks("never: its shard has fewer tasks"))?;
        let mut errors = Vec::new();
        let report = tried(self.workshop, tasks, self.choice, &mut errors);
        match self.workshop.cancel().is_cancelled() {
            true => Err(Error::Cancelled),
            false => Ok(Part { report, errors }),
        }
    }
}

impl Craft for Auditing<'_> {
    fn most(&self) -> usize {
        100
    }

    fn work(&self, lease: &Lease) -> Result<(), LedgerError> {
        let undone = |error: Error| LedgerError::Undone(error.to_string());
        for (at, claim) in lease.trials.iter().enumerate() {
            let part = match self.part(claim.number) {
                Err(Error::Cancelled) => return give_back(self.runs, lease, at),
                found => found.map_err(undone)?,
            };
            let bytes = serde_json::to_vec(&part).map_err(|error| LedgerError::Undone(error.to_string()))?;
            let name = format!("{:08}-{}", lease.fence, claim.number);
            self.kept.put(&file_of(&name), &bytes).map_err(|error| undone(error.into()))?;
            if record(self.runs, lease, claim.number, (&name, Digest::of(&bytes)), self.done)? == Finish::Stale {
                self.kept.remove(&file_of(&name)).map_err(|error| undone(error.into()))?;
            }
        }
        Ok(())
    }
}
