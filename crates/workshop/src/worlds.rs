//! A world to look at or to play in: a domain at a size and seed, or a snapshot.

use crate::Error;
use benchwright_catalog::{Catalog, CatalogError};
use benchwright_pack::{LARGEST_SNAPSHOT, Snapshot};
use benchwright_sandbox::{Conditions, Episode, Sandbox, SeedError};
use benchwright_world::Seat;
use std::{fs, path::Path, sync::Arc};

/// How a world is filled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filling {
    /// The size of the world; `small` or the domain's first if none is given.
    pub size: Option<String>,
    /// The seed that everything random is drawn from; 1 if none is given.
    pub seed: Option<u64>,
}

/// A world and where it came from.
pub struct Opened {
    /// The world, in which episodes can be begun.
    pub sandbox: Arc<Sandbox>,
    /// Such as `small, seed 1`.
    pub from: String,
    /// Whether there is nothing in it because the domain has no seed.toml.
    pub is_empty: bool,
    /// The native tools that cannot be called, because this program has no code for them.
    pub without_code: Vec<String>,
}

/// Opens a domain by name or path, or a snapshot by its file.
pub fn open(catalog: &Catalog, what: &str, filling: &Filling) -> Result<Opened, Error> {
    if is_snapshot(what) {
        return open_snapshot(catalog, what, filling);
    }
    let found = catalog.find(what).map_err(Error::catalog(what))?;
    let without_code: Vec<String> = found.tools_without_code().into_iter().map(str::to_owned).collect();
    let Some(seed) = &found.domain.seed else {
        if filling.size.is_some() {
            return Err(Error::catalog(what)(SeedError::NoSeed(found.domain.name.clone()).into()));
        }
        let sandbox = Sandbox::empty(found.domain, found.natives);
        let sandbox = Arc::new(sandbox.map_err(|error| Error::catalog(what)(SeedError::from(error).into()))?);
        return Ok(Opened { sandbox, from: "empty".to_owned(), is_empty: true, without_code });
    };
    let size = filling.size.clone().unwrap_or_else(|| usual_size(&seed.sizes));
    let number = filling.seed.unwrap_or(1);
    let sandbox = Sandbox::seeded(Arc::clone(&found.domain), found.natives, &size, number)
        .map_err(|error| Error::catalog(what)(error.into()))?;
    let from = format!("{size}, seed {number}");
    Ok(Opened { sandbox: Arc::new(sandbox), from, is_empty: false, without_code })
}

/// `small`, or the first size where there is none of that name.
pub fn usual_size(sizes: &[String]) -> String {
    let first = sizes.iter().find(|size| *size == "small").or(sizes.first());
    first.map_or("small", |size| size).to_owned()
}

fn is_snapshot(what: &str) -> bool {
    what.ends_with(".json") || Path::new(what).is_file()
}

fn open_snapshot(catalog: &Catalog, file: &str, filling: &Filling) -> Result<Opened, Error> {
    if filling.size.is_some() || filling.seed.is_some() {
        return Err(Error::FilledAlready);
    }
    let length = fs::metadata(file).map(|about| about.len()).unwrap_or_default();
    if length > LARGEST_SNAPSHOT as u64 {
        return Err(Error::LargeSnapshot { file: file.to_owned(), bytes: length });
    }
    let bytes = fs::read(file).map_err(|error| Error::NoSnapshot { file: file.to_owned(), error })?;
    let sandbox = catalog.world_of_snapshot(&bytes).map_err(|error| match (&error, Snapshot::domain_of(&bytes)) {
        (CatalogError::NotThere { .. }, Some(domain)) => Error::ForeignSnapshot { file: file.to_owned(), domain },
        _ => Error::catalog(file)(error),
    })?;
    Ok(Opened { sandbox, from: format!("from {file}"), is_empty: false, without_code: Vec::new() })
}

/// An episode by nobody in particular, to read the first state from.
pub fn look(sandbox: &Arc<Sandbox>) -> Result<Episode, Error> {
    let domain = sandbox.domain();
    let role = domain.roles.first().ok_or_else(|| Error::NoRoles(domain.name.clone()))?;
    let seat = Seat { role: role.name.clone(), actor: None };
    Ok(sandbox.begin(&seat, Conditions::default())?)
}
