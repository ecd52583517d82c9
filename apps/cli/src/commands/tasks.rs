//! `benchwright tasks`: the tasks of a folder, a line each.

use crate::{
    failure::Failure,
    layout::{columns, counted, cut},
    output,
};
use benchwright_pack::{OPEN_TREE, Store};
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// How much of an instruction's first line stands in a list.
const ABOUT: usize = 60;

/// Lists the tasks of a folder: the world of each, and what it is about
#[derive(clap::Args)]
#[command(after_long_help = "\
Only the open parts are read. With --reveal it is told too what each was made from.

Examples:
  benchwright tasks demo
  benchwright tasks out --reveal --json

Keys of --json, a list:
  task, world, about; with --reveal also pattern, tier, objective, seed, digest")]
pub(crate) struct Options {
    /// The folder of tasks
    #[arg(value_name = "DIR")]
    tasks: PathBuf,
    /// Tells what each was made from
    #[arg(long)]
    reveal: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// A task of a folder.
struct Line {
    id: String,
    world: String,
    about: String,
    /// What it was made from, if that may be told: pattern, tier, objective, seed, and the digest of the task.
    made: Option<(String, String, String, u64, String)>,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = options.tasks.display();
    if !options.tasks.join(OPEN_TREE).is_dir() {
        let next = "the folder DIR that holds DIR/open; `benchwright new` and `benchwright build` make some";
        return Err(Failure::wrong_use(format!("{folder} holds no tasks"), next));
    }
    let store = Store::at(&options.tasks);
    let lines =
        store.ids()?.into_iter().map(|id| line(&store, id, options.reveal)).collect::<anyhow::Result<Vec<_>>>()?;
    output::either(options.json, || lines.iter().map(told).collect(), || table(&lines, options.reveal))?;
    if let Some(first) = lines.first().filter(|_| !options.json) {
        eprintln!("{}; one of them: benchwright show {folder}/{}", counted(lines.len(), "task"), first.id);
    }
    Ok(())
}

fn line(store: &Store, id: String, reveal: bool) -> anyhow::Result<Line> {
    let part = store.open_part(&id)?;
    let headings = part.instruction.lines().map(|line| line.trim_start_matches('#').trim());
    let about = headings.into_iter().find(|line| !line.is_empty()).unwrap_or_default().to_owned();
    let made = match reveal {
        false => None,
        true => {
            let task = store.task(&id)?;
            let digest = task.digest().to_string();
            let sealed = task.sealed;
            Some((sealed.pattern, sealed.tier, sealed.objective, sealed.seed, digest))
        }
    };
    Ok(Line { id, world: part.open.domain, about, made })
}

fn told(line: &Line) -> Json {
    let mut told = json!({"task": line.id, "world": line.world, "about": line.about});
    if let Some((pattern, tier, objective, seed, digest)) = &line.made {
        told["pattern"] = json!(pattern);
        told["tier"] = json!(tier);
        told["objective"] = json!(objective);
        told["seed"] = json!(seed);
        told["digest"] = json!(digest);
    }
    told
}

fn table(lines: &[Line], reveal: bool) -> String {
    let mut head = vec!["task", "world", "about"];
    if reveal {
        head.insert(2, "made from");
    }
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for line in lines {
        let mut row = vec![line.id.clone(), line.world.clone(), cut(&line.about, ABOUT)];
        if let Some((pattern, tier, objective, seed, _)) = &line.made {
            row.insert(2, format!("{pattern} {tier} {objective} seed {seed}"));
        }
        rows.push(row);
    }
    columns(&rows, &[], 0)
}
