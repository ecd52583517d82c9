//! JSON as it comes in from an agent and as it goes out: a borrowed tree, and a writer of strings.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::{borrow::Cow, fmt};

/// A JSON document that borrows its strings from the text it was read from. Object keys keep their order; a key that
/// comes twice is an error. Depth is bounded by the parser (128).
#[derive(Clone, PartialEq, Debug)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without fraction or exponent that fits 64 bits.
    Int(i64),
    /// Any other number, as the nearest binary fraction.
    Decimal(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Json<'a>>),
    /// An object.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Reads a whole text.
    pub fn parse(text: &'a str) -> Result<Json<'a>, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        match self {
            Json::Object(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Int(_) | Json::Decimal(_) => "a number",
            Json::Text(_) => "a string",
            Json::List(_) => "a list",
            Json::Object(_) => "an object",
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tree<'a>(std::marker::PhantomData<&'a ()>);

        impl<'de: 'a, 'a> Visitor<'de> for Tree<'a> {
            type Value = Json<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Json<'a>, E> {
                Ok(Json::Null)
            }
            fn visit_bool<E>(self, b: bool) -> Result<Json<'a>, E> {
                Ok(Json::Bool(b))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Json<'a>, E> {
                Ok(Json::Int(n))
            }
            fn visit_u64<E>(self, n: u64) -> Result<Json<'a>, E> {
                Ok(i64::try_from(n).map_or(Json::Decimal(n as f64), Json::Int))
            }
            fn visit_f64<E>(self, n: f64) -> Result<Json<'a>, E> {
                Ok(Json::Decimal(n))
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'a>, E> {
                Ok(Json::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Json<'a>, E> {
                Ok(Json::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json<'a>, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    list.push(item);
                }
                Ok(Json::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json<'a>, A::Error> {
                let mut entries: Vec<(Cow<'a, str>, Json<'a>)> = Vec::with_capacity(8);
                while let Some(Key(key)) = map.next_key()? {
                    if entries.iter().any(|(name, _)| *name == key) {
                        return Err(serde::de::Error::custom(format_args!("key `{key}` is given twice")));
                    }
                    entries.push((key, map.next_value()?));
                }
                Ok(Json::Object(entries))
            }
        }

        deserializer.deserialize_any(Tree(std::marker::PhantomData))
    }
}

/// An object key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name<'a>(std::marker::PhantomData<&'a ()>);

        impl<'de: 'a, 'a> Visitor<'de> for Name<'a> {
            type Value = Key<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'a>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'a>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Name(std::marker::PhantomData))
    }
}

/// Appends a JSON string with its quotes.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    if bytes.iter().fold(true, |plain, byte| plain & (*byte >= 0x20 && *byte != b'"' && *byte != b'\\')) {
        // The common case in one pass without a branch, which the compiler turns into wide instructions.
        out.extend_from_slice(bytes);
        return out.push(b'"');
    }
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[start..at]);
        start = at + 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_borrowed_and_keys_keep_their_order() {
        let json = Json::parse(r#"{"b":[1,-2.5,"x"],"a":{"c":null,"d":true}}"#).unwrap();
        let Json::Object(entries) = &json else { panic!("{json:?}") };
        assert_eq!(entries[0].0, "b");
        assert!(matches!(&entries[0].0, Cow::Borrowed(_)));
        assert_eq!(json.get("a").and_then(|a| a.get("d")), Some(&Json::Bool(true)));
    }

    #[test]
    fn a_key_given_twice_and_deep_nesting_are_refused() {
        assert!(Json::parse(r#"{"a":1,"a":2}"#).unwrap_err().contains("given twice"));
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
        assert!(Json::parse("1 2").is_err());
        assert!(Json::parse("1e999").is_err());
    }

    #[test]
    fn written_text_reads_back() {
        for text in ["", "plain", "a\"b\\c\nd\te\r\u{1}", "ünïcödé \u{2028} 🙂"] {
            let mut out = Vec::new();
            write_text(&mut out, text);
            let shown = String::from_utf8(out).unwrap();
            assert_eq!(Json::parse(&shown).unwrap(), Json::Text(text.into()));
        }
    }
}
