//! `policy.toml`: who may do what, and the rules.

use super::draft::Draft;
use crate::model::{Access, Action, By, Grant, Role, Rule};
use crate::text::{Entry, Faults, File, Kind, Node, Piece, is_kebab, is_snake, word};
use crate::ways::{self, Remedy, Way};
use benchwright_base::{RelationId, TableId};
use benchwright_expr::Scope;

const ACTIONS: [(&str, &[Action]); 7] = [
    ("read", &[Action::Read]),
    ("create", &[Action::Create]),
    ("update", &[Action::Update]),
    ("delete", &[Action::Delete]),
    ("reveal", &[Action::Reveal]),
    ("write", &[Action::Create, Action::Update, Action::Delete]),
    ("any", &[Action::Read, Action::Create, Action::Update, Action::Delete, Action::Reveal]),
];
/// Stands for every role, in a part that does not know them.
const EVERYONE: &str = "*";
/// No domain has more roles than this.
const MOST_ROLES: usize = 64;
/// No domain has more rules than this.
const MOST_RULES: usize = 256;
/// No rule speaks of more tables than this.
const MOST_TABLES: usize = 32;
/// No role has more grants than this of its own, one for each action and table.
const MOST_GRANTS: usize = 20_000;

/// Reads roles and rules into the draft.
pub(super) fn read(file: &File<'_>, entries: &[Entry<'_>], draft: &mut Draft, faults: &Faults) {
    // A misspelt `access` is told as such.
    let mut has_access = entries.iter().any(|entry| !matches!(entry.name(file).text, "access" | "rules"));
    for entry in entries {
        let name = entry.name(file);
        match name.text {
            "access" => {
                has_access = true;
                for role in read_roles(file, entry, draft, faults) {
                    match &*role.name {
                        EVERYONE => draft.everyone = role.access,
                        _ => join(&mut draft.domain.roles, role),
                    }
                }
            }
            "rules" => {
                let rules = read_rules(file, &entry.value, draft, faults);
                draft.domain.rules.extend(rules);
            }
            _ if file.is_damaged(entry) => {}
            _ => faults.unknown(name, format!("unknown key {}", word(name.text)), ["access", "rules"]),
        }
    }
    if !has_access && draft.domain.roles.is_empty() && file.errors.is_empty() {
        faults.add(file, 0, "no role may do anything", Some("add `[access]` with `admin = [\"any on *\"]`".to_owned()));
    }
}

/// Gives every role what everybody may do, once all are known.
pub(super) fn everyone(draft: &mut Draft) {
    let grants = std::mem::take(&mut draft.everyone);
    for role in &mut draft.domain.roles {
        join_access(&mut role.access, &grants);
    }
}

fn join_access(mine: &mut [Access], theirs: &[Access]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        mine.grants.extend(theirs.grants.iter().cloned());
    }
}

/// Reads the ways of rules, once tools are known.
pub(super) fn ways(file: &File<'_>, entries: &[Entry<'_>], draft: &mut Draft, faults: &Faults) {
    let rules =
        entries.iter().filter(|entry| entry.name(file).text == "rules").filter_map(|entry| entry.value.entries());
    for entry in rules.flatten() {
        let id = entry.name(file).text;
        let parts = entry.value.entries().into_iter().flatten();
        let Some(part) = parts.into_iter().find(|part| part.name(file).text == "ways") else { continue };
        let Some(rule) = draft.domain.rules.iter().position(|rule| rule.id == id) else { continue };
        let Kind::List(items) = &part.value.kind else {
            let mend = "write `ways = [{ says = \"…\", do = \"…\" }]`";
            faults.with_help(part.value.piece(file), "expected a list of ways", mend);
            continue;
        };
        let tables: Vec<TableId> = draft.domain.rules[rule].on.iter().map(|(table, _)| *table).collect();
        for item in items {
            let way = read_way(file, item, &tables, draft, faults);
            draft.domain.rules[rule].ways.extend(way);
        }
    }
}

fn read_way(file: &File<'_>, item: &Node<'_>, tables: &[TableId], draft: &Draft, faults: &Faults) -> Option<Way> {
    const KEYS: [&str; 3] = ["says", "if", "do"];
    let Some(parts) = item.entries() else {
        let mend = "write `{ says = \"…\", if = \"…\", do = \"…\" }`";
        faults.with_help(item.piece(file), "expected a way", mend);
        return None;
    };
    let mut found: [Option<Piece<'_>>; 3] = [None; 3];
    for part in parts {
        let key = part.name(file);
        match (KEYS.iter().position(|known| *known == key.text), part.value.text(file)) {
            (Some(at), Some(text)) => found[at] = Some(text),
            (Some(_), None) => faults.at(part.value.piece(file), format!("expected text for {}", word(key.text))),
            (None, _) => faults.unknown(key, format!("unknown key {} of a way", word(key.text)), KEYS),
        }
    }
    let [says, when, acts] = found;
    let Some(acts) = acts else {
        faults.at(item.piece(file), "this way has no `do`");
        return None;
    };
    let mut on = Vec::new();
    for table in tables {
        let scope = Scope::on(*table);
        let when = when.map(|when| draft.truth(when, *table, faults));
        let acts = draft.way(acts, faults, |text| ways::acts(text, &draft.domain, draft, scope));
        let (None | Some(Some(_)), Some(acts)) = (&when, acts) else { return None };
        on.push(Remedy { table: *table, when: when.flatten(), acts });
    }
    Some(Way { says: says.map_or("", |says| says.text).to_owned(), on })
}

/// A role that a part has too may do what either says.
fn join(roles: &mut Vec<Role>, role: Role) {
    match roles.iter_mut().find(|known| known.name == role.name) {
        Some(known) => join_access(&mut known.access, &role.access),
        None => roles.push(role),
    }
}

/// A role as written: what it grants itself, and the roles it is like.
struct Written<'s> {
    name: &'s str,
    access: Vec<Access>,
    like: Vec<(Piece<'s>, usize)>,
    grants: usize,
}

fn read_roles(file: &File<'_>, entry: &Entry<'_>, draft: &Draft, faults: &Faults) -> Vec<Role> {
    let Some(entries) = entry.value.entries() else {
        faults.at(entry.value.piece(file), "`access` is not a table");
        return Vec::new();
    };
    if entries.is_empty() {
        let mend = "write `admin = [\"any on *\"]`";
        faults.with_help(entry.name(file), "no role may do anything", mend);
    }
    if let Some(entry) = entries.get(MOST_ROLES) {
        faults.at(entry.name(file), format!("a domain has at most {MOST_ROLES} roles"));
    }
    let names: Vec<&str> = entries.iter().take(MOST_ROLES).map(|entry| entry.name(file).text).collect();
    let mut roles: Vec<Written<'_>> = Vec::new();
    for entry in entries.iter().take(MOST_ROLES) {
        let name = entry.name(file);
        if !is_snake(name.text) && name.text != EVERYONE {
            faults.at(name, format!("a role's name is lower case with underscores, not {}", word(name.text)));
        }
        let access = vec![Access::default(); draft.domain.tables.len()];
        let mut role = Written { name: name.text, access, like: Vec::new(), grants: 0 };
        match &entry.value.kind {
            _ if file.is_damaged(entry) => {}
            Kind::List(items) => {
                for item in items {
                    match item.text(file) {
                        Some(text) => read_grant(text, &names, &mut role, draft, faults),
                        None => faults.at(item.piece(file), "expected a grant in quotes"),
                    }
                }
            }
            _ => {
                let mend = "write `[\"read on *\"]`";
                faults.with_help(entry.value.piece(file), "expected a list of grants", mend);
            }
        }
        roles.push(role);
    }
    inherit(&roles, faults)
}

/// Gives every role what those it is like may do.
fn inherit(roles: &[Written<'_>], faults: &Faults) -> Vec<Role> {
    let mut told = Vec::new();
    let mut result = Vec::new();
    for (at, role) in roles.iter().enumerate() {
        let mut access = role.access.clone();
        let mut seen = vec![false; roles.len()];
        let mut todo: Vec<(Piece<'_>, usize)> = role.like.clone();
        while let Some((place, other)) = todo.pop() {
            if other == at {
                // Every role of a circle sees it; the first says it.
                if !told.contains(&at) {
                    faults.at(place, format!("`{}` is like itself in a circle", role.name));
                    told.extend((0..roles.len()).filter(|nth| seen[*nth] || *nth == at));
                }
                continue;
            }
            if std::mem::replace(&mut seen[other], true) {
                continue;
            }
            for (mine, theirs) in access.iter_mut().zip(&roles[other].access) {
                mine.grants.extend(theirs.grants.iter().cloned());
            }
            todo.extend(&roles[other].like);
        }
        result.push(Role { name: role.name.to_owned(), access });
    }
    result
}

fn read_grant<'s>(text: Piece<'s>, names: &[&str], role: &mut Written<'s>, draft: &Draft, faults: &Faults) {
    if let Some(rest) = text.text.strip_prefix("like ") {
        let name = text.from(text.text.len() - rest.len());
        match names.iter().position(|known| *known == name.text) {
            Some(at) => role.like.push((name, at)),
            None if !name.file.errors.is_empty() => {}
            None => faults.unknown(name, format!("unknown role {}", word(name.text)), names.iter().copied()),
        }
        return;
    }
    let Some(&(on, after)) = text.words_at(&["on"]).first() else {
        let mend = "write `read, create on account where …` or `like agent`";
        return faults.with_help(text, "expected actions, `on` and tables", mend);
    };
    let rest = text.from(after);
    let condition = rest.words_at(&["where"]).first().copied();
    let tables = rest.sub(0, condition.map_or(rest.text.len(), |(at, _)| at));
    let condition = condition.map(|(_, end)| rest.from(end));
    let mut actions: Vec<Action> = Vec::new();
    for name in text.sub(0, on).items(faults) {
        match ACTIONS.iter().find(|(word, _)| *word == name.text) {
            Some((_, found)) => actions.extend(found.iter()),
            None => {
                let message = format!("unknown action {}", word(name.text));
                faults.unknown(name, message, ACTIONS.iter().map(|(word, _)| *word));
            }
        }
    }
    actions.sort_unstable();
    actions.dedup();
    for name in tables.items(faults) {
        let found: Vec<TableId> = match name.text {
            "*" => (0..draft.domain.tables.len()).map(|at| RelationId(at as u16)).collect(),
            _ => draft.table(name, faults).into_iter().collect(),
        };
        for table in found {
            role.grants += actions.len();
            if role.grants > MOST_GRANTS {
                return faults.at(text, format!("a role has at most {MOST_GRANTS} grants"));
            }
            let condition = match condition {
                None => None,
                Some(text) => match draft.truth(text, table, faults) {
                    Some(expr) => Some(expr),
                    None => continue,
                },
            };
            let grants = actions.iter().map(|action| Grant { action: *action, condition: condition.clone() });
            role.access[table.index()].grants.extend(grants);
        }
    }
}

fn read_rules(file: &File<'_>, value: &Node<'_>, draft: &Draft, faults: &Faults) -> Vec<Rule> {
    let Some(entries) = value.entries() else {
        faults.at(value.piece(file), "`rules` is not a table");
        return Vec::new();
    };
    if let Some(entry) = entries.get(MOST_RULES) {
        faults.at(entry.name(file), format!("a domain has at most {MOST_RULES} rules"));
    }
    let mut rules = Vec::new();
    for entry in entries.iter().take(MOST_RULES) {
        let id = entry.name(file);
        if draft.domain.rules.iter().any(|known| known.id == id.text) {
            faults.at(id, format!("a part that is included has a rule {} already", word(id.text)));
        }
        if !is_kebab(id.text) {
            faults.at(id, format!("a rule's id is lower case with hyphens, not {}", word(id.text)));
        }
        match entry.value.entries() {
            Some(parts) => rules.extend(read_rule(file, id, parts, draft, faults)),
            None => {
                faults.with_help(
                    id,
                    format!("{} is not a rule", word(id.text)),
                    format!("begin it with `[rules.{}]`", id.text),
                );
            }
        }
    }
    rules
}

fn read_rule(file: &File<'_>, id: Piece<'_>, parts: &[Entry<'_>], draft: &Draft, faults: &Faults) -> Option<Rule> {
    const KEYS: [&str; 5] = ["on", "require", "says", "by", "at"];
    let mut found: [Option<Piece<'_>>; 5] = [None; 5];
    let mut whole = true;
    let mut damaged = false;
    for part in parts {
        let key = part.name(file);
        damaged |= file.is_damaged(part);
        if key.text == "ways" {
            continue;
        }
        let Some(at) = KEYS.iter().position(|known| *known == key.text) else {
            faults.unknown(key, format!("unknown key {} of a rule", word(key.text)), KEYS);
            whole = false;
            continue;
        };
        match part.value.text(file) {
            Some(text) => found[at] = Some(text),
            None if file.is_damaged(part) => {}
            None => {
                faults.at(part.value.piece(file), format!("expected text for {}", word(key.text)));
                damaged = true;
            }
        }
    }
    if damaged {
        return None;
    }
    let lacks = |(key, found): &(&&str, &Option<Piece<'_>>)| found.is_none() && **key != "at";
    for (key, _) in KEYS.iter().zip(&found).filter(|part| whole && file.errors.is_empty() && lacks(part)) {
        faults.at(id, format!("the rule {} has no `{key}`", word(id.text)));
    }
    let [on, require, says, by, at] = found;
    if let Some(says) = says
        && !(says.text.ends_with('.') && says.text.starts_with(|c: char| !c.is_lowercase() && !c.is_whitespace()))
    {
        faults.with_help(says, "`says` is not a sentence", "begin it with a capital and end it with a full stop");
    }
    let by = by.and_then(|by| match by.text {
        "tool" => Some(By::Tool),
        "verifier" => Some(By::Verifier),
        _ => {
            let message = format!("expected who holds the rule, found {}", word(by.text));
            faults.unknown(by, message, ["tool", "verifier"]);
            None
        }
    });
    if let Some(at) = at.filter(|at| at.text != "write") {
        let message = format!("expected when the rule is judged, found {}", word(at.text));
        faults.with_help(
            at,
            message,
            "`at = \"write\"` judges it on rows that are written; without `at` it holds always",
        );
    }
    let (on, require) = (on?, require?);
    if on.commas().len() > MOST_TABLES {
        faults.at(on, format!("a rule speaks of at most {MOST_TABLES} tables"));
    }
    let mut tables: Vec<(TableId, benchwright_expr::Expr)> = Vec::new();
    for name in on.items(faults).into_iter().take(MOST_TABLES) {
        let Some(table) = draft.table(name, faults) else { continue };
        if tables.iter().any(|(known, _)| *known == table) {
            faults.at(name, format!("{} is here twice", word(name.text)));
            continue;
        }
        tables.extend(draft.truth(require, table, faults).map(|expr| (table, expr)));
    }
    Some(Rule {
        id: id.text.to_owned(),
        on: tables,
        require: require.text.to_owned(),
        says: says?.text.to_owned(),
        by: by?,
        at_write: at.is_some(),
        ways: Vec::new(),
    })
}
