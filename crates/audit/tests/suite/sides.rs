//! The trials `ablate` and `both-sides` on real tasks of every group of patterns.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::support::library;
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

fn found(
    library: &Library,
    task: (&str, &str, &str),
    trial: &str,
    fault: Option<fn(&mut Task)>,
) -> Result<Finding, String> {
    let seed = 5;
    let catalog = Catalog::built_in();
    let (first, second) = (CpSat::load(library).unwrap(), Highs::load(library).unwrap());
    let pattern = catalog.pattern(task.0).unwrap();
    let family = catalog.family(&pattern.family, &pattern.domain).unwrap();
    let domain = catalog.find(&pattern.domain).unwrap().domain;
    let own = &pattern.head.cells[0];
    let tier = if task.1.is_empty() { &own.tier } else { task.1 };
    let objective = if task.2.is_empty() { &own.objectives[0] } else { task.2 };
    let made = || -> Result<Task, NotRemade> {
        let order = Order { pattern: &pattern, tier, objective, seed, reading: None };
        let solver = Solver { version: "test".to_owned(), library: "test".to_owned() };
        let made = make(order, family, &domain, &mut PhasePlanner::new(&first), &solver);
        made.map_err(|error| NotRemade(error.to_string()))
    };
    let mut made_task = made().unwrap();
    if let Some(fault) = fault {
        let right = made_task.clone();
        fault(&mut made_task);
        if right == made_task {
            return Err("the fault changes nothing".to_owned());
        }
    }
    let solvers = Some(Solvers { first: &first, second: &second });
    let subject = Subject::new(&made_task, &catalog, solvers, &made).unwrap();
    let trial = TRIALS.iter().find(|known| known.name == trial).unwrap();
    Ok(run(trial, &subject, &subject.grader().unwrap()))
}

/// Runs a trial on all of them; `BENCHWRIGHT_SHOW=1` tells the figures.
fn holds(trial: &str) {
    let Some(library) = library() else { return };
    let mut wrong = String::new();
    let show = std::env::var("BENCHWRIGHT_SHOW").is_ok_and(|value| value == "1");
    for task in TASKS {
        let finding = found(&library, task, trial, None).unwrap();
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

/// A task that says or judges one thing otherwise, where it is tried, and the trial that finds it.
type Wrong = (&'static str, usize, &'static str, fn(&mut Task));

const WRONG: &[Wrong] = &[
    ("promises may be later", 0, "ablate", |task| say(task, "or earlier", "or later")),
    ("two order lines are allowed", 0, "ablate", |task| say(task, "at most one order line", "at most two order lines")),
    ("goods are usable from the day after", 0, "ablate", |task| say(task, "that same day", "from the day after")),
    ("minutes are for each day", 3, "ablate", |task| say(task, "one total for the whole plan", "a total for each day")),
    ("a value on the bound fails", 1, "ablate", |task| say(task, "on the bound passes", "on the bound fails")),
    ("only working days count", 0, "ablate", |task| say(task, "ll calendar days count", "ll working days count")),
    ("the deposit is not taken off", 0, "ablate", |task| say(task, ", less the deposit where one was billed", "")),
    ("spending is without builds", 3, "ablate", |task| {
        say(task, " plus all builds at their minutes times the hourly cost of the centre", "");
    }),
    ("the fields of orders are not told", 0, "ablate", |task| forget(task, "(commitment_date)")),
    ("the field of receipts is not told", 0, "ablate", |task| forget(task, "(date_planned)")),
    ("the calendar is not told", 0, "ablate", |task| forget(task, "calendar days")),
    ("the notes are not told", 0, "ablate", |task| forget(task, "supplier's contact")),
    ("the old plan is not told", 5, "ablate", |task| forget(task, "plan as it was")),
    ("prices have a slack of 90 cents", 2, "both-sides", |task| {
        loosen(task, "erp/list-price", "s.price = list_price(s.product)", "s.price >= list_price(s.product) - 90");
        loosen(task, "erp/order-value", "= value(o)", ">= value(o) - 90");
    }),
    ("terms may be shorter", 0, "both-sides", |task| {
        loosen(task, "erp/order-terms", "s.term = term_days()", "s.term <= term_days()");
    }),
    ("builds may take fewer parts", 3, "both-sides", |task| {
        loosen(task, "erp/recipe", "c.qty = bom(", "c.qty <= bom(");
    }),
    ("the views of sales count quotations", 2, "both-sides", |task| {
        for view in ["sell", "sold"] {
            let only = task.sealed.verifier.plan.views.get_mut(view).unwrap().only.as_mut().unwrap();
            *only = only.replace("order_id.state = sale", "order_id.state in {draft, sale}");
        }
    }),
];

/// Puts a phrase of the instruction otherwise.
fn say(task: &mut Task, old: &str, new: &str) {
    task.instruction = task.instruction.replacen(old, new, 1);
    for clause in &mut task.sealed.clauses {
        clause.text = clause.text.replacen(old, new, 1);
    }
}

/// Leaves out the sentence with a phrase, or the whole entry where it is the only one.
fn forget(task: &mut Task, phrase: &str) {
    let Some(at) = task.instruction.find(phrase) else { return };
    let text = &task.instruction;
    let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let from = text[line..at].rfind(". ").map_or(line, |dot| line + dot + 2);
    let to = text[at..end].find(". ").map_or(end, |dot| at + dot + 2);
    task.instruction = format!("{}{}", &text[..from], &text[to..]);
}

/// Writes a rule of the verifier otherwise.
fn loosen(task: &mut Task, rule: &str, old: &str, new: &str) {
    let require = task.sealed.verifier.plan.rules.get_mut(rule).unwrap().require.as_mut().unwrap();
    *require = require.replace(old, new);
}

#[test]
fn what_is_told_or_judged_otherwise_is_found() {
    let Some(library) = library() else { return };
    let mut missed = Vec::new();
    for (name, at, trial, fault) in WRONG {
        match found(&library, TASKS[*at], trial, Some(*fault)) {
            Ok(finding) if matches!(finding.held, Held::Failed(_)) => {}
            Ok(finding) => missed.push(format!("{name}: {trial} says {:?}", finding.held)),
            Err(why) => missed.push(format!("{name}: {why}")),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
