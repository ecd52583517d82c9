//! How agents plan, of tasks that are planning problems: how many hand something in, keep every rule and come near the best; where the
//! others end; and which kinds of problems are passed.

use super::{Tried, passes, tally::Trials};
use crate::stats::rounded;
use benchwright_pack::{
    run::{Score, TrialRecord},
    tier_place,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The gate that fires where nothing was done.
const ACTIVITY: &str = "activity";
/// The qualities at which it is asked how many plans are at least as good, in tenths.
const TENTHS: [i64; 7] = [4, 5, 6, 7, 8, 9, 10];
/// How a trial can end, in the order in which it is looked at.
const ENDS: [&str; 6] =
    ["passed", "stopped at a limit", "refused by a form", "nothing handed in", "a rule broken", "not good enough"];

/// How an agent plans.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFigures {
    /// By tier, from the easiest on, and of several also over all.
    pub tiers: Vec<PlanTier>,
    /// The share of scored trials whose plan keeps every rule and is at least so good.
    pub thresholds: Vec<Threshold>,
    /// How scored trials ended, each in one way.
    pub ends: Vec<PlanEnd>,
    /// By what the books call the problem.
    pub classes: Vec<PlanKind>,
    /// By the trade that it is of.
    pub trades: Vec<PlanKind>,
    /// By how hard it is in one respect: `dynamics 2`.
    pub difficulty: Vec<PlanKind>,
}

/// The plans of one tier, in shares of scored trials.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanTier {
    /// The tier, or `all`.
    pub tier: String,
    /// Trials that were scored.
    pub scored: usize,
    /// With something handed in that its form accepted.
    pub handed_in: f64,
    /// With every rule kept.
    pub feasible: f64,
    /// The mean quality, that of a plan which breaks a rule being 0.
    pub quality: f64,
    /// Passed: every rule kept, and as good as is asked.
    pub passed: f64,
    /// With a quality above the bar of the paper that the problems follow.
    pub paper_pass: f64,
}

/// How many plans are so good.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// The quality that is asked for.
    pub quality: f64,
    /// The share of scored trials that have it.
    pub reached: f64,
}

/// One way in which trials end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEnd {
    /// Which way.
    pub end: String,
    /// Scored trials that ended so.
    pub trials: usize,
    /// Their share.
    pub rate: f64,
}

/// A kind of problem.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanKind {
    /// Which kind.
    pub name: String,
    /// Tasks of it that have a scored trial.
    pub tasks: usize,
    /// The share of their scored trials that passed, each task counting the same.
    pub passed: f64,
}

/// How the trials of a task ended, were it a planning problem.
#[derive(Clone, Default, Debug)]
pub(super) struct Planned {
    /// By the place in [`ENDS`].
    ends: [u32; ENDS.len()],
    /// Plans that reach each of [`TENTHS`].
    reached: [u32; TENTHS.len()],
    /// Trials in which something was handed in.
    handed_in: u32,
}

impl Planned {
    pub(super) fn add(&mut self, score: &Score, record: &TrialRecord) {
        let is_idle = score.gates.iter().any(|gate| gate == ACTIVITY);
        let ended =
            [score.pass, score.limit.is_some(), is_idle && record.used.refused > 0, is_idle, !score.clean, true];
        let at = ended.iter().position(|is| *is).unwrap_or_default();
        self.ends[at] += 1;
        self.handed_in += u32::from(!is_idle);
        // A plan that breaks a rule has no quality, whatever it earns.
        let quality = if score.clean { score.reward } else { 0 };
        for (reached, tenths) in self.reached.iter_mut().zip(TENTHS) {
            *reached += u32::from(quality >= tenths * 100_000);
        }
    }
}

/// The figures of an agent; `None` where no planning problem was scored.
pub(super) fn figures(tried: &[Tried]) -> Option<PlanFigures> {
    let tried: Vec<&Tried> =
        tried.iter().filter(|tried| tried.task.problem.is_some() && tried.trials.scored > 0).collect();
    let scored: u32 = tried.iter().map(|tried| tried.trials.scored).sum();
    if scored == 0 {
        return None;
    }
    let share = |part: u32| rounded(f64::from(part) / f64::from(scored));
    let sum = |of: &dyn Fn(&Trials) -> u32| tried.iter().map(|tried| of(tried.trials)).sum::<u32>();
    let mut tiers: BTreeMap<(u32, &str), Vec<&Tried>> = BTreeMap::new();
    for tried in &tried {
        tiers.entry((tier_place(&tried.task.tier), &tried.task.tier)).or_default().push(tried);
    }
    let mut by_tier: Vec<PlanTier> = tiers.iter().map(|((_, name), of)| tier(name, of)).collect();
    if by_tier.len() > 1 {
        by_tier.push(tier("all", &tried));
    }
    let problem = |tried: &Tried| tried.task.problem.clone().unwrap_or_default();
    Some(PlanFigures {
        tiers: by_tier,
        thresholds: (TENTHS.iter().enumerate())
            .map(|(at, tenths)| Threshold {
                quality: *tenths as f64 / 10.0,
                reached: share(sum(&|trials| trials.planned.reached[at])),
            })
            .collect(),
        ends: (ENDS.iter().enumerate())
            .map(|(at, end)| (end, sum(&|trials| trials.planned.ends[at])))
            .filter(|(_, trials)| *trials > 0)
            .map(|(end, trials)| PlanEnd { end: (*end).to_owned(), trials: trials as usize, rate: share(trials) })
            .collect(),
        classes: kinds(&tried, |tried| vec![problem(tried).class]),
        trades: kinds(&tried, |tried| vec![problem(tried).trade]),
        difficulty: kinds(&tried, |tried| {
            let figures = problem(tried).difficulty.into_iter();
            figures.map(|(respect, figure)| format!("{respect} {figure}")).collect()
        }),
    })
}

fn tier(name: &str, tried: &[&Tried]) -> PlanTier {
    let sum = |of: &dyn Fn(&Trials) -> i128| tried.iter().map(|tried| of(tried.trials)).sum::<i128>();
    let scored = sum(&|trials| trials.scored.into());
    let share = |part: i128| rounded(part as f64 / scored as f64);
    PlanTier {
        tier: name.to_owned(),
        scored: scored as usize,
        handed_in: share(sum(&|trials| trials.planned.handed_in.into())),
        feasible: share(sum(&|trials| trials.clean.into())),
        quality: rounded(sum(&|trials| trials.reward) as f64 / scored as f64 / 1e6),
        passed: share(sum(&|trials| trials.passed.into())),
        paper_pass: share(sum(&|trials| trials.paper_passed.into())),
    }
}

/// The pass rates of the kinds that tasks are of; a task may be of several.
fn kinds(tried: &[&Tried], of: impl Fn(&Tried) -> Vec<String>) -> Vec<PlanKind> {
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for tried in tried {
        for name in of(tried) {
            found.entry(name).or_default().extend(tried.unit(passes).map(|unit| unit.mean));
        }
    }
    let kind = |(name, means): (String, Vec<f64>)| PlanKind {
        name,
        tasks: means.len(),
        passed: rounded(means.iter().sum::<f64>() / means.len().max(1) as f64),
    };
    found.into_iter().map(kind).collect()
}
