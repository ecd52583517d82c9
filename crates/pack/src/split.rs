//! What tasks are made for: to measure with, openly or from secret seeds, or to train on. No two of these may ever share a task, or a
//! measurement would be of what was learnt by heart. So each has seeds of its own, told by their highest bits: whatever is drawn for
//! training is drawn from other numbers than anything that is measured with, and a task says in its own text which it is.

use crate::CANARY;
use serde::{Deserialize, Serialize};

/// What stands in place of the canary in tasks that are made for training.
pub const TRAINING: &str = "benchwright training data 8d02b7c6-41f5-4e0b-a1d9-c27f90e6b35a: made for training, drawn from other \
    seeds than every test split";

/// The seeds of training have this bit, those of tests do not. A lock file holds numbers without it.
const TRAIN_HALF: u64 = 1 << 63;
/// Of the seeds without that bit, those that come from a key have this one. A lock file holds numbers without it.
const COMMITTED_HALF: u64 = 1 << 62;

/// What tasks are made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// To measure agents with. Nobody may train on them.
    #[default]
    Test,
    /// To train agents on.
    Train,
    /// To measure agents with, from seeds that come from a secret key. Nobody may train on them.
    Committed,
}

impl Split {
    /// All of them, the usual one first.
    pub const ALL: [Split; 3] = [Split::Test, Split::Train, Split::Committed];

    /// A lock file holds smaller numbers than this one, whatever its split.
    pub const NUMBERS: u64 = COMMITTED_HALF;

    /// Its word, in lock files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Split::Test => "test",
            Split::Train => "train",
            Split::Committed => "committed",
        }
    }

    /// The split of a word.
    pub fn from_word(word: &str) -> Option<Split> {
        Split::ALL.into_iter().find(|split| split.word() == word)
    }

    /// Whether it is the usual one, which documents do not mention.
    pub fn is_test(&self) -> bool {
        *self == Split::Test
    }

    /// The line that stands in every artifact of its tasks.
    pub fn canary(self) -> &'static str {
        match self {
            Split::Test | Split::Committed => CANARY,
            Split::Train => TRAINING,
        }
    }

    /// The seed that a task is drawn from, by its number in a lock file.
    pub fn seed(self, number: u64) -> u64 {
        match self {
            Split::Test => number % COMMITTED_HALF,
            Split::Train => number | TRAIN_HALF,
            Split::Committed => (number % COMMITTED_HALF) | COMMITTED_HALF,
        }
    }

    /// The split that a seed belongs to, and its number there.
    pub fn of_seed(seed: u64) -> (Split, u64) {
        match (seed & TRAIN_HALF, seed & COMMITTED_HALF) {
            (0, 0) => (Split::Test, seed),
            (0, _) => (Split::Committed, seed - COMMITTED_HALF),
            _ => (Split::Train, seed - TRAIN_HALF),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_seed_belongs_to_two_splits() {
        let mut seen = BTreeSet::new();
        // Small numbers, and thousands spread over all that a lock file may hold.
        let spread = (0..5_000_u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) % Split::NUMBERS);
        for number in (1..1_000).chain(spread).chain([Split::NUMBERS - 1]) {
            let [test, train, committed] = Split::ALL.map(|split| split.seed(number));
            assert_eq!(test, number, "seeds of tests stay as they are");
            assert!((Split::NUMBERS..2 * Split::NUMBERS).contains(&committed) && train >= 2 * Split::NUMBERS);
            for (split, seed) in Split::ALL.into_iter().zip([test, train, committed]) {
                assert_eq!(Split::of_seed(seed), (split, number));
                assert!(seen.insert(seed), "{seed} is of one split");
            }
        }
        // What no lock file holds does not lead from one split into another either.
        for number in [Split::NUMBERS, i64::MAX as u64, u64::MAX] {
            assert!(Split::ALL.into_iter().all(|split| Split::of_seed(split.seed(number)).0 == split), "{number}");
        }
    }

    #[test]
    fn what_is_made_for_training_does_not_ask_to_be_left_out_of_it() {
        assert!(CANARY.contains("do not train") && !TRAINING.contains("do not"));
        for split in Split::ALL {
            assert_eq!(Split::from_word(split.word()), Some(split));
            assert_eq!(serde_json::to_string(&split).unwrap(), format!("\"{}\"", split.word()));
        }
        assert_eq!(Split::from_word("validation"), None);
    }
}
