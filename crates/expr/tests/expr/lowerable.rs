//! Which expressions a solver can read.

use crate::fixture::truth;
use benchwright_expr::{Obstacle, lowerable};

#[test]
fn sums_counts_and_facts_can_be_lowered() {
    for text in [
        "for t in team(), n in 1..5: sum case(team = t, visits <= n) of minutes * 2 <= target(t, low)",
        "min case() of cost else 0 >= 1.50",
        "cumulative case() of starts, ends, visits, 3 and no_overlap case() of starts, ends",
        "count distinct case(state not in {open}) of team <= abs(visits) + max(visits, 2)",
        "not (state in {open, new}) implies all case() it.visits >= 1",
        "title = 'x' or escalated",
    ] {
        assert_eq!(lowerable(&truth(text)), Ok(()), "{text}");
    }
}

#[test]
fn the_obstacle_is_named() {
    for (text, obstacle) in [
        ("due = null", "`null`"),
        ("exists case(due = null)", "`null`"),
        ("exists case(due != null)", "`null`"),
        ("old.state = open", "`old`"),
        ("changed(state)", "`changed`"),
        ("not created", "`created`"),
        ("not deleted", "`deleted`"),
        ("opened < now", "`now`"),
        ("due < today", "`today`"),
        ("assignee = actor", "`actor`"),
        ("exists case(assignee = actor)", "`actor`"),
        ("title contains 'x'", "a test on text"),
        ("exists case(title contains 'x')", "a test on text"),
        ("team in ancestors(team.parent)", "`ancestors`"),
        ("length(title) < 3", "`length`"),
        ("weekday(due) < 3", "`weekday`"),
        ("date_of(opened) = due", "`date_of`"),
        ("time_of(opened) = '09:00'", "`time_of`"),
        ("month_of(due) = due", "`month_of`"),
        ("year_of(due) = 3", "`year_of`"),
        ("article(case = id).title = 'x'", "the lookup of a single row"),
        ("min case() of cost > 0", "`min` of rows without `else`"),
        ("max case() of cost > 0", "`max` of rows without `else`"),
        ("state not in {open}", "`not in`, which tests for null: write `not (… in {…})`"),
        ("true implies exists c in case() where c.due = null", "`null`"),
    ] {
        assert_eq!(lowerable(&truth(text)), Err(Obstacle(obstacle)), "{text}");
    }
}
