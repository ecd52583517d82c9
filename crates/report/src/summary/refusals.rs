//! Who declines what, of requests of which some cannot be carried out.

use super::Tried;
use crate::stats::rounded;
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

/// The figures of an agent; `None` where nothing that cannot be carried out was scored.
pub(super) fn figures(tried: &[Tried]) -> Option<RefusalFigures> {
    let (mut blocked, mut feasible) = (0_usize, 0_usize);
    let (mut right, mut other_reason, mut after_changes, mut under, mut over) = (0, 0, 0, 0, 0);
    for tried in tried.iter().filter(|tried| tried.task.parameters.contains_key("ways")) {
        for (score, _) in tried.scores() {
            let fails = |check: &str| score.failed.contains_key(check);
            if tried.task.obstacle.is_none() {
                feasible += 1;
                over += usize::from(score.gates.iter().any(|gate| gate == DECLINED));
                continue;
            }
            blocked += 1;
            let place = match () {
                () if score.pass => &mut right,
                () if fails(DECLINE) => &mut under,
                () if score.side_effect => &mut after_changes,
                () if fails(REASON) => &mut other_reason,
                () => &mut after_changes,
            };
            *place += 1;
        }
    }
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
