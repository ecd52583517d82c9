//! `benchwright demo`: a first look without key, container, network or solver.

use crate::{
    failure::Failure,
    layout::{columns, cut, paragraph},
    output,
};
use anyhow::Context as _;
use benchwright_catalog::Catalog;
use benchwright_pack::{Ending, Verdict, Verifier, run::Limits};
use benchwright_report::html::{Answer, CallView};
use benchwright_run::{Host as _, policy};
use benchwright_workshop::{Temporary, carried, host::StoreHost, suites, tasks::shown};

const GREEDY: &str = "greedy";
/// Who works on each task.
const POLICIES: [&str; 3] = ["idle", GREEDY, "oracle"];

/// A first look: idle, greedy and oracle on five shipped tasks
#[derive(clap::Args)]
#[command(after_long_help = "\
Opens five tasks that come with the program and lets three scripted policies work on each: idle does
nothing, greedy reads the brief and the records as an agent would and takes the cheapest feasible offers, oracle
carries out the certified plan. Needs no key, no network and no solver.

Example:
  benchwright demo")]
pub(crate) struct Options {
    /// Leaves the tasks in DIR, to be looked at with `show`
    #[arg(short, long, value_name = "DIR")]
    output: Option<std::path::PathBuf>,
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let (folder, kept) = match &options.output {
        Some(folder) => {
            suites::check_empty(folder)?;
            (None, folder.clone())
        }
        None => {
            let folder = Temporary::new()?;
            let path = folder.path().to_owned();
            (Some(folder), path)
        }
    };
    let store = carried::unpack_demo(&kept)?;
    let host = StoreHost::new(catalog, store.clone());
    let mut rows = vec![["task", "workflow"].into_iter().chain(POLICIES).map(str::to_owned).collect()];
    let mut reasons = String::new();
    for id in store.ids()? {
        let (row, why) = one(catalog, &host, &id)?;
        if let Some(why) = why {
            reasons.push_str(&paragraph(&format!("  {id}  "), &why, output::columns()));
        }
        rows.push(row);
    }
    drop(folder);
    let table = columns(&rows, &[2, 3, 4], 0);
    let reasons = match reasons.is_empty() {
        true => "Greedy passed them all.\n".to_owned(),
        false => format!("Where greedy fell short, and why:\n{reasons}"),
    };
    output::data(&format!("{table}\nRewards are between 0 and 1; 1 is a pass.\n{reasons}"))?;
    match &options.output {
        Some(folder) => eprintln!("next: benchwright show {}/open/ID --reveal", folder.display()),
        None => eprintln!("next: benchwright demo -o demo && benchwright show demo/open/ID --reveal"),
    }
    Ok(())
}

/// The three policies on one task: its row of the table, and why greedy fell short, if it did.
fn one(catalog: &Catalog, host: &StoreHost<'_>, id: &str) -> anyhow::Result<(Vec<String>, Option<String>)> {
    let open = host.open(id)?;
    let pattern = host.line(id)?.pattern;
    let pattern = catalog.pattern(&pattern).map_err(|error| Failure::of_catalog(error, &pattern))?;
    let (mut rewards, mut why) = (Vec::new(), None);
    for name in POLICIES {
        let policy = policy(name).with_context(|| format!("there is no policy {name}"))?;
        let mut episode = host.begin(id)?;
        policy.play(host, &open, &mut *episode, 1, &Limits::default())?;
        let left = episode.finish(false)?;
        rewards.push(shown(left.verdict.reward));
        if name == GREEDY && left.verdict.ending != Ending::Pass {
            // It gives up at the first call that is refused.
            let (_, calls, _) = host.replayed(id, &left.trace)?;
            why = Some(match calls.last() {
                Some(CallView { tool, answer: Answer::Refused(refusal), .. }) => {
                    format!("{tool} was refused: {refusal}")
                }
                _ => shortfall(&left.verdict, &host.verifier(id)?),
            });
        }
    }
    let mut row = vec![id.to_owned(), cut(&pattern.text.title, 60)];
    row.append(&mut rewards);
    Ok((row, why))
}

/// What a verdict lacks, in words.
fn shortfall(verdict: &Verdict, verifier: &Verifier) -> String {
    let failed = verdict.failed();
    if !failed.is_empty() {
        let first = verifier.plan.rules.get(failed[0]).map_or("", |rule| &*rule.code);
        let more = if failed.len() > 1 { format!(" and {} more", failed.len() - 1) } else { String::new() };
        return format!("it breaks {} ({first}){more}", failed[0]);
    }
    let units = verifier.plan.objectives.get(&verifier.objective).map_or(&[][..], |known| &known.phases);
    match verdict.phases.iter().zip(units).find(|(phase, _)| !phase.within) {
        Some((phase, text)) => {
            let amount = |value: i64| match text.unit {
                100 => format!("{}.{:02}", value / 100, value % 100),
                _ => value.to_string(),
            };
            let value = phase.value.map_or("nothing".to_owned(), amount);
            format!("{}: {value}, where {} is possible", phase.name, amount(phase.best))
        }
        None if !verdict.gates.is_empty() => format!("the gate {} fired", verdict.gates.join(", ")),
        None => "it could not be judged".to_owned(),
    }
}
