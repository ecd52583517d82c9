//! The words of an expression's text. Rules are rewritten word by word, where a task asks for more than they were written for.

/// A word, number, text or sign of an expression, with where it begins and ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) from: usize,
    pub(crate) text: &'t str,
}

impl Token<'_> {
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    pub(crate) fn end(&self) -> usize {
        self.from + self.text.len()
    }
}

/// The tokens of an expression, without the space between them.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(first) = text[from..].chars().next() {
        let rest = &text[from..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match first {
            c if c.is_whitespace() => {
                from += c.len_utf8();
                continue;
            }
            // A quote inside is doubled, which reads as two texts one after the other; nothing in either is a name.
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            c if is_name(c) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            // Between two bounds; what follows is no field.
            '.' if rest.starts_with("..") => 2,
            c => c.len_utf8(),
        };
        found.push(Token { from, text: &rest[..length] });
        from += length;
    }
    found
}

/// Whether a text has a word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    tokens(text).iter().any(|token| token.text == word)
}

/// Every call of a name, `name(…)`, put otherwise: `put` is given what stands between the brackets.
pub(crate) fn with_calls(text: &str, name: &str, put: &dyn Fn(&str) -> String) -> String {
    let tokens = tokens(text);
    let mut out = String::with_capacity(text.len() * 2);
    let mut from = 0;
    for (place, token) in tokens.iter().enumerate() {
        let before = place.checked_sub(1).map_or("", |before| tokens[before].text);
        let opens = tokens.get(place + 1).filter(|next| next.text == "(");
        let Some(opens) = opens.filter(|_| token.text == name && before != "." && token.from >= from) else { continue };
        let mut deep = 0;
        let closes = tokens[place + 1..].iter().find(|token| {
            deep += i32::from(token.text == "(") - i32::from(token.text == ")");
            deep == 0
        });
        let Some(closes) = closes else { break };
        out.push_str(&text[from..token.from]);
        // A call may stand in the arguments of another.
        out.push_str(&put(&with_calls(&text[opens.end()..closes.from], name, put)));
        from = closes.end();
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_put_otherwise_and_nothing_else_is() {
        let put = |arguments: &str| format!("[{arguments}]");
        let cases = [
            ("cap(t) + cap (u)", "[t] + [u]"),
            ("cap() >= 1", "[] >= 1"),
            ("cap(cap(t) + 1)", "[[t] + 1]"),
            ("x.cap(t) + capital(t) + 'cap(t)' + cap", "x.cap(t) + capital(t) + 'cap(t)' + cap"),
            ("(sum r in run(item = i) of r.cap) <= cap(i, (t))", "(sum r in run(item = i) of r.cap) <= [i, (t)]"),
        ];
        for (text, otherwise) in cases {
            assert_eq!(with_calls(text, "cap", &put), otherwise);
        }
    }
}
