//! Tries to break every task before anybody sees it. An *audit trial* is one kind of attack or of proof, such as "doing
//! nothing earns 0" or "a plan that breaks one rule is refused, and that rule is named"; each is run for real, on the
//! compiled task, its world and its judge. What was found adds up to the report of a suite.
//!
//! ```
//! use benchwright_audit::{AuditReport, Finding, Held, TRIALS, TaskReport};
//!
//! let idle = TRIALS.iter().find(|trial| trial.name == "idle").expect("it is the first of all");
//! assert_eq!(idle.about, "doing nothing earns 0");
//!
//! let mut task = TaskReport { id: "erp-1".to_owned(), pattern: "a/b".to_owned(), ..TaskReport::default() };
//! task.trials.insert("idle".to_owned(), Finding::new(Held::Passed));
//! task.trials.insert("leak".to_owned(), Finding::new(Held::Failed("the instruction names a sealed key".to_owned())));
//! let mut report = AuditReport::default();
//! report.add(&task);
//! assert!(!report.clean());
//! assert_eq!(report.shortfalls.len(), 1);
//! ```

mod attempts;
mod edits;
mod finding;
mod freedom;
mod ground;
mod request;
mod sides;
mod subject;
pub mod trials;
mod values;

pub use attempts::{Attempt, AttemptCall, NoAttempts};
pub use finding::{AuditReport, CellSummary, DrawnSummary, Finding, Held, TaskReport, TrialSummary};
pub use request::RequestSubject;
pub use subject::{CarryOutError, NotRemade, Solvers, Subject, SubjectError};
pub use trials::{TRIALS, Trial, run, run_on_request};
