//! An episode in a slot: calls go to Odoo as they come, and its records are read back when a state is asked for.

use crate::{Answer, OdooError, OdooWorld, reading};
use benchwright_base::{DateTime, RowId, nearest};
use benchwright_pack::{Refusal, RefusalCode, Snapshot};
use benchwright_world::{Episode, WorldError};
use std::sync::Arc;

/// An episode.
pub struct OdooEpisode {
    world: Arc<OdooWorld>,
    slot: String,
}

impl OdooEpisode {
    pub(crate) fn new(world: Arc<OdooWorld>, slot: String) -> OdooEpisode {
        OdooEpisode { world, slot }
    }

    /// Makes a record call with the agent's key.
    pub fn post(&self, model: &str, method: &str, arguments: &str) -> Result<Answer, OdooError> {
        self.world.agent.post(&self.slot, model, method, arguments)
    }

    /// The database it runs in.
    pub fn slot(&self) -> &str {
        &self.slot
    }

    /// The world it began in.
    pub fn world(&self) -> &Arc<OdooWorld> {
        &self.world
    }

    /// The model and the method that a tool is.
    fn call_of<'t>(&self, tool: &'t str) -> Option<(&str, &'t str)> {
        let tables = self.world.domain.tables.iter();
        let begins = tables.filter_map(|table| {
            let method = tool.strip_prefix(&*table.name)?.strip_prefix('_')?;
            Some((&*table.name, table.odoo.as_deref()?, method))
        });
        begins.max_by_key(|(name, _, _)| name.len()).map(|(_, model, method)| (model, method))
    }

    /// The state as a document.
    pub fn read(&self) -> Result<Snapshot, OdooError> {
        let world = &self.world;
        let reading = reading::read(&world.admin, &self.slot, &world.domain, &world.shape)?;
        world.snapshot(&reading)
    }
}

impl Drop for OdooEpisode {
    fn drop(&mut self) {
        self.world.give_back(&self.slot);
    }
}

impl Episode for OdooEpisode {
    fn fork(&self) -> Result<OdooEpisode, WorldError> {
        let slot = self.world.take()?;
        let copy = OdooEpisode::new(Arc::clone(&self.world), slot);
        self.world.site.copy(&self.slot, &copy.slot)?;
        Ok(copy)
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let domain = &self.world.domain;
        if domain.tool_named(tool).is_none() {
            let near = nearest(tool, domain.tools.iter().map(|tool| &*tool.name));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(Refusal::new(RefusalCode::NotFound, format!("there is no tool `{tool}`{near}")));
        }
        let Some((model, method)) = self.call_of(tool) else {
            return Err(Refusal::new(RefusalCode::NotFound, format!("`{tool}` is no record call")));
        };
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        match self.post(model, method, arguments) {
            Ok(answer) => answer.into_result(),
            Err(error) => Err(Refusal::new(RefusalCode::InjectedFault, error.to_string())),
        }
    }

    fn snapshot(&self) -> Result<Snapshot, WorldError> {
        Ok(self.read()?)
    }

    fn now(&self) -> DateTime {
        self.world.first.now
    }

    fn id_of(&self, table: &str, row: RowId) -> RowId {
        self.world.record_of(table, row).unwrap_or(row)
    }

    fn close(self) -> Result<(), WorldError> {
        Ok(())
    }
}
