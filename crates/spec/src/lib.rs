//! A parametric constraint program as data: candidate rows, plans, and what was solved.

mod candidates;
mod solved;

pub use candidates::{Candidate, Candidates, Cell, NamedRows, Rows, value};
pub use solved::{NoPlanner, Outcome, PhaseResult, Planner, PlannerError, Solved};
