//! A run becomes numbers, and numbers become tables and pages. Pure: it reads documents it is handed and returns values and
//! text.

mod compare;
pub mod html;
pub mod stats;
mod summary;
pub mod text;

pub use compare::{CompareError, Comparison, Side, compare, compare_all};
pub use summary::{
    AgentSummary, Breakdown, Correlation, Counts, Failure, Figures, Flaky, Grid, GridCell, Group, SUMMARY_VERSION,
    Summary, SummaryError,
};
