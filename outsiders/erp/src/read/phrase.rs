//! Phrases with gaps: `at least {} and at most {} units` finds the two words that stand there. Numbers, money and dates.

use benchwright_base::Date;

/// What stands in the gaps of a phrase where a text has it first. A gap is one word.
pub(super) fn gaps<'t>(phrase: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let pieces: Vec<&str> = phrase.split("{}").collect();
    let (first, rest) = pieces.split_first()?;
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find(first) {
        let begins = from + found + first.len();
        if let Some(words) = fill(&text[begins..], rest) {
            return Some(words);
        }
        from += found + text[from + found..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// One word before each of some pieces, in order.
fn fill<'t>(mut text: &'t str, pieces: &[&str]) -> Option<Vec<&'t str>> {
    let mut words = Vec::new();
    for piece in pieces {
        let end =
            if piece.is_empty() { text.find(char::is_whitespace).unwrap_or(text.len()) } else { text.find(piece)? };
        let word = &text[..end];
        if word.is_empty() || word.contains(char::is_whitespace) {
            return None;
        }
        words.push(word);
        text = &text[end + piece.len()..];
    }
    Some(words)
}

/// A count: digits, and nothing else.
pub(super) fn count(word: &str) -> Option<i64> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

/// A number with at most so many decimals, as a whole number of the last one: `73.5` with two is 7350.
pub(super) fn fixed(word: &str, decimals: usize) -> Option<i64> {
    let (whole, part) = word.split_once('.').unwrap_or((word, ""));
    let part = part.trim_end_matches('0');
    if part.len() > decimals || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    count(&format!("{whole}{part:0<decimals$}"))
}

/// Money such as `$1,234.50`, in cents.
pub(super) fn money(word: &str) -> Option<i64> {
    fixed(&word.strip_prefix('$')?.replace(',', ""), 2)
}

/// Every date of a text.
pub(super) fn dates(text: &str) -> Vec<Date> {
    let words = text.split(|sign: char| !(sign.is_ascii_digit() || sign == '-'));
    words.filter(|word| word.len() == 10).filter_map(Date::parse).collect()
}

/// Codes in brackets, such as `(V-240)`.
pub(super) fn bracketed(text: &str) -> Vec<&str> {
    let insides = text.split('(').skip(1).filter_map(|rest| rest.split_once(')'));
    insides.map(|(inside, _)| inside).filter(|inside| is_code(inside)).collect()
}

/// Whether a word is a code or a reference: capitals and digits around a dash.
pub(super) fn is_code(word: &str) -> bool {
    let plain =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    word.contains('-') && word.split('-').all(plain) && word.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_one_word() {
        let text = "at least nothing. It asks for at least 5 and at most 20 units.";
        assert_eq!(gaps("at least {} and at most {} units", text), Some(vec!["5", "20"]));
        assert_eq!(gaps("at least {} and at most {} boxes", text), None);
        assert_eq!(gaps("asks for {}", text), Some(vec!["at"]));
    }

    #[test]
    fn figures_are_exact() {
        assert_eq!(money("$1,234.50"), Some(123_450));
        assert_eq!(money("1,234.50"), None);
        assert_eq!(fixed("73.5", 2), Some(7_350));
        assert_eq!(fixed("12.0", 0), Some(12));
        assert_eq!(fixed("12.5", 0), None);
        assert_eq!(count("-3"), None);
        assert_eq!(count(""), None);
        assert_eq!(bracketed("the Panel (SND-F160), by Elder (of old) (V-240)"), ["SND-F160", "V-240"]);
        assert_eq!(dates("from 2032-02-12 to 2032-02-14").len(), 2);
    }
}
