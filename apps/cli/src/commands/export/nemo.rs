//! `benchwright export nemo`: tasks as rows for the wire of `serve --nemo`.

use super::write_new;
use crate::{failure::Failure, layout::counted, progress::Progress};
use benchwright_catalog::Catalog;
use benchwright_pack::Store;
use benchwright_workshop::{
    nemo,
    play::{Offer, Tasks},
};
use std::path::PathBuf;

/// Rows that NeMo Gym and verifiers read: one line of JSON a task, for `serve --nemo`
#[derive(clap::Args)]
#[command(after_long_help = "\
A row has what a model is asked and the tools that it is offered, and nothing sealed. Which tools the work needs is found by
working on each task, so `oracle` reads the sealed parts; the list of a whole ERP costs 37,000 tokens a turn.

Example:
  benchwright export nemo out -o rows.jsonl --tools oracle+5 && benchwright serve out --grade --nemo")]
pub(super) struct Options {
    /// A folder of tasks
    #[arg(value_name = "DIR")]
    tasks: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The tools that are offered: all, oracle (what the work needs) or oracle+N (and N that look alike)
    #[arg(long, value_name = "OFFER", default_value = "oracle+5")]
    tools: String,
}

/// Runs the command.
pub(super) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let offer = Offer::parse(&options.tools)?;
    let tasks = Tasks::open(catalog, Store::at(&options.tasks), offer != Offer::All);
    let ids = tasks.ids()?;
    let progress = Progress::of(format!("writing {}", options.output.display()), ids.len());
    let mut lines = String::new();
    for id in &ids {
        let task = tasks.task(id)?;
        let row = nemo::row(&task, &*tasks.tools(&task, &offer)?);
        let row = row.map_err(|error| Failure::falls_short(error, "--tools oracle, or another suite"))?;
        lines.push_str(&format!("{row}\n"));
        progress.advance();
    }
    write_new(&options.output, lines.as_bytes())?;
    drop(progress);
    eprintln!("wrote {}: {}, {} bytes", options.output.display(), counted(ids.len(), "row"), lines.len());
    Ok(())
}
