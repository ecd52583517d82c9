//! Buckets of real servers, from outside.

#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "tests")]

mod servers;
