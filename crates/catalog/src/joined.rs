//! Joined worlds: several domains in one episode. What is told about them stands in `domains/_joined`: a file for each
//! composition that has a name of its own, and the bridges between domains.

use crate::{Catalog, CatalogError, Found, built_in, disk};
use benchwright_sandbox::{NativeTool, Natives};
use benchwright_schema::{Bridges, Composition, Domain, JoinError};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

/// The folder, beside those of domains, in which compositions stand.
pub(crate) const FOLDER: &str = "_joined";
/// The file of the bridges.
pub(crate) const BRIDGES: &str = "bridges.toml";

impl Catalog {
    /// The names of the compositions that are told, in order. Any other set of domains can be joined too.
    pub fn compositions(&self) -> Result<Vec<String>, CatalogError> {
        let files = self.told()?;
        let names = files.keys().filter_map(|file| file.strip_suffix(".toml")).filter(|name| name.contains('+'));
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }

    /// The tool names that more than one of all domains has: in a joined world each is served with its domain's name before it.
    pub fn clashing_tools(&self) -> Result<BTreeSet<String>, CatalogError> {
        let mut known = self.clashing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(clashing) = known.get(&self.folder) {
            return Ok(clashing.clone());
        }
        let (mut seen, mut clashing) = (BTreeSet::new(), BTreeSet::new());
        for name in self.names()? {
            let own: BTreeSet<String> = self.folder_of(&name)?.tool_names().into_iter().collect();
            clashing.extend(own.intersection(&seen).cloned());
            seen.extend(own);
        }
        known.insert(self.folder.clone(), clashing.clone());
        Ok(clashing)
    }

    /// Joins the domains of a name such as `csm+itsm`, in whatever order they are named.
    pub(crate) fn joined(&self, name: &str) -> Result<Found, CatalogError> {
        let wrong = |why: JoinError| CatalogError::Joined { name: name.to_owned(), why: why.to_string() };
        let Some(names) = Composition::names(name) else {
            let why = "name two or more different domains, such as csm+itsm".to_owned();
            return Err(CatalogError::Joined { name: name.to_owned(), why });
        };
        let members: Vec<Found> = names.iter().map(|name| self.find(name)).collect::<Result<_, _>>()?;
        let domains: Vec<&Domain> = members.iter().map(|found| &*found.domain).collect();
        let told = self.told()?;
        let full = names.join("+");
        let composition = match told.get(&format!("{full}.toml")) {
            Some(text) => Composition::read(&full, text).map(Some),
            None => Ok(None),
        };
        let bridges = told.get(BRIDGES).map_or_else(|| Ok(Bridges::default()), |text| Bridges::read(text, &domains));
        let (composition, bridges) = match (composition, bridges) {
            (Ok(composition), Ok(bridges)) => (composition.unwrap_or_else(|| Composition::of(&domains)), bridges),
            (composition, bridges) => {
                let faults = composition.err().into_iter().chain(bridges.err()).flatten().collect();
                return Err(CatalogError::Faulty { name: full, faults });
            }
        };
        let domain =
            benchwright_schema::join(&composition, &domains, &self.clashing_tools()?, &bridges).map_err(wrong)?;
        let natives = natives(&domain, &members);
        Ok(Found { domain: Arc::new(domain), natives })
    }

    /// The files that tell of joined worlds.
    fn told(&self) -> Result<BTreeMap<String, String>, CatalogError> {
        match &self.folder {
            Some(folder) if folder.join(FOLDER).is_dir() => Ok(disk::read_files(&folder.join(FOLDER))?.files),
            Some(_) => Ok(BTreeMap::new()),
            None => Ok(built_in::JOINED.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect()),
        }
    }
}

/// The code of the members' native tools, under the names by which they are served.
fn natives(domain: &Domain, members: &[Found]) -> &'static Natives {
    static JOINED: Mutex<BTreeMap<String, &'static Natives>> = Mutex::new(BTreeMap::new());
    let mut joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
    // Tables of code live as long as the program, so one is made for each joined domain and kept.
    joined.entry(format!("{} {}", domain.name, domain.digest)).or_insert_with(|| {
        let mut all: Vec<NativeTool> = Vec::new();
        for (member, found) in domain.members.iter().zip(members) {
            let served = member.tool_names.iter().zip(&domain.tools[member.tools.clone()]);
            for (own, tool) in served {
                if let Some(native) = found.natives.iter().find(|native| native.name == own) {
                    all.push(NativeTool { name: Box::leak(tool.name.clone().into_boxed_str()), ..*native });
                }
            }
        }
        Box::leak(all.into_boxed_slice())
    })
}
