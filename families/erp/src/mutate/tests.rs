//! Every near-miss breaks its own rule, and besides it none but the declared twins.

use super::super::PLAN;
use super::super::micro::{self, build, buy, plan, sells};
use super::super::micro_world::MicroWorld;
use super::*;
use benchwright_pack::{CheckStatus, Ending};
use std::collections::BTreeMap;

/// What became of every instance of the rules that have mutators, by rule.
fn fates(shop: &Shop, optimum: &NamedRows) -> BTreeMap<String, Vec<String>> {
    let world = MicroWorld::new(shop, &[0]);
    let oracle = world.judge(&world.carry_out(optimum));
    assert_eq!(oracle.failed(), Vec::<&str>::new(), "{:?}", oracle.checks);
    let mut fates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for check in oracle.checks.iter().filter(|check| check.status != CheckStatus::Na) {
        let mutation = mutate(shop, optimum, &check.rule, &check.at).unwrap();
        let rule = &PLAN.rules[&check.rule];
        let Some(Mutation::Script(script)) = mutation else {
            assert!(!rule.state_only && !rule.frame && rule.native.is_none(), "{} has no mutator", check.rule);
            continue;
        };
        let verdict = world.judge(&world.play(&script));
        let failed = verdict.failed();
        let others: Vec<&str> = failed
            .iter()
            .copied()
            .filter(|id| *id != check.rule && !rule.twins.iter().any(|twin| twin == id))
            .collect();
        let fate = match (verdict.ending, failed.contains(&&*check.rule), others.is_empty()) {
            (Ending::Fail, true, true) => "alone".to_owned(),
            (Ending::Fail, true, false) => format!("among {others:?}"),
            (ending, _, _) => format!("survived: {ending:?}, failed {failed:?}"),
        };
        fates.entry(check.rule.clone()).or_default().push(fate);
    }
    fates
}

fn all_alone(shop: &Shop, optimum: &NamedRows, at_least: &[&str]) {
    let fates = fates(shop, optimum);
    let wrong: Vec<_> = fates.iter().filter(|(_, fates)| fates.iter().any(|fate| fate != "alone")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for rule in at_least {
        assert!(fates.contains_key(&format!("erp/{rule}")), "{rule} was not tried");
    }
}

#[test]
fn plain_orders() {
    let shop = micro::micro();
    let rules = [
        "list-price",
        "order-value",
        "orders-confirmed",
        "one-order-each",
        "purchases-confirmed",
        "builds-confirmed",
        "recipe",
        "approved-centre",
        "purchase-origin",
        "build-origin",
        "nothing-booked",
        "adjacent-records",
        "master-data",
    ];
    all_alone(&shop, &micro::optimum(&shop), &rules);
}

#[test]
fn screened_orders_with_deposits() {
    let shop = micro::screened();
    let optimum = plan(
        sells(&shop),
        vec![buy("V-202", "FG-100", 8, 6, 23_000), buy("V-204", "CP-200", 12, 5, 4_700)],
        vec![build("W1", 3, 0), build("W2", 5, 5)],
    );
    let rules = [
        "customer-limit",
        "draft-confirmed",
        "draft-cancelled",
        "listed-request-entered",
        "declined-not-entered",
        "invoice-flow",
        "order-terms",
        "invoice-terms",
        "invoice-customer",
        "final-invoice",
        "deposit-invoice",
        "declined-not-billed",
        "tax-free",
    ];
    all_alone(&shop, &optimum, &rules);
}

#[test]
fn orders_with_several_lines_of_regulars() {
    let rules = ["draft-cancelled", "declined-not-entered", "declined-not-billed", "final-invoice", "customer-limit"];
    all_alone(&micro::several(), &micro::several_plan(), &rules);
}

#[test]
fn billed_orders_without_screening() {
    let mut shop = micro::micro();
    shop.billing = Some(super::super::shop::Billing { days: 0, deposit: None });
    all_alone(&shop, &micro::optimum(&shop), &["orders-confirmed", "invoice-flow", "invoice-terms"]);
}

#[test]
fn a_plan_that_stood() {
    let shop = micro::repaired();
    let repaired = plan(
        sells(&shop),
        vec![buy("V-201", "FG-100", 8, 3, 24_500), buy("V-204", "CP-200", 12, 5, 4_700)],
        vec![build("W1", 3, 0), build("W1", 5, 5)],
    );
    all_alone(&shop, &repaired, &["standing-orders", "broken-documents", "purchase-origin", "build-origin"]);
}
