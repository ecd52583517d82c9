//! Finds things by name: domains, the code of their native tools, patterns and families. They are built into the program or
//! stand in folders on disk; there is no hand-kept list of them. A domain may be several joined, such as `csm+itsm`.
//! What is found is checked whole, and [`Catalog::check`] does the same for any file or folder that an author works on.
//!
//! ```
//! use benchwright_catalog::Catalog;
//!
//! let catalog = Catalog::built_in();
//! let csm = catalog.find("csm").expect("it comes with the program").domain;
//! assert!(csm.tools.iter().any(|tool| tool.name == "list_users"));
//!
//! let both = catalog.find("csm+itsm").expect("domains can be joined").domain;
//! assert!(both.table_named("csm.user").is_some() && both.table_named("itsm.user").is_some());
//!
//! let error = catalog.find("cms").err().expect("there is no such domain");
//! assert!(error.to_string().contains("csm"), "{error}");
//! ```

mod check;
mod disk;
mod engine;
mod families;
#[rustfmt::skip]
mod generated;
mod joined;
mod parts;
mod patterns;
mod scenarios;

pub use check::{Checked, Kind};

use benchwright_base::Diagnostic;
use benchwright_pack::{Delta, Snapshot, SnapshotError};
use benchwright_project::{Family, Telling};
use benchwright_sandbox::{LoadError, Natives, Sandbox, SeedError};
use benchwright_schema::{Domain, Folder, Verb};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

mod built_in {
    //! The declarations that the build script found.
    include!(concat!(env!("OUT_DIR"), "/declarations.rs"));
}

/// Folders with their files.
pub(crate) type Embedded = &'static [(&'static str, &'static [(&'static str, &'static str)])];
/// Makes the family of a part from what a domain tells the part. All faults of what was told are given.
pub(crate) type NewFamily = fn(Telling<'_>) -> Result<Box<dyn Family>, Vec<Diagnostic>>;

/// Tool names that several domains have, by the folder of the domains.
type Clashing = Arc<Mutex<BTreeMap<Option<PathBuf>, BTreeSet<String>>>>;

/// Where domains are looked for.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// A folder of domain folders and of groups of them; without one, the domains of the program.
    folder: Option<PathBuf>,
    /// A folder of groups of pattern folders; without one, the patterns that the program carries.
    patterns: Option<PathBuf>,
    /// Families beside those of the program.
    families: families::Further,
    /// A folder of further patterns, which come before those of the program.
    own_patterns: Option<PathBuf>,
    /// Seeded worlds that tasks share.
    bases: scenarios::Bases,
    /// The tool names that several domains have, by the folder of the domains: every joined world asks for them.
    clashing: Clashing,
}

/// A domain that was found and loaded.
#[derive(Clone)]
pub struct Found {
    /// The loaded declarations.
    pub domain: Arc<Domain>,
    /// The code of its native tools, as far as this program has it.
    pub natives: &'static Natives,
}

/// Why a domain could not be had.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// There is none of that name.
    #[error("there is no domain `{name}`{help}")]
    NotThere {
        /// What was asked for.
        name: String,
        /// What there is, or what was meant.
        help: String,
    },
    /// Two domains have one name.
    #[error("there are two domains `{name}`: {} and {}; give one of them another name", .places[0].display(), .places[1].display())]
    Twice {
        /// What both are called.
        name: String,
        /// Their folders.
        places: [PathBuf; 2],
    },
    /// There is no pattern of that name.
    #[error("there is no pattern `{name}`{help}")]
    NoPattern {
        /// What was asked for.
        name: String,
        /// What was meant, or where to look.
        help: String,
    },
    /// This program has no such family, or not for that domain.
    #[error("there is no family `{name}`{help}")]
    NoFamily {
        /// What was asked for.
        name: String,
        /// What there is, or what was meant.
        help: String,
    },
    /// The folder could not be read.
    #[error("{path}: {why}")]
    Unreadable {
        /// The folder or file.
        path: String,
        /// What the system said.
        why: String,
    },
    /// Its declarations have faults; all of them are here.
    #[error("{name} has {} fault{}:\n{}", .faults.len(), if .faults.len() == 1 { "" } else { "s" }, shown(.faults))]
    Faulty {
        /// The name of the domain, the pattern or the joined world.
        name: String,
        /// Every fault, with file, line and column.
        faults: Vec<Diagnostic>,
    },
    /// Domains cannot be joined.
    #[error("{name}: {why}")]
    Joined {
        /// The name that was asked for, such as `csm+itsm`.
        name: String,
        /// What stands in the way.
        why: String,
    },
    /// Its world could not be filled.
    #[error(transparent)]
    Seed(#[from] SeedError),
    /// A snapshot could not be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A snapshot does not hold together.
    #[error(transparent)]
    Load(#[from] LoadError),
}

fn shown(faults: &[Diagnostic]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl Catalog {
    /// The domains and patterns of the program. A debug build reads them from the source tree, so that a changed file shows at once.
    pub fn built_in() -> Catalog {
        Catalog { folder: source("domains"), patterns: source("patterns"), ..Catalog::default() }
    }

    /// The domains in a folder on disk, with the patterns of the program that fit them.
    pub fn from_folder(folder: impl Into<PathBuf>) -> Catalog {
        Catalog { folder: Some(folder.into()), ..Catalog::built_in() }
    }

    /// The names of all domains, in order.
    pub fn names(&self) -> Result<Vec<String>, CatalogError> {
        match &self.folder {
            Some(folder) => disk::domain_names(folder),
            None => Ok(built_in::EMBEDDED.iter().map(|(name, _)| (*name).to_owned()).collect()),
        }
    }

    /// The folder of a domain, if the domains are on disk and it is one of them. It may stand in a group, a folder of domains.
    pub fn place(&self, name: &str) -> Result<Option<PathBuf>, CatalogError> {
        let Some(folder) = &self.folder else { return Ok(None) };
        Ok(disk::domain_folders(folder)?.remove(name))
    }

    /// Loads a domain by its name, or from a path to its folder; or joins several, named like `csm+itsm`.
    pub fn find(&self, name: &str) -> Result<Found, CatalogError> {
        if name.contains('+') && !name.contains(['/', '\\']) {
            return self.joined(name);
        }
        load(&self.folder_of(name)?)
    }

    /// The typical episode of a domain, a file of one case, if it declares one.
    pub fn bench_case(&self, name: &str) -> Result<Option<String>, CatalogError> {
        Ok(self.own_folder(name)?.get("bench.case").map(str::to_owned))
    }

    /// The files of a domain with those of the parts that it includes.
    pub(crate) fn folder_of(&self, name: &str) -> Result<Folder, CatalogError> {
        let beside: Vec<PathBuf> = match &self.folder {
            // Its folder may stand in a group, and then parts stand beside that.
            _ if name.contains(['/', '\\']) || name == "." => {
                let full = Path::new(name).canonicalize().unwrap_or_default();
                full.ancestors().skip(1).take(2).map(Path::to_owned).collect()
            }
            folder => folder.clone().into_iter().collect(),
        };
        parts::with_parts(self.own_folder(name)?, &beside)
    }

    /// The files of a domain by name or path, without those of parts.
    pub fn own_folder(&self, name: &str) -> Result<Folder, CatalogError> {
        // A path is a path only if it looks like one, so that a folder of the same name does not hide a domain.
        if name.contains(['/', '\\']) || name == "." {
            return disk::read_folder(Path::new(name));
        }
        let (names, files) = match &self.folder {
            Some(folder) => {
                let mut places = disk::domain_folders(folder)?;
                if let Some(place) = places.remove(name) {
                    return disk::read_folder(&place);
                }
                (places.into_keys().collect(), None)
            }
            None => (self.names()?, built_in::EMBEDDED.iter().find(|(known, _)| *known == name)),
        };
        if let Some((_, files)) = files {
            return Ok(Folder::new(name, files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))));
        }
        let help = match benchwright_base::nearest(name, names.iter().map(|name| &**name)) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!("; there are: {}. A folder is given as a path, such as ./{name}", names.join(", ")),
        };
        Err(CatalogError::NotThere { name: name.to_owned(), help })
    }

    /// The world of a domain at a size and seed.
    pub fn world(&self, name: &str, size: &str, seed: u64) -> Result<Arc<Sandbox>, CatalogError> {
        let found = self.find(name)?;
        Ok(Arc::new(Sandbox::seeded(found.domain, found.natives, size, seed)?))
    }

    /// The world whose first state is a snapshot's.
    pub fn world_of_snapshot(&self, bytes: &[u8]) -> Result<Arc<Sandbox>, CatalogError> {
        if Delta::is_one(bytes) {
            return self.planted(bytes);
        }
        let name = Snapshot::domain_of(bytes)
            .ok_or_else(|| SnapshotError::Malformed("it does not begin like one".to_owned()))?;
        let found = self.find(&name)?;
        let snapshot = Snapshot::from_bytes(bytes, &found.domain)?;
        Ok(Arc::new(Sandbox::from_snapshot(found.domain, found.natives, &snapshot)?))
    }
}

/// A folder of the source tree, for a debug build that still stands in it. What is handed out does not know where it was built.
fn source(folder: &str) -> Option<PathBuf> {
    if !cfg!(debug_assertions) {
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    source.is_dir().then_some(source)
}

/// Loads a folder and joins it with what code the program has for it. What it tells its parts is looked at too.
pub fn load(folder: &Folder) -> Result<Found, CatalogError> {
    let (domain, mut faults) = match benchwright_schema::load(folder) {
        Ok(domain) => (Some(domain), Vec::new()),
        Err(faults) => (None, faults),
    };
    faults.extend(parts::faults(folder, domain.as_ref()));
    match domain {
        Some(domain) if faults.is_empty() => Ok(Found { domain: Arc::new(domain), natives: parts::natives(folder) }),
        _ => {
            faults.sort();
            faults.dedup();
            Err(CatalogError::Faulty { name: folder.name.clone(), faults })
        }
    }
}

impl Found {
    /// The native tools without code in this program: they are listed, not served.
    pub fn tools_without_code(&self) -> Vec<&str> {
        let has_code = |name: &str| self.natives.iter().any(|tool| tool.name == name);
        let tools = self.domain.tools.iter().filter(|tool| tool.verb == Verb::Native);
        tools.map(|tool| &*tool.name).filter(|name| !has_code(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A release build carries what a debug build reads from the source tree.
    #[test]
    fn what_is_carried_is_what_the_source_tree_has() {
        let (carried, source) = (Catalog::default(), Catalog::built_in());
        assert!(source.folder.is_some(), "tests are built with the source tree beside them");
        assert_eq!(carried.names().unwrap(), source.names().unwrap());
        for name in source.names().unwrap() {
            let digest = |catalog: &Catalog| catalog.find(&name).unwrap().domain.digest;
            assert_eq!(digest(&carried), digest(&source), "{name}");
            assert_eq!(carried.bench_case(&name).unwrap(), source.bench_case(&name).unwrap(), "{name}");
        }
        assert_eq!(carried.pattern_names().unwrap(), source.pattern_names().unwrap());
        for name in source.pattern_names().unwrap() {
            assert_eq!(carried.pattern(&name).unwrap(), source.pattern(&name).unwrap(), "{name}");
        }
    }
}
