//! Reads a spec's rules over candidate rows as a solver's model, solves it by deterministic work, and asks a second solver.

mod check;
mod core;
mod cpsat;
mod ffi;
mod formula;
mod highs;
mod locate;
mod lower;
mod model;
mod plan;
mod proto;
mod range;
pub mod sabotage;

pub use check::{Violated, first_violated, satisfied};
pub use core::{CoreError, core};
pub use cpsat::{CpSat, Message};
pub use formula::Formula;
pub use highs::{Highs, NODES_PER_WORK};
pub use locate::{FETCH, Library, PINNED_SHA256, PINNED_VERSION};
pub use lower::{Instance, Lower, LowerError, Row};
pub use model::{Answer, Constraint, Engine, EngineError, Limits, Lin, Lit, Model, Range, Status, Var};
pub use plan::{PhasePlanner, Recorded};
