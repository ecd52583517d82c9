//! `benchwright worker`: makes and audits tasks for another process of this program, one request a line.

use crate::output;
use benchwright_workshop::{Answer, Failed, Maker, Request, Workshop};
use std::{
    io::{self, BufRead as _},
    os::unix::process::parent_id,
    process, thread,
    time::Duration,
};

/// Makes and audits tasks for another process, one JSON request a line
#[derive(clap::Args)]
pub(crate) struct Options {}

/// Answers every line of stdin with a line on stdout, until stdin ends.
pub(crate) fn run(workshop: &Workshop, _: &Options) -> anyhow::Result<()> {
    let mut maker = Maker::new(workshop);
    thread::spawn(end_with_parent);
    for line in io::stdin().lock().lines() {
        let answer = match serde_json::from_str::<Request>(&line?) {
            Ok(request) => maker.answer(&request),
            Err(error) => {
                Answer::Failed(Failed { why: format!("this is no request: {error}"), missing: false, barren: false })
            }
        };
        output::data(&format!("{}\n", serde_json::to_string(&answer)?))?;
    }
    Ok(())
}

/// Ends this process once the one that started it is gone: nobody would read what a long search finds.
fn end_with_parent() {
    let parent = parent_id();
    while parent_id() == parent {
        thread::sleep(Duration::from_millis(500));
    }
    process::exit(1);
}
