//! JSON as it comes in from an agent, and strings as they go out. [`Json`] is a tree that borrows its strings from the text,
//! keeps the order of keys and refuses a key that comes twice, which `serde_json::Value` does not.
//!
//! Every tool call passes through [`Json::parse`], so it has two readers: a small one for what nearly every call sends (plain
//! strings and whole numbers) that gives up on everything else, and `serde_json` for the rest. A test with 100,000 mangled
//! texts holds the first to the second.
//!
//! ```
//! use benchwright_base::Json;
//!
//! let json = Json::parse(r#"{"id": 7, "state": "closed"}"#)?;
//! assert_eq!(json.get("id"), Some(&Json::Int(7)));
//! assert!(Json::parse(r#"{"id": 7, "id": 8}"#).is_err());
//! # Ok::<(), benchwright_base::JsonError>(())
//! ```

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
    /// A string, borrowed from the text unless it had escapes.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Json<'a>>),
    /// An object as its entries in the order they were written; keys are distinct.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Why a text is no JSON: a sentence with line and column.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct JsonError(String);

impl From<JsonError> for String {
    fn from(error: JsonError) -> String {
        error.0
    }
}

impl<'a> Json<'a> {
    /// Reads a text that is one JSON value and nothing after it. The error is a sentence with line and column.
    pub fn parse(text: &'a str) -> Result<Json<'a>, JsonError> {
        if let Some(json) = Plain::read(text) {
            return Ok(json);
        }
        serde_json::from_str(text).map_err(|error| JsonError(error.to_string()))
    }

    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        match self {
            Json::Object(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// What kind of value it is with its article (`a number`), for messages.
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

/// Reads what nearly every call sends: objects and lists of texts without escapes and whole numbers. `None` from any of its
/// methods means "not for me", never "wrong": the whole text is then read again by `serde_json`, which also makes the error.
struct Plain<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Plain<'a> {
    /// The deepest nesting that is read here, so that hostile texts cannot exhaust the stack.
    const DEEPEST: u32 = 8;
    /// Whole numbers of this many digits always fit into 64 bits, so no digit needs a check for overflow.
    const DIGITS: usize = 18;

    fn read(text: &'a str) -> Option<Json<'a>> {
        let mut plain = Plain { text, at: 0 };
        let json = plain.value(0)?;
        plain.peek().is_none().then_some(json)
    }

    /// The next byte that is no white space; it is not passed.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Passes a byte if it comes next.
    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// A text or a number, which most values are; anything else is read apart from it.
    #[inline]
    fn value(&mut self, depth: u32) -> Option<Json<'a>> {
        match self.peek()? {
            b'"' => self.string().map(|text| Json::Text(Cow::Borrowed(text))),
            b'-' | b'0'..=b'9' => self.int(),
            other => self.other(other, depth),
        }
    }

    /// A list, an object, or one of the three words.
    fn other(&mut self, first: u8, depth: u32) -> Option<Json<'a>> {
        match first {
            b'[' if depth < Plain::DEEPEST => {
                self.at += 1;
                let mut list = Vec::with_capacity(8);
                while !self.take(b']') {
                    if !list.is_empty() && !self.take(b',') {
                        return None;
                    }
                    list.push(self.value(depth + 1)?);
                }
                Some(Json::List(list))
            }
            b'{' if depth < Plain::DEEPEST => {
                self.at += 1;
                if self.take(b'}') {
                    return Some(Json::Object(Vec::new()));
                }
                let mut entries: Vec<(Cow<'a, str>, Json<'a>)> = Vec::with_capacity(8);
                loop {
                    self.peek()?;
                    let key = self.string()?;
                    // Comparing first bytes first saves a call to compare memory for most pairs of keys.
                    let first = key.as_bytes().first();
                    let is_key = |known: &str| known.as_bytes().first() == first && known == key;
                    for (known, _) in &entries {
                        if is_key(known) {
                            return None;
                        }
                    }
                    if !self.take(b':') {
                        return None;
                    }
                    entries.push((Cow::Borrowed(key), self.value(depth + 1)?));
                    if self.take(b'}') {
                        return Some(Json::Object(entries));
                    }
                    if !self.take(b',') {
                        return None;
                    }
                }
            }
            b'n' => self.word("null", Json::Null),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            _ => None,
        }
    }

    /// Passes a word such as `null`. What follows it is looked at by whoever reads on.
    fn word(&mut self, word: &str, means: Json<'a>) -> Option<Json<'a>> {
        self.text.as_bytes()[self.at..].starts_with(word.as_bytes()).then(|| {
            self.at += word.len();
            means
        })
    }

    /// A text between quotes, without escapes.
    #[inline]
    fn string(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        if bytes.get(self.at) != Some(&b'"') {
            return None;
        }
        let start = self.at + 1;
        let mut end = start;
        // Eight bytes at a time while there are so many: most texts end in the first eight.
        while let Some((eight, _)) = bytes[end..].split_first_chunk() {
            let at = first_odd(u64::from_le_bytes(*eight));
            end += at;
            if at < 8 {
                break;
            }
        }
        while is_plain(*bytes.get(end)?) {
            end += 1;
        }
        if bytes[end] != b'"' {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// A whole number as JSON writes one: no leading zero, no plus, no fraction, no exponent.
    fn int(&mut self) -> Option<Json<'a>> {
        let bytes = self.text.as_bytes();
        let negative = bytes.get(self.at) == Some(&b'-');
        let start = self.at + usize::from(negative);
        let (mut at, mut number) = (start, 0);
        while let Some(digit @ b'0'..=b'9') = bytes.get(at)
            && at - start < Plain::DIGITS
        {
            number = number * 10 + i64::from(digit - b'0');
            at += 1;
        }
        let len = at - start;
        // A number that begins with 0 is 0, and a negative 0 is no whole number.
        let odd = len == 0 || (bytes[start] == b'0' && (len > 1 || negative));
        if odd || matches!(bytes.get(at), Some(b'0'..=b'9' | b'.' | b'e' | b'E')) {
            return None;
        }
        self.at = at;
        Some(Json::Int(if negative { -number } else { number }))
    }
}

/// Whether a byte stands for itself inside quotes. Bytes of multi-byte characters do: they are 0x80 and above.
fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

/// The place of the first of eight bytes, the lowest first, that does not stand for itself inside quotes; 8 if all do.
fn first_odd(eight: u64) -> usize {
    // Eight comparisons in one word, a well-known trick (SWAR). `ONES * n` is n in every byte.
    const ONES: u64 = u64::MAX / 255;
    // Subtracting the limit from every byte borrows into the high bit of those below it; `& !bytes` drops bytes whose high
    // bit was set anyway. A borrow may also set bits in higher bytes that are not below, but only the lowest is looked at.
    let below = |bytes: u64, limit: u64| bytes.wrapping_sub(ONES * limit) & !bytes & (ONES * 0x80);
    // A byte that equals another becomes 0 under XOR, and 0 is what is below 1.
    let is = |byte: u8| below(eight ^ (ONES * u64::from(byte)), 1);
    ((below(eight, 0x20) | is(b'"') | is(b'\\')).trailing_zeros() / 8) as usize
}

// The way through `serde_json`. It is written out because its own `Value` would copy every string and take the last of two
// equal keys in silence, and because serde reads a `Cow` as an owned one.
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

/// Appends a text as a JSON string with its quotes. Only quotes, backslashes and control characters are escaped, so that there
/// is one way to write a text and bytes can be compared.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    if bytes.iter().fold(true, |plain, byte| plain & is_plain(*byte)) {
        // The common case in one pass without a branch, which the compiler turns into wide instructions.
        out.extend_from_slice(bytes);
        return out.push(b'"');
    }
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if is_plain(byte) {
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
        assert!(Json::parse(r#"{"a":1,"a":2}"#).unwrap_err().to_string().contains("given twice"));
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
        assert!(Json::parse("1 2").is_err());
        assert!(Json::parse("1e999").is_err());
    }

    #[test]
    fn what_is_read_without_the_parser_is_what_the_parser_reads() {
        let plain = [
            "{}",
            " { } ",
            "[]",
            "0",
            "-7",
            "\"\"",
            "null",
            "true",
            "false",
            "[[],{}]",
            r#"{"a":1,"b":"ü"}"#,
            "{\"ids\": [1, 2 ,3], \"field\":\"fee\",\n\t\"x\": null}",
            r#"{"a_long_key_of_more_than_sixteen":"Größe und Länge, in Metern gemessen"}"#,
            "999999999999999999",
            "-999999999999999999",
        ];
        for text in plain {
            assert_eq!(Plain::read(text), serde_json::from_str(text).ok(), "{text}");
            assert!(Plain::read(text).is_some(), "{text}");
        }
        let others = [
            "",
            " ",
            "-",
            "-0",
            "01",
            "1.5",
            "1e3",
            "1E3",
            "nul",
            "nullx",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{,}",
            "{1:2}",
            "{\"a\":1,\"a\":2}",
            "\"a",
            "\"\\n\"",
            "\"\u{1}\"",
            "[",
            "{",
            "1 2",
            "9999999999999999999",
            "\u{a0}1",
        ];
        for text in others {
            assert_eq!(Plain::read(text), None, "{text}");
        }
        // Texts with a byte changed, left out or put in.
        let mut stream = crate::Stream::new(1, &["json"]);
        let bytes = b" \n\"\\{}[],:-+.0123456789eEntruefalsid\x01";
        for _ in 0..100_000 {
            let mut text = plain[stream.below(plain.len() as u64) as usize].as_bytes().to_vec();
            for _ in 0..=stream.below(2) {
                let byte = bytes[stream.below(bytes.len() as u64) as usize];
                let at = stream.below(text.len() as u64 + 1) as usize;
                match stream.below(3) {
                    0 => text.insert(at, byte),
                    1 if at < text.len() => _ = text.remove(at),
                    _ if at < text.len() => text[at] = byte,
                    _ => {}
                }
            }
            let Ok(text) = String::from_utf8(text) else { continue };
            if let Some(json) = Plain::read(&text) {
                assert_eq!(Some(json), serde_json::from_str(&text).ok(), "{text}");
            }
        }
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
