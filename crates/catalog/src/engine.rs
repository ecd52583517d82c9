//! The usual engine: worlds in memory (`sandbox`) of the domains that a catalogue finds.

use crate::{Catalog, CatalogError};
use benchwright_pack::OpenPart;
use benchwright_sandbox::SandboxWorld;
use benchwright_schema::Domain;
use benchwright_world::{Engine, Filling, World, WorldError};
use std::sync::Arc;

/// Worlds in memory of the domains of a catalogue.
#[derive(Clone, Debug)]
struct InMemory(Catalog);

impl Catalog {
    /// The engine that runs worlds of these domains in memory. It is asked for as `sandbox`, or as `embedded`.
    pub fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(InMemory(self.clone()))
    }
}

impl Engine for InMemory {
    fn names(&self) -> &[&str] {
        &["sandbox", "embedded"]
    }

    fn open(&self, task: &OpenPart) -> Result<Arc<dyn World>, WorldError> {
        let sandbox = self.0.world_of_snapshot(&task.world)?;
        Ok(Arc::new(SandboxWorld::of_task(sandbox, &task.open)))
    }

    fn fill(&self, filling: &Filling) -> Result<Arc<dyn World>, WorldError> {
        let Filling { domain, size, seed } = filling;
        let sandbox = match size {
            Some(size) => self.0.world(domain, size, *seed)?,
            None => self.0.world(domain, &usual_size(&self.0.find(domain)?.domain), *seed)?,
        };
        Ok(Arc::new(SandboxWorld::plain(sandbox)))
    }
}

fn usual_size(domain: &Domain) -> String {
    let sizes = domain.seed.as_ref().map_or(&[][..], |seed| &seed.sizes);
    sizes.iter().find(|size| *size == "small").or(sizes.first()).map_or("small", |size| size).to_owned()
}

impl From<CatalogError> for WorldError {
    fn from(error: CatalogError) -> WorldError {
        match error {
            CatalogError::NotThere { .. } => WorldError::NotThere(error.to_string()),
            CatalogError::Seed(_) | CatalogError::Joined { .. } => WorldError::Asked(error.to_string()),
            CatalogError::Snapshot(_) | CatalogError::Load(_) | CatalogError::NoFamily { .. } => {
                WorldError::Refused(error.to_string())
            }
            _ => WorldError::Engine(error.to_string()),
        }
    }
}
