//! A task with its world and its judge, for commands that need no solver.

use crate::failure::Failure;
use benchwright_catalog::{Catalog, Found};
use benchwright_grade::{GradeError, Grader};
use benchwright_pack::{Ledger, Script, Snapshot, SnapshotError, Store, StoreError, Task};
use benchwright_project::Family;
use benchwright_sandbox::{Conditions, Episode, LoadError, Sandbox};
use benchwright_schema::Domain;
use benchwright_world::{ReplayError, WorldError, replay};
use std::{path::Path, sync::Arc};

/// Why a task cannot be played.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    /// Its first state cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Its first state does not hold together.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// A task that can be played and judged.
pub(crate) struct Judged<'t> {
    pub(crate) task: &'t Task,
    pub(crate) domain: Arc<Domain>,
    pub(crate) family: &'static dyn Family,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) first: Snapshot,
}

impl<'t> Judged<'t> {
    /// Opens the world of a task.
    pub(crate) fn new(task: &'t Task, found: &Found, family: &'static dyn Family) -> Result<Judged<'t>, TaskError> {
        let domain = Arc::clone(&found.domain);
        let first = Snapshot::from_bytes(&task.world, &domain)?;
        let sandbox = Arc::new(Sandbox::from_snapshot(Arc::clone(&domain), found.natives, &first)?);
        Ok(Judged { task, domain, family, sandbox, first })
    }

    /// Finds the domain and the family of a task, and opens its world.
    pub(crate) fn open(catalog: &Catalog, task: &'t Task) -> anyhow::Result<Judged<'t>> {
        let name = &task.open.domain;
        let found = catalog.find(name).map_err(|error| Failure::of_catalog(error, name))?;
        let family = catalog.family(name).map_err(|error| Failure::of_catalog(error, name))?;
        let next = "make the task again with this program: benchwright build SUITE.toml -o DIR";
        Judged::new(task, &found, family).map_err(|error| Failure::falls_short(error, next))
    }

    /// An episode at the first state, in the agent's seat.
    pub(crate) fn begin(&self) -> Result<Episode, WorldError> {
        self.sandbox.begin(&self.sandbox.seat_of(&self.task.open), Conditions::default())
    }

    /// The rows of the first state by key, for scripts.
    pub(crate) fn ledger(&self) -> Ledger {
        let keys = &self.task.sealed.verifier.keys;
        Ledger::new(keys.values().flatten().map(|(id, key)| (key.clone(), *id)))
    }

    /// The state that a script leaves.
    pub(crate) fn play(&self, script: &Script) -> Result<Snapshot, ReplayError> {
        let mut episode = self.begin().map_err(|error| ReplayError::Answer { at: 0, why: error.to_string() })?;
        replay(script, &mut self.ledger(), &mut episode)?;
        Ok(episode.snapshot())
    }

    /// A judge of its terminal states.
    pub(crate) fn grader(&self) -> Result<Grader<'_>, GradeError> {
        Grader::new(&self.domain, &self.task.sealed.verifier, &self.first, self.family.natives())
    }
}

/// Where a task given on the command line is.
pub(crate) fn locate(task: &Path) -> anyhow::Result<(Store, String)> {
    Store::locate(task).map_err(|error| {
        let next = "the folder of a task, such as DIR/open/ID; `benchwright new` makes some";
        Failure::wrong_use(error, next)
    })
}

/// A failure to read or write tasks.
pub(crate) fn of_store(error: StoreError) -> anyhow::Error {
    match &error {
        StoreError::Name(_) | StoreError::AlreadyThere(_) => Failure::wrong_use(&error, "another folder or name"),
        StoreError::Missing(_) => Failure::wrong_use(&error, "benchwright build SUITE.toml -o DIR"),
        StoreError::Io { .. } => Failure::missing(&error, "another folder, one that can be read and written"),
        _ => Failure::falls_short(&error, "make it again: benchwright build SUITE.toml -o DIR"),
    }
}

/// A reward or score in millionths, as it is shown.
pub(crate) fn shown(millionths: i64) -> String {
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
