//! Where the solver library is. It is fetched once and found without being asked for: in the folder that
//! `BENCHWRIGHT_SOLVER` names, else in the cache, else among the packages of a Python. All three are laid out like the
//! wheel.

use crate::EngineError;
use benchwright_base::Digest;
use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The version that is fetched and that results are pinned to.
pub const PINNED_VERSION: &str = "9.15.6755";
/// The SHA-256 of that version's `libortools.so.9`.
pub const PINNED_SHA256: &str = "e953550bd0caa592ea99e4d5052ef0d86cc83b23a37c09e9d6ced7cba3efcb5e";
/// How to get the library.
pub const FETCH: &str = "bash scripts/solver fetch";

const CP_SAT_FILE: &str = "ortools/.libs/libortools.so.9";
const HIGHS_FILE: &str = "ortools/.libs/libhighs.so.1";

/// The solver library: a folder that holds what the wheel `ortools` holds.
#[derive(Clone, Debug)]
pub struct Library {
    path: PathBuf,
    sha256: OnceLock<Digest>,
}

impl Library {
    /// Finds the libraries in the places named above, in that order.
    pub fn find() -> Result<Library, EngineError> {
        let program = env::current_exe().ok();
        let beside = program.as_deref().and_then(Path::parent).and_then(prefix_of_python);
        find_with(&|name| env::var_os(name).filter(|value| !value.is_empty()), beside)
    }

    /// The library in a given folder.
    pub fn at(path: impl Into<PathBuf>) -> Result<Library, EngineError> {
        let path = path.into();
        match [CP_SAT_FILE, HIGHS_FILE].iter().find(|name| !path.join(name).is_file()) {
            None => Ok(Library { path, sha256: OnceLock::new() }),
            Some(name) => Err(EngineError::NotThere(format!("{} has no {name}", path.display()))),
        }
    }

    /// The folder that the libraries lie in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of CP-SAT.
    pub(crate) fn cp_sat(&self) -> PathBuf {
        self.path.join(CP_SAT_FILE)
    }

    /// The file of HiGHS.
    pub(crate) fn highs(&self) -> PathBuf {
        self.path.join(HIGHS_FILE)
    }

    /// The SHA-256 of `libortools.so.9`, computed when it is first asked for.
    pub fn sha256(&self) -> io::Result<Digest> {
        if let Some(known) = self.sha256.get() {
            return Ok(*known);
        }
        let digest = Digest::of(&fs::read(self.cp_sat())?);
        Ok(*self.sha256.get_or_init(|| digest))
    }

    /// Whether this is the very library that results are pinned to.
    pub fn is_pinned(&self) -> io::Result<bool> {
        Ok(Digest::parse(PINNED_SHA256) == Some(self.sha256()?))
    }

    /// The version that the library names itself. Loads it.
    pub fn version(&self) -> Result<String, EngineError> {
        crate::CpSat::load(self).map(|engine| engine.library_version().to_owned())
    }
}

/// Finds the libraries. `beside` is the prefix of the Python that the program was installed into, if it was.
fn find_with(variable: &dyn Fn(&str) -> Option<OsString>, beside: Option<PathBuf>) -> Result<Library, EngineError> {
    // A folder that is named is meant: if it is wrong, no other is tried.
    if let Some(named) = variable("BENCHWRIGHT_SOLVER") {
        return Library::at(named);
    }
    let home = variable("HOME").map(PathBuf::from);
    let cache = home.as_ref().map(|home| home.join(".cache/benchwright").join(format!("ortools-{PINNED_VERSION}")));
    if let Some(library) = cache.iter().find_map(|cache| Library::at(cache).ok()) {
        return Ok(library);
    }
    let mut prefixes: Vec<PathBuf> = beside.into_iter().collect();
    prefixes.extend(["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable).map(PathBuf::from));
    prefixes.extend(variable("PATH").iter().flat_map(env::split_paths).filter_map(|folder| prefix_of_python(&folder)));
    prefixes.extend(home.map(|home| home.join(".local")));
    match prefixes.iter().find_map(|prefix| python_package(prefix)) {
        Some(library) => Ok(library),
        None => Err(EngineError::NotThere(match cache {
            Some(cache) => format!("neither {} nor a Python package `ortools` {PINNED_VERSION}", cache.display()),
            None => format!("no Python package `ortools` {PINNED_VERSION}"),
        })),
    }
}

/// The prefix of the Python whose program stands in a folder of the search path.
fn prefix_of_python(folder: &Path) -> Option<PathBuf> {
    let program = folder.join("python3");
    program.is_file().then(|| folder.parent().map(Path::to_owned)).flatten()
}

/// The package `ortools` of the pinned version under a Python prefix.
fn python_package(prefix: &Path) -> Option<Library> {
    let folders = fs::read_dir(prefix.join("lib")).ok()?;
    let mut pythons: Vec<PathBuf> = folders.filter_map(|entry| Some(entry.ok()?.path())).collect();
    pythons.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python3")));
    pythons.sort();
    pythons.iter().flat_map(|python| [python.join("site-packages"), python.join("dist-packages")]).find_map(
        |packages| {
            let is_pinned = packages.join(format!("ortools-{PINNED_VERSION}.dist-info")).is_dir();
            is_pinned.then(|| Library::at(packages).ok()).flatten()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = env::temp_dir().join(format!("benchwright-locate-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn fill(path: &Path) {
        fs::create_dir_all(path.join("ortools/.libs")).unwrap();
        fs::write(path.join(CP_SAT_FILE), "a").unwrap();
        fs::write(path.join(HIGHS_FILE), "b").unwrap();
    }

    fn find(values: &[(&str, &Path)]) -> Result<PathBuf, String> {
        let variable =
            |name: &str| values.iter().find(|(key, _)| *key == name).map(|(_, path)| path.as_os_str().to_owned());
        find_with(&variable, None).map(|library| library.path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_named_folder_wins_and_no_other_is_tried_if_it_is_empty() {
        let home = folder("home");
        let cache = home.join(".cache/benchwright").join(format!("ortools-{PINNED_VERSION}"));
        fill(&cache);
        let named = folder("named");
        let error = find(&[("HOME", &home), ("BENCHWRIGHT_SOLVER", &named)]).unwrap_err();
        assert!(error.contains("libortools.so.9") && error.contains(FETCH), "{error}");
        fill(&named);
        assert_eq!(find(&[("HOME", &home), ("BENCHWRIGHT_SOLVER", &named)]), Ok(named.clone()));
        assert_eq!(find(&[("HOME", &home)]), Ok(cache));
        for path in [home, named] {
            fs::remove_dir_all(path).unwrap();
        }
    }

    #[test]
    fn a_python_package_of_the_pinned_version_is_found() {
        let prefix = folder("python");
        let packages = prefix.join("lib/python3.11/site-packages");
        fill(&packages);
        assert!(find(&[("VIRTUAL_ENV", &prefix)]).unwrap_err().contains(FETCH));
        fs::create_dir(packages.join(format!("ortools-{PINNED_VERSION}.dist-info"))).unwrap();
        assert_eq!(find(&[("VIRTUAL_ENV", &prefix)]), Ok(packages.clone()));
        // A program that was installed beside that Python finds it without being told.
        assert_eq!(find_with(&|_| None, Some(prefix.clone())).unwrap().path, packages);
        fs::remove_dir_all(prefix).unwrap();
    }

    #[test]
    fn the_hash_is_of_the_library_file() {
        let path = folder("hash");
        fill(&path);
        let library = Library::at(&path).unwrap();
        assert_eq!(library.sha256().unwrap(), Digest::of(b"a"));
        assert!(!library.is_pinned().unwrap());
        fs::remove_dir_all(path).unwrap();
    }
}
