//! Who declines what, of requests of which some cannot be carried out.

use super::{Tried, tally::Trials};
use crate::stats::rounded;
use benchwright_pack::run::Score;
use serde::{Deserialize, Serialize};

/// The check that fails where what cannot be carried out was not declined.
const DECLINE: &str = "decline";
/// The check that fails where it was declined for another reason.
const REASON: &str = "reason";
/// The gate of whoever declines what can be carried out.
const DECLINED: &str = "declined";

/// How requests were declined, in shares of scored trials.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalFigures {
    /// Scored trials of requests that cannot be carried out.
    pub blocked: usize,
    /// Declined for the reason, with nothing changed.
    pub right: f64,
    /// Declined for another reason, with nothing changed.
    pub other_reason: f64,
    /// Declined after something had been changed.
    pub after_changes: f64,
    /// Not declined.
    pub under: f64,
    /// Scored trials of requests that can be carried out.
    pub feasible: usize,
    /// Declined all the same; unknown where there are none.
    pub over: Option<f64>,
}

/// How trials of a task declined, were it one that is to be declined, and were it none.
#[derive(Clone, Default, Debug)]
pub(super) struct Declining {
    /// Not declined.
    under: u32,
    /// Declined for another reason, with nothing changed.
    other_reason: u32,
    /// Declined at all, where a gate forbids it.
    over: u32,
}

impl Declining {
    pub(super) fn add(&mut self, score: &Score) {
        let fails = |check: &str| score.failed.contains_key(check);
        let is_under = !score.pass && fails(DECLINE);
        self.under += u32::from(is_under);
        self.other_reason += u32::from(!score.pass && !is_under && !score.side_effect && fails(REASON));
        self.over += u32::from(score.gates.iter().any(|gate| gate == DECLINED));
    }
}

/// The figures of an agent; `None` where nothing that cannot be carried out was scored.
pub(super) fn figures(tried: &[Tried]) -> Option<RefusalFigures> {
    let requests = tried.iter().filter(|tried| tried.task.parameters.contains_key("ways"));
    let (to_do, to_decline): (Vec<&Tried>, Vec<&Tried>) = requests.partition(|tried| tried.task.obstacle.is_none());
    let sum = |of: &[&Tried], count: fn(&Trials) -> u32| of.iter().map(|of| count(of.trials) as usize).sum::<usize>();
    let (blocked, feasible) = (sum(&to_decline, |trials| trials.scored), sum(&to_do, |trials| trials.scored));
    let (right, under) = (sum(&to_decline, |trials| trials.passed), sum(&to_decline, |trials| trials.declining.under));
    let other_reason = sum(&to_decline, |trials| trials.declining.other_reason);
    let after_changes = blocked - right - under - other_reason;
    let over = sum(&to_do, |trials| trials.declining.over);
    let share = |count: usize, of: usize| rounded(count as f64 / of as f64);
    (blocked > 0).then(|| RefusalFigures {
        blocked,
        right: share(right, blocked),
        other_reason: share(other_reason, blocked),
        after_changes: share(after_changes, blocked),
        under: share(under, blocked),
        feasible,
        over: (feasible > 0).then(|| share(over, feasible)),
    })
}
