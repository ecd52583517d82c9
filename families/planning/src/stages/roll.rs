//! A plan made stage by stage, as anybody has to make it who does not know what comes: each stage is solved with what was handed in
//! before it held. What it is worth is told beside what the best plan in hindsight is, which no such plan can better.

use super::{
    LAST, fit,
    lift::{FIELD, SET},
};
use crate::{bind, candidates, workflow::Planning};
use benchwright_base::Value;
use benchwright_project::{Breadth, Case, Discard, FamilyError};
use benchwright_schema::plan::{Bindings, Bound, Plan};
use benchwright_spec::{
    Candidate, Candidates, Cell, Outcome, PhaseResult, Planner, PlannerError, ProverResult, Rows, Solved,
};

/// The numbers of the stages of a case.
pub(crate) fn numbers(family: &Planning, case: &Case) -> Vec<i64> {
    let records = Planning::records(case).unwrap_or_default();
    bind::stages(&family.layout, &records)
}

/// Facts as they are known to somebody at a stage.
pub(crate) fn known_at(plan: &Plan, bound: &Bound, stage: i64) -> Bound {
    let mut bound = bound.clone();
    if let Some(set) = plan.sets.iter().position(|(name, _)| name == SET) {
        bound.sets[set].retain(|known| matches!(known, Value::Int(known) if *known <= stage));
    }
    if let Some(fact) = plan.facts.iter().position(|fact| fact.name == LAST) {
        bound.facts[fact].rows.insert(Vec::new(), stage);
    }
    bound
}

/// The question of hindsight: rules, facts and candidates of the last stage alone. Every plan that keeps the rules of all stages has at the
/// last one a plan that keeps these, and costs no less, since fees are never less than nothing.
pub(crate) fn hindsight(
    family: &Planning,
    bindings: &Bindings,
    last: i64,
    breadth: Breadth<'_>,
) -> Result<(Plan, Bound, Candidates), FamilyError> {
    let stages = family.stages.as_ref().ok_or("the workflow has no stages")?;
    let plan = Plan::compile(&stages.hindsight, &family.forms).map_err(|faults| faults.to_string())?;
    let bound = Bound::new(&plan, bindings).map_err(|faults| faults.to_string())?;
    let mut candidates = all(family, &plan, &bound, breadth, None)?;
    held(&plan, &mut candidates, &Rows::empty(&plan), last);
    Ok((plan, bound, candidates))
}

/// The candidates of every stage that is bound.
pub(crate) fn all(
    family: &Planning,
    plan: &Plan,
    bound: &Bound,
    breadth: Breadth<'_>,
    without: Option<&str>,
) -> Result<Candidates, String> {
    let (told, text) = (&family.told, &family.plan);
    let mut found = match breadth {
        Breadth::Tight => candidates::candidates(told, text, plan, bound, without)?,
        Breadth::Wide | Breadth::Local(_) | Breadth::Dominant => candidates::single(told, text, plan, bound)?,
    };
    if matches!(breadth, Breadth::Wide | Breadth::Local(_)) {
        candidates::widen(&family.forms, text, plan, &mut found);
    }
    fit(&family.forms, text, plan, &mut found);
    if let Breadth::Local(rows) = breadth {
        candidates::near(told, plan, rows, &mut found);
    }
    Ok(found)
}

/// Candidates of one stage beside the rows of those before it, which are as they were handed in.
pub(crate) fn held(plan: &Plan, candidates: &mut Candidates, before: &Rows, stage: i64) {
    for ((view, candidates), rows) in plan.views.iter().zip(candidates).zip(&before.0) {
        let Some(at) = view.field_named(FIELD) else { continue };
        candidates.retain(|candidate| candidate.fields[at] == Cell::Fixed(stage));
        let earlier = rows.iter().filter(|row| row[at] < stage);
        let row = |row: &Vec<i64>| Candidate::single(true, row.iter().map(|cell| Cell::Fixed(*cell)).collect());
        candidates.splice(0..0, earlier.map(row).collect::<Vec<Candidate>>());
    }
}

/// Who is asked, and how.
pub(crate) type Ask<'p> = dyn FnMut(&Plan, &Bound, &Candidates) -> Result<Outcome, PlannerError> + 'p;

/// What came of planning stage by stage.
pub(crate) enum Rolled {
    /// A plan, with what was found at each stage.
    Planned(Rows, Vec<Solved>),
    /// There is no plan at some stage.
    Infeasible,
    /// It could not be told within the work.
    Unproved,
}

/// Plans stage by stage.
pub(crate) fn rolled(
    family: &Planning,
    plan: &Plan,
    bound: &Bound,
    stages: &[i64],
    ask: &mut Ask<'_>,
) -> Result<Rolled, Discard> {
    let mut rows = Rows::empty(plan);
    let mut found = Vec::new();
    for stage in stages {
        let known = known_at(plan, bound, *stage);
        let mut candidates = all(family, plan, &known, Breadth::Tight, None).map_err(Discard::Fault)?;
        held(plan, &mut candidates, &rows, *stage);
        match ask(plan, &known, &candidates)? {
            Outcome::Solved(solved) => {
                rows = solved.rows.clone();
                found.push(*solved);
            }
            Outcome::Infeasible => return Ok(Rolled::Infeasible),
            Outcome::Unproved => return Ok(Rolled::Unproved),
        }
    }
    Ok(Rolled::Planned(rows, found))
}

/// The certified plan of a case, with the bound of hindsight.
pub(crate) fn solve(
    family: &Planning,
    objective: &str,
    (plan, bound): (&Plan, &Bound),
    bindings: &Bindings,
    stages: &[i64],
    planner: &mut dyn Planner,
) -> Result<Outcome, Discard> {
    let mut ask =
        |plan: &Plan, bound: &Bound, candidates: &Candidates| planner.best(plan, bound, candidates, objective);
    let (rows, found) = match rolled(family, plan, bound, stages, &mut ask)? {
        Rolled::Planned(rows, found) => (rows, found),
        Rolled::Infeasible => return Ok(Outcome::Infeasible),
        Rolled::Unproved => return Ok(Outcome::Unproved),
    };
    let last = stages.last().copied().ok_or_else(|| Discard::Fault("there is no stage".to_owned()))?;
    let (best_plan, best_bound, candidates) = hindsight(family, bindings, last, Breadth::Tight)?;
    let best = match ask(&best_plan, &best_bound, &candidates)? {
        Outcome::Solved(best) => best,
        // Whatever was planned at the last stage is a plan in hindsight.
        Outcome::Infeasible => {
            return Err(Discard::Fault("in hindsight there is no plan, and there is one".to_owned()));
        }
        Outcome::Unproved => return Ok(Outcome::Unproved),
    };
    let value = rows.worth(plan, bound, objective);
    let value = value.ok_or_else(|| Discard::Fault("a plan made stage by stage breaks a rule".to_owned()))?;
    let phase = best.phases.first().ok_or_else(|| Discard::Fault("there is no phase".to_owned()))?;
    if value * family.sign() < phase.bound * family.sign() {
        return Err(Discard::Fault(format!(
            "a plan made stage by stage of {value} betters {}, the bound of hindsight",
            phase.bound
        )));
    }
    let said = |stage: String, phase: &PhaseResult| -> Vec<ProverResult> {
        let told =
            |prover: &ProverResult| ProverResult { prover: format!("{stage}: {}", prover.prover), ..prover.clone() };
        phase.provers.iter().map(told).collect()
    };
    let of_stages = stages.iter().zip(&found).map(|(stage, solved)| (format!("stage {stage}"), solved));
    let all: Vec<(String, &Solved)> = of_stages.chain([("hindsight".to_owned(), &*best)]).collect();
    let phases = || all.iter().flat_map(|(stage, solved)| solved.phases.iter().map(move |phase| (stage, phase)));
    let result = PhaseResult {
        name: phase.name.clone(),
        proved: value == phase.bound,
        value,
        bound: phase.bound,
        work: phases().map(|(_, phase)| phase.work).sum(),
        provers: phases().flat_map(|(stage, phase)| said(stage.clone(), phase)).collect(),
        exact: None,
    };
    let variables = all.iter().map(|(_, solved)| solved.variables).max().unwrap_or_default();
    let constraints = all.iter().map(|(_, solved)| solved.constraints).max().unwrap_or_default();
    Ok(Outcome::Solved(Box::new(Solved { rows, phases: vec![result], variables, constraints })))
}
