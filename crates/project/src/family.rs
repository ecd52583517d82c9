//! A family of workflows on one domain: what it draws, and how what it drew becomes facts, records, calls and words.

use crate::Pattern;
use benchwright_base::Stream;
use benchwright_pack::{Clause, NativeCheck, Script, Snapshot};
use benchwright_schema::{
    Domain,
    plan::{Bindings, Bound, Plan, PlanText},
};
use benchwright_spec::{Candidates, NamedRows, Planner, PlannerError, Rows, Solved};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Which task is drawn.
#[derive(Clone, Debug)]
pub struct Draw<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// The tier.
    pub tier: &'a str,
    /// The objective.
    pub objective: &'a str,
    /// The task's seed.
    pub seed: u64,
    /// Which attempt this is.
    pub attempt: u32,
}

impl Draw<'_> {
    /// The random stream of one parameter. Adding a draw to one parameter shifts no other.
    pub fn stream(&self, parameter: &str) -> Stream {
        let attempt = self.attempt.to_string();
        Stream::new(self.seed, &[&self.pattern.name, self.tier, self.objective, &attempt, parameter])
    }
}

/// What was drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The objective.
    pub objective: String,
    /// The switches that bring rules in.
    pub switches: Vec<String>,
    /// The case in the family's own words.
    pub data: Json,
}

/// Why a draw was thrown away.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Discard {
    /// It does not make a good task; the code says why and is counted.
    #[error("{0}")]
    Because(String),
    /// It could not be made at all.
    #[error(transparent)]
    Planner(#[from] PlannerError),
    /// The recipe or the family is at fault.
    #[error("{0}")]
    Fault(String),
}

/// Which candidates are wanted.
#[derive(Clone, Copy, Debug)]
pub enum Breadth<'a> {
    /// For optimising: dates by dominance, one row per price tier.
    Tight,
    /// Whatever an agent could write: two rows of each kind, every date and quantity free.
    Wide,
    /// What is left of that when the plan's settled fields have their values: every quantity, as many rows as there are
    /// other values.
    Settled,
    /// The rows of a plan with every field free, and a few spare ones.
    Local(&'a Rows),
}

/// The first state of a task's world.
#[derive(Clone, PartialEq, Debug)]
pub struct FirstState {
    /// The rows.
    pub snapshot: Snapshot,
    /// The keys of rows: table, row id, key.
    pub keys: BTreeMap<String, BTreeMap<u32, String>>,
}

/// An instruction, with the clauses that tell rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Brief {
    /// The whole text, in Markdown.
    pub text: String,
    /// Its clauses.
    pub clauses: Vec<Clause>,
}

/// A near-miss that is made by changing calls or records instead of by a solver.
#[derive(Clone, PartialEq, Debug)]
pub enum Mutation {
    /// These calls break the rule.
    Script(Script),
    /// No call can produce the breach on this task, for a declared reason.
    None(String),
}

/// What a reader of the brief may do in the world: call a tool as the agent's role, for readers a read-only one.
pub trait Desk {
    /// Calls a tool with a JSON object of arguments.
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, String>;
}

/// A family of workflows.
pub trait Family: Send + Sync {
    /// The rules, views, facts and objectives that its patterns share.
    fn plan(&self) -> &PlanText;
    /// Draws a case. Disruptions need the plan of an undisturbed day, so a planner is at hand.
    fn sample(&self, draw: &Draw<'_>, domain: &Domain, planner: &mut dyn Planner) -> Result<Case, Discard>;
    /// Whether what was solved makes a good task.
    fn accept(
        &self,
        draw: &Draw<'_>,
        case: &Case,
        solved: &Solved,
        domain: &Domain,
        planner: &mut dyn Planner,
    ) -> Result<(), Discard>;
    /// The facts of a case.
    fn bindings(&self, case: &Case) -> Result<Bindings, String>;
    /// The candidate rows of a case.
    fn candidates(&self, case: &Case, plan: &Plan, bound: &Bound, breadth: Breadth<'_>) -> Result<Candidates, String>;
    /// The records of a case.
    fn world(&self, case: &Case, domain: &Domain) -> Result<FirstState, String>;
    /// The calls that make a plan come true.
    fn script(&self, case: &Case, plan: &NamedRows) -> Result<Script, String>;
    /// The instruction. The plan text holds the rules that apply, with their sentences.
    fn brief(&self, draw: &Draw<'_>, case: &Case, plan: &PlanText) -> Result<Brief, String>;
    /// The rules whose failure takes the whole reward.
    fn gates(&self, case: &Case) -> Vec<String>;
    /// Calls that break one instance of a rule which no solver reads; `None` where it has no mutator for it.
    fn mutate(&self, case: &Case, plan: &NamedRows, rule: &str, at: &[String]) -> Result<Option<Mutation>, String>;
    /// A plan made without a solver: the cheapest feasible offer first.
    fn greedy(&self, case: &Case) -> Result<NamedRows, String>;
    /// The case rebuilt from the instruction and from what the world answers, and from nothing else.
    fn read_back(&self, text: &str, desk: &mut dyn Desk) -> Result<Case, String>;
    /// The ids of the records that calls on a case name, by key, from what the world answers and from nothing else.
    fn addresses(&self, case: &Case, desk: &mut dyn Desk) -> Result<BTreeMap<String, u32>, String>;
    /// The rules that are functions.
    fn natives(&self) -> &'static [(&'static str, NativeCheck)];
    /// Its own proof, where a draw brings its plan and nobody has to search for one.
    fn proof(&self) -> Option<&dyn Proof> {
        None
    }
    /// The scripted agents that it brings, by name, from the least able on.
    fn agents(&self) -> &'static [&'static str] {
        &[]
    }
    /// Lets one of them play: it sees the instruction and what tools answer, and nothing else.
    fn play(&self, agent: &str, _text: &str, _desk: &mut dyn Desk) -> Result<(), String> {
        Err(format!("there is no agent `{agent}`"))
    }
    /// The share of calls that fail without having done anything, in millionths, which a case lays on its episodes.
    fn faults(&self, _: &Case) -> u32 {
        0
    }
}

/// Proves that a case has exactly one plan.
pub trait Proof {
    /// What it is proved by, for the certificate.
    fn name(&self) -> &'static str;
    /// The one plan; a case that has another is discarded.
    fn prove(&self, case: &Case, plan: &Plan, bound: &Bound) -> Result<Solved, Discard>;
}
