//! What tasks are made for: to measure with, or to train on. The two must never share a task, or a measurement would be of what
//! was learnt by heart. So each has one half of all seeds: whatever is drawn for training is drawn from other numbers than
//! anything that is measured with, and a task says in its own text which it is.

use crate::CANARY;
use serde::{Deserialize, Serialize};

/// What stands in place of the canary in tasks that are made for training.
pub const TRAINING: &str = "benchwright training data 8d02b7c6-41f5-4e0b-a1d9-c27f90e6b35a: made for training, drawn from other \
    seeds than every test split";

/// The seeds of training have this bit, those of tests do not. A lock file holds numbers without it.
const TRAIN_HALF: u64 = 1 << 63;

/// What tasks are made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// To measure agents with. Nobody may train on them.
    #[default]
    Test,
    /// To train agents on.
    Train,
}

impl Split {
    /// All of them, the usual one first.
    pub const ALL: [Split; 2] = [Split::Test, Split::Train];

    /// Its word, in lock files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Split::Test => "test",
            Split::Train => "train",
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
            Split::Test => CANARY,
            Split::Train => TRAINING,
        }
    }

    /// The seed that a task is drawn from, by its number in a lock file.
    pub fn seed(self, number: u64) -> u64 {
        match self {
            Split::Test => number & !TRAIN_HALF,
            Split::Train => number | TRAIN_HALF,
        }
    }

    /// The split that a seed belongs to, and its number there.
    pub fn of_seed(seed: u64) -> (Split, u64) {
        let split = if seed & TRAIN_HALF == 0 { Split::Test } else { Split::Train };
        (split, seed & !TRAIN_HALF)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_seed_belongs_to_both_splits() {
        for number in [0, 1, 8001, i64::MAX as u64] {
            let [test, train] = Split::ALL.map(|split| split.seed(number));
            assert_eq!(
                (test, Split::of_seed(test)),
                (number, (Split::Test, number)),
                "seeds of tests stay as they are"
            );
            assert_eq!(Split::of_seed(train), (Split::Train, number));
            assert!(train > i64::MAX as u64, "no lock file of tests can hold {train}");
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
