//! Decimal numbers and durations between text, JSON and the whole numbers that a [`crate::Value`] holds: money in
//! hundredths, quantities in thousandths, durations in seconds. Reading is exact or refused; there is no rounding.
//!
//! ```
//! use benchwright_base::number::{QUANTITY_DECIMALS, parse_decimal, parse_duration, write_decimal};
//!
//! let half = parse_decimal("0.5", QUANTITY_DECIMALS).unwrap();
//! assert_eq!(half, 500);
//! let mut out = Vec::new();
//! write_decimal(&mut out, 3 * half, QUANTITY_DECIMALS, true);
//! assert_eq!(out, b"1.5");
//! assert_eq!(parse_duration("P1DT30M"), Some(86_400 + 1_800));
//! ```

/// How many decimals money has: it is counted in hundredths.
pub const MONEY_DECIMALS: u32 = 2;
/// How many decimals a quantity has: it is counted in thousandths.
pub const QUANTITY_DECIMALS: u32 = 3;

/// Decimal numbers below this, in their smallest unit, survive the way through a JSON number; larger ones are not read. A
/// 64-bit float holds every whole number up to 2^53, which is a little more.
pub const LARGEST_DECIMAL: u64 = 9_000_000_000_000_000;

/// Reads a decimal number such as `-12.5` exactly, in units of `10^-decimals`. More decimals than that, exponents and
/// overflow are refused.
pub fn parse_decimal(text: &str, decimals: u32) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || fraction.len() > decimals as usize || (digits.contains('.') && fraction.is_empty()) {
        return None;
    }
    let mut number: i64 = 0;
    for byte in
        whole.bytes().chain(fraction.bytes()).chain(std::iter::repeat_n(b'0', decimals as usize - fraction.len()))
    {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
    }
    Some(if negative { -number } else { number })
}

/// The decimal number that a JSON number stood for, if it has at most so many decimals. A JSON parser hands over the
/// nearest binary fraction; this is the only place where one is seen, and it is accepted only when it is the nearest one
/// to a number with that many decimals.
pub fn from_binary(number: f64, decimals: u32) -> Option<i64> {
    // `19.99 * 100` is not exactly 1999 in binary, so the product is rounded; but the division back must give the very
    // float we were handed, which it does only if no other float is nearer to that decimal.
    let scale = f64::from(10_u32.pow(decimals));
    let rounded = (number * scale).round();
    (rounded.abs() < LARGEST_DECIMAL as f64 && rounded / scale == number).then_some(rounded as i64)
}

/// The two digits of each number below 100, made by the compiler: writing two digits is then one copy, not two divisions.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut at = 0;
    while at < 100 {
        pairs[at] = [b'0' + (at / 10) as u8, b'0' + (at % 10) as u8];
        at += 1;
    }
    pairs
};

/// Appends a whole number in decimal digits. Answers of tools are full of small ids, so this is written for those.
#[inline]
pub fn write_int(out: &mut Vec<u8>, number: i64) {
    // Most numbers are small; a slice of known length costs no call.
    match number {
        0..10 => out.push(b'0' + number as u8),
        10..100 => out.extend_from_slice(&PAIRS[number as usize]),
        100..1000 => {
            let [tens, ones] = PAIRS[number as usize % 100];
            out.extend_from_slice(&[b'0' + (number as u32 / 100) as u8, tens, ones]);
        }
        _ => write_long(out, number),
    }
}

/// [`write_int`] for negative numbers and those of four digits or more.
fn write_long(out: &mut Vec<u8>, number: i64) {
    // 2^63 has 19 digits. They come out last first, so they are filled in from the end.
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a number of units of `10^-decimals` as a decimal. With `trim` trailing zeros are left out, as quantities are
/// written (`1.5`, `2`); money keeps its decimals (`1.50`).
pub fn write_decimal(out: &mut Vec<u8>, number: i64, decimals: u32, trim: bool) {
    let scale = 10_u64.pow(decimals);
    let magnitude = number.unsigned_abs();
    if number < 0 {
        out.push(b'-');
    }
    write_int(out, (magnitude / scale) as i64);
    let mut fraction = magnitude % scale;
    if trim && fraction == 0 {
        return;
    }
    out.push(b'.');
    let start = out.len();
    out.resize(start + decimals as usize, b'0');
    for at in (start..out.len()).rev() {
        out[at] = b'0' + (fraction % 10) as u8;
        fraction /= 10;
    }
    while trim && out.last() == Some(&b'0') {
        out.pop();
    }
}

/// Reads an ISO 8601 duration of days, hours, minutes and seconds, such as `P2DT3H` or `-PT30M`, in seconds.
pub fn parse_duration(text: &str) -> Option<i64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let body = text.strip_prefix('P')?;
    let (days, clock) = body.split_once('T').unwrap_or((body, ""));
    if body.is_empty() || (body.contains('T') && clock.is_empty()) {
        return None;
    }
    let mut total: i64 = 0;
    // Each unit may come once, in this order: what is left over after the last is not a duration.
    for (part, units) in [(days, &[('D', 86_400)][..]), (clock, &[('H', 3600), ('M', 60), ('S', 1)][..])] {
        let mut rest = part;
        for &(unit, seconds) in units {
            if let Some((number, after)) = rest.split_once(unit) {
                if number.is_empty() || number.len() > 10 || !number.bytes().all(|b| b.is_ascii_digit()) {
                    return None;
                }
                total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(seconds)?)?;
                rest = after;
            }
        }
        if !rest.is_empty() {
            return None;
        }
    }
    Some(sign * total)
}

/// Appends seconds as an ISO 8601 duration in days, hours, minutes and seconds, such as `P1DT30M`; none is `PT0S`.
pub fn write_duration(out: &mut Vec<u8>, seconds: i64) {
    if seconds < 0 {
        out.push(b'-');
    }
    out.push(b'P');
    let mut rest = seconds.unsigned_abs();
    if rest >= 86_400 {
        write_int(out, (rest / 86_400) as i64);
        out.push(b'D');
        rest %= 86_400;
    }
    if rest > 0 || seconds == 0 {
        out.push(b'T');
        for (unit, size) in [(b'H', 3600), (b'M', 60), (b'S', 1)] {
            if rest >= size || (unit == b'S' && seconds == 0) {
                write_int(out, (rest / size) as i64);
                out.push(unit);
                rest %= size;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(number: i64, decimals: u32, trim: bool) -> String {
        let mut out = Vec::new();
        write_decimal(&mut out, number, decimals, trim);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn decimals_survive_the_round_trip() {
        for number in [0, 1, -1, 99, 100, -12_345, i64::MAX / 1000, 9_007_199_254_740_991] {
            assert_eq!(parse_decimal(&shown(number, 2, false), 2), Some(number));
            assert_eq!(parse_decimal(&shown(number, 3, true), 3), Some(number));
        }
        assert_eq!(shown(-5, 2, false), "-0.05");
        assert_eq!(shown(1500, 3, true), "1.5");
        assert_eq!(shown(2000, 3, true), "2");
    }

    #[test]
    fn what_is_not_exact_is_refused() {
        for text in ["1.234", "1e3", "", "-", ".5", "1.", "1.2.3", "99999999999999999999", "NaN", "+1", "１"] {
            assert_eq!(parse_decimal(text, 2), None, "{text}");
        }
        assert_eq!(from_binary(1.5, 2), Some(150));
        assert_eq!(from_binary(0.1 + 0.2, 2), None);
        assert_eq!(from_binary(19.99, 2), Some(1999));
        assert_eq!(from_binary(1.005, 2), None);
        assert_eq!(from_binary(f64::NAN, 2), None);
        assert_eq!(from_binary(f64::INFINITY, 2), None);
    }

    #[test]
    fn durations_survive_the_round_trip() {
        for seconds in [0, 1, 59, 60, 3600, 86_400, 90_061, -90_061, 86_400 * 400] {
            let mut out = Vec::new();
            write_duration(&mut out, seconds);
            assert_eq!(parse_duration(std::str::from_utf8(&out).unwrap()), Some(seconds));
        }
        for text in ["", "P", "PT", "P1H", "PT1D", "1D", "P-1D", "PT1M1H", "P1DT"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
