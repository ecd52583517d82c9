//! Rules as people read them.

use crate::fixture::{HelpDesk, truth};
use benchwright_expr::english;

/// Rules on cases, and what they say.
const GOLDEN: &[(&str, &str)] = &[
    ("state = open", "the state is open"),
    (
        "assignee = null or exists member(team = team, user = assignee)",
        "the assignee is empty, or there is a member whose team is the team and whose user is the assignee",
    ),
    (
        "assignee = null or (assignee.active = true and assignee.role in {agent, admin})",
        "the assignee is empty, or both the assignee's active is true and the assignee's role is one of agent or admin",
    ),
    (
        "state not in {closed, pending} or title != null",
        "the state is none of closed or pending, or the title is not empty",
    ),
    (
        "count article(case = id, state = published) <= 3",
        "the number of articles whose case is this case and whose state is published is at most 3",
    ),
    (
        "due >= today + 30 days and cost < 12.50",
        "the due is at least today plus 30 days and the cost is less than 12.50",
    ),
    ("not deleted or old.state = closed", "the row is not deleted or the previous state is closed"),
    (
        "not changed(cost) or none article(case = id, author = actor)",
        "the cost is unchanged, or there is no article whose case is this case and whose author is the person acting",
    ),
    (
        "all article(case = id) exists user(id = it.author, active = true)",
        "for every article whose case is this case, there is a user that is that article's author and whose active is true",
    ),
    (
        "sum case(assignee = assignee) of cost <= 100",
        "the sum of its cost over every case whose assignee is the assignee is at most 100.00",
    ),
    (
        "max case(team = team) of visits else 0 < 5",
        "the greatest of its visits over every case whose team is the team (or 0 if there is none) is less than 5",
    ),
    (
        "for t in team(), n in 1..2 where t.parent != null: target(t, low) > n",
        "for every team (called t) and every number from 1 to 2 (called n) such that t's parent is not empty, the target of t and low is more than n",
    ),
    (
        "escalated implies (priority = high or priority = critical)",
        "if the escalated is true, then either the priority is high or the priority is critical",
    ),
    (
        "team.parent = null or not (team in ancestors(team.parent))",
        "the team's parent is empty or the team is neither the team's parent nor above it",
    ),
    (
        "article(case = id).title contains 'how' and length(title) <= 255",
        "the title of the article whose case is this case contains 'how' and the number of characters of the title is at most 255",
    ),
    (
        "no_overlap case(team = team) of starts, ends",
        "no two of the intervals from its starts to its ends, one for every case whose team is the team, overlap",
    ),
    (
        "cumulative case(team = team) of starts, ends, visits, 3",
        "at no time does its visits, counted from its starts to its ends for every case whose team is the team, add up to more than 3",
    ),
    (
        "exists c in case() where c.starts < c.ends and c.weight > 1.5",
        "there is a case (called c) such that both c's starts is less than c's ends and c's weight is more than 1.5",
    ),
    (
        "exists shift(user = assignee, weekday = weekday(opened), opens <= time_of(opened))",
        "there is a shift whose user is the assignee, whose weekday is the weekday of the opened and whose opens is at most the time of day of the opened",
    ),
];

#[test]
fn rules_read_as_english() {
    for (text, expected) in GOLDEN {
        assert_eq!(english(&truth(text), &HelpDesk), *expected, "{text}");
    }
}

#[test]
fn every_literal_is_mentioned() {
    let text = "visits in {11, 12} and cost > 13.5 and weight < 14.25 and title != 'fifteen' and state != pending \
                and due > '2016-01-01' and opened > '2017-01-01T18:00:00Z' and time_of(opened) < '19:20' \
                and due < today + 21 days and exists case(visits not in {22, 23}, title starts_with 'v24') \
                and (min case() of visits else 25) > -26 and for n in 27..28: n * 29 < abs(30) and spent > 31 hours";
    let said = english(&truth(text), &HelpDesk);
    let literals = [
        "11",
        "12",
        "13.50",
        "14.25",
        "fifteen",
        "pending",
        "2016-01-01",
        "2017-01-01T18:00:00Z",
        "19:20",
        "21 days",
        "22",
        "23",
        "v24",
        "25",
        "-26",
        "27",
        "28",
        "29",
        "30",
        "31 hours",
    ];
    for literal in literals {
        assert!(said.contains(literal), "{literal} in {said}");
    }
}
