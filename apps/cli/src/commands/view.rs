//! `benchwright view`: the pages of runs in a browser, while they go on.

use crate::{failure::Failure, output};
use benchwright_serve::Shown;
use benchwright_workshop::{Workshop, view::View};
use std::{path::PathBuf, sync::Arc};

/// Shows the pages of runs in a browser, while they go on
#[derive(clap::Args)]
#[command(after_long_help = "\
Lists the runs of a folder and shows of each the pages that `report --html` writes, made from what is recorded when they are asked for: every trial
that has ended has its page. It listens on 127.0.0.1 alone, asks for no token, and changes nothing. Whoever has an account on this machine can
read along; the pages tell what is sealed.

Example:
  benchwright view runs")]
pub(crate) struct Options {
    /// Where runs are kept
    #[arg(value_name = "RUNS", default_value = "runs")]
    runs: PathBuf,
    /// The port [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

/// Runs the command.
pub(crate) fn run(workshop: &Workshop, options: &Options) -> anyhow::Result<()> {
    let view = View::of(workshop.clone(), &options.runs)
        .map_err(|error| Failure::wrong_use(error, "benchwright run DIR --agent greedy"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let shown = Shown::bind(options.port).await;
        let shown = shown.map_err(|error| Failure::missing(error, "another port with --port"))?;
        output::data(&format!("http://{}/\n", shown.address()))?;
        eprintln!("next: open it in a browser; Ctrl-C ends it");
        tokio::select! {
            ended = shown.serve(Arc::new(move |path: &str| view.told(path))) => Ok(ended?),
            stopped = tokio::signal::ctrl_c() => Ok(stopped?),
        }
    })
}
