//! Hashes: SHA-256 over canonical bytes for documents that are signed or pinned, and a fast additive hash of rows for the
//! state of a running episode. The additive one is for equality and caching, never for trust.

use sha2::{Digest as _, Sha256};
use std::fmt;

/// The SHA-256 of canonical bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// The digest of named parts, in the order given; names and lengths are part of it.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Digest {
        let mut hash = Sha256::new();
        for (name, bytes) in parts {
            for part in [name.as_bytes(), bytes] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        Digest(hash.finalize().into())
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Digest> {
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            return None;
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()?;
        }
        Some(Digest(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The hash of a row, or the sum of many: a state's hash is the sum of its rows' hashes, so a changed row costs one
/// subtraction and one addition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RowHash(pub u128);

impl RowHash {
    /// The hash of a row's canonical bytes.
    pub fn of(bytes: &[u8]) -> RowHash {
        RowHash(xxhash_rust::xxh3::xxh3_128(bytes))
    }

    /// With another row in it.
    #[must_use]
    pub fn with(self, row: RowHash) -> RowHash {
        RowHash(self.0.wrapping_add(row.0))
    }

    /// Without a row that was in it.
    #[must_use]
    pub fn without(self, row: RowHash) -> RowHash {
        RowHash(self.0.wrapping_sub(row.0))
    }
}

impl fmt::Display for RowHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for RowHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A 64-bit hash of text, for index keys and for telling answers apart.
pub fn hash_text(text: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_reads_back_and_parts_do_not_run_together() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse(&"é".repeat(32)), None);
        let one = Digest::of_parts([("a", &b"bc"[..])]);
        let other = Digest::of_parts([("ab", &b"c"[..])]);
        assert_ne!(one, other);
    }

    #[test]
    fn a_sum_of_rows_forgets_the_order_and_nothing_else() {
        let (a, b) = (RowHash::of(b"a"), RowHash::of(b"b"));
        let empty = RowHash::default();
        assert_eq!(empty.with(a).with(b), empty.with(b).with(a));
        assert_eq!(empty.with(a).with(b).without(a), empty.with(b));
        assert_ne!(empty.with(a), empty.with(b));
    }
}
