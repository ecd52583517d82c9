//! Turns the records of a run into numbers with their uncertainty, and those into tables for a terminal and static HTML
//! pages. Documents go in; values and text come out. It reads no file, no clock and no random number, so the same run gives
//! the same report.
//!
//! ```
//! use benchwright_report::stats::{pass_at_k, pass_hat_k};
//!
//! // Of 4 attempts 2 passed. How likely is it that one of two attempts passes, and that both do?
//! let is = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-12);
//! assert!(is(pass_at_k(4, 2, 2), 5.0 / 6.0));
//! assert!(is(pass_hat_k(4, 2, 2), 1.0 / 6.0));
//! assert_eq!(pass_at_k(4, 2, 5), None, "four attempts say nothing of five");
//! ```

mod compare;
pub mod html;
pub mod layout;
pub mod stats;
mod summary;
pub mod text;

pub use compare::{CompareError, Comparison, Side, compare, compare_all};
pub use summary::{
    AgentSummary, Breakdown, Correlation, Counts, ErrorLine, Failure, Figures, Flaky, Grid, GridCell, Group,
    InjectionFigures, PairFigures, PlanEnd, PlanFigures, PlanKind, PlanTier, RefusalFigures, SUMMARY_VERSION, Summary,
    SummaryError, Tally, Threshold,
};
