//! Twins, scored as pairs: two tasks that differ in the reading of one clause. Whoever works by habit passes one of them, so only
//! both count.

use super::{Tried, tally::Trials};
use crate::stats::rounded;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of pairs of twins. An attempt at a pair is the attempts of that number at both.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairFigures {
    /// Pairs with an attempt that was scored on both sides.
    pub pairs: usize,
    /// Attempts that were scored on both sides.
    pub attempts: usize,
    /// The share of them that passed both.
    pub both: f64,
    /// The share that passed one.
    pub one: f64,
    /// The share that passed neither.
    pub neither: f64,
}

/// The figures of an agent's pairs; `None` where no pair was scored on both sides.
pub(super) fn figures(tried: &[Tried]) -> Option<PairFigures> {
    let mut twins: BTreeMap<&str, Vec<&Trials>> = BTreeMap::new();
    for tried in tried {
        if let Some(pair) = &tried.task.pair {
            twins.entry(pair).or_default().push(tried.trials);
        }
    }
    let (mut pairs, mut by_passed) = (0, [0_usize; 3]);
    for sides in twins.values() {
        let [left, right] = &sides[..] else { continue };
        let scored = left.scored_at.words().zip(right.scored_at.words()).map(|(left, right)| left & right);
        let passed = left.passed_at.words().zip(right.passed_at.words());
        let before: usize = by_passed.iter().sum();
        for (scored, (left, right)) in scored.zip(passed).take(left.scored_at.len()) {
            for (count, of) in by_passed.iter_mut().zip([!left & !right, left ^ right, left & right]) {
                *count += (of & scored).count_ones() as usize;
            }
        }
        pairs += usize::from(by_passed.iter().sum::<usize>() > before);
    }
    let attempts: usize = by_passed.iter().sum();
    let share = |count: usize| rounded(count as f64 / attempts as f64);
    let [neither, one, both] = by_passed;
    (attempts > 0).then(|| PairFigures { pairs, attempts, both: share(both), one: share(one), neither: share(neither) })
}
