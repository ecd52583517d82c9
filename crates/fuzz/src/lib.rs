//! What every reader of foreign bytes must bear. A [`Target`] hands bytes to one reader and, where they are taken, holds what was read to
//! what it promises: it writes back to what it was, a world made of it keeps its laws, a ledger that was bent is not called whole. A
//! promise that is broken is a panic.
//!
//! The same targets are tried two ways: a test changes good documents at random, the same way each time, in seconds; and `scripts/fuzz`
//! gives them to libFuzzer, which looks for bytes that reach new code, for as long as one likes. An input that was once borne badly stays
//! with its target and is tried by both.

mod ground;
pub mod mutate;
mod targets;

/// What came of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Met {
    /// It was refused with an error.
    Refused,
    /// It was read, and keeps what is promised of it.
    Taken,
}

/// One reader of foreign bytes.
pub struct Target {
    /// Its name, as `scripts/fuzz` takes it.
    pub name: &'static str,
    /// Good documents, from which others are made. Each is taken.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Inputs that were once borne badly.
    pub regressions: &'static [&'static [u8]],
    /// How many changed documents a test tries: about as many as take a second.
    pub rounds: u32,
    /// Reads an input.
    pub meet: fn(&[u8]) -> Met,
}

/// All readers.
pub const TARGETS: [Target; 9] = [
    targets::snapshot::TARGET,
    targets::trace::TARGET,
    targets::suite::TARGET,
    targets::domain::TARGET,
    targets::pattern::TARGET,
    targets::pack::TARGET,
    targets::ledger::TARGET,
    targets::expression::TARGET,
    targets::arguments::TARGET,
];

/// The target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    const ALL: &[Target] = &TARGETS;
    ALL.iter().find(|target| target.name == name)
}
