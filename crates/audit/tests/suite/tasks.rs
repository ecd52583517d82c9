//! Trials on real tasks: drawn, solved, made, and attacked.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::support::library;
use benchwright_audit::{Finding, Held, NotRemade, Solvers, Subject, TRIALS, run};
use benchwright_catalog::Catalog;
use benchwright_grade::Grader;
use benchwright_pack::{CheckStatus, Ending, Task};
use benchwright_project::{Mutation, Order, Solver, make};
use benchwright_solve::{CpSat, Highs, Library, PhasePlanner};
use std::collections::BTreeMap;

fn task(catalog: &Catalog, engine: &CpSat, pattern: &str, seed: u64) -> Result<Task, String> {
    let pattern = catalog.pattern(pattern).unwrap();
    let family = catalog.family(&pattern.family, &pattern.domain).unwrap();
    let domain = catalog.find(&pattern.domain).unwrap().domain;
    let cell = &pattern.head.cells[0];
    let order = Order { pattern: &pattern, tier: &cell.tier, objective: &cell.objectives[0], seed, reading: None };
    let solver = Solver { version: "test".to_owned(), library: "test".to_owned() };
    make(order, family, &domain, &mut PhasePlanner::new(engine), &solver).map_err(|error| error.to_string())
}

/// Puts a task of a pattern on the bench.
fn on_the_bench(library: &Library, pattern: &str, seed: u64, each: &mut dyn FnMut(&Subject<'_>, &Grader<'_>)) {
    let catalog = Catalog::built_in();
    let engine = CpSat::load(library).unwrap();
    let second = Highs::load(library).unwrap();
    let made = task(&catalog, &engine, pattern, seed).unwrap();
    let remake = || task(&catalog, &engine, pattern, seed).map_err(NotRemade);
    let solvers = Some(Solvers { first: &engine, second: &second });
    let subject = Subject::new(&made, &catalog, solvers, &remake).unwrap();
    each(&subject, &subject.grader().unwrap());
}

/// Runs trials on a task of a pattern.
fn trials(library: &Library, pattern: &str, seed: u64, wanted: &[&str], each: &mut dyn FnMut(&str, &Finding)) {
    on_the_bench(library, pattern, seed, &mut |subject, grader| {
        for trial in TRIALS.iter().filter(|trial| wanted.contains(&trial.name)) {
            each(trial.name, &run(trial, subject, grader));
        }
    });
}

/// What became of the near-misses that are made by calls: alone, among others, survived, declared unbreakable.
#[derive(Default, Debug, PartialEq, Eq)]
struct Fates {
    alone: usize,
    among: BTreeMap<String, usize>,
    survived: Vec<String>,
    never: usize,
}

fn by_calls(subject: &Subject<'_>, grader: &Grader<'_>, fates: &mut BTreeMap<String, Fates>) {
    let oracle = grader.grade(&subject.play(&subject.task.sealed.oracle).unwrap()).unwrap();
    for check in oracle.checks.iter().filter(|check| check.status != CheckStatus::Na) {
        let rule = subject.plan.rules.iter().find(|rule| rule.id == check.rule).unwrap();
        let mutation =
            subject.family.mutator().unwrap().mutate(&subject.case, &subject.named, &check.rule, &check.at).unwrap();
        let fate = fates.entry(check.rule.clone()).or_default();
        let script = match mutation {
            Some(Mutation::Script(script)) => script,
            Some(Mutation::None(_)) => {
                fate.never += 1;
                continue;
            }
            None if rule.lowered => continue,
            None => {
                fate.survived.push("there is no mutator".to_owned());
                continue;
            }
        };
        let state = match subject.play(&script) {
            Ok(state) => state,
            Err(error) => {
                fate.survived.push(error.to_string());
                continue;
            }
        };
        let verdict = grader.grade(&state).unwrap();
        let failed = verdict.failed();
        let others: Vec<&str> = failed
            .iter()
            .copied()
            .filter(|id| *id != rule.id && !rule.text.twins.iter().any(|twin| twin == id))
            .collect();
        match (verdict.ending, failed.contains(&&*rule.id), others.is_empty()) {
            (Ending::Fail, true, true) => fate.alone += 1,
            (Ending::Fail, true, false) => *fate.among.entry(others.join(" ")).or_default() += 1,
            (ending, _, _) => fate.survived.push(format!("{ending:?}, failed {failed:?}")),
        }
    }
}

/// What needs little work.
const QUICK: [&str; 8] = ["idle", "oracle", "frame", "spam", "leak", "regenerate", "canary", "outsider"];

fn all_hold(pattern: &str) {
    let Some(library) = library() else { return };
    trials(&library, pattern, 1, &QUICK, &mut |name, finding| {
        assert!(matches!(finding.held, Held::Passed | Held::Na(_)), "{pattern}: {name}: {finding:?}");
    });
    on_the_bench(&library, pattern, 1, &mut |subject, grader| {
        let mut fates = BTreeMap::new();
        by_calls(subject, grader, &mut fates);
        let wrong: Vec<_> = fates.iter().filter(|(_, fates)| !fates.survived.is_empty()).collect();
        assert!(wrong.is_empty() && fates.values().any(|fates| fates.alone > 0), "{pattern}: {wrong:#?}");
    });
}

#[test]
fn a_plain_purchase_with_bills() {
    all_hold("procurement/buy-with-a-percentage-deposit");
}

#[test]
fn a_screened_backlog() {
    all_hold("procurement/screen-buy-and-invoice");
}

#[test]
fn a_plan_to_mend() {
    all_hold("recovery/supplier-cancellation-rescue-with-production-fallback");
}

#[test]
fn builds_on_two_levels() {
    all_hold("production/two-stage-build-with-cheapest-branch");
}

/// Every pattern under every trial, as a table. `PATTERN`, `TRIAL` and `SEED` narrow it down.
#[test]
#[ignore = "a measurement of many minutes, read by a person"]
fn the_table() {
    let Some(library) = library() else { return };
    let asked = |name: &str| std::env::var(name).ok();
    let names: Vec<&str> = TRIALS.iter().map(|trial| trial.name).collect();
    let wanted: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| asked("TRIAL").is_none_or(|asked| asked.split(',').any(|t| t == *name)))
        .collect();
    let seed = asked("SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut failed = 0;
    for pattern in Catalog::built_in().pattern_names().unwrap() {
        if asked("PATTERN").is_some_and(|asked| !pattern.contains(&asked)) {
            continue;
        }
        trials(&library, &pattern, seed, &wanted, &mut |name, finding| {
            let held = match &finding.held {
                Held::Passed => "passed".to_owned(),
                Held::Na(why) => format!("na: {why}"),
                Held::Failed(why) => format!("FAILED: {why}"),
                Held::NoVerdict(why) => format!("NO VERDICT: {why}"),
            };
            failed += usize::from(!matches!(finding.held, Held::Passed | Held::Na(_)));
            println!("{pattern} {name} {held} {:?} {:?}", finding.counts, finding.notes);
        });
    }
    assert_eq!(failed, 0, "some trials did not hold");
}

/// What becomes of every near-miss that is made by calls, rule by rule, over all patterns.
#[test]
#[ignore = "a measurement of some minutes, read by a person"]
fn near_misses_by_calls() {
    let Some(library) = library() else { return };
    let mut fates = BTreeMap::new();
    for pattern in Catalog::built_in().pattern_names().unwrap() {
        on_the_bench(&library, &pattern, 1, &mut |subject, grader| by_calls(subject, grader, &mut fates));
    }
    fates.retain(|_, fates| *fates != Fates::default());
    for (rule, fates) in &fates {
        println!("{rule}: {fates:?}");
    }
    assert!(fates.values().all(|fates| fates.survived.is_empty()), "some near-misses survive");
}
