//! Text that others wrote (names of agents, titles of tasks), made fit to be shown: cut to a width, and without the
//! characters that turn the direction of what stands around them.

/// Cut to a number of characters, the last of them an ellipsis.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Whether a character is a control, or turns the direction of text.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// A whole document without characters that steer or turn text: they are shown as the replacement character. Line breaks and
/// tabs stay. Done once, at the end, it reaches every text in the document, because markup has none of them.
pub fn unsteered(document: String) -> String {
    let bad = |c: char| steers(c) && !matches!(c, '\n' | '\t');
    if document.contains(bad) { document.replace(bad, "\u{fffd}") } else { document }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_turns_the_text() {
        assert_eq!(unsteered("a\u{1b}[31m\u{202e}b\n\tc".to_owned()), "a\u{fffd}[31m\u{fffd}b\n\tc");
        assert_eq!((cut("abcd", 4), cut("abcde", 4), cut("é", 1)), ("abcd".into(), "abc…".into(), "é".into()));
    }
}
