//! Means with intervals that know their clusters.
//!
//! A share gets Wilson's interval on the effective sample size: the number of independent tasks that would be as uncertain as
//! these are, `p(1-p) / V`, where `V` is the clustered variance of the mean. The multiplier is Student's t. Its degrees of
//! freedom are those of `V` after Satterthwaite, `2G / (k-1) - 1` with the kurtosis `k` of the clusters' sums, between 2 and
//! `G-1`. With `G-1` alone the interval covers too little where successes are rare and bunched: few clusters then carry the
//! whole of `V`, and it is worth fewer than `G-1` degrees. No interval is made wider than the one that takes a whole cluster
//! as a single task. The example `coverage` measures what this covers.

use super::{LEVEL, distributions::t_quantile, rounded};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// One task, as an interval sees it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unit<'a> {
    /// What its result is not independent of.
    pub cluster: &'a str,
    /// The mean over its trials, from 0 to 1.
    pub mean: f64,
    /// How many trials the mean is of.
    pub trials: u32,
}

/// Why an interval is to be read with care.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warning {
    /// Fewer than 2 clusters: no interval is given.
    OneCluster,
    /// Fewer than 10 clusters: the spread between clusters is known badly.
    FewClusters,
    /// The share is so near to 0 or 1 that fewer than 5 effective successes or failures were seen.
    FewEvents,
    /// All alike: the rule of three takes the tasks as independent, for their likeness cannot be seen.
    AllAlike,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Warning::OneCluster => "fewer than 2 clusters: no interval",
            Warning::FewClusters => "fewer than 10 clusters: the interval may be too narrow",
            Warning::FewEvents => "few successes or failures: the interval may cover less than 95 %",
            Warning::AllAlike => "all results alike: a bound by the rule of three, which takes tasks as independent",
        })
    }
}

/// A mean over tasks with its 95 % interval. Keys: `value`, `low`, `high` (null where there is none), `tasks`, `clusters`,
/// `effective` (the effective number of tasks) and `warnings`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The mean; null without a task.
    pub value: Option<f64>,
    /// The lower end of the interval; null where there is none.
    pub low: Option<f64>,
    /// The upper end of the interval; null where there is none.
    pub high: Option<f64>,
    /// The number of tasks.
    pub tasks: usize,
    /// The number of clusters.
    pub clusters: usize,
    /// The number of independent tasks that would be as uncertain; null where it cannot be told.
    pub effective: Option<f64>,
    /// Why the interval may cover less than it says.
    pub warnings: Vec<Warning>,
}

/// The clustered variance of a mean, and how far it can be trusted.
pub(super) struct Clustered {
    /// The mean.
    pub(super) mean: f64,
    /// The number of clusters.
    pub(super) clusters: usize,
    /// The variance of the mean.
    pub(super) variance: f64,
    /// The degrees of freedom of that variance, from the kurtosis of the clusters' sums.
    pub(super) freedom: f64,
    /// The number of clusters of equal size that are worth these, should tasks of a cluster be all alike.
    pub(super) worth: f64,
}

/// The clustered variance of the mean of values with their clusters. `None` without values.
pub(super) fn clustered<'a>(values: impl Iterator<Item = (&'a str, f64)>) -> Option<Clustered> {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (cluster, value) in values {
        let sum = sums.entry(cluster).or_default();
        *sum = (sum.0 + 1.0, sum.1 + value);
    }
    let n: f64 = sums.values().map(|sum| sum.0).sum();
    if n == 0.0 {
        return None;
    }
    let mean = sums.values().map(|sum| sum.1).sum::<f64>() / n;
    let g = sums.len() as f64;
    // How far each cluster's sum is from what its size would give at the mean.
    let off = || sums.values().map(|(size, sum)| sum - size * mean);
    let (second, fourth): (f64, f64) = (off().map(|e| e.powi(2)).sum(), off().map(|e| e.powi(4)).sum());
    let variance = if g > 1.0 { g / (g - 1.0) * second / (n * n) } else { 0.0 };
    let kurtosis = if second > 0.0 { g * fourth / (second * second) } else { 3.0 };
    // A kurtosis below the normal one is chance, not knowledge: it never gives more than G - 1.
    let freedom = (2.0 * g / (kurtosis - 1.0).max(2.0) - 1.0).max(2.0).min((g - 1.0).max(1.0));
    let worth = n * n / sums.values().map(|sum| sum.0 * sum.0).sum::<f64>();
    Some(Clustered { mean, clusters: sums.len(), variance, freedom, worth })
}

/// What the number of clusters alone says to mind.
pub fn cautions(clusters: usize) -> Vec<Warning> {
    match clusters {
        0 | 1 => vec![Warning::OneCluster],
        2..10 => vec![Warning::FewClusters],
        _ => Vec::new(),
    }
}

/// The point of a distribution that 95 % lie around.
pub(super) fn two_sided(freedom: f64) -> f64 {
    t_quantile(0.5 + LEVEL / 2.0, freedom)
}

/// The rule of three, where every task is at 0 or every task at 1. It holds for rewards as for shares: a mean is no larger than
/// the share of what is above 0. Trials of one task are no new tasks, so it counts tasks.
fn three(units: &[Unit]) -> Option<(f64, f64)> {
    let three = rounded((3.0 / units.len() as f64).min(1.0));
    if units.iter().all(|unit| unit.mean == 0.0) {
        Some((0.0, three))
    } else {
        units.iter().all(|unit| unit.mean == 1.0).then_some((rounded(1.0 - three), 1.0))
    }
}

/// A share with its interval: each task counts the same, however often it was tried.
pub fn proportion(units: &[Unit]) -> Estimate {
    let Some(found) = clustered(units.iter().map(|unit| (unit.cluster, unit.mean))) else {
        return Estimate { warnings: cautions(0), ..Estimate::default() };
    };
    let p = found.mean;
    let mut out = Estimate {
        value: Some(rounded(p)),
        tasks: units.len(),
        clusters: found.clusters,
        warnings: cautions(found.clusters),
        ..Estimate::default()
    };
    if found.clusters < 2 {
        return out;
    }
    if let Some((low, high)) = three(units) {
        out.warnings.push(Warning::AllAlike);
        return Estimate { low: Some(low), high: Some(high), ..out };
    }
    let trials: f64 = units.iter().map(|unit| f64::from(unit.trials)).sum();
    let spread = p * (1.0 - p);
    // Clusters do not make a sample worth more than its trials, whatever chance says.
    let effective = if found.variance > 0.0 { (spread / found.variance).min(trials) } else { trials };
    // Wilson's interval needs z squared over n, here t squared over the effective number of tasks. It is cut at the
    // wider of two others: each cluster taken as a single task (`worth`), and the usual G - 1 degrees.
    let usual = two_sided(found.clusters as f64 - 1.0).powi(2);
    let widest = (usual / found.worth).max(usual / effective);
    let squared = (two_sided(found.freedom).powi(2) / effective).min(widest);
    let centre = (p + squared / 2.0) / (1.0 + squared);
    let half = (squared * spread + squared * squared / 4.0).sqrt() / (1.0 + squared);
    if effective * p.min(1.0 - p) < 5.0 {
        out.warnings.push(Warning::FewEvents);
    }
    Estimate {
        low: Some(rounded((centre - half).max(0.0))),
        high: Some(rounded((centre + half).min(1.0))),
        effective: Some(rounded(effective)),
        ..out
    }
}

/// A mean of values between 0 and 1, such as rewards, with the clustered t interval cut to that range.
pub fn mean(units: &[Unit]) -> Estimate {
    let Some(found) = clustered(units.iter().map(|unit| (unit.cluster, unit.mean))) else {
        return Estimate { warnings: cautions(0), ..Estimate::default() };
    };
    let mut out = Estimate {
        value: Some(rounded(found.mean)),
        tasks: units.len(),
        clusters: found.clusters,
        warnings: cautions(found.clusters),
        ..Estimate::default()
    };
    if found.clusters < 2 {
        return out;
    }
    if let Some((low, high)) = three(units) {
        out.warnings.push(Warning::AllAlike);
        return Estimate { low: Some(low), high: Some(high), ..out };
    }
    if found.variance == 0.0 {
        out.warnings.push(Warning::AllAlike);
        return out;
    }
    let half = two_sided(found.freedom) * found.variance.sqrt();
    Estimate {
        low: Some(rounded((found.mean - half).max(0.0))),
        high: Some(rounded((found.mean + half).min(1.0))),
        ..out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(clusters: &[(&'static str, &[f64])]) -> Vec<Unit<'static>> {
        clusters
            .iter()
            .flat_map(|(cluster, means)| means.iter().map(|mean| Unit { cluster, mean: *mean, trials: 1 }))
            .collect()
    }

    #[test]
    fn tasks_that_are_their_own_cluster_give_nearly_wilson() {
        // 40 of 100, each a cluster: effective 99, t(99) = 1.9842, so nearly Wilson's 0.3094 to 0.4980.
        let names: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let all: Vec<Unit> = names
            .iter()
            .enumerate()
            .map(|(at, cluster)| Unit { cluster, mean: f64::from(u8::from(at < 40)), trials: 1 })
            .collect();
        let found = proportion(&all);
        assert_eq!(found.value, Some(0.4));
        assert!((found.effective.unwrap() - 99.0).abs() < 1e-6);
        assert!((found.low.unwrap() - 0.308).abs() < 1e-3, "{found:?}");
        assert!((found.high.unwrap() - 0.4998).abs() < 1e-3, "{found:?}");
        assert!(found.warnings.is_empty());
    }

    #[test]
    fn the_effective_size_is_that_of_the_hand() {
        // Clusters of 2: sums 2, 2, 0, 0 of 8 tasks, p = 1/2. Squares of sum - size * p: 4 * 1. V = 4/3 * 4 / 64 = 1/12.
        // Effective 0.25 * 12 = 3. Kurtosis 1, so 3 degrees of freedom, t = 3.18245.
        let found = proportion(&units(&[("a", &[1., 1.]), ("b", &[1., 1.]), ("c", &[0., 0.]), ("d", &[0., 0.])]));
        assert_eq!((found.value, found.effective), (Some(0.5), Some(3.0)));
        let squared = 3.182_446_f64.powi(2) / 3.0;
        let half = (squared / 4.0 + squared * squared / 4.0).sqrt() / (1.0 + squared);
        assert!((found.low.unwrap() - (0.5 - half)).abs() < 1e-5);
        assert!((found.high.unwrap() - (0.5 + half)).abs() < 1e-5);
        assert_eq!(found.warnings, [Warning::FewClusters, Warning::FewEvents]);
    }

    #[test]
    fn zero_of_n_is_the_rule_of_three_and_n_of_n_its_mirror() {
        let none = proportion(&units(&[("a", &[0.; 10]), ("b", &[0.; 20])]));
        assert_eq!((none.low, none.high), (Some(0.0), Some(0.1)));
        let all = proportion(&units(&[("a", &[1.; 10]), ("b", &[1.; 20])]));
        assert_eq!((all.low, all.high), (Some(0.9), Some(1.0)));
        assert!(all.warnings.contains(&Warning::AllAlike));
    }

    #[test]
    fn one_cluster_has_no_interval_and_none_has_no_value() {
        let one = proportion(&units(&[("a", &[0., 1., 1.])]));
        assert_eq!((one.value, one.low, one.high), (Some(0.666667), None, None));
        assert_eq!(one.warnings, [Warning::OneCluster]);
        assert_eq!(mean(&units(&[("a", &[0.2, 0.4])])).low, None);
        assert_eq!(proportion(&[]).value, None);
        assert_eq!(mean(&[]).value, None);
    }

    #[test]
    fn a_single_success_is_not_as_wide_as_clusters_of_one() {
        let names: Vec<String> = (0..29).map(|n| n.to_string()).collect();
        let all: Vec<Unit> = (0..290)
            .map(|at| Unit { cluster: &names[at / 10], mean: f64::from(u8::from(at == 5)), trials: 1 })
            .collect();
        let found = proportion(&all);
        assert!(found.high.unwrap() < 0.08, "{found:?}");
        assert_eq!(found.warnings, [Warning::FewEvents]);
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_the_hand() {
        // Four clusters of one: 0.2, 0.4, 0.6, 0.8. Mean 0.5, V = 4/3 * 0.2 / 16 = 1/60. Kurtosis 4*0.0164/0.04 = 1.64.
        let found = mean(&units(&[("a", &[0.2]), ("b", &[0.4]), ("c", &[0.6]), ("d", &[0.8])]));
        let half = 3.182_446 * (1.0f64 / 60.0).sqrt();
        assert!((found.low.unwrap() - (0.5 - half)).abs() < 1e-5);
        assert!((found.high.unwrap() - (0.5 + half)).abs() < 1e-5);
    }
}
