//! `benchwright audit`: tries to break every task of a folder or a suite.

use super::build;
use crate::{
    failure::Failure,
    layout::{columns, counted, cut},
    output,
};
use benchwright_audit::TRIALS;
use benchwright_pack::{Store, Suite, store};
use benchwright_workshop::{
    Workshop,
    audits::{self, Audit, AuditOptions},
    freedoms, suites,
};
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// How many shortfalls a table shows.
const SHOWN: usize = 40;

/// Tries to break every task of a folder or a suite
#[derive(clap::Args)]
#[command(after_long_help = "\
Every trial is run for real on the compiled task, by worker processes. A lock file is built into a
temporary folder first; in a folder, what was found is stored as sealed/ID/audit.json. Costly trials are run
on three tasks of each pattern unless they are named. An audit of a folder that was cut off goes on where it stopped.

The exit code is 1 if a trial failed, a task could not be audited, a trial other than dominance and second-solver had no
verdict, the mutation score is below 1, or a trial could not break a larger share than the lock file says, and 3 if the
solver is missing or another than the one a lock file names.

Examples:
  benchwright audit out
  benchwright audit out --trial idle --trial oracle
  benchwright audit suites/erp-300.toml --sample 29 --json
  benchwright audit --freedoms procurement/buy-with-a-fixed-deposit

Keys of --json:
  tasks, mutation_score,
  trials {NAME: {run, passed, na, na_because {WHY: count}, no_verdict, failed, seconds, counts}},
  shortfalls [[task, trial, what]], risen [WHAT], reasons {WHY: count}, errors [{task, why}],
  suite {held, why, counts, notes}, where a whole suite was audited
With --freedoms, a list:
  pattern, free [{table, field, why, told}], held {TABLE: {FIELD: condition}}, stamped {TABLE: [field]},
  void {TABLE: {when, why}}, harmless {CALLS: why}")]
pub(crate) struct Options {
    /// A folder that `new` or `build` wrote, or a lock file
    #[arg(value_name = "DIR|SUITE.toml", required_unless_present = "freedoms")]
    what: Option<PathBuf>,
    /// Prints what the rules of patterns, or of all, leave open instead
    #[arg(long, value_name = "PATTERN", num_args = 0.., conflicts_with = "what")]
    freedoms: Option<Vec<String>>,
    /// Runs this trial only; may be given again
    #[arg(long = "trial", value_name = "NAME")]
    trials: Vec<String>,
    /// Audits N tasks only, spread over the patterns
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// How many worker processes [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Writes the shares that no trial could break into the lock file, which later audits may not exceed
    #[arg(long, conflicts_with_all = ["sample", "trials"])]
    lock: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(workshop: &Workshop, options: &Options) -> anyhow::Result<()> {
    if let Some(patterns) = &options.freedoms {
        let open = freedoms::of(workshop.catalog(), patterns)?;
        let told = if options.json { output::json(&json!(open)) } else { output::data(&freedoms::to_text(&open)) };
        return Ok(told?);
    }
    let what = options.what.clone().unwrap_or_default();
    if let Some((name, next)) = audits::no_trial(&options.trials) {
        return Err(Failure::wrong_use(format!("there is no trial `{name}`"), next));
    }
    if options.lock && (what.is_dir() || build::is_carried(&what)) {
        return Err(Failure::wrong_use("only a lock file can be locked", "the path of a lock file"));
    }
    let workshop = workshop.clone().with_jobs(options.jobs);
    let how = AuditOptions { trials: options.trials.clone(), sample: options.sample };
    let audit = if what.is_dir() {
        let store = Store::at(&what);
        if store.suite().ok().is_none_or(|suite| suites::audit_asks_solver(workshop.catalog(), &suite, &how)) {
            build::warned(suites::solver_here()?);
        }
        audits::folder(&workshop, &store, &how)?
    } else {
        let suite = build::read(&what)?;
        if suites::audit_asks_solver(workshop.catalog(), &suite, &how) {
            build::warned(suites::solver_here()?);
        }
        suites::solver_of(workshop.catalog(), &suite)?;
        let held =
            if options.lock { Suite { unbreakable: Default::default(), ..suite.clone() } } else { suite.clone() };
        let audit = audits::suite(&workshop, &held, &how)?;
        if options.lock && audit.is_clean() {
            store::write_suite(&what, &Suite { unbreakable: audit.report.unbreakable(), ..suite })?;
            eprintln!("locked {}", what.display());
        }
        audit
    };
    if options.json {
        output::json(&to_json(&audit)?)?;
    } else {
        output::data(&to_table(&audit))?;
    }
    if audit.is_clean() {
        return Ok(());
    }
    Err(Failure::falls_short("the audit is not clean", format!("benchwright audit {} --json", what.display())))
}

fn to_json(audit: &Audit) -> anyhow::Result<Json> {
    let mut json = serde_json::to_value(&audit.report)?;
    let errors = audit.errors.iter().map(|(task, why)| json!({ "task": task, "why": why }));
    json["errors"] = errors.collect();
    Ok(json)
}

fn to_table(audit: &Audit) -> String {
    let report = &audit.report;
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
    let na = TRIALS.iter().filter_map(|trial| report.trials.get_key_value(trial.name));
    let na: Vec<(&String, &String, &u64)> =
        na.flat_map(|(name, trial)| trial.na_because.iter().map(move |(why, count)| (name, why, count))).collect();
    if !na.is_empty() {
        out.push_str("\nNot applicable, with the number of tasks:\n");
        let row =
            |(name, why, count): &(&String, &String, &u64)| vec![count.to_string(), (*name).clone(), cut(why, 120)];
        out.push_str(&columns(&na.iter().map(row).collect::<Vec<_>>(), &[0], 2));
    }
    if !report.reasons.is_empty() {
        out.push_str("\nNotes, with how often each was made:\n");
    }
    for (why, count) in &report.reasons {
        out.push_str(&format!("  {count:5}  {}\n", cut(why, 120)));
    }
    let risen = report.risen.iter().map(|why| ("the suite", "-", &**why));
    let errors = audit.errors.iter().map(|(task, why)| (&**task, "-", &**why));
    let short = report.shortfalls.iter().map(|(task, trial, why)| (&**task, &**trial, &**why));
    let short: Vec<(&str, &str, &str)> = risen.chain(errors).chain(short).collect();
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
