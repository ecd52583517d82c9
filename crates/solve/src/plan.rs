//! Solves for an objective phase by phase: each phase is made smallest with those before it held at their best. After
//! them come unscored phases that choose one plan among equals, and last a fixed search, so that the plan is canonical.

use crate::{Engine, Formula, Limits, Lin, Lower, Model, Status};
use benchwright_expr::Expr;
use benchwright_schema::plan::{Bound, Plan};
use benchwright_spec::{Candidates, Outcome, PhaseResult, Planner, PlannerError, Solved};

/// Deterministic work of a scored phase, and of its one retry.
const WORK: [f64; 2] = [10.0, 30.0];
/// Deterministic work of a phase that only chooses among equals.
const TIE_WORK: f64 = 5.0;

/// A model that was solved, for measuring the bare engine on the same work.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    /// The model.
    pub model: Model,
    /// Its limits.
    pub limits: Limits,
}

/// Solves with one engine.
pub struct PhasePlanner<'e> {
    engine: &'e dyn Engine,
    /// How much of a model is given to linear relaxations.
    pub linearization: u8,
    /// Every model that was solved, if they are to be kept.
    pub record: Option<Vec<Recorded>>,
}

impl<'e> PhasePlanner<'e> {
    /// A planner on an engine.
    pub fn new(engine: &'e dyn Engine) -> PhasePlanner<'e> {
        PhasePlanner { engine, linearization: 1, record: None }
    }

    /// The engine.
    pub fn engine(&self) -> &'e dyn Engine {
        self.engine
    }

    fn run(&mut self, model: &Model, limits: &Limits) -> Result<crate::Answer, PlannerError> {
        if let Some(record) = &mut self.record {
            record.push(Recorded { model: model.clone(), limits: limits.clone() });
        }
        self.engine.solve(model, limits).map_err(|error| PlannerError::Engine(error.to_string()))
    }

    /// Makes one expression smallest. `None` if the work runs out without a proof.
    fn least(&mut self, lower: &mut Lower<'_>, of: &Lin, work: &[f64]) -> Result<Option<crate::Answer>, PlannerError> {
        lower.model.minimise = Some(of.clone());
        for work in work {
            let limits = Limits { work: *work, linearization: self.linearization, fixed_search: false };
            let answer = self.run(&lower.model, &limits)?;
            if matches!(answer.status, Status::Optimal | Status::Infeasible) {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }
}

/// The model of a plan's rules over candidates: every rule instance is required.
pub(crate) fn required<'a>(
    plan: &'a Plan,
    bound: &'a Bound,
    candidates: &Candidates,
) -> Result<Lower<'a>, PlannerError> {
    let mut lower = Lower::new(plan, bound, candidates);
    let instances = lower.all_instances().map_err(|error| PlannerError::Unreadable(error.to_string()))?;
    for instance in &instances {
        lower.require(&instance.holds);
    }
    Ok(lower)
}

fn number(lower: &mut Lower<'_>, expr: &Expr) -> Result<Lin, PlannerError> {
    lower.number(expr).map_err(|error| PlannerError::Unreadable(error.to_string()))
}

impl Planner for PhasePlanner<'_> {
    fn solve(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
    ) -> Result<Outcome, PlannerError> {
        let Some(phases) = plan.objectives.get(objective) else {
            return Err(PlannerError::Unreadable(format!("the plan has no objective `{objective}`")));
        };
        let mut lower = required(plan, bound, candidates)?;
        let (variables, constraints) = (lower.model.vars.len(), lower.model.constraints.len());
        let mut results = Vec::new();
        let mut point = Vec::new();
        for phase in phases {
            let of = number(&mut lower, &phase.of)?;
            let answer = match self.least(&mut lower, &of, &WORK)? {
                Some(answer) if answer.status == Status::Infeasible => return Ok(Outcome::Infeasible),
                Some(answer) => answer,
                None => return Ok(Outcome::Unproved),
            };
            let value = of.at(&answer.point);
            results.push(result(&phase.text.name, true, value, &answer));
            hold(&mut lower, &of, value);
            hint(&mut lower, &answer.point);
            point = answer.point;
        }
        for (at, tie) in plan.ties.iter().enumerate() {
            let of = number(&mut lower, tie)?;
            let Some(answer) = self.least(&mut lower, &of, &[TIE_WORK])? else { continue };
            if answer.status != Status::Optimal {
                return Err(PlannerError::Engine("a plan was lost between two phases".to_owned()));
            }
            let value = of.at(&answer.point);
            results.push(result(&format!("tie {}", at + 1), true, value, &answer));
            hold(&mut lower, &of, value);
            hint(&mut lower, &answer.point);
            point = answer.point;
        }
        // Whatever freedom is left is taken away by a search in the order of the candidates, smallest values first.
        lower.model.minimise = None;
        lower.model.hint.clear();
        let limits = Limits { work: TIE_WORK, linearization: self.linearization, fixed_search: true };
        let answer = self.run(&lower.model, &limits)?;
        if matches!(answer.status, Status::Optimal | Status::Feasible) {
            point = answer.point;
        }
        let rows = lower.read(&point);
        Ok(Outcome::Solved(Box::new(Solved { rows, phases: results, variables, constraints })))
    }
}

fn result(name: &str, proved: bool, value: i64, answer: &crate::Answer) -> PhaseResult {
    let work = (answer.work * 1_000.0).round() as i64;
    PhaseResult { name: name.to_owned(), proved, value, bound: answer.bound, work }
}

fn hold(lower: &mut Lower<'_>, of: &Lin, value: i64) {
    lower.require(&Formula::Eq(of.minus(&Lin::constant(value))));
}

fn hint(lower: &mut Lower<'_>, point: &[i64]) {
    lower.model.hint = point.iter().enumerate().map(|(var, value)| (var as u32, *value)).collect();
}
