//! How often the printed interval holds the truth: clusters whose success rates follow a beta distribution, tasks that
//! follow their cluster.

use crate::draw::Draw;
use benchwright_base::Stream;
use benchwright_report::stats::{Unit, Warning, proportion};

/// The tasks of each pattern: the layouts that a report meets.
pub(crate) const LAYOUTS: [(&str, &[usize]); 5] = [
    ("29 x 10", &[10; 29]),
    (
        "erp-300",
        &[
            8, 8, 8, 8, 8, 10, 10, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 12, 12, 12, 10, 10, 10, 10, 11, 11, 11,
            11,
        ],
    ),
    ("easy", &[8, 8, 8, 8, 8, 10]),
    ("medium", &[10, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 12, 12, 12]),
    ("hard", &[10, 10, 10, 10, 11, 11, 11, 11]),
];

/// What a simulation found, as shares of the replications.
pub(crate) struct Coverage {
    /// The interval held the truth.
    pub(crate) covered: f64,
    /// A warning was printed beside it.
    pub(crate) warned: f64,
    /// Wilson's interval without clusters would have held it.
    pub(crate) naive: f64,
    /// The mean width.
    pub(crate) width: f64,
}

/// Draws suites and counts how often the interval holds the truth.
pub(crate) fn coverage(sizes: &[usize], icc: f64, p: f64, replications: u32, seed: u64) -> Coverage {
    let names: Vec<String> = (0..sizes.len()).map(|at| at.to_string()).collect();
    let mut draw = Draw(Stream::new(seed, &["coverage", &format!("{} {icc} {p}", sizes.len())]));
    let both = 1.0 / icc - 1.0;
    let (mut covered, mut warned, mut naive, mut width) = (0u32, 0u32, 0u32, 0.0);
    for _ in 0..replications {
        let mut units = Vec::with_capacity(300);
        for (size, cluster) in sizes.iter().zip(&names) {
            let rate = beta(&mut draw, both * p, both * (1.0 - p));
            for _ in 0..*size {
                units.push(Unit { cluster, mean: f64::from(u8::from(draw.uniform() < rate)), trials: 1 });
            }
        }
        let found = proportion(&units);
        let (low, high) = (found.low.unwrap(), found.high.unwrap());
        covered += u32::from(low <= p && p <= high);
        warned += u32::from(found.warnings.iter().any(|warning| *warning != Warning::OneCluster));
        width += high - low;
        let (n, mean, z) = (units.len() as f64, found.value.unwrap(), 1.959_964);
        let half = z * (p * (1.0 - p) / n).sqrt();
        naive += u32::from((mean - p).abs() <= half);
    }
    let share = |count: u32| f64::from(count) / f64::from(replications);
    Coverage {
        covered: share(covered),
        warned: share(warned),
        naive: share(naive),
        width: width / f64::from(replications),
    }
}

/// The gamma distribution, by Marsaglia and Tsang.
fn gamma(draw: &mut Draw, shape: f64) -> f64 {
    if shape < 1.0 {
        return gamma(draw, shape + 1.0) * draw.uniform().powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    loop {
        let x = draw.normal();
        let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
        if v > 0.0 && draw.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// The beta distribution.
fn beta(draw: &mut Draw, a: f64, b: f64) -> f64 {
    let (x, y) = (gamma(draw, a), gamma(draw, b));
    if x + y > 0.0 { x / (x + y) } else { f64::from(u8::from(draw.uniform() < a / (a + b))) }
}
