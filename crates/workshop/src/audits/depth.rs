//! How deep an audit goes: which trials are run on which tasks, which tasks of a cell are drawn, and what that proves of the others.

use super::AuditOptions;
use crate::Error;
use benchwright_audit::{AuditReport, CellSummary, Held, TRIALS, TaskReport};
use benchwright_base::Digest;
use benchwright_catalog::Catalog;
use benchwright_depot::Depot;
use benchwright_pack::{Store, Task};
use benchwright_report::stats::{LEVEL, enough, faulty_at_most};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// How many tasks of a pattern the sampled trials are run on, where nothing is said of the depth.
const SAMPLED: usize = 3;
/// The share of faulty tasks that a clean sample rules out, in millionths.
const RULED_OUT: u32 = 10_000;
/// How many tasks of a cell are drawn at most.
pub const DRAWN: usize = enough(RULED_OUT);
/// What the draw is of. Another label is another draw.
const DRAW: &str = "benchwright audit sample 1";
/// What was proved of a folder, at its root.
pub(super) const RECORD: &str = "audit.json";

/// How many tasks the trials are run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Every trial on every task.
    All,
    /// The costly trials on at most [`DRAWN`] tasks that are drawn of each cell, the others on every task.
    Sample,
}

/// What is known of a task before it is tried.
pub(crate) struct Member {
    pub(super) pattern: String,
    /// The name of its cell: pattern, tier and objective.
    pub(super) cell: String,
    pub(super) digest: Digest,
}

impl Member {
    pub(crate) fn new(pattern: &str, tier: &str, objective: &str, digest: Digest) -> Member {
        Member { pattern: pattern.to_owned(), cell: format!("{pattern} {tier} {objective}"), digest }
    }
}

/// Which trials are run on which tasks, once all of them were seen.
pub(crate) struct Choice<'a> {
    catalog: &'a Catalog,
    options: &'a AuditOptions,
    /// How many tasks of each pattern there are.
    patterns: BTreeMap<String, usize>,
    /// The first of each pattern.
    first: BTreeSet<Digest>,
    cells: BTreeMap<String, Cell>,
    /// Those that a plan says are drawn, where it was made elsewhere.
    planned: Option<BTreeSet<Digest>>,
}

#[derive(Default)]
struct Cell {
    tasks: u64,
    /// The tasks that are drawn, each after what it is drawn by.
    drawn: BTreeSet<(Digest, Digest)>,
}

/// What a task is drawn by: nobody knows it before the task is made, and neither order nor number of workers changes it.
fn lot(task: &Digest) -> Digest {
    Digest::of_parts([(DRAW, &task.0[..])])
}

impl<'a> Choice<'a> {
    pub(crate) fn new(catalog: &'a Catalog, options: &'a AuditOptions) -> Choice<'a> {
        Choice {
            catalog,
            options,
            patterns: BTreeMap::new(),
            first: BTreeSet::new(),
            cells: BTreeMap::new(),
            planned: None,
        }
    }

    /// The choice of a plan, in which these tasks are drawn.
    pub(crate) fn planned(catalog: &'a Catalog, options: &'a AuditOptions, drawn: BTreeSet<Digest>) -> Choice<'a> {
        Choice { planned: Some(drawn), ..Choice::new(catalog, options) }
    }

    /// The tasks that are drawn, cell by cell.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = &Digest> {
        self.cells.values().flat_map(|cell| cell.drawn.iter().map(|(_, task)| task))
    }

    /// Takes note of a task.
    pub(crate) fn see(&mut self, member: &Member) {
        let seen = self.patterns.entry(member.pattern.clone()).or_default();
        *seen += 1;
        if *seen <= SAMPLED {
            self.first.insert(member.digest);
        }
        let cell = self.cells.entry(member.cell.clone()).or_default();
        cell.tasks += 1;
        cell.drawn.insert((lot(&member.digest), member.digest));
        if cell.drawn.len() > DRAWN {
            cell.drawn.pop_last();
        }
    }

    /// The patterns of the tasks that were seen.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.patterns.keys().map(|pattern| &**pattern)
    }

    /// The trials that are run on a task, by name.
    pub(crate) fn trials(&self, member: &Member) -> Vec<String> {
        let is_drawn = match &self.planned {
            Some(drawn) => drawn.contains(&member.digest),
            None => {
                let cell = self.cells.get(&member.cell);
                cell.is_some_and(|cell| cell.drawn.contains(&(lot(&member.digest), member.digest)))
            }
        };
        // What takes a solver long on a plan takes no time on a request.
        let is_first = || self.first.contains(&member.digest) || self.catalog.is_scenario(&member.pattern);
        let is_run = |sampled: bool, drawn: bool| match self.options.depth {
            None => !self.options.trials.is_empty() || !sampled || is_first(),
            Some(Depth::All) => true,
            Some(Depth::Sample) => !drawn || is_drawn,
        };
        let trials = TRIALS.iter().filter(|trial| !trial.whole && self.options.wants(trial.name));
        trials.filter(|trial| is_run(trial.sampled, trial.drawn)).map(|trial| trial.name.to_owned()).collect()
    }

    /// Adds how the costly trials ended on a task, if it was drawn. One without a report is not clean.
    pub(crate) fn tally(&self, member: &Member, found: Option<&TaskReport>, report: &mut AuditReport) {
        if self.options.depth != Some(Depth::Sample) {
            return;
        }
        let unknown = Held::NoVerdict(String::new());
        let trials = self.trials(member);
        for trial in TRIALS.iter().filter(|trial| trial.drawn && trials.iter().any(|name| name == trial.name)) {
            let held = found.and_then(|found| found.trials.get(trial.name)).map_or(&unknown, |finding| &finding.held);
            report.add_drawn(&member.cell, trial.name, held);
        }
    }

    /// Says what was proved of each cell, once all tasks were tried.
    pub(crate) fn prove(&self, report: &mut AuditReport) {
        if self.options.depth != Some(Depth::Sample) {
            return;
        }
        for (name, cell) in &self.cells {
            let summary = report.cells.entry(name.clone()).or_default();
            summary.tasks = cell.tasks;
            for drawn in summary.trials.values_mut() {
                drawn.bound = faulty_at_most(drawn.tried, drawn.tried - drawn.clean);
            }
        }
    }
}

/// What was proved of each cell, a line each, such as `grid/travel h01-b00 fill: near-miss 299 of 299 clean: with 95 % confidence under
/// 1.0 % faulty`.
pub fn lines(cells: &BTreeMap<String, CellSummary>) -> impl Iterator<Item = String> {
    cells.iter().filter(|(_, cell)| !cell.trials.is_empty()).map(|(name, cell)| line(name, cell))
}

fn line(name: &str, cell: &CellSummary) -> String {
    let mut told = Vec::new();
    for (trial, drawn) in &cell.trials {
        let (tried, clean) = (drawn.tried, drawn.clean);
        told.push(match drawn.bound {
            None => format!("{trial} concerns none of {} tasks", cell.tasks),
            Some(_) if tried == cell.tasks && clean == tried => format!("{trial} all {tried} clean"),
            Some(_) if tried == cell.tasks => format!("{trial} {clean} of all {tried} clean"),
            Some(bound) => {
                let tenths = bound.div_ceil(1_000);
                format!(
                    "{trial} {clean} of {tried} clean: with {:.0} % confidence under {}.{} % faulty",
                    LEVEL * 100.0,
                    tenths / 10,
                    tenths % 10
                )
            }
        });
    }
    format!("{name}: {}", told.join("; "))
}

/// What was found, beside the digest over the tasks it was found on.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    version: u32,
    of: Digest,
    report: AuditReport,
}

/// Keeps what was found at the root of a folder. Seconds are no part of it.
pub(crate) fn keep_record(depot: &Depot, of: Digest, report: &AuditReport) -> Result<(), Error> {
    let path = depot.place(RECORD).into();
    let mut report = report.clone();
    for trial in report.trials.values_mut() {
        trial.seconds = 0.0;
    }
    let why = |error: serde_json::Error| Error::Malformed { path, why: error.to_string() };
    let mut bytes = serde_json::to_vec_pretty(&Record { version: 1, of, report }).map_err(why)?;
    bytes.push(b'\n');
    Ok(depot.put(RECORD, &bytes)?)
}

/// Takes away what was found before, so that it is not taken for what is found now.
pub(crate) fn drop_record(root: &Path) -> Result<(), Error> {
    let path = root.join(RECORD);
    if path.is_file() { fs::remove_file(&path).map_err(Error::io(&path)) } else { Ok(()) }
}

/// What the last audit of a folder with [`Depth::Sample`] proved of the cell of a task; nothing if there was none of the tasks as they
/// stand.
pub fn proved(store: &Store, task: &Task) -> Result<Option<String>, Error> {
    let path = store.root().join(RECORD);
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
    let why = |error: serde_json::Error| Error::Malformed { path: path.clone(), why: error.to_string() };
    let record: Record = serde_json::from_str(&text).map_err(why)?;
    if store.suite()?.digest() != Some(record.of) {
        return Ok(None);
    }
    let sealed = &task.sealed;
    let name = format!("{} {} {}", sealed.pattern, sealed.tier, sealed.objective);
    let cell = record.report.cells.get(&name).filter(|cell| !cell.trials.is_empty());
    Ok(cell.map(|cell| line(&name, cell)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_audit::{DrawnSummary, Finding};

    fn members(tier: &str, count: usize) -> Vec<Member> {
        let digest = |at: usize| Digest::of(format!("{tier} {at}").as_bytes());
        (0..count).map(|at| Member::new("grid/travel", tier, "fill", digest(at))).collect()
    }

    fn near_missed(choice: &Choice<'_>, members: &[Member]) -> Vec<Digest> {
        let is_drawn = |member: &&Member| choice.trials(member).iter().any(|trial| trial == "near-miss");
        let mut drawn: Vec<Digest> = members.iter().filter(is_drawn).map(|member| member.digest).collect();
        drawn.sort_unstable();
        drawn
    }

    #[test]
    fn a_draw_is_of_each_cell_and_does_not_know_the_order() {
        let catalog = Catalog::built_in();
        let options = AuditOptions { depth: Some(Depth::Sample), ..AuditOptions::default() };
        let (many, few) = (members("easy", 1_000), members("hard", 40));
        let draw = |backwards: bool| {
            let mut choice = Choice::new(&catalog, &options);
            let mut all: Vec<&Member> = many.iter().chain(&few).collect();
            if backwards {
                all.reverse();
            }
            all.into_iter().for_each(|member| choice.see(member));
            (near_missed(&choice, &many), near_missed(&choice, &few))
        };
        let (drawn, all) = draw(false);
        assert_eq!((drawn.len(), all.len(), DRAWN), (299, 40, 299));
        assert_eq!((drawn.clone(), all), draw(true));
        // It is no run of seeds.
        let first: BTreeSet<Digest> = many[..299].iter().map(|member| member.digest).collect();
        let early = drawn.iter().filter(|digest| first.contains(digest)).count();
        assert!((50..130).contains(&early), "{early} of the first 299 were drawn");

        // Tasks that are not drawn have every trial but the costly ones.
        let mut choice = Choice::new(&catalog, &options);
        many.iter().for_each(|member| choice.see(member));
        let left = many.iter().find(|member| !drawn.contains(&member.digest)).unwrap();
        let costly = TRIALS.iter().filter(|trial| trial.drawn).count();
        assert_eq!(choice.trials(left).len(), TRIALS.iter().filter(|trial| !trial.whole).count() - costly);
    }

    #[test]
    fn without_a_depth_three_of_a_pattern_have_the_sampled_trials_and_with_all_every_one() {
        let catalog = Catalog::built_in();
        let counts = |options: &AuditOptions| {
            let (mut choice, all) = (Choice::new(&catalog, options), members("easy", 5));
            all.iter().for_each(|member| choice.see(member));
            all.iter().map(|member| choice.trials(member).len()).collect::<Vec<_>>()
        };
        let every = TRIALS.iter().filter(|trial| !trial.whole).count();
        assert_eq!(counts(&AuditOptions::default()), [every, every, every, every - 1, every - 1]);
        assert_eq!(counts(&AuditOptions { depth: Some(Depth::All), ..AuditOptions::default() }), [every; 5]);
        let named = AuditOptions { trials: vec!["dominance".to_owned()], ..AuditOptions::default() };
        assert_eq!(counts(&named), [1; 5]);
    }

    #[test]
    fn a_cell_says_what_its_sample_proves() {
        let catalog = Catalog::built_in();
        let trials = ["near-miss", "dominance", "idle"].map(str::to_owned).to_vec();
        let options = AuditOptions { trials, depth: Some(Depth::Sample), ..AuditOptions::default() };
        let proved = |count: usize, faulty: usize, lost: usize| {
            let (mut choice, all) = (Choice::new(&catalog, &options), members("easy", count));
            all.iter().for_each(|member| choice.see(member));
            let mut report = AuditReport::default();
            let mut drawn = 0;
            for member in &all {
                let trials = choice.trials(member);
                drawn += usize::from(trials.iter().any(|trial| trial == "near-miss"));
                let held = if drawn <= faulty { Held::NoVerdict("no time".to_owned()) } else { Held::Passed };
                let finding = |trial: String| match &*trial {
                    "dominance" => (trial, Finding::new(Held::Na("there is no objective".to_owned()))),
                    _ => (trial, Finding::new(held.clone())),
                };
                let found = TaskReport { trials: trials.into_iter().map(finding).collect(), ..TaskReport::default() };
                let is_lost = drawn > faulty && drawn <= faulty + lost;
                choice.tally(member, (!is_lost).then_some(&found), &mut report);
            }
            choice.prove(&mut report);
            (report.cells["grid/travel easy fill"].clone(), lines(&report.cells).collect::<Vec<_>>())
        };
        let name = "grid/travel easy fill: dominance concerns none of";
        let (cell, told) = proved(400, 0, 0);
        assert_eq!(cell.trials["near-miss"], DrawnSummary { tried: 299, clean: 299, bound: Some(9_970) });
        assert_eq!(cell.trials["dominance"], DrawnSummary { tried: 0, clean: 0, bound: None });
        let clean = "near-miss 299 of 299 clean: with 95 % confidence under 1.0 % faulty";
        assert_eq!(told, [format!("{name} 400 tasks; {clean}")]);
        // What could not be judged is not clean, nor is what could not be tried.
        let (cell, told) = proved(400, 1, 2);
        assert_eq!(cell.trials["near-miss"], DrawnSummary { tried: 299, clean: 296, bound: Some(25_727) });
        assert!(told[0].contains("296 of 299 clean: with 95 % confidence under 2.6 % faulty"), "{told:?}");
        assert!(proved(12, 0, 0).1[0].ends_with("near-miss all 12 clean"));
        assert!(proved(12, 2, 0).1[0].ends_with("near-miss 10 of all 12 clean"));
    }
}
