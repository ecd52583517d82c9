//! Pure functions from what was solved to instruction, environment, oracle and verifier.

mod capability;
mod family;
mod make;
mod pattern;
mod toolset;

pub use capability::{Breadth, Capability, Desk, Faults, Mutation, Mutator, Optimised, Players, Proof, Reader};
pub use family::{Brief, Case, Discard, Draw, Family, FamilyError, FirstState};
pub use make::{MOST_ATTEMPTS, MakeError, Order, Ready, Solver, make, plan_text, ready};
pub use pattern::{Pattern, PatternCell, PatternError, PatternHead, PatternText};
pub use toolset::{Offered, toolset};
