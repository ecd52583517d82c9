//! The statistics of a report: shares and means with intervals, paired comparisons, pass@k, power, rank correlation,
//! and what a sample proves.
//! Results of tasks of one cluster (such as one pattern) are alike, and every interval takes that into account. All are of
//! closed form and draw no random number.

mod bound;
mod distributions;
mod interval;
mod paired;
mod passes;
mod power;
mod rank;
mod spread;

pub use bound::{enough, faulty_at_most};
pub use interval::{Estimate, Unit, Warning, cautions, mean, proportion};
pub use paired::{Difference, Finding, could_tell, holm, mcnemar, paired};
pub use passes::{pass_at_k, pass_hat_k, passes};
pub use power::{Design, power, smallest_difference};
pub use rank::spearman;
pub use spread::{intraclass, intraclass_of_passes, quantile};

/// The level of every interval and test: 95 %.
pub const LEVEL: f64 = 0.95;

/// Rounded to six decimals, so that a printed number does not change with the order of a sum.
pub fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    if rounded == 0.0 { 0.0 } else { rounded }
}
