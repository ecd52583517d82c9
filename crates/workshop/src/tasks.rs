//! A task with its world and its judge, for whatever needs no solver.

use crate::Error;
use benchwright_catalog::{Catalog, CatalogError};
use benchwright_grade::{GradeError, Grader, JudgeError, TaskJudge};
use benchwright_pack::{BoundKeys, NativeCheck, Script, Snapshot, Task};
use benchwright_project::Family;
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::Domain;
use benchwright_world::{ReplayError, WorldError, replay};
use std::sync::Arc;

/// Why a task cannot be played: its first state cannot be read, or does not hold together.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct TaskError(#[from] CatalogError);

/// A task that can be played and judged.
pub struct Judged<'t> {
    /// The task, open and sealed.
    pub task: &'t Task,
    /// The declarations of its world.
    pub domain: Arc<Domain>,
    /// The family of its workflow; a request has none.
    pub family: Option<&'static dyn Family>,
    /// Its world, in which episodes can be begun.
    pub sandbox: Arc<Sandbox>,
    /// The first state of that.
    pub first: Snapshot,
}

impl<'t> Judged<'t> {
    /// Finds the domain and the family of a task, and opens its world.
    pub fn open(catalog: &Catalog, task: &'t Task) -> Result<Judged<'t>, Error> {
        let name = &task.open.domain;
        let family = family_of(catalog, task).map_err(Error::catalog(name))?;
        let (sandbox, first) = catalog.first_state(&task.world).map_err(TaskError::from)?;
        Ok(Judged { task, domain: Arc::clone(sandbox.domain()), family, sandbox, first })
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

    /// A judge of its terminal states by the rules of its plan.
    pub fn grader(&self) -> Result<Grader<'_>, GradeError> {
        Grader::new(&self.domain, &self.task.sealed.verifier, &self.first, self.natives())
    }

    /// A judge of its terminal states, whichever it has.
    pub fn judge(&self) -> Result<TaskJudge<'_>, JudgeError> {
        let seat = self.sandbox.seat_of(&self.task.open);
        TaskJudge::of(&self.task.sealed, &self.domain, &self.first, self.natives(), &self.sandbox, &seat)
    }

    fn natives(&self) -> &'static [(&'static str, NativeCheck)] {
        self.family.map_or(&[], |family| family.natives())
    }
}

/// The family of a task's workflow; a request has none.
pub(crate) fn family_of(catalog: &Catalog, task: &Task) -> Result<Option<&'static dyn Family>, CatalogError> {
    match &task.sealed.effects {
        Some(_) => Ok(None),
        None => catalog.family(&task.sealed.family, &task.open.domain).map(Some),
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
