//! Tries to break every task before anybody sees it. Each trial is run for real, on the compiled task.

pub mod arguments;
mod finding;
mod subject;
pub mod trials;

pub use finding::{AuditReport, Finding, Held, TaskReport, TrialSummary};
pub use subject::{Solvers, Subject, SubjectError};
pub use trials::{TRIALS, Trial, run};
