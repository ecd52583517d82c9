//! Over what an agent could write, the optimum is the same as over what was solved.

use crate::{Finding, Held, Subject};
use benchwright_grade::Grader;
use benchwright_project::Breadth;
use benchwright_solve::{Limits, Lower, Status};

/// Work of the one solve.
const WORK: f64 = 60.0;

pub(super) fn run(subject: &Subject<'_>, _: &Grader<'_>) -> Finding {
    match wide(subject) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

fn wide(subject: &Subject<'_>) -> Result<Finding, String> {
    let candidates = subject.family.candidates(&subject.case, &subject.plan, &subject.bound, Breadth::Wide)?;
    let mut lower = Lower::new(&subject.plan, &subject.bound, &candidates);
    for instance in lower.all_instances().map_err(|error| error.to_string())? {
        lower.require(&instance.holds);
    }
    let phases = subject.plan.objectives.get(&subject.case.objective).map_or(&[][..], |phases| phases);
    let (Some(phase), Some(best)) = (phases.first(), subject.task.sealed.verifier.best.first()) else {
        return Ok(Finding::new(Held::Na("there is no objective".to_owned())));
    };
    let of = lower.number(&phase.of).map_err(|error| error.to_string())?;
    lower.model.minimise = Some(of.clone());
    let limits = Limits { work: WORK, linearization: 2, fixed_search: false };
    let answer = subject.solver.solve(&lower.model, &limits).map_err(|error| error.to_string())?;
    let found = (!answer.point.is_empty()).then(|| of.at(&answer.point));
    let held = match (answer.status, found) {
        (Status::Infeasible, _) => Held::Failed("no plan at all".to_owned()),
        (_, Some(found)) if found < *best => Held::Failed(format!("{found} is better than {best}")),
        _ if answer.bound >= *best => Held::Passed,
        _ => Held::NoVerdict(format!("the bound is {} after {WORK} work; the optimum is {best}", answer.bound)),
    };
    Ok(Finding::new(held).count("variables", lower.model.vars.len()))
}
