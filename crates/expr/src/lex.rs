//! The lexer: an expression as tokens, each with its byte offset. An unknown character is a fault, and reading goes on after
//! it, so that all of them are reported at once.

use crate::fault::Fault;

/// A token and where it begins.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) at: usize,
    pub(crate) kind: Kind<'t>,
}

/// What a token is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind<'t> {
    /// A name or a keyword; which of the two depends on where it stands.
    Word(&'t str),
    /// A whole or decimal number without a sign.
    Number(&'t str),
    /// A text, its quotes taken off.
    Text(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Longer signs first, so that `<=` is not read as `<` and `=`.
const SIGNS: [&str; 17] = ["!=", "<=", ">=", "..", "=", "<", ">", "+", "-", "*", "(", ")", "{", "}", ",", ".", ":"];

/// All tokens of a text, the last one being [`Kind::End`].
pub(crate) fn lex<'t>(text: &'t str, faults: &mut Vec<Fault>) -> Vec<Token<'t>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&first) = bytes.get(at) {
        let length = |test: fn(&u8) -> bool| bytes[at..].iter().take_while(|b| test(b)).count();
        let kind;
        let start = at;
        match first {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at += length(|b| b.is_ascii_alphanumeric() || *b == b'_');
                kind = Kind::Word(&text[start..at]);
            }
            b'0'..=b'9' => {
                at += length(u8::is_ascii_digit);
                // `1..5` is a range: a point belongs to the number only if a digit follows it.
                if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
                    at += 1;
                    at += bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
                }
                kind = Kind::Number(&text[start..at]);
            }
            b'\'' => {
                let (content, end) = quoted(text, at);
                if end.is_none() {
                    let help = "close it with `'`; a quote inside is written `''`".to_owned();
                    faults.push(Fault { offset: at, message: "the text has no end".to_owned(), help: Some(help) });
                }
                at = end.unwrap_or(bytes.len());
                kind = Kind::Text(content);
            }
            _ => match SIGNS.iter().find(|sign| bytes[at..].starts_with(sign.as_bytes())) {
                Some(sign) => {
                    at += sign.len();
                    if *sign == "=" && bytes.get(at) == Some(&b'=') {
                        let help = Some("write `=`".to_owned());
                        faults.push(Fault { offset: start, message: "`==` is no operator".to_owned(), help });
                        at += 1;
                    }
                    kind = Kind::Sign(sign);
                }
                None => {
                    at = unknown(text, at, faults);
                    continue;
                }
            },
        }
        tokens.push(Token { at: start, kind });
    }
    tokens.push(Token { at: text.len(), kind: Kind::End });
    tokens
}

/// A text in single quotes from its opening quote, and where it ends.
fn quoted(text: &str, open: usize) -> (String, Option<usize>) {
    let mut content = String::new();
    let mut from = open + 1;
    while let Some(length) = text[from..].find('\'') {
        content.push_str(&text[from..from + length]);
        from += length + 1;
        if !text[from..].starts_with('\'') {
            return (content, Some(from));
        }
        content.push('\'');
        from += 1;
    }
    content.push_str(&text[from..]);
    (content, None)
}

/// Reports a character that begins no token; the answer is where to go on.
fn unknown(text: &str, at: usize, faults: &mut Vec<Fault>) -> usize {
    let Some(character) = text[at..].chars().next() else { return text.len() };
    let mut end = at + character.len_utf8();
    let help = match character {
        '"' => {
            // What stands between the quotes was meant as text: reading it as names would only add faults.
            end = text[end..].find('"').map_or(text.len(), |length| end + length + 1);
            Some("write text in single quotes")
        }
        '!' => Some("write `not`, or `!=` between two values"),
        '&' => Some("write `and`"),
        '|' => Some("write `or`"),
        '/' | '%' => Some("there is no division; multiply the other side instead"),
        '[' | ']' => Some("write `{…}` around the members of a list"),
        _ => None,
    };
    let message = format!("unknown character `{character}`");
    // The second half of `&&` and `||` is the same fault.
    let again = text[end..].starts_with(character) && matches!(character, '&' | '|');
    faults.push(Fault { offset: at, message, help: help.map(str::to_owned) });
    if again { end + character.len_utf8() } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind<'_>> {
        let mut faults = Vec::new();
        let tokens = lex(text, &mut faults);
        assert!(faults.is_empty(), "{faults:?}");
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn a_range_is_not_read_as_a_decimal() {
        let expected = [Kind::Number("1"), Kind::Sign(".."), Kind::Number("5"), Kind::Number("2.50"), Kind::End];
        assert_eq!(kinds("1..5 2.50"), expected);
    }

    #[test]
    fn a_doubled_quote_is_a_quote() {
        assert_eq!(kinds("'it''s' ''"), [Kind::Text("it's".into()), Kind::Text(String::new()), Kind::End]);
    }

    #[test]
    fn reading_goes_on_after_an_unknown_character() {
        let mut faults = Vec::new();
        let tokens = lex("a § b \"c d\" == 'x", &mut faults);
        let offsets: Vec<usize> = faults.iter().map(|fault| fault.offset).collect();
        assert_eq!(offsets, [2, 7, 13, 16]);
        let places: Vec<usize> = tokens.iter().map(|token| token.at).collect();
        assert_eq!(places, [0, 5, 13, 16, 18]);
    }
}
