//! From a folder of text to a domain: every file is read, every name resolved, and every fault told at once.

mod derived;
mod domain;
mod draft;
mod fields;
mod generators;
mod injections;
mod native;
mod policy;
mod seed;
mod tables;
mod tools;
mod types;

use crate::describe::describe;
use crate::folder::Folder;
use crate::model::Domain;
use crate::text::{Entry, Faults, File};
use benchwright_base::{DateTime, Diagnostic, Digest};
use draft::Draft;

/// The files that make a domain; the last is optional.
const DECLARATIONS: [&str; 5] = ["domain.toml", "tables.toml", "tools.toml", "policy.toml", "seed.toml"];
/// Files that may stand beside them and are read elsewhere.
const OTHERS: [&str; 5] = ["README.md", "FIDELITY.md", "Cargo.toml", "bench.case", injections::FILE];
/// A declaration as text and as entries.
type Read<'a> = (File<'a>, Vec<Entry<'a>>);
/// Code stands in a folder of its own.
const CODE: &str = ".rs";
/// 2026-03-02T09:00:00Z, at which worlds stand when the domain does not say.
const NOW: DateTime = DateTime(1_772_442_000);

/// Reads a domain, or gives all faults of its folder, by file and line.
pub fn load(folder: &Folder) -> Result<Domain, Vec<Diagnostic>> {
    let faults = Faults::default();
    let all = || folder.parts.iter().chain([folder]);
    let whole: usize = all().flat_map(|folder| folder.files.values()).map(String::len).sum();
    if whole > Folder::LARGEST_FOLDER {
        let message = format!("the folder has {whole} bytes; at most {} are read", Folder::LARGEST_FOLDER);
        faults.push(Diagnostic::at("domain.toml", "", 0, message, None));
        return Err(faults.finish());
    }
    check_file_names(folder, &faults);
    let [domain, tables, tools, policy, seed] = DECLARATIONS.map(|path| read(folder, path, &faults));

    let mut draft = Draft::new(empty(folder));
    let mut first = Vec::new();
    for (file, entries) in &tables {
        first.push(draft.domain.tables.len());
        tables::names(file, entries, &mut draft, &faults);
    }
    for (file, entries) in &domain {
        domain::read(file, entries, folder, !tables.is_empty(), &mut draft, &faults);
    }
    // Without tables nothing else can be judged: what it names may well be right.
    if !tables.is_empty() {
        let files: Vec<(&File<'_>, &[Entry<'_>], usize)> =
            tables.iter().zip(first).map(|((file, entries), first)| (file, &entries[..], first)).collect();
        tables::resolve(&files, &mut draft, &faults);
        for (file, entries) in &policy {
            policy::read(file, entries, &mut draft, &faults);
        }
        policy::everyone(&mut draft);
        for (file, entries) in &tools {
            tools::read(file, entries, &mut draft, &faults);
        }
        for (file, entries) in &policy {
            policy::ways(file, entries, &mut draft, &faults);
        }
        for (file, entries) in &domain {
            domain::read_notes(file, entries, &mut draft, &faults);
        }
        if !seed.is_empty() {
            draft.domain.seed = Some(seed::read(&seed, &draft, &faults));
        }
    }
    if !faults.is_empty() {
        return Err(faults.finish());
    }
    let mut domain = draft.domain;
    for (path, text) in texts(folder, injections::FILE) {
        injections::read(path, text, &mut domain, &faults);
    }
    if !faults.is_empty() {
        return Err(faults.finish());
    }
    for at in 0..domain.tools.len() {
        if domain.tools[at].description.is_empty() {
            domain.tools[at].description = describe(&domain, &domain.tools[at]);
        }
    }
    Ok(domain)
}

/// A domain of which nothing is known yet.
fn empty(folder: &Folder) -> Domain {
    let own = DECLARATIONS.iter().filter_map(|path| Some((*path, folder.get(path)?.as_bytes())));
    let included = folder.parts.iter().flat_map(|part| &part.files);
    let included = included.filter(|(path, _)| DECLARATIONS.iter().any(|known| path.ends_with(known)));
    let parts = own.chain(included.map(|(path, text)| (&**path, text.as_bytes())));
    Domain { now: NOW, ..Domain::empty(folder.name.clone(), Digest::of_parts(parts)) }
}

/// A declaration wherever it stands, the parts' before the domain's own, as far as they are not too large. Every domain has
/// each, of its own or by a part; only a seed may be missing, and `domain.toml` is always its own.
fn read<'a>(folder: &'a Folder, path: &'static str, faults: &Faults) -> Vec<Read<'a>> {
    let found = texts(folder, path);
    if found.is_empty() && path != "seed.toml" {
        faults.push(Diagnostic::at(path, "", 0, "this file is missing", None));
    }
    let small = found.into_iter().filter(|(_, text)| text.len() <= Folder::LARGEST_FILE);
    small.map(|(path, text)| File::read(path, text, faults)).collect()
}

/// A file wherever it stands, with its path, the parts' before the domain's own.
fn texts<'a>(folder: &'a Folder, path: &'static str) -> Vec<(&'a str, &'a str)> {
    let mut found: Vec<(&'a str, &'a str)> = Vec::new();
    for part in folder.parts.iter().filter(|_| path != "domain.toml") {
        let full = format!("{}/{}/{path}", Folder::PARTS, part.name);
        found.extend(part.files.get_key_value(&full).map(|(path, text)| (&**path, &**text)));
    }
    found.extend(folder.get(path).map(|text| (path, text)));
    found
}

fn check_file_names(folder: &Folder, faults: &Faults) {
    let parts = folder.parts.iter().flat_map(|part| &part.files).filter(|(path, _)| path.ends_with(".toml"));
    for (path, text) in folder.files.iter().chain(parts) {
        let told_part = |part: &Folder| *path == format!("{}.toml", part.name) || part.told_in().contains(path);
        let is_known = DECLARATIONS.contains(&&**path)
            || path.starts_with(Folder::PARTS)
            || folder.parts.iter().any(told_part)
            || OTHERS.contains(&&**path)
            || path.starts_with("cases/");
        if !is_known {
            let help = match path.ends_with(CODE) {
                true => Some("code stands in `src/`, beside a `Cargo.toml`".to_owned()),
                false => faults.nearest(path, DECLARATIONS.into_iter().chain(OTHERS)),
            };
            let message = "a domain folder has no such file";
            faults.push(Diagnostic::at(path, "", 0, message, help));
        }
        if text.len() > Folder::LARGEST_FILE {
            let message = format!("this file has {} bytes; at most {} are read", text.len(), Folder::LARGEST_FILE);
            faults.push(Diagnostic::at(path, "", 0, message, None));
        }
    }
}
