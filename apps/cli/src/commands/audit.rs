//! `benchwright audit`: tries to break every task of a folder or a suite.

use crate::{
    failure::Failure,
    layout::{columns, counted, cut},
    output, suites, tasks,
    work::{Answer, AuditRequest, Request, Setting, Temporary},
};
use anyhow::Context as _;
use benchwright_audit::{AuditReport, Finding, TRIALS, TaskReport};
use benchwright_base::nearest;
use benchwright_pack::{Store, Suite};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, path::PathBuf};

/// How many tasks of a pattern the sampled trials are run on.
const SAMPLED: usize = 3;
/// How many shortfalls a table shows.
const SHOWN: usize = 40;

/// Tries to break every task of a folder or a suite
#[derive(clap::Args)]
#[command(after_long_help = "\
Every trial is run for real on the compiled task, by worker processes. A lock file is built into a
temporary folder first; in a folder, what was found is stored as sealed/ID/audit.json. Costly trials are run
on three tasks of each pattern unless they are named.

The exit code is 1 if a trial failed, a task could not be audited, or the mutation score is below 1, and 3
if the solver is missing or another than the one a lock file names.

Examples:
  benchwright audit out
  benchwright audit out --trial idle --trial oracle
  benchwright audit suites/erp-300.toml --sample 29 --json

Keys of --json:
  tasks, mutation_score, trials {NAME: {run, passed, na, no_verdict, failed, seconds, counts}},
  shortfalls [[task, trial, what]], reasons {WHY: count}, errors [{task, why}]")]
pub(crate) struct Options {
    /// A folder that `new` or `build` wrote, or a lock file
    #[arg(value_name = "DIR|SUITE.toml")]
    what: PathBuf,
    /// Runs this trial only; may be given again
    #[arg(long = "trial", value_name = "NAME")]
    trials: Vec<String>,
    /// Audits N tasks only, spread over the patterns
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// How many worker processes [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// What was audited, and what could not be.
struct Audit {
    report: AuditReport,
    errors: Vec<(String, String)>,
}

/// Runs the command.
pub(crate) fn run(setting: &Setting, options: &Options) -> anyhow::Result<()> {
    check_names(&options.trials)?;
    let mut audit = Audit { report: AuditReport::default(), errors: Vec::new() };
    if options.what.is_dir() {
        suites::solver_here()?;
        let store = Store::at(&options.what);
        let suite = store.suite().map_err(tasks::of_store)?;
        let wanted = chosen(&suite, options.sample);
        let ids = ids(&store, &suite, &wanted, &mut audit)?;
        let reports = run_trials(setting, &store, &ids, options, &mut audit);
        keep(&store, &reports)?;
    } else {
        let mut suite = suites::read(&options.what)?;
        suites::solver_here()?;
        suites::solver_of(&setting.catalog, &suite)?;
        let wanted = chosen(&suite, options.sample);
        suite.tasks = wanted.iter().map(|at| suite.tasks[*at].clone()).collect();
        let folder = Temporary::new()?;
        let store = Store::at(folder.path());
        let built = suites::make(setting, &suite, &store, options.jobs, true)?;
        for (line, short) in &built.short {
            audit.errors.push((suites::named(line), short.why.clone()));
        }
        let ids: Vec<(String, String)> =
            built.made.iter().map(|(line, made)| (made.id.clone(), line.pattern.clone())).collect();
        run_trials(setting, &store, &ids, options, &mut audit);
    }
    if options.json {
        output::json(&audit.to_json()?)?;
    } else {
        output::data(&audit.to_table())?;
    }
    if audit.is_clean() {
        return Ok(());
    }
    Err(Failure::falls_short("the audit is not clean", format!("benchwright audit {} --json", options.what.display())))
}

fn check_names(names: &[String]) -> anyhow::Result<()> {
    for name in names {
        if !TRIALS.iter().any(|trial| trial.name == name) {
            let near = nearest(name, TRIALS.iter().map(|trial| trial.name));
            let known: Vec<&str> = TRIALS.iter().map(|trial| trial.name).collect();
            let next = near.map_or_else(|| known.join(", "), |near| format!("--trial {near}"));
            return Err(Failure::wrong_use(format!("there is no trial `{name}`"), next));
        }
    }
    Ok(())
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
fn ids(store: &Store, suite: &Suite, wanted: &[usize], audit: &mut Audit) -> anyhow::Result<Vec<(String, String)>> {
    let mut by_line: BTreeMap<usize, String> = BTreeMap::new();
    for id in store.ids().map_err(tasks::of_store)? {
        match store.task(&id) {
            Ok(task) => {
                let sealed = &task.sealed;
                let same = |line: &benchwright_pack::SuiteTask| {
                    line.pattern == sealed.pattern
                        && line.tier == sealed.tier
                        && line.objective == sealed.objective
                        && line.seed == sealed.seed
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

/// Runs the trials on tasks, given by id and pattern.
fn run_trials(
    setting: &Setting,
    store: &Store,
    ids: &[(String, String)],
    options: &Options,
    audit: &mut Audit,
) -> Vec<TaskReport> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut requests = Vec::new();
    for (id, pattern) in ids {
        let rank = seen.entry(pattern).or_default();
        *rank += 1;
        let is_wanted = |name: &str, sampled: bool| match options.trials.is_empty() {
            true => !sampled || *rank <= SAMPLED,
            false => options.trials.iter().any(|wanted| wanted == name),
        };
        let trials = TRIALS.iter().filter(|trial| is_wanted(trial.name, trial.sampled));
        requests.push(Request::Audit(AuditRequest {
            store: store.root().to_owned(),
            id: id.clone(),
            trials: trials.map(|trial| trial.name.to_owned()).collect(),
        }));
    }
    let mut reports = Vec::new();
    let answers = setting.send("auditing tasks", &requests, options.jobs);
    for ((id, _), answer) in ids.iter().zip(answers) {
        let why = match answer {
            Ok(Answer::Audited(report)) => {
                audit.report.add(&report);
                reports.push(report);
                continue;
            }
            Ok(Answer::Failed(failed)) => failed.why,
            Ok(Answer::Made(_)) => "the worker answered something else".to_owned(),
            Err(why) => why,
        };
        audit.errors.push((id.clone(), why));
    }
    reports
}

/// Stores what was found beside each task. Trials that were not run this time keep what they found on the same task.
fn keep(store: &Store, reports: &[TaskReport]) -> anyhow::Result<()> {
    for report in reports {
        let task = store.task(&report.id).map_err(tasks::of_store)?;
        let known = store.audit(&task).map_err(tasks::of_store)?;
        let mut trials: BTreeMap<String, Finding> = match known {
            Some(known) => serde_json::from_value(known.trials).context("an audit that was stored cannot be read")?,
            None => BTreeMap::new(),
        };
        trials.extend(report.trials.clone());
        store.write_audit(&task, serde_json::to_value(trials)?).map_err(tasks::of_store)?;
    }
    Ok(())
}

impl Audit {
    fn is_clean(&self) -> bool {
        self.errors.is_empty() && self.report.tasks > 0 && self.report.clean()
    }

    fn to_json(&self) -> anyhow::Result<Json> {
        let mut json = serde_json::to_value(&self.report)?;
        let errors = self.errors.iter().map(|(task, why)| json!({ "task": task, "why": why }));
        json["errors"] = errors.collect();
        Ok(json)
    }

    fn to_table(&self) -> String {
        let report = &self.report;
        let head = ["trial", "run", "passed", "na", "no verdict", "failed", "seconds"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (name, trial) in TRIALS.iter().filter_map(|trial| report.trials.get_key_value(trial.name)) {
            let mut row = vec![name.clone()];
            let counts = [trial.run, trial.passed, trial.na, trial.no_verdict, trial.failed];
            row.extend(counts.map(|count| count.to_string()));
            row.push(format!("{:.1}", trial.seconds));
            rows.push(row);
        }
        let mut out = columns(&rows, &[1, 2, 3, 4, 5, 6], 0);
        out.push_str(&format!("\n{} audited\n", counted(report.tasks as usize, "task")));
        if let (Some(score), Some(near)) = (report.mutation_score, report.trials.get("near-miss")) {
            let get = |name: &str| near.counts.get(name).copied().unwrap_or(0);
            out.push_str(&format!(
                "mutation score {score:.4}: {} of {} rule instances killed by name, {} by that name alone; {} more \
                 cannot be broken\n",
                get("killed"),
                get("instances").saturating_sub(get("unbreakable")),
                get("alone"),
                get("unbreakable"),
            ));
        }
        if !report.reasons.is_empty() {
            out.push_str("\nNotes, with how often each was made:\n");
        }
        for (why, count) in &report.reasons {
            out.push_str(&format!("  {count:5}  {}\n", cut(why, 120)));
        }
        let errors = self.errors.iter().map(|(task, why)| (&**task, "-", &**why));
        let short = report.shortfalls.iter().map(|(task, trial, why)| (&**task, &**trial, &**why));
        let short: Vec<(&str, &str, &str)> = errors.chain(short).collect();
        if !short.is_empty() {
            out.push_str(&format!("\n{}:\n", counted(short.len(), "shortfall")));
            let row =
                |(task, trial, why): &(&str, &str, &str)| vec![(*task).to_owned(), (*trial).to_owned(), cut(why, 160)];
            out.push_str(&columns(&short.iter().take(SHOWN).map(row).collect::<Vec<_>>(), &[], 2));
            if short.len() > SHOWN {
                out.push_str(&format!("  and {} more; --json has them all\n", short.len() - SHOWN));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_pack::SuiteTask;

    #[test]
    fn a_sample_is_spread_over_the_patterns_and_keeps_the_order() {
        let line = |pattern: &str, seed| SuiteTask {
            pattern: pattern.to_owned(),
            tier: "easy".to_owned(),
            objective: "feasibility".to_owned(),
            seed,
            digest: None,
            cluster: None,
        };
        let tasks = vec![line("a/a", 1), line("a/a", 2), line("a/a", 3), line("b/b", 1), line("b/b", 2)];
        let suite = Suite {
            name: "s".to_owned(),
            version: 1,
            family: "f".to_owned(),
            canary: String::new(),
            solver: None,
            tasks,
        };
        assert_eq!(chosen(&suite, Some(2)), [0, 3]);
        assert_eq!(chosen(&suite, Some(3)), [0, 1, 3]);
        assert_eq!(chosen(&suite, None), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_trial_that_is_none_is_refused_with_the_nearest() {
        assert!(check_names(&["idle".to_owned(), "oracle".to_owned()]).is_ok());
        assert!(check_names(&["orcle".to_owned()]).is_err());
    }
}
