//! Other optimal plans, found by the solver and made to differ in a quantity, a supplier or a centre, earn everything too.
//!
//! Where a family certifies by a proof of its own that there is one plan and no other, the solver must find that plan and
//! prove that excluding it leaves none.

use crate::{Finding, Held, Subject};
use benchwright_expr::Type;
use benchwright_grade::Grader;
use benchwright_pack::Script;
use benchwright_project::Breadth;
use benchwright_solve::{Formula, Limits, Lin, Lower, Status};
use benchwright_spec::Rows;
use std::collections::BTreeMap;

/// How many are looked for.
const WANTED: usize = 3;
/// Work of one search.
const WORK: f64 = 10.0;

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    match search(subject, grader) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

/// Other optimal plans as calls; so many, if there are.
pub(crate) fn scripts(subject: &Subject<'_>, grader: &Grader<'_>, most: usize) -> Result<Vec<Script>, String> {
    if subject.family.proof().is_some() || subject.family.optimised().is_none() {
        return Ok(Vec::new());
    }
    let mut lower = optimal(subject, Breadth::Tight)?;
    let mut scripts = Vec::new();
    others(subject, &mut lower, most, &mut |plan| {
        // One that does not earn everything is a fault that the trial tells.
        if let Ok((script, verdict)) = subject.carried_out(grader, plan)
            && verdict.reward == subject.worth()
        {
            scripts.push(script);
        }
    })?;
    Ok(scripts)
}

/// The model of all optimal plans.
fn optimal<'s>(subject: &'s Subject<'_>, breadth: Breadth<'_>) -> Result<Lower<'s>, String> {
    let candidates = subject.candidates(breadth)?;
    let mut lower = subject.lower(&candidates);
    for instance in lower.all_instances().map_err(|error| error.to_string())? {
        lower.require(&instance.holds);
    }
    let phases = subject.plan.objectives.get(&subject.case.objective).map_or(&[][..], |phases| phases);
    for (phase, best) in phases.iter().zip(&subject.task.sealed.verifier.best) {
        if phase.text.share > 0 {
            let of = lower.number(&phase.of).map_err(|error| error.to_string())?;
            lower.require(&Formula::Eq(of.minus(&Lin::constant(*best))));
        }
    }
    Ok(lower)
}

fn search(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<Finding, String> {
    let mut faults = Vec::new();
    let mut judged = |plan: &Rows| match subject.carry_out(grader, plan) {
        Ok(verdict) if verdict.reward == subject.worth() && !verdict.alarm => {}
        Ok(verdict) => faults.push(format!("a plan earns {}: {:?}", verdict.reward, verdict.failed())),
        Err(why) => faults.push(why.to_string()),
    };
    let (mut found, mut proved_none) = (0, false);
    // Of a large model the neighbourhood of the certified plan is looked at first: most others that there are lie there.
    if subject.is_anchored() {
        let mut near = optimal(subject, Breadth::Local(&subject.optimum))?;
        (found, _) = others(subject, &mut near, WANTED, &mut judged)?;
    }
    if found == 0 {
        let mut lower = optimal(subject, Breadth::Tight)?;
        // The certified plan must be one of the model's.
        if subject.family.proof().is_some() {
            let limits = Limits { work: WORK, linearization: 2, fixed_search: false };
            let answer = subject.solver()?.solve(&lower.model, &limits).map_err(|error| error.to_string())?;
            let mut rows = lower.read(&answer.point);
            let mut certified = subject.optimum.clone();
            rows.0.iter_mut().chain(&mut certified.0).for_each(|rows| rows.sort());
            if rows != certified {
                let why = format!("the solver ends with {:?} and another plan than the certified one", answer.status);
                return Ok(Finding::new(Held::Failed(why)));
            }
        }
        (found, proved_none) = others(subject, &mut lower, WANTED, &mut judged)?;
    }
    let alone = subject.family.proof().is_some();
    if alone && found > 0 {
        faults.push(format!("the task is certified to have one plan, and there are {} more at least", found));
    }
    let finding = if alone && proved_none && faults.is_empty() {
        Finding::new(Held::Passed)
    } else if found == 0 && faults.is_empty() {
        let why = if proved_none { "no other optimal plan exists" } else { "none was found within the work" };
        Finding::new(if proved_none { Held::Na(why.to_owned()) } else { Held::NoVerdict(why.to_owned()) })
    } else {
        Finding::of(&faults)
    };
    Ok(finding.count("plans", found).count("exhausted", usize::from(proved_none)))
}

/// Finds so many other plans of a model, each different from the one before. How many there were, and whether it is proved that there are
/// no more.
fn others(
    subject: &Subject<'_>,
    lower: &mut Lower<'_>,
    most: usize,
    each: &mut dyn FnMut(&Rows),
) -> Result<(usize, bool), String> {
    let totals = totals(subject, lower);
    let mut plan = subject.optimum.clone();
    for found in 0..most {
        let values = values(subject, &plan);
        let differs = totals.iter().map(|(group, total)| {
            let value = values.get(group).copied().unwrap_or(0);
            Formula::Ne(total.minus(&Lin::constant(value)))
        });
        let differs = Formula::any(differs.collect());
        lower.require(&differs);
        let limits = Limits { work: WORK, linearization: subject.linearization_of_any(), fixed_search: false };
        let answer = subject.solver()?.solve(&lower.model, &limits).map_err(|error| error.to_string())?;
        match answer.status {
            Status::Infeasible => return Ok((found, true)),
            Status::Unknown => return Ok((found, false)),
            Status::Optimal | Status::Feasible => {}
        }
        plan = lower.read(&answer.point);
        each(&plan);
    }
    Ok((most, false))
}

/// A view and the members that its rows name: a supplier and an item, an item and a centre. A row without a free field is a
/// group of its own, by all its fields.
type Group = (usize, Vec<i64>);

fn members(subject: &Subject<'_>, view: usize) -> Vec<usize> {
    let fields = &subject.plan.views[view].fields;
    (0..fields.len()).filter(|at| matches!(fields[*at].ty, Type::Ref(_))).collect()
}

/// What is decided of each group, in all.
fn totals(subject: &Subject<'_>, lower: &mut Lower<'_>) -> BTreeMap<Group, Lin> {
    let mut totals: BTreeMap<Group, Lin> = BTreeMap::new();
    for (view, rows) in lower.rows.clone().iter().enumerate() {
        let members = members(subject, view);
        for row in rows {
            if row.fields.iter().all(|field| field.known().is_some()) {
                let group = row.fields.iter().map(|field| field.constant).collect();
                totals.insert((view, group), lower.truth_value(&row.used));
                continue;
            }
            let group = members.iter().map(|at| row.fields[*at].constant).collect();
            let free = row.fields.iter().filter(|field| field.known().is_none()).cloned();
            let total = totals.entry((view, group)).or_default();
            *total = Lin::sum([total.clone()].into_iter().chain(free));
        }
    }
    totals.retain(|_, total| total.known().is_none());
    totals
}

fn values(subject: &Subject<'_>, plan: &Rows) -> BTreeMap<Group, i64> {
    let mut values = BTreeMap::new();
    for (view, rows) in plan.0.iter().enumerate() {
        let members = members(subject, view);
        for row in rows {
            values.insert((view, row.clone()), 1);
        }
        let Some(qty) = subject.plan.views[view].field_named("qty") else { continue };
        for row in rows {
            let group = members.iter().map(|at| row[*at]).collect();
            *values.entry((view, group)).or_insert(0) += row[qty];
        }
    }
    values
}
