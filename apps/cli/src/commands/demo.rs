//! `benchwright demo`: a first look without key, container, network or solver.

use crate::{
    failure::Failure,
    layout::{columns, cut, paragraph},
    output,
    tasks::{self, Judged, shown},
    work::Temporary,
};
use benchwright_catalog::Catalog;
use benchwright_pack::{Ending, Ledger, Script, Store, Verdict};
use benchwright_project::Desk;
use benchwright_sandbox::Episode;
use benchwright_world::replay;
use serde_json::Value as Json;
use std::{fs, path::Path};

mod shipped {
    //! The files of `suites/demo`.
    include!(concat!(env!("OUT_DIR"), "/demo.rs"));
}

/// A first look: idle, greedy and oracle on five shipped tasks
#[derive(clap::Args)]
#[command(after_long_help = "\
Opens five tasks that come with the program and lets three scripted policies work on each: idle does
nothing, greedy reads the brief and the records as an agent would and takes the cheapest feasible offers, oracle
carries out the certified plan. Needs no key, no network and no solver.

Example:
  benchwright demo")]
pub(crate) struct Options {
    /// Leaves the tasks in DIR, to be looked at with `show`
    #[arg(short, long, value_name = "DIR")]
    output: Option<std::path::PathBuf>,
}

/// Writes the shipped tasks into a folder.
pub(crate) fn unpack(folder: &Path) -> anyhow::Result<Store> {
    if shipped::FILES.is_empty() {
        let message = "this program was built without suites/demo, so it has no tasks to show";
        return Err(Failure::missing(message, "benchwright build suites/erp-300.toml -o DIR"));
    }
    for (name, bytes) in shipped::FILES {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, bytes)?;
    }
    Ok(Store::at(folder))
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let (folder, kept) = match &options.output {
        Some(folder) => {
            crate::suites::check_empty(folder)?;
            (None, folder.clone())
        }
        None => {
            let folder = Temporary::new()?;
            let path = folder.path().to_owned();
            (Some(folder), path)
        }
    };
    let store = unpack(&kept)?;
    let mut rows = vec![["task", "workflow", "idle", "greedy", "oracle"].map(str::to_owned).to_vec()];
    let mut reasons = String::new();
    for id in store.ids().map_err(tasks::of_store)? {
        let (row, why) = one(catalog, &store, &id)?;
        reasons.push_str(&paragraph(&format!("  {id}  "), &why, output::columns()));
        rows.push(row);
    }
    drop(folder);
    let table = columns(&rows, &[2, 3, 4], 0);
    output::data(&format!("{table}\nWhy greedy fell short:\n{reasons}"))?;
    match &options.output {
        Some(folder) => eprintln!("next: benchwright show {}/open/ID --reveal", folder.display()),
        None => eprintln!("next: benchwright demo -o demo && benchwright show demo/open/ID --reveal"),
    }
    Ok(())
}

/// The three policies on one task: its row of the table, and why greedy fell short.
fn one(catalog: &Catalog, store: &Store, id: &str) -> anyhow::Result<(Vec<String>, String)> {
    let task = store.task(id).map_err(tasks::of_store)?;
    let judged = Judged::open(catalog, &task)?;
    let pattern = catalog.pattern(&task.sealed.pattern).map_err(|e| Failure::of_catalog(e, &task.sealed.pattern))?;
    let grader = judged.grader()?;
    let idle = grader.grade(&judged.first)?;
    let oracle = grader.grade(&judged.play(&task.sealed.oracle)?)?;
    let (greedy, why) = match greedy(&judged) {
        Ok((state, refusal)) => {
            let verdict = grader.grade(&state)?;
            let why = refusal.unwrap_or_else(|| shortfall(&verdict, &task.sealed.verifier));
            (shown(verdict.reward), why)
        }
        Err(why) => ("-".to_owned(), why),
    };
    let title = cut(&pattern.text.title, 60);
    Ok((vec![id.to_owned(), title, shown(idle.reward), greedy, shown(oracle.reward)], why))
}

/// The state that greedy leaves, and what it was refused, if it was. All it knows comes from the instruction and the tools
/// that read.
fn greedy(judged: &Judged<'_>) -> Result<(benchwright_pack::Snapshot, Option<String>), String> {
    let episode = judged.begin().map_err(|error| error.to_string())?;
    let mut desk = Reads { episode };
    let case = judged.family.read_back(&judged.task.instruction, &mut desk)?;
    let mut ledger = Ledger::new(judged.family.addresses(&case, &mut desk)?);
    let plan = judged.family.greedy(&case)?;
    let script: Script = judged.family.script(&case, &plan)?;
    let mut episode = judged.begin().map_err(|error| error.to_string())?;
    let refusal = replay(&script, &mut ledger, &mut episode).err();
    Ok((episode.snapshot(), refusal.map(|error| error.to_string())))
}

/// A desk at which one can only read.
struct Reads {
    episode: Episode,
}

impl Desk for Reads {
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, String> {
        let known = self.episode.domain().tools.iter().find(|known| known.name == tool);
        if known.is_none_or(|known| !known.reads_only()) {
            return Err(format!("`{tool}` is no tool that only reads"));
        }
        let answer = self.episode.call(tool, &arguments.to_string()).map_err(|refusal| refusal.to_string())?;
        serde_json::from_str(&answer).map_err(|error| error.to_string())
    }
}

/// What a verdict lacks, in words.
fn shortfall(verdict: &Verdict, verifier: &benchwright_pack::Verifier) -> String {
    if verdict.ending == Ending::Pass {
        return "it did not".to_owned();
    }
    let failed = verdict.failed();
    if !failed.is_empty() {
        let first = verifier.plan.rules.get(failed[0]).map_or("", |rule| &*rule.code);
        let more = if failed.len() > 1 { format!(" and {} more", failed.len() - 1) } else { String::new() };
        return format!("it breaks {} ({first}){more}", failed[0]);
    }
    let units = verifier.plan.objectives.get(&verifier.objective).map_or(&[][..], |known| &known.phases);
    match verdict.phases.iter().zip(units).find(|(phase, _)| !phase.within) {
        Some((phase, text)) => {
            let amount = |value: i64| match text.unit {
                100 => format!("{}.{:02}", value / 100, value % 100),
                _ => value.to_string(),
            };
            let value = phase.value.map_or("nothing".to_owned(), amount);
            format!("{}: {value}, where {} is possible", phase.name, amount(phase.best))
        }
        None if !verdict.gates.is_empty() => format!("the gate {} fired", verdict.gates.join(", ")),
        None => "it could not be judged".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::shipped;

    #[test]
    fn what_is_shipped_is_small() {
        let bytes: usize = shipped::FILES.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(bytes < 1 << 20, "{bytes} bytes");
        let tasks = shipped::FILES.iter().filter(|(name, _)| name.ends_with("/task.json")).count();
        assert!(tasks == 5 || shipped::FILES.is_empty(), "{tasks} tasks");
    }
}
