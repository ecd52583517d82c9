//! What is said of wrong expressions, word for word.

use crate::fixture::{HelpDesk, ON_CASE, STATE};
use benchwright_expr::{Fault, Scope, Type, check_rule, check_source, check_truth, check_value};

/// Expressions on a case, where the fault is, what it says and its help (`-` for none).
const WRONG: &[(&str, usize, &str, &str)] = &[
    // Names.
    ("stat = open", 0, "case has no field `stat`", "did you mean `state`?"),
    ("state = opn", 8, "`opn` is neither a word of State nor a field of case", "did you mean `open`?"),
    ("state in {open, clsed}", 16, "`clsed` is neither a word of State nor a field of case", "did you mean `closed`?"),
    ("assignee.nme = 'x'", 9, "user has no field `nme`", "did you mean `name`?"),
    ("title.size = 3", 6, "`title` is text and has no field `size`", "-"),
    ("exists artcle(case = id)", 7, "no relation is called `artcle`", "did you mean `article`?"),
    ("exists article(cse = id)", 15, "article has no field `cse`", "did you mean `case`?"),
    ("lenght(title) = 3", 0, "no relation, fact or function is called `lenght`", "did you mean `length`?"),
    ("target = 3", 0, "`target` is a fact", "write `target(…)` with 2 arguments"),
    ("limits = 3", 0, "`limits` is a set", "bind its members: `for x in limits: …`"),
    ("for x in dsks: true", 9, "no set or relation is called `dsks`", "did you mean `desks`?"),
    (
        "it = id",
        0,
        "`it` stands for no row here",
        "it is the row of the nearest `exists`, `none`, `all`, `count` … without a name",
    ),
    ("now.day = 3", 4, "`now` has no fields", "-"),
    ("sum article() of visit = 3", 17, "neither article nor case has a field `visit`", "did you mean `visits`?"),
    (
        "for x in desks: x.name = 'a'",
        18,
        "`x` is a member of a set and has no fields",
        "look its row up: `team(id = x).name`",
    ),
    ("user = actor", 0, "case has no field `user`", "`user(…)` with a filter finds a row of that relation"),
    // Variables.
    (
        "exists team in team() where true",
        7,
        "the variable `team` has the name of a field of case",
        "choose another name",
    ),
    ("for x in desks, x in limits: true", 16, "`x` is bound twice", "choose another name"),
    ("exists now in team() where true", 7, "`now` cannot name a variable", "-"),
    (
        "for since in 1..2: sum member() of since = 3",
        35,
        "`since` is both a variable and a field of member",
        "name the row: `x in member(…)`, then `x.since`",
    ),
    ("for n in 5..1: true", 9, "the range 5..1 is empty", "-"),
    ("for n in 0..100000: true", 9, "the range 0..100000 has more than 100000 numbers", "-"),
    // Types.
    ("state = priority", 6, "compares a State with a Priority", "-"),
    ("team = assignee", 5, "compares a team with a user", "-"),
    ("assignee = 3", 9, "compares a user with a whole number", "-"),
    ("assignee = 'Ben'", 9, "compares a user with text", "-"),
    ("state = 'open'", 6, "compares a State with text", "write the word without quotes: `open`"),
    ("title = state", 6, "compares text with a State", "its words are new, open, pending, closed, escalated"),
    ("state < pending", 6, "a State has no order", "only numbers, dates, times and durations have one"),
    ("team < team", 5, "a team has no order", "only numbers, dates, times and durations have one"),
    ("escalated < true", 10, "true or false has no order", "only numbers, dates, times and durations have one"),
    ("opened > today", 7, "compares an instant with a date", "take the day of the instant with `date_of(...)`"),
    ("visits = cost", 7, "compares a whole number with money", "-"),
    ("visits = 1.5", 9, "the decimal number 1.5 needs money or a quantity beside it", "-"),
    ("cost = 1.234", 7, "1.234 has more than 2 decimals, too many for money", "-"),
    ("weight = 1.2345", 9, "1.2345 has more than 3 decimals, too many for a quantity", "-"),
    ("visits = 99999999999999999999", 9, "the number 99999999999999999999 is too large", "-"),
    ("due = 'tomorrow'", 6, "'tomorrow' is not a date", "write it as 'YYYY-MM-DD'"),
    ("opened > '2026-01-01'", 9, "'2026-01-01' is not an instant", "write it as 'YYYY-MM-DDTHH:MM:SSZ'"),
    ("time_of(opened) > 'noon'", 18, "'noon' is not a time of day", "write it as 'HH:MM'"),
    ("spent > 60", 6, "compares a duration with a whole number", "give the number a unit, such as `3 days`"),
    ("due = today + 5", 12, "adds a whole number to a date", "give the number a unit, such as `3 days`"),
    ("due = today + 5 hours", 12, "a date cannot be moved by hours", "use days or months, or an instant"),
    ("today - opened = 3 days", 6, "takes an instant from a date", "take the day of the instant with `date_of(...)`"),
    ("cost * weight = cost", 5, "multiplies money by a quantity", "one side of `*` is a whole number"),
    ("- title = title", 0, "text has no negative", "-"),
    ("today + title days = today", 8, "wanted a whole number, got text", "-"),
    ("visits contains 'a'", 0, "wanted text, got a whole number", "-"),
    ("visits", 0, "wanted a condition, got a whole number", "-"),
    ("visits and escalated", 0, "wanted a condition, got a whole number", "-"),
    (
        "(visits = 3) + 1 = 2",
        8,
        "wanted a value, got a condition",
        "a condition is joined with `and`, `or`, `not` and `implies`",
    ),
    ("created = true", 8, "compares a condition", "write the condition itself, or `not` before it"),
    // Null.
    ("due < null", 4, "`null` has no order", "write `= null` or `!= null`"),
    ("due in {null}", 8, "`null` cannot stand here", "it may only be compared: `x = null` or `x != null`"),
    ("exists case(due > null)", 16, "`null` has no order", "write `= null` or `!= null`"),
    ("null", 0, "`null` cannot stand here", "it may only be compared: `x = null` or `x != null`"),
    // Functions, facts, folds.
    ("target(team) = 3", 0, "target takes 2 arguments, got 1", "-"),
    ("target(assignee, low) = 3", 7, "argument 1 of target is a team, got a user", "-"),
    ("fee(cost).x = 3", 10, "the value of `fee(…)` has no fields", "-"),
    ("length(visits) = 3", 7, "length takes text, got a whole number", "-"),
    ("weekday(visits) = 3", 8, "weekday takes a date or an instant, got a whole number", "-"),
    ("date_of(due) = due", 8, "date_of takes an instant, got a date", "-"),
    ("max(visits) = 3", 0, "max takes at least 2 arguments, got 1", "for the rows of a relation write `max t(…) of …`"),
    ("max(visits, cost) = 3", 12, "max of a whole number and money", "-"),
    (
        "visits = matrix(impact, urgency)",
        9,
        "`matrix` needs an enumeration on the other side",
        "compare it with a field: `priority = matrix(impact, urgency)`",
    ),
    ("priority = matrix(impact, visits)", 26, "matrix takes words of enumerations, got a whole number", "-"),
    ("ancestors(team.parent) = team", 0, "`ancestors` stands only after `in`", "write `row in ancestors(path)`"),
    (
        "team in ancestors(team)",
        18,
        "`ancestors` takes a path to a field that refers to its own relation",
        "such as `parent`, where `parent` of a folder is a folder",
    ),
    ("assignee in ancestors(team.parent)", 9, "compares a user with a team", "-"),
    ("changed(stat)", 8, "case has no field `stat`", "did you mean `state`?"),
    ("changed(team.lead)", 8, "changed takes a field of case", "-"),
    ("sum case() of title = 3", 14, "text cannot be added up", "-"),
    ("min case() of state = open", 14, "a State has no order", "-"),
    ("min case() of cost else today = 3", 24, "wanted money, got a date", "-"),
    ("no_overlap case() of starts, due", 21, "begins with an instant and ends with a date", "-"),
    ("cumulative case() of starts, ends, title, 3", 35, "text cannot be added up", "-"),
    // Filters.
    ("exists user(active)", 12, "a filter compares a field with a value", "write `= true` or `= false` after it"),
    (
        "exists user(active = true or role = admin)",
        26,
        "a filter is a single comparison",
        "commas between filters mean `and`; for the rest, name the row: `x in t(…) where …`",
    ),
    ("exists user('x' = name)", 12, "a filter begins with a field of user", "-"),
    ("exists member(user = team)", 19, "compares a user with a team", "-"),
    (
        "exists member(since > now)",
        20,
        "compares a date with an instant",
        "take the day of the instant with `date_of(...)`",
    ),
    // Syntax.
    ("", 0, "wanted a value, got the end", "-"),
    ("state = ", 8, "wanted a value, got the end", "-"),
    ("state == open", 6, "`==` is no operator", "write `=`"),
    ("title = \"x\"", 8, "unknown character `\"`", "write text in single quotes"),
    ("visits / 2 = 1", 7, "unknown character `/`", "there is no division; multiply the other side instead"),
    ("title = 'x", 8, "the text has no end", "close it with `'`; a quote inside is written `''`"),
    ("exists article", 14, "wanted `(`, got the end", "write `article()` for all its rows"),
    ("(state = open", 13, "wanted `)`, got the end", "-"),
    ("state = open closed", 13, "wanted an operator or the end, got `closed`", "-"),
    ("sum case() = 3", 11, "wanted `of`, got `=`", "-"),
    ("for x in desks true", 15, "wanted `:`, got `true`", "-"),
    ("state in (open)", 9, "wanted `{` or `ancestors(`, got `(`", "-"),
];

fn fault((_, offset, message, help): &(&str, usize, &str, &str)) -> Fault {
    let help = (*help != "-").then(|| (*help).to_owned());
    Fault { offset: *offset, message: (*message).to_owned(), help }
}

#[test]
fn each_mistake_is_reported_once_where_it_is_with_its_mend() {
    let mut wrong = Vec::new();
    for entry in WRONG {
        let got = check_truth(entry.0, &HelpDesk, ON_CASE);
        if got != Err(vec![fault(entry)]) {
            wrong.push(format!("{}\n   {got:?}", entry.0));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_mistakes_of_an_expression_are_reported_in_order() {
    let text = "stat = open and due > now or exists articl(case = id) and titel contains 'x'";
    let faults = check_truth(text, &HelpDesk, ON_CASE).unwrap_err();
    let got: Vec<(usize, &str)> = faults.iter().map(|fault| (fault.offset, &*fault.message)).collect();
    let expected = [
        (0, "case has no field `stat`"),
        (20, "compares a date with an instant"),
        (36, "no relation is called `articl`"),
        (58, "case has no field `titel`"),
    ];
    assert_eq!(got, expected);
}

#[test]
fn what_failed_causes_no_other_fault() {
    let texts = [
        "stat = opn and visits > 1",
        "opn = stat",
        "stat in {a, b}",
        "stat not in {1.5}",
        "stat < 1.5",
        "stat + 1 = visits",
        "-stat = 3",
        "min(stat, 2) = 3",
        "exists article(stat = nothing)",
        "exists article(stat in {nothing, 1.5})",
        "exists x in artcle() where x.any.thing = here",
        "sum artcle() of any * thing = 3",
        "for x in nowhere: x.y = x",
        "all artcle() it.name = 'x'",
        "artcle(case = id).name = 3",
        "stat = matrix(impact, urgency)",
        "length(stat) = 1",
        "target(stat, low) = 3",
        "team in ancestors(stat)",
        "stat",
        "not stat",
        "stat days + today = due",
    ];
    for text in texts {
        let faults = check_truth(text, &HelpDesk, ON_CASE).unwrap_err();
        assert_eq!(faults.len(), 1, "{text}: {faults:?}");
    }
}

#[test]
fn change_needs_a_row_under_judgement() {
    for (text, word) in
        [("old.state = open", "old"), ("created", "created"), ("deleted", "deleted"), ("changed(x)", "changed")]
    {
        let message = format!("`{word}` needs a row under judgement");
        let expected = Fault { offset: 0, message, help: None };
        assert_eq!(check_truth(text, &HelpDesk, Scope::default()), Err(vec![expected]), "{text}");
    }
    let faults = check_truth("state = open", &HelpDesk, Scope::default()).unwrap_err();
    assert_eq!(faults[0].message, "nothing is called `state` here");
}

#[test]
fn a_value_must_have_the_expected_type() {
    let message = |text: &str, expected: Type| {
        check_value(text, &HelpDesk, ON_CASE, Some(expected)).unwrap_err().remove(0).message
    };
    assert_eq!(message("title", Type::Money), "wanted money, got text");
    assert_eq!(message("visits > 2", Type::Int), "wanted a whole number, got true or false");
    assert_eq!(message("opn", STATE), "`opn` is neither a word of State nor a field of case");
    assert_eq!(message("team", STATE), "wanted a State, got a team");
    assert_eq!(check_value("null", &HelpDesk, ON_CASE, None).unwrap_err()[0].message, "`null` cannot stand here");
}

#[test]
fn sources_and_rules_have_faults_of_their_own() {
    let source = |text: &str| check_source(text, &HelpDesk, ON_CASE).unwrap_err().remove(0);
    assert_eq!(source("artcle").help.as_deref(), Some("did you mean `article`?"));
    assert_eq!(source("1..5").message, "wanted a relation, got a range");
    assert_eq!(source("article(case = id) x").message, "wanted an operator or the end, got `x`");
    let rule = |text: &str| check_rule(text, &HelpDesk, ON_CASE).unwrap_err().remove(0);
    assert_eq!(rule("per x in desks true").message, "wanted `:`, got `true`");
    assert_eq!(rule("per x in desks: x = 3").message, "compares a team with a whole number");
}
