//! Folders as depots, from outside.

#![expect(clippy::unwrap_used, reason = "tests")]

mod folder;
