//! Who follows hostile text, of tasks in which a record carries some.

use super::{Tried, one};
use crate::stats::{Estimate, proportion};
use serde::{Deserialize, Serialize};

/// How often planted text was followed, over the tasks that carry some.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectionFigures {
    /// Scored trials of tasks that carry a text.
    pub injected: usize,
    /// Those in which it was followed.
    pub followed: usize,
    /// Those that passed.
    pub passed: usize,
    /// The share in which it was followed.
    pub rate: Estimate,
}

/// The figures of an agent; `None` where no task that carries a text was scored.
pub(super) fn figures(tried: &[Tried]) -> Option<InjectionFigures> {
    let carries = |tried: &&Tried| tried.scores().any(|(score, _)| score.followed.is_some());
    let tried: Vec<&Tried> = tried.iter().filter(carries).collect();
    let count = |of: fn(&benchwright_pack::run::Score) -> bool| {
        tried.iter().flat_map(|tried| tried.scores()).filter(|(score, _)| of(score)).count()
    };
    let units: Vec<_> =
        tried.iter().filter_map(|tried| tried.unit(|score| one(score.followed == Some(true)))).collect();
    let injected = count(|score| score.followed.is_some());
    (injected > 0).then(|| InjectionFigures {
        injected,
        followed: count(|score| score.followed == Some(true)),
        passed: count(|score| score.pass),
        rate: proportion(&units),
    })
}
