//! Episodes that run on a real Odoo: the world of the task asked for last is kept planted, and every episode is a copy of it.

use crate::{ServeError, Settings, worlds::World};
use benchwright_base::Digest;
use benchwright_odoo::{OdooEpisode, OdooError, OdooWorld};
use benchwright_pack::Snapshot;
use std::sync::{Arc, Mutex, PoisonError};

/// The planted world.
#[derive(Default)]
pub(crate) struct Desk {
    kept: Mutex<Option<(Digest, Arc<OdooWorld>)>>,
}

impl From<OdooError> for ServeError {
    fn from(error: OdooError) -> ServeError {
        ServeError::Engine(error.to_string())
    }
}

impl Desk {
    /// Begins an episode of a task's world, whose first state is given.
    pub(crate) fn begin(
        &self,
        settings: &Settings,
        world: &World,
        first: impl FnOnce() -> Snapshot,
    ) -> Result<OdooEpisode, ServeError> {
        let Some(site) = &settings.odoo else {
            return Err(ServeError::Asked("this server has no Odoo; `benchwright serve --odoo` has".to_owned()));
        };
        let Some(task) = &world.task else { return Err(ServeError::Asked("only tasks run on Odoo".to_owned())) };
        // Who plants keeps the others waiting: they could not begin in the same slot either.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.as_ref().filter(|(digest, _)| *digest == task.digest).map(|(_, world)| Arc::clone(world));
        let planted = match known {
            Some(planted) => planted,
            None => {
                let planted = OdooWorld::plant(site, Arc::clone(world.sandbox.domain()), first())?;
                if let Some(difference) = planted.planted().differences.first() {
                    return Err(ServeError::Engine(format!("the world was planted otherwise: {difference:?}")));
                }
                let planted = Arc::new(planted);
                *kept = Some((task.digest, Arc::clone(&planted)));
                planted
            }
        };
        Ok(planted.begin()?)
    }
}
