//! Scans `domains/` and `patterns/` and embeds every declaration, of domains, alone or in groups, and of the parts in
//! `domains/_parts`. There is no other list of domains or patterns. Code is not found here: what has some is a crate, listed in
//! `src/generated.rs`.

use std::{
    collections::BTreeMap,
    env,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let root = beside("domains");
    // Cargo looks at all that is in a folder.
    println!("cargo::rerun-if-changed={}", root.display());
    let root = root.canonicalize()?;
    let domains = embedded(&domains(&root)?)?;
    let parts = embedded(&folders(&root.join("_parts"))?)?;
    let joined = files(&root.join("_joined"), &|name| name.ends_with(".toml"))?;
    let patterns = patterns()?;
    let code = format!(
        "pub(crate) static EMBEDDED: crate::Embedded = &[{domains}];\n\
         pub(crate) static PARTS: crate::Embedded = &[{parts}];\n\
         pub(crate) static JOINED: &[(&str, &str)] = &[{joined}];\n\
         pub(crate) static PATTERNS: crate::Embedded = &[{patterns}];\n"
    );
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("declarations.rs"), code)
}

/// A folder of the source tree; a crate that stands by itself has a copy (`scripts/crates`).
fn beside(name: &str) -> PathBuf {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let carried = own.join("carried").join(name);
    if carried.is_dir() { carried } else { own.join("../..").join(name) }
}

/// The folders of domains by name: those with a `domain.toml`, and, where a folder has none, those in it.
fn domains(root: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let is_domain = |path: &Path| path.join("domain.toml").is_file();
    let mut found = BTreeMap::new();
    for (name, folder) in folders(root)? {
        let own = if is_domain(&folder) { BTreeMap::from([(name, folder)]) } else { folders(&folder)? };
        for (name, folder) in own.into_iter().filter(|(_, folder)| is_domain(folder)) {
            if let Some(other) = found.insert(name.clone(), folder.clone()) {
                let places = format!("{} and {}", other.display(), folder.display());
                return Err(io::Error::other(format!("there are two domains `{name}`: {places}")));
            }
        }
    }
    Ok(found)
}

/// The folders in a folder by name, but for those with a mark before it.
fn folders(root: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let all = sorted(root)?.into_iter().filter(|path| path.is_dir()).map(|path| (name_of(&path), path));
    Ok(all.filter(|(name, _)| !name.starts_with(['_', '.'])).collect())
}

/// Folders of domains or parts, each with its declarations. A `Cargo.toml` declares code and no world.
fn embedded(folders: &BTreeMap<String, PathBuf>) -> io::Result<String> {
    let mut found = String::new();
    for (name, folder) in folders {
        let files = files(folder, &|name| {
            (name.ends_with(".toml") && name != "Cargo.toml") || matches!(name, "README.md" | "bench.case")
        })?;
        let _ = write!(found, "({name:?}, &[{files}]), ");
    }
    Ok(found)
}

/// The files of a folder that are wanted, each with its text.
fn files(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> io::Result<String> {
    let mut found = String::new();
    for file in sorted(folder)?.into_iter().filter(|path| path.is_file() && wanted(&name_of(path))) {
        let _ = write!(found, "({:?}, include_str!({:?})), ", name_of(&file), file.display().to_string());
    }
    Ok(found)
}

/// The patterns of all groups, and those that stand in a group's own folder.
fn patterns() -> io::Result<String> {
    let mut found = String::new();
    let root = beside("patterns");
    println!("cargo::rerun-if-changed={}", root.display());
    for group in sorted(&root.canonicalize()?)?.into_iter().filter(|path| path.is_dir()) {
        let own = sorted(&group)?.into_iter().chain([group.clone()]);
        for pattern in own.filter(|path| path.join("pattern.toml").is_file() || path.join("scenario.toml").is_file()) {
            let files = files(&pattern, &|name| name.ends_with(".toml"))?;
            let name =
                if pattern == group { name_of(&group) } else { format!("{}/{}", name_of(&group), name_of(&pattern)) };
            let _ = write!(found, "({name:?}, &[{files}]), ");
        }
    }
    Ok(found)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What stands in a folder, in order; nothing, where there is no such folder.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
