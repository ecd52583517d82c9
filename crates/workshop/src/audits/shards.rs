//! The audit of a folder of Parquet shards: one shard at a time is in memory, and what was found adds up as it comes.

use super::{
    Audit, AuditOptions, UNFINISHED,
    depth::{Choice, Member, drop_record, keep_record},
    finished, tasks,
};
use crate::{
    Error, Progress, Step, Workshop, stream, suites,
    unfinished::{Log, declared, program},
};
use benchwright_audit::{
    AuditReport, Finding, Held, TRIALS,
    trials::suite::{LARGEST, SuiteMember, suite as whole_suite},
};
use benchwright_base::Digest;
use benchwright_depot::Depot;
use benchwright_export::ShardTask;
use benchwright_pack::{Store, Suite, Task};
use serde::Deserialize;
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Instant,
};

/// A shard whose tasks are those that were locked.
pub(crate) struct Shard {
    pub(crate) name: String,
    /// The digests of its tasks, in order.
    pub(crate) digests: Vec<Digest>,
}

/// What is looked at of every task before any is tried.
#[derive(Deserialize)]
struct Head {
    pattern: String,
    tier: String,
    objective: String,
}

/// How far the audit of one shard is, told as part of the audit of all.
struct Within {
    workshop: Workshop,
    before: usize,
    total: usize,
}

impl Progress for Within {
    fn step(&self, step: &Step<'_>) {
        let done = self.before + step.done;
        self.workshop.progress().step(&Step { done, total: self.total, ..*step });
    }
}

/// Audits the tasks of a folder of shards. Each is held to its digest and to what the shards were locked with; a shard that is not so
/// is told, and the others are audited. What was found is stored at the root of the folder, if every task could be audited.
pub(super) fn shards(workshop: &Workshop, root: &Path, options: &AuditOptions) -> Result<Audit, Error> {
    if options.sample.is_some() {
        return Err(Error::WholeShards(root.to_owned()));
    }
    let depot = Depot::folder(root);
    drop_record(root)?;
    let suite = Store::at(root).suite();
    let (locked, suite) = match stream::locked(&depot)? {
        // The lock file of a long stream is too long to be read; what it says of tasks stands in the locks.
        Some(locked) => (locked, suite.ok()),
        None => {
            let suite = suite?;
            (suite.tasks.iter().filter_map(|line| line.digest).collect(), Some(suite))
        }
    };
    let mut audit = Audit::default();
    let mut choice = Choice::new(workshop.catalog(), options);
    let shards = looked_at(workshop, &depot, locked, &mut choice, &mut audit)?;
    if suites::patterns_ask_solver(workshop.catalog(), choice.patterns(), options) {
        suites::solver_here()?;
    }

    let digests = || shards.iter().flat_map(|shard| &shard.digests);
    let total = digests().count();
    let of = Digest::of_parts(digests().map(|digest| ("task", &digest.0[..])));
    let sizes: Vec<usize> = shards.iter().map(|shard| shard.digests.len()).collect();
    let declared = Digest::of(declared(workshop.catalog(), choice.patterns(), true).as_bytes());
    let work = json!({
        "auditing": of, "shards": sizes, "declared": declared, "program": program(),
        "trials": options.trials, "depth": options.depth,
    });
    let (mut log, done) = Log::take_up::<AuditReport>(&root.join(UNFINISHED), &work)?;
    let mut done: BTreeMap<usize, AuditReport> = done.into_iter().collect();
    let mut before = 0;
    for (at, shard) in shards.iter().enumerate() {
        let report = match done.remove(&at) {
            Some(report) => report,
            None => {
                let progress = Within { workshop: workshop.clone(), before, total };
                let errors = audit.errors.len();
                let read = read(&depot, shard)?;
                let report = tried(&workshop.clone().with_progress(progress), &read, &choice, &mut audit.errors);
                if workshop.cancel().is_cancelled() {
                    return Err(Error::Cancelled);
                }
                // What could not be audited is tried again when the audit is.
                if audit.errors.len() == errors {
                    log.note(at, &report)?;
                }
                report
            }
        };
        audit.report.merge(report);
        before += shard.digests.len();
    }
    workshop.progress().over();
    choice.prove(&mut audit.report);
    if let (Some(suite), true) = (&suite, audit.errors.is_empty()) {
        audit.report.hold(&options.held(&suite.unbreakable));
    }
    let mut audit = finished(workshop, audit)?;
    as_a_whole(&depot, &shards, total, suite.as_ref(), options, &mut audit)?;
    if audit.errors.is_empty() {
        keep_record(&depot, of, &audit.report)?;
    }
    log.finish()?;
    Ok(audit)
}

/// Holds every shard to its digests and to the locks before any task is tried.
pub(crate) fn looked_at(
    workshop: &Workshop,
    depot: &Depot,
    mut locked: BTreeSet<Digest>,
    choice: &mut Choice<'_>,
    audit: &mut Audit,
) -> Result<Vec<Shard>, Error> {
    let mut shards = Vec::new();
    for name in stream::names_in(depot)? {
        if workshop.cancel().is_cancelled() {
            return Err(Error::Cancelled);
        }
        match members(depot, &name, &mut locked) {
            Ok(members) => {
                members.iter().for_each(|member| choice.see(member));
                shards.push(Shard { name, digests: members.iter().map(|member| member.digest).collect() });
            }
            Err(why) => audit.errors.push((name, why)),
        }
    }
    if !locked.is_empty() {
        let why = format!("{} of the tasks that were locked are in no shard that could be read", locked.len());
        audit.errors.push((depot.place(""), why));
    }
    Ok(shards)
}

/// The tasks of a shard, which are taken out of those that were locked.
fn members(depot: &Depot, name: &str, locked: &mut BTreeSet<Digest>) -> Result<Vec<Member>, String> {
    let mut members = Vec::new();
    let mut own = BTreeSet::new();
    for task in stream::read_shard(depot, name).map_err(|error| error.to_string())? {
        if !locked.contains(&task.digest) || !own.insert(task.digest) {
            return Err("its tasks are not those that were locked".to_owned());
        }
        members.push(member(&task).map_err(|error| format!("a sealed part cannot be read: {error}"))?);
    }
    for digest in &own {
        locked.remove(digest);
    }
    Ok(members)
}

fn member(task: &ShardTask) -> Result<Member, serde_json::Error> {
    let head: Head = serde_json::from_slice(&task.sealed)?;
    Ok(Member::new(&head.pattern, &head.tier, &head.objective, task.digest))
}

/// The tasks of a shard, which must be those that were looked at.
pub(crate) fn read(depot: &Depot, shard: &Shard) -> Result<Vec<Task>, Error> {
    let (rows, place) = (stream::read_shard(depot, &shard.name)?, depot.place(&shard.name).into());
    if !rows.iter().map(|row| row.digest).eq(shard.digests.iter().copied()) {
        return Err(Error::Damaged { path: place, why: "it was changed while it was audited".to_owned() });
    }
    let tasks = rows.into_iter().map(|row| row.read(&place));
    Ok(tasks.collect::<Result<_, _>>()?)
}

/// What the trials find on the tasks of a shard.
pub(crate) fn tried(
    workshop: &Workshop,
    read: &[Task],
    choice: &Choice<'_>,
    errors: &mut Vec<(String, String)>,
) -> AuditReport {
    let of = |task: &Task| Member::new(&task.sealed.pattern, &task.sealed.tier, &task.sealed.objective, task.digest());
    let mut report = AuditReport::default();
    let answers = tasks(workshop, read, &|task| choice.trials(&of(task)));
    for (task, answer) in read.iter().zip(answers) {
        choice.tally(&of(task), answer.as_ref().ok(), &mut report);
        match answer {
            Ok(found) => report.add(&found),
            Err(why) => errors.push((task.open.id.clone(), why.to_string())),
        }
    }
    report
}

/// Tries the shards as a suite, where they are few enough.
pub(crate) fn as_a_whole(
    depot: &Depot,
    shards: &[Shard],
    total: usize,
    suite: Option<&Suite>,
    options: &AuditOptions,
    audit: &mut Audit,
) -> Result<(), Error> {
    if !TRIALS.iter().any(|trial| trial.whole && options.wants(trial.name)) {
        return Ok(());
    }
    let begun = Instant::now();
    let finding = match suite {
        _ if total > LARGEST => {
            let why = format!("the shards have {total} tasks, and of more than {LARGEST} no two are compared");
            Finding::new(Held::Na(why))
        }
        Some(suite) if audit.errors.is_empty() => {
            let mut members = Vec::new();
            for shard in shards {
                members.extend(read(depot, shard)?.iter().map(SuiteMember::of));
            }
            whole_suite(suite, &members, &audit.report)
        }
        Some(_) => Finding::new(Held::NoVerdict("not every task of the suite could be audited".to_owned())),
        None => Finding::new(Held::NoVerdict("the lock file cannot be read".to_owned())),
    };
    let name = suite.map_or("the shards", |suite| &suite.name);
    audit.report.add_suite(name, finding, begun.elapsed().as_secs_f64());
    Ok(())
}
