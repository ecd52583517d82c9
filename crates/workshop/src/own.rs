//! Workflows that are not the program's: one in a folder somewhere, or one of the program with somebody's own files in the place of drawn
//! records. Either is put into the store that its tasks come to, so that whoever has the store has all that its tasks follow from.

use crate::Error;
use benchwright_catalog::Catalog;
use benchwright_schema::Folder;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Where a store keeps the domains that are its own.
pub const DOMAINS: &str = "domains";
/// What makes a folder a domain.
const DOMAIN: &str = "domain.toml";
/// The most files of somebody's, and the most bytes of them.
const MOST_FILES: usize = 200;
const MOST_BYTES: u64 = 64 << 20;

/// A workflow in a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// The folder of the store's domains.
    pub domains: PathBuf,
    /// The pattern of its tasks.
    pub pattern: String,
    /// Its folder, if it was written now.
    fresh: Option<PathBuf>,
}

impl Placed {
    /// Takes it away again where no task came of it, so that the same line can be given once more with something mended.
    pub fn take_back(&self) -> Result<(), Error> {
        let Some(folder) = &self.fresh else { return Ok(()) };
        fs::remove_dir_all(folder).map_err(Error::io(folder))?;
        // Other domains may stand beside it.
        let _ = fs::remove_dir(&self.domains);
        Ok(())
    }
}

/// The domains of the store that a path leads into, if it has some of its own.
pub fn domains_of(path: &Path) -> Option<PathBuf> {
    let full = path.canonicalize().ok()?;
    let is_store = |folder: &&Path| folder.join("suite.toml").is_file() && folder.join(DOMAINS).is_dir();
    full.ancestors().take(5).find(is_store).map(|store| store.join(DOMAINS))
}

/// Whether a pattern is given as the path to the folder of a domain.
pub fn is_domain(given: &str) -> bool {
    let path = Path::new(given);
    (path.is_absolute() || given.starts_with('.')) && path.join(DOMAIN).is_file()
}

/// Puts a workflow into a store that is to be written: one that is given by the path to its folder, or one of the program, with
/// somebody's files if there are some.
pub fn place(catalog: &Catalog, given: &str, files: Option<&Path>, store: &Path) -> Result<Placed, Error> {
    let unfit = |why: String| Error::Unfit { given: given.to_owned(), why };
    let domain = match is_domain(given) {
        true => given.to_owned(),
        false => catalog.pattern(given).map_err(Error::catalog(given))?.domain,
    };
    let mut folder = catalog.own_folder(&domain).map_err(Error::catalog(given))?;
    if let Some(files) = files {
        let taken = taken(catalog, &folder.name, &domain, files).map_err(|error| match error {
            Error::NoOwnFiles(_) => Error::NoOwnFiles(given.to_owned()),
            error => error,
        })?;
        let name = name_of(files);
        rename(&mut folder, &name).map_err(unfit)?;
        folder.files.extend(taken);
    }
    let domains = store.join(DOMAINS);
    let place = domains.join(&folder.name);
    let fresh = write(&folder, &place)?.then_some(place);
    let own = Catalog::from_folder(&domains);
    let end = format!("/{}", folder.name);
    let names = own.pattern_names().map_err(Error::catalog(given))?;
    let mut fits = names.into_iter().filter(|name| name.ends_with(&end));
    match (fits.next(), fits.next()) {
        (Some(pattern), None) => Ok(Placed { domains, pattern, fresh }),
        _ => Err(unfit("no part that it includes has a pattern for it".to_owned())),
    }
}

/// What a workflow's family makes of somebody's files.
fn taken(catalog: &Catalog, name: &str, domain: &str, files: &Path) -> Result<BTreeMap<String, String>, Error> {
    let families = catalog.families_of(domain).map_err(Error::catalog(domain))?;
    let family = families.iter().find_map(|(_, family)| family.own_files());
    let family = family.ok_or_else(|| Error::NoOwnFiles(name.to_owned()))?;
    let mut read = BTreeMap::new();
    let mut left = MOST_BYTES;
    gather(files, "", &mut read, &mut left)?;
    family.taken(&read).map_err(|faults| Error::OwnFiles { folder: files.to_owned(), faults })
}

/// The plain files of a folder and of those in it, by path; links are not followed.
fn gather(folder: &Path, within: &str, found: &mut BTreeMap<String, Vec<u8>>, left: &mut u64) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        let entry = entry.map_err(Error::io(folder))?;
        let path = entry.path();
        let name = format!("{within}{}", entry.file_name().to_string_lossy());
        let about = fs::symlink_metadata(&path).map_err(Error::io(&path))?;
        if about.is_dir() && within.matches('/').count() < 3 {
            gather(&path, &format!("{name}/"), found, left)?;
        } else if about.is_file() {
            *left = left.saturating_sub(about.len());
            if *left == 0 || found.len() >= MOST_FILES {
                let why = format!("it holds more than {MOST_FILES} files or {} MiB", MOST_BYTES >> 20);
                return Err(Error::OwnFiles { folder: folder.to_owned(), faults: vec![why] });
            }
            found.insert(name, fs::read(&path).map_err(Error::io(&path))?);
        }
    }
    Ok(())
}

/// What a domain is called that comes of a folder: its name in the letters that a domain's has.
fn name_of(folder: &Path) -> String {
    let full = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = full.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match name.trim_matches('_') {
        name if name.starts_with(|c: char| c.is_ascii_lowercase()) => name.to_owned(),
        name => format!("own_{name}").trim_end_matches('_').to_owned(),
    }
}

/// Gives a domain another name.
fn rename(folder: &mut Folder, name: &str) -> Result<(), String> {
    let text = folder.files.get_mut(DOMAIN).ok_or_else(|| format!("it has no {DOMAIN}"))?;
    let is_name = |line: &str| line.strip_prefix("name").is_some_and(|rest| rest.trim_start().starts_with('='));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = lines.iter_mut().find(|line| is_name(line)).ok_or_else(|| format!("{DOMAIN} has no name"))?;
    *line = format!("name = \"{name}\"");
    *text = lines.join("\n") + "\n";
    folder.name = name.to_owned();
    Ok(())
}

/// Writes a domain's folder, and says whether it was not there. One that is there must be the same.
fn write(folder: &Folder, to: &Path) -> Result<bool, Error> {
    if to.exists() {
        let same =
            folder.files.iter().all(|(path, text)| fs::read_to_string(to.join(path)).is_ok_and(|old| old == *text));
        return if same { Ok(false) } else { Err(Error::Occupied(to.to_owned())) };
    }
    fs::create_dir_all(to).map_err(Error::io(to))?;
    for (path, text) in &folder.files {
        let path = to.join(path);
        fs::write(&path, text).map_err(Error::io(&path))?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_a_domain_its_name() {
        assert_eq!(name_of(Path::new("/nowhere/Coatings-Own 2")), "coatings_own_2");
        assert_eq!(name_of(Path::new("/nowhere/2031")), "own_2031");
    }
}
