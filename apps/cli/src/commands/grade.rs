//! `benchwright grade`: the verdict on a terminal state.

use super::export::write_new;
use crate::{failure::Failure, output, tasks};
use benchwright_catalog::Catalog;
use benchwright_pack::{
    Ending, LARGEST_SNAPSHOT, LARGEST_UNPACKED, Snapshot, Store, Task, Trace, Verdict, read_packed,
};
use benchwright_serve::read_collected;
use benchwright_workshop::{host::StoreHost, tasks::Judged, told, workspaces};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What a state is taken from.
const SNAPSHOT: &str = "the snapshot of an episode of this task";

/// Judges the state that was left of a task
#[derive(clap::Args)]
#[command(after_long_help = "\
Needs the sealed part of the task with the lock file of its folder, or --digest, and no solver. The exit code is 0 if the
task passes and 1 if it does not; a state of another task gets no verdict, and the exit code is 2.

With --submission, the files of a folder are handed in first, FORM.csv or FORM.json for each form, in order of names; for several
stages they stand in DIR/stage-1, DIR/stage-2. At most 20 plain files and 2 MiB are read of each. What is refused is told, and
the rest is judged.

Of a folder that `benchwright collect` wrote, the calls are made again and must lead to the state that was left. With
--rewards, reward.json ({\"reward\": 0 or 1}) and verdict.json (all that --json prints) are written into a folder, as Harbor
reads them; where there is no verdict, no reward is written.

Examples:
  benchwright grade out/open/ID last.json
  benchwright grade out/open/ID collected --rewards /logs/verifier
  benchwright grade out/open/ID --submission work/submission
  benchwright grade out/open/ID runs/NAME/trials/000001/snapshot.json.gz

Keys of --json:
  ending (pass, fail, error), reward and scores from 0 to 1, gates, phases, checks, alarm, paper_pass;
  of a collected folder also callers, the users that called, and as_root;
  with --submission also submission, its files, each with what it was refused for")]
pub(crate) struct Options {
    /// The folder of its open part, DIR/open/ID, or DIR/ID
    #[arg(value_name = "TASK")]
    task: PathBuf,
    /// The state that was left: a snapshot, as it is or packed (.gz), or a folder that `collect` wrote
    #[arg(value_name = "SNAPSHOT", required_unless_present = "submission")]
    snapshot: Option<PathBuf>,
    /// Hands in the files of a folder, and judges what that leads to
    #[arg(long, value_name = "DIR", conflicts_with = "snapshot")]
    submission: Option<PathBuf>,
    /// Refuses a task of another digest
    #[arg(long, value_name = "SHA256")]
    digest: Option<String>,
    /// Writes reward.json and verdict.json into a folder
    #[arg(long, value_name = "DIR")]
    rewards: Option<PathBuf>,
    /// Writes the graded reward, from 0 to 1, instead of 0 or 1
    #[arg(long, requires = "rewards")]
    graded: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let (store, id) = tasks::locate(&options.task)?;
    // Who names the digest needs no lock file.
    let store = if options.digest.is_some() { Store::held_elsewhere(store.root()) } else { store };
    let task = store.task(&id)?;
    if options.digest.as_ref().is_some_and(|digest| *digest != task.digest().to_string()) {
        let next = "the task as it was made: benchwright build SUITE.toml -o DIR";
        return Err(Failure::wrong_use(format!("{id} is not the task of that digest"), next));
    }
    let (mut callers, mut notes) = (Vec::new(), None);
    let verdict = match (&options.snapshot, &options.submission) {
        (Some(folder), _) if folder.is_dir() => {
            let (verdict, called) = of_collected(catalog, store, &id, folder)?;
            callers = called;
            verdict
        }
        (Some(file), _) => of_snapshot(catalog, &task, file)?,
        (None, folder) => {
            let left = workspaces::submitted(catalog, store, &id, folder.as_deref().unwrap_or(Path::new(".")))?;
            left.refused().for_each(|(file, why)| eprintln!("{file} is not handed in: {why}"));
            notes = Some(serde_json::to_value(left.notes)?);
            left.verdict
        }
    };
    let mut document = serde_json::to_value(&verdict)?;
    if let Some(notes) = notes {
        document["submission"] = notes;
    }
    if let Some(told) = document.as_object_mut().filter(|_| !callers.is_empty()) {
        told.insert("as_root".to_owned(), callers.contains(&Some(0)).into());
        told.insert("callers".to_owned(), callers.clone().into());
    }
    if let Some(folder) = &options.rewards {
        let passed = f64::from(u8::from(verdict.ending == Ending::Pass));
        let reward = if options.graded { verdict.reward as f64 / 1e6 } else { passed };
        // What could not be judged has no reward, and nothing stands where one is looked for.
        if verdict.ending != Ending::Error {
            write_new(&folder.join("reward.json"), format!("{}\n", json!({ "reward": reward })).as_bytes())?;
        }
        write_new(&folder.join("verdict.json"), format!("{document}\n").as_bytes())?;
    }
    output::either(options.json, || document, || told::grade::to_table(&verdict))?;
    if callers.contains(&Some(0)) {
        eprintln!("the agent called as root: it could have changed its machine, and with it what was collected");
    }
    match verdict.ending {
        Ending::Pass => Ok(()),
        Ending::Fail => Err(Failure::falls_short("the task is not passed", "the failed checks above")),
        Ending::Error => Err(Failure::falls_short("nothing could be judged", "benchwright doctor")),
    }
}

// Exit code 1 says that the task is not passed, so what is no state of it must be told apart.
fn unfit(file: &Path, why: impl std::fmt::Display) -> anyhow::Error {
    Failure::wrong_use(format!("{}: {why}", file.display()), SNAPSHOT)
}

/// The verdict on a snapshot.
fn of_snapshot(catalog: &Catalog, task: &Task, file: &Path) -> anyhow::Result<Verdict> {
    let judged = Judged::open(catalog, task)?;
    let length = fs::metadata(file).map(|about| about.len()).unwrap_or_default();
    if length > LARGEST_SNAPSHOT as u64 {
        return Err(unfit(file, format!("it has {length} bytes; at most {LARGEST_SNAPSHOT} are read")));
    }
    let is_packed = file.extension().is_some_and(|end| end == "gz");
    let bytes = match is_packed {
        true => read_packed(file, LARGEST_UNPACKED).map_err(|error| Failure::wrong_use(error, SNAPSHOT))?,
        false => fs::read(file).map_err(|error| unfit(file, error))?,
    };
    let state = Snapshot::from_bytes(&bytes, &judged.domain).map_err(|error| unfit(file, error))?;
    let again = "make the task again with this program: benchwright build SUITE.toml -o DIR";
    let grader = judged.judge().map_err(|error| Failure::falls_short(error, again))?;
    grader.grade(&state).map_err(|error| unfit(file, error))
}

/// The verdict on what `collect` wrote, and who called.
fn of_collected(
    catalog: &Catalog,
    store: Store,
    id: &str,
    folder: &Path,
) -> anyhow::Result<(Verdict, Vec<Option<u32>>)> {
    let left = read_collected(folder).map_err(|error| unfit(folder, error))?;
    if left.task != id {
        return Err(unfit(folder, format!("it is of the task {}", left.task)));
    }
    let trace = Trace::from_bytes(&left.trace).map_err(|error| unfit(folder, error))?;
    let verdict = StoreHost::new(catalog, store).judged(id, &trace, &left.snapshot);
    Ok((verdict.map_err(|error| unfit(folder, error))?, left.callers))
}
