//! What a run amounts to: for each agent how it fared, over all tasks and by tier, pattern, domain, objective and horizon.
//! Keys of the JSON are the names of the fields; shares and rewards run from 0 to 1; what is not known is null.

mod figures;
mod grid;
mod injections;
mod pairs;
mod refusals;

pub use figures::{Counts, Figures};
pub use grid::{Grid, GridCell};
pub use injections::InjectionFigures;
pub use pairs::PairFigures;
pub use refusals::RefusalFigures;

use crate::stats::{Unit, intraclass, rounded, spearman};
use benchwright_pack::{
    run::{RunPlan, Score, TaskLine, TrialEnd, TrialKey, TrialRecord},
    tier_place,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The version of the summary's JSON.
pub const SUMMARY_VERSION: u32 = 1;

/// Why a summary could not be made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// A record is of a trial that the plan does not have.
    #[error("the plan has no trial {attempt} of task {task} by {agent}; is this record of another run?")]
    NotPlanned {
        /// The digest of the task.
        task: String,
        /// The name of the agent in the record.
        agent: String,
        /// The number of the attempt in the record.
        attempt: u32,
    },
}

/// A run as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The version of this format.
    pub version: u32,
    /// The digest of the plan.
    pub plan: String,
    /// The number of tasks.
    pub tasks: usize,
    /// The number of clusters.
    pub clusters: usize,
    /// How often each agent tries each task.
    pub attempts: u32,
    /// Trials that were planned.
    pub planned: usize,
    /// Trials that ended, scored or not.
    pub attempted: usize,
    /// Trials that were scored.
    pub scored: usize,
    /// Trials that ended in an error which is not the agent's.
    pub errors: usize,
    /// The mean over the agents of their mean reward.
    pub mean_reward: Option<f64>,
    /// The mean over the agents of their pass@1.
    pub pass_at_1: Option<f64>,
    /// Trials per second of one worker: trials by the sum of their wall time.
    pub trials_per_s: Option<f64>,
    /// The share of wall time spent inside the world and the judge.
    pub environment_share: Option<f64>,
    /// The agents, in the order of the plan.
    pub agents: Vec<AgentSummary>,
}

/// One agent in a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSummary {
    /// The name of the agent, as the plan has it.
    pub agent: String,
    /// What else decides what it does: how a program was kept apart, a model's temperature.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// The figures over all tasks of the plan.
    pub all: Figures,
    /// What the trials that ended in an error say, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorLine>,
    /// Over parts of them.
    pub by: Breakdown,
    /// Families of rules: the share of scored trials in which one of the family failed, largest first.
    pub families: Vec<Failure>,
    /// Rules: the share of scored trials in which it failed, largest first.
    pub rules: Vec<Failure>,
    /// pass@1 over two axes: tier and horizon, and with several domains domain and tier.
    pub grids: Vec<Grid>,
    /// What goes along with success and with the number of calls.
    pub correlations: Vec<Correlation>,
    /// Tasks with passed and failed trials.
    pub flaky: Vec<Flaky>,
    /// Twins, which count as pairs; none where the run has no twins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairFigures>,
    /// Requests that were declined and that were to be; none where the run has no request that cannot be carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusals: Option<RefusalFigures>,
    /// Hostile text that records carry; none where no task of the run has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injections: Option<InjectionFigures>,
    /// How alike tasks of one cluster are: the intraclass correlation of their pass rates.
    pub icc_cluster: Option<f64>,
    /// How alike trials of one task are; null at one attempt.
    pub icc_task: Option<f64>,
}

/// An error that trials ended in without being the agent's fault.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorLine {
    /// What kind of failure.
    pub cause: String,
    /// What was said.
    pub detail: String,
    /// How many trials ended so.
    pub trials: usize,
}

/// The figures of parts of the tasks.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Breakdown {
    /// By tier, from the easiest on.
    pub tier: Vec<Group>,
    /// By pattern, in order of name.
    pub pattern: Vec<Group>,
    /// By domain, in order of name.
    pub domain: Vec<Group>,
    /// By objective, in order of name; requests that cannot be carried out by why.
    pub objective: Vec<Group>,
    /// By the number of calls of the oracle, in bins that double.
    pub horizon: Vec<Group>,
    /// Requests by how much the policy wants beside what is asked for; none where the run has no requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<Group>,
}

/// A part of the tasks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The tier, pattern, domain, objective or bin of horizons.
    pub name: String,
    /// The figures of the agent over the tasks of this group.
    pub figures: Figures,
}

/// How often something failed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The rule or the family.
    pub name: String,
    /// The family of the rule; of a family its own name.
    pub family: String,
    /// Scored trials in which it failed.
    pub trials: usize,
    /// Their share of all scored trials.
    pub rate: f64,
}

/// Spearman's rank correlation of a parameter over tasks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correlation {
    /// The parameter; `horizon` for the calls of the oracle.
    pub parameter: String,
    /// The tasks that have it and a scored trial.
    pub tasks: usize,
    /// With the pass rate of the task.
    pub success: Option<f64>,
    /// With the mean number of calls.
    pub calls: Option<f64>,
}

/// A task with mixed results.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flaky {
    /// The id of the task.
    pub task: String,
    /// How many of its scored trials passed.
    pub passed: usize,
    /// Trials that were scored.
    pub scored: usize,
}

/// A task with an agent's trials of it.
pub(crate) struct Tried<'a> {
    /// The task.
    pub(crate) task: &'a TaskLine,
    /// The trials that ended.
    pub(crate) records: Vec<&'a TrialRecord>,
}

impl<'a> Tried<'a> {
    /// The scored trials.
    pub(crate) fn scores(&self) -> impl Iterator<Item = (&'a Score, &'a TrialRecord)> {
        self.records.iter().filter_map(|record| match &record.end {
            TrialEnd::Scored(score) => Some((score, *record)),
            TrialEnd::Error { .. } => None,
        })
    }

    /// The mean of something over the scored trials; `None` without one.
    pub(crate) fn unit(&self, value: impl Fn(&Score) -> f64) -> Option<Unit<'a>> {
        let (mut trials, mut sum) = (0, 0.0);
        for (score, _) in self.scores() {
            trials += 1;
            sum += value(score);
        }
        (trials > 0).then(|| Unit { cluster: &self.task.cluster, mean: sum / f64::from(trials), trials })
    }
}

/// 1 for true.
pub(crate) fn one(truth: bool) -> f64 {
    f64::from(u8::from(truth))
}

/// The trials of one agent by task, in the order of the plan. A record that stands twice counts as it stands last.
pub(crate) fn tried<'a>(plan: &'a RunPlan, records: &'a [TrialRecord], agent: &str) -> Vec<Tried<'a>> {
    let mut by_task: BTreeMap<&str, BTreeMap<u32, &TrialRecord>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.key.agent == agent) {
        by_task.entry(&record.key.task).or_default().insert(record.key.attempt, record);
    }
    plan.tasks
        .iter()
        .map(|task| Tried {
            task,
            records: by_task.get(&*task.digest).map(|of| of.values().copied().collect()).unwrap_or_default(),
        })
        .collect()
}

impl Summary {
    /// The summary of a run, finished or not.
    pub fn of(plan: &RunPlan, records: &[TrialRecord]) -> Result<Summary, SummaryError> {
        let tasks: BTreeSet<&str> = plan.tasks.iter().map(|task| &*task.digest).collect();
        let agents: BTreeSet<&str> = plan.agents.iter().map(|agent| &**agent).collect();
        let planned = |key: &TrialKey| {
            tasks.contains(&*key.task) && agents.contains(&*key.agent) && (1..=plan.attempts).contains(&key.attempt)
        };
        if let Some(TrialRecord { key, .. }) = records.iter().find(|record| !planned(&record.key)) {
            let TrialKey { task, agent, attempt } = key.clone();
            return Err(SummaryError::NotPlanned { task, agent, attempt });
        }
        let (mut wall, mut world, mut trials) = (0.0, 0.0, 0.0);
        let mut summaries = Vec::new();
        for agent in &plan.agents {
            let tried = tried(plan, records, agent);
            for record in tried.iter().flat_map(|tried| &tried.records) {
                wall += record.spent.wall as f64 / 1e6;
                world += record.spent.world as f64 / 1e6;
                trials += 1.0;
            }
            summaries.push(agent_summary(plan, agent, &tried));
        }
        let count = |of: fn(&Counts) -> usize| summaries.iter().map(|agent| of(&agent.all.counts)).sum();
        let mean = |of: fn(&Figures) -> Option<f64>| {
            let known: Vec<f64> = summaries.iter().filter_map(|agent| of(&agent.all)).collect();
            (!known.is_empty()).then(|| rounded(known.iter().sum::<f64>() / known.len() as f64))
        };
        Ok(Summary {
            version: SUMMARY_VERSION,
            plan: plan.digest().to_string(),
            tasks: plan.tasks.len(),
            clusters: plan.tasks.iter().map(|task| &*task.cluster).collect::<BTreeSet<&str>>().len(),
            attempts: plan.attempts,
            planned: count(|counts| counts.planned),
            attempted: count(|counts| counts.attempted),
            scored: count(|counts| counts.scored),
            errors: count(|counts| counts.errors),
            mean_reward: mean(|figures| figures.mean_reward.value),
            pass_at_1: mean(|figures| figures.pass_at_1.value),
            trials_per_s: (wall > 0.0).then(|| rounded(trials / wall)),
            environment_share: (wall > 0.0).then(|| rounded(world / wall)),
            agents: summaries,
        })
    }
}

/// How many different errors of an agent are told.
const ERRORS: usize = 5;

fn errors(tried: &[Tried]) -> Vec<ErrorLine> {
    let mut found: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for record in tried.iter().flat_map(|tried| &tried.records) {
        if let TrialEnd::Error { cause, detail } = &record.end {
            *found.entry((cause, detail)).or_default() += 1;
        }
    }
    let line = |((cause, detail), trials): ((&str, &str), usize)| ErrorLine {
        cause: cause.to_owned(),
        detail: detail.to_owned(),
        trials,
    };
    let mut lines: Vec<ErrorLine> = found.into_iter().map(line).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.trials));
    lines.truncate(ERRORS);
    lines
}

fn agent_summary(plan: &RunPlan, agent: &str, tried: &[Tried]) -> AgentSummary {
    let attempts = plan.attempts;
    let all: Vec<&Tried> = tried.iter().collect();
    let groups = |name: fn(&TaskLine) -> (u32, String)| {
        let mut parts: BTreeMap<(u32, String), Vec<&Tried>> = BTreeMap::new();
        for tried in tried {
            parts.entry(name(tried.task)).or_default().push(tried);
        }
        let part = |((_, name), of): ((u32, String), Vec<&Tried>)| Group { name, figures: Figures::of(&of, attempts) };
        parts.into_iter().map(part).collect()
    };
    let (families, rules) = failures(tried);
    let mut clusters: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let (mut trials, mut flaky) = (Vec::new(), Vec::new());
    for tried in tried {
        let results: Vec<f64> = tried.scores().map(|(score, _)| one(score.pass)).collect();
        if results.is_empty() {
            continue;
        }
        let passed = results.iter().filter(|result| **result > 0.0).count();
        clusters.entry(&tried.task.cluster).or_default().push(passed as f64 / results.len() as f64);
        if passed > 0 && passed < results.len() {
            flaky.push(Flaky { task: tried.task.id.clone(), passed, scored: results.len() });
        }
        trials.push(results);
    }
    AgentSummary {
        agent: agent.to_owned(),
        settings: plan.settings.get(agent).cloned().unwrap_or_default(),
        all: Figures::of(&all, attempts),
        errors: errors(tried),
        by: Breakdown {
            tier: groups(|task| (tier_place(&task.tier), task.tier.clone())),
            pattern: groups(|task| (0, task.pattern.clone())),
            domain: groups(|task| (0, task.domain.clone())),
            objective: groups(|task| (0, task.obstacle.as_ref().unwrap_or(&task.objective).clone())),
            horizon: groups(|task| horizon_bin(task.horizon)),
            ways: if tried.iter().any(|tried| ways(tried.task).is_some()) {
                groups(|task| ways(task).unwrap_or((u32::MAX, "no requests".to_owned())))
            } else {
                Vec::new()
            },
        },
        families,
        rules,
        grids: grid::grids(tried),
        correlations: correlations(tried),
        flaky,
        pairs: pairs::figures(tried),
        refusals: refusals::figures(tried),
        injections: injections::figures(tried),
        icc_cluster: intraclass(&clusters.into_values().collect::<Vec<_>>()).map(rounded),
        icc_task: intraclass(&trials).map(rounded),
    }
}

/// How many rules of the policy want something done beside what a request asks for.
fn ways(task: &TaskLine) -> Option<(u32, String)> {
    if task.obstacle.is_some() {
        return task.parameters.get("ways").map(|_| (4, "cannot be carried out".to_owned()));
    }
    let ways = u32::try_from(*task.parameters.get("ways")?).ok()?;
    Some((ways.min(3), if ways < 3 { ways.to_string() } else { "3 and more".to_owned() }))
}

/// The bin of a horizon: 0, 1 to 4, 5 to 8, 9 to 16, and so on, each twice as long.
fn horizon_bin(horizon: u32) -> (u32, String) {
    if horizon == 0 {
        return (0, "0".to_owned());
    }
    let last = u64::from(horizon.max(4)).next_power_of_two();
    let first = if last == 4 { 1 } else { last / 2 + 1 };
    (first as u32, format!("{first}–{last}"))
}

/// How often each family and each rule failed, the most frequent first.
fn failures(tried: &[Tried]) -> (Vec<Failure>, Vec<Failure>) {
    let mut families: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rules: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut scored = 0;
    for (score, _) in tried.iter().flat_map(Tried::scores) {
        scored += 1;
        for family in score.failed.values().map(|family| &**family).collect::<BTreeSet<&str>>() {
            *families.entry(family).or_default() += 1;
        }
        for (rule, family) in &score.failed {
            *rules.entry((rule, family)).or_default() += 1;
        }
    }
    let failure = |name: &str, family: &str, trials: usize| Failure {
        name: name.to_owned(),
        family: family.to_owned(),
        trials,
        rate: rounded(trials as f64 / f64::from(scored.max(1))),
    };
    let mut families: Vec<Failure> = families.into_iter().map(|(name, n)| failure(name, name, n)).collect();
    let mut rules: Vec<Failure> = rules.into_iter().map(|((name, family), n)| failure(name, family, n)).collect();
    // Sorting keeps equal ones in the order of their names.
    families.sort_by_key(|failure| std::cmp::Reverse(failure.trials));
    rules.sort_by_key(|failure| std::cmp::Reverse(failure.trials));
    (families, rules)
}

/// The correlations of the horizon and of each parameter.
fn correlations(tried: &[Tried]) -> Vec<Correlation> {
    let names: BTreeSet<&str> =
        tried.iter().flat_map(|tried| tried.task.parameters.keys()).map(|name| &**name).collect();
    let correlation = |name: &str, value: &dyn Fn(&TaskLine) -> Option<f64>| {
        let (mut success, mut calls) = (Vec::new(), Vec::new());
        for tried in tried {
            let (Some(value), Some(pass)) = (value(tried.task), tried.unit(|score| one(score.pass))) else { continue };
            let made: f64 = tried.scores().map(|(_, record)| f64::from(record.used.calls)).sum();
            success.push((value, pass.mean));
            calls.push((value, made / f64::from(pass.trials)));
        }
        Correlation {
            parameter: name.to_owned(),
            tasks: success.len(),
            success: spearman(&success).map(rounded),
            calls: spearman(&calls).map(rounded),
        }
    };
    let horizon = correlation("horizon", &|task| Some(f64::from(task.horizon)));
    let parameters = names
        .into_iter()
        .filter(|name| *name != "horizon")
        .map(|name| correlation(name, &|task| task.parameters.get(name).map(|value| *value as f64)));
    std::iter::once(horizon).chain(parameters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn horizons_fall_into_bins_that_double() {
        for (horizon, bin) in [(0, "0"), (1, "1–4"), (4, "1–4"), (5, "5–8"), (8, "5–8"), (9, "9–16"), (33, "33–64")]
        {
            assert_eq!(horizon_bin(horizon).1, bin);
        }
        assert_eq!(horizon_bin(u32::MAX).1, "2147483649–4294967296");
        assert!(tier_place("easy") < tier_place("hard") && tier_place("hard") < tier_place("other"));
    }
}
