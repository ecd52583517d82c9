//! The figures of one agent over a group of tasks: how many trials passed, mean reward, calls, tokens, cost, each with what
//! is needed to judge it.

use super::{
    Tried, passes, rewards,
    tally::{Known, Named, Trials},
};
use crate::stats::{self, Estimate, mean, proportion, quantile, rounded};
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
    pub(super) fn of(tried: &[Tried], attempts: u32) -> Figures {
        let sum = |of: fn(&Trials) -> u32| tried.iter().map(|tried| of(tried.trials) as usize).sum::<usize>();
        let named = |of: fn(&Trials) -> &Named| {
            let mut sums = Named::new();
            for (name, count) in tried.iter().flat_map(|tried| of(tried.trials)) {
                *sums.entry(name.clone()).or_default() += count;
            }
            sums
        };
        let causes = named(|trials| &trials.causes);
        let counts = Counts {
            tasks: tried.len(),
            planned: tried.len() * attempts as usize,
            attempted: sum(|trials| trials.ended),
            scored: sum(|trials| trials.scored),
            errors: causes.values().sum(),
            causes,
        };
        let units = |sum: fn(&Trials) -> f64| tried.iter().filter_map(|tried| tried.unit(sum)).collect::<Vec<_>>();
        let passed = sum(|trials| trials.passed);
        let share = |part: usize, whole: usize| (whole > 0).then(|| rounded(part as f64 / whole as f64));
        let each = |sum: f64| (counts.scored > 0).then(|| rounded(sum / counts.scored as f64));
        let made = |of: fn(&Trials) -> u64| each(tried.iter().map(|tried| of(tried.trials)).sum::<u64>() as f64);
        let used = |of: fn(&Trials) -> Known, parts: f64| {
            let all = tried.iter().map(|tried| of(tried.trials));
            let (trials, sum) =
                all.fold((0, 0), |(trials, sum), known| (trials + known.trials as usize, sum + known.sum));
            each(sum as f64 / parts).filter(|_| trials == counts.scored)
        };
        let mut walls: Vec<u64> = tried.iter().flat_map(|tried| tried.trials.walls.iter()).collect();
        let mut wall = |share: f64| quantile(&mut walls, share).map(|micros| rounded(micros as f64 / 1e6));
        let (pass_at_k, pass_hat_k) = by_attempts(tried, attempts);
        Figures {
            pass_at_1: proportion(&units(passes)),
            errors_as_zero: with_errors(tried),
            never_began: sum(|trials| trials.never_began),
            worst: share(passed, counts.planned),
            best: share(passed + counts.planned - counts.scored, counts.planned),
            pass_at_k,
            pass_hat_k,
            mean_reward: mean(&units(rewards)),
            paper_pass: proportion(&units(|trials| f64::from(trials.paper_passed))),
            clean: proportion(&units(|trials| f64::from(trials.clean))),
            optimal_given_clean: share(sum(|trials| trials.optimal), sum(|trials| trials.clean)),
            side_effect: proportion(&units(|trials| f64::from(trials.side_effects))),
            alarms: sum(|trials| trials.alarms),
            trusted: sum(|trials| trials.trusted),
            limits: named(|trials| &trials.limits),
            gates: named(|trials| &trials.gates),
            calls: made(|trials| trials.calls),
            refused: made(|trials| trials.refused),
            turns: used(|trials| trials.turns, 1.0),
            tokens_in: used(|trials| trials.tokens_in, 1.0),
            tokens_out: used(|trials| trials.tokens_out, 1.0),
            cost: used(|trials| trials.cost, 1e6),
            wall_p50: wall(0.5),
            wall_p95: wall(0.95),
            counts,
        }
    }
}

/// The mean over tasks of the share of trials that pass, one that ended in an error being one that does not.
fn with_errors(tried: &[Tried]) -> Option<f64> {
    let share = |trials: &Trials| (trials.ended > 0).then(|| f64::from(trials.passed) / f64::from(trials.ended));
    let shares: Vec<f64> = tried.iter().filter_map(|tried| share(tried.trials)).collect();
    (!shares.is_empty()).then(|| rounded(shares.iter().sum::<f64>() / shares.len() as f64))
}

/// The means of pass@k and pass^k over the tasks that were scored at least k times, from k = 1 to the attempts.
fn by_attempts(tried: &[Tried], attempts: u32) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
    let mut sums = vec![(0.0, 0.0, 0_usize); attempts as usize];
    for Tried { trials, .. } in tried {
        for (sum, (at, hat)) in sums.iter_mut().zip(stats::passes(trials.scored, trials.passed)) {
            *sum = (sum.0 + at, sum.1 + hat, sum.2 + 1);
        }
    }
    let mean = |sum: f64, of: usize| (of > 0).then(|| rounded(sum / of as f64));
    sums.into_iter().map(|(at, hat, of)| (mean(at, of), mean(hat, of))).unzip()
}
