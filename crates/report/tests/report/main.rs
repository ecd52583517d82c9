//! The crate as its users see it, on made-up runs.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod coverage;
mod made_up;
mod runs;
mod simulate;
