//! `tables.toml`: enumerations and tables. Names are collected first, then types, then what speaks of other fields.

use super::derived;
use super::draft::Draft;
use super::fields::{self, Declared};
use crate::model::{Derived, EnumType, Field, Incoming, Key, Lifecycle, Stamp, Table};
use crate::text::{Entry, Faults, File, Kind, Node, Piece, as_snake, is_camel, is_snake, word};
use benchwright_base::{EnumId, FieldId, RelationId, TableId, Value};
use benchwright_expr::Type;

/// No domain has more tables than this, no table more fields.
const MOST: usize = 512;
/// No enumeration has more words than this.
const MOST_WORDS: usize = 1024;

/// Names that no field can have: the notation or the predicate language would read them as something else.
const RESERVED: [&str; 35] = [
    "id", "null", "true", "false", "and", "or", "not", "implies", "in", "now", "today", "old", "changed", "exists",
    "none", "count", "sum", "avg", "min", "max", "all", "for", "it", "of", "where", "per", "else", "by", "set", "with",
    "show", "takes", "gives", "reads", "writes",
];

/// Reads the names: enumerations with their words, tables with the names of their fields.
pub(super) fn names(file: &File<'_>, entries: &[Entry<'_>], draft: &mut Draft, faults: &Faults) {
    for entry in entries {
        let name = entry.name(file);
        if name.text == "enums" {
            read_enums(file, &entry.value, draft, faults);
            continue;
        }
        if draft.domain.tables.len() == MOST {
            faults.at(name, format!("a domain has at most {MOST} tables"));
            break;
        }
        let id = RelationId(draft.domain.tables.len() as u16);
        let mut meant = name.text.to_owned();
        if draft.domain.table_named(name.text).is_some() {
            faults.at(name, format!("a part that is included has a table {} already", word(name.text)));
        }
        if !is_snake(name.text) && !file.is_damaged(entry) {
            faults.at(name, format!("a table's name is lower case with underscores, not {}", word(name.text)));
            draft.broken_tables.insert(id);
            meant = as_snake(name.text);
        }
        let mut table = Table {
            name: meant,
            odoo: None,
            fields: vec![blank("id", Type::Ref(id))],
            keys: Vec::new(),
            lifecycles: Vec::new(),
            incoming: Vec::new(),
            derived: Vec::new(),
            log: false,
            once: false,
        };
        match entry.value.entries() {
            Some(fields) => field_names(file, fields, id, &mut table, draft, faults),
            None => {
                let message = format!("{} is not a table", word(name.text));
                faults.with_help(name, message, format!("begin it with `[{}]`", name.text));
                draft.broken_tables.insert(id);
            }
        }
        draft.domain.tables.push(table);
    }
    damaged_tables(file, draft);
}

/// Tables in whose text something is not TOML are known but broken; also those whose own heading is the trouble.
fn damaged_tables(file: &File<'_>, draft: &mut Draft) {
    if file.errors.is_empty() {
        return;
    }
    let mut headings: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    for line in file.text.split_inclusive('\n') {
        if let Some(rest) = line.trim_start().strip_prefix('[') {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            headings.push((at, &rest[..end]));
        }
        at += line.len();
    }
    for (nth, &(start, name)) in headings.iter().enumerate() {
        let end = headings.get(nth + 1).map_or(usize::MAX, |(next, _)| *next);
        let is_hurt = file.has_error(start, end);
        let known = draft.domain.table_named(name);
        if name == "enums" {
            draft.lost_enums |= is_hurt;
        } else if let (Some(id), true) = (known, is_hurt) {
            draft.broken_tables.insert(id);
        } else if known.is_none() && is_snake(name) && draft.domain.tables.len() < MOST {
            let id = RelationId(draft.domain.tables.len() as u16);
            draft.domain.tables.push(Table {
                name: name.to_owned(),
                odoo: None,
                fields: vec![blank("id", Type::Ref(id))],
                keys: Vec::new(),
                lifecycles: Vec::new(),
                incoming: Vec::new(),
                derived: Vec::new(),
                log: false,
                once: false,
            });
            draft.broken_tables.insert(id);
        }
    }
}

fn blank(name: &str, ty: Type) -> Field {
    Field {
        name: name.to_owned(),
        ty,
        nullable: false,
        bounds: None,
        default: None,
        stamp: (name == "id").then_some(Stamp::Keep),
        owned: false,
        secret: false,
        sole_in: None,
        prose: false,
        log: false,
    }
}

fn read_enums(file: &File<'_>, value: &Node<'_>, draft: &mut Draft, faults: &Faults) {
    let Some(entries) = value.entries() else {
        return faults.at(value.piece(file), "`enums` is not a table");
    };
    for entry in entries {
        let name = entry.name(file);
        if draft.domain.enums.len() == MOST {
            return faults.at(name, format!("a domain has at most {MOST} enumerations"));
        }
        if !is_camel(name.text) {
            let message = format!("{} is not a name for an enumeration", word(name.text));
            faults.with_help(name, message, "write it in CamelCase");
        }
        if draft.domain.enums.iter().any(|known| known.name == name.text) {
            faults.at(name, format!("a part that is included has an enumeration {} already", word(name.text)));
        }
        let id = EnumId(draft.domain.enums.len() as u16);
        let mut words: Vec<String> = Vec::new();
        match &entry.value.kind {
            _ if file.is_damaged(entry) => {
                draft.broken_enums.insert(id);
            }
            Kind::List(items) if items.len() > MOST_WORDS => {
                faults.at(name, format!("an enumeration has at most {MOST_WORDS} words"));
                draft.broken_enums.insert(id);
            }
            Kind::List(items) => {
                for item in items {
                    let Some(text) = item.text(file) else {
                        faults.at(item.piece(file), "expected a word in quotes");
                        draft.broken_enums.insert(id);
                        continue;
                    };
                    if words.iter().any(|known| known == text.text) {
                        faults.at(text, format!("{} is here twice", word(text.text)));
                    } else if !is_snake(text.text) {
                        faults.at(text, format!("{} is not lower case with underscores", word(text.text)));
                        draft.broken_enums.insert(id);
                    } else {
                        words.push(text.text.to_owned());
                    }
                }
                if items.is_empty() {
                    faults.at(name, format!("{} has no words", word(name.text)));
                    draft.broken_enums.insert(id);
                }
            }
            _ => {
                faults.with_help(entry.value.piece(file), "expected a list of words", "write `[\"one\", \"other\"]`");
                draft.broken_enums.insert(id);
            }
        }
        draft.domain.enums.push(EnumType { name: name.text.to_owned(), words });
    }
}

fn field_names(
    file: &File<'_>,
    entries: &[Entry<'_>],
    id: TableId,
    table: &mut Table,
    draft: &mut Draft,
    faults: &Faults,
) {
    for entry in entries {
        let name = entry.name(file);
        if let (Kind::Bool(truth), "log" | "once") = (&entry.value.kind, name.text) {
            let flag = if name.text == "log" { &mut table.log } else { &mut table.once };
            *flag = *truth;
            if table.once && draft.domain.tables.iter().any(|before| !before.once) {
                let mend = "include the part that has it before the others";
                faults.with_help(name, "a table that is there `once` stands before all others", mend);
            }
            continue;
        }
        if is_about_fields(name.text) || is_derived(file, entry) {
            continue;
        }
        if table.fields.len() == MOST {
            faults.at(name, format!("a table has at most {MOST} fields"));
            draft.broken_tables.insert(id);
            return;
        }
        let field = FieldId(table.fields.len() as u16);
        let mut meant = name.text.to_owned();
        if name.text == "id" {
            faults.with_help(name, "`id` is there without being declared", "leave this line out");
            continue;
        }
        if RESERVED.contains(&name.text) {
            let message = format!("{} cannot be the name of a field: it has a meaning of its own", word(name.text));
            faults.at(name, message);
        } else if !is_snake(name.text) && !file.is_damaged(entry) {
            faults.at(name, format!("a field's name is lower case with underscores, not {}", word(name.text)));
            draft.broken_fields.insert((id, field));
            meant = as_snake(name.text);
        }
        if entry.value.text(file).is_none() {
            if !file.is_damaged(entry) {
                let message = format!("the type of {} is not a string", word(name.text));
                faults.with_help(entry.value.piece(file), message, "write it in quotes, such as \"text\"");
            }
            draft.broken_fields.insert((id, field));
        }
        if file.is_damaged(entry) {
            // It may have swallowed the lines after it.
            draft.broken_tables.insert(id);
            draft.broken_fields.insert((id, field));
        }
        table.fields.push(blank(&meant, Type::Text));
    }
}

/// Whether a key of a table speaks of its fields rather than being one.
fn is_about_fields(name: &str) -> bool {
    matches!(name, "unique" | "lifecycle" | "odoo")
}

/// Whether an entry declares what can be read of a row but is no cell of it: `many …` or `TYPE derived`.
fn is_derived(file: &File<'_>, entry: &Entry<'_>) -> bool {
    let Some(text) = entry.value.text(file) else { return false };
    let words = text.text.split('=').next().unwrap_or_default().split_whitespace();
    let mut words = words.peekable();
    words.peek() == Some(&"many") || words.any(|word| word == "derived")
}

/// Reads the fields of every table, then keys, lifecycles and stamps.
///
/// Each file comes with the place of its first table.
pub(super) fn resolve(files: &[(&File<'_>, &[Entry<'_>], usize)], draft: &mut Draft, faults: &Faults) {
    let mut tables: Vec<(&File<'_>, TableId, &[Entry<'_>])> = Vec::new();
    for &(file, entries, first) in files {
        let own = entries.iter().filter(|entry| entry.name(file).text != "enums").take(MOST - first.min(MOST));
        let own = own
            .enumerate()
            .filter_map(|(at, entry)| Some((file, RelationId((first + at) as u16), entry.value.entries()?)));
        tables.extend(own);
    }
    let mut declared: Vec<(TableId, FieldId, Declared<'_>)> = Vec::new();
    for &(file, table, entries) in &tables {
        let is_field = |entry: &&Entry<'_>| !is_about_fields(entry.name(file).text) && !is_derived(file, entry);
        for entry in entries.iter().filter(is_field) {
            let name = entry.name(file);
            let Some(field) = draft.domain.table(table).field_named(name.text) else { continue };
            let Some(text) = entry.value.text(file) else { continue };
            if field == FieldId::ID || draft.broken_fields.contains(&(table, field)) {
                continue;
            }
            match fields::read(text, table, field, draft, faults) {
                Some(found) => declared.push((table, field, found)),
                None => {
                    draft.broken_fields.insert((table, field));
                }
            }
        }
    }
    for (table, field, found) in declared {
        if fields::finish(&found, table, field, draft, faults).is_none() {
            draft.broken_fields.insert((table, field));
        }
    }
    for &(file, table, entries) in &tables {
        for entry in entries.iter().filter(|entry| is_about_fields(entry.name(file).text)) {
            if file.is_damaged(entry) {
                continue;
            }
            match entry.name(file).text {
                "odoo" => read_odoo(file, entry, table, draft, faults),
                "unique" => read_keys(file, entry, table, draft, faults),
                _ => read_lifecycles(file, entry, table, draft, faults),
            }
        }
    }
    for &(file, table, entries) in &tables {
        for entry in entries.iter().filter(|entry| is_derived(file, entry) && !file.is_damaged(entry)) {
            let Some(text) = entry.value.text(file) else { continue };
            let name = entry.name(file);
            if !is_snake(name.text) || RESERVED.contains(&name.text) {
                faults.at(name, format!("{} is not a name for a field", word(name.text)));
            } else if let Some(kind) = derived::read(text, table, draft, faults) {
                let derived = Derived { name: name.text.to_owned(), kind };
                draft.domain.tables[table.index()].derived.push(derived);
            }
        }
    }
    incoming(draft);
}

fn read_odoo(file: &File<'_>, entry: &Entry<'_>, table: TableId, draft: &mut Draft, faults: &Faults) {
    match entry.value.text(file) {
        Some(text) if !text.text.is_empty() && text.text.split('.').all(is_snake) => {
            draft.domain.tables[table.index()].odoo = Some(text.text.to_owned());
        }
        _ => faults.with_help(entry.value.piece(file), "expected the name of a model", "write `odoo = \"sale.order\"`"),
    }
}

fn incoming(draft: &mut Draft) {
    let mut found = Vec::new();
    for (at, table) in draft.domain.tables.iter().enumerate() {
        for (nth, field) in table.fields.iter().enumerate().skip(1) {
            let from = (RelationId(at as u16), FieldId(nth as u16));
            if let Type::Ref(to) = field.ty
                && !draft.broken_fields.contains(&from)
            {
                found.push((to, Incoming { table: from.0, field: from.1, owned: field.owned }));
            }
        }
    }
    for (to, incoming) in found {
        draft.domain.tables[to.index()].incoming.push(incoming);
    }
}

fn read_keys(file: &File<'_>, entry: &Entry<'_>, table: TableId, draft: &mut Draft, faults: &Faults) {
    let Kind::List(items) = &entry.value.kind else {
        let mend = "write `unique = [\"a, b\"]`";
        return faults.with_help(entry.value.piece(file), "expected a list of keys", mend);
    };
    for item in items {
        let Some(text) = item.text(file) else {
            faults.at(item.piece(file), "expected names of fields in quotes");
            continue;
        };
        let mut fields: Vec<FieldId> = Vec::new();
        let mut whole = true;
        for name in text.items(faults) {
            match draft.field(table, name, faults) {
                Some(field) if fields.contains(&field) => {
                    faults.at(name, format!("{} is here twice", word(name.text)));
                    whole = false;
                }
                Some(field) => fields.push(field),
                None => whole = false,
            }
        }
        if whole {
            draft.domain.tables[table.index()].keys.push(Key { fields });
        }
    }
}

fn read_lifecycles(file: &File<'_>, entry: &Entry<'_>, table: TableId, draft: &mut Draft, faults: &Faults) {
    let Some(entries) = entry.value.entries() else {
        let mend = "write `lifecycle.state = [\"new -> done\"]`";
        return faults.with_help(entry.value.piece(file), "a lifecycle belongs to a field", mend);
    };
    for entry in entries {
        let name = entry.name(file);
        if file.is_damaged(entry) {
            continue;
        }
        let Some(field) = draft.field(table, name, faults) else { continue };
        let declared = draft.domain.table(table).field(field);
        let Type::Enum(id) = declared.ty else {
            faults.at(name, format!("{} is no enumeration, so it has no lifecycle", word(name.text)));
            continue;
        };
        let Kind::List(items) = &entry.value.kind else {
            let mend = "write `[\"new -> open | done\", \"open -> done\"]`";
            faults.with_help(entry.value.piece(file), "expected a list of moves", mend);
            continue;
        };
        let default = match declared.default {
            Some(Value::Enum(word)) => Some(word),
            _ => None,
        };
        let lines: Vec<Option<Piece<'_>>> = items.iter().map(|item| item.text(file)).collect();
        if let Some(lifecycle) = read_moves(name, &lines, field, id, default, draft, faults) {
            draft.domain.tables[table.index()].lifecycles.push(lifecycle);
        }
    }
}

fn read_moves(
    name: Piece<'_>,
    lines: &[Option<Piece<'_>>],
    field: FieldId,
    id: EnumId,
    default: Option<u16>,
    draft: &Draft,
    faults: &Faults,
) -> Option<Lifecycle> {
    let words = &draft.domain.enums[id.index()].words;
    let state = |text: Piece<'_>| {
        let found = words.iter().position(|word| word == text.text);
        if found.is_none() {
            let message = format!("{} is not {}", word(text.text), draft.type_name(Type::Enum(id)));
            faults.unknown(text, message, words.iter().map(|word| &**word));
        }
        found
    };
    let mut start: Option<Vec<u16>> = None;
    let mut next: Vec<Option<Vec<u16>>> = vec![None; words.len()];
    let mut whole = true;
    for line in lines {
        let Some((line, arrow)) = line.and_then(|line| Some((line, line.text.find("->")?))) else {
            let place = line.unwrap_or(name);
            faults.with_help(place, "expected a move", "write `\"new -> open | done\"`");
            whole = false;
            continue;
        };
        let from = line.sub(0, arrow);
        let to = line.from(arrow + 2);
        let slot = if from.text == "start" { Some(&mut start) } else { state(from).map(|at| &mut next[at]) };
        let mut targets: Vec<u16> = Vec::new();
        let mut at = 0;
        for part in to.text.split('|') {
            let target = to.sub(at, at + part.len());
            at += part.len() + 1;
            match state(target) {
                Some(word) if targets.contains(&(word as u16)) => {
                    faults.at(target, format!("`{}` is here twice", target.text));
                    whole = false;
                }
                Some(word) => targets.push(word as u16),
                None => whole = false,
            }
        }
        match slot {
            Some(Some(_)) => {
                faults.at(from, format!("{} has a line already", word(from.text)));
                whole = false;
            }
            Some(slot) => *slot = Some(targets),
            None => whole = false,
        }
    }
    if !whole {
        return None;
    }
    let start = match (start, default) {
        (Some(start), Some(word)) if !start.contains(&word) => {
            let message = format!("the default `{}` is not among the states a row may start in", words[word as usize]);
            faults.at(name, message);
            return None;
        }
        (Some(start), _) => start,
        (None, Some(word)) => vec![word],
        (None, None) => {
            let mend = "give the field a default, or add `\"start -> …\"`";
            faults.with_help(name, format!("the lifecycle of {} has no start", word(name.text)), mend);
            return None;
        }
    };
    let next: Vec<Vec<u16>> = next.into_iter().map(Option::unwrap_or_default).collect();
    let mut reached = vec![false; words.len()];
    let mut todo = start.clone();
    while let Some(word) = todo.pop() {
        if !std::mem::replace(&mut reached[word as usize], true) {
            todo.extend(&next[word as usize]);
        }
    }
    for (at, _) in reached.iter().enumerate().filter(|(_, reached)| !**reached) {
        faults.at(name, format!("the state `{}` can never be reached", words[at]));
    }
    Some(Lifecycle { field, start, next })
}
