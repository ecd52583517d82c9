//! Pure functions from what was solved to instruction, environment, oracle and verifier.

mod family;
mod make;
mod pattern;
mod toolset;

pub use family::{Breadth, Brief, Case, Desk, Discard, Draw, Family, FirstState, Mutation, Proof};
pub use make::{MOST_ATTEMPTS, MakeError, Order, Ready, Solver, make, plan_text, ready};
pub use pattern::{Pattern, PatternCell, PatternError, PatternHead, PatternText};
pub use toolset::{Offered, toolset};
