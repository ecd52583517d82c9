//! A task with its world and its judge, for whatever needs no solver.

use crate::Error;
use benchwright_catalog::{Catalog, Found};
use benchwright_grade::{GradeError, Grader};
use benchwright_pack::{BoundKeys, Script, Snapshot, SnapshotError, Task};
use benchwright_project::Family;
use benchwright_sandbox::{Conditions, Episode, LoadError, Sandbox};
use benchwright_schema::Domain;
use benchwright_world::{ReplayError, WorldError, replay};
use std::sync::Arc;

/// Why a task cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// Its first state cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Its first state does not hold together.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// A task that can be played and judged.
pub struct Judged<'t> {
    /// The task, open and sealed.
    pub task: &'t Task,
    /// The declarations of its world.
    pub domain: Arc<Domain>,
    /// The family of its workflow.
    pub family: &'static dyn Family,
    /// Its world, in which episodes can be begun.
    pub sandbox: Arc<Sandbox>,
    /// The first state of that.
    pub first: Snapshot,
}

impl<'t> Judged<'t> {
    /// Opens the world of a task.
    pub fn new(task: &'t Task, found: &Found, family: &'static dyn Family) -> Result<Judged<'t>, TaskError> {
        let domain = Arc::clone(&found.domain);
        let first = Snapshot::from_bytes(&task.world, &domain)?;
        let sandbox = Arc::new(Sandbox::from_snapshot(Arc::clone(&domain), found.natives, &first)?);
        Ok(Judged { task, domain, family, sandbox, first })
    }

    /// Finds the domain and the family of a task, and opens its world.
    pub fn open(catalog: &Catalog, task: &'t Task) -> Result<Judged<'t>, Error> {
        let name = &task.open.domain;
        let found = catalog.find(name).map_err(Error::catalog(name))?;
        let family = catalog.family(&task.sealed.family, name).map_err(Error::catalog(name))?;
        Ok(Judged::new(task, &found, family)?)
    }

    /// An episode at the first state, in the agent's seat.
    pub fn begin(&self) -> Result<Episode, WorldError> {
        self.sandbox.begin(&self.sandbox.seat_of(&self.task.open), Conditions::default())
    }

    /// The rows of the first state by key, for scripts.
    pub fn bound_keys(&self) -> BoundKeys {
        let keys = &self.task.sealed.verifier.keys;
        BoundKeys::new(keys.values().flatten().map(|(id, key)| (key.clone(), *id)))
    }

    /// The state that a script leaves.
    pub fn play(&self, script: &Script) -> Result<Snapshot, ReplayError> {
        let mut episode = self.begin().map_err(|error| ReplayError::Answer { at: 0, why: error.to_string() })?;
        replay(script, &mut self.bound_keys(), &mut episode)?;
        Ok(episode.snapshot())
    }

    /// A judge of its terminal states.
    pub fn grader(&self) -> Result<Grader<'_>, GradeError> {
        Grader::new(&self.domain, &self.task.sealed.verifier, &self.first, self.family.natives())
    }
}

/// A reward or score in millionths, as it is shown.
pub fn shown(millionths: i64) -> String {
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn rewards_are_shown_between_0_and_1() {
        let all = [0, 1_000_000, 982_900, 250_000, 1].map(shown);
        assert_eq!(all, ["0.0", "1.0", "0.9829", "0.25", "0.000001"]);
    }
}
