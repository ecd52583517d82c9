//! Reads domain folders from disk, with limits: nothing but plain files, no links, no more than a domain can need.

use crate::CatalogError;
use benchwright_schema::Folder;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// The most files a domain folder may hold.
const MOST_FILES: usize = 2000;

fn unreadable(path: &Path, why: impl ToString) -> CatalogError {
    CatalogError::Unreadable { path: path.display().to_string(), why: why.to_string() }
}

/// The names of the domains in a folder, in order.
pub(crate) fn domain_names(folder: &Path) -> Result<Vec<String>, CatalogError> {
    Ok(domain_folders(folder)?.into_keys().collect())
}

/// The folders of the domains in a folder, by name: those with a `domain.toml`, and, where a folder has none, those in it.
pub(crate) fn domain_folders(folder: &Path) -> Result<BTreeMap<String, PathBuf>, CatalogError> {
    let mut found = BTreeMap::new();
    let mut add = |name: String, path: PathBuf| match found.insert(name.clone(), path.clone()) {
        None => Ok(()),
        Some(other) => Err(CatalogError::Twice { name, places: [other, path] }),
    };
    for name in folders(folder)? {
        let path = folder.join(&name);
        if path.join("domain.toml").is_file() {
            add(name, path)?;
            continue;
        }
        // What cannot be looked into is no group of ours.
        for name in folders(&path).unwrap_or_default() {
            let path = path.join(&name);
            if path.join("domain.toml").is_file() {
                add(name, path)?;
            }
        }
    }
    Ok(found)
}

/// The names of the patterns in a folder of groups, in order; a group with a pattern of its own is named too.
pub(crate) fn pattern_names(folder: &Path, file: &str) -> Result<Vec<String>, CatalogError> {
    let mut names = Vec::new();
    for group in folders(folder)? {
        if folder.join(&group).join(file).is_file() {
            names.push(group.clone());
        }
        for pattern in folders(&folder.join(&group))? {
            if folder.join(&group).join(&pattern).join(file).is_file() {
                names.push(format!("{group}/{pattern}"));
            }
        }
    }
    names.sort();
    Ok(names)
}

/// The names of the folders in a folder that are no notes to oneself, in order.
pub(crate) fn folders(folder: &Path) -> Result<Vec<String>, CatalogError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let entry = entry.map_err(|error| unreadable(folder, error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !name.starts_with(['_', '.']) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Reads the declarations of a pattern folder.
pub(crate) fn pattern_files(path: &Path) -> Result<BTreeMap<String, String>, CatalogError> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(path).map_err(|error| unreadable(path, error))? {
        let entry = entry.map_err(|error| unreadable(path, error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".toml") && entry.path().is_file() {
            files.insert(name, read_file(&entry.path()).map_err(|error| unreadable(&entry.path(), error))?);
        }
    }
    Ok(files)
}

/// Reads the declarations of a domain folder.
pub(crate) fn read_folder(path: &Path) -> Result<Folder, CatalogError> {
    let full = path.canonicalize().map_err(|error| unreadable(path, error))?;
    if !full.join("domain.toml").is_file() {
        return Err(unreadable(path, "this is not a domain folder: it has no domain.toml"));
    }
    read_files(&full)
}

/// Reads the files of a folder, of a domain or of a part.
pub(crate) fn read_files(path: &Path) -> Result<Folder, CatalogError> {
    let full = path.canonicalize().map_err(|error| unreadable(path, error))?;
    let name = full.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut folder = Folder::new(name, []);
    let mut bytes = 0;
    for (count, entry) in fs::read_dir(&full).map_err(|error| unreadable(path, error))?.enumerate() {
        let entry = entry.map_err(|error| unreadable(path, error))?;
        let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), error))?;
        if count >= MOST_FILES {
            return Err(unreadable(path, format!("it holds more than {MOST_FILES} files")));
        }
        if kind.is_symlink() {
            return Err(unreadable(&entry.path(), "links are not followed; put the file itself here"));
        }
        // Cases and code are not declarations; what else is in a folder of its own is none of ours.
        if kind.is_dir() {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = read_file(&entry.path()).map_err(|error| unreadable(&entry.path(), error))?;
        bytes += text.len();
        if bytes > Folder::LARGEST_FOLDER {
            return Err(unreadable(path, format!("it holds more than {} bytes", Folder::LARGEST_FOLDER)));
        }
        folder.files.insert(name, text);
    }
    Ok(folder)
}

/// Reads one file, no further than a file may be long.
pub(crate) fn read_file(path: &Path) -> io::Result<String> {
    use io::Read as _;
    let mut text = String::new();
    let limit = Folder::LARGEST_FILE as u64 + 1;
    fs::File::open(path)?.take(limit).read_to_string(&mut text)?;
    if text.len() as u64 == limit {
        return Err(io::Error::other(format!("it is longer than {} bytes", Folder::LARGEST_FILE)));
    }
    Ok(text)
}
