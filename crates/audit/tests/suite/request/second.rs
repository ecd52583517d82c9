//! The second reader, in SQL, against the first: where the two could part is where null, days and words are.

use super::desk::Desk;
use benchwright_expr::{Scope, check_value, eval::Judge};
use benchwright_query::Tables;
use benchwright_sandbox::Conditions;
use benchwright_world::Seat;

/// What is asked of both, on a world of csm.
const ASKED: &[&str] = &[
    "today + 1 months",
    "min(today, '2026-01-31') + 1 months",
    "min(today, '2024-01-31') + 1 months",
    "max(today, '2027-03-31') - 1 months",
    "max(today, '2026-12-31') + 2 months",
    "min(today, '2026-02-28') + 12 months",
    "now - 36 hours",
    "now + 13 months",
    "today - '2026-02-01'",
    "date_of(now) - 3 days",
    "time_of(now)",
    "month_of(today)",
    "year_of(now)",
    "weekday(min(today, '2025-03-02'))",
    "weekday(min(today, '2025-03-03'))",
    "abs(3 - 5)",
    "min(4, 2, 9)",
    "length('Zoë')",
    "count customer_case()",
    "count customer_case(contact = null)",
    "count customer_case(contact.email = null)",
    "count customer_case(assigned_to.role = agent)",
    "count customer_case(state not in {closed, canceled})",
    "count distinct c in customer_case() of c.assigned_to",
    "min c in customer_case(state = new) of c.opened_on",
    "max u in user() of length(u.name)",
    "count user(name contains 'AN')",
    "count user(email ends_with '.example')",
    "count c in customer_case() where not (c.assigned_to = c.contact.portal_user)",
    "count a in account() where none customer_case(account = a)",
    "count a in account() where all customer_case(account = a) it.state in {closed, resolved}",
    "exists c in customer_case() where c.opened_on > now",
];

#[test]
fn the_second_reader_comes_to_the_same_values() {
    let desk = Desk::open();
    let world = desk.catalog.base("csm", benchwright_derive::SIZE, 1).unwrap();
    let episode = world.begin(&Seat { role: "admin".to_owned(), actor: None }, Conditions::default()).unwrap();
    let first = world.first_snapshot();
    let tables = Tables::of(world.domain(), &first, None, None).unwrap();
    let live = episode.live();
    let mut wrong = Vec::new();
    for text in ASKED {
        let (expr, ty) = match check_value(text, &**world.domain(), Scope::default(), None) {
            Ok(read) => read,
            Err(faults) => {
                wrong.push(format!("{text}: {faults:?}"));
                continue;
            }
        };
        let value = Judge::new(&live, episode.now()).value(&expr);
        match tables.comes_to(&expr, ty, &value, &[]) {
            Ok(true) => {}
            other => wrong.push(format!("{text} comes to {value:?}, and in SQL: {other:?}")),
        }
        let other = tables.comes_to(&expr, ty, &benchwright_base::Value::Null, &[]).unwrap();
        assert_eq!(other, value.is_null(), "{text}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
