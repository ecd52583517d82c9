//! A small world of any domain: seeded, or the first state of a task where the domain's worlds are made by its family.

use crate::cases::given_world;
use benchwright_catalog::{Catalog, Found};
use benchwright_pack::Snapshot;
use benchwright_project::{Order, Solver, make};
use benchwright_sandbox::Sandbox;
use benchwright_spec::NoPlanner;
use std::{fs, path::PathBuf, sync::Arc};

/// The names of the domains whose worlds are seeded, in order.
pub fn seeded(catalog: &Catalog) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for name in catalog.names().map_err(|error| error.to_string())? {
        if catalog.find(&name).map_err(|error| error.to_string())?.domain.seed.is_some() {
            names.push(name);
        }
    }
    Ok(names)
}

/// A small world of a domain: seeded, the first state of a task where its family proves its draws, or else what is given to its cases.
pub fn small_world(catalog: &Catalog, name: &str) -> Result<Arc<Sandbox>, String> {
    let said = |error: benchwright_catalog::CatalogError| format!("{name}: {error}");
    let found = catalog.find(name).map_err(said)?;
    if found.domain.seed.is_some() {
        return catalog.world(name, "small", 1).map_err(said);
    }
    let end = format!("/{name}");
    let names = catalog.pattern_names().map_err(said)?;
    let pattern = names.iter().find(|pattern| pattern.ends_with(&end));
    let pattern = pattern.map(|pattern| catalog.pattern(pattern)).transpose().map_err(said)?;
    let Some(pattern) = pattern else { return of_cases(catalog, name, &found) };
    let family = catalog.family(&pattern.family, name).map_err(said)?;
    if family.proof().is_none() {
        return of_cases(catalog, name, &found);
    }
    // Somewhere in the middle, where there is something of everything.
    let cell = pattern.head.cells.get(pattern.head.cells.len() / 2).ok_or_else(|| format!("{name} has no tasks"))?;
    let objective = cell.objectives.first().map_or("", |objective| objective);
    let order = Order { pattern: &pattern, tier: &cell.tier, objective, seed: 1, reading: None };
    let solver = Solver { version: String::new(), library: String::new() };
    let task =
        make(order, family, &found.domain, &mut NoPlanner, &solver).map_err(|error| format!("{name}: {error}"))?;
    let first = Snapshot::from_bytes(&task.world, &found.domain).map_err(|error| format!("{name}: {error}"))?;
    let world = Sandbox::from_snapshot(found.domain, found.natives, &first);
    world.map(Arc::new).map_err(|error| format!("{name}: {error}"))
}

/// The world that the first file of a domain's cases is given.
fn of_cases(catalog: &Catalog, name: &str, found: &Found) -> Result<Arc<Sandbox>, String> {
    let none = || format!("{name} has neither a seed, nor a family that proves its draws, nor cases");
    let place = catalog.place(name).map_err(|error| error.to_string())?.ok_or_else(none)?;
    let files = fs::read_dir(place.join("cases")).map_err(|_| none())?;
    let files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    let first = files.iter().min().ok_or_else(none)?;
    let text = fs::read_to_string(first).map_err(|error| format!("{}: {error}", first.display()))?;
    given_world(found, &first.display().to_string(), &text)
}
