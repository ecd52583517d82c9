//! `bench ops`: the typical episode that a domain declares in its `bench.case`: fork, ten calls, hash of the terminal state
//! and exact difference from the start, in CPU time. Labels are filled in before anything is timed, and every timed episode
//! must end in the state that the first one ended in.

use super::{
    measure::{cpu, median, nanoseconds},
    requests,
};
use crate::error::{Error, OrWrong as _, Result, wrong};
use benchwright_base::Json as Answer;
use benchwright_catalog::Catalog;
use benchwright_report::layout::columns;
use benchwright_sandbox::{Conditions, Episode};
use benchwright_schema::{CaseFile, Labels};
use benchwright_workshop::Workshop;
use benchwright_world::Seat;
use serde_json::{Map, Value as Json, json};
use std::hint::black_box;

/// The least number of episodes a second on one core.
const LEAST: f64 = 5_000.0;

/// What was measured of a domain.
struct Figure {
    name: String,
    rows: usize,
    changes: usize,
    /// CPU microseconds of an episode in the median block.
    episode_us: f64,
    /// CPU microseconds of hash and difference.
    ending_us: f64,
    /// CPU microseconds of each call, in order.
    calls: Vec<(String, f64)>,
}

impl Figure {
    fn episodes_per_s(&self) -> f64 {
        1e6 / self.episode_us
    }

    /// The call that costs most.
    fn slowest(&self) -> (&str, f64) {
        let slowest = self.calls.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        slowest.map_or(("", 0.0), |(tool, us)| (tool, *us))
    }
}

/// What was measured.
pub(super) struct Figures {
    domains: Vec<Figure>,
    request: requests::Figure,
}

impl Figures {
    /// What falls short: domains by name, and the request.
    pub(super) fn missed(&self) -> Vec<&str> {
        let slow = self.domains.iter().filter(|figure| figure.episodes_per_s() < LEAST).map(|figure| &*figure.name);
        slow.chain(self.request.missed().then_some("request")).collect()
    }

    /// The document of `--json`.
    pub(super) fn to_json(&self) -> Json {
        let round = |n: f64| (n * 100.0).round() / 100.0;
        let domain = |figure: &Figure| {
            let calls: Vec<Json> =
                figure.calls.iter().map(|(tool, us)| json!({ "tool": tool, "cpu_us": round(*us) })).collect();
            json!({
                "episodes_per_s": figure.episodes_per_s().round(),
                "cpu_us": round(figure.episode_us),
                "ending_cpu_us": round(figure.ending_us),
                "rows": figure.rows,
                "changes": figure.changes,
                "calls": calls,
            })
        };
        let domains: Map<String, Json> =
            self.domains.iter().map(|figure| (figure.name.clone(), domain(figure))).collect();
        json!({
            "least_episodes_per_s": LEAST,
            "domains": domains,
            "request": self.request.to_json(),
            "missed": self.missed(),
        })
    }

    /// The table.
    pub(super) fn to_table(&self) -> String {
        let head = ["domain", "rows", "calls", "changes", "episodes/s", "CPU us", "slowest us", "slowest call"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for figure in &self.domains {
            let (tool, us) = figure.slowest();
            rows.push(vec![
                figure.name.clone(),
                figure.rows.to_string(),
                figure.calls.len().to_string(),
                figure.changes.to_string(),
                format!("{:.0}", figure.episodes_per_s()),
                format!("{:.1}", figure.episode_us),
                format!("{us:.1}"),
                tool.to_owned(),
            ]);
        }
        let table = columns(&rows, &[1, 2, 3, 4, 5, 6], 2);
        format!(
            "ops: fork, calls, hash and difference on one core (at least {LEAST:.0} episodes a second)\n{table}\n{}",
            self.request.to_text()
        )
    }
}

/// Runs it on every domain that declares an episode.
pub(super) fn run(workshop: &Workshop, quick: bool) -> Result<Figures> {
    let catalog = workshop.catalog();
    let mut figures = Vec::new();
    for name in catalog.names()? {
        let Some(text) = catalog.bench_case(&name)? else { continue };
        figures.push(measure(catalog, &name, &text, quick).or_wrong(|| format!("{name}/bench.case"))?);
    }
    if figures.is_empty() {
        wrong!("no domain declares an episode in a bench.case");
    }
    Ok(Figures { domains: figures, request: requests::run(workshop, quick)? })
}

fn measure(catalog: &Catalog, name: &str, text: &str, quick: bool) -> Result<Figure> {
    let file = CaseFile::parse(text).map_err(|error| Error::Wrong(error.to_string()))?;
    let (Some((size, seed)), [case]) = (file.world, &file.cases[..]) else {
        wrong!("it has `world SIZE SEED` and one case");
    };
    let world = catalog.world(name, size, seed)?;
    let role = match &world.domain().roles[..] {
        [only] => &only.name,
        _ => "admin",
    };
    let mut role = role.to_owned();
    let mut lines = Vec::new();
    for (number, line) in &case.steps {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "as" if lines.is_empty() && !rest.trim().contains(' ') => rest.trim().clone_into(&mut role),
            "call" | "=>" => lines.push((*number, word, rest.trim())),
            // What the run breaks is for the tests to hold.
            "broken" => {}
            _ => wrong!("line {number}: an episode that is measured has `as ROLE`, `call`, `=>` and `broken` only"),
        }
    }
    let first = world.begin(&Seat { role, actor: None }, Conditions::default())?;
    let calls = script(&first, &lines)?;

    let mut played = first.fork();
    for (tool, arguments) in &calls {
        played.call(tool, arguments).map_err(|refusal| Error::Wrong(format!("{tool} was refused: {refusal}")))?;
    }
    let (hash, changes) = (played.state_hash(), played.diff().changes.len());
    let whole = || -> Result<()> {
        let mut episode = first.fork();
        for (tool, arguments) in &calls {
            black_box(
                episode
                    .call(tool, arguments)
                    .map_err(|refusal| Error::Wrong(format!("{tool} was refused: {refusal}")))?,
            );
        }
        if episode.state_hash() != hash || black_box(episode.diff()).changes.len() != changes {
            wrong!("an episode ended in another state than the first");
        }
        Ok(())
    };
    let (rounds, episodes) = if quick { (3, 20) } else { (15, 300) };
    let mut blocks = Vec::new();
    for _ in 0..rounds {
        let spent = nanoseconds(|| (0..episodes).try_for_each(|_| whole()))?;
        blocks.push(spent / 1e3 / f64::from(episodes));
    }
    let (each, ending_us) = single_calls(&first, &calls, episodes)?;
    Ok(Figure {
        name: name.to_owned(),
        rows: first.row_count(),
        changes,
        episode_us: median(blocks),
        ending_us,
        calls: calls.into_iter().map(|(tool, _)| tool).zip(each).collect(),
    })
}

/// Plays the lines once and gives the calls with ids in the place of labels.
fn script(first: &Episode, lines: &[(usize, &str, &str)]) -> Result<Vec<(String, String)>> {
    let mut episode = first.fork();
    let mut labels = Labels::default();
    let mut calls = Vec::new();
    let mut answer = None;
    for &(number, word, rest) in lines {
        let wrong = |error: &dyn std::fmt::Display| Error::Wrong(format!("line {number}: {error}"));
        if word == "call" {
            let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
            let arguments = labels.fill(arguments).map_err(|error| wrong(&error))?;
            answer = Some(episode.call(tool, &arguments).map_err(|refusal| wrong(&refusal))?);
            calls.push((tool.to_owned(), arguments));
        } else if let Some(label) = rest.strip_prefix('@') {
            let label = label.split(' ').next().unwrap_or_default();
            let answer = answer.as_deref().ok_or_else(|| wrong(&"there is no call to answer"))?;
            let answer = Answer::parse(answer).map_err(|error| wrong(&error))?;
            labels.name(label, &answer).map_err(|error| wrong(&error))?;
        }
    }
    Ok(calls)
}

/// The median CPU microseconds of each call, and of hash and difference at the end.
fn single_calls(first: &Episode, calls: &[(String, String)], episodes: u32) -> Result<(Vec<f64>, f64)> {
    let mut spent: Vec<Vec<f64>> = vec![Vec::new(); calls.len() + 1];
    for _ in 0..episodes {
        let mut episode = first.fork();
        for (nth, (tool, arguments)) in calls.iter().enumerate() {
            let start = cpu()?;
            let answer = episode.call(tool, arguments);
            let end = cpu()?;
            black_box(answer.map_err(|refusal| Error::Wrong(format!("{tool} was refused: {refusal}")))?);
            spent[nth].push((end - start).as_nanos() as f64 / 1e3);
        }
        let start = cpu()?;
        black_box((episode.state_hash(), episode.diff()));
        spent[calls.len()].push((cpu()? - start).as_nanos() as f64 / 1e3);
    }
    let mut medians: Vec<f64> = spent.into_iter().map(median).collect();
    let ending = medians.pop().unwrap_or_default();
    Ok((medians, ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declared_episode_has_ten_calls_and_ends_alike_each_time() {
        let figures = run(&Workshop::new(Catalog::built_in()), true).unwrap();
        let names: Vec<&str> = figures.domains.iter().map(|figure| &*figure.name).collect();
        for wanted in ["calendar", "csm", "drive", "email", "hr", "itsm", "teams"] {
            assert!(names.contains(&wanted), "{wanted} is not measured");
        }
        for figure in &figures.domains {
            assert_eq!(figure.calls.len(), 10, "{}", figure.name);
            assert!(figure.changes > 0 && figure.rows > 0 && figure.episode_us > 0.0, "{}", figure.name);
        }
        assert!(figures.request.to_json()["ratio"].as_f64().unwrap() > 0.0);
        let json = figures.to_json();
        assert_eq!(json["domains"].as_object().unwrap().len(), names.len());
    }
}
