//! Audits: which tasks and trials are chosen, the trials run by workers, and what was found kept beside each task.

pub(crate) mod depth;
pub(crate) mod shards;

pub use depth::{DRAWN, Depth, lines, proved};

use crate::{
    Answer, AuditRequest, Error, Maker, Request, Temporary, Workers, Workshop,
    progress::Work,
    suites,
    unfinished::{Log, ground},
    work::pool::{self, Event},
};
use benchwright_audit::{
    AuditReport, Finding, Held, TRIALS, TaskReport,
    trials::suite::{SuiteMember, suite as whole_suite},
};
use benchwright_base::{Digest, nearest};
use benchwright_catalog::Catalog;
use benchwright_depot::Depot;
use benchwright_export::is_sharded;
use benchwright_pack::{SEALED_TREE, Store, StoreError, Suite, SuiteTask, Task, store::SUITE_FILE};
use depth::{Choice, Member};
use serde_json::json;
use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

/// What an audit has found so far, while it is not finished.
const UNFINISHED: &str = "audit.unfinished.jsonl";
/// What the work is called where it is told how far it is.
const AUDITING: &str = "auditing tasks";

/// What is audited, and how.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditOptions {
    /// The trials, by name; none for all of them.
    pub trials: Vec<String>,
    /// So many tasks only, spread over the patterns.
    pub sample: Option<usize>,
    /// How many tasks the trials are run on; if nothing is said, the costly ones on three of each pattern unless they are named.
    pub depth: Option<Depth>,
}

impl AuditOptions {
    /// The trials that fit every family and ask no solver.
    pub fn without_solver() -> AuditOptions {
        let trials = TRIALS.iter().filter(|trial| !trial.asks_solver()).map(|trial| trial.name.to_owned());
        AuditOptions { trials: trials.collect(), ..AuditOptions::default() }
    }

    /// Whether a trial is among them.
    fn wants(&self, name: &str) -> bool {
        self.trials.is_empty() || self.trials.iter().any(|known| known == name)
    }

    /// The shares of a lock file that an audit can be held to: those of trials that are run on the same tasks as when nothing is said of
    /// the depth.
    pub(crate) fn held(&self, locked: &BTreeMap<String, u32>) -> BTreeMap<String, u32> {
        let is_alike = |name: &str| {
            let trial = TRIALS.iter().find(|trial| trial.name == name);
            trial.is_some_and(|trial| match self.depth {
                None => true,
                Some(Depth::All) => !trial.sampled,
                Some(Depth::Sample) => !trial.sampled && !trial.drawn,
            })
        };
        locked.iter().filter(|(name, _)| is_alike(name)).map(|(name, share)| (name.clone(), *share)).collect()
    }

    /// Whether a trial is among them that may ask a solver.
    pub(crate) fn asks_solver(&self) -> bool {
        TRIALS.iter().any(|trial| trial.asks_solver() && self.wants(trial.name))
    }
}

/// The first name that no trial has, with what is likely meant.
pub fn no_trial(names: &[String]) -> Option<(&str, String)> {
    let name = names.iter().find(|name| !TRIALS.iter().any(|trial| trial.name == **name))?;
    let known = || TRIALS.iter().map(|trial| trial.name);
    let near = nearest(name, known()).map(|near| format!("--trial {near}"));
    Some((name, near.unwrap_or_else(|| known().collect::<Vec<_>>().join(", "))))
}

/// What was audited, and what could not be.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// What the trials found.
    pub report: AuditReport,
    /// The tasks that could not be audited, each with the reason.
    pub errors: Vec<(String, String)>,
}

impl Audit {
    /// Whether there was something to audit and nothing was found.
    pub fn is_clean(&self) -> bool {
        self.errors.is_empty() && self.report.tasks > 0 && self.report.clean()
    }
}

/// Audits the tasks of a folder. What is found is stored beside each task, and of shards at the root of the folder, as is what a sample
/// proves. An audit that was cut off goes on where it stopped when it is given the same folder and choices.
pub fn folder(workshop: &Workshop, store: &Store, options: &AuditOptions) -> Result<Audit, Error> {
    if is_sharded(store.root()) {
        return shards::shards(workshop, store.root(), options);
    }
    if options.depth == Some(Depth::Sample) {
        depth::drop_record(store.root())?;
    }
    let mut audit = Audit::default();
    let suite = store.suite()?;
    let wanted = chosen(&suite, options.sample);
    let ids = ids(store, &suite, &wanted, &mut audit)?;
    let choice = choice(workshop.catalog(), &ids, options);
    let requests = requests(&choice, store, &ids);
    let asked = serde_json::to_vec(&requests).unwrap_or_default();
    let work = json!({ "auditing": ground(workshop.catalog(), &suite), "asked": Digest::of(&asked).to_string() });
    let (mut log, done) = Log::take_up::<TaskReport>(&store.root().join(UNFINISHED), &work)?;
    let reports = run_trials(workshop, &requests, done.into_iter().collect(), Some(&mut log), &mut audit)?;
    tally(&choice, &ids, &reports, &mut audit);
    hold(&mut audit, &suite, options);
    keep(store, &ids, &reports)?;
    let mut audit = finished(workshop, audit)?;
    as_a_whole(store, &suite, &ids, options, &mut audit)?;
    let is_whole = options.depth == Some(Depth::Sample) && options.sample.is_none() && audit.errors.is_empty();
    if let (Some(of), true) = (suite.digest(), is_whole) {
        depth::keep_record(&Depot::folder(store.root()), of, &audit.report)?;
    }
    log.finish()?;
    Ok(audit)
}

/// Audits the tasks of a suite, which is made into a temporary folder first.
pub fn suite(workshop: &Workshop, suite: &Suite, options: &AuditOptions) -> Result<Audit, Error> {
    let mut audit = Audit::default();
    let wanted = chosen(suite, options.sample);
    let tasks = wanted.iter().map(|at| suite.tasks[*at].clone()).collect();
    let folder = Temporary::new().map_err(Error::io(&std::env::temp_dir()))?;
    let store = Store::at(folder.path());
    let built = suites::make(workshop, &Suite { tasks, ..suite.clone() }, &store, true)?;
    for (line, short) in &built.short {
        audit.errors.push((suites::named(line), short.why.clone()));
    }
    let mut ids = Vec::new();
    for (line, made) in &built.made {
        let digest = Digest::parse(&made.digest).ok_or(Error::Worker)?;
        ids.push((made.id.clone(), member(line, digest)));
    }
    let choice = choice(workshop.catalog(), &ids, options);
    let reports = run_trials(workshop, &requests(&choice, &store, &ids), BTreeMap::new(), None, &mut audit)?;
    tally(&choice, &ids, &reports, &mut audit);
    hold(&mut audit, suite, options);
    let mut audit = finished(workshop, audit)?;
    as_a_whole(&store, suite, &ids, options, &mut audit)?;
    Ok(audit)
}

/// Why the trials of a task could not be run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotAudited(pub String);

/// Runs trials, by name, on tasks wherever they come from, and says what they found or why they could not be run, in the order of the
/// tasks. Where no solver is asked, threads of this process do it, else the workers, from a temporary store.
pub fn tasks(
    workshop: &Workshop,
    tasks: &[Task],
    trials: &dyn Fn(&Task) -> Vec<String>,
) -> Vec<Result<TaskReport, NotAudited>> {
    let cancelled = || Err(NotAudited("the work was cancelled before it".to_owned()));
    let mut found: Vec<Result<TaskReport, NotAudited>> = tasks.iter().map(|_| cancelled()).collect();
    let asked: Vec<(usize, &Task, Vec<String>)> =
        tasks.iter().enumerate().map(|(at, task)| (at, task, trials(task))).collect();
    let (there, here): (Vec<_>, Vec<_>) =
        asked.into_iter().partition(|(_, task, trials)| asks_solver(workshop.catalog(), task, trials));

    let own = workshop.clone().with_workers(Workers::Threads);
    let ask = |maker: &mut Maker<'_>, (_, task, trials): &(usize, &Task, Vec<String>)| {
        let found = catch_unwind(AssertUnwindSafe(|| maker.audit_task(task, trials, None)));
        found
            .unwrap_or_else(|_| {
                maker.forget();
                Err(Error::Panicked)
            })
            .map_err(|error| error.to_string())
    };
    let mut work = Work::begin(workshop.progress(), AUDITING, 0, tasks.len());
    let answers =
        pool::run(&here, workshop.jobs(), workshop.cancel(), &|| Maker::new(&own), &ask, &mut |event| match event {
            Event::Begun(at) => work.begun(&here[at].1.open.id),
            Event::Answered(at, _) => work.done(&here[at].1.open.id),
        });
    for ((at, ..), answer) in here.iter().zip(answers) {
        found[*at] = answer.map_or_else(cancelled, |found| found.map_err(NotAudited));
    }
    drop(work);
    if there.is_empty() {
        return found;
    }
    let written = Temporary::new().map_err(|error| error.to_string()).and_then(|folder| {
        let store = Store::at(folder.path());
        let write = |(_, task, _): &(usize, &Task, _)| store.write(task).map_err(|error| error.to_string());
        there.iter().try_for_each(write).map(|()| folder)
    });
    let folder = match written {
        Ok(folder) => folder,
        Err(why) => {
            there.iter().for_each(|(at, ..)| found[*at] = Err(NotAudited(why.clone())));
            return found;
        }
    };
    let request = |(_, task, trials): &(usize, &Task, Vec<String>)| {
        Request::Audit(AuditRequest {
            store: folder.path().to_owned(),
            id: task.open.id.clone(),
            digest: task.digest(),
            trials: trials.clone(),
        })
    };
    let requests: Vec<Request> = there.iter().map(request).collect();
    let answers = workshop.ask(AUDITING, &requests, here.len(), &mut |_, _| ());
    for ((at, ..), answer) in there.iter().zip(answers) {
        found[*at] = answer.map_or_else(cancelled, |answer| audited(answer).map_err(NotAudited));
    }
    found
}

/// Whether trials of a task may ask a solver, which is native code and has a process of its own.
fn asks_solver(catalog: &Catalog, task: &Task, trials: &[String]) -> bool {
    let may = || TRIALS.iter().any(|trial| trial.asks_solver() && trials.iter().any(|name| name == trial.name));
    let family = || catalog.family(&task.sealed.family, &task.open.domain).ok();
    task.sealed.effects.is_none() && may() && family().is_some_and(|family| family.optimised().is_some())
}

fn audited(answer: Result<Answer, String>) -> Result<TaskReport, String> {
    match answer? {
        Answer::Audited(report) => Ok(report),
        Answer::Failed(failed) => Err(failed.why),
        Answer::Made(_) | Answer::Attempts(_) => Err(Error::Worker.to_string()),
    }
}

fn member(line: &SuiteTask, digest: Digest) -> Member {
    Member::new(&line.pattern, &line.tier, &line.objective, digest)
}

/// The trials of tasks, all of which are seen.
fn choice<'a>(catalog: &'a Catalog, ids: &[(String, Member)], options: &'a AuditOptions) -> Choice<'a> {
    let mut choice = Choice::new(catalog, options);
    ids.iter().for_each(|(_, member)| choice.see(member));
    choice
}

/// Says what the samples of cells prove.
fn tally(choice: &Choice<'_>, ids: &[(String, Member)], reports: &[TaskReport], audit: &mut Audit) {
    let by_id: BTreeMap<&str, &TaskReport> = reports.iter().map(|report| (&*report.id, report)).collect();
    for (id, member) in ids {
        choice.tally(member, by_id.get(&**id).copied(), &mut audit.report);
    }
    choice.prove(&mut audit.report);
}

/// Tries the suite as a whole, once its tasks are audited. Of a part of it nothing can be said.
fn as_a_whole(
    store: &Store,
    suite: &Suite,
    ids: &[(String, Member)],
    options: &AuditOptions,
    audit: &mut Audit,
) -> Result<(), Error> {
    if !TRIALS.iter().any(|trial| trial.whole && options.wants(trial.name)) {
        return Ok(());
    }
    let begun = Instant::now();
    let finding = if options.sample.is_some() {
        Finding::new(Held::Na(format!("{} of {} tasks were audited", ids.len(), suite.tasks.len())))
    } else if !audit.errors.is_empty() {
        Finding::new(Held::NoVerdict("not every task of the suite could be audited".to_owned()))
    } else {
        let mut members = Vec::new();
        for (id, _) in ids {
            members.push(SuiteMember::of(&store.unlocked_task(id)?));
        }
        whole_suite(suite, &members, &audit.report)
    };
    audit.report.add_suite(&suite.name, finding, begun.elapsed().as_secs_f64());
    Ok(())
}

/// Holds what could not be broken to the lock file, where all of the suite was audited.
fn hold(audit: &mut Audit, suite: &Suite, options: &AuditOptions) {
    if options.sample.is_none_or(|sample| sample >= suite.tasks.len()) && audit.errors.is_empty() {
        audit.report.hold(&options.held(&suite.unbreakable));
    }
}

fn finished(workshop: &Workshop, audit: Audit) -> Result<Audit, Error> {
    if workshop.cancel().is_cancelled() { Err(Error::Cancelled) } else { Ok(audit) }
}

/// Which lines are audited: all of them, or the first of every pattern, then the second, and so on, in their order.
fn chosen(suite: &Suite, sample: Option<usize>) -> Vec<usize> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, usize)> = Vec::new();
    for (at, line) in suite.tasks.iter().enumerate() {
        let rank = seen.entry(&line.pattern).or_default();
        ranked.push((*rank, at));
        *rank += 1;
    }
    ranked.sort_unstable();
    let mut wanted: Vec<usize> = ranked.iter().map(|(_, at)| *at).take(sample.unwrap_or(usize::MAX)).collect();
    wanted.sort_unstable();
    wanted
}

/// The ids of the chosen tasks of a folder, in the order of its lock file, which every task is held to.
fn ids(store: &Store, suite: &Suite, wanted: &[usize], audit: &mut Audit) -> Result<Vec<(String, Member)>, Error> {
    type Key<'a> = (&'a str, &'a str, &'a str, u64, Option<&'a str>);
    let mut lines: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    for (at, line) in suite.tasks.iter().enumerate() {
        let key = (&*line.pattern, &*line.tier, &*line.objective, line.seed, line.reading.as_deref());
        lines.entry(key).or_insert(at);
    }
    let held = |id: &str| {
        let task = store.unlocked_task(id)?;
        let sealed = &task.sealed;
        let key = (&*sealed.pattern, &*sealed.tier, &*sealed.objective, sealed.seed, sealed.reading.as_deref());
        let at = lines.get(&key).filter(|_| suite.split == sealed.split);
        let locked = at.and_then(|at| Some((*at, suite.tasks[*at].digest?)));
        let (at, digest) =
            locked.ok_or_else(|| StoreError::NotLocked { path: store.root().join(SUITE_FILE), id: id.to_owned() })?;
        match task.digest() == digest {
            true => Ok((at, digest)),
            false => Err(StoreError::Digest(store.root().join(SEALED_TREE).join(id))),
        }
    };
    let mut by_line: BTreeMap<usize, (String, Digest)> = BTreeMap::new();
    for id in store.ids()? {
        match held(&id) {
            Ok((at, digest)) => {
                by_line.insert(at, (id, digest));
            }
            Err(error) => audit.errors.push((id, error.to_string())),
        }
    }
    let mut found = Vec::new();
    for at in wanted {
        let line = &suite.tasks[*at];
        match by_line.remove(at) {
            Some((id, digest)) => found.push((id, member(line, digest))),
            None => audit.errors.push((suites::named(line), "it is not in the folder".to_owned())),
        }
    }
    Ok(found)
}

/// Which trials are run on tasks.
fn requests(choice: &Choice<'_>, store: &Store, ids: &[(String, Member)]) -> Vec<AuditRequest> {
    let request = |(id, member): &(String, Member)| AuditRequest {
        store: store.root().to_owned(),
        id: id.clone(),
        digest: member.digest,
        trials: choice.trials(member),
    };
    ids.iter().map(request).collect()
}

/// Runs the trials, but for the requests that were answered before. Each new answer is noted in the log.
fn run_trials(
    workshop: &Workshop,
    requests: &[AuditRequest],
    mut done: BTreeMap<usize, TaskReport>,
    mut log: Option<&mut Log>,
    audit: &mut Audit,
) -> Result<Vec<TaskReport>, Error> {
    done.retain(|at, report| requests.get(*at).is_some_and(|request| request.id == report.id));
    let open: Vec<usize> = (0..requests.len()).filter(|at| !done.contains_key(at)).collect();
    let asked: Vec<Request> = open.iter().map(|at| Request::Audit(requests[*at].clone())).collect();
    let mut noted = Ok(());
    let answers = workshop.ask(AUDITING, &asked, done.len(), &mut |at, answer| {
        if let (Some(log), Ok(Answer::Audited(report)), Ok(())) = (&mut log, answer, &noted) {
            noted = log.note(open[at], report);
        }
    });
    noted?;
    let mut answers: BTreeMap<usize, _> = open.into_iter().zip(answers).collect();
    let mut reports = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        let known = done.remove(&at).map(|report| Ok(Answer::Audited(report)));
        match known.or_else(|| answers.remove(&at).flatten()).map(audited) {
            // The work was cancelled before it.
            None => {}
            Some(Ok(report)) => {
                audit.report.add(&report);
                reports.push(report);
            }
            Some(Err(why)) => audit.errors.push((request.id.clone(), why)),
        }
    }
    Ok(reports)
}

/// Stores what was found beside each task. Trials that were not run this time keep what they found on the same task.
fn keep(store: &Store, ids: &[(String, Member)], reports: &[TaskReport]) -> Result<(), Error> {
    let digests: BTreeMap<&str, Digest> = ids.iter().map(|(id, member)| (&**id, member.digest)).collect();
    for report in reports {
        let task = store.unlocked_task(&report.id)?;
        if digests.get(&*report.id) != Some(&task.digest()) {
            return Err(StoreError::Digest(store.root().join(SEALED_TREE).join(&report.id)).into());
        }
        let known = store.audit(&task)?;
        let bad = |error: serde_json::Error| Error::StoredAudit { id: report.id.clone(), why: error.to_string() };
        let mut trials: BTreeMap<String, Finding> = match known {
            Some(known) => serde_json::from_value(known.trials).map_err(bad)?,
            None => BTreeMap::new(),
        };
        trials.extend(report.trials.clone());
        store.write_audit(&task, serde_json::to_value(trials).map_err(bad)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_is_none_is_told_with_the_nearest() {
        assert_eq!(no_trial(&["idle".to_owned(), "oracle".to_owned()]), None);
        assert_eq!(no_trial(&["orcle".to_owned()]), Some(("orcle", "--trial oracle".to_owned())));
    }

    #[test]
    fn a_sample_is_spread_over_the_patterns_and_keeps_the_order() {
        let line = |pattern: &str, seed| SuiteTask {
            pattern: pattern.to_owned(),
            tier: "easy".to_owned(),
            objective: "feasibility".to_owned(),
            seed,
            reading: None,
            digest: None,
            cluster: None,
        };
        let tasks = vec![line("a/a", 1), line("a/a", 2), line("a/a", 3), line("b/b", 1), line("b/b", 2)];
        let suite = Suite {
            name: "s".to_owned(),
            version: 1,
            family: "f".to_owned(),
            split: benchwright_pack::Split::Test,
            canary: String::new(),
            salt: None,
            inject: 0,
            bars: benchwright_pack::SuiteBars::default(),
            solver: None,
            unbreakable: std::collections::BTreeMap::new(),
            tasks,
        };
        assert_eq!(chosen(&suite, Some(2)), [0, 3]);
        assert_eq!(chosen(&suite, Some(3)), [0, 1, 3]);
        assert_eq!(chosen(&suite, None), [0, 1, 2, 3, 4]);
    }
}
