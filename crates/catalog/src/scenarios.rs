//! Scenarios: folders of `patterns/` with a `scenario.toml`. They are found like patterns, and need no family.

use crate::{Catalog, CatalogError, Found, patterns::Place};
use benchwright_base::nearest;
use benchwright_pack::{Delta, Snapshot, SnapshotError};
use benchwright_sandbox::Sandbox;
use benchwright_spec::scenario::{self, Scenario};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// So many seeded worlds are kept.
const MOST_BASES: usize = 32;

/// Which seeded world: domain, its digest, size and seed.
type Base = (String, String, String, u64);

/// Seeded worlds that tasks share.
#[derive(Clone, Default)]
pub(crate) struct Bases(Arc<Mutex<BTreeMap<Base, Arc<Sandbox>>>>);

impl fmt::Debug for Bases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bases")
    }
}

impl Catalog {
    /// The names of all scenarios, in order.
    pub fn scenario_names(&self) -> Result<Vec<String>, CatalogError> {
        let places = self.scenario_places()?;
        Ok(places.into_keys().collect())
    }

    /// Whether a name is that of a scenario.
    pub fn is_scenario(&self, name: &str) -> bool {
        self.scenario_places().is_ok_and(|places| places.contains_key(name))
    }

    /// A scenario by its name, with its domain. Its folder is checked whole.
    pub fn scenario(&self, name: &str) -> Result<(Scenario, Found), CatalogError> {
        let mut places = self.scenario_places()?;
        let Some(place) = places.remove(name) else {
            let near = nearest(name, places.keys().map(|name| &**name)).map(|near| format!("; did you mean `{near}`?"));
            return Err(CatalogError::NoPattern { name: name.to_owned(), help: near.unwrap_or_default() });
        };
        let files = crate::patterns::files(&place)?;
        self.read_scenario(name, &files)
    }

    /// Reads and checks the files of a scenario under a name.
    pub(crate) fn read_scenario(
        &self,
        name: &str,
        files: &BTreeMap<String, String>,
    ) -> Result<(Scenario, Found), CatalogError> {
        let domain = scenario::domain_name(files).unwrap_or_default();
        let found = self.find(&domain)?;
        match scenario::read(files, &found.domain) {
            Ok(scenario) => Ok((scenario, found)),
            Err(faults) => Err(CatalogError::Faulty { name: name.to_owned(), faults }),
        }
    }

    /// A seeded world that tasks share; the same one each time.
    pub fn base(&self, name: &str, size: &str, seed: u64) -> Result<Arc<Sandbox>, CatalogError> {
        let found = self.find(name)?;
        self.base_of(&found, size, seed)
    }

    fn base_of(&self, found: &Found, size: &str, seed: u64) -> Result<Arc<Sandbox>, CatalogError> {
        let key = (found.domain.name.clone(), found.domain.digest.to_string(), size.to_owned(), seed);
        let lock = || self.bases.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(Sandbox::seeded(Arc::clone(&found.domain), found.natives, size, seed)?);
        let mut bases = lock();
        if bases.len() >= MOST_BASES {
            bases.clear();
        }
        bases.insert(key, Arc::clone(&made));
        Ok(made)
    }

    /// The world that a document of a first state tells by what was planted.
    pub(crate) fn planted(&self, bytes: &[u8]) -> Result<Arc<Sandbox>, CatalogError> {
        let delta = Delta::from_bytes(bytes)?;
        let found = self.find(&delta.domain)?;
        let base = self.base_of(&found, &delta.size, delta.seed)?;
        let other = |what: &str| SnapshotError::Malformed(format!("{what} is another than the one it was written for"));
        if base.origin().to_string() != delta.base {
            return Err(other("its base").into());
        }
        let world = base.planted(&delta.changes(&found.domain)?)?;
        if world.origin().to_string() != delta.digest {
            return Err(other("what it comes to").into());
        }
        Ok(Arc::new(world))
    }

    /// The world of a task and its first state as a document, from the bytes that the task has.
    pub fn first_state(&self, bytes: &[u8]) -> Result<(Arc<Sandbox>, Snapshot), CatalogError> {
        let world = self.world_of_snapshot(bytes)?;
        let first = world.first_snapshot();
        Ok((world, first))
    }

    fn scenario_places(&self) -> Result<BTreeMap<String, Place>, CatalogError> {
        self.places_with(scenario::SCENARIO)
    }
}
