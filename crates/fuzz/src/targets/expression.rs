//! An expression: in a rule, in a filter of a tool, in what a plan asks.

use crate::{
    Met, Target,
    ground::{SHOP_WORLD, begin},
};
use benchwright_base::RelationId;
use benchwright_expr::{Scope, check_rule, check_source, check_truth, check_value, english};

pub(crate) const TARGET: Target = Target { name: "expression", seeds, regressions: &[], rounds: 6_000, meet };

fn seeds() -> Vec<Vec<u8>> {
    [
        "customer.active = true",
        "status = new or exists order_line(order = id)",
        "(sum order_line(order = id) of price) <= 50.00 and (count order_line(order = id)) < 4",
        "for line in order_line(order = id): line.amount >= 1 and line.price > 0.10",
        "placed_on + 3 days >= now or remark contains 'é'",
        "not (taken_by = actor) and changed(status) implies old.status != sent",
        "per p in person(active = true): (count order(customer = p, status = paid)) <= 2",
        "max order(status = paid) of total else 0",
        "exists order(status in {new, paid}, total >= 1.00)",
        "customer.name starts_with 'A' and wait = null",
        "min product(grade = low) of price",
        "all line in order_line(order = id) line.price * 2 < 100.00",
        "created or deleted",
        "count distinct order() of customer",
        "no_overlap o in order() of o.placed_on, o.changed_on",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn meet(bytes: &[u8]) -> Met {
    let Ok(text) = std::str::from_utf8(bytes) else { return Met::Refused };
    let domain = &**SHOP_WORLD.domain();
    let order = domain.table_named("order").unwrap_or(RelationId(0));
    let mut met = Met::Refused;
    let mut taken = |english: String| {
        assert!(!english.is_empty(), "what is taken can be said");
        met = Met::Taken;
    };
    let scopes = [Scope::default(), Scope::on(order)];
    for scope in scopes {
        match check_truth(text, domain, scope) {
            Ok(expr) => {
                taken(english(&expr, domain));
                // Folds within folds take the rows times each other; what takes long is no fault.
                if text.len() < 200 {
                    let episode = begin(&SHOP_WORLD);
                    let holds = || match scope.subject {
                        Some(table) => episode.holds_of(table, 1, &expr),
                        None => episode.holds(&expr),
                    };
                    assert_eq!(holds(), holds(), "the same state gives the same answer");
                }
            }
            Err(faults) => {
                assert!(!faults.is_empty(), "who refuses says why");
                for fault in faults {
                    assert!(fault.offset <= text.len(), "a fault has a place in the text: {fault:?}");
                }
            }
        }
        if let Ok((expr, _)) = check_value(text, domain, scope, None) {
            taken(english(&expr, domain));
        }
        if let Err(faults) = check_source(text, domain, scope) {
            assert!(!faults.is_empty(), "who refuses says why");
        }
        if let Ok((_, body)) = check_rule(text, domain, scope) {
            taken(english(&body, domain));
        }
    }
    met
}
