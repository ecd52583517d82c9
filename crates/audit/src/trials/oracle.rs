//! Carrying out the certified plan earns everything, and the state that it leaves reads back as that plan.

use crate::{Finding, Held, Subject};
use benchwright_grade::Grader;
use benchwright_pack::Ending;

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    let state = match subject.play(&subject.task.sealed.oracle) {
        Ok(state) => state,
        Err(error) => return Finding::new(Held::Failed(error.to_string())),
    };
    let verdict = match grader.grade(&state) {
        Ok(verdict) => verdict,
        Err(error) => return Finding::new(Held::NoVerdict(error.to_string())),
    };
    let steps = subject.task.sealed.oracle.steps.len();
    let held = if verdict.ending != Ending::Pass || verdict.reward != subject.worth() || verdict.alarm {
        Held::Failed(format!(
            "reward {}, gates {:?}, failed {:?}, alarm {}",
            verdict.reward,
            verdict.gates,
            verdict.failed(),
            verdict.alarm
        ))
    } else if let Some(fault) = read_back(subject, grader, &state) {
        Held::Failed(fault)
    } else {
        Held::Passed
    };
    Finding::new(held).count("calls", steps).count("checks", verdict.applicable())
}

/// What was written must be read as the plan that was meant.
fn read_back(subject: &Subject<'_>, grader: &Grader<'_>, state: &benchwright_pack::Snapshot) -> Option<String> {
    let read = grader.rows(state);
    let meant = subject.optimum.records(&subject.plan);
    for (view, rows) in subject.optimum.0.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
        let (mut meant, mut read) = (meant.views[view].clone(), read.views[view].clone());
        meant.sort();
        read.sort();
        if meant != read {
            let name = &subject.plan.views[view].name;
            return Some(format!("{name}: {} rows were meant, {} were read, and they differ", rows.len(), read.len()));
        }
    }
    None
}
