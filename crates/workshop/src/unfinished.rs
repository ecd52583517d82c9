//! The log of work that may be cut off: a file in the folder that is worked on, one line of JSON for each item that is done, under a
//! head that says what the work is. Whoever begins the same work there again is given what was done and goes on after it; when the
//! work is finished, the file goes. A line that was cut short is as if it were not there.

use crate::{Error, code};
use benchwright_base::Digest;
use benchwright_catalog::Catalog;
use benchwright_pack::Suite;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeSet,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

/// A log that is being written.
pub(crate) struct Log {
    path: PathBuf,
    file: fs::File,
}

/// What work on a suite stands on: its lock file, the patterns and domains as they are declared today, and this program. Where any of
/// them is another, what was done before is no part of this work: half of a suite made of an older pattern is no suite.
pub(crate) fn ground(catalog: &Catalog, suite: &Suite) -> Json {
    let declared =
        suite.to_toml() + &declared(catalog, suite.tasks.iter().map(|line| &*line.pattern), suite.inject > 0);
    json!({ "suite": suite.name, "declared": Digest::of(declared.as_bytes()).to_string(), "program": program() })
}

/// Patterns and the domains of their worlds, as they are declared today.
pub(crate) fn declared<'a>(
    catalog: &Catalog,
    patterns: impl Iterator<Item = &'a str>,
    with_injections: bool,
) -> String {
    let patterns: BTreeSet<&str> = patterns.collect();
    let (mut declared, mut domains) = (String::new(), BTreeSet::new());
    // What cannot be had is told by the work itself.
    for name in patterns {
        match catalog.pattern(name) {
            Ok(pattern) => {
                declared.push_str(&format!("{pattern:?}\n"));
                domains.insert(pattern.domain);
            }
            Err(_) if catalog.is_scenario(name) => match catalog.scenario(name) {
                Ok((scenario, _)) => {
                    declared.push_str(&format!("{scenario:?}\n"));
                    domains.insert(scenario.domain);
                }
                Err(error) => declared.push_str(&format!("{error}\n")),
            },
            Err(error) => declared.push_str(&format!("{error}\n")),
        }
    }
    // Many patterns share a domain, which is read once.
    for name in domains {
        match catalog.find(&name) {
            Ok(found) => {
                declared.push_str(&format!("{}\n", found.domain.digest));
                // They are in no digest of a domain.
                if with_injections {
                    declared.push_str(&format!("{:?}\n", found.domain.injections));
                }
            }
            Err(error) => declared.push_str(&format!("{error}\n")),
        }
    }
    declared
}

/// Tells this program from another build of it, without reading it.
pub(crate) fn program() -> String {
    let about = code::file().and_then(|file| fs::metadata(file).ok());
    let changed = |about: fs::Metadata| Some((about.len(), about.modified().ok()?));
    match about.and_then(changed) {
        Some((bytes, changed)) => Digest::of(format!("{bytes} {changed:?}").as_bytes()).to_string(),
        None => env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// What the work is that a log is of, if there is a log.
pub(crate) fn head(path: &Path) -> Option<Json> {
    let text = fs::read_to_string(path).ok()?;
    serde_json::from_str(text.lines().next()?).ok()
}

impl Log {
    /// Goes on with the log of the same work, or begins one. Also what was done, each item with its number.
    pub(crate) fn take_up<T: DeserializeOwned>(path: &Path, work: &Json) -> Result<(Log, Vec<(usize, T)>), Error> {
        let (mut lines, mut done) = (format!("{work}\n"), Vec::new());
        if head(path).as_ref() == Some(work) {
            let text = fs::read_to_string(path).map_err(Error::io(path))?;
            for line in text.lines().skip(1) {
                let Ok(item) = serde_json::from_str::<(usize, T)>(line) else { break };
                lines.push_str(line);
                lines.push('\n');
                done.push(item);
            }
        }
        let draft = path.with_extension("half");
        fs::write(&draft, lines).map_err(Error::io(&draft))?;
        fs::rename(&draft, path).map_err(Error::io(path))?;
        let file = fs::File::options().append(true).open(path).map_err(Error::io(path))?;
        Ok((Log { path: path.to_owned(), file }, done))
    }

    /// Notes that an item is done.
    pub(crate) fn note(&mut self, at: usize, item: &impl Serialize) -> Result<(), Error> {
        let why = |why: serde_json::Error| Error::Malformed { path: self.path.clone(), why: why.to_string() };
        let line = serde_json::to_string(&(at, item)).map_err(why)?;
        writeln!(self.file, "{line}").map_err(Error::io(&self.path))
    }

    /// The work is finished.
    pub(crate) fn finish(self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(Error::io(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Temporary;
    use serde_json::json;

    #[test]
    fn a_log_goes_on_after_its_last_whole_line_and_other_work_begins_anew() {
        let folder = Temporary::new().unwrap();
        let path = folder.path().join("work.jsonl");
        let work = json!({ "work": "some" });
        let (mut log, done) = Log::take_up::<String>(&path, &work).unwrap();
        assert!(done.is_empty());
        log.note(0, &"a").unwrap();
        log.note(2, &"c").unwrap();
        write!(log.file, "[1,\"b").unwrap();
        drop(log);
        let (mut log, done) = Log::take_up::<String>(&path, &work).unwrap();
        assert_eq!(done, [(0, "a".to_owned()), (2, "c".to_owned())]);
        log.note(1, &"b").unwrap();
        drop(log);
        assert_eq!(Log::take_up::<String>(&path, &work).unwrap().1.len(), 3);
        let (log, done) = Log::take_up::<String>(&path, &json!({ "work": "other" })).unwrap();
        assert!(done.is_empty());
        log.finish().unwrap();
        assert!(!path.exists());
    }
}
