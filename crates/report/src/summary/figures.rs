//! The figures of one agent over a group of tasks: how many trials passed, mean reward, calls, tokens, cost, each with what
//! is needed to judge it.

use super::{Tried, one};
use crate::stats::{Estimate, mean, passes, proportion, quantile, rounded};
use benchwright_pack::run::{Score, TrialEnd, TrialRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many trials came how far.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Tasks that these trials are of.
    pub tasks: usize,
    /// Trials that were planned.
    pub planned: usize,
    /// Trials that ended, scored or not.
    pub attempted: usize,
    /// Trials that were scored.
    pub scored: usize,
    /// Trials that ended in an error which is not the agent's.
    pub errors: usize,
    /// Those errors by cause.
    pub causes: BTreeMap<String, usize>,
}

/// The figures of one agent over some tasks. Estimates are means over tasks, so that each task counts the same.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// How many trials came how far.
    pub counts: Counts,
    /// The share of trials that pass: the perfect rate.
    pub pass_at_1: Estimate,
    /// The same with every trial that ended in an error taken as failed.
    pub errors_as_zero: Option<f64>,
    /// Programs that said that they had failed, and made no call. They are scored.
    pub never_began: usize,
    /// The pass rate over all planned trials if every unscored one failed.
    pub worst: Option<f64>,
    /// The pass rate over all planned trials if every unscored one passed.
    pub best: Option<f64>,
    /// The probability that one of k trials passes, from k = 1 to the attempts; over the tasks with k scored trials.
    pub pass_at_k: Vec<Option<f64>>,
    /// The probability that all of k trials pass.
    pub pass_hat_k: Vec<Option<f64>>,
    /// The mean reward of scored trials, from 0 to 1.
    pub mean_reward: Estimate,
    /// The share of trials whose reward reaches the paper's bar.
    pub paper_pass: Estimate,
    /// The share of trials with every check passed and no gate fired, whatever the objective.
    pub clean: Estimate,
    /// The share of clean trials that are within tolerance of the best; null without a clean one.
    pub optimal_given_clean: Option<f64>,
    /// The share of trials that changed what nobody had asked to change.
    pub side_effect: Estimate,
    /// Trials whose clean state is better than the certificate says is possible: each one is to be looked at.
    pub alarms: usize,
    /// Trials whose agent had the rights of who ran it: nothing but its word kept it from what is sealed.
    pub trusted: usize,
    /// Trials that reached a limit, by limit.
    pub limits: BTreeMap<String, usize>,
    /// Trials in which a gate fired, by gate.
    pub gates: BTreeMap<String, usize>,
    /// Calls of tools per scored trial.
    pub calls: Option<f64>,
    /// Calls that were refused per scored trial.
    pub refused: Option<f64>,
    /// Turns per scored trial; null unless known of every one.
    pub turns: Option<f64>,
    /// Tokens in per scored trial; null unless known of every one.
    pub tokens_in: Option<f64>,
    /// Tokens out per scored trial; null unless known of every one.
    pub tokens_out: Option<f64>,
    /// Dollars per scored trial; null unless known of every one.
    pub cost: Option<f64>,
    /// Seconds of wall time that half of the scored trials stay within.
    pub wall_p50: Option<f64>,
    /// Seconds of wall time that 95 % of the scored trials stay within.
    pub wall_p95: Option<f64>,
}

impl Figures {
    /// The figures over some tasks, each tried up to `attempts` times.
    pub(super) fn of(tried: &[&Tried], attempts: u32) -> Figures {
        let scored: Vec<(&Score, &TrialRecord)> = tried.iter().flat_map(|tried| tried.scores()).collect();
        let mut counts = Counts {
            tasks: tried.len(),
            planned: tried.len() * attempts as usize,
            attempted: tried.iter().map(|tried| tried.records.len()).sum(),
            scored: scored.len(),
            ..Counts::default()
        };
        for record in tried.iter().flat_map(|tried| &tried.records) {
            if let TrialEnd::Error { cause, .. } = &record.end {
                counts.errors += 1;
                *counts.causes.entry(cause.clone()).or_default() += 1;
            }
        }
        let units = |value: fn(&Score) -> f64| tried.iter().filter_map(|tried| tried.unit(value)).collect::<Vec<_>>();
        let passed = scored.iter().filter(|(score, _)| score.pass).count();
        let clean = scored.iter().filter(|(score, _)| score.clean).count();
        let optimal = scored.iter().filter(|(score, _)| score.clean && score.best).count();
        let share = |part: usize, whole: usize| (whole > 0).then(|| rounded(part as f64 / whole as f64));
        let (mut limits, mut gates): (BTreeMap<String, usize>, BTreeMap<String, usize>) = Default::default();
        for (score, _) in &scored {
            if let Some(limit) = &score.limit {
                *limits.entry(limit.clone()).or_default() += 1;
            }
            for gate in &score.gates {
                *gates.entry(gate.clone()).or_default() += 1;
            }
        }
        let used = |value: fn(&TrialRecord) -> Option<f64>| {
            let known: Option<Vec<f64>> = scored.iter().map(|(_, record)| value(record)).collect();
            known.filter(|known| !known.is_empty()).map(|known| rounded(known.iter().sum::<f64>() / known.len() as f64))
        };
        let mut walls: Vec<u64> = scored.iter().map(|(_, record)| record.spent.wall).collect();
        let mut wall = |share: f64| quantile(&mut walls, share).map(|micros| rounded(micros as f64 / 1e6));
        let (pass_at_k, pass_hat_k) = by_attempts(tried, attempts);
        Figures {
            pass_at_1: proportion(&units(|score| one(score.pass))),
            errors_as_zero: with_errors(tried),
            never_began: scored.iter().filter(|(_, record)| record.failed.is_some() && record.used.calls == 0).count(),
            worst: share(passed, counts.planned),
            best: share(passed + counts.planned - counts.scored, counts.planned),
            pass_at_k,
            pass_hat_k,
            mean_reward: mean(&units(|score| score.reward as f64 / 1e6)),
            paper_pass: proportion(&units(|score| one(score.paper_pass))),
            clean: proportion(&units(|score| one(score.clean))),
            optimal_given_clean: share(optimal, clean),
            side_effect: proportion(&units(|score| one(score.side_effect))),
            alarms: scored.iter().filter(|(score, _)| score.alarm).count(),
            trusted: scored.iter().filter(|(_, record)| record.trusted).count(),
            limits,
            gates,
            calls: used(|record| Some(f64::from(record.used.calls))),
            refused: used(|record| Some(f64::from(record.used.refused))),
            turns: used(|record| record.used.turns.map(f64::from)),
            tokens_in: used(|record| record.used.tokens_in.map(|tokens| tokens as f64)),
            tokens_out: used(|record| record.used.tokens_out.map(|tokens| tokens as f64)),
            cost: used(|record| record.used.cost.map(|cost| cost as f64 / 1e6)),
            wall_p50: wall(0.5),
            wall_p95: wall(0.95),
            counts,
        }
    }
}

/// The mean over tasks of the share of trials that pass, one that ended in an error being one that does not.
fn with_errors(tried: &[&Tried]) -> Option<f64> {
    let share = |tried: &&Tried| {
        let passed = tried.scores().filter(|(score, _)| score.pass).count();
        (!tried.records.is_empty()).then(|| passed as f64 / tried.records.len() as f64)
    };
    let shares: Vec<f64> = tried.iter().filter_map(share).collect();
    (!shares.is_empty()).then(|| rounded(shares.iter().sum::<f64>() / shares.len() as f64))
}

/// The means of pass@k and pass^k over the tasks that were scored at least k times, from k = 1 to the attempts.
fn by_attempts(tried: &[&Tried], attempts: u32) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
    let mut sums = vec![(0.0, 0.0, 0_usize); attempts as usize];
    for tried in tried {
        let (n, c) = tried.scores().fold((0, 0), |(n, c), (score, _)| (n + 1, c + u32::from(score.pass)));
        for (sum, (at, hat)) in sums.iter_mut().zip(passes(n, c)) {
            *sum = (sum.0 + at, sum.1 + hat, sum.2 + 1);
        }
    }
    let mean = |sum: f64, of: usize| (of > 0).then(|| rounded(sum / of as f64));
    sums.into_iter().map(|(at, hat, of)| (mean(at, of), mean(hat, of))).unzip()
}
