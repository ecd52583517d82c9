//! What the library carries inside, so that a first use needs neither files nor a network: the lock files of the suites with what is
//! kept of their proofs, and the tasks of the demo.

use crate::Error;
use benchwright_pack::{Store, Suite, SuiteError};
use std::{fs, path::Path};

mod files {
    //! Written by the build script from `suites/`.
    include!(concat!(env!("OUT_DIR"), "/carried.rs"));
}

/// The names of the suites.
pub fn suites() -> impl Iterator<Item = &'static str> + Clone {
    files::SUITES.iter().map(|(name, _)| *name)
}

/// The suite of a name, if one is carried.
pub fn suite(name: &str) -> Option<Result<Suite, SuiteError>> {
    let (_, text) = files::SUITES.iter().find(|(known, _)| *known == name)?;
    Some(Suite::from_toml(name, text))
}

/// What is kept of the proofs of a carried suite.
pub(crate) fn proofs(name: &str) -> Option<&'static str> {
    files::PROOFS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Writes the tasks of the demo into a folder.
pub fn unpack_demo(folder: &Path) -> Result<Store, Error> {
    if files::DEMO.is_empty() {
        return Err(Error::NoDemo);
    }
    for (name, bytes) in files::DEMO {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(Error::io(parent))?;
        fs::write(&path, bytes).map_err(Error::io(&path))?;
    }
    Ok(Store::at(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_is_small() {
        let bytes: usize = files::DEMO.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(bytes < 1 << 20, "{bytes} bytes");
        let tasks = files::DEMO.iter().filter(|(name, _)| name.ends_with("/task.json")).count();
        assert!(tasks == 5 || files::DEMO.is_empty(), "{tasks} tasks");
    }

    #[test]
    fn every_carried_suite_can_be_read() {
        assert!(suites().any(|name| name == "demo"));
        for name in suites() {
            suite(name).unwrap().unwrap();
        }
        assert!(suite("nowhere").is_none());
        for name in ["planning-29", "planning-24", "planning-107", "planning-beyond"] {
            assert!(proofs(name).is_some_and(|text| benchwright_solve::Answers::read(text).is_ok()), "{name}");
        }
    }
}
