//! `benchwright commit`, `reveal` and `verify`: suites with secret seeds that anyone can check afterwards.

use super::build;
use crate::output;
use benchwright_pack::{Commitment, Revealed, store};
use benchwright_workshop::{Catalog, Workshop, contest};
use std::path::PathBuf;

/// Commits to a suite with secret seeds
#[derive(clap::Args)]
#[command(after_long_help = "\
As many tasks of each pattern, tier and objective as SUITE has, from seeds that come from the key. DIR/commitment.json is
to be published before anybody is measured; DIR/secret/suite.toml is kept, and `build` makes its tasks. The same suite
and key give the same bytes. docs/contest.md tells how to run a contest with it.

Example:
  benchwright commit erp-300 --key contest.key -o contest")]
pub(crate) struct CommitOptions {
    /// The lock file whose counts are taken, or the name of a suite that comes with the program
    #[arg(value_name = "SUITE.toml|NAME")]
    suite: PathBuf,
    /// The file of the key: made if it is not there, never replaced
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// How many worker processes [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// Opens a commitment, or shows that one task is in it
#[derive(clap::Args)]
#[command(after_long_help = "\
With --key the whole suite is opened: whoever has the file can make every task with its oracle. With --task a proof for
one task is written, which tells neither the key nor anything of the others.

Examples:
  benchwright reveal contest --key contest.key -o opening.json
  benchwright reveal contest --task erp-0123456789 -o proof.json")]
pub(crate) struct RevealOptions {
    /// The folder that `commit` has written
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The file of the key
    #[arg(long, value_name = "FILE", required_unless_present = "task", conflicts_with = "task")]
    key: Option<PathBuf>,
    /// The id of a task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Holds an opening or a proof to its commitment
#[derive(clap::Args)]
#[command(after_long_help = "\
Of an opening every task is made again from the key and must be the committed one. The exit code is 1 if something is not
as it was committed, with a line for each: key, count, seed changed, task exchanged, missing, additional, twice, passed
over, not made, root, version, another tree, empty.

Examples:
  benchwright verify commitment.json opening.json --run runs/2026-11-15T090000-tasks
  benchwright verify commitment.json proof.json --tasks tasks")]
pub(crate) struct VerifyOptions {
    /// The commitment that was published
    commitment: PathBuf,
    /// What `reveal` has written
    revealed: PathBuf,
    /// The folder of a run whose tasks must be the committed ones
    #[arg(long, value_name = "RUNS/RUN")]
    run: Option<PathBuf>,
    /// A folder whose tasks must be the committed ones
    #[arg(long, value_name = "DIR")]
    tasks: Option<PathBuf>,
    /// How many worker processes [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// Runs `commit`.
pub(crate) fn commit(workshop: &Workshop, options: &CommitOptions) -> anyhow::Result<()> {
    let suite = build::read(&options.suite)?;
    let (key, is_new) = contest::key_at(&options.key)?;
    eprintln!("{} the key {}", if is_new { "made" } else { "found" }, options.key.display());
    let committed = contest::commit(&workshop.clone().with_jobs(options.jobs), &suite, &key)?;
    let [public, kept] = contest::write(&committed, &options.output)?.map(|path| path.display().to_string());
    eprintln!("publish {public}; keep {kept} and the key\nnext: benchwright build {kept} -o DIR");
    Ok(output::data(&format!("{committed}\n"))?)
}

/// Runs `reveal`.
pub(crate) fn reveal(catalog: &Catalog, options: &RevealOptions) -> anyhow::Result<()> {
    let revealed = contest::reveal(catalog, &options.folder, options.key.as_deref(), options.task.as_deref())?;
    Ok(store::write_once(&options.output, &revealed.to_bytes())?)
}

/// Runs `verify`.
pub(crate) fn verify(workshop: &Workshop, options: &VerifyOptions) -> anyhow::Result<()> {
    let (commitment, revealed) = (Commitment::read(&options.commitment)?, Revealed::read(&options.revealed)?);
    let claims = contest::claims(options.run.as_deref(), options.tasks.as_deref(), &revealed)?;
    let workshop = workshop.clone().with_jobs(options.jobs);
    Ok(output::data(&format!("{}\n", contest::verify(&workshop, &commitment, &revealed, &claims)?))?)
}
