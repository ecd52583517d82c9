//! `benchwright export harbor`: tasks as Harbor and whoever reads its tasks take them.

use crate::{failure::Failure, layout::counted, progress::Progress};
use benchwright_catalog::Catalog;
use benchwright_export::{HarborFolder, HarborOptions, HarborReward};
use benchwright_pack::Store;
use benchwright_workshop::{host::StoreHost, suites};
use std::path::PathBuf;

/// Folders that Harbor runs: one a task, all with one image, the verifier apart
#[derive(clap::Args)]
#[command(after_long_help = "\
Reads a folder that `new` or `build` wrote, plays the certified plan of each task, and writes OUT/ID (Harbor's task schema
1.4), OUT/dataset.toml and OUT/registry.json. The image is the same for all tasks and is made once, from docker/Dockerfile;
it is named by its digest, since any other name may mean another image tomorrow:

  podman build -t localhost/benchwright -f docker/Dockerfile FOLDER_WITH_THE_PROGRAM
  podman image inspect localhost/benchwright --format {{.Digest}}

The open part of a task goes to the agent's machine, the sealed part only to the verifier's. The world runs as a user of its
own, is started by the health check, and is reached by the agent at http://127.0.0.1:8765/mcp. docs/harbor.md has the rest.

Example:
  benchwright export harbor out -o tasks --image localhost/benchwright@sha256:DIGEST && harbor run -p tasks -a oracle")]
pub(super) struct Options {
    /// A folder of tasks
    #[arg(value_name = "DIR")]
    tasks: PathBuf,
    /// The folder to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The image, by its digest
    #[arg(long, value_name = "NAME@sha256:DIGEST")]
    image: String,
    /// Who publishes them: the first part of the tasks' names
    #[arg(long, value_name = "NAME", default_value = "benchwright")]
    organisation: String,
    /// The reward of a trial: 1 for a pass and 0 for all else, or the graded one
    #[arg(long, value_name = "FORM", default_value = "pass")]
    reward: Reward,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Reward {
    Pass,
    Graded,
}

/// Runs the command.
pub(super) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    suites::check_empty(&options.output)?;
    let dataset = options.tasks.file_name().map_or("tasks".into(), |name| name.to_string_lossy().into_owned());
    let told = HarborOptions {
        image: options.image.clone(),
        organisation: options.organisation.clone(),
        dataset,
        reward: match options.reward {
            Reward::Pass => HarborReward::Pass,
            Reward::Graded => HarborReward::Graded,
        },
    };
    if !told.is_pinned() {
        let next = "NAME@sha256: and 64 digits, as `podman image inspect NAME --format {{.Digest}}` prints";
        return Err(Failure::wrong_use(format!("`{}` names no digest", told.image), next));
    }
    let store = Store::at(&options.tasks);
    let ids = store.ids()?;
    let host = StoreHost::new(catalog, store.clone());
    let progress = Progress::of(format!("writing {}", options.output.display()), ids.len());
    let mut folder = HarborFolder::new(&options.output, told);
    for id in &ids {
        let plan = host.certified(id).map_err(benchwright_workshop::Error::Host)?;
        let failed = |error| Failure::missing(error, "another folder with -o");
        folder.write(&store.task(id)?, &plan).map_err(failed)?;
        progress.advance();
    }
    let written = folder.finish().map_err(|error| Failure::missing(error, "another folder with -o"))?;
    drop(progress);
    eprintln!("wrote {}: {}", options.output.display(), counted(written, "task"));
    Ok(())
}
