//! What was said back: answers, compared in canonical form, and reasons for which a request is declined.

use super::{
    prose::names,
    tokens::{date_of, figure_of, folded, mentions, word_number},
};
use benchwright_base::{Date, Value};
use benchwright_pack::effects::AnswerType;
use std::collections::BTreeSet;

/// A list that is longer than this was not looked for but copied.
pub(super) const LONGEST_LIST: usize = 12;

/// What may stand beside the name of a record: so many commas, so many words. Whoever says more is listing.
const MOST_MARKS: usize = 3;
const MOST_WORDS: usize = 12;

/// The obstacle whose reason is a rule: the record alone does not say which.
const POLICY: &str = "policy";

/// A value of an answer, such that two that mean the same are the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Canonical {
    /// A text in lower case, without quotes and a final full stop.
    Text(String),
    /// A whole number.
    Number(i64),
    /// An amount in minor units.
    Money(i64),
    /// A day.
    Date(Date),
}

/// A text in lower case, blanks run together, without quotes, a mark of a list before it and a final full stop.
fn bare(text: &str) -> String {
    let text: String = folded(text).into_iter().filter(|c| *c != '"' && *c != '`').collect();
    let text = text.trim().trim_end_matches('.').trim();
    let text = ["- ", "* ", "• "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text);
    let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    quoted.unwrap_or(text).trim().to_owned()
}

/// Reads a value; `None` if it is not of the type.
pub(super) fn canonical(ty: AnswerType, text: &str) -> Option<Canonical> {
    let text = bare(text);
    match ty {
        AnswerType::Text | AnswerType::Name => (!text.is_empty()).then_some(Canonical::Text(text)),
        AnswerType::Number => {
            let written = || figure_of(&text).filter(|(_, decimals)| *decimals == 0).map(|(number, _)| number / 1000);
            word_number(&text).or_else(written).map(Canonical::Number)
        }
        AnswerType::Money => {
            figure_of(&text).filter(|(number, _)| number % 10 == 0).map(|(number, _)| Canonical::Money(number / 10))
        }
        AnswerType::Date => date_of(&text).map(Canonical::Date),
    }
}

/// A cell as a value of an answer.
pub(super) fn of_cell(ty: AnswerType, value: &Value, shown: &str) -> Option<Canonical> {
    match (ty, value) {
        (_, Value::Null) => None,
        (AnswerType::Date, Value::DateTime(instant)) => Some(Canonical::Date(instant.date())),
        (AnswerType::Date, Value::Date(date)) => Some(Canonical::Date(*date)),
        (AnswerType::Money, Value::Money(minor)) => Some(Canonical::Money(*minor)),
        (AnswerType::Number, Value::Int(number)) => Some(Canonical::Number(*number)),
        _ => canonical(ty, shown),
    }
}

/// Whether a value is the one that is wanted, in any of its forms.
pub(super) fn is_one(ty: AnswerType, text: &str, wanted: &BTreeSet<Canonical>) -> bool {
    canonical(ty, text).is_some_and(|value| wanted.contains(&value))
}

/// Whether a list has exactly what is wanted, in any order.
pub(super) fn is_list(ty: AnswerType, text: &str, wanted: &[BTreeSet<Canonical>]) -> bool {
    let Some(items) = items(ty, text, wanted) else { return false };
    let known = |item: &Canonical| wanted.iter().any(|one| one.contains(item));
    let there = |one: &BTreeSet<Canonical>| items.iter().any(|item| one.contains(item));
    items.iter().all(known) && wanted.iter().all(there)
}

/// The items of a list; `None` if one is not of the type, or if there are too many.
fn items(ty: AnswerType, text: &str, wanted: &[BTreeSet<Canonical>]) -> Option<BTreeSet<Canonical>> {
    let text = text.trim().trim_matches(['[', ']']);
    let mut found = BTreeSet::new();
    let mut rest = text.to_lowercase();
    if matches!(ty, AnswerType::Text | AnswerType::Name) {
        // A name that is wanted may have a comma or an `and` in it. The longest are looked for first.
        let parted = |text: &&String| pieces(ty, text).len() > 1;
        let texts = wanted.iter().flatten().filter_map(|value| match value {
            Canonical::Text(text) => Some(text),
            _ => None,
        });
        let mut names: Vec<&String> = texts.filter(parted).collect();
        names.sort_by_key(|name| (std::cmp::Reverse(name.len()), *name));
        for name in names {
            if mentions(&folded(&rest), &folded(name)) && rest.contains(name.as_str()) {
                found.insert(Canonical::Text(name.clone()));
                rest = rest.replace(name.as_str(), ",");
            }
        }
    }
    let pieces = pieces(ty, &rest);
    if pieces.len() + found.len() > LONGEST_LIST {
        return None;
    }
    for piece in pieces {
        found.insert(canonical(ty, &piece)?);
    }
    Some(found)
}

/// A text in pieces: at commas, semicolons, line breaks and `and`.
fn pieces(ty: AnswerType, text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for line in text.split([';', '\n']) {
        let line = format!(" {line} ").replace(", and ", ", ").replace(" and ", ", ");
        let chars: Vec<char> = line.chars().collect();
        let mut piece = String::new();
        for (at, c) in chars.iter().enumerate() {
            if *c == ',' && !is_inside(ty, &piece, &chars[at + 1..]) {
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece.push(*c);
            }
        }
        pieces.push(piece);
    }
    pieces.retain(|piece| !bare(piece).is_empty());
    pieces
}

/// Whether a comma belongs to the item: the thousands mark of a number, or the one before a year.
fn is_inside(ty: AnswerType, before: &str, after: &[char]) -> bool {
    let digits = |text: &[char]| text.iter().take_while(|c| c.is_ascii_digit()).count();
    match ty {
        AnswerType::Number | AnswerType::Money => before.ends_with(|c: char| c.is_ascii_digit()) && digits(after) == 3,
        AnswerType::Date => {
            let rest: Vec<char> = after.iter().skip_while(|c| **c == ' ').copied().collect();
            let year: String = rest.iter().take(4).collect();
            digits(&rest) == 4 && date_of(&format!("{}, {year}", bare(before))).is_some()
        }
        AnswerType::Text | AnswerType::Name => false,
    }
}

/// Whether a text that names a record names many others beside it: who lists everything gives no reason.
fn lists(text: &str, known: &str) -> bool {
    let marks = |text: &str| text.chars().filter(|c| ",;|/\n".contains(*c)).count();
    let words = |text: &str| text.split_whitespace().count();
    marks(text) > marks(known) + MOST_MARKS || words(text) > words(known) + MOST_WORDS
}

/// Why a request is rightly declined.
pub(super) struct Reasons {
    /// The obstacle's word.
    pub(super) obstacle: String,
    pub(super) rules: Vec<String>,
    pub(super) records: Vec<String>,
    /// The name of the domain, which may stand before a rule of its own.
    pub(super) domain: String,
}

impl Reasons {
    /// Whether a reason could ever be right.
    pub(super) fn can_be_given(&self) -> bool {
        !self.rules.is_empty() || (self.obstacle != POLICY && !self.records.is_empty())
    }

    /// Judges what was given as the reason; the error is what is wrong with it.
    pub(super) fn judge(&self, kind: &str, rule: Option<&str>, record: Option<&str>) -> Result<(), &'static str> {
        if kind != self.obstacle {
            return Err("the obstacle is another");
        }
        let rule = rule.map(bare).filter(|rule| !rule.is_empty());
        if rule.as_deref().is_some_and(|rule| self.rules.iter().any(|known| self.is_rule(rule, &bare(known)))) {
            return Ok(());
        }
        if self.obstacle == POLICY {
            return Err("the rule is another");
        }
        if !record.is_some_and(|record| self.records.iter().any(|known| names(record, known) && !lists(record, known)))
        {
            return Err("the record is another");
        }
        match rule.is_some() && !self.rules.is_empty() {
            true => Err("the rule is another"),
            false => Ok(()),
        }
    }

    /// Whether a rule is the one that is known, with or without the name of its domain before it.
    fn is_rule(&self, given: &str, known: &str) -> bool {
        let own = |rule: &str| rule.rsplit_once('/').map(|(_, own)| own.to_owned());
        given == known || own(known).is_some_and(|own| own == given) || given == format!("{}/{known}", self.domain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(ty: AnswerType, text: &str, wanted: &str) -> bool {
        is_one(ty, text, &BTreeSet::from([canonical(ty, wanted).unwrap()]))
    }

    fn list(ty: AnswerType, text: &str, wanted: &[&str]) -> bool {
        let wanted: Vec<_> = wanted.iter().map(|text| BTreeSet::from([canonical(ty, text).unwrap()])).collect();
        is_list(ty, text, &wanted)
    }

    #[test]
    fn one_value_is_compared_by_what_it_means() {
        let table: [(AnswerType, &str, &[&str], &[&str]); 5] = [
            (
                AnswerType::Text,
                "Harbour Lane 4",
                &["harbour  lane 4", "\"Harbour Lane 4\".", "‘Harbour Lane 4’", " HARBOUR LANE 4. "],
                &["Harbour Lane 5", "Harbour Lane 4, Leeds", "", "\"\""],
            ),
            (
                AnswerType::Name,
                "Ines O'Brien",
                &["ines o’brien", "Ines O'Brien."],
                &["Ines", "O'Brien, Ines", "it is Ines O'Brien"],
            ),
            (
                AnswerType::Number,
                "1200",
                &["1200", "1,200", "'1200'", "1200."],
                &["1200.5", "1200 or 1300", "12", "twelve hundred", "about 1200", "1200.00"],
            ),
            (
                AnswerType::Money,
                "1200.50",
                &["1200.50", "$1,200.50", "1,200.50 EUR", "USD 1200.5", "1.200,50 €"],
                &["1200.05", "1200", "-1200.50", "1200.501", "1200.50 or so"],
            ),
            (
                AnswerType::Date,
                "2026-03-24",
                &["2026-03-24", "24 March 2026", "March 24, 2026.", "24.03.2026", "2026-03-24T09:00:00Z"],
                &["2026-03-25", "24 March", "on 2026-03-24", "2026-03-24 to 2026-03-25"],
            ),
        ];
        for (ty, wanted, right, wrong) in table {
            right.iter().for_each(|text| assert!(one(ty, text, wanted), "{ty:?}: {text}"));
            wrong.iter().for_each(|text| assert!(!one(ty, text, wanted), "{ty:?}: {text}"));
        }
        assert!(one(AnswerType::Number, "Twelve", "12") && !one(AnswerType::Number, "eleven", "12"));
        assert!(one(AnswerType::Money, "12", "12.00") && one(AnswerType::Number, "-3", "-3"));
    }

    #[test]
    fn a_list_is_a_set_in_any_order() {
        let names = ["Ann", "Bo", "Cy"];
        for text in [
            "Cy, Ann, Bo",
            "ann; bo; cy.",
            "Ann\n- Bo\n- Cy",
            "Ann, Bo, and Cy",
            "Ann, Bo and Cy, Ann",
            "[\"Ann\",\"Bo\",\"Cy\"]",
        ] {
            assert!(list(AnswerType::Name, text, &names), "{text}");
        }
        for text in ["Ann, Bo", "Ann, Bo, Cy, Di", "Ann Bo Cy", ""] {
            assert!(!list(AnswerType::Name, text, &names), "{text}");
        }
        let parted = ["Research and Development", "Sales, North", "Sales"];
        assert!(list(AnswerType::Name, "Sales, Sales, North, Research and Development", &parted));
        assert!(!list(AnswerType::Name, "Sales, North, Research", &parted));
        assert!(list(AnswerType::Money, "1,200.00, 75, $3,000", &["75.00", "3000", "1200.00"]));
        assert!(!list(AnswerType::Money, "1,200.00, 75, lots", &["75.00", "1200.00"]));
        assert!(list(AnswerType::Date, "March 24, 2026, 2026-03-02", &["2026-03-02", "2026-03-24"]));
        assert!(list(AnswerType::Number, "3 and two", &["2", "3"]));
    }

    #[test]
    fn a_list_has_twelve_items_at_most() {
        let all: Vec<String> = (1..=13).map(|n| n.to_string()).collect();
        let texts: Vec<&str> = all.iter().map(|n| &**n).collect();
        assert!(list(AnswerType::Number, &texts[..12].join(", "), &texts[..12]));
        assert!(!list(AnswerType::Number, &texts.join(", "), &texts));
    }

    fn reasons(obstacle: &str, rules: &[&str], records: &[&str]) -> Reasons {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Reasons { obstacle: obstacle.into(), rules: owned(rules), records: owned(records), domain: "csm".into() }
    }

    #[test]
    fn a_policy_is_named_by_its_rule() {
        let joined = reasons("policy", &["csm/vip-first"], &["CS0000370"]);
        for rule in ["csm/vip-first", " VIP-first ", "`csm/vip-first`."] {
            assert_eq!(joined.judge("policy", Some(rule), None), Ok(()), "{rule}");
        }
        for rule in [None, Some(""), Some("itsm/vip-first"), Some("vip"), Some("csm/vip-first or others")] {
            assert!(joined.judge("policy", rule, Some("CS0000370")).is_err(), "{rule:?}");
        }
        assert!(joined.judge("permission", Some("csm/vip-first"), None).is_err());
        let alone = reasons("policy", &["vip-first"], &[]);
        assert_eq!(alone.judge("policy", Some("csm/vip-first"), None), Ok(()));
        assert!(alone.judge("policy", Some("hr/vip-first"), None).is_err());
        assert!(!reasons("policy", &[], &["CS0000370"]).can_be_given());
    }

    #[test]
    fn other_obstacles_are_named_by_the_record_or_the_rule() {
        let both = reasons("permission", &["pause-clock"], &["CS0000370", "customer_case"]);
        for record in ["CS0000370", "the case cs0000370 of Ann", "customer case", "Customer_Case"] {
            assert_eq!(both.judge("permission", None, Some(record)), Ok(()), "{record}");
            assert!(both.judge("permission", Some("vip-first"), Some(record)).is_err(), "a wrong rule beside it");
        }
        assert_eq!(both.judge("permission", Some("pause-clock"), Some("CS0000001")), Ok(()));
        assert!(both.judge("permission", None, Some("CS00003701")).is_err());
        assert!(both.judge("permission", None, None).is_err());
        let record = reasons("not_found", &[], &["Ann"]);
        assert_eq!(record.judge("not_found", Some("whatever"), Some("Ann")), Ok(()), "no rule is asked for");
        assert!(record.can_be_given() && !reasons("not_found", &[], &[]).can_be_given());
    }
}
