//! A suite: a TOML file that lists tasks by pattern, tier, objective and seed and, once they were built, the digest of
//! each. It is a lock file: made again anywhere, every task must have the same bytes.

use crate::Split;
use benchwright_base::{Diagnostic, Digest};
use benchwright_schema::{Document, KeyFault};
use serde::Deserialize;
use std::{collections::BTreeMap, fmt::Write as _};

/// The largest lock file that is read, in bytes.
pub const LARGEST_SUITE: usize = 64 << 20;

/// The shortest salt: 128 bits in hexadecimal.
pub const SHORTEST_SALT: usize = 32;

/// Every task carries a hostile text.
pub const MOST_INJECTED: u32 = 1_000_000;

/// A suite: which tasks it has, and once it was built the digest that each of them must have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suite {
    /// Its name, in kebab-case.
    pub name: String,
    /// Its own version, which rises when a task changes.
    pub version: u32,
    /// The family of its patterns.
    pub family: String,
    /// What its tasks are made for. The seeds of its lines are numbers of that split.
    pub split: Split,
    /// The canary that stands in its artifacts.
    pub canary: String,
    /// What the ids of its tasks are salted with; `None` before it was first locked. Who has it can tell which task an id is, so
    /// it belongs to the judge's side, as the whole file does.
    pub salt: Option<String>,
    /// The share of its tasks that carry a hostile text, in millionths; a draw for each task says which.
    pub inject: u32,
    /// What its whole-suite trial holds it to.
    pub bars: SuiteBars,
    /// The solver it was locked with; `None` before it was first built.
    pub solver: Option<SuiteSolver>,
    /// The share of what an audit's trials could not break, by trial, in millionths. An audit in which one is higher fails; empty
    /// before `benchwright audit --lock` wrote it.
    pub unbreakable: BTreeMap<String, u32>,
    /// The tasks, in order.
    pub tasks: Vec<SuiteTask>,
}

/// What a suite as a whole may not be worse than; a bar that is not stored is 0. A build with `--lock` leaves them as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteBars {
    /// The most 8-grams of an instruction that stand in another task's too, in thousandths, over all tasks.
    #[serde(default)]
    pub recurring: Option<u32>,
    /// The most pairs of tasks that are nearly alike.
    #[serde(default)]
    pub near_duplicates: Option<u32>,
    /// The most rules that nothing in the suite exercises.
    #[serde(default)]
    pub idle_rules: Option<u32>,
    /// The most bounds that no task meets exactly.
    #[serde(default)]
    pub unmet_bounds: Option<u32>,
    /// The most rule instances that no near-miss breaks, in thousandths of all.
    #[serde(default)]
    pub unbreakable: Option<u32>,
}

/// The solver a suite was locked with.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteSolver {
    /// The version of the solver, such as `9.15.6755`, or the name of a family's own proof.
    pub version: String,
    /// The SHA-256 of its library.
    pub library: String,
}

/// One line of a suite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuiteTask {
    /// The pattern, as `group/slug`.
    pub pattern: String,
    /// The tier of the pattern, such as `medium`.
    pub tier: String,
    /// The objective of the pattern, such as `min_new_spend`.
    pub objective: String,
    /// The seed that the task is drawn from.
    pub seed: u64,
    /// The reading of a clause that tells it from its twin, which has the same seed and the other reading.
    pub reading: Option<String>,
    /// The digest of every byte of the task; `None` before it was first built.
    pub digest: Option<Digest>,
    /// What intervals cluster on; without one, the pattern.
    pub cluster: Option<String>,
}

/// Why a lock file could not be read. All faults are told.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SuiteError {
    /// It is too large.
    #[error("the suite has {0} bytes; at most {LARGEST_SUITE} are read")]
    TooLarge(usize),
    /// It is of another format.
    #[error("the suite is of format {0}; this program reads format {format}", format = Suite::FORMAT)]
    Format(i64),
    /// It has faults, each with its place.
    #[error("the suite has faults:\n{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Faulty(Vec<Diagnostic>),
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: i64,
    name: String,
    version: u32,
    family: String,
    #[serde(default)]
    split: Split,
    canary: String,
    salt: Option<String>,
    #[serde(default)]
    inject: u32,
    #[serde(default)]
    bars: SuiteBars,
    solver: Option<SuiteSolver>,
    #[serde(default)]
    unbreakable: BTreeMap<String, u32>,
    #[serde(default)]
    task: Vec<Line>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    pattern: String,
    tier: String,
    objective: String,
    seed: u64,
    reading: Option<String>,
    digest: Option<String>,
    cluster: Option<String>,
}

impl Suite {
    /// The format that is written.
    pub const FORMAT: i64 = 1;

    /// Reads a lock file. `file` is what it is called in faults.
    pub fn from_toml(file: &str, text: &str) -> Result<Suite, SuiteError> {
        if text.len() > LARGEST_SUITE {
            return Err(SuiteError::TooLarge(text.len()));
        }
        let document = Document::new(file, text);
        // What another format may hold is not known, so nothing else is said of it.
        let format = document.root().get("format").and_then(|format| format.number());
        if let Some(other) = format.filter(|format| *format != Suite::FORMAT) {
            return Err(SuiteError::Format(other));
        }
        match Suite::read(&document) {
            Some(suite) if document.is_sound() => Ok(suite),
            _ => Err(SuiteError::Faulty(document.into_faults())),
        }
    }

    /// What a document says, as far as it can be read; all its faults are told to the document.
    pub fn read(document: &Document<'_>) -> Option<Suite> {
        let file: File = document.read()?;
        let fault = |path: &[&str], message: String| document.add([KeyFault::new(path.iter().copied(), message)]);
        if !is_kebab(&file.name) {
            fault(&["name"], format!("the name `{}` is not in kebab-case", file.name));
        }
        if file.solver.as_ref().is_some_and(|solver| Digest::parse(&solver.library).is_none()) {
            fault(&["solver", "library"], "this is no SHA-256".to_owned());
        }
        if file.salt.as_ref().is_some_and(|salt| salt.len() < SHORTEST_SALT) {
            fault(&["salt"], format!("a salt has at least {SHORTEST_SALT} letters"));
        }
        if file.inject > MOST_INJECTED {
            fault(&["inject"], format!("a share is at most {MOST_INJECTED} millionths"));
        }
        if file.task.is_empty() && document.is_toml() {
            fault(&["task"], "the suite has no tasks".to_owned());
        }
        let mut seen: BTreeMap<(String, String, String, u64, Option<String>), usize> = BTreeMap::new();
        let mut tasks = Vec::new();
        for (at, line) in file.task.into_iter().enumerate() {
            let Line { pattern, tier, objective, seed, reading, digest, cluster } = line;
            let place = at.to_string();
            let digest = digest.and_then(|digest| {
                let read = Digest::parse(&digest);
                if read.is_none() {
                    fault(&["task", &place, "digest"], format!("`{digest}` is no SHA-256"));
                }
                read
            });
            if seed >= Split::NUMBERS {
                let most = Split::NUMBERS - 1;
                let message = format!("seeds up to {most} are drawn from; those above are kept for committed suites");
                fault(&["task", &place, "seed"], message);
            }
            let key = (pattern.clone(), tier.clone(), objective.clone(), seed, reading.clone());
            if let Some(first) = seen.insert(key, at + 1) {
                let message = format!("task {} is task {first} again: {pattern} {tier} {objective} {seed}", at + 1);
                fault(&["task", &place, "pattern"], message);
            }
            tasks.push(SuiteTask { pattern, tier, objective, seed, reading, digest, cluster });
        }
        let File { name, version, family, split, canary, salt, inject, bars, solver, unbreakable, .. } = file;
        Some(Suite { name, version, family, split, canary, salt, inject, bars, solver, unbreakable, tasks })
    }

    /// The text of the lock file. The same suite has the same text.
    pub fn to_toml(&self) -> String {
        let mut out =
            String::from("# A suite: what is made, and the digest that it must have. `benchwright build` checks it.\n");
        let _ = writeln!(out, "format = {}", Suite::FORMAT);
        let _ = writeln!(out, "name = {}", quoted(&self.name));
        let _ = writeln!(out, "version = {}", self.version);
        let _ = writeln!(out, "family = {}", quoted(&self.family));
        if !self.split.is_test() {
            let _ = writeln!(out, "split = {}", quoted(self.split.word()));
        }
        let _ = writeln!(out, "canary = {}", quoted(&self.canary));
        if let Some(salt) = &self.salt {
            let _ = writeln!(out, "salt = {}", quoted(salt));
        }
        if self.inject > 0 {
            let _ = writeln!(out, "inject = {}", self.inject);
        }
        let SuiteBars { recurring, near_duplicates, idle_rules, unmet_bounds, unbreakable } = self.bars;
        let bars = [
            ("recurring", recurring),
            ("near_duplicates", near_duplicates),
            ("idle_rules", idle_rules),
            ("unmet_bounds", unmet_bounds),
            ("unbreakable", unbreakable),
        ];
        if bars.iter().any(|(_, bar)| bar.is_some()) {
            out.push_str("\n[bars]\n");
            for (name, bar) in bars {
                let _ = bar.map(|bar| writeln!(out, "{name} = {bar}"));
            }
        }
        if let Some(solver) = &self.solver {
            let _ = writeln!(out, "\n[solver]\nversion = {}", quoted(&solver.version));
            let _ = writeln!(out, "library = {}", quoted(&solver.library));
        }
        if !self.unbreakable.is_empty() {
            let _ = writeln!(out, "\n[unbreakable]");
        }
        for (trial, share) in &self.unbreakable {
            let _ = writeln!(out, "{} = {share}", key(trial));
        }
        for task in &self.tasks {
            let _ = writeln!(out, "\n[[task]]\npattern = {}", quoted(&task.pattern));
            let _ = writeln!(out, "tier = {}", quoted(&task.tier));
            let _ = writeln!(out, "objective = {}", quoted(&task.objective));
            let _ = writeln!(out, "seed = {}", task.seed);
            if let Some(reading) = &task.reading {
                let _ = writeln!(out, "reading = {}", quoted(reading));
            }
            if let Some(digest) = &task.digest {
                let _ = writeln!(out, "digest = \"{digest}\"");
            }
            if let Some(cluster) = &task.cluster {
                let _ = writeln!(out, "cluster = {}", quoted(cluster));
            }
        }
        out
    }

    /// The salt of a task's id. In a committed suite each draw has one of its own, from which neither the suite's nor another's is found: so
    /// that one sealed task can be shown before the others are.
    pub fn salt_of(&self, task: &SuiteTask) -> Option<String> {
        let salt = self.salt.as_deref()?;
        if self.split != Split::Committed {
            return Some(salt.to_owned());
        }
        let seed = task.seed.to_le_bytes();
        let of: [&[u8]; 4] = [salt.as_bytes(), task.pattern.as_bytes(), task.tier.as_bytes(), &seed];
        Some(Digest::of_parts(["salt", "pattern", "tier", "seed"].into_iter().zip(of)).to_string())
    }

    /// The digest over the tasks' digests in order; `None` while a task has none.
    pub fn digest(&self) -> Option<Digest> {
        let digests: Option<Vec<[u8; 32]>> = self.tasks.iter().map(|task| Some(task.digest?.0)).collect();
        Some(Digest::of_parts(digests?.iter().map(|digest| ("task", &digest[..]))))
    }

    /// The line of a task, by what it was made from.
    pub fn line(
        &self,
        pattern: &str,
        tier: &str,
        objective: &str,
        seed: u64,
        reading: Option<&str>,
    ) -> Option<&SuiteTask> {
        self.tasks.iter().find(|task| {
            let same = task.pattern == pattern && task.tier == tier && task.objective == objective;
            same && task.seed == seed && task.reading.as_deref() == reading
        })
    }
}

impl SuiteTask {
    /// What intervals cluster on.
    pub fn cluster(&self) -> &str {
        self.cluster.as_ref().unwrap_or(&self.pattern)
    }
}

fn is_kebab(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    !name.is_empty() && name.len() <= 100 && name.chars().all(fits) && !name.starts_with('-')
}

/// A key of TOML, bare where it can be.
fn key(name: &str) -> String {
    let bare = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    if !name.is_empty() && name.bytes().all(bare) { name.to_owned() } else { quoted(name) }
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(control));
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        let task = |seed, digest| SuiteTask {
            pattern: "production/a".into(),
            tier: "easy".into(),
            objective: "feasibility".into(),
            seed,
            reading: None,
            digest,
            cluster: None,
        };
        Suite {
            name: "two".into(),
            version: 3,
            family: "erp".into(),
            split: Split::Test,
            canary: "a \"canary\" \\ with\tmarks".into(),
            salt: Some("0123456789abcdef0123456789abcdef".into()),
            inject: 0,
            bars: SuiteBars { recurring: Some(980), unmet_bounds: Some(3), ..SuiteBars::default() },
            solver: Some(SuiteSolver { version: "CP-SAT 9".into(), library: Digest::of(b"lib").to_string() }),
            unbreakable: BTreeMap::from([("near-miss".to_owned(), 1_234)]),
            tasks: vec![task(1, Some(Digest::of(b"1"))), task(u64::from(u32::MAX) + 1, Some(Digest::of(b"2")))],
        }
    }

    #[test]
    fn a_suite_reads_back_and_its_digest_covers_the_order() {
        let suite = suite();
        let text = suite.to_toml();
        assert_eq!(Suite::from_toml("two.toml", &text).unwrap(), suite);
        let mut turned = suite.clone();
        turned.tasks.reverse();
        assert_ne!(turned.digest().unwrap(), suite.digest().unwrap());
        let mut open = suite.clone();
        open.tasks[1].digest = None;
        assert_eq!(open.digest(), None);
        assert_eq!(Suite::from_toml("two.toml", &open.to_toml()).unwrap(), open);
        assert!(suite.line("production/a", "easy", "feasibility", 1, None).is_some());
        assert!(!text.contains("split"), "a suite of tests does not mention it");
        let train = Suite { split: Split::Train, ..suite.clone() };
        assert!(train.to_toml().contains("\nsplit = \"train\"\n"));
        assert_eq!(Suite::from_toml("suite.toml", &train.to_toml()).unwrap(), train);
        let injected = Suite { inject: 250_000, ..suite.clone() };
        assert!(injected.to_toml().contains("\ninject = 250000\n") && !text.contains("inject"));
        assert_eq!(Suite::from_toml("suite.toml", &injected.to_toml()).unwrap(), injected);
        let over = Suite { inject: 1_000_001, ..suite.clone() }.to_toml();
        assert!(Suite::from_toml("suite.toml", &over).unwrap_err().to_string().contains("at most 1000000 millionths"));
        assert!(suite.line("production/a", "hard", "feasibility", 1, None).is_none());
    }

    #[test]
    fn a_seed_that_is_kept_for_committed_suites_is_refused_whatever_the_split() {
        for split in Split::ALL {
            let mut suite = Suite { split, ..suite() };
            suite.tasks[1].seed = Split::NUMBERS - 1;
            assert_eq!(Suite::from_toml("two.toml", &suite.to_toml()).unwrap(), suite);
            for number in [Split::NUMBERS, Split::Committed.seed(1), i64::MAX as u64] {
                suite.tasks[1].seed = number;
                let error = Suite::from_toml("two.toml", &suite.to_toml()).unwrap_err().to_string();
                assert!(error.contains("are kept for committed suites"), "{split:?} {number}: {error}");
            }
        }
    }

    #[test]
    fn a_committed_draw_has_a_salt_of_its_own_that_its_twin_shares() {
        let mut suite = suite();
        assert_eq!(suite.salt_of(&suite.tasks[0]), suite.salt, "a public suite has one salt");
        suite.split = Split::Committed;
        let of = |task: &SuiteTask| suite.salt_of(task).unwrap();
        let (one, other) = (&suite.tasks[0], &suite.tasks[1]);
        assert_ne!(of(one), of(other));
        assert_ne!(Some(of(one)), suite.salt);
        assert_eq!(of(one), of(&SuiteTask { reading: Some("day/next".into()), objective: "b".into(), ..one.clone() }));
    }

    #[test]
    fn all_faults_are_told_and_another_format_is_refused() {
        let mut suite = suite();
        suite.name = "Two Tasks".into();
        suite.tasks[1].seed = 1;
        let text = suite.to_toml().replace(&Digest::of(b"1").to_string(), "abc").replace("version = 3\n", "vers = 3\n");
        let error = Suite::from_toml("two.toml", &text).unwrap_err().to_string();
        assert_eq!(
            error,
            "the suite has faults:\n\
             two.toml:1:1: this file has no `version`\n\
             two.toml:3:9: the name `Two Tasks` is not in kebab-case\n\
             two.toml:4:1: unknown key `vers`\n  help: did you mean `version`?\n\
             two.toml:25:11: `abc` is no SHA-256\n\
             two.toml:28:12: task 2 is task 1 again: production/a easy feasibility 1"
        );
        let other = suite.to_toml().replace("format = 1", "format = 2\nwhat = \"is this\"");
        assert_eq!(Suite::from_toml("two.toml", &other), Err(SuiteError::Format(2)));
        let Err(SuiteError::Faulty(faults)) = Suite::from_toml("no.toml", "name = 3") else { panic!("it reads") };
        assert!(faults.iter().any(|fault| fault.message == "this file has no `format`"), "{faults:?}");
    }
}
