//! Other optimal plans, found by the solver and made to differ in what is decided and not in days alone (a quantity, a supplier, a centre),
//! earn everything too.
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
    let mut lower = subject.required(breadth)?;
    let phases = subject.plan.objectives.get(&subject.case.objective).map_or(&[][..], |phases| phases);
    for (phase, best) in phases.iter().zip(&subject.task.sealed.verifier.best) {
        if phase.text.share > 0 {
            let of = lower.number(&phase.of).map_err(|error| error.to_string())?;
            let beyond = of.minus(&Lin::constant(*best)).times(phase.text.sign());
            // Where nothing is better, no dearer is as good as equal; and with a goal a search finds what costs as much, or that nothing
            // does, in a hundredth of the work.
            if subject.is_anchored() && subject.bound_of_unproved(&phase.text.name).is_none() {
                lower.require(&Formula::Le(beyond.clone()));
                lower.model.minimise.get_or_insert(beyond);
            } else {
                lower.require(&Formula::Eq(beyond));
            }
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
            if sorted(&lower.read(&answer.point)) != sorted(&subject.optimum) {
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

/// A plan's rows in one order.
fn sorted(plan: &Rows) -> Rows {
    let mut plan = plan.clone();
    plan.0.iter_mut().for_each(|rows| rows.sort());
    plan
}

/// Finds so many other plans of a model, each different from the one before. How many there were, and whether it is proved that there are
/// no more.
fn others(
    subject: &Subject<'_>,
    lower: &mut Lower<'_>,
    most: usize,
    each: &mut dyn FnMut(&Rows),
) -> Result<(usize, bool), String> {
    let parts = Parts::of(subject, lower);
    let totals = totals(&parts, lower);
    let mut plan = subject.optimum.clone();
    for found in 0..most {
        lower.require(&differs(&totals, &values(&parts, &plan)));
        let limits = Limits { work: WORK, linearization: 2, fixed_search: false };
        let answer = subject.solver()?.solve(&lower.model, &limits).map_err(|error| error.to_string())?;
        match answer.status {
            Status::Infeasible => return Ok((found, true)),
            Status::Unknown => return Ok((found, false)),
            Status::Optimal | Status::Feasible => {}
        }
        let other = lower.read(&answer.point);
        // They are told apart by the model's own variables, so this would be a fault of the audit, not of the task.
        if sorted(&other) == sorted(&plan) {
            return Err("the same plan was found again".to_owned());
        }
        plan = other;
        each(&plan);
    }
    Ok((most, false))
}

/// A view and what its rows are about, days left out: a supplier and an item, a unit and the number of an hour. Where no field is free,
/// each row is a group of its own, by all its fields.
type Group = (usize, Vec<i64>);

/// What the rows of a view are told apart by, and what is decided of them.
struct Parts {
    members: Vec<usize>,
    free: Vec<usize>,
}

impl Parts {
    /// Those of each view of a model: a field that some row leaves open is decided, whatever its name and type.
    fn of(subject: &Subject<'_>, lower: &Lower<'_>) -> Vec<Parts> {
        let part = |(view, rows): (usize, &Vec<benchwright_solve::Row>)| {
            let fields = &subject.plan.views[view].fields;
            let (free, fixed): (Vec<usize>, Vec<usize>) =
                (0..fields.len()).partition(|at| rows.iter().any(|row| row.fields[*at].known().is_none()));
            let members =
                fixed.into_iter().filter(|at| !matches!(fields[*at].ty, Type::Date | Type::DateTime)).collect();
            Parts { members, free }
        };
        lower.rows.iter().enumerate().map(part).collect()
    }
}

/// What is decided of each group, in all.
fn totals(parts: &[Parts], lower: &mut Lower<'_>) -> BTreeMap<Group, Lin> {
    let mut totals: BTreeMap<Group, Lin> = BTreeMap::new();
    for (view, rows) in lower.rows.clone().iter().enumerate() {
        let Parts { members, free } = &parts[view];
        for row in rows {
            if free.is_empty() {
                let group = row.fields.iter().map(|field| field.constant).collect();
                totals.insert((view, group), lower.truth_value(&row.used));
                continue;
            }
            let group = members.iter().map(|at| row.fields[*at].constant).collect();
            let total: &mut Lin = totals.entry((view, group)).or_default();
            let decided = free.iter().map(|at| match row.fields[*at].known() {
                Some(value) => lower.truth_value(&row.used).times(value),
                None => row.fields[*at].clone(),
            });
            *total = Lin::sum([total.clone()].into_iter().chain(decided));
        }
    }
    totals.retain(|_, total| total.known().is_none());
    totals
}

/// That something is decided otherwise.
fn differs(totals: &BTreeMap<Group, Lin>, values: &BTreeMap<Group, i64>) -> Formula {
    let differs = totals.iter().map(|(group, total)| {
        let value = values.get(group).copied().unwrap_or(0);
        Formula::Ne(total.minus(&Lin::constant(value)))
    });
    Formula::any(differs.collect())
}

/// What a plan decides of each group.
fn values(parts: &[Parts], plan: &Rows) -> BTreeMap<Group, i64> {
    let mut values = BTreeMap::new();
    for (view, rows) in plan.0.iter().enumerate() {
        let Parts { members, free } = &parts[view];
        for row in rows {
            let (group, decided) = match free.is_empty() {
                true => (row.clone(), 1),
                false => (members.iter().map(|at| row[*at]).collect(), free.iter().map(|at| row[*at]).sum()),
            };
            *values.entry((view, group)).or_insert(0) += decided;
        }
    }
    values
}
