//! Two agents on the same tasks, of one run or of two: a paired table by tier and overall.

use crate::stats::{Difference, Finding, LEVEL, Unit, could_tell, holm, paired, rounded};
use crate::summary::{Tally, Tried, passes, rewards};
use benchwright_pack::run::TaskLine;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One side of a comparison: an agent in a run.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The records of the run, counted.
    pub tally: &'a Tally<'a>,
    /// The agent of the run that is compared, by its name.
    pub agent: &'a str,
}

/// Why two sides cannot be compared.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The plan does not have the agent.
    #[error("the run has no agent {0}; it has {1}")]
    NoAgent(String, String),
    /// The tasks are not the same.
    #[error(
        "the runs are of different tasks: {only_a} only in the first and {only_b} only in the second, such as {example}"
    )]
    OtherTasks {
        /// Tasks that only the first has.
        only_a: usize,
        /// Tasks that only the second has.
        only_b: usize,
        /// The digest of one of them.
        example: String,
    },
}

/// A comparison of two agents. `left_out` counts tasks that one side has no scored trial of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The name of the first agent; differences are its result minus the other's.
    pub a: String,
    /// The name of the second agent.
    pub b: String,
    /// Tasks that are left out, because one side has no scored trial of them.
    pub left_out: usize,
    /// The pass rate over all tasks. Its finding is Holm's where several agents are compared.
    pub pass: Difference,
    /// The p value of `pass` after Holm's correction.
    pub p_holm: Option<f64>,
    /// The reward over all tasks.
    pub reward: Difference,
    /// The pass rate by tier.
    pub tiers: Vec<(String, Difference)>,
}

/// Compares two agents on the same tasks.
pub fn compare(a: Side, b: Side) -> Result<Comparison, CompareError> {
    for side in [a, b] {
        if !side.tally.plan.agents.iter().any(|agent| agent == side.agent) {
            return Err(CompareError::NoAgent(side.agent.to_owned(), side.tally.plan.agents.join(", ")));
        }
    }
    let digests =
        |side: Side<'_>| side.tally.plan.tasks.iter().map(|task| task.digest.clone()).collect::<BTreeSet<String>>();
    let (left, right) = (digests(a), digests(b));
    if left != right {
        return Err(CompareError::OtherTasks {
            only_a: left.difference(&right).count(),
            only_b: right.difference(&left).count(),
            example: left.symmetric_difference(&right).next().cloned().unwrap_or_default(),
        });
    }
    let rows = |side: Side<'_>| -> BTreeMap<String, [Option<(f64, u32)>; 2]> {
        let mean = |unit: Unit| (unit.mean, unit.trials);
        let tried = side.tally.tried(side.agent);
        let row = |of: &Tried| [of.unit(passes).map(mean), of.unit(rewards).map(mean)];
        tried.iter().map(|of| (of.task.digest.clone(), row(of))).collect()
    };
    let (left, right) = (rows(a), rows(b));
    let pairs = |at: usize, wanted: &dyn Fn(&TaskLine) -> bool| -> Vec<(Unit<'_>, Unit<'_>)> {
        let unit = |task: &'_ TaskLine, side: &BTreeMap<String, [Option<(f64, u32)>; 2]>| {
            side.get(&task.digest).and_then(|row| row[at])
        };
        a.tally
            .plan
            .tasks
            .iter()
            .filter(|task| wanted(task))
            .filter_map(|task| {
                let ((left, n), (right, m)) = (unit(task, &left)?, unit(task, &right)?);
                let cluster = &*task.cluster;
                Some((Unit { cluster, mean: left, trials: n }, Unit { cluster, mean: right, trials: m }))
            })
            .collect()
    };
    let all = pairs(0, &|_| true);
    let mut tiers: Vec<&str> = Vec::new();
    for task in &a.tally.plan.tasks {
        if !tiers.contains(&&*task.tier) {
            tiers.push(&task.tier);
        }
    }
    tiers.sort_by_key(|tier| benchwright_pack::tier_place(tier));
    let pass = paired(&all);
    Ok(Comparison {
        a: a.agent.to_owned(),
        b: b.agent.to_owned(),
        left_out: a.tally.plan.tasks.len() - all.len(),
        p_holm: pass.p,
        pass,
        reward: paired(&pairs(1, &|_| true)),
        tiers: tiers.iter().map(|tier| ((*tier).to_owned(), paired(&pairs(0, &|task| task.tier == *tier)))).collect(),
    })
}

/// Compares each with each. Beyond two sides the p values are Holm's, and a difference that does not hold after the
/// correction is not found.
pub fn compare_all(sides: &[Side]) -> Result<Vec<Comparison>, CompareError> {
    let mut out = Vec::new();
    for (at, a) in sides.iter().enumerate() {
        for b in &sides[at + 1..] {
            out.push(compare(*a, *b)?);
        }
    }
    let known: Vec<usize> = (0..out.len()).filter(|at| out[*at].pass.p.is_some()).collect();
    let adjusted = holm(&known.iter().filter_map(|at| out[*at].pass.p).collect::<Vec<f64>>());
    let comparisons = known.len();
    for (at, p) in known.into_iter().zip(adjusted) {
        out[at].p_holm = Some(rounded(p));
        if p >= 1.0 - LEVEL {
            let pass = &mut out[at].pass;
            let once = pass.mcnemar.is_some();
            let could = could_tell(pass.tasks, pass.clusters, comparisons, once);
            pass.finding = if could { Finding::CannotDistinguish } else { Finding::CouldNeverTell };
        }
    }
    Ok(out)
}
