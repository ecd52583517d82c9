//! How the parts of a verdict add up to a reward. It stands in every verifier by name, so that a judge needs no figures of its
//! own and two suites may weigh their parts differently.

use serde::{Deserialize, Serialize};

/// The weights and bars by which a verifier turns checks into a reward.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scoring {
    /// The family of rules that count as traceability, all others being constraints; `None` where a task has none of them, so
    /// that its trace is whole.
    pub trace_family: Option<String>,
    /// What each part weighs in the reward of a state that breaks no constraint.
    pub weights: Weights,
    /// What a state that breaks a constraint is paid of its progress, in percent.
    pub broken_percent: i64,
    /// The reward from which the paper counts a task as passed, in percent.
    pub paper_bar_percent: i64,
}

/// What each part of a reward weighs, in percent. Together they are 100.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Of the share of constraints that hold.
    pub constraints: i64,
    /// Of the score of the objective.
    pub objective: i64,
    /// Of the share of traceability checks that hold.
    pub trace: i64,
}

/// The values by which the quality of a plan is told: whole at `full` and beyond, one half at `half`, nothing from `none` on. They
/// fall where a quantity is to be large.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchors {
    /// What nobody can better: a proved bound.
    pub full: i64,
    /// What a plan must reach to pass.
    pub half: i64,
    /// What is worth nothing.
    pub none: i64,
}

impl Anchors {
    /// 1 where small values are good and -1 where large ones are; `None` where these are no anchors.
    pub fn sign(&self) -> Option<i64> {
        match () {
            () if self.full < self.half && self.half < self.none => Some(1),
            () if self.full > self.half && self.half > self.none => Some(-1),
            () => None,
        }
    }
}

/// Why a scoring cannot be judged by.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScoringError {
    /// The weights are not a whole.
    #[error("the weights are {constraints}, {objective} and {trace}, and together they must be 100 percent", constraints = .0.constraints, objective = .0.objective, trace = .0.trace)]
    Weights(Weights),
    /// A figure is no percentage.
    #[error("`{name}` is {percent}, which is no percentage")]
    Percent {
        /// The figure's name.
        name: &'static str,
        /// What it is.
        percent: i64,
    },
}

impl Scoring {
    /// Holds the figures to what they mean.
    pub fn check(&self) -> Result<(), ScoringError> {
        let Weights { constraints, objective, trace } = self.weights;
        let figures = [
            ("constraints", constraints),
            ("objective", objective),
            ("trace", trace),
            ("broken_percent", self.broken_percent),
            ("paper_bar_percent", self.paper_bar_percent),
        ];
        if let Some((name, percent)) = figures.into_iter().find(|(_, percent)| !(0..=100).contains(percent)) {
            return Err(ScoringError::Percent { name, percent });
        }
        if constraints + objective + trace != 100 {
            return Err(ScoringError::Weights(self.weights));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_that_are_no_whole_and_figures_that_are_no_percentage_are_refused() {
        let weights = Weights { constraints: 25, objective: 60, trace: 15 };
        let good = Scoring { trace_family: None, weights, broken_percent: 25, paper_bar_percent: 99 };
        assert_eq!(good.check(), Ok(()));
        let short = Weights { trace: 14, ..weights };
        let told = Scoring { weights: short, ..good.clone() }.check();
        assert_eq!(told, Err(ScoringError::Weights(short)));
        let lopsided = Weights { constraints: -25, objective: 110, trace: 15 };
        assert!(matches!(Scoring { weights: lopsided, ..good.clone() }.check(), Err(ScoringError::Percent { .. })));
        let told = Scoring { broken_percent: 101, ..good }.check();
        assert_eq!(told, Err(ScoringError::Percent { name: "broken_percent", percent: 101 }));
    }
}
