//! What a solver found: the best plan with the value of each phase and whether it is proved, or that there is none. And
//! [`Planner`], the trait through which others ask.

use crate::{Candidates, Rows};
use benchwright_schema::plan::{Bound, Plan};
use serde::{Deserialize, Serialize};

/// One phase of a solve, as the certificate keeps it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PhaseResult {
    /// The name of the phase in the rules.
    pub name: String,
    /// Whether the value is proved best.
    pub proved: bool,
    /// The best value that was found, in the unit of the expression.
    pub value: i64,
    /// A proved bound: no plan is below it, or above it where the quantity is to be large.
    pub bound: i64,
    /// The deterministic work, in thousandths of the engine's unit.
    pub work: i64,
    /// What each prover said, where several were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provers: Vec<ProverResult>,
    /// A bound that can be reckoned without a solver, where there is one near enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactBound>,
}

/// A bound with that from which it follows in whole numbers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExactBound {
    /// The bound.
    pub bound: i64,
    /// Why it holds.
    #[serde(flatten)]
    pub proof: BoundProof,
}

/// Why a bound of a model holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BoundProof {
    /// The rows of the model's linear form, so multiplied and added up.
    Sum {
        /// How many rows there are.
        rows: usize,
        /// The multiplier of each row that has one, in millionths: its place and its value.
        multipliers: Vec<(u32, i64)>,
    },
    /// It holds where a variable of 0 and 1 is 0, and where it is 1.
    Cases {
        /// The variable, by its place in the model.
        var: u32,
        /// Why it holds where that is 0.
        no: Box<BoundProof>,
        /// Why it holds where that is 1.
        yes: Box<BoundProof>,
    },
}

/// What one prover of several said of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProverResult {
    /// The engine with its version, and how it was asked.
    pub prover: String,
    /// `optimal`, `feasible`, `infeasible`, `unknown`, `refused` where the evaluator refused its plan, or `failed`.
    pub status: String,
    /// The value of its plan, if it has one that the evaluator accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
    /// The bound that it proved, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<i64>,
    /// Its deterministic work, in thousandths of the engine's unit.
    pub work: i64,
}

/// A plan that was solved for.
#[derive(Clone, PartialEq, Debug)]
pub struct Solved {
    /// The plan: the rows of each view that are to come true.
    pub rows: Rows,
    /// The phases of the objective, in order, then those that choose among equals.
    pub phases: Vec<PhaseResult>,
    /// The number of variables of the model.
    pub variables: usize,
    /// The number of its constraints.
    pub constraints: usize,
}

/// How an attempt to solve ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// With a plan whose scored phases are proved, or as near to their bounds as the planner admits.
    Solved(Box<Solved>),
    /// There is no plan.
    Infeasible,
    /// The work ran out before a proof.
    Unproved,
}

/// Why nothing could be solved at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlannerError {
    /// A rule or objective cannot be read over these candidates.
    #[error("{0}")]
    Unreadable(String),
    /// The solver is not there or failed.
    #[error("{0}")]
    Engine(String),
    /// A plan is better than a bound that somebody proved, so one of the two is wrong.
    #[error("the provers contradict each other: {0}")]
    Contradiction(String),
}

/// Finds the best plan.
pub trait Planner {
    /// Solves for an objective of the plan, phase by phase, over candidates.
    fn solve(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
    ) -> Result<Outcome, PlannerError>;

    /// The same without choosing among equal plans: enough where only the values matter.
    fn best(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
    ) -> Result<Outcome, PlannerError> {
        self.solve(plan, bound, candidates, objective)
    }

    /// Any plan that keeps the rules, found with little work and proved to be nothing; none if there was none within it. With a
    /// value, the plan is to be better than that; without one the objective only says where to look first.
    fn some_plan(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
        than: Option<i64>,
    ) -> Result<Option<Rows>, PlannerError> {
        let Outcome::Solved(solved) = self.best(plan, bound, candidates, objective)? else { return Ok(None) };
        let phase = plan.objectives.get(objective).and_then(|phases| phases.first());
        let sign = phase.map_or(1, |phase| phase.text.sign());
        let value = solved.phases.first().map_or(0, |phase| phase.value);
        Ok(Some(solved.rows).filter(|_| than.is_none_or(|than| value * sign < than * sign)))
    }

    /// Hears why a draw makes no task. It changes nothing; who watches may say it.
    fn thrown_away(&mut self, _attempt: u32, _cause: &str) {}
}

/// No solver is at hand: for families that ask none, and for looking at what can be drawn without one.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPlanner;

impl Planner for NoPlanner {
    fn solve(&mut self, _: &Plan, _: &Bound, _: &Candidates, _: &str) -> Result<Outcome, PlannerError> {
        Err(PlannerError::Engine("no solver is at hand".to_owned()))
    }
}
