//! The trait of a family of workflows: it draws cases, and tells each as facts for the rules, records of the first state,
//! calls of the oracle and words of the instruction.

use crate::{Authoring, Faults, Mutator, Optimised, OwnFiles, Pattern, Players, Proof, Reader, Readings};
use benchwright_base::Stream;
use benchwright_pack::{Clause, NativeCheck, Script, Snapshot, run::Problem};
use benchwright_schema::{
    Domain, Folder,
    plan::{Bindings, PlanText},
};
use benchwright_spec::{NamedRows, Planner, PlannerError};
use serde_json::Value as Json;
use std::{collections::BTreeMap, sync::Arc};

/// Which task is drawn.
#[derive(Clone, Debug)]
pub struct Draw<'a> {
    /// The pattern that is drawn from.
    pub pattern: &'a Pattern,
    /// The tier of the pattern, such as `medium`.
    pub tier: &'a str,
    /// The objective of the pattern, such as `min_new_spend`.
    pub objective: &'a str,
    /// The seed that everything random in the task follows from.
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

/// The case of a task: the business situation that was drawn, from which everything else follows.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The objective that its best plan is solved for.
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
    Planner(PlannerError),
    /// The recipe or the family is at fault.
    #[error("{0}")]
    Fault(String),
}

impl From<PlannerError> for Discard {
    fn from(error: PlannerError) -> Discard {
        match error {
            // One of the provers is wrong, and nobody knows which: there is no task to be had of this draw.
            PlannerError::Contradiction(_) => Discard::Because("the provers contradict each other".to_owned()),
            error => Discard::Planner(error),
        }
    }
}

impl From<FamilyError> for Discard {
    fn from(error: FamilyError) -> Discard {
        Discard::Fault(error.0)
    }
}

/// The first state of a task's world.
#[derive(Clone, PartialEq, Debug)]
pub struct FirstState {
    /// The rows, in the domain's tables.
    pub snapshot: Snapshot,
    /// The keys of rows: table, row id, key.
    pub keys: BTreeMap<String, BTreeMap<u32, String>>,
}

/// An instruction, with the clauses that tell rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Brief {
    /// The whole text, in Markdown.
    pub text: String,
    /// Its sentences that tell rules, each with the rules it tells.
    pub clauses: Vec<Clause>,
}

/// What a family could not do, in its own words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct FamilyError(pub String);

impl From<String> for FamilyError {
    fn from(why: String) -> FamilyError {
        FamilyError(why)
    }
}

impl From<&str> for FamilyError {
    fn from(why: &str) -> FamilyError {
        FamilyError(why.to_owned())
    }
}

impl From<FamilyError> for String {
    fn from(error: FamilyError) -> String {
        error.0
    }
}

/// Fills the tables of a domain by its seed, at a size and from a number. Who makes a family hands it such a function, since a family
/// runs no world. Where no row can be drawn that fits, it is the draw that is thrown away.
pub type Filler = fn(Arc<Domain>, &str, u64) -> Result<Snapshot, Discard>;

/// What a domain tells a part that it includes: the family of that part is made from it.
#[derive(Clone, Copy)]
pub struct Telling<'a> {
    /// The folder of the domain.
    pub folder: &'a Folder,
    /// The domain, to look names up in, where it could be loaded.
    pub domain: Option<&'a Domain>,
    /// What fills tables.
    pub filler: Filler,
}

/// The core that every family of workflows has: it draws cases, and tells each as facts, records, calls and words.
///
/// What only some families have is a capability of its own, which is asked for by name: `None` is an answer.
pub trait Family: Send + Sync {
    /// The rules, views, facts and objectives that its patterns share.
    fn plan(&self) -> &PlanText;
    /// The same for cases with these switches, where some are planned by other rules than the rest.
    fn plan_of(&self, _switches: &[String]) -> &PlanText {
        self.plan()
    }
    /// Draws a case. Disruptions need the plan of an undisturbed day, so a planner is at hand where there is a solver.
    fn sample(&self, draw: &Draw<'_>, domain: &Domain, planner: &mut dyn Planner) -> Result<Case, Discard>;
    /// The facts of a case.
    fn bindings(&self, case: &Case) -> Result<Bindings, FamilyError>;
    /// The records of a case.
    fn world(&self, case: &Case, domain: &Domain) -> Result<FirstState, FamilyError>;
    /// The calls that make a plan come true. Where nothing is optimised or proved, the plan is empty and the case says it all.
    fn script(&self, case: &Case, plan: &NamedRows) -> Result<Script, FamilyError>;
    /// The instruction. The plan text holds the rules that apply, with their sentences.
    fn brief(&self, draw: &Draw<'_>, case: &Case, plan: &PlanText) -> Result<Brief, FamilyError>;
    /// The rules whose failure takes the whole reward.
    fn gates(&self, _case: &Case) -> Vec<String> {
        Vec::new()
    }
    /// The rules that are functions.
    fn natives(&self) -> &'static [(&'static str, NativeCheck)] {
        &[]
    }

    /// Plans that a solver can look for.
    fn optimised(&self) -> Option<&dyn Optimised> {
        None
    }
    /// Briefs that can be read back.
    fn reader(&self) -> Option<&dyn Reader> {
        None
    }
    /// Near-misses that are made without a solver.
    fn mutator(&self) -> Option<&dyn Mutator> {
        None
    }
    /// Plans that it proves itself.
    fn proof(&self) -> Option<&dyn Proof> {
        None
    }
    /// The tiers that it has, where a pattern may offer more.
    fn tiers(&self) -> Option<Vec<String>> {
        None
    }
    /// What kind of planning problem its tasks of a tier are, where they are any.
    fn problem(&self, _tier: &str) -> Option<Problem> {
        None
    }
    /// Agents that it brings.
    fn players(&self) -> Option<&dyn Players> {
        None
    }
    /// Calls that fail.
    fn faults(&self) -> Option<&dyn Faults> {
        None
    }
    /// Clauses with two readings.
    fn readings(&self) -> Option<&dyn Readings> {
        None
    }
    /// Tasks of somebody's own data.
    fn own_files(&self) -> Option<&dyn OwnFiles> {
        None
    }
    /// What it asks of those who write patterns for it.
    fn authoring(&self) -> Option<&dyn Authoring> {
        None
    }
}
