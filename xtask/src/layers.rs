//! Which crate may see which. The table of rows and the bans stand here and nowhere else; a crate that is not in the table
//! is a fault. Dev-dependencies are free, but for `testkit`, which stands only there. Within a crate of a domain or family no
//! files use each other in a circle (`modules.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{Fault, Outcome};

/// This file, for faults whose mend is an entry here.
const TABLE: &str = "xtask/src/layers.rs";

/// The rows from bottom to top: a name, the crates, and what only this row does. A crate sees lower rows only. `domain-*`
/// stands for every crate of a domain or part, `family-*` for every family, `outsider-*` for whoever reads one from outside. `testkit` has a row of its own below the shells, and so has `cloud`, which no library sees.
pub(crate) const ROWS: &[(&str, &[&str], &str)] = &[
    ("language", &["base"], ""),
    ("language", &["expr"], ""),
    ("language", &["schema"], "a domain; one expression tree; values"),
    (
        "documents",
        &["spec", "pack", "world", "draw", "files"],
        "candidate rows and plans; documents; the traits of worlds; drawings; tables in files",
    ),
    ("calls", &["calls"], "random calls, for whoever attacks, plays or compares"),
    (
        "engines",
        &["solve", "sandbox", "odoo", "query"],
        "the solvers; the world in memory; a real Odoo; records asked in SQL",
    ),
    ("outsiders", &["outsider-*"], "read and solve a family's tasks with nothing but text and tools"),
    ("domains", &["domain-*"], "the code of a domain's tools, where it has some"),
    ("projections", &["project", "grade"], "pure: a case becomes a task; a state becomes a verdict"),
    ("families", &["family-*"], "workflows: cases, rules, briefs, plans as calls"),
    (
        "derivations",
        &["derive", "inject"],
        "a scenario becomes a task: what is asked for, and nothing else, is written; hostile text planted",
    ),
    ("content", &["catalog"], "finds domains, families and patterns; knows their code"),
    ("proof", &["audit"], "attacks every task before anybody sees it"),
    (
        "storage",
        &["columns", "depot"],
        "flat tables by their columns, as Parquet; files by name, in a folder or elsewhere",
    ),
    ("edges", &["serve", "run", "report", "export"], "formats, wires, the ledger, agents and pages only here"),
    ("workshop", &["workshop"], "makes, audits, streams, hosts and runs, for any program"),
    (
        "measures",
        &["bench", "conformance", "fuzz"],
        "how fast it is; how true the embedded ERP is to a real one; what its readers bear",
    ),
    ("tests", &["testkit"], "harnesses, only ever a dev-dependency"),
    ("services", &["cloud"], "a depot in a bucket, for shells only"),
    ("shells", &["cli", "py"], "anyhow, arguments, stdout and exit codes only here; the module for Python"),
    ("tools", &["xtask"], "checks the house from outside"),
];

/// The edges inside one row that are allowed.
pub(crate) const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("world", "pack", "the trait's snapshot and refusals are documents of `pack`"),
    ("py", "cli", "the library in a wheel is the program too"),
];

/// What a crate must not reach, not even through another crate.
const APART: &[(&str, &str, &str)] = &[
    ("grade", "solve", "the judge and the solver share data types only"),
    ("grade", "spec", "the sealed verifier carries all that the judge needs"),
    ("project", "solve", "a projection is a pure function of what was solved"),
    ("domain-*", "spec", "the code of a tool knows no plan"),
    ("domain-*", "solve", "the code of a tool knows no plan"),
    ("domain-*", "odoo", "the embedded world does not ask the real one"),
    ("family-*", "sandbox", "a family tells a world as rows and a plan as calls, and runs neither"),
    ("family-*", "solve", "a family is handed a planner"),
];

/// The only crates of the house that some may depend on, tests included. What they may name of these is held by `outsiders.rs`.
const ONLY: &[(&str, &[&str], &str)] =
    &[("outsider-*", &["base", "world", "solve"], "an outsider sees neither families nor plans")];

/// An outside crate, with its family (`tokio` is `tokio-stream` too), and where it may stand.
struct Ban {
    family: &'static str,
    allowed: fn(row: &str, name: &str) -> bool,
    dev_too: bool,
    reason: &'static str,
}

const BANS: &[Ban] = &[
    Ban {
        family: "tokio",
        allowed: outer,
        dev_too: false,
        reason: "worlds are synchronous; only edges and shells wait",
    },
    Ban {
        family: "rusqlite",
        allowed: |row, name| outer(row, name) || name == "query",
        dev_too: false,
        reason: "file formats belong to edges and shells; a world lives in `sandbox`; a second reader in `query`",
    },
    Ban { family: "arrow", allowed: outer, dev_too: false, reason: "file formats belong to edges and shells" },
    Ban {
        family: "parquet",
        allowed: |row, name| outer(row, name) || name == "columns",
        dev_too: false,
        reason: "file formats belong to edges and shells",
    },
    Ban {
        family: "calamine",
        allowed: |_, name| name == "files",
        dev_too: false,
        reason: "tables in files are read and written by `files`, within limits",
    },
    Ban {
        family: "csv",
        allowed: |_, name| name == "files",
        dev_too: false,
        reason: "tables in files are read and written by `files`, within limits",
    },
    Ban {
        family: "rust_xlsxwriter",
        allowed: |_, name| name == "files",
        dev_too: false,
        reason: "tables in files are read and written by `files`, within limits",
    },
    Ban {
        family: "anyhow",
        allowed: |row, _| matches!(row, "shells" | "tools"),
        dev_too: false,
        reason: "libraries have typed errors (`thiserror`); only shells and xtask use `anyhow`",
    },
    Ban {
        family: "tracing",
        allowed: outer,
        dev_too: false,
        reason: "what every call and every grade passes through reports nothing",
    },
    Ban {
        family: "tracing-subscriber",
        allowed: |row, _| row == "shells",
        dev_too: false,
        reason: "libraries report; only a program says who listens",
    },
    Ban {
        family: "rand",
        allowed: |_, _| false,
        dev_too: true,
        reason: "random streams are `base::Stream`, so that the same seed gives the same bytes",
    },
    Ban { family: "serde", allowed: derives, dev_too: false, reason: "an expression has one form on disk, its text" },
    Ban {
        family: "serde_derive",
        allowed: derives,
        dev_too: false,
        reason: "an expression has one form on disk, its text",
    },
];

/// Edges and what stands above them.
fn outer(row: &str, _: &str) -> bool {
    matches!(row, "edges" | "workshop" | "measures" | "services" | "shells")
}

/// Where types may derive their form on disk: base, schema, documents and above.
fn derives(row: &str, name: &str) -> bool {
    row != "language" || matches!(name, "base" | "schema")
}

impl Ban {
    /// `serde_json` is not of the family `serde`: it derives nothing. `rand_core` is of the family `rand`.
    fn names(&self, package: &str) -> bool {
        match package.strip_prefix(self.family) {
            Some("") => true,
            Some(rest) => rest.starts_with('-') || (self.family != "serde" && rest.starts_with('_')),
            None => false,
        }
    }
}

/// In which section of a Cargo.toml a dependency stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Section {
    Normal,
    Build,
    Dev,
}

struct Dependency {
    package: String,
    section: Section,
    line: usize,
}

struct Member {
    package: String,
    manifest: String,
    dependencies: Vec<Dependency>,
}

/// Checks the workspace at this root.
pub fn run(root: &Path) -> Result<Outcome> {
    let members = read(root)?;
    let mut faults = check(&members);
    faults.extend(nobody(&members));
    faults.extend(crate::modules::check(root)?);
    faults.extend(crate::outsiders::check(root)?);
    faults.extend(crate::picture::check(root)?);
    faults.sort();
    Ok(Outcome { seen: format!("{} crates", members.len()), faults })
}

/// The names of the table that no crate has.
fn nobody(members: &[Member]) -> Vec<Fault> {
    let there: BTreeSet<&str> = members.iter().filter_map(|member| Some(class(short(&member.package)?))).collect();
    let names = ROWS.iter().flat_map(|(_, crates, _)| *crates);
    let gone = names.filter(|name| !there.contains(**name));
    gone.map(|name| Fault::new(TABLE, 1, format!("the table has `{name}`, and no crate is named so"))).collect()
}

fn read(root: &Path) -> Result<Vec<Member>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cannot start `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("`cargo metadata` did not answer in JSON")?;
    let text = |value: &Value, key: &str| match value[key].as_str() {
        Some(text) => Ok(text.to_owned()),
        None => bail!("`cargo metadata` has an entry without `{key}`"),
    };
    let mut members = Vec::new();
    for package in metadata["packages"].as_array().context("`cargo metadata` has no `packages`")? {
        let path = text(package, "manifest_path")?;
        let toml = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        let mut dependencies = Vec::new();
        for dependency in package["dependencies"].as_array().context("a package has no `dependencies`")? {
            let section = match dependency["kind"].as_str() {
                Some("dev") => Section::Dev,
                Some("build") => Section::Build,
                _ => Section::Normal,
            };
            let package = text(dependency, "name")?;
            let line = line_of(&toml, dependency["rename"].as_str().unwrap_or(&package), section);
            dependencies.push(Dependency { package, section, line });
        }
        let manifest = Path::new(&path).strip_prefix(root).unwrap_or(Path::new(&path)).display().to_string();
        members.push(Member { package: text(package, "name")?, manifest, dependencies });
    }
    Ok(members)
}

/// The line where a section of a Cargo.toml names a dependency, or the first line.
fn line_of(toml: &str, key: &str, section: Section) -> usize {
    let header = match section {
        Section::Normal => "dependencies",
        Section::Build => "build-dependencies",
        Section::Dev => "dev-dependencies",
    };
    // A header may carry a target before the section: `[target.'cfg(unix)'.dependencies]`.
    let heads = |head: &str, name: &str| head == name || head.ends_with(&format!(".{name}"));
    let mut inside = false;
    for (index, line) in toml.lines().enumerate() {
        let line = line.trim();
        if let Some(head) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
            inside = heads(head, header);
            if heads(head, &format!("{header}.{key}")) {
                return index + 1;
            }
        } else if inside && line.split([' ', '.', '=']).next() == Some(key) {
            return index + 1;
        }
    }
    1
}

/// The crate's name in the table, for a package of this workspace.
fn short(package: &str) -> Option<&str> {
    match package {
        "benchwright" => Some("cli"),
        "xtask" => Some("xtask"),
        _ => package.strip_prefix("benchwright-"),
    }
}

/// The name by which the table speaks of a crate.
fn class(name: &str) -> &str {
    match name.split_once('-') {
        Some(("domain", _)) => "domain-*",
        Some(("family", _)) => "family-*",
        Some(("outsider", _)) => "outsider-*",
        _ => name,
    }
}

/// The height and the row of a crate.
fn place(name: &str) -> Option<(usize, &'static str)> {
    let height = ROWS.iter().position(|(_, crates, _)| crates.contains(&class(name)))?;
    Some((height, ROWS[height].0))
}

fn check(members: &[Member]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for member in members {
        let Some((name, (_, row))) = short(&member.package).and_then(|name| Some((name, place(name)?))) else {
            let what = format!("`{}` has no row in the table of crates; give it one in {TABLE}", member.package);
            faults.push(Fault::new(&member.manifest, 1, what));
            continue;
        };
        for dependency in &member.dependencies {
            let wrong = match short(&dependency.package) {
                Some(other) => inner_edge(name, other, dependency.section),
                None => outside_edge(name, row, dependency),
            };
            faults.extend(wrong.map(|what| Fault::new(&member.manifest, dependency.line, what)));
        }
    }
    faults.extend(kept_apart(members));
    faults.sort();
    faults
}

/// What is wrong with an edge between two crates of the workspace.
fn inner_edge(from: &str, to: &str, section: Section) -> Option<String> {
    let (from_height, from_row) = place(from)?;
    let Some((to_height, to_row)) = place(to) else {
        return Some(format!("`{from}` sees `{to}`, which has no row in the table of crates; give it one in {TABLE}"));
    };
    if from == "xtask" {
        return Some(format!("`xtask` sees `{to}`: it checks the house from outside and sees no crate of it"));
    }
    if let Some((_, only, reason)) = ONLY.iter().find(|(name, _, _)| *name == class(from))
        && !only.contains(&to)
    {
        return Some(format!("`{from}` sees `{to}`: {reason}"));
    }
    if section == Section::Dev {
        return None;
    }
    if to == "testkit" {
        return Some(format!("`{from}` sees `testkit`, which may stand only in [dev-dependencies]"));
    }
    if to_height < from_height || EXCEPTIONS.iter().any(|(a, b, _)| (*a, *b) == (from, to)) {
        return None;
    }
    Some(if to_height == from_height {
        format!("`{from}` sees `{to}`: crates of one row ({from_row}) do not see each other")
    } else if from_row == to_row {
        format!("`{from}` sees `{to}`: the language row is ordered schema -> expr -> base")
    } else {
        format!("`{from}` ({from_row}) sees `{to}` ({to_row}): an edge points to a lower row")
    })
}

/// What is wrong with a dependency on an outside crate.
fn outside_edge(name: &str, row: &str, dependency: &Dependency) -> Option<String> {
    let package = &dependency.package;
    let ban = BANS.iter().find(|ban| {
        ban.names(package) && (ban.dev_too || dependency.section != Section::Dev) && !(ban.allowed)(row, name)
    })?;
    Some(format!("`{name}` ({row}) may not use `{package}`: {}", ban.reason))
}

/// The pairs that must not reach each other, with the way that does.
fn kept_apart(members: &[Member]) -> Vec<Fault> {
    let mut edges: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for member in members {
        let Some(from) = short(&member.package) else { continue };
        let inner = member.dependencies.iter().filter(|dependency| dependency.section != Section::Dev);
        edges.insert(from, inner.filter_map(|to| Some((short(&to.package)?, to.line))).collect());
    }
    let mut faults = Vec::new();
    for member in members {
        let Some(from) = short(&member.package) else { continue };
        for (_, to, reason) in APART.iter().filter(|(name, _, _)| *name == class(from)) {
            for (first, line) in edges.get(from).into_iter().flatten() {
                if let Some(way) = way(&edges, first, to, &mut BTreeSet::new()) {
                    let what = format!("`{from}` may not see `{to}` (here: {from} -> {way}): {reason}");
                    faults.push(Fault::new(&member.manifest, *line, what));
                }
            }
        }
    }
    faults
}

/// A way along the edges, written with arrows.
fn way<'a>(
    edges: &BTreeMap<&'a str, Vec<(&'a str, usize)>>,
    from: &'a str,
    to: &str,
    seen: &mut BTreeSet<&'a str>,
) -> Option<String> {
    if from == to {
        return Some(from.to_owned());
    }
    if !seen.insert(from) {
        return None;
    }
    let next = edges.get(from)?;
    next.iter().find_map(|(next, _)| way(edges, next, to, seen)).map(|rest| format!("{from} -> {rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph of `crate: seen seen`, where `dev:` or `build:` before a name sets its section.
    fn graph(lines: &[&str]) -> Vec<Member> {
        let package = |name: &str| match name {
            "cli" => "benchwright".to_owned(),
            "xtask" => "xtask".to_owned(),
            name if place(name).is_some() => format!("benchwright-{name}"),
            name => name.to_owned(),
        };
        let member = |line: &&str| {
            let (name, seen) = line.split_once(": ").unwrap_or((line, ""));
            let dependency = |(index, word): (usize, &str)| {
                let (section, name) = match word.split_once(':') {
                    Some(("dev", name)) => (Section::Dev, name),
                    Some(("build", name)) => (Section::Build, name),
                    _ => (Section::Normal, word),
                };
                Dependency { package: package(name), section, line: index + 1 }
            };
            let dependencies = seen.split_whitespace().enumerate().map(dependency).collect();
            Member { package: package(name), manifest: format!("{name}/Cargo.toml"), dependencies }
        };
        lines.iter().map(member).collect()
    }

    #[track_caller]
    fn holds(lines: &[&str]) {
        assert_eq!(check(&graph(lines)), []);
    }

    /// Exactly one fault, whose line of text has this part.
    #[track_caller]
    fn bites(lines: &[&str], part: &str) {
        let faults: Vec<String> = check(&graph(lines)).iter().map(ToString::to_string).collect();
        assert!(faults.len() == 1 && faults[0].contains(part), "expected one fault with `{part}`, got {faults:#?}");
    }

    #[test]
    fn the_planned_house_holds() {
        holds(&[
            "base: serde serde_json sha2",
            "expr: base thiserror",
            "schema: base expr serde toml",
            "spec: base expr schema serde",
            "pack: base schema serde",
            "world: base pack",
            "solve: spec base",
            "sandbox: world pack schema expr base dev:testkit dev:rusqlite",
            "odoo: world pack",
            "domain-csm: sandbox pack base",
            "project: spec pack",
            "grade: pack expr base",
            "family-erp: project spec serde dev:catalog",
            "catalog: sandbox project domain-csm family-erp build:schema",
            "outsider-erp: base world solve serde_json",
            "audit: catalog grade solve outsider-erp",
            "serve: audit sandbox tokio tokio-stream",
            "export: pack rusqlite arrow-array parquet",
            "testkit: export catalog sandbox base",
            "cli: serve export catalog anyhow tokio rusqlite dev:testkit",
            "xtask: anyhow serde_json",
        ]);
    }

    #[test]
    fn an_edge_upwards_is_caught() {
        bites(&["base: pack"], "base/Cargo.toml:1: `base` (language) sees `pack` (documents)");
        bites(&["sandbox: base catalog"], "sandbox/Cargo.toml:2: `sandbox` (engines) sees `catalog` (content)");
        bites(&["export: cli"], "an edge points to a lower row");
        bites(&["testkit: cli"], "an edge points to a lower row");
        bites(&["base: xtask"], "an edge points to a lower row");
    }

    #[test]
    fn a_build_dependency_is_an_edge_too() {
        bites(&["sandbox: build:catalog"], "an edge points to a lower row");
    }

    #[test]
    fn the_language_row_is_ordered() {
        bites(&["base: expr"], "the language row is ordered");
        bites(&["expr: schema"], "the language row is ordered");
    }

    #[test]
    fn crates_of_one_row_do_not_see_each_other() {
        bites(&["serve: run"], "crates of one row (edges)");
        bites(&["pack: spec"], "crates of one row (documents)");
    }

    #[test]
    fn world_sees_pack_and_not_the_other_way_round() {
        holds(&["world: pack"]);
        bites(&["pack: world"], "crates of one row (documents)");
        bites(&["world: spec"], "crates of one row (documents)");
    }

    #[test]
    fn the_judge_reaches_neither_solver_nor_spec() {
        bites(&["grade: solve"], "grade -> solve");
        bites(&["grade: spec"], "grade -> spec");
        bites(&["grade: sandbox", "sandbox: base spec"], "grade -> sandbox -> spec");
        holds(&["grade: dev:spec"]);
    }

    #[test]
    fn a_projection_does_not_see_the_solver() {
        bites(&["project: solve"], "project -> solve");
    }

    #[test]
    fn code_of_a_domain_and_a_family_keep_to_themselves() {
        bites(&["domain-csm: spec"], "domain-csm -> spec");
        bites(&["domain-csm: project"], "`domain-csm` (domains) sees `project` (projections)");
        bites(&["domain-csm: domain-hr"], "crates of one row (domains)");
        bites(&["family-erp: domain-erp", "domain-erp: sandbox"], "family-erp -> domain-erp -> sandbox");
        bites(&["family-erp: family-grid"], "crates of one row (families)");
        bites(&["sandbox: domain-csm"], "`sandbox` (engines) sees `domain-csm` (domains)");
    }

    #[test]
    fn an_outsider_sees_neither_families_nor_plans() {
        bites(
            &["outsider-erp: base schema"],
            "`outsider-erp` sees `schema`: an outsider sees neither families nor plans",
        );
        bites(&["outsider-erp: dev:family-erp"], "an outsider sees neither families nor plans");
        bites(&["outsider-erp: expr"], "an outsider sees neither families nor plans");
        bites(&["outsider-erp: grade"], "an outsider sees neither families nor plans");
        // Nor through another crate: those that it sees stand below whatever knows of plans.
        bites(&["outsider-erp: world", "world: project"], "`world` (documents) sees `project` (projections)");
    }

    #[test]
    fn a_name_of_the_table_that_no_crate_has_is_a_fault() {
        let there: Vec<&str> = ROWS.iter().flat_map(|(_, crates, _)| *crates).copied().collect();
        assert_eq!(nobody(&graph(&there)), []);
        let missing: Vec<&str> = there.into_iter().filter(|name| *name != "audit").collect();
        let faults = nobody(&graph(&missing));
        assert!(faults.len() == 1 && faults[0].what.contains("`audit`"), "{faults:?}");
    }

    #[test]
    fn testkit_stands_only_in_dev_dependencies() {
        holds(&["base: dev:testkit"]);
        bites(&["cli: testkit"], "only in [dev-dependencies]");
        bites(&["catalog: build:testkit"], "only in [dev-dependencies]");
    }

    #[test]
    fn xtask_sees_no_crate_of_the_house() {
        bites(&["xtask: base"], "sees no crate of it");
        bites(&["xtask: dev:testkit"], "sees no crate of it");
    }

    #[test]
    fn outside_crates_stand_only_where_they_may() {
        bites(&["sandbox: tokio"], "worlds are synchronous");
        bites(&["odoo: tokio-util"], "worlds are synchronous");
        bites(&["sandbox: rusqlite"], "file formats belong to edges");
        bites(&["testkit: rusqlite"], "file formats belong to edges");
        bites(&["pack: arrow"], "file formats belong to edges");
        bites(&["audit: arrow-array"], "file formats belong to edges");
        bites(&["pack: build:parquet"], "file formats belong to edges");
        bites(&["export: calamine"], "tables in files are read and written by `files`");
        bites(&["pack: rust_xlsxwriter"], "tables in files are read and written by `files`");
        bites(&["report: csv"], "tables in files are read and written by `files`");
        holds(&["files: calamine csv rust_xlsxwriter"]);
        bites(&["export: anyhow"], "libraries have typed errors");
        bites(&["testkit: anyhow"], "libraries have typed errors");
        bites(&["cli: rand"], "base::Stream");
        bites(&["base: dev:rand_chacha"], "base::Stream");
        bites(&["expr: serde"], "one form on disk");
        bites(&["expr: serde_derive"], "one form on disk");
        holds(&["expr: serde_json", "base: randomness"]);
    }

    #[test]
    fn a_crate_outside_the_table_is_a_fault_that_names_the_file_to_edit() {
        bites(&["benchwright-utils: base"], "benchwright-utils/Cargo.toml:1: `benchwright-utils` has no row");
        bites(&["stranger: base"], TABLE);
        bites(&["cli: benchwright-utils"], TABLE);
    }

    #[test]
    fn every_exception_and_ban_speaks_of_a_crate_of_the_table() {
        for (from, to, reason) in EXCEPTIONS.iter().chain(APART) {
            assert!(place(from).is_some() && place(to).is_some() && !reason.is_empty(), "{from} -> {to}");
        }
    }

    #[test]
    fn the_line_of_a_dependency_is_found() {
        let toml = "[dependencies]\na.workspace = true\nab = \"1\"\n[dev-dependencies]\nb = \"1\"\n\
                    [target.'cfg(unix)'.dependencies]\nc = \"1\"\n[build-dependencies.d]\nversion = \"1\"\n";
        assert_eq!(line_of(toml, "a", Section::Normal), 2);
        assert_eq!(line_of(toml, "ab", Section::Normal), 3);
        assert_eq!(line_of(toml, "b", Section::Dev), 5);
        assert_eq!(line_of(toml, "c", Section::Normal), 7);
        assert_eq!(line_of(toml, "d", Section::Build), 8);
        assert_eq!(line_of(toml, "b", Section::Normal), 1);
    }
}
