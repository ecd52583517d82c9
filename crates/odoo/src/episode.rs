//! An episode in a slot: calls go to Odoo as they come, and its records are read back when a state is asked for.

use crate::{Answer, OdooError, OdooWorld, reading};
use benchwright_base::{DateTime, Digest, RowId, nearest};
use benchwright_pack::{Diff, Outcome, Refusal, RefusalCode, Snapshot, Trace, TraceCall};
use benchwright_world::{Episode, FaceAnswer, WorldError, WorldState};
use std::sync::Arc;

/// An episode in a database of its own, which goes back to be used again when it is closed.
pub struct OdooEpisode {
    world: Arc<OdooWorld>,
    slot: String,
    /// The role of the task. Odoo does not know it: calls are made by the one user that agents have there.
    role: String,
    /// The calls made through the trait.
    log: Vec<TraceCall>,
}

impl OdooEpisode {
    pub(crate) fn new(world: Arc<OdooWorld>, slot: String, role: String) -> OdooEpisode {
        OdooEpisode { world, slot, role, log: Vec::new() }
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

    fn answer(&self, tool: &str, arguments: &str) -> Result<String, Refusal> {
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

    fn note(&mut self, tool: String, arguments: &str, answer: &Result<String, Refusal>) {
        let outcome = match answer {
            Ok(answer) => Outcome::Answered(Digest::of_parts([("answer", answer.as_bytes())]).to_string()),
            Err(refusal) => Outcome::Refused(refusal.code.word().to_owned()),
        };
        self.log.push(TraceCall { tool, arguments: arguments.to_owned(), outcome });
    }
}

impl Drop for OdooEpisode {
    fn drop(&mut self) {
        self.world.give_back(&self.slot);
    }
}

impl Episode for OdooEpisode {
    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let answer = self.answer(tool, arguments);
        self.note(tool.to_owned(), arguments, &answer);
        answer
    }

    fn fork(&self) -> Result<Box<dyn Episode>, WorldError> {
        let slot = self.world.take()?;
        let mut copy = OdooEpisode::new(Arc::clone(&self.world), slot, self.role.clone());
        self.world.site.copy(&self.slot, &copy.slot)?;
        copy.log.clone_from(&self.log);
        Ok(Box::new(copy))
    }

    fn state(&self) -> Result<WorldState, WorldError> {
        Ok(WorldState::Records(self.read()?))
    }

    fn state_bytes(&self) -> Result<Vec<u8>, WorldError> {
        Ok(self.read()?.to_bytes(&self.world.domain))
    }

    fn trace(&self) -> Result<Trace, WorldError> {
        let OdooWorld { domain, digest, .. } = &*self.world;
        Ok(Trace {
            version: Trace::VERSION,
            domain: domain.name.clone(),
            domain_digest: domain.digest.to_string(),
            role: self.role.clone(),
            actor: None,
            start: digest.to_string(),
            calls: self.log.clone(),
            end: self.fingerprint()?,
        })
    }

    fn diff(&self) -> Result<Diff, WorldError> {
        Ok(Diff::between(&self.world.first, &self.read()?))
    }

    fn role(&self) -> &str {
        &self.role
    }

    fn now(&self) -> DateTime {
        self.world.first.now
    }

    fn id_of(&self, table: &str, row: RowId) -> RowId {
        self.world.record_of(table, row).unwrap_or(row)
    }

    /// A record call as it came, by model and method.
    fn speak(&mut self, words: &[&str], body: &str) -> Result<FaceAnswer, WorldError> {
        let [model, method] = words else {
            return Err(WorldError::Engine(format!("{words:?} is no model with a method")));
        };
        let answer = self.post(model, method, body)?;
        self.note(format!("{}_{method}", model.replace('.', "_")), body, &answer.clone().into_result());
        Ok(answer.into())
    }
}
