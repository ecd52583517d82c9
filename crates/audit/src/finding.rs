//! What an audit trial found on a task (it held, it failed and why, it does not apply), and what findings add up to over a
//! suite.

use crate::TRIALS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a trial ended on one task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Held {
    /// What it looks for did not happen: the task stood it.
    Passed,
    /// It did not; what was seen.
    Failed(String),
    /// The trial does not concern this task; why.
    Na(String),
    /// It could not be judged; why. Never a pass.
    NoVerdict(String),
}

/// What one trial found on one task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "Written", from = "Written")]
pub struct Finding {
    /// Whether the task stood the trial, or why not.
    pub held: Held,
    /// Figures, by name, such as how many rule instances were tried.
    pub counts: BTreeMap<String, u64>,
    /// What is worth telling: reasons that were declared, cases that were set aside.
    pub notes: Vec<String>,
}

/// A finding as it is written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    held: Word,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    counts: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Passed,
    Failed,
    Na,
    NoVerdict,
}

impl From<Finding> for Written {
    fn from(finding: Finding) -> Written {
        let (held, why) = match finding.held {
            Held::Passed => (Word::Passed, None),
            Held::Failed(why) => (Word::Failed, Some(why)),
            Held::Na(why) => (Word::Na, Some(why)),
            Held::NoVerdict(why) => (Word::NoVerdict, Some(why)),
        };
        Written { held, why, counts: finding.counts, notes: finding.notes }
    }
}

impl From<Written> for Finding {
    fn from(written: Written) -> Finding {
        let why = written.why.unwrap_or_default();
        let held = match written.held {
            Word::Passed => Held::Passed,
            Word::Failed => Held::Failed(why),
            Word::Na => Held::Na(why),
            Word::NoVerdict => Held::NoVerdict(why),
        };
        Finding { held, counts: written.counts, notes: written.notes }
    }
}

impl Finding {
    /// A finding without figures.
    pub fn new(held: Held) -> Finding {
        Finding { held, counts: BTreeMap::new(), notes: Vec::new() }
    }

    /// Passed, or failed with the first of what was seen.
    pub fn of(faults: &[String]) -> Finding {
        Finding::new(match faults.first() {
            None => Held::Passed,
            Some(first) if faults.len() == 1 => Held::Failed(first.clone()),
            Some(first) => Held::Failed(format!("{first} (and {} more)", faults.len() - 1)),
        })
    }

    /// The same with a figure.
    #[must_use]
    pub fn count(mut self, name: &str, count: usize) -> Finding {
        *self.counts.entry(name.to_owned()).or_default() += count as u64;
        self
    }
}

/// What all trials found on one task.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TaskReport {
    /// The id of the task.
    pub id: String,
    /// The pattern that the task was made of.
    pub pattern: String,
    /// The findings, by trial, with the seconds each took.
    pub trials: BTreeMap<String, Finding>,
    /// Milliseconds by trial. They are no part of any digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub milliseconds: BTreeMap<String, u64>,
}

/// One trial over a suite.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TrialSummary {
    /// Tasks it was run on.
    pub run: u64,
    /// Tasks on which its condition held.
    pub passed: u64,
    /// Tasks it does not concern.
    pub na: u64,
    /// Why it does not concern them, with how many.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub na_because: BTreeMap<String, u64>,
    /// Tasks it could not judge.
    pub no_verdict: u64,
    /// Tasks on which it failed.
    pub failed: u64,
    /// Seconds over all tasks it was run on.
    pub seconds: f64,
    /// Figures of all tasks, added up; of those named `highest…`, the highest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
}

/// The tasks of one pattern, tier and objective, where the costly trials were run on a sample of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CellSummary {
    /// How many tasks it has.
    pub tasks: u64,
    /// The trials that were run on the sample, by name.
    pub trials: BTreeMap<String, DrawnSummary>,
}

/// One trial on the sample of a cell.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DrawnSummary {
    /// Tasks of the sample that it concerns.
    pub tried: u64,
    /// Tasks that stood it. One that could not be judged did not.
    pub clean: u64,
    /// The largest share of faulty tasks that the sample does not rule out at 95 %, in millionths; null where nothing was tried.
    pub bound: Option<u32>,
}

/// The audit of a suite.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AuditReport {
    /// How many tasks were audited.
    pub tasks: u64,
    /// Rule instances whose near-miss was refused by the right name, over those that can be broken; 1 is all of them.
    pub mutation_score: Option<f64>,
    /// The trials, by name.
    pub trials: BTreeMap<String, TrialSummary>,
    /// What failed or could not be judged: task, trial, what was seen.
    #[serde(default)]
    pub shortfalls: Vec<(String, String, String)>,
    /// What was found of the suite as a whole, where it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Finding>,
    /// Trials that could not break a larger share than the suite's lock file has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risen: Vec<String>,
    /// Declared reasons why instances cannot be broken, with their count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
    /// What was drawn of each cell, named by its pattern, tier and objective.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cells: BTreeMap<String, CellSummary>,
}

impl TrialSummary {
    fn count(&mut self, counts: &BTreeMap<String, u64>) {
        for (name, count) in counts {
            let so_far = self.counts.entry(name.clone()).or_default();
            // The highest of all is not the sum of them.
            *so_far = if name.starts_with("highest") { *count.max(so_far) } else { *so_far + count };
        }
    }
}

fn add_up(sum: &mut BTreeMap<String, u64>, other: BTreeMap<String, u64>) {
    for (name, count) in other {
        *sum.entry(name).or_default() += count;
    }
}

impl AuditReport {
    /// Adds a task's findings.
    pub fn add(&mut self, task: &TaskReport) {
        self.tasks += 1;
        for (trial, finding) in &task.trials {
            let summary = self.trials.entry(trial.clone()).or_default();
            summary.run += 1;
            let note = match &finding.held {
                Held::Passed => {
                    summary.passed += 1;
                    None
                }
                Held::Na(why) => {
                    summary.na += 1;
                    *summary.na_because.entry(why.clone()).or_default() += 1;
                    None
                }
                Held::Failed(why) => {
                    summary.failed += 1;
                    Some(why)
                }
                Held::NoVerdict(why) => {
                    summary.no_verdict += 1;
                    Some(why)
                }
            };
            if let Some(why) = note {
                self.shortfalls.push((task.id.clone(), trial.clone(), why.clone()));
            }
            summary.count(&finding.counts);
            for note in &finding.notes {
                *self.reasons.entry(note.clone()).or_default() += 1;
            }
            summary.seconds += task.milliseconds.get(trial).copied().unwrap_or(0) as f64 / 1_000.0;
        }
        self.score();
    }

    fn score(&mut self) {
        self.mutation_score = self.trials.get("near-miss").and_then(|near| {
            let get = |name: &str| near.counts.get(name).copied().unwrap_or(0);
            let breakable = get("instances").saturating_sub(get("unbreakable"));
            (breakable > 0).then(|| get("killed") as f64 / breakable as f64)
        });
    }

    /// Adds how a trial ended on a task that was drawn of a cell.
    pub fn add_drawn(&mut self, cell: &str, trial: &str, held: &Held) {
        let drawn = self.cells.entry(cell.to_owned()).or_default().trials.entry(trial.to_owned()).or_default();
        drawn.tried += u64::from(!matches!(held, Held::Na(_)));
        drawn.clean += u64::from(*held == Held::Passed);
    }

    /// Adds what was found on other tasks of the same suite. Bounds are of the whole, so neither has any yet.
    pub fn merge(&mut self, other: AuditReport) {
        self.tasks += other.tasks;
        for (name, trial) in other.trials {
            let sum = self.trials.entry(name).or_default();
            sum.run += trial.run;
            sum.passed += trial.passed;
            sum.na += trial.na;
            add_up(&mut sum.na_because, trial.na_because);
            sum.no_verdict += trial.no_verdict;
            sum.failed += trial.failed;
            sum.seconds += trial.seconds;
            sum.count(&trial.counts);
        }
        self.shortfalls.extend(other.shortfalls);
        add_up(&mut self.reasons, other.reasons);
        for (name, cell) in other.cells {
            let sum = self.cells.entry(name).or_default();
            sum.tasks += cell.tasks;
            for (trial, drawn) in cell.trials {
                let sum = sum.trials.entry(trial).or_default();
                sum.tried += drawn.tried;
                sum.clean += drawn.clean;
            }
        }
        self.score();
    }

    /// Adds what was found of the suite as a whole.
    pub fn add_suite(&mut self, name: &str, finding: Finding, seconds: f64) {
        let trials = BTreeMap::from([("suite".to_owned(), Finding { notes: Vec::new(), ..finding.clone() })]);
        let whole = TaskReport { id: name.to_owned(), trials, ..TaskReport::default() };
        self.add(&whole);
        self.tasks -= 1;
        if let Some(summary) = self.trials.get_mut("suite") {
            summary.seconds = seconds;
        }
        self.suite = Some(finding);
    }

    /// The share of instances that each trial could not break, in millionths, rounded up.
    pub fn unbreakable(&self) -> BTreeMap<String, u32> {
        let share = |trial: &TrialSummary| {
            let get = |name: &str| trial.counts.get(name).copied().unwrap_or(0);
            let (all, open) = (get("instances"), get("unbreakable"));
            (all > 0).then(|| u32::try_from((open * 1_000_000).div_ceil(all)).unwrap_or(u32::MAX))
        };
        self.trials.iter().filter_map(|(name, trial)| Some((name.clone(), share(trial)?))).collect()
    }

    /// Holds the shares to those of a lock file. Only an audit of the whole suite can be held to them.
    pub fn hold(&mut self, locked: &BTreeMap<String, u32>) {
        for (trial, share) in self.unbreakable() {
            if let Some(known) = locked.get(&trial).filter(|known| share > **known) {
                self.risen.push(format!(
                    "{trial} could not break {share} millionths of its instances, {known} by the lock file"
                ));
            }
        }
    }

    /// Whether every trial held on every task it concerns. What could not be judged is no pass, except by the trials that prove
    /// within a limit of work.
    pub fn clean(&self) -> bool {
        let held = |(name, trial): (&String, &TrialSummary)| {
            let may_stay_open = || TRIALS.iter().any(|known| known.name == name && known.proves);
            trial.failed == 0 && (trial.no_verdict == 0 || may_stay_open())
        };
        self.risen.is_empty() && self.trials.iter().all(held) && self.mutation_score.is_none_or(|score| score >= 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_rises_above_the_lock_is_not_clean() {
        let found = Finding::new(Held::Passed).count("instances", 300).count("unbreakable", 2);
        let trials = BTreeMap::from([("near-miss".to_owned(), found.count("killed", 298))]);
        let mut report = AuditReport::default();
        report.add(&TaskReport { trials, ..TaskReport::default() });
        let share = BTreeMap::from([("near-miss".to_owned(), 6_667)]);
        assert_eq!(report.unbreakable(), share);
        report.hold(&share);
        assert!(report.clean());
        report.hold(&BTreeMap::from([("near-miss".to_owned(), 6_666)]));
        assert!(!report.clean() && report.risen.len() == 1);
    }

    #[test]
    fn what_could_not_be_judged_is_clean_only_where_a_proof_has_a_limit() {
        let clean = |trial: &str| {
            let open = Finding::new(Held::NoVerdict("no time".to_owned()));
            let mut report = AuditReport::default();
            report.add(&TaskReport { trials: BTreeMap::from([(trial.to_owned(), open)]), ..TaskReport::default() });
            report.clean()
        };
        assert!(clean("dominance") && clean("second-solver"));
        assert!(!clean("outsider") && !clean("cells") && !clean("suite"));
    }

    #[test]
    fn reports_of_parts_add_up_to_the_report_of_the_whole() {
        let task = |id: &str, held: Held, highest: usize| {
            let found = Finding { notes: vec!["a note".to_owned()], ..Finding::new(held) };
            let found = found.count("instances", 3).count("killed", 2).count("highest of all", highest);
            let trials = BTreeMap::from([("near-miss".to_owned(), found)]);
            TaskReport { id: id.to_owned(), trials, ..TaskReport::default() }
        };
        let tasks = [
            task("a", Held::Passed, 4),
            task("b", Held::Na("why".to_owned()), 9),
            task("c", Held::NoVerdict("no time".to_owned()), 5),
        ];
        let of = |tasks: &[TaskReport]| {
            let mut report = AuditReport::default();
            for task in tasks {
                report.add(task);
                report.add_drawn("cell", "near-miss", &task.trials["near-miss"].held);
            }
            report
        };
        let whole = of(&tasks);
        let mut parts = of(&tasks[..1]);
        parts.merge(of(&tasks[1..]));
        assert_eq!(parts, whole);
        assert_eq!(whole.trials["near-miss"].counts["highest of all"], 9);
        let drawn = &whole.cells["cell"].trials["near-miss"];
        assert_eq!(
            (drawn.tried, drawn.clean),
            (2, 1),
            "what does not concern a task is not tried; no verdict is not clean"
        );
    }

    #[test]
    fn a_finding_is_written_flat_and_read_back() {
        let passed = Finding::new(Held::Passed).count("instances", 3);
        let failed = Finding { notes: vec!["a".to_owned()], ..Finding::new(Held::NoVerdict("no time".to_owned())) };
        for (finding, text) in [
            (passed, r#"{"held":"passed","counts":{"instances":3}}"#),
            (failed, r#"{"held":"no-verdict","why":"no time","notes":["a"]}"#),
        ] {
            assert_eq!(serde_json::to_string(&finding).ok().as_deref(), Some(text));
            assert_eq!(serde_json::from_str::<Finding>(text).ok(), Some(finding));
        }
    }
}
