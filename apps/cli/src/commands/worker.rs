//! `benchwright worker`: makes and audits tasks for another process of this program, one request a line.

use crate::output;
use benchwright_workshop::{Answer, Failed, Maker, Request, Workshop, end_with_parent};
use std::io::{self, BufRead as _};

/// Makes and audits tasks for another process, one JSON request a line
#[derive(clap::Args)]
pub(crate) struct Options {}

/// Answers every line of stdin with a line on stdout, until stdin ends.
pub(crate) fn run(workshop: &Workshop, _: &Options) -> anyhow::Result<()> {
    let mut maker = Maker::new(workshop);
    std::thread::spawn(end_with_parent);
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
