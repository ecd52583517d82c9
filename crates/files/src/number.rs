//! Numbers as texts: which texts are whole numbers that a form with numbers can carry, and how a number of such a form is told as a text.

/// The whole number that a text is, if that number is written as this text and no other: no sign but a minus, no zeros in front.
pub(crate) fn whole(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// The same, of at most the 15 digits that a spreadsheet keeps.
pub(crate) fn whole_of_sheet(text: &str) -> Option<f64> {
    const MOST: i64 = 999_999_999_999_999;
    let number = whole(text).filter(|number| (-MOST..=MOST).contains(number))?;
    #[expect(clippy::cast_precision_loss, reason = "15 digits fit a float exactly")]
    Some(number as f64)
}

/// A number in plain digits, without an exponent. None if it would take more digits than anybody reads.
pub(crate) fn plain(number: f64) -> Option<String> {
    if number == 0.0 {
        return Some("0".to_owned());
    }
    (1e-9..1e15).contains(&number.abs()).then(|| number.to_string())
}

/// A number of a spreadsheet as it shows it: to 15 digits, so that a sum of tenths is the tenths that it was meant to be.
pub(crate) fn plain_of_sheet(number: f64) -> Option<String> {
    plain(format!("{number:.14e}").parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_way_to_write_a_whole_number_is_one() {
        for text in ["0", "-7", "12", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(whole(text).map(|number| number.to_string()).as_deref(), Some(text));
        }
        for text in ["", "-0", "+7", "007", "1e3", "12.0", " 1", "9223372036854775808", "1_000"] {
            assert_eq!(whole(text), None, "{text}");
        }
        assert_eq!(whole_of_sheet("-999999999999999"), Some(-999_999_999_999_999.0));
        assert_eq!(whole_of_sheet("1000000000000000"), None);
    }

    #[test]
    fn numbers_are_told_in_plain_digits() {
        for (number, text) in [(0.0, "0"), (-0.0, "0"), (12.0, "12"), (-12.5, "-12.5"), (1e14, "100000000000000")] {
            assert_eq!(plain(number).as_deref(), Some(text));
        }
        assert_eq!(plain_of_sheet(0.1 + 0.2).as_deref(), Some("0.3"));
        for number in [f64::NAN, f64::INFINITY, 1e15, -1e300, 1e-12] {
            assert_eq!(plain(number), None);
            assert_eq!(plain_of_sheet(number), None);
        }
    }
}
