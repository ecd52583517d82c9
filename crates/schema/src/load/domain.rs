//! `domain.toml`: what the domain is called, and what it is about.

use super::draft::Draft;
use crate::folder::Folder;
use crate::text::{Entry, Faults, File, Kind, word};
use benchwright_base::DateTime;

const KEYS: [&str; 8] = ["name", "title", "role", "about", "now", "actor", "include", "notes"];
const REQUIRED: [&str; 4] = ["name", "title", "role", "about"];

/// Reads the file into the draft, whose tables are known by name.
pub(super) fn read(
    file: &File<'_>,
    entries: &[Entry<'_>],
    folder: &Folder,
    has_tables: bool,
    draft: &mut Draft,
    faults: &Faults,
) {
    for key in REQUIRED {
        if file.errors.is_empty() && !entries.iter().any(|entry| entry.name(file).text == key) {
            faults.add(file, 0, format!("`{key}` is missing"), None);
        }
    }
    draft.domain.actor = draft.domain.table_named("user");
    for entry in entries {
        let key = entry.name(file);
        if file.is_damaged(entry) {
            continue;
        }
        if !KEYS.contains(&key.text) {
            faults.unknown(key, format!("unknown key {}", word(key.text)), KEYS);
            continue;
        }
        if let (Kind::Instant(text), "now") = (&entry.value.kind, key.text) {
            set_now(text, draft).unwrap_or_else(|| bad_now(file, entry, faults));
            continue;
        }
        if key.text == "include" {
            includes(file, entry, folder, faults);
            continue;
        }
        if key.text == "notes" {
            // They are read once the fields of tables are known.
            continue;
        }
        let Some(text) = entry.value.text(file).filter(|text| !text.text.trim().is_empty()) else {
            faults.at(entry.value.piece(file), format!("expected text for {}", word(key.text)));
            continue;
        };
        match key.text {
            "name" => {
                if !is_name(text.text) {
                    faults.at(text, format!("{} is not lower case with hyphens or underscores", word(text.text)));
                } else if text.text != folder.name {
                    let message =
                        format!("the domain is called {} and its folder {}", word(text.text), word(&folder.name));
                    faults.with_help(text, message, "give both one name");
                }
            }
            "title" => text.text.clone_into(&mut draft.domain.title),
            "role" => text.text.clone_into(&mut draft.domain.role),
            "about" => text.text.clone_into(&mut draft.domain.about),
            "now" => set_now(text.text, draft).unwrap_or_else(|| bad_now(file, entry, faults)),
            _ if has_tables => {
                draft.domain.actor = draft.table(text, faults);
                draft.broken_actor = draft.domain.actor.is_none();
            }
            _ => {}
        }
    }
}

/// Reads `notes`, once tables are known: rows that may be added without being asked for.
pub(super) fn read_notes(file: &File<'_>, entries: &[Entry<'_>], draft: &mut Draft, faults: &Faults) {
    let Some(entry) = entries.iter().find(|entry| entry.name(file).text == "notes") else { return };
    let Kind::List(items) = &entry.value.kind else {
        let mend = "write `notes = [\"case_note(kind = work_note)\"]`";
        return faults.with_help(entry.value.piece(file), "expected a list of rows", mend);
    };
    for item in items {
        match item.text(file) {
            Some(text) => {
                let source = draft.source(text, None, faults);
                draft.domain.notes.extend(source);
            }
            None => faults.at(item.piece(file), "expected rows in quotes"),
        }
    }
}

/// Every part that is included must be there.
fn includes(file: &File<'_>, entry: &Entry<'_>, folder: &Folder, faults: &Faults) {
    let Kind::List(items) = &entry.value.kind else {
        return faults.with_help(entry.value.piece(file), "expected a list of parts", "write `include = [\"grid\"]`");
    };
    for item in items {
        match item.text(file) {
            Some(text) if folder.parts.iter().any(|part| part.name == text.text) => {}
            Some(text) => {
                let known = folder.known_parts.iter().map(|part| &**part);
                faults.unknown(text, format!("there is no part {}", word(text.text)), known);
            }
            None => faults.at(item.piece(file), "expected the name of a part in quotes"),
        }
    }
}

fn set_now(text: &str, draft: &mut Draft) -> Option<()> {
    draft.domain.now = DateTime::parse(text)?;
    Some(())
}

fn bad_now(file: &File<'_>, entry: &Entry<'_>, faults: &Faults) {
    faults.with_help(entry.value.piece(file), "this is not an instant", "write it like \"2026-03-02T09:00:00Z\"");
}

fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
}
