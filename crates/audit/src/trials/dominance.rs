//! Over all that an agent could write, no plan is better than the certified one, though the solver was given far fewer
//! candidates.
//!
//! Two proofs. First, whatever the plan, giving the dominant fields (`settled` in `plan.toml`, such as a receipt date that
//! is best early) their values breaks no rule and costs nothing: a solver looks for a plan that keeps all rules but breaks
//! one or costs more once they are so, and finds that none exists. Second, with dominant fields at their values and every
//! quantity free, there is no better plan.

use crate::{Finding, Held, Subject};
use benchwright_grade::Grader;
use benchwright_project::Breadth;
use benchwright_schema::plan::Phase;
use benchwright_solve::{Constraint, Formula, Limits, Lin, Lower, Status};

/// Work of one solve.
const LIMITS: Limits = Limits { work: 60.0, linearization: 2, fixed_search: false };

/// Why it is not for a task in bundles.
const IN_BUNDLES: &str =
    "row by row too large to prove; that no better plan lies outside of the bundles is proved at the easy tier";

pub(super) fn run(subject: &Subject<'_>, _: &Grader<'_>) -> Finding {
    let phases = subject.plan.objectives.get(&subject.case.objective).map_or(0, Vec::len);
    if phases == 0 {
        return Finding::new(Held::Na("there is no objective".to_owned()));
    }
    match in_bundles(subject) {
        Err(why) => return Finding::new(Held::NoVerdict(why)),
        Ok(true) => return Finding::new(Held::Na(IN_BUNDLES.to_owned())),
        Ok(false) => {}
    }
    let (mut faults, mut open) = (Vec::new(), Vec::new());
    let proved = exchange(subject, &mut faults, &mut open).and_then(|first| {
        let second = if faults.is_empty() { better(subject, &mut faults, &mut open)? } else { 0 };
        Ok((first, second))
    });
    match proved {
        Err(why) => Finding::new(Held::NoVerdict(why)),
        Ok((first, second)) => {
            let finding = match faults.is_empty() && !open.is_empty() {
                true => Finding::new(Held::NoVerdict(open.join("; "))),
                false => Finding::of(&faults),
            };
            finding.count("variables", first + second)
        }
    }
}

/// Whether the plan is made of bundles and need not be the best. Row by row such a model takes hours: that nothing lies outside of the
/// bundles is proved of the workflow's tasks whose best plan is proved to be that.
fn in_bundles(subject: &Subject<'_>) -> Result<bool, String> {
    let admits = subject.family.optimised().and_then(|optimised| optimised.admits(&subject.task.sealed.tier));
    if admits.is_none_or(|gap| gap == 0) {
        return Ok(false);
    }
    let candidates = subject.candidates(Breadth::Tight)?;
    Ok(candidates.iter().flatten().any(|candidate| candidate.bundle.is_some()))
}

/// A model of candidates whose first dominant fields have their values, with every rule required.
fn lowered<'s>(subject: &'s Subject<'_>, breadth: Breadth<'_>, fixed: usize) -> Result<Lower<'s>, String> {
    let candidates = subject.candidates(breadth)?;
    let mut lower = subject.lower(&candidates);
    for field in &subject.plan.dominant[..fixed] {
        lower.fix_dominant(field).map_err(|error| error.to_string())?;
    }
    for instance in lower.all_instances().map_err(|error| error.to_string())? {
        lower.require(&instance.holds);
    }
    Ok(lower)
}

fn costs(subject: &Subject<'_>, lower: &mut Lower<'_>) -> Result<Vec<Lin>, String> {
    let phases = &subject.plan.objectives[&subject.case.objective];
    phases.iter().map(|phase| lower.number(&phase.of).map_err(|error| error.to_string())).collect()
}

/// For each dominant field, with those before it fixed, looks for a plan that fixing it makes worse. The number of
/// variables.
fn exchange(subject: &Subject<'_>, faults: &mut Vec<String>, open: &mut Vec<String>) -> Result<usize, String> {
    let mut variables = 0;
    for (at, field) in subject.plan.dominant.iter().enumerate() {
        let view = &subject.plan.views[field.view];
        let name = format!("{}.{}", view.name, view.fields[field.field].name);
        let mut lower = lowered(subject, Breadth::Wide, at)?;
        let before = costs(subject, &mut lower)?;
        lower.fix_dominant(field).map_err(|error| error.to_string())?;
        let after = costs(subject, &mut lower)?;
        let instances = lower.all_instances().map_err(|error| error.to_string())?;
        let broken = instances.iter().map(|instance| instance.holds.negated());
        let dearer =
            before.iter().zip(&after).map(|(before, after)| Formula::Le(before.minus(after).plus(&Lin::constant(1))));
        let worse = Formula::any(broken.chain(dearer).collect());
        lower.require(&worse);
        let answer = subject.solver()?.solve(&lower.model, &LIMITS).map_err(|error| error.to_string())?;
        match answer.status {
            Status::Infeasible => {}
            Status::Optimal | Status::Feasible => {
                let hurt = instances.iter().find(|instance| !instance.holds.at(&answer.point));
                let what = hurt.map_or("the cost", |instance| &*subject.plan.rules[instance.rule].id);
                // The rest would be about plans that nobody is held to.
                faults.push(format!("a plan that holds no longer does once {name} is settled: {what}"));
                return Ok(variables);
            }
            Status::Unknown => open.push(format!("{name}: neither proved nor refuted in {} work", LIMITS.work)),
        }
        variables += lower.model.vars.len();
    }
    Ok(variables)
}

/// For each phase, with those before it at their best, looks for a better plan. The number of variables.
fn better(subject: &Subject<'_>, faults: &mut Vec<String>, open: &mut Vec<String>) -> Result<usize, String> {
    // A plan in stages is bounded by what somebody could plan who knew all of them, so that is held to all that could be written.
    let optimised = subject.family.optimised().ok_or("the family offers no optimiser")?;
    if let Some((plan, bound, candidates)) = optimised.hindsight(&subject.case, Breadth::Dominant)? {
        let mut lower = Lower::in_way(subject.lowering(), &plan, &bound, &candidates);
        for instance in lower.all_instances().map_err(|error| error.to_string())? {
            lower.require(&instance.holds);
        }
        let phase = plan.objectives[&subject.case.objective].first().ok_or("there is no phase")?;
        return anchored(subject, &mut lower, phase, faults, open);
    }
    let mut lower = lowered(subject, Breadth::Dominant, 0)?;
    if subject.is_anchored() {
        let phase = subject.plan.objectives[&subject.case.objective].first().ok_or("there is no phase")?;
        return anchored(subject, &mut lower, phase, faults, open);
    }
    let phases = &subject.plan.objectives[&subject.case.objective];
    let costs = costs(subject, &mut lower)?;
    for ((phase, of), best) in phases.iter().zip(costs).zip(&subject.task.sealed.verifier.best) {
        let mut model = lower.model.clone();
        model.minimise = Some(of.clone());
        let answer = subject.solver()?.solve(&model, &LIMITS).map_err(|error| error.to_string())?;
        let found = (!answer.point.is_empty()).then(|| of.at(&answer.point));
        match (answer.status, found) {
            (Status::Infeasible, _) => faults.push(format!("{}: no plan at all", phase.text.name)),
            (_, Some(found)) if found < *best => {
                faults.push(format!("{}: {found} is better than {best}", phase.text.name));
            }
            _ if answer.bound >= *best => {}
            _ => {
                let bound = answer.bound;
                open.push(format!(
                    "{}: the bound is {bound}, the best {best}, after {} work",
                    phase.text.name, LIMITS.work
                ));
            }
        }
        let within = vec![(i64::MIN, *best)];
        lower.model.constraints.push(Constraint::Linear { of, within, when: vec![] });
    }
    Ok(lower.model.vars.len())
}

/// The same where the worth of a plan is told by anchors: no plan is better than what is proved. The least cost is asked for, as when
/// the plan was certified: that no plan is cheaper, asked without a goal, is not proved in thrice the work.
fn anchored(
    subject: &Subject<'_>,
    lower: &mut Lower<'_>,
    phase: &Phase,
    faults: &mut Vec<String>,
    open: &mut Vec<String>,
) -> Result<usize, String> {
    let of = lower.number(&phase.of).map_err(|error| error.to_string())?.times(phase.text.sign());
    let anchors = subject.task.sealed.verifier.anchors.as_ref().ok_or("there are no anchors")?;
    let full = anchors.full * phase.text.sign();
    lower.model.minimise = Some(of.clone());
    let answer = subject.solver()?.solve(&lower.model, &LIMITS).map_err(|error| error.to_string())?;
    let found = (!answer.point.is_empty()).then(|| of.at(&answer.point));
    match (answer.status, found) {
        (Status::Infeasible, _) => faults.push(format!("{}: no plan at all", phase.text.name)),
        (_, Some(found)) if found < full => faults.push(format!("{}: {found} is better than {full}", phase.text.name)),
        (Status::Optimal, _) => {}
        (Status::Feasible, _) if answer.bound >= full => {}
        (Status::Feasible, _) => {
            let bound = answer.bound;
            open.push(format!(
                "{}: the bound is {bound}, the best {full}, after {} work",
                phase.text.name, LIMITS.work
            ));
        }
        (Status::Unknown, _) => open.push(format!("{}: undecided after {} work", phase.text.name, LIMITS.work)),
    }
    Ok(lower.model.vars.len())
}
