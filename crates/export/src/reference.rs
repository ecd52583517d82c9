//! The reference page of a domain in Markdown: its tables, words, tools, rules and roles, all from its declaration. The pages
//! in `docs/reference` are held to it by a test; `BENCHWRIGHT_UPDATE=1` rewrites them.

use crate::notation;
use benchwright_schema::{By, Domain, Table, Tool, Verb, arguments_schema};
use std::fmt::Write as _;

/// The page of a domain.
pub fn reference(domain: &Domain) -> String {
    let mut out = format!("# {}: {}\n\n{}\n\n", domain.name, domain.title, domain.about);
    let _ = writeln!(out, "The agent's job: {}. The clock of a new world stands at {}.", domain.role, domain.now);
    let _ = writeln!(
        out,
        "{}. Generated from the declaration by `benchwright domains {} --markdown`.\n",
        extent(domain),
        domain.name
    );
    tables(&mut out, domain);
    words(&mut out, domain);
    tools(&mut out, domain);
    rules(&mut out, domain);
    roles(&mut out, domain);
    out
}

/// How much of everything a domain has.
pub fn extent(domain: &Domain) -> String {
    let counts = [
        (domain.tables.len(), "table"),
        (domain.field_count(), "field"),
        (domain.reference_count(), "reference"),
        (domain.tools.len(), "tool"),
        (domain.rules.len(), "rule"),
        (domain.roles.len(), "role"),
    ];
    counts.map(|(count, noun)| format!("{count} {noun}{}", if count == 1 { "" } else { "s" })).join(", ")
}

fn tables(out: &mut String, domain: &Domain) {
    out.push_str("## Tables\n\nEvery table also has an `id`.\n\n");
    for table in &domain.tables {
        let _ = writeln!(out, "### {}\n\n| field | declaration |\n|---|---|", table.name);
        for field in table.fields.iter().skip(1) {
            let _ = writeln!(out, "| `{}` | {} |", field.name, code(&notation::field(domain, table, field)));
        }
        let _ = writeln!(out, "\n{}\n", referred_by(domain, table));
    }
}

fn referred_by(domain: &Domain, table: &Table) -> String {
    let mut by: Vec<String> = Vec::new();
    for incoming in &table.incoming {
        let other = domain.table(incoming.table);
        let owned = if incoming.owned { " (owned)" } else { "" };
        by.push(format!("`{}.{}`{owned}", other.name, other.field(incoming.field).name));
    }
    if by.is_empty() { "Nothing refers to it.".to_owned() } else { format!("Referred to by {}.", by.join(", ")) }
}

fn words(out: &mut String, domain: &Domain) {
    if domain.enums.is_empty() {
        return;
    }
    out.push_str("## Words\n\n| enumeration | words |\n|---|---|\n");
    for words in &domain.enums {
        let _ = writeln!(out, "| `{}` | {} |", words.name, words.words.join(", "));
    }
    out.push('\n');
}

fn tools(out: &mut String, domain: &Domain) {
    out.push_str("## Tools\n\nArguments with `!` must be given.\n\n");
    for verb in Verb::ALL {
        let of_verb: Vec<&Tool> = domain.tools.iter().filter(|tool| tool.verb == verb).collect();
        if of_verb.is_empty() {
            continue;
        }
        let _ = writeln!(out, "### Tools that {}\n\n| tool | arguments | what it does |\n|---|---|---|", does(verb));
        for tool in of_verb {
            let description = cell(&tool.description);
            let _ = writeln!(out, "| `{}` | {} | {description} |", tool.name, arguments(domain, tool));
        }
        out.push('\n');
    }
}

/// What tools of a verb do, in words.
fn does(verb: Verb) -> String {
    match verb {
        Verb::Native => "are code".to_owned(),
        Verb::Avg => "average".to_owned(),
        verb => verb.word().to_owned(),
    }
}

fn arguments(domain: &Domain, tool: &Tool) -> String {
    let schema = arguments_schema(domain, tool);
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys());
    let names: Vec<String> = names
        .map(|name| {
            let must = if required.iter().any(|known| known == name) { "!" } else { "" };
            format!("`{name}{must}`")
        })
        .collect();
    names.join(" ")
}

fn rules(out: &mut String, domain: &Domain) {
    if domain.rules.is_empty() {
        return;
    }
    out.push_str("## Rules\n\n| rule | on | held by | what it says | what must hold |\n|---|---|---|---|---|\n");
    for rule in &domain.rules {
        let on: Vec<String> = rule.on.iter().map(|(table, _)| format!("`{}`", domain.table(*table).name)).collect();
        let by = match rule.by {
            By::Tool if rule.at_write => "the tools, on writing",
            By::Verifier if rule.at_write => "the verifier, on writing",
            By::Tool => "the tools",
            By::Verifier => "the verifier",
        };
        let (says, require) = (cell(&rule.says), code(&rule.require));
        let _ = writeln!(out, "| `{}` | {} | {by} | {says} | {require} |", rule.id, on.join(", "));
    }
    out.push('\n');
}

fn roles(out: &mut String, domain: &Domain) {
    out.push_str("## Roles\n\n| role | may |\n|---|---|\n");
    for role in &domain.roles {
        let lines: Vec<String> = notation::access(domain, role).iter().map(|line| code(line)).collect();
        let _ = writeln!(out, "| `{}` | {} |", role.name, lines.join("; "));
    }
}

/// Text in a cell of a table: one line, and no bar that would end the cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;")
}

/// Code in a cell of a table.
fn code(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_catalog::Catalog;
    use std::{fs, path::Path};

    /// The planning workflow whose page stands for all of them: they differ in their forms alone.
    const DESK: &str = "coatings";

    #[test]
    fn the_pages_of_all_domains_are_fresh() {
        let catalog = Catalog::built_in();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
        let mut files = Vec::new();
        let mut index = "# Reference\n\nEvery domain, generated from its declaration.\n\n\
                         | domain | tables | references | tools | native | rules |\n|---|---|---|---|---|---|\n"
            .to_owned();
        let mut desks = String::new();
        for name in catalog.names().unwrap() {
            let domain = catalog.find(&name).unwrap().domain;
            if domain.tools.iter().any(|tool| tool.name == "form_submit") {
                let _ = writeln!(desks, "| {name} | {} | {} |", domain.title, domain.tables.len());
                if name != DESK {
                    continue;
                }
            } else {
                let native = domain.tools.iter().filter(|tool| tool.verb == Verb::Native).count();
                let (tables, references, tools) = (domain.tables.len(), domain.reference_count(), domain.tools.len());
                let rules = domain.rules.len();
                let _ =
                    writeln!(index, "| [{name}]({name}.md) | {tables} | {references} | {tools} | {native} | {rules} |");
            }
            let page = reference(&domain);
            for wanted in domain.tools.iter().map(|tool| &tool.name).chain(domain.rules.iter().map(|rule| &rule.id)) {
                assert!(page.contains(&format!("| `{wanted}` |")), "{name} does not tell {wanted}");
            }
            files.push((folder.join(format!("{name}.md")), page));
        }
        assert!(files.len() >= 14, "{} domains", files.len());
        assert!(desks.lines().count() >= 29, "{desks}");
        let _ = write!(
            index,
            "\nA picture: [the tables of csm and itsm in one world](../csm+itsm.svg).\n\n\
             The [planning](../planning.md) workflows are desks with files and forms. They have the same seven tools and differ in their forms, so the \
             page of [{DESK}]({DESK}.md) stands for all of them.\n\n\
             | domain | title | tables |\n|---|---|---|\n{desks}"
        );
        files.push((folder.join("README.md"), index));
        for (file, made) in files {
            if std::env::var_os("BENCHWRIGHT_UPDATE").is_some() {
                fs::create_dir_all(&folder).unwrap();
                fs::write(&file, made).unwrap();
                continue;
            }
            let committed = fs::read_to_string(&file).unwrap_or_default();
            assert!(committed == made, "{} differs; BENCHWRIGHT_UPDATE=1 rewrites it", file.display());
        }
    }
}
