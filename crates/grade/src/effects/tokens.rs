//! The typed tokens of a text: dates, times of day, figures and amounts, document numbers, mail addresses. Prose is judged by them, and
//! answers are read with them. One pass from left to right: where a word begins, the longest form that fits is taken, so that the 24 of
//! `24 March 2026` is no figure and the digits of `CS0000370` are none either.

use benchwright_base::{Date, Time};

/// What was found where a word begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A day in one of its forms.
    Date(Date),
    /// A day without its year: month and day.
    Day(u32, u32),
    /// A time of day.
    Time(Time),
    /// A number in thousandths.
    Figure(i64),
    /// A number in thousandths with a currency, or with two decimals.
    Amount(i64),
    /// Letters and at least three digits, in lower case.
    Code(String),
    /// A mail address, in lower case.
    Mail(String),
}

/// The names of the months; a month is also written by its first three letters.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The words of small numbers; a word's place is its number.
const NUMBERS: [&str; 13] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// What stands before or after an amount of money.
const SYMBOLS: [char; 5] = ['$', '€', '£', '¥', '₹'];
const CURRENCIES: [&str; 23] = [
    "usd", "eur", "gbp", "jpy", "inr", "aud", "cad", "chf", "cny", "sek", "nok", "dkk", "pln", "dollar", "dollars",
    "euro", "euros", "pound", "pounds", "rupee", "rupees", "yen", "francs",
];

/// The longest number that is read, in digits: longer ones are nobody's amount.
const LONGEST: usize = 15;

/// A text as it is compared: blanks run together, typographic quotes and dashes made plain, case kept.
pub(super) fn plain(text: &str) -> Vec<char> {
    let mut out: Vec<char> = Vec::with_capacity(text.len());
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let is_mark = out.last().is_some_and(char::is_ascii_digit) && chars.peek().is_some_and(char::is_ascii_digit);
        match c {
            // A blank that does not break a line is a thousands mark between digits.
            '\u{a0}' | '\u{2009}' | '\u{202f}' if is_mark => out.push(','),
            c if c.is_whitespace() => {
                if out.last() != Some(&' ') {
                    out.push(' ');
                }
            }
            '‘' | '’' | '‛' | '´' => out.push('\''),
            '“' | '”' | '„' | '«' | '»' => out.push('"'),
            '\u{2010}'..='\u{2015}' | '−' => out.push('-'),
            c => out.push(c),
        }
    }
    out
}

/// The same in lower case, of the same length.
pub(super) fn lower(text: &[char]) -> Vec<char> {
    text.iter().map(|c| c.to_lowercase().next().unwrap_or(*c)).collect()
}

/// A text as it is compared, in lower case.
pub(super) fn folded(text: &str) -> Vec<char> {
    lower(&plain(text))
}

/// Whether a character belongs to a word.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a phrase stands in a text as whole words. Both are folded.
pub(super) fn mentions(text: &[char], phrase: &[char]) -> bool {
    let (Some(first), Some(last)) = (phrase.first(), phrase.last()) else { return false };
    text.windows(phrase.len()).enumerate().any(|(at, window)| {
        let runs_on = |edge: char, beside: Option<&char>| is_word(edge) && beside.is_some_and(|c| is_word(*c));
        window == phrase
            && !runs_on(*first, at.checked_sub(1).and_then(|before| text.get(before)))
            && !runs_on(*last, text.get(at + phrase.len()))
    })
}

/// The word of a small number.
pub(super) fn number_word(number: i64) -> Option<&'static str> {
    NUMBERS.get(usize::try_from(number).ok()?).copied()
}

/// The small number that a word stands for.
pub(super) fn word_number(word: &str) -> Option<i64> {
    NUMBERS.iter().position(|known| *known == word).map(|at| at as i64)
}

/// Every typed token of a text, with how it is written there.
pub(super) fn tokens(text: &str) -> Vec<(Token, String)> {
    let plain = plain(text);
    let reader = Reader { low: &lower(&plain), text: &plain };
    let mut found = Vec::new();
    let mut at = 0;
    while at < plain.len() {
        if !reader.begins_word(at) {
            at += 1;
            continue;
        }
        let (token, end) = reader.token(at);
        if let Some(token) = token {
            let is_date = matches!(token, Token::Date(_));
            found.push((token, plain[at..end].iter().collect()));
            // `2026-03-24T20:00:00Z` is a day and a time.
            let time = (is_date && reader.is(end, 't')).then(|| reader.time(end + 1)).flatten();
            if let Some((time, after)) = time {
                found.push((Token::Time(time), plain[end + 1..after].iter().collect()));
                at = after;
                continue;
            }
        }
        at = end;
    }
    found
}

/// The day that a whole text is, perhaps with a time of day after it.
pub(super) fn date_of(text: &str) -> Option<Date> {
    let length = |written: &str| written.chars().count();
    let whole = plain(text).len();
    match &tokens(text)[..] {
        [(Token::Date(date), day)] if whole == length(day) => Some(*date),
        [(Token::Date(date), day), (Token::Time(_), time)] if whole == length(day) + 1 + length(time) => Some(*date),
        _ => None,
    }
}

/// The number that a whole text is, in thousandths, and how many decimals it is written with. A currency may stand before or after it.
pub(super) fn figure_of(text: &str) -> Option<(i64, usize)> {
    let plain = plain(text);
    let low = lower(&plain);
    let reader = Reader { low: &low, text: &plain };
    let start = low.iter().position(char::is_ascii_digit)?;
    let figure = reader.number(start)?;
    let (from, with_currency) = reader.before(start);
    let (to, _) = reader.currency_after(figure.end);
    let negative = from > 0 && low[from - 1] == '-';
    let whole = from == usize::from(negative) && to == low.len();
    let (number, decimals) = figure.read(with_currency || to > figure.end)?;
    whole.then_some((if negative { -number } else { number }, decimals))
}

/// A number as it is written.
struct Number {
    /// Its digits before the mark of decimals.
    whole: i64,
    /// Its digits after it.
    fraction: Vec<u8>,
    /// `1.200`, which is a thousand and two hundred in some places and one and a fifth in others.
    one_dot: bool,
    end: usize,
}

impl Number {
    /// In thousandths, with the number of decimals; money has no three.
    fn read(&self, is_money: bool) -> Option<(i64, usize)> {
        let digits = |digits: &[u8]| digits.iter().fold(0, |n, digit| n * 10 + i64::from(*digit));
        if is_money && self.one_dot && self.fraction.len() == 3 {
            return Some((self.whole.checked_mul(1000)?.checked_add(digits(&self.fraction))?.checked_mul(1000)?, 0));
        }
        let scale = [1000, 100, 10, 1].get(self.fraction.len())?;
        let fraction = digits(&self.fraction) * scale;
        Some((self.whole.checked_mul(1000)?.checked_add(fraction)?, self.fraction.len()))
    }
}

struct Reader<'t> {
    /// In lower case.
    low: &'t [char],
    /// As written.
    text: &'t [char],
}

impl Reader<'_> {
    fn is(&self, at: usize, c: char) -> bool {
        self.low.get(at) == Some(&c)
    }

    fn is_digit(&self, at: usize) -> bool {
        self.low.get(at).is_some_and(char::is_ascii_digit)
    }

    /// Whether nothing of a word stands here.
    fn is_edge(&self, at: usize) -> bool {
        self.low.get(at).is_none_or(|c| !is_word(*c))
    }

    fn begins_word(&self, at: usize) -> bool {
        !self.is_edge(at) && (at == 0 || self.is_edge(at - 1))
    }

    fn starts_with(&self, at: usize, text: &str) -> bool {
        text.chars().enumerate().all(|(nth, c)| self.is(at + nth, c))
    }

    /// Where a run of characters ends.
    fn run(&self, at: usize, belongs: impl Fn(char) -> bool) -> usize {
        let rest = self.low.get(at..).unwrap_or_default();
        at + rest.iter().take_while(|c| belongs(**c)).count()
    }

    /// A whole number of at most so many digits, and where it ends; none if it has more.
    fn int(&self, at: usize, most: usize) -> Option<(i64, usize)> {
        let end = self.run(at, |c| c.is_ascii_digit());
        if !(1..=most).contains(&(end - at)) {
            return None;
        }
        let digits = self.low.get(at..end)?.iter().map(|c| i64::from(c.to_digit(10).unwrap_or_default()));
        Some((digits.fold(0, |number, digit| number * 10 + digit), end))
    }

    /// What begins here, if it is typed, and where to go on.
    fn token(&self, at: usize) -> (Option<Token>, usize) {
        let mail = || self.mail(at).map(|end| (Token::Mail(self.low[at..end].iter().collect()), end));
        let code = || self.code(at).map(|end| (Token::Code(self.low[at..end].iter().collect()), end));
        let time = || self.time(at).map(|(time, end)| (Token::Time(time), end));
        let found = mail().or_else(|| self.date(at)).or_else(time).or_else(code);
        if let Some((token, end)) = found {
            return (Some(token), end);
        }
        if self.is_digit(at) {
            return self.figure(at);
        }
        (None, self.run(at, is_word))
    }

    fn mail(&self, at: usize) -> Option<usize> {
        let sign = self.run(at, |c| c.is_alphanumeric() || "._%+-".contains(c));
        if sign == at || !self.is(sign, '@') {
            return None;
        }
        let mut end = self.run(sign + 1, |c| c.is_alphanumeric() || ".-".contains(c));
        while end > sign + 1 && ".-".contains(self.low[end - 1]) {
            end -= 1;
        }
        self.low[sign + 1..end].contains(&'.').then_some(end)
    }

    /// `CS0000370`; and `ACC-00012`, if the letters are capitals or the digits begin with a zero, as those of numbered records do.
    fn code(&self, at: usize) -> Option<usize> {
        let letters = self.run(at, char::is_alphabetic);
        if letters == at {
            return None;
        }
        let digits = if self.is(letters, '-') { letters + 1 } else { letters };
        let end = self.run(digits, |c| c.is_ascii_digit());
        let capitals = letters - at > 1 && self.text[at..letters].iter().all(|c| c.is_uppercase());
        let is_record = digits == letters || capitals || self.is(digits, '0');
        (end - digits >= 3 && self.is_edge(end) && is_record).then_some(end)
    }

    /// `20:00`, `20:00:00`, `8:00 pm`, `8 pm`.
    fn time(&self, at: usize) -> Option<(Time, usize)> {
        let (hour, mut end) = self.int(at, 2)?;
        let sixty = |at: usize| self.int(at, 2).filter(|(n, to)| *n < 60 && to - at == 2);
        let minute = self.is(end, ':').then(|| sixty(end + 1)).flatten();
        let mut seconds = 0;
        if let Some((minutes, to)) = minute {
            (seconds, end) = (minutes * 60, to);
            if let Some((more, to)) = self.is(end, ':').then(|| sixty(end + 1)).flatten() {
                (seconds, end) = (seconds + more, to);
            }
        }
        let half = if self.is(end, ' ') { end + 1 } else { end };
        let halves = [("am", 0), ("a.m.", 0), ("pm", 12), ("p.m.", 12)];
        let found = halves.iter().find(|(word, _)| self.starts_with(half, word) && self.is_edge(half + word.len()));
        let hour = match found {
            Some((word, later)) if (1..=12).contains(&hour) => {
                end = half + word.len();
                hour % 12 + later
            }
            None if minute.is_some() && hour < 24 => {
                // `20:00Z`, `20:00h`
                end += usize::from((self.is(end, 'z') || self.is(end, 'h')) && self.is_edge(end + 1));
                hour
            }
            _ => return None,
        };
        self.is_edge(end).then_some((Time((hour * 3600 + seconds) as i32), end))
    }

    fn date(&self, at: usize) -> Option<(Token, usize)> {
        self.numeric_date(at).or_else(|| self.day_month(at)).or_else(|| self.month_day(at))
    }

    /// `2026-03-24`, `24.03.2026`, `24/03/2026`. Where the second number can be no month, `03/24/2026` is read the other way about.
    fn numeric_date(&self, at: usize) -> Option<(Token, usize)> {
        let (first, one) = self.int(at, 4)?;
        let mark = *self.low.get(one).filter(|c| "-./".contains(**c))?;
        let (second, two) = self.int(one + 1, 2)?;
        if !self.is(two, mark) {
            return None;
        }
        let (third, end) = self.int(two + 1, 4)?;
        let date = |year: i64, month: i64, day: i64| Date::from_civil(year as i32, month as u32, day as u32);
        let date = match (one - at, end - two - 1) {
            (4, 1..=2) => date(first, second, third),
            (1..=2, 4) if mark == '/' => date(third, second, first).or_else(|| date(third, first, second)),
            (1..=2, 4) => date(third, second, first),
            _ => None,
        }?;
        let runs_on = "-./".contains(*self.low.get(end).unwrap_or(&' ')) && self.is_digit(end + 1);
        let before_time = self.is(end, 't') && self.time(end + 1).is_some();
        ((self.is_edge(end) && !runs_on) || before_time).then_some((Token::Date(date), end))
    }

    /// A month by its name, and where it ends; a full stop after a short name belongs to it.
    fn month(&self, at: usize) -> Option<(u32, usize)> {
        let end = self.run(at, char::is_alphabetic);
        let name: String = self.low[at.min(end)..end].iter().collect();
        let place = MONTHS
            .iter()
            .position(|month| name == *month || name == month[..3] || (name == "sept" && *month == "september"))?;
        let stop = usize::from(name.len() <= 4 && self.is(end, '.'));
        self.is_edge(end).then_some((place as u32 + 1, end + stop))
    }

    /// Whether the word here may be a month although no year follows: `may` and `march` are verbs too.
    fn surely_month(&self, at: usize) -> bool {
        let verb = ["may", "march"].iter().any(|verb| self.starts_with(at, verb));
        !verb || self.text[at].is_uppercase()
    }

    /// The day of a month, perhaps as `24th`.
    fn day(&self, at: usize) -> Option<(u32, usize)> {
        let (day, end) = self.int(at, 2).filter(|(day, _)| (1..=31).contains(day))?;
        let ordinal = ["st", "nd", "rd", "th"].iter().any(|ending| self.starts_with(end, ending));
        let end = if ordinal { end + 2 } else { end };
        self.is_edge(end).then_some((day as u32, end))
    }

    /// A year of four digits after a blank, a comma or a hyphen.
    fn year(&self, at: usize) -> Option<(i32, usize)> {
        let start = self.run(at, |c| ", -".contains(c));
        let (year, end) = self.int(start, 4)?;
        (start > at && end - start == 4 && self.is_edge(end)).then_some((year as i32, end))
    }

    /// A day and a month with the year that may follow at `end`. `at` is where the month stands.
    fn with_year(&self, day: u32, month: u32, at: usize, end: usize) -> Option<(Token, usize)> {
        if let Some((date, end)) =
            self.year(end).and_then(|(year, end)| Some((Date::from_civil(year, month, day)?, end)))
        {
            return Some((Token::Date(date), end));
        }
        self.surely_month(at).then_some((Token::Day(month, day), end))
    }

    /// `24 March 2026`, `24th of March 2026`, `24-Mar-2026`.
    fn day_month(&self, at: usize) -> Option<(Token, usize)> {
        let (day, end) = self.day(at)?;
        let mut start = self.run(end, |c| " -".contains(c));
        if self.starts_with(start, "of ") {
            start += "of ".len();
        }
        let (month, end) = self.month(start).filter(|_| start > end)?;
        self.with_year(day, month, start, end)
    }

    /// `March 24, 2026`.
    fn month_day(&self, at: usize) -> Option<(Token, usize)> {
        let (month, end) = self.month(at)?;
        let start = self.run(end, |c| c == ' ');
        let (day, end) = self.day(start).filter(|_| start > end)?;
        // `May 12:30` and `March 1.5` are no days.
        if self.is(end, ':') || (self.is(end, '.') && self.is_digit(end + 1)) {
            return None;
        }
        self.with_year(day, month, at, end)
    }

    /// Digits with thousands marks and decimals. `None` for what is longer than any number, or has more dots.
    fn number(&self, at: usize) -> Option<Number> {
        let group = |at: usize| self.int(at, 3).filter(|(_, end)| end - at == 3);
        let decimals = |from: usize| {
            let end = self.run(from, |c| c.is_ascii_digit());
            (self.low[from..end].iter().map(|c| c.to_digit(10).unwrap_or_default() as u8).collect::<Vec<u8>>(), end)
        };
        let (mut whole, first) = self.int(at, LONGEST)?;
        let mut end = first;
        let mark = self.low.get(end).copied().filter(|c| ",'.".contains(*c) && end - at <= 3);
        let mut groups = 0;
        while let Some((more, to)) = mark.filter(|mark| self.is(end, *mark)).and_then(|_| group(end + 1)) {
            (whole, end, groups) = (whole.checked_mul(1000)?.checked_add(more)?, to, groups + 1);
        }
        if mark == Some('.') && groups > 0 {
            // `1.200,50` has groups by dots, and so has `1.200.000`; `1.200` alone may be either.
            if self.is(end, ',') {
                let (fraction, to) = decimals(end + 1);
                if fraction.len() == 2 {
                    return Some(Number { whole, fraction, one_dot: false, end: to });
                }
            }
            if groups == 1 {
                let (fraction, end) = decimals(first + 1);
                let dotted = self.is(end, '.') && self.is_digit(end + 1);
                let whole = self.int(at, LONGEST)?.0;
                return (!dotted).then_some(Number { whole, fraction, one_dot: true, end });
            }
            return None;
        }
        // `120,00`, but not `5,12,13`
        if groups == 0 && self.is(end, ',') {
            let (fraction, to) = decimals(end + 1);
            if fraction.len() == 2 && !(self.is(to, ',') && self.is_digit(to + 1)) {
                return Some(Number { whole, fraction, one_dot: false, end: to });
            }
        }
        if self.is(end, '.') && self.is_digit(end + 1) {
            let (fraction, to) = decimals(end + 1);
            let dotted = self.is(to, '.') && self.is_digit(to + 1);
            return (!dotted).then_some(Number { whole, fraction, one_dot: groups == 0, end: to });
        }
        Some(Number { whole, fraction: Vec::new(), one_dot: false, end })
    }

    /// Where a currency before a number begins, and whether there is one.
    fn before(&self, at: usize) -> (usize, bool) {
        let gap = if at > 0 && self.is(at - 1, ' ') { at - 1 } else { at };
        if gap > 0 && SYMBOLS.contains(&self.low[gap - 1]) {
            return (gap - 1, true);
        }
        let letters = self.low[..gap].iter().rev().take_while(|c| c.is_alphabetic()).count();
        let word: String = self.low[gap - letters..gap].iter().collect();
        if CURRENCIES.contains(&&*word) { (gap - letters, true) } else { (at, false) }
    }

    /// Where a currency after a number ends, and whether there is one.
    fn currency_after(&self, at: usize) -> (usize, bool) {
        let gap = if self.is(at, ' ') { at + 1 } else { at };
        if self.low.get(gap).is_some_and(|c| SYMBOLS.contains(c)) {
            return (gap + 1, true);
        }
        let end = self.run(gap, char::is_alphabetic);
        let word: String = self.low[gap.min(end)..end].iter().collect();
        if CURRENCIES.contains(&&*word) { (end, true) } else { (at, false) }
    }

    /// A figure or an amount. What is none (`3rd`, `10.0.0.12`) is passed over whole.
    fn figure(&self, at: usize) -> (Option<Token>, usize) {
        let over = self.run(at, |c| is_word(c) || c == '.');
        let Some(number) = self.number(at) else { return (None, over) };
        let (from, before) = self.before(at);
        let (end, after) = self.currency_after(number.end);
        let Some((thousandths, decimals)) = number.read(before || after) else { return (None, over) };
        if !after && !self.is_edge(number.end) {
            return (None, over.max(number.end));
        }
        let minus = from > 0 && self.is(from - 1, '-') && (from == 1 || " (".contains(self.low[from - 2]));
        let thousandths = if minus { -thousandths } else { thousandths };
        let percent = self.is(end, '%') || self.starts_with(end, " %");
        let is_amount = before || after || (decimals == 2 && !percent);
        (Some(if is_amount { Token::Amount(thousandths) } else { Token::Figure(thousandths) }), end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Token {
        Token::Date(Date::parse(text).unwrap())
    }

    fn time(text: &str) -> Token {
        Token::Time(Time::parse(text).unwrap())
    }

    fn code(text: &str) -> Token {
        Token::Code(text.to_owned())
    }

    fn found(text: &str) -> Vec<Token> {
        tokens(text).into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn a_day_is_known_in_all_its_forms() {
        let forms = [
            "2026-03-24",
            "24 March 2026",
            "24 Mar 2026",
            "24 Mar. 2026",
            "24th of March 2026",
            "24-Mar-2026",
            "March 24, 2026",
            "march 24 2026",
            "Mar 24th, 2026",
            "24.03.2026",
            "24.3.2026",
            "24/03/2026",
            "03/24/2026",
            "2026/03/24",
        ];
        for form in forms {
            assert_eq!(found(&format!("It ends on {form}, at last.")), [day("2026-03-24")], "{form}");
            assert_eq!(date_of(form), Date::parse("2026-03-24"), "{form}");
        }
        assert_eq!(found("04/03/2026"), [day("2026-03-04")], "the day comes first");
    }

    #[test]
    fn what_is_no_day_is_none() {
        for text in ["2026-02-30", "31.04.2026", "version 1.2.2026.4", "March 2026", "you may 3 times", "2026-03-24x"] {
            assert!(!found(text).iter().any(|token| matches!(token, Token::Date(_) | Token::Day(..))), "{text}");
        }
        assert_eq!(found("on 25 March or May 3"), [Token::Day(3, 25), Token::Day(5, 3)]);
        assert_eq!(date_of("on 2026-03-24"), None);
        assert_eq!(date_of("2026-03-24 and 2026-03-25"), None);
    }

    #[test]
    fn an_instant_is_a_day_and_a_time() {
        let both = [day("2026-03-24"), time("20:00")];
        for text in ["2026-03-24T20:00:00Z", "2026-03-24 20:00", "24 March 2026, 8 pm", "2026-03-24 at 8:00 p.m. sharp"]
        {
            assert_eq!(found(text), both, "{text}");
        }
        assert_eq!(found("20:00-22:30"), [time("20:00"), time("22:30")]);
        assert_eq!(found("25:00"), [Token::Figure(25_000), Token::Figure(0)], "there is no such hour");
        assert_eq!(date_of("2026-03-24T20:00:00Z"), Date::parse("2026-03-24"));
    }

    #[test]
    fn amounts_have_a_currency_or_two_decimals() {
        let twelve_hundred = [Token::Amount(1_200_000)];
        for text in [
            "1200.00",
            "1,200.00",
            "$1,200",
            "$ 1200",
            "1200 EUR",
            "EUR 1,200.00",
            "1200eur",
            "1'200.00",
            "1.200,00",
            "1.200 EUR",
            "1\u{202f}200.00",
            "1200,00",
            "1200 dollars",
        ] {
            assert_eq!(found(&format!("It costs {text} in all.")), twelve_hundred, "{text}");
        }
        for text in ["1200", "1,200"] {
            assert_eq!(found(text), [Token::Figure(1_200_000)], "{text}");
        }
        assert_eq!(found("-$5.00 (-3)"), [Token::Amount(-5000), Token::Figure(-3000)]);
        assert_eq!(found("12.50 % of 1.5"), [Token::Figure(12_500), Token::Figure(1500)]);
        for text in ["10.0.0.12", "3rd", "8x5", "1234567890123456"] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn document_numbers_are_letters_and_three_digits() {
        assert_eq!(found("CS0000370's and (inc0000012)."), [code("cs0000370"), code("inc0000012")]);
        assert_eq!(found("ACC-00012 on srv-0003"), [code("acc-00012"), code("srv-0003")]);
        for text in ["mid-2026", "top-100", "h24x7", "b12", "cs0000370a"] {
            assert!(!found(text).iter().any(|token| matches!(token, Token::Code(_))), "{text}");
        }
    }

    #[test]
    fn a_mail_address_is_one_token() {
        let mail = |text: &str| Token::Mail(text.to_owned());
        assert_eq!(found("<Ann.Lee.12@Support.example>."), [mail("ann.lee.12@support.example")]);
        assert_eq!(found("write to a@b"), []);
        assert_eq!(found("x.ann@y.example, z"), [mail("x.ann@y.example")]);
    }

    #[test]
    fn a_phrase_is_mentioned_as_whole_words_in_any_case() {
        let stands = |text: &str, phrase: &str| mentions(&folded(text), &folded(phrase));
        assert!(stands("Case CS0000370 is yours.", "cs0000370"));
        assert!(stands("for  O’Brien\nand co", "O'Brien and"));
        assert!(stands("uses C++.", "C++"));
        assert!(!stands("planned", "ann"));
        assert!(!stands("SRV-12", "SRV-1"));
        assert!(!stands("anything", ""));
    }

    #[test]
    fn a_whole_text_is_a_figure() {
        assert_eq!(figure_of("1,200"), Some((1_200_000, 0)));
        assert_eq!(figure_of("$ 12.50"), Some((12_500, 2)));
        assert_eq!(figure_of("-12.50 EUR"), Some((-12_500, 2)));
        for text in ["12 or 13", "about 12", "12 cases", "", "twelve", "1e3"] {
            assert_eq!(figure_of(text), None, "{text}");
        }
        assert_eq!((number_word(12), number_word(13), word_number("two")), (Some("twelve"), None, Some(2)));
    }
}
