//! `benchwright export`: worlds, tasks, rows and logs for other programs.

mod harbor;
mod logs;
mod nemo;
mod rows;

use crate::{
    failure::Failure,
    layout::counted,
    progress::Progress,
    worlds::{self, Filling},
};
use benchwright_catalog::Catalog;
use benchwright_export::ExportError;
use benchwright_pack::Store;
use benchwright_workshop::{Workshop, suites};
use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Writes worlds, tasks, rows for training and logs of runs for other programs
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  benchwright export sqlite csm -o csm.sqlite
  benchwright export sqlite saved.json -o saved.sqlite
  benchwright export snapshot csm --size medium --seed 7 -o csm.json
  benchwright export parquet out -o shards
  benchwright export picture csm+itsm -o tables.svg
  benchwright export harbor out -o tasks --image localhost/benchwright@sha256:DIGEST
  benchwright export sft out -o rows
  benchwright export inspect RUN -o run.eval")]
pub(crate) struct Options {
    #[command(subcommand)]
    form: Form,
}

#[derive(clap::Subcommand)]
enum Form {
    /// A SQLite file: a table per table, references as foreign keys
    #[command(after_long_help = "\
Every table is strict and has its foreign keys, unique keys and checks. Money is in minor units,
quantities are in thousandths, durations in seconds; days, instants and times of day are ISO text.
Names are as declared, so some need quotes: SELECT * FROM \"order\". The table _benchwright says what
the file was made from. A file that is there already is left alone.

Example:
  benchwright export sqlite csm -o csm.sqlite && sqlite3 csm.sqlite .tables")]
    Sqlite(Target),
    /// A snapshot: the canonical JSON of a whole state, which `play` opens again
    #[command(after_long_help = "\
Equal states have equal bytes. A file that is there already is left alone.

Example:
  benchwright export snapshot csm --seed 7 -o csm.json && benchwright play csm.json")]
    Snapshot(Target),
    /// Parquet shards: one row a task, the sealed parts in a tree of their own
    #[command(after_long_help = "\
Reads a folder that `new` or `build` wrote, checks every digest, and writes OUT/open/part-N.parquet (id,
instruction, world, task) and OUT/sealed/part-N.parquet (id, digest, sealed, audit), in the order of the
lock file, compressed with zstd.

Example:
  benchwright export parquet out -o shards")]
    Parquet(Shards),
    /// A picture of a world's tables and references, as SVG
    #[command(after_long_help = "\
A panel for each domain. What many tables refer to is shown by coloured dots. A file that is there
already is left alone.

Example:
  benchwright export picture csm+itsm -o tables.svg")]
    Picture(Drawing),
    Harbor(harbor::Options),
    Nemo(nemo::Options),
    Sft(rows::SftOptions),
    Preferences(rows::PreferenceOptions),
    Inspect(logs::InspectOptions),
    Atif(logs::AtifOptions),
    Trials(logs::TrialOptions),
}

#[derive(clap::Args)]
struct Drawing {
    /// A domain, by its name or the path to its folder, or several joined, such as csm+itsm
    #[arg(value_name = "DOMAIN")]
    what: String,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(clap::Args)]
struct Shards {
    /// A folder of tasks
    #[arg(value_name = "DIR")]
    tasks: PathBuf,
    /// The folder to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The tasks of one shard
    #[arg(long, value_name = "N", default_value_t = 1000)]
    shard: usize,
}

#[derive(clap::Args)]
struct Target {
    /// A domain, by its name or the path to its folder, several joined, such as csm+itsm, or a snapshot file
    #[arg(value_name = "DOMAIN|SNAPSHOT")]
    what: String,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    filling: Filling,
}

/// Runs the command.
pub(crate) fn run(workshop: &Workshop, options: &Options) -> anyhow::Result<()> {
    let catalog = workshop.catalog();
    match &options.form {
        Form::Sqlite(target) => sqlite(catalog, target),
        Form::Snapshot(target) => snapshot(catalog, target),
        Form::Parquet(shards) => parquet(shards),
        Form::Picture(drawing) => picture(catalog, drawing),
        Form::Harbor(options) => harbor::run(catalog, options),
        Form::Nemo(options) => nemo::run(catalog, options),
        Form::Sft(options) => rows::sft(workshop, options),
        Form::Preferences(options) => rows::preferences(workshop, options),
        Form::Inspect(options) => logs::inspect(workshop, options),
        Form::Atif(options) => logs::atif(workshop, options),
        Form::Trials(options) => logs::trials(workshop, options),
    }
}

fn sqlite(catalog: &Catalog, target: &Target) -> anyhow::Result<()> {
    let opened = worlds::open(catalog, &target.what, &target.filling)?;
    let _progress = Progress::start(format!("writing {}", target.output.display()));
    let snapshot = worlds::look(&opened.sandbox)?.snapshot();
    let written = benchwright_export::sqlite(opened.sandbox.domain(), &snapshot, &target.output);
    let summary = written.map_err(|error| match &error {
        ExportError::AlreadyThere(path) => already_there(path),
        ExportError::Io { .. } | ExportError::Sqlite(_) => {
            Failure::missing(&error, "another file with -o, in a folder that can be written to")
        }
        _ => Failure::falls_short(&error, "benchwright export snapshot DOMAIN -o FILE"),
    })?;
    let (tables, rows) = (counted(summary.tables, "table"), counted(summary.rows, "row"));
    eprintln!("wrote {}: {tables}, {rows}, {} bytes", target.output.display(), summary.bytes);
    Ok(())
}

fn snapshot(catalog: &Catalog, target: &Target) -> anyhow::Result<()> {
    let opened = worlds::open(catalog, &target.what, &target.filling)?;
    let episode = worlds::look(&opened.sandbox)?;
    let bytes = episode.snapshot_bytes();
    write_new(&target.output, &bytes)?;
    let rows = counted(episode.row_count(), "row");
    eprintln!("wrote {}: {rows}, {} bytes", target.output.display(), bytes.len());
    Ok(())
}

fn parquet(shards: &Shards) -> anyhow::Result<()> {
    suites::check_empty(&shards.output)?;
    let store = Store::at(&shards.tasks);
    let _progress = Progress::start(format!("writing {}", shards.output.display()));
    let written = benchwright_export::parquet(&store, &shards.output, shards.shard);
    let summary = written.map_err(|error| match error {
        ExportError::Store(error) => error.into(),
        ExportError::AlreadyThere(path) => already_there(&path),
        error @ ExportError::Io { .. } => Failure::missing(error, "another folder with -o"),
        error => Failure::falls_short(error, "benchwright audit DIR"),
    })?;
    let (tasks, files) = (counted(summary.tasks, "task"), counted(summary.shards, "shard"));
    eprintln!("wrote {}: {tasks} in {files}, {} bytes", shards.output.display(), summary.bytes);
    Ok(())
}

fn picture(catalog: &Catalog, drawing: &Drawing) -> anyhow::Result<()> {
    let found = catalog.find(&drawing.what).map_err(|error| Failure::of_catalog(error, &drawing.what))?;
    let svg = benchwright_export::picture(&found.domain);
    write_new(&drawing.output, svg.as_bytes())?;
    let tables = counted(found.domain.tables.len(), "table");
    eprintln!("wrote {}: {tables}, {} bytes", drawing.output.display(), svg.len());
    Ok(())
}

/// Writes a file that is not there yet.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let opened = fs::File::create_new(path);
    match opened.and_then(|mut file| file.write_all(bytes)) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(already_there(path)),
        Err(error) => {
            let next = "another file, in a folder that can be written to";
            Err(Failure::missing(format!("{}: {error}", path.display()), next))
        }
    }
}

fn already_there(path: &Path) -> anyhow::Error {
    Failure::wrong_use(format!("{} is there already", path.display()), "another name, or remove it first")
}
