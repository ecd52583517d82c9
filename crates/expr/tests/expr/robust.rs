//! Nothing that is typed makes the crate panic.

use crate::fixture::{HelpDesk, ON_CASE, holds, truth, value};
use benchwright_expr::{Scope, check_rule, check_source, check_truth, check_value, english, lowerable};
use proptest::{prelude::*, sample::select};

const WORDS: [&str; 86] = [
    "exists",
    "none",
    "all",
    "for",
    "per",
    "count",
    "distinct",
    "sum",
    "min",
    "max",
    "no_overlap",
    "cumulative",
    "of",
    "else",
    "where",
    "in",
    "not",
    "and",
    "or",
    "implies",
    "contains",
    "starts_with",
    "ends_with",
    "old",
    "actor",
    "now",
    "today",
    "null",
    "true",
    "false",
    "created",
    "deleted",
    "it",
    "changed",
    "ancestors",
    "weekday",
    "time_of",
    "date_of",
    "month_of",
    "length",
    "matrix",
    "abs",
    "days",
    "months",
    "minutes",
    "user",
    "team",
    "member",
    "case",
    "article",
    "shift",
    "state",
    "priority",
    "title",
    "visits",
    "cost",
    "due",
    "opened",
    "parent",
    "id",
    "open",
    "draft",
    "x",
    "y",
    "target",
    "fee",
    "desks",
    "limits",
    "(",
    ")",
    "{",
    "}",
    ",",
    ".",
    "..",
    ":",
    "=",
    "!=",
    "<",
    "+",
    "-",
    "*",
    "1",
    "2.5",
    "'a'",
    "'2026-01-01'",
];

/// Everything that can be done with a text.
fn exercise(text: &str) {
    for scope in [ON_CASE, Scope::default()] {
        for fault in check_truth(text, &HelpDesk, scope).err().into_iter().flatten() {
            assert!(fault.offset <= text.len() && !fault.message.is_empty());
        }
        let _ = check_source(text, &HelpDesk, scope);
        let _ = check_rule(text, &HelpDesk, scope);
        if let Ok((expr, _)) = check_value(text, &HelpDesk, scope, None) {
            let _ = (english(&expr, &HelpDesk), lowerable(&expr));
        }
    }
    if check_truth(text, &HelpDesk, Scope::default()).is_ok() {
        let _ = holds(0, text);
    }
    if check_value(text, &HelpDesk, ON_CASE, None).is_ok() {
        for case in 1..=3 {
            let _ = value(case, text, None);
        }
    }
}

/// Values and conditions that are right or nearly so.
fn nearly_right() -> impl Strategy<Value = String> {
    const ATOMS: [&str; 23] = [
        "visits",
        "cost",
        "due",
        "opened",
        "state",
        "team",
        "open",
        "3",
        "2.50",
        "'a'",
        "today",
        "now",
        "null",
        "true",
        "old.state",
        "team.parent",
        "assignee.name",
        "it",
        "it.visits",
        "x.visits",
        "weight",
        "weekday(due)",
        "5 days",
    ];
    select(&ATOMS[..]).prop_map(str::to_owned).prop_recursive(5, 40, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (two.clone(), select(&["=", "!=", "<", ">=", "+", "-", "*", "and", "or", "implies", "contains"][..]))
                .prop_map(|((a, b), op)| format!("({a} {op} {b})")),
            inner.clone().prop_map(|a| format!("not {a}")),
            inner.clone().prop_map(|a| format!("-{a}")),
            two.clone().prop_map(|(a, b)| format!("{a} not in {{{b}}}")),
            inner.clone().prop_map(|a| format!("(exists x in case(visits = {a}) where {a})")),
            inner.clone().prop_map(|a| format!("(sum case() where {a} of {a})")),
            inner.clone().prop_map(|a| format!("(min case() of {a})")),
            inner.clone().prop_map(|a| format!("(all article(case = id) {a})")),
            two.prop_map(|(a, b)| format!("max({a}, {b})")),
            inner.prop_map(|a| format!("(count distinct case() of {a})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_words_never_panic(words in proptest::collection::vec(select(&WORDS[..]), 0..25)) {
        exercise(&words.join(" "));
    }

    #[test]
    fn random_text_never_panics(text in any::<String>()) {
        exercise(&text);
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        exercise(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn nearly_right_expressions_never_panic(text in nearly_right()) {
        exercise(&text);
    }

    #[test]
    fn a_cut_off_expression_never_panics(cut in 0_usize..200) {
        let text = "for t in team(), n in -1..5 where t.parent != null: sum c in case(team = t, state not in {open}) \
                    of c.cost * n >= 12.50 and 'é''s' contains t.name or t in ancestors(t.parent)";
        if let Some(part) = text.get(..cut) {
            exercise(part);
        }
    }
}

#[test]
fn copies_of_copies_are_refused_before_they_fill_the_memory() {
    let mut text = "1".to_owned();
    for _ in 0..20 {
        text = format!("(count x{0} in case() where {text} not in {{1}})", text.len());
    }
    let faults = check_truth(&format!("{text} = 1"), &HelpDesk, Scope::default()).unwrap_err();
    assert_eq!(faults[0].message, "`not in` after too large a value");
}

#[test]
fn the_deepest_expression_that_is_read_can_be_evaluated() {
    let text = format!("{}true{}", "(not ".repeat(31), ")".repeat(31));
    assert!(!holds(1, &text));
    let text = format!("visits = {}1", "1 + ".repeat(100));
    assert!(!holds(1, &text));
    assert!(english(&truth(&text), &HelpDesk).contains("1 plus 1"));
}
