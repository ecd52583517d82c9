//! Keys and tokens: a type that never prints them, and a redactor that takes them out of everything that is kept.

use serde_json::Value as Json;
use std::fmt;

/// Shorter values are not taken out: they would be found in innocent words.
const SHORTEST: usize = 8;
/// What stands in the place of a secret.
const MARK: &str = "[redacted]";

/// A value that is sent and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret, without the white space around it that files and terminals add.
    pub fn new(value: &str) -> Secret {
        Secret(value.trim().to_owned())
    }

    /// The value, to be sent.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Takes secrets out of texts. Only values of eight or more characters are known to it.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that none leaves a piece of another.
    values: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor(… × {})", self.values.len())
    }
}

impl Redactor {
    /// A redactor of these values.
    pub fn new(values: impl IntoIterator<Item = String>) -> Redactor {
        let mut redactor = Redactor::default();
        values.into_iter().for_each(|value| redactor.add(&value));
        redactor
    }

    /// Adds a secret that is to be taken out from now on.
    pub fn add_secret(&mut self, secret: &Secret) {
        self.add(secret.reveal());
    }

    fn add(&mut self, value: &str) {
        let value = value.trim();
        if value.chars().count() >= SHORTEST && !self.values.iter().any(|known| known == value) {
            self.values.push(value.to_owned());
            self.values.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        }
    }

    /// A text without secrets.
    pub fn text(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for value in &self.values {
            if clean.contains(&**value) {
                clean = clean.replace(&**value, MARK);
            }
        }
        clean
    }

    /// JSON text without secrets, even where they are written with escapes or as numbers. What is no JSON is cleaned as a text; where its
    /// escapes hide a secret, it is cleaned without them.
    pub fn json_text(&self, text: &str) -> String {
        if self.values.is_empty() {
            return text.to_owned();
        }
        match serde_json::from_str::<Json>(text) {
            Ok(value) => {
                let clean = self.json(value.clone());
                // Escapes could hide a secret in what the reader drops, such as the first of two equal keys.
                if clean == value && !self.is_hidden(text) { self.text(text) } else { self.text(&clean.to_string()) }
            }
            Err(_) if self.is_hidden(text) => self.text(&unescaped(text)),
            Err(_) => self.text(text),
        }
    }

    /// Whether there is a secret behind escapes.
    fn is_hidden(&self, text: &str) -> bool {
        let holds = |plain: String| self.values.iter().any(|value| plain.contains(&**value));
        text.contains('\\') && holds(unescaped(text))
    }

    /// JSON without secrets in any text or key.
    pub fn json(&self, value: Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(&text)),
            Json::Array(list) => list.into_iter().map(|item| self.json(item)).collect(),
            Json::Object(map) => map.into_iter().map(|(key, item)| (self.text(&key), self.json(item))).collect(),
            other => other,
        }
    }
}

/// A text with the escapes of JSON undone, as far as they can be.
fn unescaped(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text.chars());
    while let Some(letter) = rest.next() {
        let after = rest.as_str();
        match (letter, after.chars().next()) {
            ('\\', Some('u')) => {
                let code =
                    after.get(1..5).and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
                plain.push(code.unwrap_or('u'));
                rest.by_ref().take(if code.is_some() { 5 } else { 1 }).for_each(drop);
            }
            ('\\', Some(_)) => plain.extend(rest.next()),
            _ => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_taken_out_however_they_are_written() {
        let redactor = Redactor::new(["sk-long-canary".to_owned(), "canary-1".to_owned(), "short".to_owned()]);
        assert_eq!(redactor.text("a short word, sk-long-canary-1"), "a short word, [redacted]-1");
        assert_eq!(redactor.json_text(r#"{"a":"sk-\u006cong-canary"}"#), r#"{"a":"[redacted]"}"#);
        assert_eq!(redactor.json_text(r#"{"a":"sk-\u006cong-canary","a":"b"}"#), r#"{"a":"b"}"#);
        assert_eq!(redactor.json_text(r#"{"a": 1}"#), r#"{"a": 1}"#, "the rest stays as it was written");
        assert_eq!(redactor.json_text("{sk-long-canary"), "{[redacted]");
        assert_eq!(
            redactor.json_text(r#"{"a":"sk-\u006cong\-canary"#),
            r#"{"a":"[redacted]"#,
            "what is no JSON hides none"
        );
        assert_eq!(redactor.json_text(r#"{"a":"\u00e"#), r#"{"a":"\u00e"#, "and stays as it is where it hides none");
        let digits = Redactor::new(["31415926535".to_owned()]);
        assert_eq!(digits.json_text(r#"{"a":"\n", "b":31415926535}"#), r#"{"a":"\n","b":[redacted]}"#);
        assert_eq!(redactor.json(json!({ "sk-long-canary": ["canary-1"] })), json!({ "[redacted]": ["[redacted]"] }));
        assert_eq!(format!("{redactor:?} {:?}", Secret::new("sk-long-canary")), "Redactor(… × 2) …");
    }
}
