//! `seed.toml`: how a world is filled, step by step.

use super::draft::Draft;
use super::generators::{Step, read_field};
use crate::model::{Seed, SeedRows};
use crate::text::{Entry, Faults, File, Kind, Node, is_snake, word};
use benchwright_base::FieldId;
use benchwright_expr::Source;

const SIZES: [&str; 3] = ["small", "medium", "large"];
const KEYS: [&str; 3] = ["sizes", "pools", "rows"];
const STEP_KEYS: [&str; 3] = ["table", "count", "each"];
/// No step makes more rows than this.
const MOST_ROWS: i64 = 1_000_000;

/// Reads the file.
pub(super) fn read(files: &[(File<'_>, Vec<Entry<'_>>)], draft: &Draft, faults: &Faults) -> Seed {
    let mut seed = Seed { sizes: SIZES.map(str::to_owned).to_vec(), pools: Vec::new(), rows: Vec::new() };
    // Pools and sizes first: rows draw on them wherever they stand.
    for (file, entry) in files.iter().flat_map(|(file, entries)| entries.iter().map(move |entry| (file, entry))) {
        let name = entry.name(file);
        match name.text {
            "sizes" => read_sizes(file, &entry.value, &mut seed, faults),
            "pools" => read_pools(file, &entry.value, &mut seed, faults),
            "rows" => {}
            _ if file.is_damaged(entry) => {}
            _ => faults.unknown(name, format!("unknown key {}", word(name.text)), KEYS),
        }
    }
    let entries = files.iter().flat_map(|(file, entries)| entries.iter().map(move |entry| (file, entry)));
    for (file, entry) in entries.filter(|(file, entry)| entry.name(file).text == "rows") {
        let Kind::List(items) = &entry.value.kind else {
            faults.with_help(entry.name(file), "expected steps", "begin each with `[[rows]]`");
            continue;
        };
        for item in items {
            match item.entries() {
                Some(parts) => {
                    let step = read_step(file, item, parts, &seed, draft, faults);
                    seed.rows.extend(step);
                }
                None => faults.with_help(item.piece(file), "expected a step", "begin it with `[[rows]]`"),
            }
        }
    }
    seed
}

fn read_sizes(file: &File<'_>, value: &Node<'_>, seed: &mut Seed, faults: &Faults) {
    let mut sizes: Vec<String> = Vec::new();
    let Kind::List(items) = &value.kind else {
        return faults.at(value.piece(file), "expected a list of names of sizes");
    };
    for item in items {
        match item.text(file) {
            Some(text) if sizes.iter().any(|known| known == text.text) => {
                faults.at(text, format!("{} is here twice", word(text.text)));
            }
            Some(text) if is_snake(text.text) => sizes.push(text.text.to_owned()),
            _ => faults.at(item.piece(file), "expected the name of a size, in lower case"),
        }
    }
    if items.is_empty() || items.len() > 16 {
        return faults.at(value.piece(file), "there are one to sixteen sizes");
    }
    // A size with a fault still counts, or every list of counts would be a fault as well.
    sizes.resize(items.len(), String::new());
    seed.sizes = sizes;
}

fn read_pools(file: &File<'_>, value: &Node<'_>, seed: &mut Seed, faults: &Faults) {
    let Some(entries) = value.entries() else {
        return faults.at(value.piece(file), "`pools` is not a table");
    };
    for entry in entries {
        let name = entry.name(file);
        if !is_snake(name.text) {
            faults.at(name, format!("a pool's name is lower case with underscores, not {}", word(name.text)));
        }
        if seed.pools.iter().any(|(known, _)| known == name.text) {
            faults.at(name, format!("the pool {} is here twice", word(name.text)));
        }
        let mut texts = Vec::new();
        match &entry.value.kind {
            _ if file.is_damaged(entry) => {}
            Kind::List(items) if !items.is_empty() => {
                for item in items {
                    match item.text(file) {
                        Some(text) => texts.push(text.text.to_owned()),
                        None => faults.at(item.piece(file), "expected text in quotes"),
                    }
                }
            }
            _ => faults.at(entry.value.piece(file), format!("the pool {} is not a list of texts", word(name.text))),
        }
        seed.pools.push((name.text.to_owned(), texts));
    }
}

fn read_step(
    file: &File<'_>,
    item: &Node<'_>,
    parts: &[Entry<'_>],
    seed: &Seed,
    draft: &Draft,
    faults: &Faults,
) -> Option<SeedRows> {
    let part = |key: &str| parts.iter().find(|part| part.name(file).text == key);
    let Some(name) = part("table").and_then(|part| part.value.text(file)) else {
        faults.with_help(item.piece(file), "this step names no table", "add `table = \"…\"`");
        return None;
    };
    let table = draft.table(name, faults)?;
    let mut whole = true;
    let count = match part("count") {
        Some(part) => read_count(file, &part.value, seed, faults),
        None => {
            faults.with_help(name, "this step has no `count`", "add `count = 10`, `\"5..10\"` or one for each size");
            None
        }
    };
    let each = match part("each").map(|part| (part, part.value.text(file))) {
        Some((_, Some(text))) => {
            let source = draft.source(text, None, faults);
            if let Some(Source::Set(_) | Source::Range(..)) = source {
                faults.at(text, "`each` goes over rows of a table");
            }
            whole &= matches!(source, Some(Source::Rows { .. }));
            source
        }
        Some((part, None)) => {
            faults.at(part.value.piece(file), "expected rows in quotes, such as \"account\"");
            whole = false;
            None
        }
        None => None,
    };
    let declared = draft.domain.table(table);
    let is_field = |part: &&Entry<'_>| {
        let name = part.name(file).text;
        !STEP_KEYS.contains(&name) && (name != "note" || declared.field_named(name).is_some())
    };
    let generators: Vec<&Entry<'_>> = parts.iter().filter(is_field).collect();
    let has_each = part("each").is_some();
    let mut step = Step { table, each: each.as_ref(), has_each, pools: &seed.pools, coming: Vec::new(), draft, faults };
    let mut ids: Vec<Option<FieldId>> = Vec::new();
    for part in &generators {
        let key = part.name(file);
        let found = draft.field(table, key, faults);
        if found == Some(FieldId::ID) {
            faults.at(key, "the world gives out ids");
        }
        ids.push(found.filter(|id| *id != FieldId::ID));
        whole &= ids.last().is_some_and(Option::is_some);
    }
    let mut fields = Vec::new();
    for (nth, part) in generators.iter().enumerate() {
        let Some(id) = ids[nth] else { continue };
        if file.is_damaged(part) {
            whole = false;
            continue;
        }
        step.coming = ids[nth..].iter().copied().flatten().collect();
        match read_field(file, &part.value, id, &step) {
            Some(field) => fields.push((id, field)),
            None => whole = false,
        }
    }
    for (nth, field) in declared.fields.iter().enumerate().skip(1) {
        let id = FieldId(nth as u16);
        let is_given = ids.contains(&Some(id)) || field.nullable || field.default.is_some() || field.stamp.is_some();
        // A misspelt or unreadable key may be the one that is missing.
        let is_broken = draft.broken_fields.contains(&(table, id)) || !file.errors.is_empty() || ids.contains(&None);
        if !is_given && !is_broken {
            let message = format!("`{}` of {} gets no value", field.name, word(name.text));
            faults.with_help(name, message, format!("add `{} = \"…\"` to this step", field.name));
            whole = false;
        }
    }
    let count = count?;
    let line = file.line(name.place(0)) as u32 + 1;
    whole.then_some(SeedRows {
        domain: draft.domain.name.clone(),
        place: seed.rows.len(),
        table,
        line,
        count,
        each,
        fields,
        people: None,
    })
}

/// One range of counts for each size.
fn read_count(file: &File<'_>, value: &Node<'_>, seed: &Seed, faults: &Faults) -> Option<Vec<(u32, u32)>> {
    if let Kind::List(items) = &value.kind {
        if items.len() != seed.sizes.len() {
            let message = format!("there are {} sizes and {} counts", seed.sizes.len(), items.len());
            faults.at(value.piece(file), message);
            return None;
        }
        return items.iter().map(|item| read_range(file, item, faults)).collect();
    }
    Some(vec![read_range(file, value, faults)?; seed.sizes.len()])
}

fn read_range(file: &File<'_>, value: &Node<'_>, faults: &Faults) -> Option<(u32, u32)> {
    let range = match &value.kind {
        Kind::Int(number) => number.map(|number| (number, number)),
        Kind::Text(text) => match text.split_once("..") {
            Some((low, high)) => low.trim().parse().ok().zip(high.trim().parse().ok()),
            None => text.trim().parse().ok().map(|number| (number, number)),
        },
        _ => None,
    };
    match range {
        Some((low, high)) if 0 <= low && low <= high && high <= MOST_ROWS => Some((low as u32, high as u32)),
        _ => {
            let mend = "write a whole number or `\"5..10\"`, up to a million";
            faults.with_help(value.piece(file), "expected how many rows", mend);
            None
        }
    }
}
