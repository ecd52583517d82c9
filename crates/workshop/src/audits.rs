//! Audits: which tasks and trials are chosen, the trials run by workers, and what was found kept beside each task.

use crate::{
    Answer, AuditRequest, Error, Request, Temporary, Workshop, suites,
    unfinished::{Log, ground},
};
use benchwright_audit::{
    AuditReport, Finding, Held, TRIALS, TaskReport,
    trials::suite::{SuiteMember, suite as whole_suite},
};
use benchwright_base::{Digest, nearest};
use benchwright_catalog::Catalog;
use benchwright_pack::{Store, Suite, SuiteTask};
use serde_json::json;
use std::{collections::BTreeMap, time::Instant};

/// What an audit has found so far, while it is not finished.
const UNFINISHED: &str = "audit.unfinished.jsonl";
/// How many tasks of a pattern the sampled trials are run on.
const SAMPLED: usize = 3;

/// What is audited, and how.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditOptions {
    /// The trials, by name; none for all of them, the costly ones on three tasks of each pattern.
    pub trials: Vec<String>,
    /// So many tasks only, spread over the patterns.
    pub sample: Option<usize>,
}

impl AuditOptions {
    /// The trials that fit every family and ask no solver.
    pub fn without_solver() -> AuditOptions {
        let trials = TRIALS.iter().filter(|trial| !trial.asks_solver()).map(|trial| trial.name.to_owned());
        AuditOptions { trials: trials.collect(), sample: None }
    }

    /// Whether a trial is among them.
    fn wants(&self, name: &str) -> bool {
        self.trials.is_empty() || self.trials.iter().any(|known| known == name)
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

/// Audits the tasks of a folder. What is found is stored beside each task. An audit that was cut off goes on where it stopped when it
/// is given the same folder and choices.
pub fn folder(workshop: &Workshop, store: &Store, options: &AuditOptions) -> Result<Audit, Error> {
    let mut audit = Audit::default();
    let suite = store.suite()?;
    let wanted = chosen(&suite, options.sample);
    let ids = ids(store, &suite, &wanted, &mut audit)?;
    let requests = requests(workshop.catalog(), store, &ids, options);
    let asked = serde_json::to_vec(&requests).unwrap_or_default();
    let work = json!({ "auditing": ground(workshop.catalog(), &suite), "asked": Digest::of(&asked).to_string() });
    let (mut log, done) = Log::take_up::<TaskReport>(&store.root().join(UNFINISHED), &work)?;
    let reports = run_trials(workshop, &requests, done.into_iter().collect(), Some(&mut log), &mut audit)?;
    hold(&mut audit, &suite, options);
    keep(store, &reports)?;
    let mut audit = finished(workshop, audit)?;
    as_a_whole(store, &suite, &ids, options, &mut audit)?;
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
    let ids: Vec<(String, String)> =
        built.made.iter().map(|(line, made)| (made.id.clone(), line.pattern.clone())).collect();
    run_trials(workshop, &requests(workshop.catalog(), &store, &ids, options), BTreeMap::new(), None, &mut audit)?;
    hold(&mut audit, suite, options);
    let mut audit = finished(workshop, audit)?;
    as_a_whole(&store, suite, &ids, options, &mut audit)?;
    Ok(audit)
}

/// Tries the suite as a whole, once its tasks are audited. Of a part of it nothing can be said.
fn as_a_whole(
    store: &Store,
    suite: &Suite,
    ids: &[(String, String)],
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
            members.push(SuiteMember::of(&store.task(id)?));
        }
        whole_suite(suite, &members, &audit.report)
    };
    audit.report.add_suite(&suite.name, finding, begun.elapsed().as_secs_f64());
    Ok(())
}

/// Holds what could not be broken to the lock file, where all of the suite was audited.
fn hold(audit: &mut Audit, suite: &Suite, options: &AuditOptions) {
    if options.sample.is_none_or(|sample| sample >= suite.tasks.len()) && audit.errors.is_empty() {
        audit.report.hold(&suite.unbreakable);
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

/// The ids and patterns of the chosen tasks of a folder, in the order of its lock file.
fn ids(store: &Store, suite: &Suite, wanted: &[usize], audit: &mut Audit) -> Result<Vec<(String, String)>, Error> {
    let mut by_line: BTreeMap<usize, String> = BTreeMap::new();
    for id in store.ids()? {
        match store.task(&id) {
            Ok(task) => {
                let sealed = &task.sealed;
                let same = |line: &SuiteTask| {
                    line.pattern == sealed.pattern
                        && line.tier == sealed.tier
                        && line.objective == sealed.objective
                        && line.seed == sealed.seed
                        && line.reading == sealed.reading
                };
                if let Some(at) = suite.tasks.iter().position(same) {
                    by_line.insert(at, id);
                }
            }
            Err(error) => audit.errors.push((id, error.to_string())),
        }
    }
    let mut found = Vec::new();
    for at in wanted {
        let line = &suite.tasks[*at];
        match by_line.get(at) {
            Some(id) => found.push((id.clone(), line.pattern.clone())),
            None => audit.errors.push((suites::named(line), "it is not in the folder".to_owned())),
        }
    }
    Ok(found)
}

/// Which trials are run on tasks, given by id and pattern.
fn requests(catalog: &Catalog, store: &Store, ids: &[(String, String)], options: &AuditOptions) -> Vec<AuditRequest> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut requests = Vec::new();
    for (id, pattern) in ids {
        let rank = seen.entry(pattern).or_default();
        *rank += 1;
        let is_wanted = |name: &str, sampled: bool| match options.trials.is_empty() {
            // What takes a solver long on a plan takes no time on a request.
            true => !sampled || *rank <= SAMPLED || catalog.is_scenario(pattern),
            false => options.trials.iter().any(|wanted| wanted == name),
        };
        let trials = TRIALS.iter().filter(|trial| !trial.whole && is_wanted(trial.name, trial.sampled));
        requests.push(AuditRequest {
            store: store.root().to_owned(),
            id: id.clone(),
            trials: trials.map(|trial| trial.name.to_owned()).collect(),
        });
    }
    requests
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
    let answers = workshop.ask("auditing tasks", &asked, done.len(), &mut |at, answer| {
        if let (Some(log), Ok(Answer::Audited(report)), Ok(())) = (&mut log, answer, &noted) {
            noted = log.note(open[at], report);
        }
    });
    noted?;
    let mut answers: BTreeMap<usize, _> = open.into_iter().zip(answers).collect();
    let mut reports = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        let known = done.remove(&at).map(|report| Ok(Answer::Audited(report)));
        let why = match known.or_else(|| answers.remove(&at).flatten()) {
            // The work was cancelled before it.
            None => continue,
            Some(Ok(Answer::Audited(report))) => {
                audit.report.add(&report);
                reports.push(report);
                continue;
            }
            Some(Ok(Answer::Failed(failed))) => failed.why,
            Some(Ok(Answer::Made(_) | Answer::Attempts(_))) => "the worker answered something else".to_owned(),
            Some(Err(why)) => why,
        };
        audit.errors.push((request.id.clone(), why));
    }
    Ok(reports)
}

/// Stores what was found beside each task. Trials that were not run this time keep what they found on the same task.
fn keep(store: &Store, reports: &[TaskReport]) -> Result<(), Error> {
    for report in reports {
        let task = store.task(&report.id)?;
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
