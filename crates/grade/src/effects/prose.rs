//! A text in somebody's own words, held to the facts that it must mention. It passes if every fact stands in it in one of its forms, if
//! none of its typed tokens is foreign (so listing everything fails), and if nothing stands in it that must not. A right fact that is
//! denied is not noticed: that is a stated limit.

use super::tokens::{Token, folded, mentions, number_word, tokens};
use benchwright_base::{Date, DateTime, Time, Value};
use benchwright_expr::Type;
use benchwright_schema::{Domain, codec};
use std::{borrow::Cow, collections::BTreeSet};

/// A fact with the forms that it may be written in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Fact {
    /// A key, a name or another text, as whole words in any case.
    Phrase(String),
    /// A word of an enumeration, with underscores or blanks.
    Word(String),
    /// A day.
    Day(Date),
    /// An instant: its day, and its time where times are told at all.
    Instant(DateTime),
    /// A time of day.
    Time(Time),
    /// A whole number, as digits or as a word.
    Number(i64),
    /// A number in thousandths, such as an amount.
    Decimal(i64),
}

impl Fact {
    /// Money, in minor units.
    pub(super) fn money(minor: i64) -> Option<Fact> {
        minor.checked_mul(10).map(Fact::Decimal)
    }

    /// Whether values of a type can be mentioned.
    pub(super) fn can_be(ty: Type) -> bool {
        matches!(
            ty,
            Type::Text
                | Type::Enum(_)
                | Type::Date
                | Type::DateTime
                | Type::Time
                | Type::Int
                | Type::Money
                | Type::Quantity
        )
    }

    /// The fact that a cell holds; `None` for nothing.
    pub(super) fn of_cell(domain: &Domain, ty: Type, value: &Value) -> Option<Fact> {
        match value {
            Value::Text(text) => Some(Fact::Phrase(text.to_string())),
            Value::Enum(_) => Some(Fact::Word(codec::show_value(domain, ty, value))),
            Value::Date(date) => Some(Fact::Day(*date)),
            Value::DateTime(instant) => Some(Fact::Instant(*instant)),
            Value::Time(time) => Some(Fact::Time(*time)),
            Value::Int(number) => Some(Fact::Number(*number)),
            Value::Money(minor) => Fact::money(*minor),
            Value::Quantity(thousandths) => Some(Fact::Decimal(*thousandths)),
            _ => None,
        }
    }
}

/// What a text may speak of without being foreign.
#[derive(Clone, Default, Debug)]
pub(super) struct Allowed {
    dates: BTreeSet<Date>,
    /// Numbers in thousandths.
    figures: BTreeSet<i64>,
    /// Document numbers and mail addresses.
    names: BTreeSet<String>,
}

impl Allowed {
    /// Allows what a text speaks of.
    pub(super) fn text(&mut self, text: &str) {
        for (token, _) in tokens(text) {
            match token {
                Token::Date(date) => _ = self.dates.insert(date),
                Token::Figure(number) | Token::Amount(number) => _ = self.figures.insert(number),
                Token::Code(name) | Token::Mail(name) => _ = self.names.insert(name),
                Token::Day(..) | Token::Time(_) => {}
            }
        }
    }

    /// Allows a day.
    pub(super) fn day(&mut self, day: Date) {
        self.dates.insert(day);
    }

    /// Allows a fact.
    pub(super) fn fact(&mut self, fact: &Fact) {
        match fact {
            Fact::Phrase(text) | Fact::Word(text) => self.text(text),
            Fact::Day(date) => self.day(*date),
            Fact::Instant(instant) => self.day(instant.date()),
            Fact::Number(number) => self.figures.extend(number.checked_mul(1000)),
            Fact::Decimal(number) => _ = self.figures.insert(*number),
            Fact::Time(_) => {}
        }
    }

    /// Whether a token is one that nobody gave.
    fn is_foreign(&self, token: &Token) -> bool {
        match token {
            Token::Date(date) => !self.dates.contains(date),
            Token::Day(month, day) => !self.dates.iter().any(|date| (date.civil().1, date.civil().2) == (*month, *day)),
            Token::Amount(number) => !self.figures.contains(number),
            Token::Code(name) | Token::Mail(name) => !self.names.contains(name),
            Token::Time(_) | Token::Figure(_) => false,
        }
    }
}

/// A text that is wanted, made ready. `S` is what a slot's fact is, or where it is to be found.
#[derive(Clone, Debug)]
pub(super) struct ReadyProse<S> {
    pub(super) slots: Vec<Slot<S>>,
    pub(super) never: Vec<String>,
    /// The facts of the request, and those of the slots that are known already.
    pub(super) allowed: Allowed,
}

/// A fact that a text mentions.
#[derive(Clone, Debug)]
pub(super) struct Slot<S> {
    pub(super) name: String,
    pub(super) is: S,
    pub(super) optional: bool,
}

/// A text as it is read: its words, the same without underscores and hyphens, and its tokens.
struct Read {
    words: Vec<char>,
    loose: Vec<char>,
    tokens: Vec<(Token, String)>,
}

impl Read {
    fn of(text: &str) -> Read {
        let words = folded(text);
        Read { loose: loosened(&words), tokens: tokens(text), words }
    }

    fn has(&self, wanted: impl Fn(&Token) -> bool) -> bool {
        self.tokens.iter().any(|(token, _)| wanted(token))
    }

    fn has_day(&self, day: Date) -> bool {
        self.has(|token| *token == Token::Date(day))
    }

    fn has_number(&self, thousandths: i64) -> bool {
        self.has(|token| matches!(token, Token::Figure(n) | Token::Amount(n) if *n == thousandths))
    }

    fn has_time(&self, wanted: Time) -> bool {
        // Seconds may be left out.
        let minute = Time(wanted.0 - wanted.0 % 60);
        self.has(|token| matches!(token, Token::Time(time) if *time == wanted || *time == minute))
    }

    fn mentions(&self, fact: &Fact) -> bool {
        match fact {
            Fact::Phrase(text) => mentions(&self.words, &folded(text)),
            Fact::Word(word) => mentions(&self.loose, &loosened(&folded(word))),
            Fact::Day(day) => self.has_day(*day),
            Fact::Instant(instant) => {
                let tells_times = self.has(|token| matches!(token, Token::Time(_)));
                self.has_day(instant.date()) && (!tells_times || self.has_time(instant.time()))
            }
            Fact::Time(time) => self.has_time(*time),
            Fact::Number(number) => {
                let word = number_word(*number).map(|word| mentions(&self.words, &folded(word)));
                word == Some(true) || number.checked_mul(1000).is_some_and(|number| self.has_number(number))
            }
            Fact::Decimal(number) => self.has_number(*number),
        }
    }

    /// Whether what must not stand in it does, a long number also if it is spaced otherwise.
    fn has_never(&self, never: &str) -> bool {
        let phrase = folded(never);
        let compact = |text: &[char]| text.iter().filter(|c| c.is_alphanumeric()).copied().collect::<Vec<char>>();
        let is_long = phrase.iter().filter(|c| c.is_ascii_digit()).count() >= 6;
        let number = compact(&phrase);
        mentions(&self.words, &phrase)
            || (is_long && compact(&self.words).windows(number.len()).any(|window| window == number))
    }
}

/// Words with blanks for underscores and hyphens.
fn loosened(words: &[char]) -> Vec<char> {
    words.iter().map(|c| if "_-".contains(*c) { ' ' } else { *c }).collect()
}

/// Whether a text mentions a phrase as whole words in any case, with blanks or underscores.
pub(super) fn names(text: &str, phrase: &str) -> bool {
    let phrase = folded(phrase);
    let text = folded(text);
    mentions(&text, &phrase) || mentions(&loosened(&text), &loosened(&phrase))
}

impl<S> ReadyProse<S> {
    /// Judges a text; the error is what is wrong with it. `fact` is the fact of a slot, `None` if there is none yet; `days` are those of
    /// the clock.
    pub(super) fn judge<'s>(
        &'s self,
        text: &Value,
        days: &[Date],
        fact: impl Fn(&'s S) -> Option<Cow<'s, Fact>>,
    ) -> Result<(), String> {
        let text = text.as_text().unwrap_or_default();
        if text.trim().is_empty() {
            return Err("is empty".to_owned());
        }
        let read = Read::of(text);
        let mut allowed = self.allowed.clone();
        days.iter().for_each(|day| allowed.day(*day));
        for slot in &self.slots {
            let fact = fact(&slot.is);
            if let Some(fact) = &fact {
                allowed.fact(fact);
            }
            if !slot.optional && !fact.is_some_and(|fact| read.mentions(&fact)) {
                return Err(format!("does not mention {}", slot.name));
            }
        }
        if let Some((_, written)) = read.tokens.iter().find(|(token, _)| allowed.is_foreign(token)) {
            return Err(format!("speaks of `{written}`, which nobody gave"));
        }
        match self.never.iter().any(|never| read.has_never(never)) {
            true => Err("says what it must not".to_owned()),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a text passes that is to mention these facts, on 2 March 2026.
    fn passes(facts: &[Fact], text: &str) -> bool {
        let slot = |(at, fact): (usize, &Fact)| Slot { name: format!("slot {at}"), is: fact.clone(), optional: false };
        let mut allowed = Allowed::default();
        allowed.text("ann.lee@x.example paid 75.00");
        let slots = facts.iter().enumerate().map(slot).collect();
        let prose = ReadyProse { slots, never: vec!["Umbra Ltd".into(), "DE89 3704 0044".into()], allowed };
        let today = Date::parse("2026-03-02").unwrap();
        prose.judge(&Value::text(text), &[today], |fact| Some(Cow::Borrowed(fact))).is_ok()
    }

    fn key() -> Fact {
        Fact::Phrase("CS0000370".into())
    }

    fn name() -> Fact {
        Fact::Phrase("Ines O'Brien".into())
    }

    fn day() -> Fact {
        Fact::Day(Date::parse("2026-03-24").unwrap())
    }

    fn instant() -> Fact {
        Fact::Instant(DateTime::parse("2026-03-24T20:00:30Z").unwrap())
    }

    fn money() -> Fact {
        Fact::money(120_050).unwrap()
    }

    fn round() -> Fact {
        Fact::money(120_000).unwrap()
    }

    fn state() -> Fact {
        Fact::Word("in_progress".into())
    }

    #[test]
    fn every_accepted_form_passes_and_every_other_is_refused() {
        let table: [(Fact, &[&str], &[&str]); 9] = [
            (
                key(),
                &["Case CS0000370 is done.", "cs0000370", "(CS0000370)", "CS0000370's owner"],
                &["Case 370 is done.", "CS00003701", "XCS0000370", "CS 0000370", "", "   "],
            ),
            (
                name(),
                &["Dear Ines O'Brien,", "INES O’BRIEN", "to Ines\nO'Brien today"],
                &["Dear Ines", "Ines OBrien", "Agines O'Brien"],
            ),
            (
                day(),
                &[
                    "Due 2026-03-24.",
                    "Due 24 March 2026",
                    "due 24 mar 2026",
                    "Due March 24, 2026!",
                    "Due 24.03.2026.",
                    "Due 24/03/2026",
                    "Today, 2 March 2026: due 2026-03-24",
                    "Due 2026-03-24, that is 24 March",
                ],
                &[
                    "Due soon",
                    "Due 24 March",
                    "Due 2026-03-25",
                    "Due 2026-03-24 or 2026-03-25",
                    "Due 24 March 2026, not 25 March",
                    "Due 24 March 2027",
                    "Due 20260324",
                ],
            ),
            (
                instant(),
                &[
                    "On 24 March 2026.",
                    "On 24 March 2026 at 20:00",
                    "2026-03-24T20:00:30Z",
                    "24.03.2026, 8 pm",
                    "From 18:00 to 20:00 on 2026-03-24",
                ],
                &["At 20:00", "On 24 March 2026 at 21:00", "On 24 March 2026 at 8 am", "On 25 March 2026 at 20:00"],
            ),
            (
                money(),
                &["It is 1200.50.", "It is $1,200.50", "1,200.50 EUR", "USD 1200.50", "1200.50, not the 75.00"],
                &[
                    "It is 1200",
                    "It is 1200.5 or 1200.05",
                    "It is 1,200.50 or 1,300.50",
                    "$1,200.51",
                    "1200.50 and $80",
                ],
            ),
            (round(), &["1200", "$1,200", "1,200.00", "1200.00 euros"], &["12,00", "120000", "$1,200.01"]),
            (
                Fact::Number(12),
                &["All 12 of them", "All twelve of them", "Twelve!", "12.00 of them"],
                &["All of them", "All 112 of them", "Twelfth", "All 13 of them"],
            ),
            (Fact::Number(13), &["13 of them"], &["thirteen of them", "one three"]),
            (
                state(),
                &["It is in progress.", "It is In_Progress", "in-progress"],
                &["It is progressing", "It is in fine progress", "in progression"],
            ),
        ];
        let mut seen = 0;
        for (fact, accepted, refused) in table {
            let fact = [fact];
            accepted.iter().for_each(|text| assert!(passes(&fact, text), "{fact:?}: {text}"));
            refused.iter().for_each(|text| assert!(!passes(&fact, text), "{fact:?}: {text}"));
            seen += accepted.len() + refused.len();
        }
        assert!(seen >= 60, "{seen} texts");
    }

    #[test]
    fn no_foreign_token_stands_in_a_text() {
        for text in [
            "See CS0000370 and ACC-00012",
            "See CS0000370 and INC0000001",
            "CS0000370, ask bob@x.example",
            "CS0000370 costs 80.00",
            "CS0000370 costs $75.01",
            "CS0000370 is due 2026-03-03",
        ] {
            assert!(!passes(&[key()], text), "{text}");
        }
        for text in [
            "CS0000370, ask Ann.Lee@x.example",
            "CS0000370 costs $75",
            "CS0000370 was opened 2026-03-02 at 09:00 by 3 people",
            "CS0000370: 99.95 % of 1,000 items on 10.0.0.12",
        ] {
            assert!(passes(&[key()], text), "{text}");
        }
    }

    #[test]
    fn what_must_never_stand_in_a_text_is_found_however_it_is_spaced() {
        for text in ["CS0000370 of umbra ltd", "CS0000370 DE89 3704 0044", "CS0000370 DE89-37040044"] {
            assert!(!passes(&[key()], text), "{text}");
        }
        assert!(passes(&[key()], "CS0000370 of Penumbra Ltd"));
    }

    #[test]
    fn a_slot_that_may_be_left_out_is_no_foreign_token_either() {
        let slot = |fact: Fact, optional| Slot { name: "s".to_owned(), is: fact, optional };
        let prose = |optional| ReadyProse {
            slots: vec![slot(key(), false), slot(day(), optional)],
            never: Vec::new(),
            allowed: Allowed::default(),
        };
        let passes = |optional, text: &str| {
            prose(optional).judge(&Value::text(text), &[], |fact| Some(Cow::Owned(fact.clone()))).is_ok()
        };
        assert!(passes(true, "CS0000370") && passes(true, "CS0000370 on 24 March 2026"));
        assert!(!passes(false, "CS0000370") && !passes(true, "CS0000370 on 25 March 2026"));
    }

    #[test]
    fn nothing_is_no_text_and_a_fact_that_is_not_there_is_not_mentioned() {
        let slots = vec![Slot { name: "made.number".to_owned(), is: (), optional: false }];
        let prose = ReadyProse { slots, never: Vec::new(), allowed: Allowed::default() };
        assert_eq!(prose.judge(&Value::Null, &[], |()| None), Err("is empty".to_owned()));
        assert_eq!(prose.judge(&Value::text("yes"), &[], |()| None), Err("does not mention made.number".to_owned()));
    }
}
