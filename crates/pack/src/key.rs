//! The key of a committed suite: 32 secret bytes from which its seeds and its salt come. Each is an HMAC of what it is for, so that
//! whoever has some of them can find neither the key nor another one, and whoever has the key can make all of them again.

use crate::Split;
use benchwright_base::Digest;
use std::fmt;

/// What tells these derivations from everything else that may be done with a key.
const LABEL: &str = "benchwright committed suite 1";

/// A secret key. It is never shown but in an opening.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; Key::BYTES]);

/// What a seed comes from, beside the key: a draw of a pattern at a tier for an objective, by its number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Lot {
    /// The pattern.
    pub pattern: String,
    /// The tier.
    pub tier: String,
    /// The objective; empty where the tasks of all objectives share their draws.
    pub objective: String,
    /// The number, from 0.
    pub index: u64,
}

impl Key {
    /// How many bytes it has.
    pub const BYTES: usize = 32;

    /// The key of these bytes; `None` if they are too many or too few.
    pub fn new(bytes: &[u8]) -> Option<Key> {
        bytes.try_into().ok().map(Key)
    }

    /// Reads it as it stands in an opening.
    pub fn from_hex(text: &str) -> Option<Key> {
        Digest::parse(text).map(|bytes| Key(bytes.0))
    }

    /// As it stands in an opening.
    pub fn to_hex(&self) -> String {
        Digest(self.0).to_string()
    }

    /// What is told of it beforehand: no other key has it, and it does not tell the key.
    pub fn commitment(&self) -> Digest {
        self.derived("commitment", &[])
    }

    /// The salt of the suite.
    pub fn salt(&self) -> String {
        self.derived("salt", &[]).to_string()
    }

    /// The number of a seed in the lock file. Where a seed gives no task, the next attempt has another.
    pub fn seed(&self, lot: &Lot, attempt: u32) -> u64 {
        let (index, attempt) = (lot.index.to_le_bytes(), u64::from(attempt).to_le_bytes());
        let parts = [lot.pattern.as_bytes(), lot.tier.as_bytes(), lot.objective.as_bytes(), &index, &attempt];
        let Digest(bytes) = self.derived("seed", &parts);
        bytes[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte)) % Split::NUMBERS
    }

    /// The HMAC of parts, each with its length before it.
    fn derived(&self, purpose: &str, parts: &[&[u8]]) -> Digest {
        let mut message = Vec::new();
        for part in [LABEL.as_bytes(), purpose.as_bytes()].iter().chain(parts) {
            message.extend((part.len() as u64).to_le_bytes());
            message.extend(*part);
        }
        Digest::keyed(&self.0, &message)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn lot(pattern: &str, tier: &str, index: u64) -> Lot {
        Lot { pattern: pattern.to_owned(), tier: tier.to_owned(), objective: "fill".to_owned(), index }
    }

    #[test]
    fn what_comes_from_a_key_is_pinned() {
        // Made a second time by hand, with another program's HMAC.
        let key = Key::new(&std::array::from_fn::<u8, 32, _>(|at| at as u8)).unwrap();
        assert_eq!(key.to_hex(), "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
        assert_eq!(Key::from_hex(&key.to_hex()), Some(key.clone()));
        assert_eq!(key.commitment().to_string(), "c57abc03aa8e3d6dfffa74efca4c37ec0787445f5b63b2cb7d70f637d58b295a");
        assert_eq!(key.salt(), "592499b2333b880aba2ff99aaa3791674ba65a2ce2fff7f8debd4ca8586da1be");
        assert_eq!(key.seed(&lot("grid/travel", "h01-b00", 0), 0), 721_690_570_236_433_027);
        assert_eq!(key.seed(&lot("grid/travel", "h01-b00", 7), 2), 3_635_636_476_094_576_982);
        assert_eq!(format!("{key:?}"), "a secret key", "no log shows it");
        assert_eq!(Key::new(&[0; 31]), None);
    }

    #[test]
    fn committed_seeds_are_spread_and_never_those_of_a_test_or_of_training() {
        let key = Key::new(&[7; 32]).unwrap();
        let mut seen = BTreeSet::new();
        for index in 0..5_000 {
            for attempt in 0..2 {
                let number = key.seed(&lot("grid/travel", "h01-b00", index), attempt);
                let seed = Split::Committed.seed(number);
                assert_eq!(Split::of_seed(seed), (Split::Committed, number));
                assert!(![Split::Test, Split::Train].map(|split| split.seed(number)).contains(&seed));
                assert!(seen.insert(number), "{number} twice");
            }
        }
        let high = seen.iter().filter(|number| **number >= Split::NUMBERS / 2).count();
        assert!((4_700..5_300).contains(&high), "{high} of 10000 in the upper half");
        // No letter can move from one name to the next.
        assert_ne!(key.seed(&lot("a/b", "c", 0), 0), key.seed(&lot("a/", "bc", 0), 0));
        assert_ne!(Key::new(&[8; 32]).unwrap().seed(&lot("a/b", "c", 0), 0), key.seed(&lot("a/b", "c", 0), 0));
    }
}
