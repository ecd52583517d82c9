//! Making a suite: every task in worker processes, every digest held to the lock file, and what came of it in figures.

use crate::{
    failure::Failure,
    layout::{columns, counted},
    tasks,
    work::{Made, Setting, Shortfall, maker::own_papers},
};
use anyhow::Context as _;
use benchwright_base::Digest;
use benchwright_catalog::Catalog;
use benchwright_pack::{Store, Suite, SuiteSolver, SuiteTask, store};
use benchwright_solve::{Library, PINNED_VERSION};
use serde_json::{Map, Value as Json, json};
use std::{collections::BTreeMap, fs, path::Path, time::Instant};

/// The tiers, in the order they are shown.
const TIERS: [&str; 3] = ["easy", "medium", "hard"];

/// The solver that is here, for the head of a lock file.
pub(crate) fn solver_here() -> anyhow::Result<SuiteSolver> {
    let missing = |error: &dyn std::fmt::Display| Failure::missing(error, "benchwright doctor");
    let library = Library::find().map_err(|error| missing(&error))?;
    let digest = library.sha256().map_err(|error| missing(&error))?;
    let version = library.version().map_err(|error| missing(&error))?;
    if !library.is_pinned().map_err(|error| missing(&error))? {
        eprintln!("warning: this solver library is not the pinned one ({PINNED_VERSION}); digests hold for it alone");
    }
    Ok(SuiteSolver { version, library: digest.to_string() })
}

/// The solver of a family: the one that is here, or the family's own proof.
pub(crate) fn solver_for(catalog: &Catalog, family: &str) -> anyhow::Result<SuiteSolver> {
    // A suite of one part names the part; any of its patterns knows the proof.
    let found = catalog.family(family).ok().or_else(|| {
        let names = catalog.pattern_names().ok()?;
        let of_group = names.iter().find_map(|name| name.strip_prefix(family)?.strip_prefix('/'))?;
        catalog.family(of_group).ok()
    });
    match found.filter(|family| family.proof().is_some()) {
        Some(family) => {
            let papers = own_papers(family);
            Ok(SuiteSolver { version: papers.version, library: papers.library })
        }
        None => solver_here(),
    }
}

/// The solver that is here, which must be the one that a suite was locked with, if it was.
pub(crate) fn solver_of(catalog: &Catalog, suite: &Suite) -> anyhow::Result<SuiteSolver> {
    let here = solver_for(catalog, &suite.family)?;
    match &suite.solver {
        Some(locked) if locked.library != here.library => {
            let message = format!(
                "the suite was locked with the solver library {} ({}); here is {} ({})",
                locked.library, locked.version, here.library, here.version
            );
            Err(Failure::missing(message, benchwright_solve::FETCH))
        }
        _ => Ok(here),
    }
}

/// Refuses a folder that holds something.
pub(crate) fn check_empty(folder: &Path) -> anyhow::Result<()> {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(false) => {
            let message = format!("{} is there already and holds something", folder.display());
            Err(Failure::wrong_use(message, "another folder with -o, or remove it first"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            Err(Failure::wrong_use(format!("{} is a file", folder.display()), "another folder with -o"))
        }
        Ok(true) | Err(_) => Ok(()),
    }
}

/// Reads a lock file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Suite> {
    store::read_suite(path).map_err(|error| match &error {
        benchwright_pack::StoreError::Missing(_) => {
            Failure::wrong_use(&error, "benchwright build suites/erp-300.toml -o DIR")
        }
        benchwright_pack::StoreError::Suite { .. } => Failure::falls_short(&error, "mend the lock file"),
        _ => tasks::of_store(error),
    })
}

/// A suite that was made.
pub(crate) struct Built {
    /// The suite with the digests that its tasks have, without the tasks that could not be made.
    pub(crate) suite: Suite,
    /// The tasks that were made, each with its line.
    pub(crate) made: Vec<(SuiteTask, Made)>,
    /// Those that were not, or that differ from the lock file.
    pub(crate) short: Vec<(SuiteTask, Shortfall)>,
    /// Seconds by the wall.
    pub(crate) seconds: f64,
}

/// Makes the tasks of a suite into a store. With `held`, the digests of the lock file must come out.
pub(crate) fn make(
    setting: &Setting,
    suite: &Suite,
    store: &Store,
    jobs: Option<usize>,
    held: bool,
) -> anyhow::Result<Built> {
    let begun = Instant::now();
    let answers = setting.make_all(&suite.tasks, store, jobs);
    let mut built = Built {
        suite: Suite { tasks: Vec::new(), ..suite.clone() },
        made: Vec::new(),
        short: Vec::new(),
        seconds: begun.elapsed().as_secs_f64(),
    };
    for (line, answer) in suite.tasks.iter().zip(answers) {
        let made = match answer {
            Ok(made) => made,
            Err(short) => {
                built.short.push((line.clone(), short));
                continue;
            }
        };
        let digest = Digest::parse(&made.digest).context("a worker answered a digest that is none")?;
        if let Some(locked) = line.digest.filter(|locked| held && *locked != digest) {
            let why = format!("its digest is {digest}, the lock file says {locked}");
            built.short.push((line.clone(), Shortfall { why, missing: false }));
        }
        let line = SuiteTask { digest: Some(digest), ..line.clone() };
        built.suite.tasks.push(line.clone());
        built.made.push((line, made));
    }
    if !built.suite.tasks.is_empty() {
        store.write_suite(&built.suite).map_err(tasks::of_store)?;
    }
    Ok(built)
}

impl Built {
    /// The failure that this suite is, if it falls short.
    pub(crate) fn failure(&self) -> Option<anyhow::Error> {
        let (line, first) = self.short.first()?;
        for (line, short) in &self.short {
            eprintln!("error: {}: {}", named(line), short.why);
        }
        let total = self.short.len();
        let message = format!("{} could not be made as wanted", counted(total, "task"));
        Some(match first.missing {
            true => Failure::missing(message, "benchwright doctor"),
            false => Failure::falls_short(
                message,
                format!(
                    "benchwright new {} --tier {} --objective {} --seed {} -o DIR",
                    line.pattern, line.tier, line.objective, line.seed
                ),
            ),
        })
    }

    /// The document of `--json`.
    pub(crate) fn to_json(&self) -> Json {
        let by = |of: fn(&SuiteTask) -> &str| {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for (line, _) in &self.made {
                *counts.entry(of(line)).or_default() += 1;
            }
            json!(counts)
        };
        let digest = self.suite.digest().filter(|_| self.short.is_empty()).map(|digest| digest.to_string());
        let figures: Map<String, Json> =
            self.tiers().iter().map(|tier| ((*tier).to_owned(), self.figures(tier).to_json())).collect();
        let short = |(line, short): &(SuiteTask, Shortfall)| json!({ "task": named(line), "why": short.why });
        json!({
            "tasks": self.made.len(),
            "digest": digest,
            "seconds": (self.seconds * 1000.0).round() / 1000.0,
            "by": {
                "pattern": by(|line| &line.pattern),
                "tier": by(|line| &line.tier),
                "objective": by(|line| &line.objective),
            },
            "figures": figures,
            "short": self.short.iter().map(short).collect::<Vec<_>>(),
        })
    }

    /// Figures by tier.
    pub(crate) fn to_table(&self) -> String {
        let head = ["tier", "tasks", "variables", "rules", "checks", "thrown away", "a task"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for tier in self.tiers() {
            let figures = self.figures(tier);
            let per_task = figures.resamples as f64 / figures.tasks.max(1) as f64;
            rows.push(vec![
                tier.to_owned(),
                figures.tasks.to_string(),
                spread(&figures.variables),
                spread(&figures.rules),
                spread(&figures.checks),
                figures.resamples.to_string(),
                format!("{per_task:.2}"),
            ]);
        }
        let mut out = columns(&rows, &[1, 2, 3, 4, 5, 6], 0);
        let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, made) in &self.made {
            for (cause, count) in &made.discarded {
                *causes.entry(cause).or_default() += u64::from(*count);
            }
        }
        if !causes.is_empty() {
            let causes: Vec<String> = causes.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
            out.push_str(&format!("draws thrown away, by cause: {}\n", causes.join(", ")));
        }
        let unjudged = self.made.iter().filter(|(_, made)| made.checks.is_none()).count();
        if unjudged > 0 {
            out.push_str(&format!("{} whose own plan could not be carried out\n", counted(unjudged, "task")));
        }
        let digest = self.suite.digest().filter(|_| self.short.is_empty()).map(|digest| digest.to_string());
        let digest = digest.unwrap_or_else(|| "none, because tasks are missing".to_owned());
        out.push_str(&format!("{} in {:.1} s, digest {digest}\n", counted(self.made.len(), "task"), self.seconds));
        out
    }

    /// The tiers that there are, in order.
    fn tiers(&self) -> Vec<&str> {
        let mut tiers: Vec<&str> = self.made.iter().map(|(line, _)| &*line.tier).collect();
        tiers.sort_by_key(|tier| (TIERS.iter().position(|known| known == tier).unwrap_or(TIERS.len()), *tier));
        tiers.dedup();
        tiers
    }

    fn figures(&self, tier: &str) -> Figures {
        let mut figures = Figures::default();
        for (_, made) in self.made.iter().filter(|(line, _)| line.tier == tier) {
            figures.tasks += 1;
            figures.variables.push(made.variables);
            figures.rules.push(made.rules);
            figures.checks.extend(made.checks);
            for (cause, count) in &made.discarded {
                figures.resamples += u64::from(*count);
                *figures.discarded.entry(cause.clone()).or_default() += u64::from(*count);
            }
        }
        for list in [&mut figures.variables, &mut figures.rules, &mut figures.checks] {
            list.sort_unstable();
        }
        figures
    }
}

/// The figures of one tier; the lists are in order.
#[derive(Default)]
struct Figures {
    tasks: usize,
    variables: Vec<usize>,
    rules: Vec<usize>,
    checks: Vec<usize>,
    resamples: u64,
    discarded: BTreeMap<String, u64>,
}

impl Figures {
    fn to_json(&self) -> Json {
        let of = |list: &[usize]| match (list.first(), list.last()) {
            (Some(least), Some(most)) => json!({ "least": least, "median": list[list.len() / 2], "most": most }),
            _ => Json::Null,
        };
        json!({
            "tasks": self.tasks,
            "variables": of(&self.variables),
            "rules": of(&self.rules),
            "checks": of(&self.checks),
            "resamples": self.resamples,
            "discarded": self.discarded,
        })
    }
}

/// `least median most` of a list in order.
fn spread(list: &[usize]) -> String {
    match (list.first(), list.last()) {
        (Some(least), Some(most)) => format!("{least} {} {most}", list[list.len() / 2]),
        _ => "-".to_owned(),
    }
}

/// A line of a lock file in words.
pub(crate) fn named(line: &SuiteTask) -> String {
    format!("{} {} {} seed {}", line.pattern, line.tier, line.objective, line.seed)
}
