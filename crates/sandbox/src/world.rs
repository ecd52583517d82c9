//! The sandbox as an engine: implements the traits of `benchwright_world`, through which servers and judges see every
//! engine alike.

use crate::{Conditions, Episode, Sandbox};
use benchwright_base::{DateTime, StateHash};
use benchwright_pack::{Diff, OpenTask, Refusal, Trace};
use benchwright_schema::Domain;
use benchwright_world::{About, Seat, Size, ToolLine, World, WorldError, WorldState};
use std::sync::Arc;

/// A sandbox as a world: the agent's seat and faults are those of a task, or there is no task and the seat is chosen.
pub struct SandboxWorld {
    sandbox: Arc<Sandbox>,
    task: Option<(Seat, Conditions)>,
}

impl SandboxWorld {
    /// A world without a task.
    pub fn plain(sandbox: Arc<Sandbox>) -> SandboxWorld {
        SandboxWorld { sandbox, task: None }
    }

    /// The world of a task, whose first state the sandbox has.
    pub fn of_task(sandbox: Arc<Sandbox>, task: &OpenTask) -> SandboxWorld {
        // Calls are counted by whoever makes them, so that those over the limit are counted too.
        let conditions = Conditions { calls: None, ..Conditions::of(task) };
        SandboxWorld { task: Some((sandbox.seat_of(task), conditions)), sandbox }
    }
}

impl World for SandboxWorld {
    fn about(&self) -> About<'_> {
        About::of(self.sandbox.domain())
    }

    fn domain(&self) -> Option<&Arc<Domain>> {
        Some(self.sandbox.domain())
    }

    fn tools(&self) -> Vec<ToolLine> {
        ToolLine::all_of(self.sandbox.domain())
    }

    fn begin(&self, role: Option<&str>) -> Result<Box<dyn benchwright_world::Episode>, WorldError> {
        let seated = |role: &str| Seat { actor: self.sandbox.person_for(role), role: role.to_owned() };
        let (seat, conditions) = match (role, &self.task) {
            (None, Some((seat, conditions))) => (seat.clone(), conditions.clone()),
            (Some(role), Some((_, conditions))) => (seated(role), conditions.clone()),
            (role, None) => {
                let domain = self.sandbox.domain();
                let usual = || domain.role_named("admin").or(domain.roles.first()).map(|role| &*role.name);
                (seated(role.or_else(usual).unwrap_or_default()), Conditions::default())
            }
        };
        Ok(Box::new(self.sandbox.begin(&seat, conditions)?))
    }
}

impl benchwright_world::Episode for Episode {
    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        Episode::call(self, tool, arguments)
    }
    fn fork(&self) -> Result<Box<dyn benchwright_world::Episode>, WorldError> {
        Ok(Box::new(Episode::fork(self)))
    }
    fn state(&self) -> Result<WorldState, WorldError> {
        Ok(WorldState::Records(Episode::snapshot(self)))
    }
    fn state_bytes(&self) -> Result<Vec<u8>, WorldError> {
        Ok(Episode::snapshot_bytes(self))
    }
    fn state_hash(&self) -> Option<StateHash> {
        Some(Episode::state_hash(self))
    }
    fn trace(&self) -> Result<Trace, WorldError> {
        Ok(Episode::trace(self))
    }
    fn diff(&self) -> Result<Diff, WorldError> {
        Ok(Episode::diff(self))
    }
    fn role(&self) -> &str {
        &Episode::role(self).name
    }
    fn domain(&self) -> Option<&Domain> {
        Some(Episode::domain(self))
    }
    fn now(&self) -> DateTime {
        Episode::now(self)
    }
    fn size(&self) -> Size {
        let (rows, first) = Episode::weight(self);
        Size { rows, first }
    }
}
