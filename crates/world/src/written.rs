//! How values are written in texts that people read: a day with its month in words, a list with `and` before its last, a small number as
//! a word.

use benchwright_base::{Date, Value, date::MONTHS};
use benchwright_expr::Type;
use benchwright_schema::{Domain, codec, ways::Form};

/// A value as people write it. Nothing is written as nothing.
pub fn value(domain: &Domain, ty: Type, value: &Value, form: Form) -> String {
    match (form, value) {
        (_, Value::Null) => String::new(),
        (Form::Time, Value::DateTime(instant)) => instant.time().to_string().chars().take(5).collect(),
        (Form::Date, Value::DateTime(instant)) => long_date(instant.date()),
        (_, Value::Date(date)) => long_date(*date),
        (_, Value::Enum(_)) => codec::show_value(domain, ty, value).replace('_', " "),
        _ => codec::show_value(domain, ty, value),
    }
}

/// `24 March 2026`.
pub fn long_date(date: Date) -> String {
    let (year, month, day) = date.civil();
    let month = MONTHS.get((month as usize).wrapping_sub(1)).copied().unwrap_or_default();
    format!("{day} {month} {year}")
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// How many there are, as a word where the number is small.
pub fn count(number: usize) -> String {
    const WORDS: [&str; 13] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    WORDS.get(number).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_lists_and_counts_are_written_as_people_write_them() {
        assert_eq!(Date::parse("2026-03-04").map(long_date).as_deref(), Some("4 March 2026"));
        let items = ["a", "b", "c"].map(str::to_owned);
        assert_eq!([list(&[]), list(&items[..1]), list(&items[..2]), list(&items)], ["", "a", "a and b", "a, b and c"]);
        assert_eq!([count(0), count(12), count(13)], ["no", "twelve", "13"]);
    }
}
