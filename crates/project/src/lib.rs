//! Pure functions from what was solved to instruction, environment, oracle and verifier.

mod family;
mod pattern;

pub use family::{Breadth, Brief, Case, Desk, Discard, Draw, Family, FirstState, Mutation};
pub use pattern::{Pattern, PatternCell, PatternError, PatternHead, PatternText};
