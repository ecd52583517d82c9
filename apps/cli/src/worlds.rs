//! The world that a command works on: a domain at a size and seed, or a snapshot.

use crate::{failure::Failure, progress::Progress};
use anyhow::Context as _;
use benchwright_catalog::{Catalog, CatalogError, Found};
use benchwright_pack::{LARGEST_SNAPSHOT, Snapshot};
use benchwright_sandbox::{Conditions, Episode, Sandbox, SeedError};
use benchwright_world::Seat;
use std::{fs, path::Path, sync::Arc};

/// How a world is filled.
#[derive(clap::Args, Default)]
pub(crate) struct Filling {
    /// The size of the world [default: small]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// The seed that everything random is drawn from [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// A world and where it came from.
pub(crate) struct Opened {
    pub(crate) sandbox: Arc<Sandbox>,
    /// Such as `small, seed 1`.
    pub(crate) from: String,
}

/// Opens a domain by name or path, or a snapshot by its file.
pub(crate) fn open(catalog: &Catalog, what: &str, filling: &Filling) -> anyhow::Result<Opened> {
    if is_snapshot(what) {
        return open_snapshot(catalog, what, filling);
    }
    let found = catalog.find(what).map_err(|error| Failure::of_catalog(error, what))?;
    warn_of_missing_code(&found);
    let Some(seed) = &found.domain.seed else {
        if filling.size.is_some() {
            return Err(Failure::of_catalog(SeedError::NoSeed(found.domain.name.clone()).into(), what));
        }
        eprintln!("warning: {} has no seed.toml; the world is empty", found.domain.name);
        let sandbox = Sandbox::empty(found.domain, found.natives);
        return Ok(Opened { sandbox: Arc::new(sandbox), from: "empty".to_owned() });
    };
    let size = filling.size.clone().unwrap_or_else(|| usual_size(&seed.sizes));
    let number = filling.seed.unwrap_or(1);
    let _progress = Progress::start(format!("filling {}", found.domain.name));
    let sandbox = Sandbox::seeded(Arc::clone(&found.domain), found.natives, &size, number)
        .map_err(|error| Failure::of_catalog(error.into(), what))?;
    Ok(Opened { sandbox: Arc::new(sandbox), from: format!("{size}, seed {number}") })
}

/// `small`, or the first size where there is none of that name.
pub(crate) fn usual_size(sizes: &[String]) -> String {
    let first = sizes.iter().find(|size| *size == "small").or(sizes.first());
    first.map_or("small", |size| size).to_owned()
}

fn is_snapshot(what: &str) -> bool {
    what.ends_with(".json") || Path::new(what).is_file()
}

fn open_snapshot(catalog: &Catalog, file: &str, filling: &Filling) -> anyhow::Result<Opened> {
    if filling.size.is_some() || filling.seed.is_some() {
        let message = "a snapshot is a world as it stands; --size and --seed are for domains";
        return Err(Failure::wrong_use(message, "leave them out"));
    }
    let length = fs::metadata(file).map(|about| about.len()).unwrap_or_default();
    if length > LARGEST_SNAPSHOT as u64 {
        let message = format!("{file} has {length} bytes; at most {LARGEST_SNAPSHOT} are read");
        return Err(Failure::falls_short(message, "benchwright export snapshot DOMAIN -o FILE"));
    }
    let bytes = fs::read(file).map_err(|error| {
        Failure::wrong_use(format!("{file}: {error}"), format!("benchwright export snapshot DOMAIN -o {file}"))
    })?;
    let _progress = Progress::start(format!("reading {file}"));
    let sandbox = catalog.world_of_snapshot(&bytes).map_err(|error| match (&error, Snapshot::domain_of(&bytes)) {
        (CatalogError::NotThere { .. }, Some(name)) => Failure::wrong_use(
            format!("{file} is of the domain {name}, which is not there"),
            "--domains DIR, with the folder that the domain's folder lies in",
        ),
        _ => Failure::of_catalog(error, file),
    })?;
    Ok(Opened { sandbox, from: format!("from {file}") })
}

/// Says which tools cannot be called.
pub(crate) fn warn_of_missing_code(found: &Found) {
    let missing = found.tools_without_code();
    if !missing.is_empty() {
        let (name, tools) = (&found.domain.name, missing.join(", "));
        eprintln!(
            "warning: this program has no code for these native tools of {name}, so they cannot be called: {tools}"
        );
    }
}

/// An episode by nobody in particular, to read the first state from.
pub(crate) fn look(sandbox: &Arc<Sandbox>) -> anyhow::Result<Episode> {
    let domain = sandbox.domain();
    let role = domain.roles.first().with_context(|| format!("{} has no roles", domain.name))?;
    let seat = Seat { role: role.name.clone(), actor: None };
    Ok(sandbox.begin(&seat, Conditions::default())?)
}
