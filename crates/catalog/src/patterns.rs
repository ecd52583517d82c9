//! Finds patterns: those built into the program, and those in a folder on disk.

use crate::{Catalog, CatalogError, built_in, disk};
use benchwright_base::nearest;
use benchwright_project::{Pattern, PatternFolder, PatternHead};
use benchwright_schema::Document;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The group of the patterns that stand in a folder without a group.
const OWN: &str = "own";
/// The file that makes a folder a pattern.
const PATTERN: &str = "pattern.toml";

/// Where the files of a pattern are.
pub(crate) enum Place {
    /// In a folder on disk.
    Disk(PathBuf),
    /// In the program.
    Carried(&'static str),
}

impl Catalog {
    /// The same catalogue with the patterns of a folder before those that it has. The folder has a folder for each group with
    /// one for each pattern in it (`production/two-line-plan`), or patterns without a group, which are called `own/NAME`.
    #[must_use]
    pub fn with_patterns(mut self, folder: impl Into<PathBuf>) -> Catalog {
        self.own_patterns = Some(folder.into());
        self
    }

    /// The folder and the name of the pattern that a path means; nothing if it looks like a name. A name has no dot in front.
    pub fn pattern_path(given: &str) -> Option<(PathBuf, String)> {
        let path = Path::new(given);
        let is_path = path.is_absolute() || given.starts_with(['.', '~']) || given.contains('\\');
        let full = path.canonicalize().ok().filter(|_| is_path)?;
        let name = full.file_name()?.to_string_lossy().into_owned();
        Some((full.parent()?.to_owned(), format!("{OWN}/{name}")))
    }

    /// The names of all patterns whose domains are there, in order.
    pub fn pattern_names(&self) -> Result<Vec<String>, CatalogError> {
        let domains = self.names()?;
        let mut names = Vec::new();
        for (name, place) in self.places()? {
            let Some(head) = files(&place)?.get(PATTERN).and_then(|text| head_of(text)) else {
                // What is wrong with it is told to whoever asks for it.
                names.push(name);
                continue;
            };
            match head.part {
                // A part's pattern is there once for each domain that includes the part.
                Some(part) => {
                    for domain in &domains {
                        if self.own_folder(domain)?.includes().contains(&part) {
                            names.push(format!("{name}/{domain}"));
                        }
                    }
                }
                // The domain may be several joined.
                None => {
                    let domain = head.domain.as_ref().unwrap_or(&head.family);
                    if domain.split('+').all(|member| domains.iter().any(|known| known == member)) {
                        names.push(name);
                    }
                }
            }
        }
        names.sort();
        Ok(names)
    }

    /// Where patterns are, by name. A whole group's pattern has the name of the group.
    fn places(&self) -> Result<BTreeMap<String, Place>, CatalogError> {
        self.places_with(PATTERN)
    }

    /// Where the folders are that have a file, by name.
    pub(crate) fn places_with(&self, file: &str) -> Result<BTreeMap<String, Place>, CatalogError> {
        let mut places = BTreeMap::new();
        match &self.patterns {
            Some(folder) => {
                for name in disk::pattern_names(folder, file)? {
                    places.insert(name.clone(), Place::Disk(folder.join(name)));
                }
            }
            None => {
                let carried =
                    built_in::PATTERNS.iter().filter(|(_, files)| files.iter().any(|(name, _)| *name == file));
                places.extend(carried.map(|(name, _)| ((*name).to_owned(), Place::Carried(name))))
            }
        }
        let Some(own) = &self.own_patterns else { return Ok(places) };
        for name in disk::pattern_names(own, file)? {
            let place = Place::Disk(own.join(&name));
            let is_part = files(&place)?.get(PATTERN).and_then(|text| head_of(text)).is_some_and(|h| h.part.is_some());
            let name = if name.contains('/') || is_part { name } else { format!("{OWN}/{name}") };
            places.insert(name, place);
        }
        Ok(places)
    }

    /// A pattern by its name. Its folder is checked whole: what its family asks, and its rules on the domain.
    pub fn pattern(&self, name: &str) -> Result<Pattern, CatalogError> {
        let mut places = self.places()?;
        let (group, last) = name.split_once('/').unwrap_or((name, ""));
        // A group's pattern is asked for as `group/domain`.
        let place = places.remove(name).or_else(|| places.remove(group).filter(|_| !last.is_empty()));
        let known = place.as_ref().is_some_and(|_| !last.is_empty());
        let Some(place) = place.filter(|_| known) else { return Err(self.no_pattern(name)?) };
        let files = files(&place)?;
        self.read_pattern(name, &files)
    }

    /// Reads and checks the files of a pattern under a name.
    pub(crate) fn read_pattern(&self, name: &str, files: &BTreeMap<String, String>) -> Result<Pattern, CatalogError> {
        let folder = PatternFolder::read(files);
        let mut tiers = None;
        if let Some((family, domain)) = folder.family(name) {
            match self.family(&family, &domain) {
                Ok(found) => {
                    // Only rules are looked up in the domain, and few patterns have some.
                    let domain = if folder.has_rules() { Some(self.find(&domain)?.domain) } else { None };
                    folder.check(found, domain.as_deref());
                    tiers = found.tiers();
                }
                Err(error @ CatalogError::NoFamily { .. }) => folder.no_family(&error.to_string()),
                Err(error) => return Err(error),
            }
        }
        let pattern = folder.finish(name);
        let mut pattern = pattern.map_err(|faults| CatalogError::Faulty { name: name.to_owned(), faults })?;
        // What is offered for all domains of a part is there as far as a domain has it.
        if let Some(tiers) = tiers {
            pattern.head.cells.retain(|cell| tiers.contains(&cell.tier));
        }
        Ok(pattern)
    }

    /// Says which pattern was meant.
    fn no_pattern(&self, name: &str) -> Result<CatalogError, CatalogError> {
        if let Some(folder) =
            name.strip_prefix("own/").zip(self.own_patterns.as_ref()).map(|(name, own)| own.join(name))
        {
            let help = format!("; {} has no pattern.toml", folder.display());
            return Ok(CatalogError::NoPattern { name: name.to_owned(), help });
        }
        let names = self.pattern_names()?;
        let short = names.iter().find(|known| known.split('/').next_back() == Some(name));
        let near = short.map(|known| &**known).or(nearest(name, names.iter().map(|name| &**name)));
        let help = match near {
            Some(near) => format!("; did you mean `{near}`?"),
            None => "; `benchwright patterns` lists them. A folder is given as a path, such as ./my-pattern".to_owned(),
        };
        Ok(CatalogError::NoPattern { name: name.to_owned(), help })
    }
}

/// The files of a pattern.
pub(crate) fn files(place: &Place) -> Result<BTreeMap<String, String>, CatalogError> {
    match place {
        Place::Disk(folder) => disk::pattern_files(folder),
        Place::Carried(name) => {
            let files = built_in::PATTERNS.iter().find(|(known, _)| known == name).map_or(&[][..], |(_, files)| files);
            Ok(files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect())
        }
    }
}

/// What a `pattern.toml` says, if it says it without a fault.
pub(crate) fn head_of(text: &str) -> Option<PatternHead> {
    Document::new(PATTERN, text).read()
}
