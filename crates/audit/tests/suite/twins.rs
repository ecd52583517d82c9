//! Twins: two tasks that are alike but for the reading of one clause. They have one world, almost one text, and each one's best
//! plan is refused, or not good enough, at the other.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::support::library;
use benchwright_audit::{Held, NotRemade, Solvers, Subject, TRIALS, run};
use benchwright_catalog::Catalog;
use benchwright_pack::{Ending, Task};
use benchwright_project::{MakeError, Order, Solver, make};
use benchwright_solve::{CpSat, Highs, PhasePlanner};
use std::collections::BTreeSet;

/// A clause with a cell of a pattern that it concerns.
const PAIRS: [(&str, &str, &str, [&str; 2]); 4] = [
    ("production/one-line-make-or-buy-plan", "medium", "min_new_spend", ["use-day/same", "use-day/next"]),
    (
        "procurement/buy-with-a-fixed-deposit",
        "medium",
        "min_new_spend",
        ["price-step/all-units", "price-step/units-above"],
    ),
    (
        "procurement/screen-mixed-intake-before-buying",
        "medium",
        "min_new_spend",
        ["limit/before-tax", "limit/with-tax"],
    ),
    ("procurement/screen-mixed-intake-before-buying", "medium", "min_new_spend", ["bound/passes", "bound/fails"]),
];

fn twin(
    catalog: &Catalog,
    engine: &CpSat,
    (pattern, tier, objective): (&str, &str, &str),
    seed: u64,
    reading: &str,
) -> Result<Task, MakeError> {
    let pattern = catalog.pattern(pattern).unwrap();
    let family = catalog.family(&pattern.family, &pattern.domain).unwrap();
    let domain = catalog.find(&pattern.domain).unwrap().domain;
    let order = Order { pattern: &pattern, tier, objective, seed, reading: Some(reading) };
    let solver = Solver { version: "test".to_owned(), library: "test".to_owned() };
    make(order, family, &domain, &mut PhasePlanner::new(engine), &solver)
}

#[test]
fn twins_share_a_world_and_most_of_their_text_and_neither_plan_serves_the_other() {
    let Some(library) = library() else { return };
    let (engine, second) = (CpSat::load(&library).unwrap(), Highs::load(&library).unwrap());
    let catalog = Catalog::built_in();
    for (pattern, tier, objective, readings) in PAIRS {
        let cell = (pattern, tier, objective);
        let twins = readings.map(|reading| twin(&catalog, &engine, cell, 3, reading).unwrap());
        let [one, two] = &twins;
        assert_eq!(one.world, two.world, "{readings:?}");
        assert_ne!(one.open.id, two.open.id, "{readings:?}");
        let lines = |task: &Task| task.instruction.lines().map(str::to_owned).collect::<BTreeSet<String>>();
        let (left, right) = (lines(one), lines(two));
        let differ = left.symmetric_difference(&right).count();
        assert!((2..=8).contains(&differ), "{readings:?}: {differ} lines differ");
        for (task, other) in [(one, two), (two, one)] {
            let reading = task.sealed.reading.clone().unwrap();
            let remake = || twin(&catalog, &engine, cell, 3, &reading).map_err(|error| NotRemade(error.to_string()));
            let solvers = Some(Solvers { first: &engine, second: &second });
            let subject = Subject::new(task, &catalog, solvers, &remake).unwrap();
            let grader = subject.grader().unwrap();
            for trial in TRIALS
                .iter()
                .filter(|trial| ["idle", "oracle", "closed-book", "clauses", "regenerate"].contains(&trial.name))
            {
                let found = run(trial, &subject, &grader);
                assert_eq!(found.held, Held::Passed, "{reading}: {}", trial.name);
            }
            // What the twin asks for is refused here, or at least not good enough.
            let state = subject.play(&other.sealed.oracle).unwrap();
            let verdict = grader.grade(&state).unwrap();
            assert_eq!(verdict.ending, Ending::Fail, "{reading}: the other's plan earns {}", verdict.reward);
        }
    }
}

#[test]
fn a_reading_that_there_is_not_is_told_with_those_that_there_are() {
    let Some(library) = library() else { return };
    let engine = CpSat::load(&library).unwrap();
    let catalog = Catalog::built_in();
    let cell = ("production/one-line-make-or-buy-plan", "medium", "min_new_spend");
    let told = twin(&catalog, &engine, cell, 3, "use-day/never").unwrap_err().to_string();
    assert!(told.contains("has no reading `use-day/never`; there are: use-day/same, use-day/next, "), "{told}");
}
