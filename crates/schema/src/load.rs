//! From a folder of text to a domain: every file is read, every name resolved, and every fault told at once.

mod derived;
mod domain;
mod draft;
mod fields;
mod generators;
mod native;
mod policy;
mod seed;
mod tables;
mod text;
mod tools;
mod types;

use crate::describe::describe;
use crate::folder::Folder;
use crate::model::Domain;
use benchwright_base::{DateTime, Diagnostic, Digest};
use draft::Draft;
use text::{Entry, Faults, File};

/// The files that make a domain; the last is optional.
const DECLARATIONS: [&str; 5] = ["domain.toml", "tables.toml", "tools.toml", "policy.toml", "seed.toml"];
/// Files that may stand beside them and are read elsewhere.
const OTHERS: [&str; 6] = ["README.md", "FIDELITY.md", "native.rs", "plan.toml", "goods.toml", "patterns.toml"];
/// Code stands in as many files as it needs.
const CODE: &str = ".rs";
/// 2026-03-02T09:00:00Z, at which worlds stand when the domain does not say.
const NOW: DateTime = DateTime(1_772_442_000);

/// Reads a domain, or gives all faults of its folder, by file and line.
pub fn load(folder: &Folder) -> Result<Domain, Vec<Diagnostic>> {
    let faults = Faults::default();
    let whole: usize = folder.files.values().map(String::len).sum();
    if whole > Folder::LARGEST_FOLDER {
        let message = format!("the folder has {whole} bytes; at most {} are read", Folder::LARGEST_FOLDER);
        faults.push(Diagnostic::at("domain.toml", "", 0, message, None));
        return Err(faults.finish());
    }
    check_file_names(folder, &faults);
    let [domain, tables, tools, policy, seed] = DECLARATIONS.map(|path| read(folder, path, &faults));

    let mut draft = Draft::new(empty(folder));
    if let Some((file, entries)) = &tables {
        tables::names(file, entries, &mut draft, &faults);
    }
    if let Some((file, entries)) = &domain {
        domain::read(file, entries, &folder.name, tables.is_some(), &mut draft, &faults);
    }
    // Without tables nothing else can be judged: what it names may well be right.
    if let Some((file, entries)) = &tables {
        tables::resolve(file, entries, &mut draft, &faults);
        if let Some((file, entries)) = &policy {
            policy::read(file, entries, &mut draft, &faults);
        }
        if let Some((file, entries)) = &tools {
            draft.domain.tools = tools::read(file, entries, &draft, &faults);
        }
        if let Some((file, entries)) = &seed {
            draft.domain.seed = Some(seed::read(file, entries, &draft, &faults));
        }
    }
    if !faults.is_empty() {
        return Err(faults.finish());
    }
    let mut domain = draft.domain;
    for at in 0..domain.tools.len() {
        if domain.tools[at].description.is_empty() {
            domain.tools[at].description = describe(&domain, &domain.tools[at]);
        }
    }
    Ok(domain)
}

/// A domain of which nothing is known yet.
fn empty(folder: &Folder) -> Domain {
    let parts = DECLARATIONS.iter().filter_map(|path| Some((*path, folder.get(path)?.as_bytes())));
    Domain {
        name: folder.name.clone(),
        title: String::new(),
        role: String::new(),
        about: String::new(),
        now: NOW,
        actor: None,
        enums: Vec::new(),
        tables: Vec::new(),
        tools: Vec::new(),
        roles: Vec::new(),
        rules: Vec::new(),
        seed: None,
        digest: Digest::of_parts(parts),
    }
}

/// A declaration, if it is there and not too large.
fn read<'a>(folder: &'a Folder, path: &'static str, faults: &Faults) -> Option<(File<'a>, Vec<Entry<'a>>)> {
    let Some(text) = folder.get(path) else {
        if path != "seed.toml" {
            faults.push(Diagnostic::at(path, "", 0, "this file is missing", None));
        }
        return None;
    };
    if text.len() > Folder::LARGEST_FILE {
        return None;
    }
    Some(File::read(path, text, faults))
}

fn check_file_names(folder: &Folder, faults: &Faults) {
    for (path, text) in &folder.files {
        let is_known = DECLARATIONS.contains(&&**path)
            || OTHERS.contains(&&**path)
            || path.starts_with("cases/")
            || path.ends_with(CODE);
        if !is_known {
            let help = faults.nearest(path, DECLARATIONS.into_iter().chain(OTHERS));
            let message = "a domain folder has no such file";
            faults.push(Diagnostic::at(path, "", 0, message, help));
        }
        if text.len() > Folder::LARGEST_FILE {
            let message = format!("this file has {} bytes; at most {} are read", text.len(), Folder::LARGEST_FILE);
            faults.push(Diagnostic::at(path, "", 0, message, None));
        }
    }
}
