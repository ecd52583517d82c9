//! The audit of requests: the examples with all trials, and compilers of scenarios with one fault each, each found by a named trial.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod desk;
mod faults;
mod second;

use benchwright_audit::{Held, TaskReport};
use benchwright_pack::Task;
use desk::{Desk, EXAMPLES};
use faults::FAULTS;
use std::collections::BTreeMap;

/// What stands before the table of faults.
const HEAD: &str = "\
# Broken compilers of scenarios

Each line is a task with one thing spoiled as a faulty compiler would, by `faults.rs`, and the trials that are held to find it. The same task \
unspoiled stands every trial. This file is written by the test: `BENCHWRIGHT_UPDATE=1 cargo test -p benchwright-audit --test suite request::each_broken`.

| # | what is wrong | where | found by |
|--:|---|---|---|
";

/// What failed or could not be judged.
fn shortfalls(report: &TaskReport) -> Vec<String> {
    let failed = report.trials.iter().filter_map(|(name, found)| match &found.held {
        Held::Failed(why) => Some(format!("{name} failed: {why}")),
        Held::NoVerdict(why) => Some(format!("{name} has no verdict: {why}")),
        Held::Passed | Held::Na(_) => None,
    });
    failed.collect()
}

/// Holds every objective of an example to all trials.
fn stands(example: &str) {
    let desk = Desk::open();
    let mut found = Vec::new();
    for objective in desk.objectives(example) {
        let (seeds, from) = if objective == "done" { (2, 1) } else { (1, 1) };
        for seed in from..from + seeds {
            let task = desk.make(example, &objective, seed);
            let report = desk.audit(&task, &|| Ok(desk.make(example, &objective, seed)));
            found.extend(shortfalls(&report).into_iter().map(|why| format!("{example} {objective} {seed}: {why}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn an_article_and_an_engineer_stand_every_trial_of_a_request() {
    stands(EXAMPLES[0]);
}

#[test]
fn a_change_that_is_scheduled_stands_every_trial_of_a_request() {
    stands(EXAMPLES[1]);
}

#[test]
fn a_case_of_two_domains_stands_every_trial_of_a_request() {
    stands(EXAMPLES[2]);
}

/// Every fault is found by the trials that are held to find it, on a task that stands them without it.
#[test]
fn each_broken_compiler_of_a_request_is_found_by_name() {
    let desk = Desk::open();
    let mut made: BTreeMap<(&str, &str), Task> = BTreeMap::new();
    let mut found = Vec::new();
    let mut table = String::from(HEAD);
    for (at, fault) in FAULTS.iter().enumerate() {
        let right = made.entry(fault.on).or_insert_with(|| desk.make(fault.on.0, fault.on.1, 1)).clone();
        let mut task = right.clone();
        (fault.change)(&desk, &mut task);
        assert!(task != right, "{}: the fault changes nothing", fault.name);
        let remake = || Ok(if fault.once { right.clone() } else { task.clone() });
        let report = match desk.tried(&task, &remake, fault.caught_by) {
            Ok(report) => report,
            Err(why) => {
                found.push(format!("{}: it cannot be put on the bench: {why}", fault.name));
                continue;
            }
        };
        for trial in fault.caught_by {
            match &report.trials[*trial].held {
                Held::Failed(_) => {}
                other => found.push(format!("{}: {trial} does not find it: {other:?}", fault.name)),
            }
        }
        let objective = if fault.on.1 == "done" { "" } else { fault.on.1 };
        let on = format!("{} {objective}", fault.on.0);
        table.push_str(&format!("| {} | {} | {} | {} |\n", at + 1, fault.name, on.trim(), fault.caught_by.join(", ")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(FAULTS.len() >= 25);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/request/README.md");
    if std::env::var("BENCHWRIGHT_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(path, &table).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), table, "BENCHWRIGHT_UPDATE=1 writes it anew");
}
