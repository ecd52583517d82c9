//! What an audit found: trial by trial, and all that fell short.

use crate::{Audit, audits::lines};
use benchwright_audit::TRIALS;
use benchwright_report::layout::{columns, counted, cut};
use serde_json::{Value as Json, json};

/// How many shortfalls a table shows.
const SHOWN: usize = 40;

/// The document of `audit --json`.
pub fn to_json(audit: &Audit) -> Result<Json, serde_json::Error> {
    let mut json = serde_json::to_value(&audit.report)?;
    let errors = audit.errors.iter().map(|(task, why)| json!({ "task": task, "why": why }));
    json["errors"] = errors.collect();
    Ok(json)
}

/// The table of `audit`, and all that fell short.
pub fn to_table(audit: &Audit) -> String {
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
        if get("there") > get("instances") {
            out.push_str(&format!(
                "{} rule instances there are, of which {} were tried\n",
                get("there"),
                get("instances")
            ));
        }
    }
    for line in lines(&report.cells).take(SHOWN) {
        out.push_str(&format!("{line}\n"));
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
