//! `benchwright check`: whether what an author works on is sound, with every fault at its place.

use crate::{
    failure::Failure,
    layout::{columns, counted},
    output,
};
use benchwright_base::Diagnostic;
use benchwright_catalog::{Catalog, Checked};
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// Checks domains, patterns, parts, joined worlds, plans and suites, with every fault at its place
#[derive(clap::Args)]
#[command(after_long_help = "\
PATH is the folder of a domain, a pattern or a part, one of their files, a file of domains/_joined, a plan.toml,
a suite, or a folder that holds any of these. Nothing is built and nothing has to be: all is read from disk. The
exit code is 0 if there is no fault, 1 if there is one, and 2 if there is nothing to check.

Examples:
  benchwright check domains patterns suites
  benchwright check ./my-pattern

Keys of --json, a list with an entry for each thing that was checked:
  path, kind (domain, pattern, part, joined, plan or suite), ok, faults [{file, line, column, message, help}]")]
pub(crate) struct Options {
    /// Folders and files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let mut checked: Vec<Checked> = Vec::new();
    for path in &options.paths {
        let shown = path.display().to_string();
        let found = catalog.check(path).map_err(|error| Failure::of_catalog(error, &shown))?;
        if found.is_empty() {
            let message = format!("{shown} holds no domain, pattern, part, joined world, plan or suite");
            return Err(Failure::wrong_use(message, "benchwright check --help"));
        }
        checked.extend(found.into_iter().filter(|thing| !checked.contains(thing)).collect::<Vec<_>>());
    }
    output::either(options.json, || checked.iter().map(to_json).collect(), || to_text(&checked))?;
    let faults: usize = checked.iter().map(|thing| thing.faults.len()).sum();
    let Some(first) = checked.iter().find(|thing| !thing.faults.is_empty()) else { return Ok(()) };
    let next = format!("mend the faults, then: benchwright check {}", first.path.display());
    Err(Failure::falls_short(counted(faults, "fault"), next))
}

fn to_json(checked: &Checked) -> Json {
    let fault = |fault: &Diagnostic| {
        let Diagnostic { file, line, column, message, help } = fault;
        json!({ "file": file, "line": line, "column": column, "message": message, "help": help })
    };
    json!({
        "path": checked.path.display().to_string(),
        "kind": checked.kind.to_string(),
        "ok": checked.faults.is_empty(),
        "faults": checked.faults.iter().map(fault).collect::<Vec<_>>(),
    })
}

/// The faults, each with its file, and then a line for each thing.
fn to_text(checked: &[Checked]) -> String {
    let faults = checked.iter().flat_map(|thing| &thing.faults).map(|fault| format!("{fault}\n")).collect::<String>();
    let line = |thing: &Checked| {
        let state = match thing.faults.len() {
            0 => "ok".to_owned(),
            faults => counted(faults, "fault"),
        };
        vec![thing.kind.to_string(), thing.path.display().to_string(), state]
    };
    let rows: Vec<Vec<String>> = checked.iter().map(line).collect();
    faults + &columns(&rows, &[], 0)
}
