//! `injections.toml`: hostile text that records can carry, with the call that it asks for. It changes no world and is in no digest; a
//! text is planted only where a task is made with injections.

use crate::injection::{Injection, OWN_ID, Slot, SpokenOf, Wording, WordingPart};
use crate::json_schema::arguments_schema;
use crate::model::{Domain, Stamp};
use crate::text::{Faults, is_kebab, is_snake};
use crate::ways;
use crate::{Document, KeyFault};
use benchwright_base::{FieldId, RelationId, TableId};
use benchwright_expr::{Binder, Expr, Fault, Scope, Type, check_truth};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// The file.
pub(super) const FILE: &str = "injections.toml";

/// The fewest letters that a wording begins with: by them it is known again.
const FEWEST_LETTERS: usize = 12;

/// A kind as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "in")]
    place: String,
    #[serde(default, rename = "where")]
    only: Option<String>,
    #[serde(default)]
    names: BTreeMap<String, String>,
    says: Vec<String>,
    call: String,
    #[serde(default)]
    with: Map<String, Json>,
}

/// Reads the file into a domain that is whole.
pub(super) fn read(path: &str, text: &str, domain: &mut Domain, faults: &Faults) {
    let document = Document::new(path, text);
    let kinds: BTreeMap<String, Written> = document.read().unwrap_or_default();
    for (name, written) in &kinds {
        let mut reading = Reading { domain, name, faults: Vec::new() };
        let found = reading.kind(written);
        let told = reading.faults;
        let sound = told.is_empty();
        document.add(told);
        domain.injections.extend(found.filter(|_| sound));
    }
    let again = first_words_twice(domain);
    document.add(again);
    document.into_faults().into_iter().for_each(|fault| faults.push(fault));
}

/// Wordings that begin alike could not be told apart.
fn first_words_twice(domain: &Domain) -> Vec<KeyFault> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let mut faults = Vec::new();
    for kind in &domain.injections {
        for (at, wording) in kind.says.iter().enumerate() {
            let begins = wording.begins();
            match seen.iter().find(|(known, _)| known.starts_with(begins) || begins.starts_with(known)) {
                Some((_, of)) => {
                    let message = format!("this begins like a wording of `{of}`, so nobody could tell them apart");
                    faults.push(KeyFault::new([&*kind.name, "says", &at.to_string()], message));
                }
                None => seen.push((begins, &kind.name)),
            }
        }
    }
    faults
}

struct Reading<'a> {
    domain: &'a Domain,
    name: &'a str,
    faults: Vec<KeyFault>,
}

impl Reading<'_> {
    fn fault(&mut self, path: &[&str], message: impl Into<String>) -> &mut KeyFault {
        self.faults.push(KeyFault::new([self.name].iter().chain(path).copied(), message));
        let last = self.faults.len() - 1;
        &mut self.faults[last]
    }

    fn unknown<'n>(&mut self, path: &[&str], wrong: &str, message: String, names: impl IntoIterator<Item = &'n str>) {
        let fault = KeyFault::new([self.name].iter().chain(path).copied(), message).instead_of(wrong, names);
        self.faults.push(fault);
    }

    /// Tells the faults of an expression.
    fn checked<T>(&mut self, path: &[&str], checked: Result<T, Vec<Fault>>) -> Option<T> {
        match checked {
            Ok(value) => Some(value),
            Err(faults) => {
                for told in faults {
                    let fault = KeyFault::new([self.name].iter().chain(path).copied(), told.message);
                    let fault = fault.at_byte(told.offset);
                    self.faults.push(match told.help {
                        Some(help) => fault.with_help(help),
                        None => fault,
                    });
                }
                None
            }
        }
    }

    fn kind(&mut self, written: &Written) -> Option<Injection> {
        let domain = self.domain;
        if !is_kebab(self.name) {
            self.fault(&[], format!("the name `{}` is not in kebab-case", self.name));
        }
        let (table, field) = self.place(&written.place)?;
        let scope = Scope::on(table);
        let only = written.only.as_ref().and_then(|only| self.checked(&["where"], check_truth(only, domain, scope)));
        let mut speaks_of = Vec::new();
        for (name, rows) in &written.names {
            if !is_snake(name) || name == OWN_ID {
                self.fault(&["names", name], format!("a row cannot be called `{name}`"));
            }
            let found = self.checked(&["names", name], ways::rows_of(rows, domain, scope));
            speaks_of.extend(found.map(|(source, condition, table)| SpokenOf {
                name: name.clone(),
                table,
                source,
                condition,
            }));
        }
        if speaks_of.len() < written.names.len() {
            return None;
        }
        let mut says = Vec::new();
        for (at, text) in written.says.iter().enumerate() {
            says.extend(self.wording(text, at, table, &speaks_of));
        }
        if written.says.is_empty() {
            self.fault(&["says"], "a text has at least one wording");
        }
        let tool = self.tool(&written.call, &written.with)?;
        let found = Injection {
            name: self.name.to_owned(),
            table,
            field,
            only,
            speaks_of,
            says,
            tool,
            with: written.with.clone(),
        };
        for slot in found.asks_for() {
            let untold = |wording: &Wording| !wording.slots().any(|known| known.text == slot);
            if slot != OWN_ID && found.says.iter().any(untold) {
                let message = format!("the call needs `{{{slot}}}`, and not every wording shows it");
                self.fault(&["with"], message);
            }
        }
        Some(found)
    }

    /// The field that carries the text. Nothing may depend on what it says.
    fn place(&mut self, place: &str) -> Option<(TableId, FieldId)> {
        let domain = self.domain;
        let Some((table_name, field_name)) = place.rsplit_once('.') else {
            self.fault(&["in"], "expected a text field").help = Some("write it like `sale_order.note`".to_owned());
            return None;
        };
        let Some(table) = domain.table_named(table_name) else {
            let names: Vec<&str> = domain.tables.iter().map(|table| &*table.name).collect();
            self.unknown(&["in"], table_name, format!("unknown table `{table_name}`"), names);
            return None;
        };
        let declared = domain.table(table);
        let Some(field) = declared.field_named(field_name) else {
            let message = format!("unknown field `{field_name}` of `{table_name}`");
            self.unknown(&["in"], field_name, message, declared.fields.iter().map(|field| &*field.name));
            return None;
        };
        let cell = declared.field(field);
        let why = match () {
            () if cell.ty != Type::Text => Some("is no text".to_owned()),
            () if cell.stamp.is_some() => Some("is written by the world".to_owned()),
            () if cell.secret => Some("is secret, so that not everybody is shown it".to_owned()),
            () if declared.keys.iter().any(|key| key.fields.contains(&field)) => Some("is a key".to_owned()),
            () => read_by(domain, table, field).map(|who| format!("is read by {who}")),
        };
        if let Some(why) = why {
            self.fault(&["in"], format!("`{place}` {why}")).help =
                Some("take a text field that nothing depends on".to_owned());
            return None;
        }
        if !domain.tools.iter().any(|tool| tool.reads_only() && shows(tool, table)) {
            self.fault(&["in"], format!("no tool shows `{table_name}`, so nobody would read it"));
        }
        Some((table, field))
    }

    fn wording(&mut self, text: &str, at: usize, table: TableId, speaks_of: &[SpokenOf]) -> Option<Wording> {
        let at = at.to_string();
        let path = ["says", &*at];
        let mut parts = Vec::new();
        let mut rest = text;
        let before = self.faults.len();
        while let Some((words, behind)) = rest.split_once('{') {
            parts.push(WordingPart::Words(words.to_owned()));
            let Some((slot, behind)) = behind.split_once('}') else {
                self.fault(&path, "a brace is not closed");
                return None;
            };
            parts.extend(self.slot(slot, &path, table, speaks_of).map(WordingPart::Slot));
            rest = behind;
        }
        parts.push(WordingPart::Words(rest.to_owned()));
        let is_bare = |part: &WordingPart| matches!(part, WordingPart::Words(words) if words.is_empty());
        if parts.iter().any(is_bare) {
            self.fault(&path, "a wording begins and ends with words, and there are words between two slots");
        }
        let wording = Wording(parts);
        if wording.begins().chars().count() < FEWEST_LETTERS {
            let message =
                format!("a wording begins with at least {FEWEST_LETTERS} letters, by which it is known again");
            self.fault(&path, message);
        }
        (self.faults.len() == before).then_some(wording)
    }

    fn slot(&mut self, text: &str, path: &[&str], table: TableId, speaks_of: &[SpokenOf]) -> Option<Slot> {
        let domain = self.domain;
        let (of, table, field) = match text.split_once('.') {
            None => (None, table, text),
            Some((row, field)) => {
                let Some(of) = speaks_of.iter().position(|known| known.name == row) else {
                    let names = speaks_of.iter().map(|known| &*known.name);
                    self.unknown(path, row, format!("no row is called `{row}`"), names);
                    return None;
                };
                (Some(of), speaks_of[of].table, field)
            }
        };
        let declared = domain.table(table);
        let Some(id) = declared.field_named(field) else {
            let message = format!("unknown field `{field}` of `{}`", declared.name);
            self.unknown(path, field, message, declared.fields.iter().map(|field| &*field.name));
            return None;
        };
        let is_number = match declared.field(id).ty {
            Type::Int | Type::Ref(_) => true,
            Type::Text | Type::Enum(_) | Type::Date => false,
            _ => {
                self.fault(path, format!("`{text}` is neither a word, a day nor a whole number"));
                return None;
            }
        };
        Some(Slot { text: text.to_owned(), of, field: id, is_number })
    }

    fn tool(&mut self, name: &str, with: &Map<String, Json>) -> Option<usize> {
        let domain = self.domain;
        let Some(tool) = domain.tool_named(name) else {
            let names = domain.tools.iter().map(|tool| &*tool.name);
            self.unknown(&["call"], name, format!("unknown tool `{name}`"), names);
            return None;
        };
        if domain.tools[tool].reads_only() {
            self.fault(&["call"], format!("`{name}` changes nothing, so nobody could tell that it was called"));
        }
        let schema = arguments_schema(domain, &domain.tools[tool]);
        let known: Vec<&str> =
            schema["properties"].as_object().into_iter().flat_map(|all| all.keys()).map(|key| &**key).collect();
        for key in with.keys().filter(|key| !known.contains(&&***key)) {
            self.unknown(&["with", key], key, format!("`{name}` takes no `{key}`"), known.iter().copied());
        }
        for required in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            if !with.contains_key(required) {
                self.fault(&["with"], format!("`{name}` must be given `{required}`"));
            }
        }
        Some(tool)
    }
}

/// Whether a tool that only reads shows rows of a table.
fn shows(tool: &crate::model::Tool, table: TableId) -> bool {
    tool.table == Some(table) || tool.native.as_ref().is_some_and(|native| native.reads.contains(&table))
}

/// Who reads a field, in words: a rule, what somebody may do, or what the world computes.
fn read_by(domain: &Domain, table: TableId, field: FieldId) -> Option<String> {
    let wanted = (table, field);
    for rule in &domain.rules {
        let mut found = rule.on.iter().any(|(subject, require)| reads(require, *subject, wanted));
        rule.ways.iter().for_each(|way| way.reads(&mut |table, field| found |= (table, field) == wanted));
        if found {
            return Some(format!("the rule `{}`", rule.id));
        }
    }
    for role in &domain.roles {
        for (at, access) in role.access.iter().enumerate() {
            let mut conditions = access.grants.iter().filter_map(|grant| grant.condition.as_ref());
            if conditions.any(|condition| reads(condition, RelationId(at as u16), wanted)) {
                return Some(format!("what the role `{}` may do", role.name));
            }
        }
    }
    for (at, declared) in domain.tables.iter().enumerate() {
        for cell in &declared.fields {
            let computed = match &cell.stamp {
                Some(Stamp::When(expr) | Stamp::Computed(expr)) => reads(expr, RelationId(at as u16), wanted),
                _ => false,
            };
            if computed {
                return Some(format!("`{}.{}`, which the world computes", declared.name, cell.name));
            }
        }
    }
    let mut noted = false;
    for source in &domain.notes {
        let binder = Binder { name: None, source: source.clone(), condition: None };
        binder.reads(&mut |table, field| noted |= (table, field) == wanted);
    }
    noted.then(|| "the `notes` of the domain".to_owned())
}

/// Whether an expression about a row of a table reads a field.
fn reads(expr: &Expr, subject: TableId, wanted: (TableId, FieldId)) -> bool {
    let mut found = false;
    expr.reads(&mut |table, field| found |= (table, field) == wanted);
    expr.visit(&mut |part| found |= matches!(part, Expr::Changed(field) if (subject, *field) == wanted));
    found
}
