//! Finds the best plan and proves that it is best. Rules and objectives over candidate rows go in; they are read as a
//! [`Model`] of whole-number variables ([`Lower`]), solved by CP-SAT within limits of deterministic work, and, where an
//! audit asks, by HiGHS for a second opinion.
//!
//! The engines are C libraries that are loaded when they are needed ([`Library::find`]); everything else works without
//! them, such as the exact check that every point of an engine has to pass:
//!
//! ```
//! use benchwright_solve::{Constraint, Lin, Model, satisfied};
//!
//! // x + y lies between 3 and 5, each of them between 0 and 4.
//! let mut model = Model::default();
//! let (x, y) = (model.var(0, 4), model.var(0, 4));
//! let of = Lin::sum([Lin::var(x), Lin::var(y)]);
//! model.constraints.push(Constraint::Linear { of, within: vec![(3, 5)], when: Vec::new() });
//! assert!(satisfied(&model, &[1, 4]));
//! assert!(!satisfied(&model, &[4, 4]), "the sum is too large");
//! assert!(!satisfied(&model, &[5, 0]), "x is out of its domain");
//! ```

mod certificate;
mod check;
mod core;
mod cpsat;
mod ffi;
mod formula;
mod highs;
mod kept;
mod locate;
mod lower;
mod model;
mod plan;
mod portfolio;
mod proto;
mod range;
pub mod sabotage;

pub use certificate::{Multipliers, near, proved};
pub use check::{Violated, first_violated, satisfied};
pub use core::{CoreError, core};
pub use cpsat::{CpSat, Message};
pub use formula::{Formula, Schedule};
pub use highs::{Highs, NODES_PER_WORK};
pub use kept::{Answers, Keeper, NotAnswers, Said};
pub use locate::{FETCH, Library, PINNED_SHA256, PINNED_VERSION};
pub use lower::{Instance, Lower, LowerError, Lowering, Row};
pub use model::{
    Answer, Constraint, Engine, EngineError, Interval, Limits, Lin, Lit, Model, Range, Relaxed, Status, Var,
};
pub use plan::{PhasePlanner, Recorded};
pub use portfolio::{Portfolio, Prover, model_of};
