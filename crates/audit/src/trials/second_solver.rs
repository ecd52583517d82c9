//! A second solver, with another algorithm, proves the same value in every scored phase. An optimum that only one solver
//! knows could be that solver's fault.

use crate::{Finding, Held, Subject};
use benchwright_grade::Grader;
use benchwright_project::Breadth;
use benchwright_solve::{Formula, Limits, Lin, Status};

/// Work of one phase, in the second solver's unit.
const WORK: f64 = 40.0;

pub(super) fn run(subject: &Subject<'_>, _: &Grader<'_>) -> Finding {
    match phases(subject) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

fn phases(subject: &Subject<'_>) -> Result<Finding, String> {
    let mut lower = subject.required(Breadth::Tight)?;
    let mut faults = Vec::new();
    let (mut proved, mut open) = (0, 0);
    let phases = subject.plan.objectives.get(&subject.case.objective).map_or(&[][..], |phases| phases);
    for (phase, best) in phases.iter().zip(&subject.task.sealed.verifier.best) {
        let sign = phase.text.sign();
        let of = lower.number(&phase.of).map_err(|error| error.to_string())?.times(sign);
        let best = best * sign;
        // No plan is below what was proved; a plan with a gap may be bettered down to there.
        let least = subject.bound_of_unproved(&phase.text.name).map_or(best, |bound| bound * sign);
        lower.model.minimise = Some(of.clone());
        let limits = Limits { work: WORK, linearization: 2, fixed_search: false };
        let answer = subject.second()?.solve(&lower.model, &limits).map_err(|error| error.to_string())?;
        let value = || of.at(&answer.point);
        match answer.status {
            Status::Optimal if value() == best => proved += 1,
            Status::Optimal if least < best && (least..best).contains(&value()) => open += 1,
            Status::Optimal => faults.push(format!("{}: {} against {best}", phase.text.name, value())),
            Status::Infeasible => faults.push(format!("{}: no plan at all", phase.text.name)),
            Status::Feasible if value() < least => {
                faults.push(format!("{}: {} is better than {least}", phase.text.name, value()));
            }
            Status::Feasible | Status::Unknown if answer.bound > best => {
                faults.push(format!("{}: the bound {} is above {best}", phase.text.name, answer.bound));
            }
            Status::Feasible | Status::Unknown => open += 1,
        }
        lower.require(&Formula::Eq(of.minus(&Lin::constant(best))));
    }
    // Where quality is told by anchors, that the two do not contradict each other is enough.
    let anchored = subject.task.sealed.verifier.anchors.is_some();
    let finding = if faults.is_empty() && open > 0 && !anchored {
        Finding::new(Held::NoVerdict(format!("{open} of {} phases without a proof", proved + open)))
    } else {
        Finding::of(&faults)
    };
    Ok(finding.count("phases", proved + open + faults.len()).count("proved", proved))
}
