//! Parts: declarations that several domains share, in `domains/_parts`. A domain that includes a part gets its tables and
//! tools, the code of its tools, and the family made from what the domain tells the part.

use crate::{CatalogError, NewFamily, built_in, disk, generated};
use benchwright_base::{Diagnostic, Digest};
use benchwright_pack::Snapshot;
use benchwright_project::{Discard, Family, Telling};
use benchwright_sandbox::{NativeTool, Natives, Sandbox, SeedError};
use benchwright_schema::{Domain, Folder};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// The folder with the parts that it includes, from the first folder of parts that has them or from the program. A part that is
/// nowhere is left out, and the loader says so with its place.
pub(crate) fn with_parts(folder: Folder, beside: &[PathBuf]) -> Result<Folder, CatalogError> {
    let mut folder = folder;
    folder.known_parts = names(beside)?;
    for part in folder.includes() {
        if part.is_empty() || part.contains(['/', '\\', '.']) {
            continue;
        }
        let mut on_disk =
            beside.iter().map(|folder| folder.join(Folder::PARTS).join(&part)).filter(|path| path.is_dir());
        if let Some(path) = on_disk.next() {
            folder = folder.with_part(&part, disk::read_files(&path)?.files);
        } else if let Some((_, files)) = built_in::PARTS.iter().find(|(known, _)| *known == part) {
            let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
            folder = folder.with_part(&part, files);
        }
    }
    Ok(folder)
}

/// The names of the parts in the folders of parts beside a domain, and of those of the program.
fn names(beside: &[PathBuf]) -> Result<Vec<String>, CatalogError> {
    let mut names: Vec<String> = built_in::PARTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    for folder in beside.iter().map(|folder| folder.join(Folder::PARTS)).filter(|folder| folder.is_dir()) {
        names.extend(disk::folders(&folder)?);
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// The code of a domain's native tools: its own, and that of the parts, in whose names `{domain}` stands for the domain's.
pub(crate) fn natives(folder: &Folder) -> &'static Natives {
    static JOINED: Mutex<BTreeMap<(String, Vec<String>), &'static Natives>> = Mutex::new(BTreeMap::new());
    let own = generated::NATIVES.iter().find(|(name, _)| *name == folder.name).map_or(&[][..], |(_, code)| code);
    if folder.parts.is_empty() {
        return own;
    }
    let parts: Vec<String> = folder.parts.iter().map(|part| part.name.clone()).collect();
    let mut joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
    joined.entry((folder.name.clone(), parts.clone())).or_insert_with(|| {
        let mut all: Vec<NativeTool> = own.to_vec();
        for (part, code) in generated::PART_NATIVES.iter().filter(|(part, _)| parts.iter().any(|known| known == part)) {
            let _ = part;
            all.extend(code.iter().map(|tool| {
                // Made once for a domain and kept, because tables of code live as long as the program.
                let name: &'static str = match tool.name.contains("{domain}") {
                    true => Box::leak(tool.name.replace("{domain}", &folder.name).into_boxed_str()),
                    false => tool.name,
                };
                NativeTool { name, ..*tool }
            }));
        }
        Box::leak(all.into_boxed_slice())
    })
}

/// The family that a part gives a domain, from what the domain tells the part. `None` if it does not include the part, or the
/// part has no family.
pub(crate) fn family(folder: &Folder, part: &str) -> Result<Option<&'static dyn Family>, CatalogError> {
    type Made = BTreeMap<(String, String, Digest), &'static dyn Family>;
    static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
    let Some((file, new)) =
        told(folder).into_iter().find_map(|(name, file, new)| (name == part).then_some((file, new)))
    else {
        return Ok(None);
    };
    let faulty = |faults| CatalogError::Faulty { name: folder.name.clone(), faults };
    if folder.get(&file).is_none() {
        return Err(faulty(vec![missing(&file)]));
    }
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let files = Digest::of_parts(folder.files.iter().map(|(path, text)| (&**path, text.as_bytes())));
    let key = (part.to_owned(), folder.name.clone(), files);
    if let Some(family) = made.get(&key) {
        return Ok(Some(*family));
    }
    let telling = Telling { folder, domain: None, filler };
    let family: &'static dyn Family = Box::leak(new(telling).map_err(faulty)?);
    made.insert(key, family);
    Ok(Some(family))
}

/// All faults of what a domain tells its parts; its tables are looked at if they could be read.
pub(crate) fn faults(folder: &Folder, domain: Option<&Domain>) -> Vec<Diagnostic> {
    let of = |(_, file, new): (&str, String, NewFamily)| match folder.get(&file) {
        Some(_) => new(Telling { folder, domain, filler }).err().unwrap_or_default(),
        None => vec![missing(&file)],
    };
    told(folder).into_iter().flat_map(of).collect()
}

/// The parts that make a family for a domain, each with the file by which the domain tells it what it needs, and the maker.
fn told(folder: &Folder) -> Vec<(&str, String, NewFamily)> {
    let of = |part: &'_ Folder| {
        let (name, new) = generated::PART_FAMILIES.iter().find(|(name, _)| *name == part.name)?;
        Some((*name, format!("{name}.toml"), *new))
    };
    folder.parts.iter().filter_map(of).collect()
}

/// Fills the tables of a domain in memory.
fn filler(domain: Arc<Domain>, size: &str, seed: u64) -> Result<Snapshot, Discard> {
    match Sandbox::seeded(domain, &[], size, seed) {
        Ok(filled) => Ok(filled.first_snapshot()),
        Err(SeedError::NoRow { table, .. }) => Err(Discard::Because(format!("no row of {table} fits"))),
        Err(error) => Err(Discard::Fault(error.to_string())),
    }
}

fn missing(file: &str) -> Diagnostic {
    Diagnostic::at(file, "", 0, "this file is missing", None)
}
