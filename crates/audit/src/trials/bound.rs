//! Where a certificate brings multipliers, the bound is reckoned from them again in whole numbers, without a solver and without trust in
//! one. It must be what was sealed, and no plan may be beyond it.

use crate::{Finding, Held, Subject};
use benchwright_grade::Grader;
use benchwright_project::Breadth;
use benchwright_solve::{model_of, proved};
use benchwright_spec::PhaseResult;

pub(super) fn run(subject: &Subject<'_>, _: &Grader<'_>) -> Finding {
    match reckoned(subject) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

fn reckoned(subject: &Subject<'_>) -> Result<Finding, String> {
    let phases: Vec<PhaseResult> = serde_json::from_value(subject.task.sealed.certificate.phases.clone())
        .map_err(|error| format!("the certificate's phases: {error}"))?;
    let Some((phase, exact)) = phases.first().and_then(|phase| Some((phase, phase.exact.as_ref()?))) else {
        return Ok(Finding::new(Held::Na("no bound that can be reckoned is near enough".to_owned())));
    };
    let candidates = subject.candidates(Breadth::Tight)?;
    let objective = &subject.case.objective;
    let (model, sign) = model_of(&subject.plan, &subject.bound, &candidates, objective, subject.lowering())
        .map_err(|error| error.to_string())?;
    let found = proved(&exact.proof, &model).map(|bound| bound * sign);
    let mut faults = Vec::new();
    if found != Some(exact.bound) {
        faults.push(format!("the multipliers give {found:?}, and {} is sealed", exact.bound));
    }
    if exact.bound * sign > phase.value * sign {
        faults.push(format!("the bound {} is beyond the plan's value {}", exact.bound, phase.value));
    }
    Ok(Finding::of(&faults).count("exact", 1))
}
