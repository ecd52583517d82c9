//! Rewards and scores as they are written: between 0 and 1, for every reader of a document alike. Inside they are whole
//! millionths, so that sums are the same on every machine. Whole numbers in a document are millionths too, because earlier
//! versions wrote them so; what is written now always has a decimal point.

use serde::{Deserializer, Serializer, de};
use std::fmt;

/// Millionths of a whole.
const WHOLE: f64 = 1e6;

/// A reward or score in millionths as a number between 0 and 1.
pub fn of_one(millionths: i64) -> f64 {
    // Both are small enough to be exact, and the quotient is the nearest number to what is meant.
    millionths as f64 / WHOLE
}

pub(crate) fn serialize<S: Serializer>(millionths: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(of_one(*millionths))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_any(Share)
}

struct Share;

impl de::Visitor<'_> for Share {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 0.0 to 1.0")
    }

    fn visit_f64<E: de::Error>(self, share: f64) -> Result<i64, E> {
        if (0.0..=1.0).contains(&share) {
            Ok((share * WHOLE).round() as i64)
        } else {
            Err(E::invalid_value(de::Unexpected::Float(share), &self))
        }
    }

    fn visit_u64<E: de::Error>(self, millionths: u64) -> Result<i64, E> {
        match i64::try_from(millionths) {
            Ok(known @ 0..=1_000_000) => Ok(known),
            _ => Err(E::invalid_value(de::Unexpected::Unsigned(millionths), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(PartialEq, Debug, Serialize, Deserialize)]
    struct Scored(#[serde(with = "super")] i64);

    #[test]
    fn every_share_is_written_between_0_and_1_and_read_back_exactly() {
        for millionths in (0..=1_000_000).step_by(7).chain([1, 982_900, 1_000_000]) {
            let text = serde_json::to_string(&Scored(millionths)).unwrap();
            assert!(text.contains('.') || text.contains("e-"), "{text}");
            assert_eq!(serde_json::from_str::<Scored>(&text).unwrap(), Scored(millionths), "{text}");
        }
        let text = |millionths| serde_json::to_string(&Scored(millionths)).unwrap();
        assert_eq!([text(0), text(982_900), text(1_000_000)], ["0.0", "0.9829", "1.0"]);
    }

    #[test]
    fn whole_numbers_are_the_millionths_of_earlier_versions_and_others_are_refused() {
        assert_eq!(serde_json::from_str::<Scored>("982900").unwrap(), Scored(982_900));
        assert_eq!(serde_json::from_str::<Scored>("1").unwrap(), Scored(1));
        for text in ["1.5", "-0.5", "1000001", "-1", "\"1.0\"", "null"] {
            assert!(serde_json::from_str::<Scored>(text).is_err(), "{text}");
        }
    }
}
