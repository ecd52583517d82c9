//! Two kinds of hashes. [`Digest`] is SHA-256 over canonical bytes, for documents that are pinned or signed: whoever holds
//! the digest can trust the document. [`StateHash`] is a fast sum over the cells of a running world, kept up to date with
//! every write; it is for equality and caching, never for trust, because sums can be made to collide on purpose.

use crate::{FieldId, RowId, TableId, Value, value::Part};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// The SHA-256 of canonical bytes. Shown and read as 64 lowercase hexadecimal digits.
///
/// ```
/// use benchwright_base::Digest;
///
/// let digest = Digest::of(b"abc");
/// assert!(digest.to_string().starts_with("ba7816bf"));
/// assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Hashes bytes as they are; making them canonical is the caller's part.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// The digest of named parts, such as the files of a folder, in the order given. Names and lengths are part of it, so that
    /// no byte can move from one part to the next unnoticed.
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

    /// The HMAC-SHA256 of a message (RFC 2104) under a key of 32 bytes: who does not have the key can neither make nor foresee it.
    pub fn keyed(key: &[u8; 32], message: &[u8]) -> Digest {
        let padded = |with: u8| {
            let mut block = [with; 64];
            block.iter_mut().zip(key).for_each(|(byte, of_key)| *byte ^= of_key);
            block
        };
        let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
        Digest(Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into())
    }

    /// Reads 64 lowercase hexadecimal digits; uppercase ones are refused, because a digest has one spelling.
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

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(from)?;
        Digest::parse(&text).ok_or_else(|| D::Error::custom(format_args!("`{text}` is no SHA-256")))
    }
}

/// The hash of a state, or a summand of it. A state's hash is the sum of the hashes of its cells, each with its place, so
/// a changed cell costs one subtraction and one addition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StateHash {
    // Two words, not one of 128 bits, which would align everything that holds a hash to 16 bytes.
    high: u64,
    low: u64,
}

impl StateHash {
    /// The hash of what is no cell, such as the counters and the clock of a world, by its bytes.
    pub fn of(bytes: &[u8]) -> StateHash {
        StateHash::from(xxhash_rust::xxh3::xxh3_128(bytes))
    }

    /// The hash of a value in its place. The place is part of it, so that two values that change places change the sum.
    pub fn cell(table: TableId, row: RowId, field: FieldId, value: &Value) -> StateHash {
        // Table, field and row fill the 64 bits exactly: no two cells share a place.
        let place = u64::from(table.0) << 48 | u64::from(field.0) << 32 | u64::from(row);
        let (tag, part) = value.parts();
        // The odd multiplier is 2^64 over the golden ratio, which spreads neighbouring places before the tag is added.
        let place = mix(place.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(tag)));
        match part {
            Part::Text(text) => StateHash::from(xxhash_rust::xxh3::xxh3_128_with_seed(text.as_bytes(), place)),
            // Most cells are numbers. Mixing two words is faster than starting a hash of bytes for eight of them.
            Part::Number(number) => {
                let low = mix(place ^ number as u64);
                StateHash { high: mix(low.wrapping_add(place) ^ 0xd6e8_feb8_6659_fd93), low }
            }
        }
    }

    /// With another summand in it: a cell that was written, or the sum of another part of the state.
    #[must_use]
    pub fn with(self, other: StateHash) -> StateHash {
        StateHash::from(u128::from(self).wrapping_add(u128::from(other)))
    }

    /// Without a summand that was in it: a cell that was overwritten or deleted.
    #[must_use]
    pub fn without(self, other: StateHash) -> StateHash {
        StateHash::from(u128::from(self).wrapping_sub(u128::from(other)))
    }
}

impl From<u128> for StateHash {
    fn from(wide: u128) -> StateHash {
        StateHash { high: (wide >> 64) as u64, low: wide as u64 }
    }
}

impl From<StateHash> for u128 {
    fn from(hash: StateHash) -> u128 {
        u128::from(hash.high) << 64 | u128::from(hash.low)
    }
}

/// Spreads every bit of a word over all of it (the finaliser of MurmurHash3). It can be undone, so no two words become one.
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let word = (word ^ word >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ word >> 33
}

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from(*self))
    }
}

impl fmt::Debug for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A 64-bit hash of a value, for index keys. Two values may share one, so an index looks at the rows it finds.
pub fn hash_value(value: &Value) -> u64 {
    match value.parts() {
        (_, Part::Text(text)) => hash_text(text.as_bytes()),
        (tag, Part::Number(number)) => mix(number as u64 ^ u64::from(tag) << 56),
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
    fn a_keyed_digest_is_that_of_the_standard() {
        // The test cases 1, 2 and 4 of RFC 4231. A shorter key is one that ends in zeros.
        let key = |of: &[u8]| std::array::from_fn(|at| of.get(at).copied().unwrap_or_default());
        let counted: Vec<u8> = (1..=25).collect();
        for (key, message, expected) in [
            (key(&[0x0b; 20]), &b"Hi There"[..], "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                key(b"Jefe"),
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (key(&counted), &[0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        ] {
            assert_eq!(Digest::keyed(&key, message).to_string(), expected);
        }
    }

    #[test]
    fn a_digest_in_a_document_is_its_text() {
        let digest = Digest::of(b"abc");
        let text = serde_json::to_string(&digest).unwrap();
        assert_eq!(text, format!("\"{digest}\""));
        assert_eq!(serde_json::from_str::<Digest>(&text).unwrap(), digest);
        assert!(serde_json::from_str::<Digest>(&text.to_uppercase()).is_err());
    }

    #[test]
    fn a_sum_of_cells_forgets_the_order_and_nothing_else() {
        let cell =
            |table, row, field, value: &Value| StateHash::cell(crate::RelationId(table), row, FieldId(field), value);
        let text = Value::text("a");
        let mut seen = std::collections::BTreeSet::new();
        for value in [&Value::Null, &Value::Int(0), &Value::Money(0), &Value::Ref(1), &Value::Bool(true), &text] {
            for (table, row, field) in [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)] {
                assert!(seen.insert(cell(table, row, field, value).to_string()), "{value:?} at {table} {row} {field}");
            }
        }
        let (a, b) = (cell(0, 1, 2, &text), cell(0, 1, 3, &text));
        let empty = StateHash::default();
        assert_eq!(empty.with(a).with(b), empty.with(b).with(a));
        assert_eq!(empty.with(a).with(b).without(a), empty.with(b));
    }
}
