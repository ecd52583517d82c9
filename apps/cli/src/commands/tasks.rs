//! `benchwright tasks`: the tasks of a folder, a line each.

use crate::{failure::Failure, layout::counted, output};
use benchwright_pack::{OPEN_TREE, Store};
use benchwright_workshop::listed::{self, Listed};
use std::path::PathBuf;

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

/// Runs the command.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = options.tasks.display();
    if !options.tasks.join(OPEN_TREE).is_dir() {
        let next = "the folder DIR that holds DIR/open; `benchwright new` and `benchwright build` make some";
        return Err(Failure::wrong_use(format!("{folder} holds no tasks"), next));
    }
    let store = Store::at(&options.tasks);
    let lines = Listed::all(&store, options.reveal)?;
    output::either(options.json, || lines.iter().map(Listed::to_json).collect(), || listed::tasks(&lines))?;
    if let Some(first) = lines.first().filter(|_| !options.json) {
        eprintln!("{}; one of them: benchwright show {folder}/{}", counted(lines.len(), "task"), first.id);
    }
    Ok(())
}
