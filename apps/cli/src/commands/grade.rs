//! `benchwright grade`: the verdict on a terminal state.

use crate::{failure::Failure, layout::columns, output, tasks};
use benchwright_catalog::Catalog;
use benchwright_pack::{CheckStatus, Ending, LARGEST_SNAPSHOT, Snapshot, Verdict};
use benchwright_workshop::tasks::{Judged, shown};
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// Judges the state that was left of a task
#[derive(clap::Args)]
#[command(after_long_help = "\
Needs the sealed part of the task, and no solver. The exit code is 0 if the task passes and 1 if it does not; a state of
another task gets no verdict, and the exit code is 2.

Example:
  benchwright grade out/open/ID last.json
  benchwright grade out/open/ID runs/NAME/trials/000001/snapshot.json.gz

Keys of --json:
  ending (pass, fail, error), reward and scores from 0 to 1, gates, phases, checks, alarm, paper_pass")]
pub(crate) struct Options {
    /// The folder of its open part, DIR/open/ID, or DIR/ID
    #[arg(value_name = "TASK")]
    task: PathBuf,
    /// The state that was left: a snapshot, as it is or packed (.gz)
    #[arg(value_name = "SNAPSHOT")]
    snapshot: PathBuf,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let (store, id) = tasks::locate(&options.task)?;
    let task = store.task(&id)?;
    let judged = Judged::open(catalog, &task)?;
    let file = options.snapshot.display();
    let length = fs::metadata(&options.snapshot).map(|about| about.len()).unwrap_or_default();
    // Exit code 1 says that the task is not passed, so what is no state of it must be told apart.
    let unfit = |why: String| Failure::wrong_use(format!("{file}: {why}"), "the snapshot of an episode of this task");
    if length > LARGEST_SNAPSHOT as u64 {
        return Err(unfit(format!("it has {length} bytes; at most {LARGEST_SNAPSHOT} are read")));
    }
    let bytes = read(&options.snapshot).map_err(|error| unfit(error.to_string()))?;
    let state = Snapshot::from_bytes(&bytes, &judged.domain).map_err(|error| unfit(error.to_string()))?;
    let again = "make the task again with this program: benchwright build SUITE.toml -o DIR";
    let grader = judged.judge().map_err(|error| Failure::falls_short(error, again))?;
    let verdict = grader.grade(&state).map_err(|error| unfit(error.to_string()))?;
    if options.json {
        output::json(&serde_json::to_value(&verdict)?)?;
    } else {
        output::data(&table(&verdict))?;
    }
    match verdict.ending {
        Ending::Pass => Ok(()),
        Ending::Fail => Err(Failure::falls_short("the task is not passed", "the failed checks above")),
        Ending::Error => Err(Failure::falls_short("nothing could be judged", "benchwright doctor")),
    }
}

/// The bytes of a snapshot, unpacked where its name ends with `.gz`.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path.extension().is_none_or(|end| end != "gz") {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    let unpacked = flate2::read::GzDecoder::new(fs::File::open(path)?);
    unpacked.take(LARGEST_SNAPSHOT as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn table(verdict: &Verdict) -> String {
    let ending = match verdict.ending {
        Ending::Pass => "pass",
        Ending::Fail => "fail",
        Ending::Error => "error",
    };
    let mut out = format!(
        "{ending}, reward {} (constraints {}, objective {}, trace {})\n",
        shown(verdict.reward),
        shown(verdict.constraints),
        shown(verdict.objective),
        shown(verdict.trace)
    );
    for phase in &verdict.phases {
        let value = phase.value.map_or("none".to_owned(), |value| value.to_string());
        out.push_str(&format!("{}: {value}, best {}, score {}\n", phase.name, phase.best, shown(phase.score)));
    }
    if !verdict.gates.is_empty() {
        out.push_str(&format!("gates that fired: {}\n", verdict.gates.join(", ")));
    }
    if verdict.alarm {
        out.push_str("alarm: this is better than the certificate says is possible\n");
    }
    let mut rows = Vec::new();
    for check in &verdict.checks {
        let status = match check.status {
            CheckStatus::Fail => "fail",
            CheckStatus::NoVerdict => "no verdict",
            CheckStatus::Pass | CheckStatus::Na => continue,
        };
        let why = check.why.clone().unwrap_or_default();
        rows.push(vec![status.to_owned(), check.code.clone(), check.rule.clone(), check.at.join(", "), why]);
    }
    let passed = verdict.checks.iter().filter(|check| check.status == CheckStatus::Pass).count();
    out.push_str(&format!("{passed} of {} checks that apply hold\n", verdict.applicable()));
    out.push_str(&columns(&rows, &[], 2));
    out
}
