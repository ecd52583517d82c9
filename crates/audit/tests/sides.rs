//! The trials `ablate` and `both-sides` on real tasks of every group of patterns.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_audit::{Finding, Held, NotRemade, Solvers, Subject, TRIALS, run};
use benchwright_catalog::Catalog;
use benchwright_pack::Task;
use benchwright_project::{Order, Solver, make};
use benchwright_solve::{CpSat, Highs, Library, PhasePlanner};
use std::fmt::Write as _;

/// Patterns, tiers and objectives that between them have every kind of sentence: without a tier, the pattern's own.
const TASKS: [(&str, &str, &str); 7] = [
    ("procurement/buy-with-a-fixed-deposit", "easy", "min_new_spend"),
    ("procurement/screen-mixed-intake-before-buying", "easy", "min_new_spend"),
    ("procurement/routine-replenishment-cycle", "easy", "constraint_only"),
    ("production/one-line-make-or-buy-plan", "medium", "min_new_spend"),
    ("production/screened-restricted-module-plan", "", ""),
    ("recovery/supplier-cancellation-rescue", "easy", "repair_plan"),
    ("grid/travel", "", ""),
];

fn found(library: &Library, task: (&str, &str, &str), seed: u64, trial: &str) -> Finding {
    let catalog = Catalog::built_in();
    let (first, second) = (CpSat::load(library).unwrap(), Highs::load(library).unwrap());
    let pattern = catalog.pattern(task.0).unwrap();
    let family = catalog.family(&pattern.family, &pattern.domain).unwrap();
    let domain = catalog.find(&pattern.domain).unwrap().domain;
    let own = &pattern.head.cells[0];
    let tier = if task.1.is_empty() { &own.tier } else { task.1 };
    let objective = if task.2.is_empty() { &own.objectives[0] } else { task.2 };
    let made = || -> Result<Task, NotRemade> {
        let order = Order { pattern: &pattern, tier, objective, seed };
        let solver = Solver { version: "test".to_owned(), library: "test".to_owned() };
        let made = make(order, family, &domain, &mut PhasePlanner::new(&first), &solver);
        made.map_err(|error| NotRemade(error.to_string()))
    };
    let made_task = made().unwrap();
    let solvers = Some(Solvers { first: &first, second: &second });
    let subject = Subject::new(&made_task, &catalog, solvers, &made).unwrap();
    let trial = TRIALS.iter().find(|known| known.name == trial).unwrap();
    run(trial, &subject, &subject.grader().unwrap())
}

/// Runs a trial on all of them; `BENCHWRIGHT_SHOW=1` tells the figures.
fn holds(trial: &str) {
    let library = match Library::find() {
        Ok(library) => library,
        Err(_) if std::env::var("BENCHWRIGHT_NO_SOLVER").is_ok_and(|value| value == "1") => return,
        Err(error) => panic!("{error}"),
    };
    let mut wrong = String::new();
    let show = std::env::var("BENCHWRIGHT_SHOW").is_ok_and(|value| value == "1");
    for task in TASKS {
        let finding = found(&library, task, 5, trial);
        if finding.held != Held::Passed || show {
            writeln!(wrong, "{task:?}: {:?}\n  {:?}", finding.held, finding.counts).unwrap();
            for note in &finding.notes {
                writeln!(wrong, "    {note}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_sentence_is_read() {
    holds("ablate");
}

#[test]
fn on_either_side_the_verdict_falls() {
    holds("both-sides");
}
