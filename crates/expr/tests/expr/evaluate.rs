//! Every construct from text to result.

use crate::fixture::{HelpDesk, ON_CASE, STATE, holds, holds_deleted, rows, value};
use benchwright_base::{Date, DateTime, Time, Value};
use benchwright_expr::{FoldKind, Scope, Type, check_rule, check_truth};

/// Conditions on a case (0 for no row at all), and whether they hold.
fn expect(table: &[(u32, &str, bool)]) {
    for (case, text, expected) in table {
        assert_eq!(holds(*case, text), *expected, "case {case}: {text}");
    }
}

#[test]
fn logic_follows_its_truth_tables() {
    expect(&[
        (0, "true", true),
        (0, "false or true", true),
        (0, "true and false", false),
        (0, "not false and true", true),
        (0, "false implies false", true),
        (0, "true implies false", false),
        (0, "true implies true implies false", false),
        (0, "(false implies false) implies false", false),
        (0, "1 = 1 and 2 != 3 and 1 < 2 and 2 <= 2 and 3 > 2 and 3 >= 3", true),
        (0, "not 1 = 2", true),
    ]);
}

#[test]
fn a_comparison_with_null_is_false_either_way() {
    expect(&[
        (2, "assignee = actor", false),
        (2, "assignee != actor", false),
        (2, "not (assignee = actor)", true),
        (2, "assignee = null", true),
        (2, "null = assignee", true),
        (2, "assignee != null", false),
        (1, "assignee != null", true),
        (2, "assignee.name = 'Ben'", false),
        (2, "assignee.manager.name = null", true),
        (2, "due <= today", false),
        (2, "due > today", false),
        (2, "weight in {1, 2}", false),
        (2, "weight not in {1, 2}", false),
        (2, "not (weight in {1, 2})", true),
        (1, "weight not in {1, 2}", true),
        (1, "weight not in {1, 1.5}", false),
        (2, "weight + 1 = 1", false),
        (2, "weight + 1 = null", true),
        (3, "escalated", false),
        (3, "not escalated", true),
        (3, "escalated = false", false),
        (2, "exists case(weight = weight)", false),
        (2, "exists case(weight = null)", true),
        (2, "count case(weight != null) = 2", true),
        (2, "exists user(email contains 'x', name = 'Dan')", false),
        (1, "count user(email not in {'ada@desk.example'}) = 2", true),
    ]);
}

#[test]
fn a_boolean_field_is_a_condition_and_can_be_compared() {
    expect(&[
        (1, "escalated", true),
        (2, "escalated", false),
        (1, "escalated = true and true = escalated", true),
        (2, "escalated != true", true),
        (1, "assignee.active implies escalated", true),
    ]);
}

#[test]
fn enum_words_win_over_fields_on_either_side() {
    expect(&[
        (1, "state = open", true),
        (1, "open = state", true),
        (1, "state in {open, pending}", true),
        (1, "state not in {open, pending}", false),
        // `escalated` is a word of State and a field of case.
        (1, "state = escalated", false),
        (1, "state != escalated", true),
        (1, "escalated != state", true),
        (3, "exists article(case = id, state = retired)", true),
        (1, "assignee.role = agent", true),
        (1, "impact = strong and urgency != strong", true),
        (0, "exists c in case() where open = c.state", true),
    ]);
    assert_eq!(value(1, "pending", Some(STATE)), (Value::Enum(2), STATE));
    assert_eq!(value(1, "state", Some(STATE)), (Value::Enum(1), STATE));
}

#[test]
fn old_created_deleted_and_changed_compare_with_the_world_before() {
    expect(&[
        (1, "old.state = new and state = open", true),
        (1, "changed(state) and changed(assignee) and not changed(title)", true),
        (1, "created or deleted", false),
        (1, "old.assignee = null", true),
        // What is reached from `old` is read in the world before, too.
        (3, "old.assignee.manager.active = false and assignee.manager.active = true", true),
        (1, "old = id", true),
        (2, "created", true),
        (2, "old.state = new", false),
        (2, "old.state != new", false),
        (2, "old = null", true),
        (2, "changed(state) and not changed(team)", true),
        (3, "created or changed(state)", false),
    ]);
    assert!(holds_deleted(1, "deleted and state = new and old.state = new and not created"));
    assert!(holds_deleted(1, "assignee = null and not changed(assignee)"));
    assert!(holds_deleted(1, "none user(name = 'Ben', active = true)"));
}

#[test]
fn paths_actor_and_clock_are_read() {
    expect(&[
        (1, "team.lead.name = 'Ada'", true),
        (3, "team.parent.lead.name = 'Ada'", true),
        (1, "assignee = actor and actor.name = 'Ben' and actor.manager.role = admin", true),
        (1, "id.title = title", true),
        (1, "now = '2026-03-05T12:00:00Z' and today = '2026-03-05'", true),
        (1, "opened < now and due >= today", true),
    ]);
}

#[test]
fn filters_read_their_values_in_the_outer_scope() {
    expect(&[
        (1, "exists case(state = state, id != id)", false),
        (1, "exists article(case = id)", true),
        (1, "count article(case = id, state in {draft, published}) = 2", true),
        (1, "exists member(team = team, user = assignee)", true),
        (3, "exists member(team = team, user = assignee)", true),
        (2, "exists member(team = team, user = assignee)", false),
        (1, "exists article(case.assignee.name = 'Ben')", true),
        (1, "none article(case = id, title starts_with 'Zz')", true),
        (1, "exists case(opened <= opened, id != id)", true),
        (1, "count case(title contains 'BILL') = 1", true),
        (1, "count case() = 3", true),
    ]);
    assert_eq!(rows(1, "article(case = id, state not in {draft})"), [1]);
    assert_eq!(rows(1, "team"), [1, 2, 3]);
    assert_eq!(rows(1, "team()"), [1, 2, 3]);
    assert_eq!(rows(3, "article(author = null)"), [3]);
}

#[test]
fn folds_count_add_and_choose() {
    expect(&[
        (0, "sum case() of visits = 4", true),
        (0, "sum case() of cost = 112.49", true),
        (0, "sum case() of weight = 21.5", true),
        (0, "sum case(state = pending) of cost = 0", true),
        (0, "sum case() of spent = 121 minutes", true),
        (0, "sum case() of visits * minutes = 300", true),
        (0, "sum case() of visits + 1 = 5", true),
        (0, "min case() of due = '2026-02-01'", true),
        (0, "max case() of due = '2026-03-10'", true),
        (0, "min case(state = pending) of cost = null", true),
        (0, "min case(state = pending) of cost else 5 = 5.00", true),
        (0, "max case() of visits else 9 = 3", true),
        (0, "count distinct case() of assignee = 2", true),
        (0, "count distinct case() of state = 3", true),
        (1, "count case(state != state) = 2", true),
        (1, "sum case(assignee = assignee) of visits = 3", true),
        (0, "count c in case() where c.visits > 0 and c.cost > 20 = 1", true),
        (0, "(count c in case() where c.visits > 0 and c.cost > 20) = 1", true),
        (0, "(count case() where it.visits > 0) = 2", true),
        (0, "sum case() where it.visits > 1 of visits = 3", true),
        (0, "sum n in 1..4 of n * n = 30", true),
        (0, "sum n in -2..2 of n = 0", true),
        (0, "max n in limits of n else 0 = 5", true),
        (0, "max n in limits of n = 5", true),
    ]);
}

#[test]
fn the_row_of_a_fold_has_a_name_or_is_it() {
    expect(&[
        (0, "exists c in case() where c.starts < c.ends", true),
        (0, "none c in case() where c.starts >= c.ends", true),
        (0, "exists case(state = open) where it.assignee.active", true),
        (1, "all article(case = id) it.title != title", true),
        (1, "all article(case = id) exists user(id = it.author, active = true)", true),
        (3, "all article(case = id) exists user(id = it.author)", false),
        (2, "all article(case = id) false", true),
        (0, "all a in article() exists c in case() where a.case = c", true),
        (0, "all team() none member(team = it, since < '2020-01-01')", true),
        (0, "exists team() where exists member(team = it) where it.user.name = 'Cyd'", true),
        (1, "exists article(case = id) where it.state = draft and state = open", true),
        (0, "sum c in case() of c.visits * c.minutes = 300", true),
        (1, "sum a in article() of visits = 9", true),
    ]);
}

#[test]
fn variables_range_over_rows_sets_and_numbers() {
    expect(&[
        (0, "for t in team(): exists user(id = t.lead)", true),
        (0, "for t in team: t.parent != null", false),
        (0, "for t in team where t.parent != null: t.lead.name = 'Ben'", true),
        (0, "for d in desks: exists member(team = d)", true),
        (0, "for d in desks: team(id = d).name != 'Weekend'", true),
        (0, "for n in 1..5, m in limits where n < m: n + m <= 9", true),
        (0, "for n in 1..5, m in limits: n < m", false),
        (0, "for t in team(), m in member(team = t): m.team = t", true),
        (0, "exists n in 1..5 where n * n = 16", true),
        (0, "true implies for n in 2..3: n > 1 and n < 4", true),
    ]);
}

#[test]
fn a_lookup_finds_the_first_row_or_null() {
    expect(&[
        (1, "article(case = id).title = 'How to'", true),
        (1, "article(case = id).author.name = 'Ben'", true),
        (2, "article(case = id).title = null", true),
        (2, "article(case = id).title != 'x'", false),
        (2, "article(case = id) = null", true),
        (1, "user(name = 'Ben') = assignee", true),
        (1, "title contains user(name = 'Zoe').name", false),
        (1, "case(id = id).title = title", true),
    ]);
}

#[test]
fn ancestors_are_the_row_and_those_above_it() {
    expect(&[
        (0, "exists t in team() where t.name = 'Support' and t in ancestors(t.parent)", false),
        (0, "exists t in team(name = 'Weekend') where team(name = 'Support') in ancestors(t.parent)", true),
        (0, "exists t in team(name = 'Weekend') where team(name = 'Night') in ancestors(t.parent)", true),
        (3, "team.parent in ancestors(team.parent)", true),
        (3, "team in ancestors(team.parent)", false),
        (3, "team not in ancestors(team.parent)", true),
        (2, "team not in ancestors(team.parent)", false),
        (1, "actor.manager in ancestors(assignee.manager)", true),
    ]);
}

#[test]
fn dates_instants_and_spans_add_up() {
    expect(&[
        (1, "due = today + 5 days", true),
        (1, "due - today = 5 days", true),
        (1, "5 days + today = due", true),
        (1, "now - opened > 3 days", true),
        (1, "opened + minutes minutes = '2026-03-02T11:00:00Z'", true),
        (1, "starts + (visits - 1) hours = ends", true),
        (1, "ends - starts = spent", true),
        (1, "spent = 2 hours and spent = 120 minutes and spent = 7200 seconds and spent < 1 day", true),
        (1, "2 * spent = 4 hours", true),
        (2, "date_of(opened) + 1 month = '2026-02-28'", true),
        (2, "opened + 1 month = '2026-02-28T23:59:59Z'", true),
        (1, "today - 312 months = '2000-03-05'", true),
        (1, "due - -(5 days) = '2026-03-15'", true),
        (1, "today + (1 month + 2 months) = '2026-06-05'", true),
        (1, "today + 2 * 1 month = '2026-05-05'", true),
        (1, "'2026-03-06' > today", true),
        (1, "today < '2026-03-06'", true),
        (1, "due in {'2026-03-10', '2026-03-11'}", true),
        (1, "today + 99999999999 months = null", true),
        (1, "today + (0 - 9223372036854775807 - 1) months = null", true),
        (1, "today - (0 - 9223372036854775807 - 1) months = null", true),
    ]);
}

#[test]
fn functions_of_text_and_time_have_their_values() {
    expect(&[
        (1, "length(title) = 15", true),
        (1, "time_of(opened) = '09:30'", true),
        (1, "date_of(opened) = '2026-03-02'", true),
        (1, "month_of(opened) = '2026-03-01T00:00:00Z'", true),
        (1, "month_of(due) = '2026-03-01'", true),
        (2, "year_of(opened) = 2026", true),
        (1, "weekday(opened) = 1 and weekday(today) = 4", true),
        (1, "exists shift(user = assignee, weekday = weekday(opened), opens <= time_of(opened))", true),
        (1, "exists shift(user = assignee, weekday = weekday(now))", false),
        (0, "exists s in shift() where weekday('2026-03-08') = s.weekday", true),
        (1, "abs(visits - 5) = 2 and abs(-1.50) <= cost", true),
        (1, "min(visits, 2) = 2 and max(visits, 2, 7) = 7", true),
        (1, "max(cost, 13.25) = 13.25", true),
        (1, "min(due, '2026-03-09') = '2026-03-09'", true),
        (2, "min(weight, 1) = null", true),
    ]);
    assert_eq!(value(1, "'2026-03-05'", Some(Type::Date)).0, Value::Date(Date::parse("2026-03-05").unwrap()));
    assert_eq!(value(1, "'09:30'", Some(Type::Time)).0, Value::Time(Time::parse("09:30").unwrap()));
    let instant = DateTime::parse("2026-03-01").unwrap();
    assert_eq!(value(1, "month_of(now)", None), (Value::DateTime(instant), Type::DateTime));
}

#[test]
fn a_matrix_adds_the_places_of_two_words_and_ends_at_the_last_word() {
    expect(&[
        // strong + medium = place 1, weak + weak = place 4, which is beyond the last.
        (1, "matrix(impact, urgency) = priority", false),
        (2, "priority = matrix(impact, urgency)", true),
        (3, "priority = matrix(impact, urgency)", false),
    ]);
    assert_eq!(value(1, "matrix(impact, urgency)", Some(Type::Enum(benchwright_base::EnumId(2)))).0, Value::Enum(1));
}

#[test]
fn tests_on_text_regard_case_only_at_the_ends() {
    expect(&[
        (1, "title contains 'PRINTER'", true),
        (1, "title starts_with 'Printer'", true),
        (1, "title starts_with 'printer'", false),
        (1, "title ends_with 'fire'", true),
        (3, "title = 'Bill''s bill'", true),
        (1, "assignee.email ends_with 'desk.example'", true),
        (2, "assignee.email ends_with ''", false),
        (1, "title in {'a', 'Printer on fire'}", true),
    ]);
}

#[test]
fn literals_take_the_type_of_what_stands_beside_them() {
    expect(&[
        (1, "cost = 12.5", true),
        (1, "12.50 = cost", true),
        (1, "cost < 13", true),
        (1, "weight = 1.5 and weight > 1", true),
        (1, "cost + 0.5 = 13", true),
        (1, "0.5 + cost = 13", true),
        (1, "2 * cost = 25", true),
        (1, "cost = visits * 4 + 0.50", true),
        (1, "visits * 5 > cost", true),
        (1, "-1 < visits and -0.01 < cost and - visits = -3", true),
        (1, "cost in {1, 12.5}", true),
    ]);
    assert_eq!(value(1, "3", Some(Type::Quantity)), (Value::Quantity(3000), Type::Quantity));
    assert_eq!(value(1, "-2.5", Some(Type::Money)), (Value::Money(-250), Type::Money));
    assert_eq!(value(1, "cost", None), (Value::Money(1250), Type::Money));
    assert_eq!(value(1, "id", None).0, Value::Ref(1));
    assert_eq!(value(1, "escalated and visits > 2", None), (Value::Bool(true), Type::Bool));
    assert_eq!(value(1, "null", Some(Type::Date)), (Value::Null, Type::Null));
}

#[test]
fn facts_and_sets_come_from_outside() {
    expect(&[
        (1, "target(team, priority) = 12", true),
        (1, "target(team, critical) = 10", true),
        (1, "fee(cost) = 25 and fee(1.5) = 3", true),
        (0, "for d in desks: target(d, low) > horizon()", true),
        (0, "sum t in team() of target(t, high) = 63", true),
    ]);
}

#[test]
fn intervals_may_touch_but_not_overlap() {
    expect(&[
        (0, "no_overlap case() of starts, ends", false),
        (0, "no_overlap case(state in {open, closed}) of starts, ends", true),
        (0, "no_overlap c in case() where c.state != new of c.starts, c.ends", true),
        (0, "no_overlap case() of starts, starts + 1 hour", true),
        (0, "cumulative case() of starts, ends, 1, 2", true),
        (0, "cumulative case() of starts, ends, 1, 1", false),
        (0, "cumulative case() of starts, ends, visits, 3", true),
        (1, "cumulative case() of starts, ends, visits, visits", true),
        (2, "cumulative case() of starts, ends, visits, visits", false),
        (0, "cumulative case() of starts, ends, cost, 99.99", true),
        // A case without a due day cannot be judged, and does not pass.
        (0, "no_overlap case() of due, due + 1 day", false),
        (0, "no_overlap case(due != null) of due, due + 1 day", true),
    ]);
}

#[test]
fn per_splits_a_rule_and_its_variables_follow_the_subject() {
    let text = "per t in team(), n in 1..2 where t.parent != null: count member(team = t) >= n";
    let (binders, body) = check_rule(text, &HelpDesk, Scope::default()).unwrap();
    assert_eq!(binders.iter().map(|b| b.name.as_deref()).collect::<Vec<_>>(), [Some("t"), Some("n")]);
    assert!(binders[0].condition.is_none() && binders[1].condition.is_some());
    assert!(body.is_truth());
    let (binders, body) = check_rule("state = open", &HelpDesk, ON_CASE).unwrap();
    assert!(binders.is_empty() && !body.is_about_change());
}

#[test]
fn a_sum_carries_the_zero_of_its_type_and_binders_carry_their_names() {
    let benchwright_expr::Expr::Compare(_, left, _) =
        check_truth("sum case() of cost = 0", &HelpDesk, Scope::default()).unwrap()
    else {
        panic!("no comparison")
    };
    let benchwright_expr::Expr::Fold(fold) = *left else { panic!("no fold") };
    assert_eq!(fold.kind, FoldKind::Sum);
    assert_eq!(fold.outer.as_deref(), Some(&benchwright_expr::Expr::Literal(Value::Money(0), Type::Money)));
    assert_eq!(fold.binders[0].name, None);
    let benchwright_expr::Expr::Fold(fold) = check_truth("all case() true", &HelpDesk, Scope::default()).unwrap()
    else {
        panic!("no fold")
    };
    assert_eq!(fold.binders[0].name.as_deref(), Some("it"));
}
