//! How often a comparison finds what is there: two agents on tasks whose difficulty follows a beta distribution.

use crate::draw::Draw;
use benchwright_base::Stream;
use benchwright_report::stats::{Design, Finding, Unit, paired};
use statrs::distribution::{Beta, ContinuousCDF as _};

/// How an agent is better.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Gain {
    /// Tasks are as hard for the one as for the other, in the same order and with the same likeness of trials: what the formula
    /// of power takes for granted.
    Even,
    /// A task gains in proportion to the room it leaves: hard tasks gain most.
    ByRoom,
}

/// What many comparisons found, as shares.
pub(crate) struct Found {
    /// The worse agent was found better.
    pub(crate) wrong: f64,
    /// The better agent was found better.
    pub(crate) right: f64,
}

/// Draws comparisons in which the second agent is better by `difference`.
pub(crate) fn found(design: &Design, difference: f64, gain: Gain, replications: u32, seed: u64) -> Found {
    let names: Vec<String> = (0..design.clusters).map(|at| at.to_string()).collect();
    let mut draw = Draw(Stream::new(seed, &["found", &format!("{design:?} {difference} {gain:?}")]));
    // One draw of the difficulty gives the rates of both agents, each by its own quantiles.
    let worse = quantiles(design.base, design.icc);
    let better = match gain {
        Gain::Even => quantiles(design.base + difference, design.icc),
        Gain::ByRoom => worse.iter().map(|rate| rate + (1.0 - rate) * difference / (1.0 - design.base)).collect(),
    };
    let (mut wrong, mut right) = (0u32, 0u32);
    for _ in 0..replications {
        let mut pairs = Vec::new();
        for task in 0..design.tasks {
            let cluster = &names[task as usize % names.len()];
            let at = draw.0.below(worse.len() as u64) as usize;
            let mut unit = |rate: f64| {
                let passed = (0..design.trials).filter(|_| draw.uniform() < rate).count() as f64;
                Unit { cluster, mean: passed / f64::from(design.trials), trials: design.trials }
            };
            pairs.push((unit(worse[at]), unit(better[at])));
        }
        let found = paired(&pairs);
        wrong += u32::from(found.finding == Finding::A);
        right += u32::from(found.finding == Finding::B);
    }
    let share = |count: u32| f64::from(count) / f64::from(replications);
    Found { wrong: share(wrong), right: share(right) }
}

/// The quantiles of the beta distribution with a mean and a likeness, at the middles of 2,000 equal parts.
fn quantiles(mean: f64, icc: f64) -> Vec<f64> {
    let both = 1.0 / icc - 1.0;
    let beta = Beta::new(both * mean, both * (1.0 - mean)).unwrap();
    (0..2_000).map(|at| beta.inverse_cdf((f64::from(at) + 0.5) / 2_000.0)).collect()
}
