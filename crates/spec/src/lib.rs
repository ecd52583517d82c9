//! A parametric constraint program as data: candidate rows, plans, and what was solved.

mod candidates;

pub use candidates::{Candidate, Candidates, Cell, NamedRows, Rows, value};
