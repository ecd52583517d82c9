//! Reads a spec's rules over candidate rows as a solver's model, solves it by deterministic work, and asks a second solver.

mod formula;
mod lower;
mod model;
pub mod sabotage;

pub use formula::Formula;
pub use lower::{Instance, Lower, LowerError, Row};
pub use model::{Answer, Constraint, Engine, EngineError, Limits, Lin, Lit, Model, Range, Status, Var};
