//! A small world of any domain: seeded, or the first state of a task where the domain's worlds are made by its family.

use benchwright_catalog::Catalog;
use benchwright_pack::Snapshot;
use benchwright_project::{Order, Solver, make};
use benchwright_sandbox::Sandbox;
use benchwright_spec::NoPlanner;
use std::sync::Arc;

/// The names of the domains whose worlds are seeded, in order. All others have a family that proves its draws.
pub fn seeded(catalog: &Catalog) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for name in catalog.names().map_err(|error| error.to_string())? {
        if catalog.find(&name).map_err(|error| error.to_string())?.domain.seed.is_some() {
            names.push(name);
        } else if catalog.families_of(&name).map_err(|error| error.to_string())?.is_empty() {
            return Err(format!("{name} has neither a seed nor a family"));
        }
    }
    Ok(names)
}

/// A small world of a domain.
pub fn small_world(catalog: &Catalog, name: &str) -> Result<Arc<Sandbox>, String> {
    let said = |error: benchwright_catalog::CatalogError| format!("{name}: {error}");
    let found = catalog.find(name).map_err(said)?;
    if found.domain.seed.is_some() {
        return catalog.world(name, "small", 1).map_err(said);
    }
    let end = format!("/{name}");
    let names = catalog.pattern_names().map_err(said)?;
    let pattern = names.iter().find(|pattern| pattern.ends_with(&end));
    let pattern = pattern.ok_or_else(|| format!("{name} has neither a seed nor a pattern"))?;
    let pattern = catalog.pattern(pattern).map_err(said)?;
    // Somewhere in the middle, where there is something of everything.
    let cell = pattern.head.cells.get(pattern.head.cells.len() / 2).ok_or_else(|| format!("{name} has no tasks"))?;
    let objective = cell.objectives.first().map_or("", |objective| objective);
    let order = Order { pattern: &pattern, tier: &cell.tier, objective, seed: 1, reading: None };
    let solver = Solver { version: String::new(), library: String::new() };
    let family = catalog.family(&pattern.family, name).map_err(said)?;
    let task =
        make(order, family, &found.domain, &mut NoPlanner, &solver).map_err(|error| format!("{name}: {error}"))?;
    let first = Snapshot::from_bytes(&task.world, &found.domain).map_err(|error| format!("{name}: {error}"))?;
    let world = Sandbox::from_snapshot(found.domain, found.natives, &first);
    world.map(Arc::new).map_err(|error| format!("{name}: {error}"))
}
