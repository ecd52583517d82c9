//! Figures in running text: dates, money, shares, codes. Whoever asks for one figure gets exactly one, or hears why not.

use benchwright_base::Date;

/// A decimal number as an integer of `places` decimal places. Whatever does not fit into them is refused, not rounded.
pub(super) fn decimal(text: &str, places: u32) -> Option<i64> {
    let text = text.trim();
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let part = part.trim_end_matches('0');
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > places as usize {
        return None;
    }
    let scale = 10_i64.checked_pow(places)?;
    let missing = 10_i64.checked_pow(places - part.len() as u32)?;
    let part = if part.is_empty() { 0 } else { part.parse::<i64>().ok()?.checked_mul(missing)? };
    let value = whole.parse::<i64>().ok()?.checked_mul(scale)?.checked_add(part)?;
    Some(if negative { -value } else { value })
}

/// `$56,521.00` in cents.
pub(super) fn money(text: &str) -> Option<i64> {
    let text = text.trim().strip_prefix('$')?;
    let (whole, part) = text.split_once('.')?;
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    (grouped && part.len() == 2).then_some(())?;
    decimal(&text.replace(',', ""), 2)
}

/// The words of a text without the punctuation around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| {
        let word = word.trim_start_matches(['(', '"']);
        word.trim_end_matches(['.', ',', ';', ':', ')', '"', '?', '!'])
    })
}

/// Every date in a text.
pub(super) fn dates(text: &str) -> Vec<Date> {
    words(text).filter_map(Date::parse).collect()
}

/// Whether a word is a code or a reference such as `LFT-F142`, `V-207` or `REQ-31`.
pub(super) fn is_code(word: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-';
    let begins = word.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase());
    begins && word.bytes().all(fits) && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// The codes that a text has in brackets: `the Door Frame Assembly (LFT-M136)`.
pub(super) fn bracketed(text: &str) -> Vec<&str> {
    let inner = |piece: &'_ str| piece.split_once(')').map_or(0, |(inner, _)| inner.len());
    text.split('(').skip(1).map(|piece| &piece[..inner(piece)]).filter(|inner| is_code(inner)).collect()
}

/// The codes that a text has in brackets or after the word `code`.
pub(super) fn named_codes(text: &str) -> Vec<&str> {
    let mut found = bracketed(text);
    let all: Vec<&str> = words(text).collect();
    found.extend(all.windows(2).filter(|pair| pair[0] == "code" && is_code(pair[1])).map(|pair| pair[1]));
    found
}

/// The one thing in a list.
pub(super) fn only<T>(found: Vec<T>, what: &str, text: &str) -> Result<T, String> {
    let count = found.len();
    let mut found = found.into_iter();
    match (found.next(), count) {
        (Some(first), 1) => Ok(first),
        _ => Err(format!("there should be one {what}, not {count}, in: {text}")),
    }
}

/// The one amount of money in a sentence, in cents.
pub(super) fn only_money(text: &str) -> Result<i64, String> {
    only(words(text).filter_map(money).collect(), "amount of money", text)
}

/// The shares in a sentence, such as `72.5 percent`, in hundredths of a percent.
pub(super) fn percents(text: &str) -> Vec<i64> {
    let all: Vec<&str> = words(text).collect();
    let shares = all.windows(2).filter(|pair| pair[1] == "percent");
    shares.filter_map(|pair| decimal(pair[0], 2)).collect()
}

/// The number between two phrases, such as 24 in `at most 24 units`.
pub(super) fn number_between(text: &str, before: &str, after: &str) -> Option<i64> {
    let (_, rest) = text.split_once(before)?;
    let (number, _) = rest.split_once(after)?;
    decimal(number, 0)
}
