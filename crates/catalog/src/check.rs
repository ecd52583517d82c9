//! Checks whatever an author works on, by its path: a domain, a pattern, a part, what is told of joined worlds, a plan, a suite, or a
//! folder of any of these. The loaders that the program itself uses do the work, so what is found sound here is what loads.

use crate::{Catalog, CatalogError, disk, joined};
use benchwright_base::Diagnostic;
use benchwright_pack::{Suite, SuiteError};
use benchwright_project::Pattern;
use benchwright_schema::{Bridges, Composition, Document, Domain, Folder, KeyFault, plan::PlanText};
use benchwright_spec::scenario::SCENARIO;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What a path holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A folder with a `domain.toml`.
    Domain,
    /// A folder with a `pattern.toml` or a `scenario.toml`.
    Pattern,
    /// A folder in `_parts`.
    Part,
    /// A file in `_joined`.
    Joined,
    /// A `plan.toml` in the folder of a family.
    Plan,
    /// A lock file of tasks.
    Suite,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Domain => "domain",
            Kind::Pattern => "pattern",
            Kind::Part => "part",
            Kind::Joined => "joined",
            Kind::Plan => "plan",
            Kind::Suite => "suite",
        })
    }
}

/// One thing that was checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The folder or file.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// All its faults; each names its file with the path from where the program was started.
    pub faults: Vec<Diagnostic>,
}

/// Folders of code and of other programs are not looked into.
const PASSED_OVER: [&str; 4] = ["target", "src", "cases", "tests"];
/// Folders are looked into this deep.
const DEEPEST: usize = 6;

impl Catalog {
    /// Checks a folder or file, or everything of ours in a folder. Nothing is found where there is nothing that this program reads.
    pub fn check(&self, path: &Path) -> Result<Vec<Checked>, CatalogError> {
        let mut things = BTreeSet::new();
        if !path.exists() {
            let why = "it is not there".to_owned();
            return Err(CatalogError::Unreadable { path: path.display().to_string(), why });
        }
        find(path, 0, &mut things)?;
        things.into_iter().map(|(path, kind)| self.check_one(path, kind)).collect()
    }

    fn check_one(&self, path: PathBuf, kind: Kind) -> Result<Checked, CatalogError> {
        let (base, found) = match kind {
            Kind::Domain => (path.clone(), self.domain_faults(&path)?),
            Kind::Pattern => (path.clone(), self.pattern_faults(&path)?),
            Kind::Part => part_faults(&path)?,
            Kind::Joined => self.joined_faults(&path)?,
            Kind::Plan => (parent(&path), self.plan_faults(&path)?),
            Kind::Suite => (parent(&path), self.suite_faults(&path)?),
        };
        let mut faults: Vec<Diagnostic> = found
            .into_iter()
            .map(|fault| {
                let of_part = fault.file.starts_with('_') && kind == Kind::Domain;
                let base = if of_part { beside(&base, &fault.file) } else { base.clone() };
                Diagnostic { file: base.join(&fault.file).display().to_string(), ..fault }
            })
            .collect();
        faults.sort();
        faults.dedup();
        Ok(Checked { path, kind, faults })
    }

    fn domain_faults(&self, path: &Path) -> Result<Vec<Diagnostic>, CatalogError> {
        faults(self.find(&as_path(path)).map(drop))
    }

    fn pattern_faults(&self, path: &Path) -> Result<Vec<Diagnostic>, CatalogError> {
        let files = disk::pattern_files(path)?;
        let full = path.canonicalize().map_err(|error| unreadable(path, &error))?;
        let name = full.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if files.contains_key(SCENARIO) {
            return faults(self.read_scenario(&format!("own/{name}"), &files).map(drop));
        }
        // A pattern of a part is checked for one of the domains that include it.
        let part = crate::patterns::head_of(files.get("pattern.toml").map_or("", |text| text)).and_then(|h| h.part);
        let Some(part) = part else { return faults(self.read_pattern(&format!("own/{name}"), &files).map(drop)) };
        for domain in self.names()? {
            if self.own_folder(&domain)?.includes().contains(&part) {
                return faults(self.read_pattern(&format!("{name}/{domain}"), &files).map(drop));
            }
        }
        let document = Document::new("pattern.toml", &files["pattern.toml"]);
        document.add([KeyFault::new(["part"], format!("no domain includes the part `{part}`"))]);
        let mut found = document.into_faults();
        found.extend(Pattern::read(&format!("{name}/none"), &files).err().unwrap_or_default());
        Ok(found)
    }

    /// What is told of joined worlds, for the domains beside it.
    fn joined_faults(&self, path: &Path) -> Result<(PathBuf, Vec<Diagnostic>), CatalogError> {
        let base = parent(&parent(path));
        let text = disk::read_file(path).map_err(|error| unreadable(path, &error))?;
        let names = disk::domain_names(&base)?;
        let domains: BTreeMap<String, Arc<Domain>> = names
            .iter()
            .filter_map(|name| Some((name.clone(), Catalog::from_folder(&base).find(name).ok()?.domain)))
            .collect();
        let known: Vec<&Domain> = domains.values().map(|domain| &**domain).collect();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if file == joined::BRIDGES {
            return Ok((base, Bridges::read(&text, &known).err().unwrap_or_default()));
        }
        let name = file.trim_end_matches(".toml");
        let mut found = Composition::read(name, &text).err().unwrap_or_default();
        let shown = format!("{}/{file}", joined::FOLDER);
        let document = Document::new(&shown, &text);
        for (at, member) in name.split('+').enumerate().filter(|(_, member)| !names.iter().any(|name| name == member)) {
            let fault = KeyFault::new(["domains", &*at.to_string()], format!("there is no domain `{member}`"));
            document.add([fault.instead_of(member, domains.keys().map(|name| &**name))]);
        }
        let is_sound = document.is_sound() && found.is_empty();
        found.extend(document.into_faults());
        // Whether they can be joined at all; what is wrong with the bridges is told there.
        if is_sound && let Err(CatalogError::Joined { why, .. }) = Catalog::from_folder(&base).find(name) {
            found.push(Diagnostic::at(&shown, "", 0, why, None));
        }
        Ok((base, found))
    }

    /// A plan, on the domain that its folder is called after.
    fn plan_faults(&self, path: &Path) -> Result<Vec<Diagnostic>, CatalogError> {
        let text = disk::read_file(path).map_err(|error| unreadable(path, &error))?;
        let full = path.canonicalize().map_err(|error| unreadable(path, &error))?;
        let name = parent(&full).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let document = Document::new("plan.toml", &text);
        let plan: Option<PlanText> = document.read();
        match (self.find(&name), self.family(&name, &name)) {
            (Ok(found), Ok(family)) => {
                let natives: Vec<&str> = family.natives().iter().map(|(name, _)| *name).collect();
                let plan = plan.filter(|_| document.is_toml());
                document.add(plan.into_iter().flat_map(|plan| plan.check(&found.domain, &natives)));
            }
            (Err(error @ CatalogError::Faulty { .. }), _) => return Err(error),
            _ => {
                let fault = KeyFault::new([], format!("there is no family on a domain `{name}`"));
                document.add([fault.with_help("a plan stands in families/DOMAIN/plan.toml")]);
            }
        }
        Ok(document.into_faults())
    }

    /// A suite with its patterns, tiers and objectives.
    fn suite_faults(&self, path: &Path) -> Result<Vec<Diagnostic>, CatalogError> {
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match Suite::from_toml(&file, &text) {
            Ok(_) | Err(SuiteError::Faulty(_)) => {}
            Err(error) => return Ok(vec![Diagnostic::at(&file, &text, 0, error.to_string(), None)]),
        }
        let document = Document::new(&file, &text);
        let Some(suite) = Suite::read(&document) else { return Ok(document.into_faults()) };
        let names = self.pattern_names()?;
        let mut patterns: BTreeMap<&str, Option<Pattern>> = BTreeMap::new();
        for (at, task) in suite.tasks.iter().enumerate() {
            let at = at.to_string();
            let path = |key| ["task", &*at, key];
            if self.is_scenario(&task.pattern) {
                let (scenario, _) = self.scenario(&task.pattern)?;
                if task.objective != "done" && scenario.variant(&task.objective).is_none() {
                    let message = format!("`{}` has no variant `{}`", task.pattern, task.objective);
                    let names = scenario.blocked.iter().map(|blocked| &*blocked.name).chain(["done"]);
                    document.add([KeyFault::new(path("objective"), message).instead_of(&task.objective, names)]);
                }
                continue;
            }
            if !patterns.contains_key(&*task.pattern) {
                patterns.insert(&task.pattern, self.pattern(&task.pattern).ok());
            }
            let Some(pattern) = &patterns[&*task.pattern] else {
                let (message, help) = match names.contains(&task.pattern) {
                    true => (format!("`{}` has faults", task.pattern), Some("check the pattern".to_owned())),
                    false => {
                        let message = format!("there is no pattern `{}`", task.pattern);
                        let fault = KeyFault::new([], "").instead_of(&task.pattern, names.iter().map(|name| &**name));
                        (message, fault.help)
                    }
                };
                document.add([KeyFault { help, ..KeyFault::new(path("pattern"), message) }]);
                continue;
            };
            let Some(cell) = pattern.cell(&task.tier) else {
                let fault = KeyFault::new(path("tier"), format!("`{}` has no tier `{}`", pattern.name, task.tier));
                let tiers = pattern.head.cells.iter().map(|cell| &*cell.tier);
                document.add([fault.instead_of(&task.tier, tiers)]);
                continue;
            };
            if !cell.objectives.contains(&task.objective) {
                let message = format!("this tier of `{}` has no objective `{}`", pattern.name, task.objective);
                let objectives = cell.objectives.iter().map(|name| &**name);
                document.add([KeyFault::new(path("objective"), message).instead_of(&task.objective, objectives)]);
            }
        }
        Ok(document.into_faults())
    }
}

/// A part: the domains beside it that include it are loaded, and what is wrong in its own files is told.
fn part_faults(path: &Path) -> Result<(PathBuf, Vec<Diagnostic>), CatalogError> {
    let full = path.canonicalize().map_err(|error| unreadable(path, &error))?;
    let part = full.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let base = parent(&parent(path));
    let own = format!("{}/{part}/", Folder::PARTS);
    let catalog = Catalog::from_folder(&base);
    let (mut found, mut users) = (Vec::new(), 0);
    for name in disk::domain_names(&base)? {
        if catalog.own_folder(&name)?.includes().contains(&part) {
            users += 1;
            let all = faults(catalog.find(&name).map(drop))?;
            found.extend(all.into_iter().filter(|fault| fault.file.starts_with(&own)));
        }
    }
    if users == 0 {
        let files = disk::read_files(path)?.files;
        let declared = || files.iter().filter(|(file, _)| file.ends_with(".toml") && *file != "Cargo.toml");
        for (file, text) in declared() {
            // What stands for the domain's name may be part of a key.
            let text = text.replace("{domain}", "_domain_");
            found.extend(Document::new(&format!("{own}{file}"), &text).into_faults());
        }
        let first = declared().next().map_or("README.md", |(file, _)| file);
        let help = Some(format!("write `include = [\"{part}\"]` in the domain.toml of one"));
        let message = "no domain includes this part, so its names cannot be looked up";
        found.push(Diagnostic::at(&format!("{own}{first}"), "", 0, message, help));
    }
    Ok((base, found))
}

/// The faults of what was loaded; another error is an error.
fn faults(loaded: Result<(), CatalogError>) -> Result<Vec<Diagnostic>, CatalogError> {
    match loaded {
        Ok(()) => Ok(Vec::new()),
        Err(CatalogError::Faulty { faults, .. }) => Ok(faults),
        Err(error) => Err(error),
    }
}

/// What there is to check at a path. A file of a folder stands for the folder.
fn find(path: &Path, depth: usize, things: &mut BTreeSet<(PathBuf, Kind)>) -> Result<(), CatalogError> {
    if path.is_file() {
        things.extend(thing_of_file(path)?);
        return Ok(());
    }
    let full = path.canonicalize().map_err(|error| unreadable(path, &error))?;
    let folder_name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if path.join("domain.toml").is_file() {
        things.insert((path.to_owned(), Kind::Domain));
        return Ok(());
    }
    if folder_name(&parent(&full)) == Folder::PARTS {
        things.insert((path.to_owned(), Kind::Part));
        return Ok(());
    }
    if path.join("pattern.toml").is_file() || path.join(SCENARIO).is_file() {
        things.insert((path.to_owned(), Kind::Pattern));
    }
    if depth >= DEEPEST {
        return Ok(());
    }
    let mut entries = fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>())
        .map_err(|error| unreadable(path, &error))?;
    entries.sort();
    for entry in entries {
        let name = folder_name(&entry);
        if name.starts_with('.') || PASSED_OVER.contains(&&*name) {
            continue;
        }
        if entry.is_dir() {
            find(&entry, depth + 1, things)?;
        } else {
            things.extend(thing_of_file(&entry)?);
        }
    }
    Ok(())
}

/// What a file is, or is part of.
fn thing_of_file(path: &Path) -> Result<Option<(PathBuf, Kind)>, CatalogError> {
    if path.extension().is_none_or(|end| end != "toml") {
        return Ok(None);
    }
    let full = path.canonicalize().map_err(|error| unreadable(path, &error))?;
    let folder = parent(&full);
    let above = |folder: &Path| folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = full.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if folder.join("domain.toml").is_file() {
        return Ok((name != "Cargo.toml").then(|| (parent(path), Kind::Domain)));
    }
    if folder.join("pattern.toml").is_file() || folder.join(SCENARIO).is_file() {
        return Ok(Some((parent(path), Kind::Pattern)));
    }
    if above(&parent(&folder)) == Folder::PARTS {
        return Ok((name != "Cargo.toml").then(|| (parent(path), Kind::Part)));
    }
    if above(&folder) == joined::FOLDER {
        return Ok(Some((path.to_owned(), Kind::Joined)));
    }
    if name == "plan.toml" {
        return Ok(Some((path.to_owned(), Kind::Plan)));
    }
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    let document = Document::new("", &text);
    let root = document.root();
    let is_suite = root.get("task").is_some() || (root.get("format").is_some() && root.get("canary").is_some());
    Ok(is_suite.then(|| (path.to_owned(), Kind::Suite)))
}

/// The folder that something stands in; the one it was started in for a bare name.
fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => PathBuf::from("."),
        Some(folder) => folder.to_owned(),
        None => path.join(".."),
    }
}

/// Where the file of a part stands that a domain includes: beside its folder, or beside the group that it is in.
fn beside(domain: &Path, file: &str) -> PathBuf {
    let near = parent(domain);
    let group = parent(&near);
    if !near.join(file).is_file() && group.join(file).is_file() { group } else { near }
}

/// A path that nobody takes for a name.
fn as_path(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(['/', '\\']) { text } else { format!("./{text}") }
}

fn unreadable(path: &Path, why: &dyn fmt::Display) -> CatalogError {
    CatalogError::Unreadable { path: path.display().to_string(), why: why.to_string() }
}
