//! The numbers a report owes its reader. Every interval takes tasks of one cluster as alike, is of closed form and draws no
//! random number.

mod distributions;
mod interval;
mod paired;
mod passes;
mod power;
mod rank;
mod spread;

pub use interval::{Estimate, Unit, Warning, cautions, mean, proportion};
pub use paired::{Difference, Finding, holm, mcnemar, paired};
pub use passes::{pass_at_k, pass_hat_k};
pub use power::{Design, power, smallest_difference};
pub use rank::spearman;
pub use spread::{intraclass, quantile};

/// The level of every interval and test: 95 %.
pub const LEVEL: f64 = 0.95;

/// Rounded to six decimals, so that a printed number does not change with the order of a sum.
pub fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    if rounded == 0.0 { 0.0 } else { rounded }
}
