//! Solves for an objective phase by phase: each phase is made smallest with those before it held at their best. After
//! them come unscored phases that choose one plan among equals, and last one that prefers early candidates, so that the plan
//! is canonical.

use crate::{Engine, Formula, Limits, Lin, Lower, Lowering, Model, Status};
use benchwright_expr::Expr;
use benchwright_schema::plan::{Bound, Plan};
use benchwright_spec::{Candidates, Outcome, PhaseResult, Planner, PlannerError, Solved};

/// Deterministic work of a scored phase. What is not proved within it is thrown away: a task that takes longer to prove says no more.
const WORK: f64 = 12.0;
/// Deterministic work of a phase that only chooses among equals.
const TIE_WORK: f64 = 2.0;

/// A model that was solved, for measuring the bare engine on the same work.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    /// The model as it was handed to the engine.
    pub model: Model,
    /// The limits in deterministic work under which it was solved.
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
        PhasePlanner { engine, linearization: 2, record: None }
    }

    /// The engine that solves each phase.
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
    fn least(&mut self, lower: &mut Lower<'_>, of: &Lin) -> Result<Option<crate::Answer>, PlannerError> {
        lower.model.minimise = Some(of.clone());
        let limits = Limits { work: WORK, linearization: self.linearization, fixed_search: false };
        let answer = self.run(&lower.model, &limits)?;
        Ok(Some(answer).filter(|answer| matches!(answer.status, Status::Optimal | Status::Infeasible)))
    }
}

/// The model of a plan's rules over candidates: every rule instance is required.
pub(crate) fn required<'a>(
    plan: &'a Plan,
    bound: &'a Bound,
    candidates: &Candidates,
    lowering: Lowering,
) -> Result<Lower<'a>, PlannerError> {
    let mut lower = Lower::in_way(lowering, plan, bound, candidates);
    let instances = lower.all_instances().map_err(|error| PlannerError::Unreadable(error.to_string()))?;
    for instance in &instances {
        lower.require(&instance.holds);
    }
    Ok(lower)
}

pub(crate) fn number(lower: &mut Lower<'_>, expr: &Expr) -> Result<Lin, PlannerError> {
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
        self.phases(plan, bound, candidates, objective, true)
    }

    fn best(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
    ) -> Result<Outcome, PlannerError> {
        self.phases(plan, bound, candidates, objective, false)
    }
}

impl PhasePlanner<'_> {
    fn phases(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
        canonical: bool,
    ) -> Result<Outcome, PlannerError> {
        let Some(phases) = plan.objectives.get(objective) else {
            return Err(PlannerError::Unreadable(format!("the plan has no objective `{objective}`")));
        };
        let mut lower = required(plan, bound, candidates, Lowering::Plain)?;
        let (variables, constraints) = (lower.model.vars.len(), lower.model.constraints.len());
        let early = early(&lower);
        let mut results = Vec::new();
        let mut point = Vec::new();
        for phase in phases {
            if phase.text.sign() < 0 {
                let name = &phase.text.name;
                return Err(PlannerError::Unreadable(format!("`{name}` is to be large, which a portfolio solves")));
            }
            let of = number(&mut lower, &phase.of)?;
            let answer = match self.least(&mut lower, &of)? {
                Some(answer) if answer.status == Status::Infeasible => return Ok(Outcome::Infeasible),
                Some(answer) => answer,
                None => return Ok(Outcome::Unproved),
            };
            let value = of.at(&answer.point);
            results.push(result(&phase.text.name, true, value, &answer));
            hold(&mut lower, &of, value);
            point = answer.point;
        }
        let mut ties = Vec::new();
        if canonical {
            for (at, tie) in plan.ties.iter().enumerate() {
                ties.push((format!("tie {}", at + 1), number(&mut lower, tie)?));
            }
            ties.push(("early candidates".to_owned(), early));
        }
        for (name, of) in ties {
            lower.model.minimise = Some(of.clone());
            let limits = Limits { work: TIE_WORK, linearization: self.linearization, fixed_search: false };
            let answer = self.run(&lower.model, &limits)?;
            match answer.status {
                Status::Optimal | Status::Feasible => {}
                Status::Infeasible => {
                    return Err(PlannerError::Engine("a plan was lost between two phases".to_owned()));
                }
                Status::Unknown => continue,
            }
            let value = of.at(&answer.point);
            results.push(result(&name, answer.status == Status::Optimal, value, &answer));
            hold(&mut lower, &of, value);
            point = answer.point;
        }
        let rows = lower.read(&point);
        Ok(Outcome::Solved(Box::new(Solved { rows, phases: results, variables, constraints })))
    }
}

/// Small where early candidates are used, and little of the late ones.
fn early(lower: &Lower<'_>) -> Lin {
    let rows = lower.rows.iter().flatten();
    let free = rows.enumerate().flat_map(|(at, row)| {
        row.fields.iter().filter(|field| field.known().is_none()).map(move |field| field.times(at as i64 + 1))
    });
    Lin::sum(free)
}

fn result(name: &str, proved: bool, value: i64, answer: &crate::Answer) -> PhaseResult {
    let work = (answer.work * 1_000.0).round() as i64;
    PhaseResult { name: name.to_owned(), proved, value, bound: answer.bound, work, provers: Vec::new(), exact: None }
}

fn hold(lower: &mut Lower<'_>, of: &Lin, value: i64) {
    lower.require(&Formula::Eq(of.minus(&Lin::constant(value))));
}
