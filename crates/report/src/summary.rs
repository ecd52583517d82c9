//! What a run amounts to: for each agent how it fared, over all tasks and by tier, pattern, domain, objective and horizon.
//! Keys of the JSON are the names of the fields; shares and rewards run from 0 to 1; what is not known is null.

mod figures;
mod grid;
mod injections;
mod pairs;
mod plans;
mod refusals;
mod tally;

pub use figures::{Counts, Figures};
pub use grid::{Grid, GridCell};
pub use injections::InjectionFigures;
pub use pairs::PairFigures;
pub use plans::{PlanEnd, PlanFigures, PlanKind, PlanTier, Threshold};
pub use refusals::RefusalFigures;
pub use tally::Tally;
pub(crate) use tally::{Came, Known, Trials};

use crate::stats::{Unit, intraclass, intraclass_of_passes, rounded, spearman};
use benchwright_pack::{
    run::{RunPlan, TaskLine, TrialRecord},
    tier_place,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tally::OfAgent;

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
    /// Planning problems; none where the run has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<PlanFigures>,
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
#[derive(Clone, Copy)]
pub(crate) struct Tried<'a> {
    /// The task.
    pub(crate) task: &'a TaskLine,
    /// The trials that ended.
    pub(crate) trials: &'a Trials,
}

impl<'a> Tried<'a> {
    /// The mean over the scored trials of something that there is a sum of; `None` without one.
    pub(crate) fn unit(&self, sum: impl Fn(&Trials) -> f64) -> Option<Unit<'a>> {
        let trials = self.trials.scored;
        (trials > 0).then(|| Unit { cluster: &self.task.cluster, mean: sum(self.trials) / f64::from(trials), trials })
    }
}

/// How many trials passed.
pub(crate) fn passes(trials: &Trials) -> f64 {
    f64::from(trials.passed)
}

/// The sum of rewards from 0 to 1.
pub(crate) fn rewards(trials: &Trials) -> f64 {
    trials.reward as f64 / 1e6
}

impl Summary {
    /// The summary of a run with few records, finished or not. A record that stands twice counts as it stands last.
    pub fn of(plan: &RunPlan, records: &[TrialRecord]) -> Result<Summary, SummaryError> {
        Ok(Tally::of(plan, records)?.summary())
    }
}

/// The summary of a run of which these records were counted.
fn summary(tally: &Tally) -> Summary {
    let plan = tally.plan;
    let (mut wall, mut world) = (0, 0);
    let mut summaries = Vec::new();
    for (agent, of) in plan.agents.iter().filter_map(|agent| Some((agent, tally.agent(agent)?))) {
        wall += of.wall;
        world += of.world;
        summaries.push(agent_summary(plan, agent, of, &tally.tried(agent)));
    }
    let count = |of: fn(&Counts) -> usize| summaries.iter().map(|agent| of(&agent.all.counts)).sum();
    let mean = |of: fn(&Figures) -> Option<f64>| {
        let known: Vec<f64> = summaries.iter().filter_map(|agent| of(&agent.all)).collect();
        (!known.is_empty()).then(|| rounded(known.iter().sum::<f64>() / known.len() as f64))
    };
    let attempted: usize = count(|counts| counts.attempted);
    Summary {
        version: SUMMARY_VERSION,
        plan: plan.digest().to_string(),
        tasks: plan.tasks.len(),
        clusters: plan.tasks.iter().map(|task| &*task.cluster).collect::<BTreeSet<&str>>().len(),
        attempts: plan.attempts,
        planned: count(|counts| counts.planned),
        attempted,
        scored: count(|counts| counts.scored),
        errors: count(|counts| counts.errors),
        mean_reward: mean(|figures| figures.mean_reward.value),
        pass_at_1: mean(|figures| figures.pass_at_1.value),
        trials_per_s: (wall > 0).then(|| rounded(attempted as f64 / (wall as f64 / 1e6))),
        environment_share: (wall > 0).then(|| rounded(world as f64 / wall as f64)),
        agents: summaries,
    }
}

/// How many different errors of an agent are told.
const ERRORS: usize = 5;

fn errors(of: &OfAgent) -> Vec<ErrorLine> {
    let said = of.errors.iter().flat_map(|(cause, details)| details.iter().map(move |of| (cause, of)));
    let mut found: Vec<(&String, (&String, &usize))> = said.collect();
    // Sorting keeps equal ones in the order of their texts.
    found.sort_by_key(|(_, (_, trials))| std::cmp::Reverse(**trials));
    found.truncate(ERRORS);
    let line = |(cause, (detail, trials)): (&String, (&String, &usize))| ErrorLine {
        cause: cause.clone(),
        detail: detail.clone(),
        trials: *trials,
    };
    found.into_iter().map(line).collect()
}

fn agent_summary(plan: &RunPlan, agent: &str, of: &OfAgent, tried: &[Tried]) -> AgentSummary {
    let attempts = plan.attempts;
    let groups = |name: fn(&TaskLine) -> (u32, String)| {
        let mut parts: BTreeMap<(u32, String), Vec<Tried>> = BTreeMap::new();
        for tried in tried {
            parts.entry(name(tried.task)).or_default().push(*tried);
        }
        let part = |((_, name), of): ((u32, String), Vec<Tried>)| Group { name, figures: Figures::of(&of, attempts) };
        parts.into_iter().map(part).collect()
    };
    let (families, rules) = failures(of, tried);
    let mut clusters: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let (mut trials, mut flaky) = (Vec::new(), Vec::new());
    for Tried { task, trials: of } in tried.iter().filter(|tried| tried.trials.scored > 0) {
        let (scored, passed) = (of.scored, of.passed);
        clusters.entry(&task.cluster).or_default().push(f64::from(passed) / f64::from(scored));
        if passed > 0 && passed < scored {
            flaky.push(Flaky { task: task.id.clone(), passed: passed as usize, scored: scored as usize });
        }
        trials.push((scored, passed));
    }
    AgentSummary {
        agent: agent.to_owned(),
        settings: plan.settings.get(agent).cloned().unwrap_or_default(),
        all: Figures::of(tried, attempts),
        errors: errors(of),
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
        plans: plans::figures(tried),
        icc_cluster: intraclass(&clusters.into_values().collect::<Vec<_>>()).map(rounded),
        icc_task: intraclass_of_passes(&trials).map(rounded),
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
fn failures(of: &OfAgent, tried: &[Tried]) -> (Vec<Failure>, Vec<Failure>) {
    let scored: usize = tried.iter().map(|tried| tried.trials.scored as usize).sum();
    let failure = |name: &str, family: &str, trials: usize| Failure {
        name: name.to_owned(),
        family: family.to_owned(),
        trials,
        rate: rounded(trials as f64 / scored.max(1) as f64),
    };
    let mut families: Vec<Failure> = of.families.iter().map(|(name, trials)| failure(name, name, *trials)).collect();
    let rules = of.rules.iter().flat_map(|(name, families)| families.iter().map(move |of| (name, of)));
    let mut rules: Vec<Failure> = rules.map(|(name, (family, trials))| failure(name, family, *trials)).collect();
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
            let (Some(value), Some(pass)) = (value(tried.task), tried.unit(passes)) else { continue };
            success.push((value, pass.mean));
            calls.push((value, tried.trials.calls as f64 / f64::from(pass.trials)));
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
