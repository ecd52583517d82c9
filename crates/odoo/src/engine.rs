//! A real Odoo as an engine. One first state is planted at a time, that of the task asked for last, and every episode is a
//! copy of it.

use crate::{OdooError, OdooWorld, Site};
use benchwright_base::Digest;
use benchwright_pack::{OpenPart, Snapshot};
use benchwright_schema::Domain;
use benchwright_world::{About, Engine, Episode, ToolLine, World, WorldError};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Finds the domain of a name.
pub type FindDomain = dyn Fn(&str) -> Result<Arc<Domain>, WorldError> + Send + Sync;

/// The engine `odoo`: tasks on an installation.
pub struct OdooEngine {
    installation: Arc<Installation>,
    domains: Box<FindDomain>,
}

/// The installation, and what is planted in it.
struct Installation {
    site: Site,
    kept: Mutex<Option<(Digest, Arc<OdooWorld>)>>,
}

impl OdooEngine {
    /// An engine on an installation, for tasks of domains that are found so.
    pub fn new(site: Site, domains: Box<FindDomain>) -> OdooEngine {
        OdooEngine { installation: Arc::new(Installation { site, kept: Mutex::default() }), domains }
    }
}

impl fmt::Debug for OdooEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OdooEngine").field("url", &self.installation.site.url).finish_non_exhaustive()
    }
}

impl Engine for OdooEngine {
    fn names(&self) -> &[&str] {
        &["odoo"]
    }

    fn open(&self, task: &OpenPart) -> Result<Arc<dyn World>, WorldError> {
        let domain = (self.domains)(&task.open.domain)?;
        if domain.tables.iter().all(|table| table.odoo.is_none()) {
            return Err(WorldError::Asked(format!("{} is not modelled on Odoo, so it cannot run there", domain.name)));
        }
        let refused = |error: benchwright_pack::SnapshotError| WorldError::Refused(error.to_string());
        let first = Snapshot::from_bytes(&task.world, &domain).map_err(refused)?;
        let role = domain.role_named(&task.open.role).or(domain.roles.first());
        let role = role.map_or_else(String::new, |role| role.name.clone());
        let digest = Digest::of(&task.world);
        Ok(Arc::new(TaskWorld { installation: Arc::clone(&self.installation), domain, first, digest, role }))
    }
}

/// The world of a task. It is planted when an episode begins, unless it still is.
struct TaskWorld {
    installation: Arc<Installation>,
    domain: Arc<Domain>,
    first: Snapshot,
    /// Of the first state.
    digest: Digest,
    role: String,
}

impl TaskWorld {
    fn planted(&self) -> Result<Arc<OdooWorld>, WorldError> {
        // Who plants keeps the others waiting: they could not begin in the same slot either.
        let mut kept = self.installation.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((digest, world)) = &*kept {
            if *digest == self.digest {
                return Ok(Arc::clone(world));
            }
            // To plant takes a slot, and which ones are free is known to the world that gave them out.
            if Arc::strong_count(world) > 1 {
                let why = "episodes of another task still run on this Odoo; close them first";
                return Err(WorldError::Asked(why.to_owned()));
            }
        }
        let planted = OdooWorld::plant(&self.installation.site, Arc::clone(&self.domain), self.first.clone())?;
        if let Some(difference) = planted.planted().differences.first() {
            return Err(OdooError::Misfit(format!("the world was planted otherwise: {difference:?}")).into());
        }
        let planted = Arc::new(planted);
        *kept = Some((self.digest, Arc::clone(&planted)));
        Ok(planted)
    }
}

impl World for TaskWorld {
    fn about(&self) -> About<'_> {
        About::of(&self.domain)
    }

    fn domain(&self) -> Option<&Arc<Domain>> {
        Some(&self.domain)
    }

    fn tools(&self) -> Vec<ToolLine> {
        ToolLine::all_of(&self.domain)
    }

    fn begin(&self, role: Option<&str>) -> Result<Box<dyn Episode>, WorldError> {
        Ok(Box::new(self.planted()?.begin_as(role.unwrap_or(&self.role).to_owned())?))
    }

    fn waits(&self) -> bool {
        true
    }

    fn speaks(&self, face: &str) -> bool {
        face == crate::json2::NAME
    }
}
