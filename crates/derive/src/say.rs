//! The instruction: who the agent is, what it may do, the policy with its ways, the rules of the house, and the request.

use benchwright_base::{FieldId, TableId, Value};
use benchwright_expr::Type;
use benchwright_schema::{Action, By, Domain, Role};
use std::fmt::Write as _;

/// What holds at every desk.
const HOUSE: &str = "\
- Do everything that is asked for and what the policy wants on the way, and nothing beyond it. A work note on a record that you work on does no harm.
- If some part of the request cannot be done within the policy, your rights and your tools, change nothing at all and call `decline_request` with the kind of obstacle and the rule or the record that stands in the way.
- What nobody names stays as it is, and a new record keeps what the system sets by itself.
- Texts are in your own words. They give what is asked for, and no other date, amount, number or address.
- Nobody answers questions.";

/// The instruction of a task.
pub(crate) fn instruction(
    domain: &Domain,
    role: &Role,
    person: Option<&str>,
    now: &str,
    request: &str,
    answer: Option<&str>,
) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "# Your desk\n");
    let who = person.map(|person| format!(" You act as {person}.")).unwrap_or_default();
    let _ = writeln!(
        text,
        "You work as {} in {}: {} Your role is `{}`.{who} It is {now} (UTC).\n",
        with_article(&domain.role),
        domain.title.to_lowercase(),
        domain.about,
        role.name
    );
    let _ = writeln!(text, "## What your role may do\n\n{}\n", rights(domain, role));
    let _ = writeln!(text, "## Policy\n\n{}", policy(domain));
    let _ = writeln!(text, "## Rules of the house\n\n{HOUSE}\n");
    let _ = writeln!(text, "## Request\n\n{}", request.trim());
    if let Some(name) = answer {
        let _ = writeln!(text, "\nAnswer with `submit_answer`, under the name `{name}`.");
    }
    text
}

/// The field that a person is known by: an address before a name, because names may be shared.
pub(crate) fn known_by(domain: &Domain, table: TableId, cells: &[Value]) -> Option<FieldId> {
    const KNOWN: [&str; 5] = ["email", "user_principal_name", "mail", "address", "name"];
    let declared = domain.table(table);
    let mut fields = KNOWN.iter().filter_map(|name| declared.field_named(name));
    fields.find(|field| cells.get(field.index()).is_some_and(|value| !value.is_null()))
}

fn with_article(role: &str) -> String {
    let vowel = role.starts_with(|c: char| "aeioAEIO".contains(c));
    format!("{} {role}", if vowel { "an" } else { "a" })
}

/// What a role may do, by what it may do on which tables.
fn rights(domain: &Domain, role: &Role) -> String {
    let may = |action: Action| -> (Vec<&str>, Vec<&str>) {
        let (mut all, mut some) = (Vec::new(), Vec::new());
        for (at, table) in domain.tables.iter().enumerate().filter(|(_, table)| !table.once && !table.log) {
            let id = benchwright_base::RelationId(at as u16);
            let mut grants = role.grants(id, action).peekable();
            if grants.peek().is_none() {
                continue;
            }
            if grants.any(|grant| grant.condition.is_none()) { all.push(&*table.name) } else { some.push(&*table.name) }
        }
        (all, some)
    };
    let tables = domain.tables.iter().filter(|table| !table.once && !table.log).count();
    let mut lines = Vec::new();
    for (action, word) in
        [(Action::Read, "read"), (Action::Create, "create"), (Action::Update, "change"), (Action::Delete, "delete")]
    {
        let (all, some) = may(action);
        let what = match (all.len(), some.is_empty()) {
            (0, true) => "nothing".to_owned(),
            (n, true) if n == tables => "everything".to_owned(),
            (n, true) if n * 2 > tables => {
                let others: Vec<&str> = domain
                    .tables
                    .iter()
                    .filter(|table| !table.once && !table.log && !all.contains(&&*table.name))
                    .map(|table| &*table.name)
                    .collect();
                format!("everything but {}", others.join(", "))
            }
            _ => {
                let mut list: Vec<String> = all.iter().map(|table| (*table).to_owned()).collect();
                list.extend(some.iter().map(|table| format!("{table} (some rows)")));
                list.join(", ")
            }
        };
        lines.push(format!("- {word}: {what}"));
    }
    lines.join("\n")
}

/// The rules, with their ways, by the tables that they are on.
fn policy(domain: &Domain) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for rule in &domain.rules {
        let tables: Vec<&str> = rule.on.iter().map(|(table, _)| &*domain.table(*table).name).collect();
        let head = tables.join(", ");
        let mut line = format!("- `{}`: {}", rule.id, rule.says);
        for way in rule.ways.iter().filter(|way| !way.says.is_empty()) {
            line.push(' ');
            line.push_str(&way.says);
        }
        if rule.by == By::Tool {
            line.push_str(" (Calls that break it are refused.)");
        }
        match groups.iter_mut().find(|(known, _)| *known == head) {
            Some((_, lines)) => lines.push(line),
            None => groups.push((head, vec![line])),
        }
    }
    let mut text = String::new();
    for (head, lines) in groups {
        let _ = writeln!(text, "**{head}**\n{}\n", lines.join("\n"));
    }
    let lifecycles: Vec<String> = domain
        .tables
        .iter()
        .flat_map(|table| table.lifecycles.iter().map(move |lifecycle| (table, lifecycle)))
        .map(|(table, lifecycle)| {
            let field = table.field(lifecycle.field);
            let words = match field.ty {
                Type::Enum(id) => domain.enums[id.index()].words.clone(),
                _ => Vec::new(),
            };
            let next: Vec<String> = lifecycle
                .next
                .iter()
                .enumerate()
                .filter(|(_, next)| !next.is_empty())
                .map(|(at, next)| {
                    let next: Vec<&str> = next.iter().map(|word| &*words[*word as usize]).collect();
                    format!("{} to {}", words[at], next.join(" or "))
                })
                .collect();
            format!("- `{}.{}`: {}", table.name, field.name, next.join("; "))
        })
        .collect();
    if !lifecycles.is_empty() {
        let _ = writeln!(text, "**How states follow each other**\n{}\n", lifecycles.join("\n"));
    }
    text
}
