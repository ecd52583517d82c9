//! Finds patterns: those built into the program, and those in a folder on disk.

use crate::{Catalog, CatalogError, built_in, disk};
use benchwright_base::nearest;
use benchwright_project::Pattern;
use std::{collections::BTreeMap, path::PathBuf};

impl Catalog {
    /// The same catalogue with the patterns of a folder.
    #[must_use]
    pub fn with_patterns(mut self, folder: impl Into<PathBuf>) -> Catalog {
        self.patterns = Some(folder.into());
        self
    }

    /// The names of all patterns, in order.
    pub fn pattern_names(&self) -> Result<Vec<String>, CatalogError> {
        let mut names = match &self.patterns {
            Some(folder) => disk::pattern_names(folder)?,
            None => built_in::PATTERNS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        };
        // A group with a pattern of its own has it once for each domain that includes the part.
        let groups: Vec<String> = names.extract_if(.., |name| !name.contains('/')).collect();
        for group in groups {
            let files = self.pattern_files(&group)?;
            let Some(part) = files.get("pattern.toml").and_then(|text| Pattern::part_of(text)) else {
                return Err(CatalogError::Told {
                    path: format!("{group}/pattern.toml"),
                    why: "the pattern of a whole group names a `part`".to_owned(),
                });
            };
            for domain in self.names()? {
                if self.own_folder(&domain)?.includes().contains(&part) {
                    names.push(format!("{group}/{domain}"));
                }
            }
        }
        names.sort();
        Ok(names)
    }

    fn pattern_files(&self, name: &str) -> Result<BTreeMap<String, String>, CatalogError> {
        match &self.patterns {
            Some(folder) => disk::pattern_files(&folder.join(name)),
            None => {
                let files = built_in::PATTERNS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, f)| f);
                Ok(files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect())
            }
        }
    }

    /// A pattern by its name.
    pub fn pattern(&self, name: &str) -> Result<Pattern, CatalogError> {
        let names = self.pattern_names()?;
        if !names.iter().any(|known| known == name) {
            let short = names.iter().find(|known| known.split('/').next_back() == Some(name));
            let near = short.map(|known| &**known).or(nearest(name, names.iter().map(|name| &**name)));
            let help = match near {
                Some(near) => format!("; did you mean `{near}`?"),
                None => "; `benchwright patterns` lists them".to_owned(),
            };
            return Err(CatalogError::NoPattern { name: name.to_owned(), help });
        }
        let group = name.split('/').next().unwrap_or_default();
        let grouped = match &self.patterns {
            Some(folder) => !folder.join(name).is_dir(),
            None => built_in::PATTERNS.iter().all(|(known, _)| *known != name),
        };
        let files = self.pattern_files(if grouped { group } else { name })?;
        Ok(Pattern::read(name, &files)?)
    }
}
