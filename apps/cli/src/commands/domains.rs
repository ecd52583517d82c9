//! `benchwright domains`: which worlds there are, and what is in one.

use crate::{
    failure::Failure,
    layout::{columns, counted, paragraph},
    notation, output,
    worlds::{self, Filling},
};
use benchwright_base::nearest;
use benchwright_catalog::{Catalog, CatalogError, Found};
use benchwright_export::{extent, reference};
use benchwright_schema::{By, Domain, Verb, arguments_schema, result_schema};
use benchwright_workshop::{
    samples::{self, Sample},
    tokens::{Counter, ENCODING, Size, ToolSet},
};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

/// Which worlds there are: tables, fields, references, tools, rules
#[derive(clap::Args)]
#[command(after_long_help = "\
Without NAME, a table of all domains. With NAME, a page on that one: what it is about, its tables
with their fields, its tools, its rules and who holds each, and its roles. A domain with faults is
told with all of them, and the exit code is 1. Several domains joined by + are one world.

Examples:
  benchwright domains
  benchwright domains csm
  benchwright domains csm+itsm
  benchwright domains csm --sample 20 --size medium
  benchwright domains csm --sizes
  benchwright domains csm --tool find_user
  benchwright domains ./domains/csm --json
  benchwright domains csm --tokens
  benchwright domains csm --markdown > csm.md

Keys of --json, a list even for one domain:
  name, title, tables, fields, references, tools, native_tools, rules, roles,
  tools_by_verb {find, get, …}, rules_by {tool, verifier}
Keys of --tokens --json, a list too, in tokens of o200k_base:
  name, encoding, tools, tokens, tokens_per_tool, names, descriptions, arguments, longest {tool, tokens},
  toolsets {by_effect, by_table: [{name, tools, tokens}]}
Keys of --sample --json, a list of records: table, fields {NAME: value}
Keys of --sizes --json, a list with an entry for each domain and size:
  name, size, rows, build_ms, bytes, same_again, tables {NAME: rows}")]
pub(crate) struct Options {
    /// A domain, by its name or the path to its folder, or several joined, such as csm+itsm
    name: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    /// Prints what this tool takes and gives, as JSON Schemas
    #[arg(long, value_name = "TOOL", requires = "name")]
    tool: Option<String>,
    /// Prints how long the list of tools is for a model, whole and by toolset
    #[arg(long, conflicts_with = "tool")]
    tokens: bool,
    /// Prints the reference page in Markdown
    #[arg(long, requires = "name", conflicts_with_all = ["tool", "tokens", "json"])]
    markdown: bool,
    /// Prints N records of its seeded world, drawn over all tables
    #[arg(long, value_name = "N", requires = "name", group = "filled")]
    #[arg(conflicts_with_all = ["tool", "tokens", "markdown"])]
    sample: Option<usize>,
    /// Fills each size twice and prints rows, time and bytes; with NAME also the rows of each table
    #[arg(long, group = "filled", conflicts_with_all = ["tool", "tokens", "markdown", "size"])]
    sizes: bool,
    /// The size of the world that records are drawn from [default: small]
    #[arg(long, value_name = "SIZE", requires = "sample")]
    size: Option<String>,
    /// The seed that everything random is drawn from [default: 1]
    #[arg(long, value_name = "N", requires = "filled")]
    seed: Option<u64>,
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let Some(name) = &options.name else { return all(catalog, options) };
    if let Some(count) = options.sample {
        let filling = Filling { size: options.size.clone(), seed: options.seed };
        let sample = Sample::draw(worlds::open(catalog, name, &filling)?, filling.seed.unwrap_or(1), count)?;
        match options.json {
            true => output::json(&sample.to_json())?,
            false => output::data(&sample.to_text(output::columns()))?,
        }
        return Ok(());
    }
    let found = catalog.find(name).map_err(|error| Failure::of_catalog(error, name))?;
    if let Some(tool) = &options.tool {
        return schemas(&found.domain, name, tool);
    }
    worlds::warn_of_missing_code(&found);
    if options.tokens {
        return sizes(&[found], options);
    }
    if options.sizes {
        return filled(&[found], options, true);
    }
    if options.markdown {
        output::data(&reference(&found.domain))?;
    } else {
        output::either(options.json, || json!([summary(&found)]), || page(&found.domain))?;
    }
    Ok(())
}

/// How large seeded worlds are, size by size; for one domain, table by table too.
fn filled(domains: &[Found], options: &Options, is_one: bool) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for found in domains {
        all.extend(samples::fill(found, options.seed.unwrap_or(1))?);
    }
    output::either(options.json, || all.iter().map(samples::summary).collect(), || samples::table(&all, is_one))?;
    match all.iter().find(|filled| !filled.is_same_again) {
        Some(other) => Err(Failure::falls_short(
            format!("{} at size {} gave other bytes the second time", other.domain.name, other.size),
            "the same seed must give the same bytes; look for what is not drawn from it",
        )),
        None => Ok(()),
    }
}

/// All domains, those with faults on stderr.
fn all(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let next = "--domains DIR, with a folder that domain folders lie in";
    let names = catalog.names().map_err(|error| Failure::wrong_use(error, next))?;
    if names.is_empty() {
        return Err(Failure::missing("there are no domains", next));
    }
    let mut good = Vec::new();
    let mut faulty = Vec::new();
    for name in &names {
        match catalog.find(name) {
            Ok(found) => {
                worlds::warn_of_missing_code(&found);
                good.push(found);
            }
            Err(error @ (CatalogError::Faulty { .. } | CatalogError::Unreadable { .. })) => {
                eprintln!("error: {error}");
                faulty.push(&**name);
            }
            Err(error) => return Err(Failure::of_catalog(error, name)),
        }
    }
    if options.tokens {
        sizes(&good, options)?;
    } else if options.sizes {
        filled(&good, options, false)?;
    } else {
        output::either(options.json, || good.iter().map(summary).collect(), || table(&good))?;
    }
    if faulty.is_empty() {
        return Ok(());
    }
    let message = format!("{} cannot be used: {}", counted(faulty.len(), "domain"), faulty.join(", "));
    Err(Failure::falls_short(message, format!("mend the faults, then: benchwright domains {}", faulty[0])))
}

/// The numbers of a domain.
fn summary(found: &Found) -> Json {
    let domain = &*found.domain;
    let of_verb = |verb: Verb| domain.tools.iter().filter(|tool| tool.verb == verb).count();
    let by_verb: Map<String, Json> =
        Verb::ALL.iter().map(|verb| (verb.word().to_owned(), json!(of_verb(*verb)))).collect();
    let held_by = |by: By| domain.rules.iter().filter(|rule| rule.by == by).count();
    json!({
        "name": domain.name,
        "title": domain.title,
        "tables": domain.tables.len(),
        "fields": domain.field_count(),
        "references": domain.reference_count(),
        "tools": domain.tools.len(),
        "native_tools": of_verb(Verb::Native),
        "rules": domain.rules.len(),
        "roles": domain.roles.len(),
        "tools_by_verb": by_verb,
        "rules_by": { "tool": held_by(By::Tool), "verifier": held_by(By::Verifier) },
    })
}

fn table(good: &[Found]) -> String {
    let numbers = ["tables", "fields", "references", "tools", "native_tools", "rules", "roles"];
    let head = ["name", "tables", "fields", "references", "tools", "native", "rules", "roles", "title"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for found in good {
        let summary = summary(found);
        let mut row = vec![found.domain.name.clone()];
        row.extend(numbers.iter().map(|key| summary[key].to_string()));
        row.push(found.domain.title.clone());
        rows.push(row);
    }
    columns(&rows, &[1, 2, 3, 4, 5, 6, 7], 0)
}

/// How long the lists of tools are: of several domains in a table, of one with its toolsets.
fn sizes(domains: &[Found], options: &Options) -> anyhow::Result<()> {
    let counter = Counter::new()?;
    let sizes: Vec<Size> = domains.iter().map(|found| counter.size(&found.domain)).collect();
    if options.json {
        return Ok(output::json(
            &domains.iter().zip(&sizes).map(|(found, size)| size.to_json(&found.domain)).collect(),
        )?);
    }
    let mut out = format!("Tokens of {ENCODING} in the list of tools: names, descriptions, argument schemas\n");
    let mut rows =
        vec![["domain", "tools", "tokens", "per tool", "longest", "longest tool"].map(str::to_owned).to_vec()];
    for (found, size) in domains.iter().zip(&sizes) {
        let per_tool = size.tokens.checked_div(size.tools).unwrap_or_default();
        let numbers = [size.tools, size.tokens, per_tool, size.longest.1].map(|number| number.to_string());
        rows.push([&[found.domain.name.clone()][..], &numbers, std::slice::from_ref(&size.longest.0)].concat());
    }
    out.push_str(&columns(&rows, &[1, 2, 3, 4], 0));
    if let (Some(_), [size]) = (&options.name, &sizes[..]) {
        let of = |set: &ToolSet| vec![set.name.clone(), set.tools.to_string(), set.tokens.to_string()];
        let mut rows = vec![["toolset", "tools", "tokens"].map(str::to_owned).to_vec()];
        rows.extend(size.by_effect.iter().chain(&size.by_table).map(of));
        out.push('\n');
        out.push_str(&columns(&rows, &[1, 2], 0));
    }
    output::data(&out)?;
    Ok(())
}

/// What a tool takes and gives.
fn schemas(domain: &Domain, name: &str, wanted: &str) -> anyhow::Result<()> {
    let Some(at) = domain.tool_named(wanted) else {
        let near = nearest(wanted, domain.tools.iter().map(|tool| &*tool.name));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let message = format!("{} has no tool `{wanted}`{near}", domain.name);
        return Err(Failure::wrong_use(message, format!("benchwright domains {name}")));
    };
    let tool = &domain.tools[at];
    output::json(&json!({
        "name": tool.name,
        "description": tool.description,
        "verb": tool.verb.word(),
        "reads_only": tool.reads_only(),
        "arguments": arguments_schema(domain, tool),
        "result": result_schema(domain, tool),
    }))?;
    Ok(())
}

/// All that a person may want to know of a domain.
fn page(domain: &Domain) -> String {
    let width = output::columns();
    let mut out = format!("{}: {}\n", domain.name, domain.title);
    out.push_str(&paragraph("", &domain.about, width));
    let _ = writeln!(out, "The agent's job: {}. The clock stands at {}.", domain.role, domain.now);
    let _ = writeln!(out, "{}", extent(domain));

    out.push_str("\nTables\n");
    for table in &domain.tables {
        let _ = writeln!(out, "  {}", table.name);
        let fields = table.fields.iter().skip(1);
        let longest = fields.clone().map(|field| field.name.len()).max().unwrap_or_default();
        for field in fields {
            let first = format!("    {:longest$}  ", field.name);
            out.push_str(&paragraph(&first, &notation::field(domain, table, field), width));
        }
    }

    if !domain.enums.is_empty() {
        out.push_str("\nWords\n");
        let longest = domain.enums.iter().map(|words| words.name.len()).max().unwrap_or_default();
        for words in &domain.enums {
            out.push_str(&paragraph(&format!("  {:longest$}  ", words.name), &words.words.join(" | "), width));
        }
    }

    out.push_str("\nTools\n");
    for verb in Verb::ALL {
        let tools = || domain.tools.iter().filter(|tool| tool.verb == verb);
        let longest = tools().map(|tool| tool.name.len()).max().unwrap_or_default();
        if longest > 0 {
            let _ = writeln!(out, "  {}", verb.word());
        }
        for tool in tools() {
            out.push_str(&paragraph(&format!("    {:longest$}  ", tool.name), &tool.description, width));
        }
    }

    out.push_str("\nRules\n");
    for rule in &domain.rules {
        let holds = match rule.by {
            By::Tool => "held by the tools",
            By::Verifier => "told, and checked at the end",
        };
        let on: Vec<&str> = rule.on.iter().map(|(table, _)| &*domain.table(*table).name).collect();
        let _ = writeln!(out, "  {} (on {}; {holds})", rule.id, on.join(", "));
        out.push_str(&paragraph("    ", &rule.says, width));
    }

    out.push_str("\nRoles\n");
    let longest = domain.roles.iter().map(|role| role.name.len()).max().unwrap_or_default();
    for role in &domain.roles {
        for (at, line) in notation::access(domain, role).iter().enumerate() {
            let name = if at == 0 { &*role.name } else { "" };
            out.push_str(&paragraph(&format!("  {name:longest$}  "), line, width));
        }
    }
    out
}
