//! Two agents on the same tasks: the paired difference with its clustered error, McNemar's exact test, and Holm's
//! correction for many comparisons.

use super::interval::{clustered, two_sided};
use super::{LEVEL, Unit, Warning, cautions, distributions, rounded};
use serde::{Deserialize, Serialize};

/// What a comparison finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The first is better.
    A,
    /// The second is better.
    B,
    /// The trials do not tell.
    CannotDistinguish,
    /// Whatever the trials had shown, there are too few tasks to tell.
    CouldNeverTell,
}

/// The difference of two agents, first minus second. Keys: `tasks`, `clusters`, `a`, `b`, `difference`, `low`, `high`,
/// `p` (of the t test), `only_a`, `only_b`, `mcnemar`, `finding`, `warnings`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The tasks that both have a result of.
    pub tasks: usize,
    /// The clusters that these tasks are of.
    pub clusters: usize,
    /// The mean of the first.
    pub a: Option<f64>,
    /// The mean of the second.
    pub b: Option<f64>,
    /// The mean of the differences per task.
    pub difference: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end of the 95 % interval.
    pub high: Option<f64>,
    /// The two-sided p value of the clustered t test.
    pub p: Option<f64>,
    /// Tasks on which the first did better.
    pub only_a: u64,
    /// Tasks on which the second did better.
    pub only_b: u64,
    /// McNemar's exact p value, where each task has one trial per agent.
    pub mcnemar: Option<f64>,
    /// Which agent is better, or that the trials do not tell.
    pub finding: Finding,
    /// Why the finding may be weaker than it looks.
    pub warnings: Vec<Warning>,
}

/// The paired difference of two agents over tasks, the two results of a task side by side.
///
/// A difference is found when the clustered interval leaves out 0. Where fewer than 10 tasks differ, or all differ alike and so
/// show no error, that interval is no ground to stand on, and the exact test over tasks must agree.
pub fn paired(pairs: &[(Unit, Unit)]) -> Difference {
    let only_a = pairs.iter().filter(|(a, b)| a.mean > b.mean).count() as u64;
    let only_b = pairs.iter().filter(|(a, b)| a.mean < b.mean).count() as u64;
    let once = !pairs.is_empty() && pairs.iter().all(|(a, b)| a.trials == 1 && b.trials == 1);
    let exact = mcnemar(only_a, only_b);
    let n = pairs.len() as f64;
    let average = |side: fn(&(Unit, Unit)) -> f64| (n > 0.0).then(|| rounded(pairs.iter().map(side).sum::<f64>() / n));
    let mut out = Difference {
        tasks: pairs.len(),
        clusters: 0,
        a: average(|pair| pair.0.mean),
        b: average(|pair| pair.1.mean),
        difference: None,
        low: None,
        high: None,
        p: None,
        only_a,
        only_b,
        mcnemar: once.then(|| rounded(exact)),
        finding: Finding::CannotDistinguish,
        warnings: cautions(0),
    };
    let Some(found) = clustered(pairs.iter().map(|(a, b)| (a.cluster, a.mean - b.mean))) else { return out };
    out.clusters = found.clusters;
    out.difference = Some(rounded(found.mean));
    out.warnings = cautions(found.clusters);
    if !could_tell(pairs.len(), found.clusters, 1, once) {
        out.finding = Finding::CouldNeverTell;
    }
    if found.clusters < 2 {
        return out;
    }
    // A sum of rounded differences leaves a trace of a variance where there is none.
    let error = if found.variance < 1e-24 { 0.0 } else { found.variance.sqrt() };
    let half = two_sided(found.freedom) * error;
    out.low = Some(rounded((found.mean - half).max(-1.0)));
    out.high = Some(rounded((found.mean + half).min(1.0)));
    let p = if error > 0.0 { 2.0 * distributions::t_cdf(-(found.mean / error).abs(), found.freedom) } else { exact };
    out.p = Some(rounded(p.min(1.0)));
    // A t test over a handful of differing tasks finds what chance made; the exact test has to agree with it.
    let fragile = only_a + only_b < 10 || error == 0.0;
    if found.mean.abs() > half && (!fragile || exact < 1.0 - LEVEL) {
        out.finding = if found.mean > 0.0 { Finding::A } else { Finding::B };
    }
    out
}

/// Whether any results could show a difference, with so many tasks in so many clusters, where the smallest p value counts
/// `comparisons` times. `once` says that every agent tries each task once, so that a task differs by all or nothing.
///
/// With fewer than 10 tasks the exact test must agree, and its smallest p value is that of all tasks differing alike. Where they
/// all have to, and differ by all or nothing, there is no error to speak of, and that p value is the one that is corrected.
pub fn could_tell(tasks: usize, clusters: usize, comparisons: usize, once: bool) -> bool {
    let alpha = 1.0 - LEVEL;
    let exact = |differing: usize| mcnemar(differing as u64, 0);
    let must_all_differ = once && exact(tasks.saturating_sub(1)) >= alpha;
    clusters >= 2 && exact(tasks) * if must_all_differ { comparisons as f64 } else { 1.0 } < alpha
}

/// McNemar's exact two-sided p value: `b` and `c` are the tasks that only the one and only the other solved.
pub fn mcnemar(b: u64, c: u64) -> f64 {
    if b + c == 0 { 1.0 } else { (2.0 * distributions::binomial_cdf(b.min(c), b + c, 0.5)).min(1.0) }
}

/// Holm's correction: the p values adjusted for their number, in the order given.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut out = vec![0.0; values.len()];
    // The smallest value is multiplied by all of them, the next by one less, and so on; none ends below one that came before it.
    let mut least: f64 = 0.0;
    for (done, at) in order.into_iter().enumerate() {
        least = least.max(((values.len() - done) as f64 * values[at]).min(1.0));
        out[at] = least;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(cluster: &str, a: f64, b: f64) -> (Unit<'_>, Unit<'_>) {
        (Unit { cluster, mean: a, trials: 1 }, Unit { cluster, mean: b, trials: 1 })
    }

    #[test]
    fn mcnemar_counts_coins() {
        // 1 against 9: 2 * (1 + 10) / 1024.
        assert!((mcnemar(1, 9) - 22.0 / 1024.0).abs() < 1e-12);
        assert_eq!(mcnemar(0, 0), 1.0);
        assert_eq!(mcnemar(4, 4), 1.0);
        assert!((mcnemar(5, 0) - 0.0625).abs() < 1e-12);
    }

    #[test]
    fn holm_never_lets_a_larger_value_overtake() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn a_difference_is_found_only_where_the_trials_tell() {
        let names: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        // In 12 of 20 clusters the first alone passes both of its tasks.
        let better: Vec<(Unit, Unit)> = names
            .iter()
            .enumerate()
            .flat_map(|(at, name)| [pair(name, 1.0, f64::from(u8::from(at >= 12))); 2])
            .collect();
        let found = paired(&better);
        assert_eq!((found.difference, found.finding), (Some(0.6), Finding::A));
        // Sums 2 (12 times) and 0 (8 times) around 1.2: 12 * 0.64 + 8 * 1.44 = 19.2. V = 20/19 * 19.2 / 1600.
        let half = distributions::t_quantile(0.975, 19.0) * (20.0 / 19.0 * 19.2 / 1600.0f64).sqrt();
        assert!((found.low.unwrap() - (0.6 - half)).abs() < 1e-6, "{found:?}");
        assert!(found.mcnemar.unwrap() < 0.001);

        let even: Vec<(Unit, Unit)> =
            names.iter().enumerate().map(|(at, name)| pair(name, (at % 2) as f64, ((at + 1) % 2) as f64)).collect();
        assert_eq!(paired(&even).finding, Finding::CannotDistinguish);
        let swapped: Vec<(Unit, Unit)> = better.iter().map(|(a, b)| (*b, *a)).collect();
        assert_eq!(paired(&swapped).finding, Finding::B);
    }

    #[test]
    fn two_tasks_that_agree_prove_nothing() {
        let found = paired(&[pair("a", 1.0, 0.0), pair("b", 1.0, 0.0)]);
        assert_eq!((found.low, found.high, found.p), (Some(1.0), Some(1.0), Some(0.5)));
        assert_eq!(found.finding, Finding::CouldNeverTell);
        assert_eq!(paired(&[pair("a", 1.0, 0.0)]).low, None);
        assert_eq!(paired(&[]).difference, None);
        assert_eq!(paired(&[pair("a", 1.0, 1.0), pair("b", 1.0, 1.0)]).finding, Finding::CouldNeverTell);
    }

    /// What is said to be out of reach is out of reach: of all results that so few tasks can have, none finds a difference.
    #[test]
    fn where_a_sample_could_never_tell_no_results_do() {
        let names: Vec<String> = (0..9).map(|n| n.to_string()).collect();
        for tasks in 1..=9 {
            let finds = (0..1_u32 << tasks).any(|better| {
                let results = |at: usize| f64::from(better >> at & 1);
                let pairs: Vec<(Unit, Unit)> = (0..tasks).map(|at| pair(&names[at], results(at), 0.0)).collect();
                matches!(paired(&pairs).finding, Finding::A | Finding::B)
            });
            assert_eq!(finds, could_tell(tasks, tasks, 1, true), "{tasks} tasks");
        }
        // Five tasks never do; six do, but not if several pairs are compared and each task is tried once.
        assert!(!could_tell(5, 5, 1, false) && could_tell(6, 6, 1, true));
        assert!(!could_tell(6, 6, 2, true) && could_tell(6, 6, 2, false) && could_tell(7, 7, 6, true));
        assert!(!could_tell(300, 1, 1, true), "one cluster has no error to measure");
    }
}
