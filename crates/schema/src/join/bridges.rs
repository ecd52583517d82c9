//! What joined domains are told: `domains/_joined/NAME.toml` says what a composition is, `bridges.toml` who is the same person in
//! several domains.

use super::{AND, JoinError};
use crate::model::{Domain, SeedField, Table};
use benchwright_base::{FieldId, TableId};
use benchwright_expr::{Binder, Compare, Expr, Fold, FoldKind, Path, Source, TestOp, Type};
use std::collections::BTreeMap;
use toml::{Table as Toml, Value};

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

fn read(path: &str, text: &str) -> Result<Toml, JoinError> {
    text.parse().map_err(|error| JoinError::new(format!("{path}: {error}")))
}

fn text_of(path: &str, table: &Toml, key: &str) -> Result<String, JoinError> {
    let text = table.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    text.map(str::to_owned).ok_or_else(|| JoinError::new(format!("{path}: `{key}` is no text")))
}

fn texts_of(path: &str, table: &Toml, key: &str) -> Result<Vec<String>, JoinError> {
    let texts =
        table.get(key).and_then(Value::as_array).map(|list| list.iter().map(|item| item.as_str().map(str::to_owned)));
    texts.and_then(Iterator::collect).ok_or_else(|| JoinError::new(format!("{path}: `{key}` is no list of texts")))
}

fn only(path: &str, table: &Toml, keys: &[&str]) -> Result<(), JoinError> {
    match table.keys().find(|key| !keys.contains(&&***key)) {
        Some(key) => Err(JoinError::new(format!("{path}: unknown key `{key}`"))),
        None => Ok(()),
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

    /// Reads one from its file, whose name is its own.
    pub fn read(name: &str, text: &str) -> Result<Composition, JoinError> {
        let path = format!("_joined/{name}.toml");
        let table = read(&path, text)?;
        only(&path, &table, &["domains", "title", "role", "about"])?;
        let domains = texts_of(&path, &table, "domains")?;
        if domains.join(&AND.to_string()) != name || Composition::names(name).as_ref() != Some(&domains) {
            let why = format!("{path}: `domains` are those of the file's name, in order, and they are different");
            return Err(JoinError::new(why));
        }
        let of = |key| text_of(&path, &table, key);
        Ok(Composition { domains, title: of("title")?, role: of("role")?, about: of("about")?, text: text.to_owned() })
    }
}

impl Bridges {
    /// Reads them from `bridges.toml`.
    pub fn read(text: &str) -> Result<Bridges, JoinError> {
        let path = "_joined/bridges.toml";
        let table = read(path, text)?;
        only(path, &table, &["company", "pools", "active", "people", "mirror"])?;
        let mut bridges = Bridges {
            company: text_of(path, &table, "company")?,
            pools: texts_of(path, &table, "pools")?,
            active: texts_of(path, &table, "active")?,
            people: BTreeMap::new(),
            mirrors: Vec::new(),
            text: text.to_owned(),
        };
        let people = table.get("people").and_then(Value::as_table);
        let people = people.ok_or_else(|| JoinError::new(format!("{path}: `people` is missing")))?;
        for domain in people.keys() {
            let told = text_of(path, people, domain)?;
            let (place, host) = match told.split_once(" @") {
                Some((place, host)) => (place, Some(host.to_owned())),
                None => (&*told, None),
            };
            let (table, field) = place.split_once('.').ok_or_else(|| {
                JoinError::new(format!("{path}: `{domain}` is written like \"user.email @company.example\""))
            })?;
            bridges.people.insert(domain.clone(), Person { table: table.to_owned(), field: field.to_owned(), host });
        }
        for mirror in table.get("mirror").and_then(Value::as_array).into_iter().flatten() {
            let mirror = mirror.as_table().ok_or_else(|| JoinError::new(format!("{path}: `mirror` is no table")))?;
            only(path, mirror, &["table", "of", "fields"])?;
            let fields = mirror.get("fields").and_then(Value::as_table);
            let fields = fields.ok_or_else(|| JoinError::new(format!("{path}: a mirror has no `fields`")))?;
            bridges.mirrors.push(Mirror {
                table: text_of(path, mirror, "table")?,
                of: text_of(path, mirror, "of")?,
                fields: fields
                    .keys()
                    .map(|key| Ok((key.clone(), text_of(path, fields, key)?)))
                    .collect::<Result<_, _>>()?,
            });
        }
        Ok(bridges)
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
