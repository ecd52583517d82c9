//! The traits through which a run gets its tasks, episodes and verdicts. The workshop implements them over worlds in this
//! process and over a server elsewhere.

use benchwright_pack::{OpenPart, Refusal, Script, Trace, Verdict};
use benchwright_project::Planner;
use benchwright_schema::Domain;
use benchwright_world::Workspace;
use serde_json::Value as Json;
use std::{collections::BTreeMap, sync::Arc};

/// Why a host could not do what was asked. Nothing of this kind is ever scored.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{cause}: {detail}")]
pub struct HostError {
    /// What kind of failure: `world`, `grader`, `task`, `server`, `solver`.
    pub cause: &'static str,
    /// What the failing part said, for people.
    pub detail: String,
}

/// A tool as an agent sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolCard {
    /// The name by which it is called.
    pub name: String,
    /// What it does, as agents are told.
    pub description: String,
    /// The schema of its arguments.
    pub arguments: Json,
    /// Whether it changes nothing.
    pub reads_only: bool,
    /// The table it is about, if it is about one.
    pub table: Option<String>,
}

/// What is sealed, for agents that are given it: the oracle, and those that act on its plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Sealed {
    /// The calls of the certified plan.
    pub oracle: Script,
    /// The ids of the first state's rows by key.
    pub ids: BTreeMap<String, u32>,
    /// Tools that the work would need beside those of the plan: of a request that cannot be carried out those of its twin.
    pub needs: Vec<String>,
}

/// What is left of an episode.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// The calls that were made, in order.
    pub trace: Trace,
    /// The terminal state, where it was asked for.
    pub left: Option<Left>,
    /// What the judge said of the terminal state.
    pub verdict: Verdict,
    /// The rules that speak of what nobody asked for.
    pub frame_rules: Vec<String>,
    /// Microseconds inside the world and the judge.
    pub world: u64,
}

/// The terminal state of an episode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// The bytes of a snapshot.
    pub snapshot: Vec<u8>,
    /// What changed, as JSON.
    pub diff: String,
}

/// How a program outside reaches an episode: nothing but its tools.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reach {
    /// The address at which it speaks MCP.
    pub mcp: String,
    /// The address of its tools in plain JSON, to which a tool's name is added.
    pub tools: String,
    /// The token for both.
    pub token: String,
}

/// An episode that a host keeps.
pub trait Hosted {
    /// The tools.
    fn tools(&self) -> &[ToolCard];
    /// How a program outside reaches it; nothing where it is not served.
    fn reach(&self) -> Option<Reach> {
        None
    }
    /// Why it cannot be reached any more, if that is so. What is refused after that was never asked of the world.
    fn lost(&self) -> Option<HostError> {
        None
    }
    /// The files of its world at the present stage, and what was handed in at it; nothing where its world has no files.
    fn workspace(&self) -> Result<Option<Workspace>, HostError> {
        Ok(None)
    }
    /// Calls a tool with a JSON object of arguments.
    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal>;
    /// Ends it and grades what it left, which comes along `with_state`.
    fn finish(self: Box<Self>, with_state: bool) -> Result<Finished, HostError>;
}

/// Whoever gives a run its tasks, episodes and verdicts: this process, or a server elsewhere.
pub trait Host: Sync {
    /// What an agent is given of a task.
    fn open(&self, id: &str) -> Result<OpenPart, HostError>;
    /// What is sealed of a task.
    fn sealed(&self, id: &str) -> Result<Sealed, HostError>;
    /// The family that reads briefs back and plans without a solver, for the greedy policy.
    fn family(&self, id: &str) -> Result<&'static dyn benchwright_project::Family, HostError>;
    /// Lends a planner that tries as hard as the one that the task was made with.
    fn with_planner(&self, id: &str, _: &mut dyn FnMut(&mut dyn Planner)) -> Result<(), HostError> {
        let detail = format!("there is no solver for {id} here");
        Err(HostError { cause: "solver", detail })
    }
    /// The declarations of a task's world, where it has some.
    fn domain(&self, _id: &str) -> Result<Option<Arc<Domain>>, HostError> {
        Ok(None)
    }
    /// Begins an episode of a task.
    fn begin(&self, id: &str) -> Result<Box<dyn Hosted + '_>, HostError>;
}
