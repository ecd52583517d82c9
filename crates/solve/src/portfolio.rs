//! Several provers on one model, one after the other until the best value and the best bound meet. Some models are proved by
//! CP-SAT and not by HiGHS, some the other way round, and on some each knows what the other lacks.
//!
//! No prover is trusted with a value: a plan counts if the evaluator, reading the rules over its rows, accepts it, and then at
//! the evaluator's value. A bound is the provers' own claim; two claims that contradict each other are an error.

use crate::{
    Answer, Engine, Formula, Limits, Lin, Lower, Lowering, Model, Status, Var, certificate,
    plan::{number, required},
};
use benchwright_schema::plan::{Bound, Phase, Plan};
use benchwright_spec::{
    Candidates, ExactBound, Outcome, PhaseResult, Planner, PlannerError, ProverResult, Rows, Solved,
};

/// Work of [`Planner::some_plan`].
const LITTLE: f64 = 0.5;
/// One of so many parts: what is taken off a bound that was computed in doubles, in the size of the bound.
const IN_DOUBLES: i64 = 1_000_000;

/// An engine, and how it is asked.
#[derive(Clone)]
pub struct Prover<'e> {
    /// The engine.
    pub engine: &'e dyn Engine,
    /// How hard it tries.
    pub limits: Limits,
    /// Whether it computes in whole numbers. If not, a millionth is taken off its bound, and that it finds no plan is no proof
    /// that there is none.
    pub exact: bool,
}

/// A planner that asks several provers.
#[derive(Clone)]
pub struct Portfolio<'e> {
    /// The provers, in the order in which they are asked.
    pub provers: Vec<Prover<'e>>,
    /// Those who are asked where a proof is only wanted if it is to be had soon.
    pub hurried: Vec<Prover<'e>>,
    /// How rules become constraints.
    pub lowering: Lowering,
    /// How far a value may be from its bound, in thousandths of the value, to count as solved.
    pub admitted: i64,
}

impl<'e> Portfolio<'e> {
    /// The usual order: CP-SAT with much given to linear relaxations, for a third of its work and then for all, HiGHS for 20,000
    /// nodes, and CP-SAT once more with little given to them. Only what is proved counts as solved.
    pub fn new(cp_sat: &'e dyn Engine, highs: &'e dyn Engine) -> Portfolio<'e> {
        let exact = |work, linearization| Prover {
            engine: cp_sat,
            limits: Limits { work, linearization, fixed_search: false },
            exact: true,
        };
        let second = |nodes: f64| Prover {
            engine: highs,
            limits: Limits { work: nodes / crate::NODES_PER_WORK, linearization: 2, fixed_search: false },
            exact: false,
        };
        Portfolio {
            provers: vec![exact(10.0, 2), exact(30.0, 2), second(20_000.0), exact(10.0, 1)],
            hurried: vec![exact(4.0, 2), second(2_000.0)],
            lowering: Lowering::Shared,
            admitted: 0,
        }
    }

    /// Makes one expression small. Both `of` and what is found are of a quantity to be small; `sign` turns it back.
    /// In a hurry, what is admitted is enough.
    fn least(
        &self,
        ask: &Ask<'_>,
        lower: &mut Lower<'_>,
        of: &Lin,
        phase: &Phase,
        hurry: bool,
    ) -> Result<Found, PlannerError> {
        let sign = phase.text.sign();
        let of = of.times(sign);
        lower.model.minimise = Some(of.clone());
        let mut found = Found::default();
        for prover in if hurry { &self.hurried } else { &self.provers } {
            lower.model.hint = found.hint();
            let answer = prover.engine.solve(&lower.model, &prover.limits);
            let mut said = ProverResult {
                prover: told(prover),
                status: "failed".to_owned(),
                value: None,
                bound: None,
                work: answer.as_ref().map_or(0, |answer| (answer.work * 1_000.0).round() as i64),
            };
            // An engine that has no form for a model has no answer; another may have one.
            if let Ok(answer) = answer {
                said.status = word(answer.status).to_owned();
                found.take(ask, lower, &of, phase, prover, answer, &mut said);
            }
            found.provers.push(said);
            found.consistent()?;
            if found.is_over() || hurry && found.gap().is_some_and(|gap| self.admits(gap)) {
                break;
            }
        }
        lower.model.hint.clear();
        Ok(found)
    }

    /// Whether a plan that is so far from its bound, of so much, counts as solved.
    fn admits(&self, (gap, of): (i64, i64)) -> bool {
        i128::from(gap) * 1_000 <= i128::from(self.admitted) * i128::from(of)
    }

    /// A bound of the model that needs no solver to be checked, where there is one within a twentieth of the value.
    fn exact(&self, lower: &Lower<'_>, sign: i64, value: i64) -> Option<ExactBound> {
        let mut found = self
            .provers
            .iter()
            .filter_map(|prover| certificate::near(&lower.model, prover.engine, value).ok().flatten());
        found.next().map(|(bound, proof)| ExactBound { bound: bound * sign, proof })
    }

    fn phases(
        &self,
        ask: &Ask<'_>,
        candidates: &Candidates,
        objective: &str,
        hurry: bool,
    ) -> Result<Outcome, PlannerError> {
        let phases = phases(ask.plan, objective)?;
        let mut lower = required(ask.plan, ask.bound, candidates, self.lowering)?;
        let (variables, constraints) = (lower.model.vars.len(), lower.model.constraints.len());
        let mut results = Vec::new();
        let mut rows = Rows::empty(ask.plan);
        for phase in phases {
            let of = number(&mut lower, &phase.of)?;
            let found = self.least(ask, &mut lower, &of, phase, hurry)?;
            if found.infeasible {
                if results.is_empty() {
                    return Ok(Outcome::Infeasible);
                }
                return Err(PlannerError::Engine("a plan was lost between two phases".to_owned()));
            }
            let (Some(best), Some(bound)) = (&found.best, found.bound) else { return Ok(Outcome::Unproved) };
            if found.gap().is_none_or(|gap| !self.admits(gap)) {
                return Ok(Outcome::Unproved);
            }
            let exact = match hurry || !results.is_empty() {
                true => None,
                false => self.exact(&lower, phase.text.sign(), best.value),
            };
            let sign = phase.text.sign();
            // Of a phase with a gap, those after it may only improve what was found.
            lower.require(&Formula::Le(of.times(sign).minus(&Lin::constant(best.value))));
            results.push(PhaseResult {
                name: phase.text.name.clone(),
                proved: best.value == bound,
                value: best.value * sign,
                bound: bound * sign,
                work: found.provers.iter().map(|said| said.work).sum(),
                provers: found.provers.clone(),
                exact,
            });
            rows = best.rows.clone();
        }
        Ok(Outcome::Solved(Box::new(Solved { rows, phases: results, variables, constraints })))
    }
}

/// The model of an objective's first phase, with what turns its value back.
pub fn model_of(
    plan: &Plan,
    bound: &Bound,
    candidates: &Candidates,
    objective: &str,
    lowering: Lowering,
) -> Result<(Model, i64), PlannerError> {
    let mut lower = required(plan, bound, candidates, lowering)?;
    let Some(phase) = phases(plan, objective)?.first() else {
        return Err(PlannerError::Unreadable("the objective has no phase".to_owned()));
    };
    let sign = phase.text.sign();
    lower.model.minimise = Some(number(&mut lower, &phase.of)?.times(sign));
    Ok((lower.model, sign))
}

fn phases<'p>(plan: &'p Plan, objective: &str) -> Result<&'p [Phase], PlannerError> {
    let phases = plan.objectives.get(objective).map(Vec::as_slice);
    phases.ok_or_else(|| PlannerError::Unreadable(format!("the plan has no objective `{objective}`")))
}

/// What is asked: the rules and what they are bound to.
struct Ask<'a> {
    plan: &'a Plan,
    bound: &'a Bound,
}

impl Ask<'_> {
    /// The evaluator's value of a phase, if it accepts the rows under every rule that a solver reads.
    fn accepted(&self, rows: &Rows, phase: Option<&Phase>) -> Option<i64> {
        let (broken, value) = rows.judged(self.plan, self.bound, phase);
        if phase.is_none() { Some(0) } else { value }.filter(|_| broken == 0)
    }
}

/// A plan that the evaluator accepts.
#[derive(Clone)]
struct Best {
    rows: Rows,
    point: Vec<i64>,
    value: i64,
}

/// What the provers found so far, of a quantity that is to be small.
#[derive(Default)]
struct Found {
    best: Option<Best>,
    bound: Option<i64>,
    infeasible: bool,
    provers: Vec<ProverResult>,
}

impl Found {
    #[expect(clippy::too_many_arguments, reason = "one answer and all that it is read against")]
    fn take(
        &mut self,
        ask: &Ask<'_>,
        lower: &Lower<'_>,
        of: &Lin,
        phase: &Phase,
        prover: &Prover<'_>,
        answer: Answer,
        said: &mut ProverResult,
    ) {
        let sign = phase.text.sign();
        if answer.status == Status::Infeasible {
            self.infeasible |= prover.exact;
            return;
        }
        // A search that ran out before it found anything says nothing that is worth keeping, unless it works with bounds.
        if answer.status != Status::Unknown || !prover.exact {
            let slack = if prover.exact { 0 } else { answer.bound.abs() / IN_DOUBLES };
            let bound = answer.bound - slack;
            said.bound = Some(bound * sign);
            self.bound = Some(self.bound.map_or(bound, |known| known.max(bound)));
        }
        if !matches!(answer.status, Status::Optimal | Status::Feasible) {
            return;
        }
        let rows = lower.read(&answer.point);
        let value = ask.accepted(&rows, Some(phase)).map(|value| value * sign);
        match value.filter(|value| *value == of.at(&answer.point)) {
            None => "refused".clone_into(&mut said.status),
            Some(value) => {
                said.value = Some(value * sign);
                if self.best.as_ref().is_none_or(|best| value < best.value) {
                    self.best = Some(Best { rows, point: answer.point, value });
                }
            }
        }
    }

    /// The best point as a place to begin at.
    fn hint(&self) -> Vec<(Var, i64)> {
        let point = self.best.iter().flat_map(|best| best.point.iter().enumerate());
        point.map(|(var, value)| (var as Var, *value)).collect()
    }

    /// How far the best value is from its bound, and its size.
    fn gap(&self) -> Option<(i64, i64)> {
        let (best, bound) = self.best.as_ref().zip(self.bound)?;
        Some((best.value.saturating_sub(bound), best.value.abs()))
    }

    fn is_over(&self) -> bool {
        self.infeasible || self.best.as_ref().is_some_and(|best| self.bound == Some(best.value))
    }

    fn consistent(&self) -> Result<(), PlannerError> {
        let Some(best) = &self.best else { return Ok(()) };
        let against = match self.bound {
            _ if self.infeasible => "that there is none".to_owned(),
            Some(bound) if bound > best.value => format!("the bound {bound}"),
            _ => return Ok(()),
        };
        let who: Vec<&str> = self.provers.iter().map(|said| &*said.prover).collect();
        let said = format!("a plan of {}, and {against} ({})", best.value, who.join(", "));
        Err(PlannerError::Contradiction(said))
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Optimal => "optimal",
        Status::Feasible => "feasible",
        Status::Infeasible => "infeasible",
        Status::Unknown => "unknown",
    }
}

fn told(Prover { engine, limits, .. }: &Prover<'_>) -> String {
    format!("{}, level {}, work {}", engine.version(), limits.linearization, limits.work)
}

impl Planner for Portfolio<'_> {
    fn solve(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
    ) -> Result<Outcome, PlannerError> {
        self.phases(&Ask { plan, bound }, candidates, objective, false)
    }

    fn best(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
    ) -> Result<Outcome, PlannerError> {
        self.phases(&Ask { plan, bound }, candidates, objective, true)
    }

    fn some_plan(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
        than: Option<i64>,
    ) -> Result<Option<Rows>, PlannerError> {
        let ask = Ask { plan, bound };
        let mut lower = required(plan, bound, candidates, self.lowering)?;
        let goal = match phases(plan, objective)?.first() {
            Some(phase) => Some((number(&mut lower, &phase.of)?.times(phase.text.sign()), phase.text.sign())),
            None => None,
        };
        let Some(((of, sign), than)) = goal.clone().zip(than) else {
            lower.model.minimise = goal.map(|(of, _)| of);
            for prover in &self.provers {
                if let Some(found) = first(&ask, &lower, prover, LITTLE) {
                    return Ok(found);
                }
            }
            return Ok(None);
        };
        // Any plan that is better will do, and one prover is asked. Some models give one sooner where nothing is made small, and some
        // where the relaxation of what is made small leads the way.
        lower.require(&Formula::Le(of.minus(&Lin::constant(than * sign - 1))));
        let Some(prover) = self.provers.first() else { return Ok(None) };
        if let Some(found) = first(&ask, &lower, prover, LITTLE / 4.0) {
            return Ok(found);
        }
        lower.model.minimise = Some(of);
        Ok(first(&ask, &lower, prover, LITTLE * 2.0).flatten())
    }
}

/// A plan that a prover finds with so much work; `Some(None)` where it is certain that there is none.
fn first(ask: &Ask<'_>, lower: &Lower<'_>, prover: &Prover<'_>, work: f64) -> Option<Option<Rows>> {
    let limits = Limits { work, ..prover.limits.clone() };
    let answer = prover.engine.solve(&lower.model, &limits).ok()?;
    match answer.status {
        Status::Infeasible if prover.exact => return Some(None),
        Status::Optimal | Status::Feasible => {}
        _ => return None,
    }
    let rows = lower.read(&answer.point);
    ask.accepted(&rows, None).is_some().then_some(Some(rows))
}
