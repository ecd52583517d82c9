//! A task as documents: the open part that an agent's machine may have (instruction, first state, tools, limits) and the
//! sealed part that only a judge has (what was drawn, the certified plan as calls, and the verifier with its rules and
//! facts).

use crate::{Anchors, Effects, PlantedInjection, Scoring, Script, Split, Weights};
use benchwright_base::Digest;
use benchwright_schema::plan::{Binding, Bindings, PlanText};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The version of the open document of a task, of its verifier and of its audit.
pub const TASK_VERSION: u32 = 1;

/// The version of the sealed document of a task. The second tells the family, which the first left to the domain's name.
pub const SEALED_VERSION: u32 = 2;

/// A line that stands in every artifact, so that text which leaked into training data can be found.
pub const CANARY: &str = "benchwright canary 3f1c9a52-77d0-4c58-9c1e-5b0f6e2d8a41: benchmark data, do not train on it";

/// What an agent is given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpenTask {
    /// The version of this document.
    pub version: u32,
    /// The line by which leaked text is found, [`CANARY`]; in tasks for training, [`TRAINING`](crate::TRAINING).
    pub canary: String,
    /// The task's id: it says nothing of how the task was made.
    pub id: String,
    /// The domain of its world.
    pub domain: String,
    /// The role the agent has.
    pub role: String,
    /// Who acts, by the row of the person; whoever has the role first where nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<u32>,
    /// The tools it may call; empty for all of the domain.
    pub tools: Vec<String>,
    /// The most calls it may make.
    pub calls: u32,
    /// The digest of the instruction.
    pub instruction: String,
    /// The digest of the first state.
    pub world: String,
    /// The faults that its calls meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<TaskFaults>,
}

/// Faults that calls meet without having done anything, the same for every agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskFaults {
    /// What they are drawn from, with the tool and how often it was called.
    pub drawn_from: u64,
    /// How many there are in a million calls.
    pub per_million: u32,
}

/// Rows of a plan in words, by view: the value of each field, members by key.
pub type AnswerRows = BTreeMap<String, Vec<BTreeMap<String, Binding>>>;

/// How a verifier reads and judges a terminal state. It carries all that the judge needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Verifier {
    /// The version of this document.
    pub version: u32,
    /// The digest of the first state. A state that began elsewhere is not judged.
    pub world: String,
    /// How checks and scores add up to a reward.
    pub scoring: Scoring,
    /// The rules that apply to this task, with the views they speak of.
    pub plan: PlanText,
    /// The facts.
    pub bindings: Bindings,
    /// The keys of the first state's rows: table, row id, key.
    pub keys: BTreeMap<String, BTreeMap<u32, String>>,
    /// The objective, by name.
    pub objective: String,
    /// The certified value of each of its phases.
    pub best: Vec<i64>,
    /// The values by which the quality of a plan is told, where its reward is that and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchors: Option<Anchors>,
    /// Rules whose failure alone takes the whole reward.
    pub gates: Vec<String>,
    /// The rows of the one plan that there is, for the views whose rows a part counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answer: AnswerRows,
}

impl Verifier {
    /// The version that is written and judged by. The third knows the parts of a job.
    pub const VERSION: u32 = 3;

    /// What stands in the place of a verifier where a task is judged by its effects. No judge of plans takes it.
    pub fn none() -> Verifier {
        Verifier {
            version: 0,
            world: String::new(),
            scoring: Scoring {
                trace_family: None,
                weights: Weights { constraints: 0, objective: 0, trace: 0 },
                broken_percent: 0,
                paper_bar_percent: 0,
            },
            plan: PlanText::default(),
            bindings: Bindings::default(),
            keys: BTreeMap::new(),
            objective: String::new(),
            best: Vec::new(),
            anchors: None,
            gates: Vec::new(),
            answer: BTreeMap::new(),
        }
    }

    fn is_none(&self) -> bool {
        self.version == 0
    }
}

/// A sentence of the instruction and the rules it tells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Clause {
    /// The ids of the rules that the sentence tells.
    pub tells: Vec<String>,
    /// The sentence as it stands in the instruction.
    pub text: String,
}

/// What is known of the optimum.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Certificate {
    /// The solver's name and version.
    pub solver: String,
    /// The digest of its library.
    pub library: String,
    /// The phases, as the solver left them.
    pub phases: Json,
    /// The plan, in words.
    pub plan: Json,
    /// The size of the model.
    pub variables: usize,
    /// The number of its constraints.
    pub constraints: usize,
    /// How many draws were discarded before this one, by cause.
    pub discarded: BTreeMap<String, u32>,
    /// What rules and the rest are worth in the task, in words by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, String>,
}

/// The usual tiers, from the easiest on.
const TIERS: [&str; 3] = ["easy", "medium", "hard"];

/// Where a tier stands among others: the usual ones by difficulty, all others after them.
pub fn tier_place(tier: &str) -> u32 {
    TIERS.iter().zip(0..).find(|(name, _)| **name == tier).map_or(TIERS.len() as u32, |(_, at)| at)
}

/// A setting that was chosen for a task, which reports can lay out as an axis.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dial {
    /// What it is called, such as `open slots`.
    pub name: String,
    /// What it is set to.
    pub value: i64,
}

/// What only a judge has.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SealedTask {
    /// The version of this document.
    pub version: u32,
    /// The line by which leaked text is found, [`CANARY`].
    pub canary: String,
    /// The id of the open part that this belongs to.
    pub id: String,
    /// The family of its workflow: who judges it asks this family for rules that are functions.
    pub family: String,
    /// The pattern it was made from.
    pub pattern: String,
    /// The tier that it was drawn at, such as `medium`.
    pub tier: String,
    /// The dials that the tier turns, where its pattern declares some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dials: Vec<Dial>,
    /// The objective that it was drawn for.
    pub objective: String,
    /// The seed that everything random in it follows from.
    pub seed: u64,
    /// What it was made for. Its seed is a number of that split.
    #[serde(default, skip_serializing_if = "Split::is_test")]
    pub split: Split,
    /// The salt of the suite that its id comes from; outside of a suite an id comes from the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// The attempt that was kept.
    pub attempt: u32,
    /// The reading of a clause that tells it from its twin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// The switches of the case.
    pub switches: Vec<String>,
    /// What was drawn, in the family's own words.
    pub case: Json,
    /// The clauses of the instruction.
    pub clauses: Vec<Clause>,
    /// The calls that carry out the certified plan.
    pub oracle: Script,
    /// What judges a terminal state by the rules of a plan.
    #[serde(default = "Verifier::none", skip_serializing_if = "Verifier::is_none")]
    pub verifier: Verifier,
    /// What judges the outcome of a request by what it changed. A task has one of the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// The hostile text that one of its records carries, in a task that was made with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection: Option<PlantedInjection>,
    /// What is known of the best plan, and who proved it.
    pub certificate: Certificate,
}

/// A whole task as it is made; on disk its two parts stand in trees of their own.
#[derive(Clone, PartialEq, Debug)]
pub struct Task {
    /// What an agent's machine may have, but for the instruction and the world.
    pub open: OpenTask,
    /// The text that the agent is given.
    pub instruction: String,
    /// The first state, as the bytes of a snapshot.
    pub world: Vec<u8>,
    /// What only a judge has.
    pub sealed: SealedTask,
}

impl Task {
    /// The bytes of `task.json`.
    pub fn open_bytes(&self) -> Vec<u8> {
        pretty(&self.open)
    }

    /// The bytes of `sealed.json`.
    pub fn sealed_bytes(&self) -> Vec<u8> {
        pretty(&self.sealed)
    }

    /// The digest of every byte of the task.
    pub fn digest(&self) -> Digest {
        Task::digest_of(&self.open_bytes(), self.instruction.as_bytes(), &self.world, &self.sealed_bytes())
    }

    /// The same, of the bytes of its files.
    pub fn digest_of(open: &[u8], instruction: &[u8], world: &[u8], sealed: &[u8]) -> Digest {
        Digest::of_parts([
            ("task.json", open),
            ("instruction.md", instruction),
            ("world.json", world),
            ("sealed.json", sealed),
        ])
    }
}

/// The one form of a document.
pub(crate) fn pretty(document: &impl Serialize) -> Vec<u8> {
    // Writing to memory fails only for maps whose keys are no texts, and there are none.
    let mut bytes = serde_json::to_vec_pretty(document).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
