//! The crate as its users see it, on made-up runs.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod coverage;
mod draw;
mod hostile;
mod made_up;
mod pages;
mod runs;
mod simulate;
mod simulate_pairs;
mod tally;
