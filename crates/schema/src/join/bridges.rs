//! What joined domains are told: `domains/_joined/NAME.toml` says what a composition is, `bridges.toml` who is the same person in
//! several domains. Both tell all their faults at once, with line and column.

use super::{AND, JoinError};
use crate::document::{Document, KeyFault};
use crate::model::{Domain, SeedField, Table};
use benchwright_base::{Diagnostic, FieldId, TableId};
use benchwright_expr::{Binder, Compare, Expr, Fold, FoldKind, Path, Source, TestOp, Type};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a joined world is called and about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Composition {
    /// The domains, in the order of their names.
    pub domains: Vec<String>,
    /// Its title for people.
    pub title: String,
    /// The job the agent holds in it.
    pub role: String,
    /// One sentence on what it is about.
    pub about: String,
    /// What it was read from.
    pub(super) text: String,
}

/// Who and what is the same in several domains.
#[derive(Clone, Debug, Default)]
pub struct Bridges {
    /// The mail domain of the company in which all members are used.
    pub company: String,
    /// The pools of words that say who somebody is.
    pub pools: Vec<String>,
    /// The fields that say whether somebody is still there.
    pub active: Vec<String>,
    /// For each domain, where its people are.
    pub people: BTreeMap<String, Person>,
    /// Rows that say the same as rows of another domain.
    pub mirrors: Vec<Mirror>,
    /// What it was read from.
    pub(super) text: String,
}

/// Where the people of a domain are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Person {
    /// The table of the member that holds its people, such as `user`.
    pub table: String,
    /// The field of their address.
    pub field: String,
    /// What the addresses of the company's own people end with where the domain stands alone; all are its own if there is none.
    pub host: Option<String>,
}

/// Rows of a table that say the same as those of another domain's, row by row, as far as there are any.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mirror {
    /// The table, such as `email.contact`.
    pub table: String,
    /// The table it repeats, which is filled before it.
    pub of: String,
    /// Fields, and what each repeats: a field, or one that references lead to.
    pub fields: Vec<(String, String)>,
}

/// `NAME.toml` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompositionText {
    domains: Vec<String>,
    title: String,
    role: String,
    about: String,
}

/// `bridges.toml` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BridgesText {
    company: String,
    pools: Vec<String>,
    active: Vec<String>,
    people: BTreeMap<String, String>,
    #[serde(default)]
    mirror: Vec<MirrorText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MirrorText {
    table: String,
    of: String,
    fields: BTreeMap<String, String>,
}

/// Tells texts that say nothing.
fn not_empty<'t>(document: &Document<'_>, texts: impl IntoIterator<Item = (&'t str, &'t str)>) {
    for (key, _) in texts.into_iter().filter(|(_, text)| text.trim().is_empty()) {
        document.add([KeyFault::new([key], format!("`{key}` is empty"))]);
    }
}

impl Composition {
    /// The names of the domains in the name of a joined one, in order; `None` if it is no such name.
    pub fn names(name: &str) -> Option<Vec<String>> {
        let mut names: Vec<String> = name.split(AND).map(str::to_owned).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        (all > 1 && names.len() == all && names.iter().all(|name| !name.is_empty())).then_some(names)
    }

    /// A composition of which nothing is told but its domains.
    pub fn of(domains: &[&Domain]) -> Composition {
        let list = |of: fn(&Domain) -> &str| domains.iter().map(|domain| of(domain)).collect::<Vec<_>>();
        let titles = list(|domain| &domain.title);
        let (last, rest) = titles.split_last().unwrap_or((&"", &[]));
        Composition {
            domains: list(|domain| &domain.name).into_iter().map(str::to_owned).collect(),
            title: format!("{} and {last}", rest.join(", ")),
            role: "integrated operations agent".to_owned(),
            about: list(|domain| &domain.about).join(" "),
            text: String::new(),
        }
    }

    /// Reads one from its file, whose name is its own: `csm+itsm.toml` joins `csm` and `itsm`. Faults name it `_joined/NAME.toml`.
    pub fn read(name: &str, text: &str) -> Result<Composition, Vec<Diagnostic>> {
        let path = format!("_joined/{name}.toml");
        let document = Document::new(&path, text);
        let read: Option<CompositionText> = document.read();
        if let Some(CompositionText { domains, title, role, about }) = read {
            not_empty(&document, [("title", &*title), ("role", &role), ("about", &about)]);
            match Composition::names(name) {
                Some(names) if names.join(&AND.to_string()) != name => {
                    let fault = KeyFault::new([], "the file is named after its domains, in order".to_owned());
                    document.add([fault.with_help(format!("call it {}.toml", names.join(&AND.to_string())))]);
                }
                Some(names) if names != domains => {
                    let fault = KeyFault::new(["domains"], "the domains are others than those of the file's name");
                    let quoted = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
                    document.add([fault.with_help(format!("write `domains = [{quoted}]`"))]);
                }
                Some(_) => {}
                None => {
                    let fault = KeyFault::new([], "the file's name joins no domains");
                    document.add([fault.with_help("name it after two or more, such as csm+itsm.toml")]);
                }
            }
            if document.is_sound() {
                return Ok(Composition { domains, title, role, about, text: text.to_owned() });
            }
        }
        Err(document.into_faults())
    }
}

impl Bridges {
    /// Reads them from `bridges.toml` for the domains that are joined, of which only those that are there are looked at. Faults
    /// name the file `_joined/bridges.toml`.
    pub fn read(text: &str, domains: &[&Domain]) -> Result<Bridges, Vec<Diagnostic>> {
        let document = Document::new("_joined/bridges.toml", text);
        let read: Option<BridgesText> = document.read();
        if let Some(read) = read {
            not_empty(&document, [("company", &*read.company)]);
            let bridges = Bridges {
                company: read.company,
                pools: read.pools,
                active: read.active,
                people: people(read.people, &document),
                mirrors: read
                    .mirror
                    .into_iter()
                    .map(|MirrorText { table, of, fields }| Mirror { table, of, fields: fields.into_iter().collect() })
                    .collect(),
                text: text.to_owned(),
            };
            document.add(bridges.check(domains));
            if document.is_sound() {
                return Ok(bridges);
            }
        }
        Err(document.into_faults())
    }

    /// What is told of domains and is not so.
    fn check(&self, domains: &[&Domain]) -> Vec<KeyFault> {
        let mut faults = Vec::new();
        for (name, person) in &self.people {
            let Some(domain) = domains.iter().find(|domain| domain.name == *name) else { continue };
            let path = ["people", &**name];
            let Some(actor) = domain.actor.map(|table| domain.table(table)) else {
                faults.push(KeyFault::new(path, format!("nobody acts in `{name}`, so it has no people")));
                continue;
            };
            if actor.name != person.table {
                let message = format!("the people of `{name}` are in `{}`, not in `{}`", actor.name, person.table);
                faults.push(KeyFault::new(path, message));
                continue;
            }
            match actor.field_named(&person.field) {
                None => {
                    let message = format!("`{}` has no field `{}`", actor.name, person.field);
                    let names = actor.fields.iter().map(|field| &*field.name);
                    faults.push(KeyFault::new(path, message).instead_of(&person.field, names));
                }
                Some(field) if actor.field(field).ty != Type::Text => {
                    faults.push(KeyFault::new(path, format!("`{}` is no text", person.field)));
                }
                Some(_) => {}
            }
        }
        for (at, mirror) in self.mirrors.iter().enumerate() {
            faults.extend(mirror.check(&at.to_string(), domains));
        }
        faults
    }

    /// Whether a field says that somebody is still there.
    pub(super) fn is_active(&self, table: &Table, field: FieldId) -> bool {
        self.active.iter().any(|known| *known == table.field(field).name)
    }

    /// Lets rows say the same as rows of another member, where both are joined.
    pub(super) fn mirror(&self, joined: &mut Domain) -> Result<(), JoinError> {
        for mirror in &self.mirrors {
            let (Some(table), Some(of)) = (joined.table_named(&mirror.table), joined.table_named(&mirror.of)) else {
                let known = |table: &str| {
                    let domain = table.split('.').next().unwrap_or_default();
                    joined.members.iter().any(|member| member.name == domain)
                };
                if known(&mirror.table) && known(&mirror.of) {
                    return Err(JoinError::new(format!("there is no {} or no {}", mirror.table, mirror.of)));
                }
                continue;
            };
            let paths = mirror.fields.iter().map(|(field, path)| {
                let missing = || JoinError::new(format!("{}.{field} cannot repeat {}.{path}", mirror.table, mirror.of));
                let field = joined.table(table).field_named(field).ok_or_else(missing)?;
                let path = path_of(joined, of, path).ok_or_else(missing)?;
                let ty = path.last().map(|(table, field)| joined.table(*table).field(*field).ty);
                if ty != Some(joined.table(table).field(field).ty) {
                    return Err(missing());
                }
                Ok((field, path))
            });
            let paths: Vec<(FieldId, Path)> = paths.collect::<Result<_, _>>()?;
            let steps = joined.seed.iter_mut().flat_map(|seed| &mut seed.rows);
            for step in steps.filter(|step| step.table == table) {
                for (field, path) in &paths {
                    if let Some((_, how)) = step.fields.iter_mut().find(|(known, _)| known == field) {
                        let own = std::mem::replace(how, SeedField::Null);
                        let same = SeedField::Computed(Expr::Lookup {
                            source: Box::new(same_row(table, of)),
                            path: path.clone(),
                        });
                        *how = SeedField::Cases(vec![(Some(is_there(table, of)), same), (None, own)]);
                    }
                }
            }
        }
        Ok(())
    }
}

/// `user.email @company.example` of each domain.
fn people(written: BTreeMap<String, String>, document: &Document<'_>) -> BTreeMap<String, Person> {
    let read = |(domain, told): (String, String)| {
        let (place, host) = match told.split_once(" @") {
            Some((place, host)) => (place, Some(host.to_owned())),
            None => (&*told, None),
        };
        let Some((table, field)) = place.split_once('.') else {
            let fault = KeyFault::new(["people", &*domain], "this says no table and field");
            document.add([fault.with_help("write it like \"user.email @company.example\"")]);
            return None;
        };
        let person = Person { table: table.to_owned(), field: field.to_owned(), host };
        Some((domain, person))
    };
    written.into_iter().filter_map(read).collect()
}

impl Mirror {
    /// What it names and is not there, in those of its two domains that are.
    fn check(&self, at: &str, domains: &[&Domain]) -> Vec<KeyFault> {
        let mut faults = Vec::new();
        let mut table = |key: &str, name: &str| {
            let Some((domain, table)) = name.split_once('.') else {
                let fault = KeyFault::new(["mirror", at, key], format!("`{name}` names no domain"));
                faults.push(fault.with_help("write it like \"csm.contact\""));
                return None;
            };
            let domain = domains.iter().find(|known| known.name == domain)?;
            let found = domain.table_named(table);
            if found.is_none() {
                let fault = KeyFault::new(["mirror", at, key], format!("`{}` has no table `{table}`", domain.name));
                faults.push(fault.instead_of(table, domain.tables.iter().map(|known| &*known.name)));
            }
            found.map(|table| (*domain, table))
        };
        let (own, of) = (table("table", &self.table), table("of", &self.of));
        for (field, path) in &self.fields {
            let place = ["mirror", at, "fields", field];
            let own = own.map(|(domain, table)| (domain.table(table), domain.table(table).field_named(field)));
            if let Some((table, None)) = own {
                let fault = KeyFault::new(place, format!("`{}` has no field `{field}`", table.name)).at_key();
                faults.push(fault.instead_of(field, table.fields.iter().map(|field| &*field.name)));
                continue;
            }
            let Some((domain, table)) = of else { continue };
            let Some(steps) = path_of(domain, table, path) else {
                let first = path.split('.').next().unwrap_or_default();
                let names = domain.table(table).fields.iter().map(|field| &*field.name);
                let fault = KeyFault::new(place, format!("`{path}` leads nowhere from `{}`", self.of));
                faults.push(fault.instead_of(first, names));
                continue;
            };
            let ty = steps.last().map(|(table, field)| domain.table(*table).field(*field).ty);
            if let Some((own, Some(field))) = own
                && ty != Some(own.field(field).ty)
            {
                let message = format!("`{}` and `{path}` are of different types", own.field(field).name);
                faults.push(KeyFault::new(place, message));
            }
        }
        faults
    }
}

/// The row of another table that has the number of the row under way.
fn same_row(table: TableId, of: TableId) -> Source {
    let number = Expr::Field(0, vec![(table, FieldId::ID)]);
    Source::Rows { relation: of, tests: vec![(vec![(of, FieldId::ID)], TestOp::Compare(Compare::Eq), vec![number])] }
}

fn is_there(table: TableId, of: TableId) -> Expr {
    let binder = Binder { name: None, source: same_row(table, of), condition: None };
    Expr::Fold(Fold { kind: FoldKind::Exists, binders: vec![binder], base: 1, body: Vec::new(), outer: None })
}

/// `account.name` from a table.
fn path_of(domain: &Domain, table: TableId, path: &str) -> Option<Path> {
    let mut steps = Path::new();
    let mut at = Some(table);
    for name in path.split('.') {
        let table = at?;
        let field = domain.table(table).field_named(name)?;
        steps.push((table, field));
        at = match domain.table(table).field(field).ty {
            Type::Ref(to) => Some(to),
            _ => None,
        };
    }
    Some(steps)
}
