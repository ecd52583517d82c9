//! The brief is complete, its numbers are those of the case, and its phrasings say the same.

use super::super::micro;
use super::super::shop::Source;
use super::*;
use benchwright_catalog::Catalog;
use benchwright_project::{Pattern, PatternCell, PatternHead, PatternText};
use benchwright_sandbox::Sandbox;
use benchwright_spec::NoPlanner;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn pattern(objective: &str) -> Pattern {
    let texts = |text: &str| vec![text.to_owned()];
    Pattern {
        name: "production/test".into(),
        family: "erp".into(),
        domain: "erp".to_owned(),
        head: PatternHead {
            domain: None,
            family: "erp".into(),
            part: None,
            dials: Vec::new(),
            axes: Vec::new(),
            objectives: Vec::new(),
            cells: vec![PatternCell { tier: "easy".into(), objectives: vec![objective.into()] }],
            recipe: serde_json::Value::Null,
        },
        text: PatternText {
            title: "Test".into(),
            opening: texts("Please plan the {item} ({code}). Today is {today}."),
            goal: BTreeMap::from([(objective.to_owned(), texts("We want the best plan."))]),
            closing: texts("Thank you."),
        },
        rules: PlanText::default(),
    }
}

fn brief_of(shop: &Shop, seed: u64) -> Brief {
    let pattern = pattern(&shop.objective);
    let draw = Draw { pattern: &pattern, tier: "easy", objective: &shop.objective, seed, attempt: 0 };
    let plan = super::super::PLAN.for_switches(&shop.switches());
    write(&draw, shop, &plan).unwrap()
}

fn shops() -> [Shop; 4] {
    [micro::micro(), micro::screened(), micro::several(), micro::repaired()]
}

#[test]
fn every_rule_that_applies_is_told_by_one_clause_that_stands_in_the_text() {
    for shop in shops() {
        for seed in 0..20 {
            let brief = brief_of(&shop, seed);
            let plan = super::super::PLAN.for_switches(&shop.switches());
            let told: Vec<&String> = brief.clauses.iter().flat_map(|clause| &clause.tells).collect();
            let once: BTreeSet<&String> = told.iter().copied().collect();
            assert_eq!(told.len(), once.len());
            assert_eq!(once, plan.rules.keys().collect());
            for clause in &brief.clauses {
                assert_eq!(brief.text.matches(&*clause.text).count(), 1, "{}", clause.text);
            }
            assert!(!brief.text.contains(['{', '}']), "{}", brief.text);
        }
    }
}

/// The numbers of a text, dates and money in one piece, codes and references left out.
fn numbers(text: &str) -> Vec<String> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '$' | '-' | '.' | ',' | '_');
    let words = text.split(|c: char| !word(c)).map(|word| word.trim_matches(['.', ',', '-']));
    let plain = |word: &&str| word.chars().all(|c| c.is_ascii_digit() || matches!(c, '$' | '-' | '.' | ','));
    words.filter(plain).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Every number that the brief of a case states.
fn bound(shop: &Shop) -> BTreeSet<String> {
    let day = |day| super::super::notes::date_of(shop, day).unwrap().to_string();
    let mut bound = BTreeSet::from([shop.anchor.clone()]);
    for order in shop.orders.iter().filter(|order| order.source == Source::Brief) {
        bound.extend(order.lines.iter().map(|line| line.units.to_string()).chain([day(order.due)]));
    }
    bound.extend(shop.orders.iter().filter_map(|order| order.limit).map(values::money));
    bound.extend(shop.margin.map(|margin| {
        let share = format!("{}.{:02}", (10_000 - margin) / 100, margin % 100);
        share.trim_end_matches('0').trim_end_matches('.').to_owned()
    }));
    bound.extend(shop.budget.map(values::money));
    if let Some(screen) = &shop.screen {
        bound.extend(screen.window.into_iter().flat_map(|(low, high)| [low.to_string(), high.to_string()]));
        bound.extend(screen.lead.into_iter().flat_map(|lead| [lead.to_string(), day(lead)]));
    }
    if let Some(billing) = &shop.billing {
        bound.extend((billing.days > 0).then(|| billing.days.to_string()));
        if let Some(deposit) = &billing.deposit {
            bound.insert(values::money(deposit.from));
            bound.extend(deposit.fixed.map(values::money).or(deposit.percent.map(|percent| percent.to_string())));
        }
    }
    bound.extend(shop.centres.iter().filter_map(|centre| centre.down).flat_map(|(from, to)| [day(from), day(to)]));
    bound
}

#[test]
fn every_number_in_the_text_is_a_value_of_the_case() {
    for shop in shops() {
        for seed in 0..20 {
            let found: BTreeSet<String> = numbers(&brief_of(&shop, seed).text).into_iter().collect();
            assert_eq!(found, bound(&shop));
        }
    }
}

#[test]
fn every_pattern_has_a_brief_and_a_world() {
    let catalog = Catalog::built_in();
    let found = catalog.find("erp").unwrap();
    let mut seen = 0;
    for name in catalog.pattern_names().unwrap() {
        let pattern = catalog.pattern(&name).unwrap();
        if pattern.family != "erp" {
            continue;
        }
        for cell in &pattern.head.cells {
            for objective in &cell.objectives {
                let draws =
                    (0..2).map(|seed| Draw { pattern: &pattern, tier: &cell.tier, objective, seed, attempt: 0 });
                for draw in draws {
                    // A disturbed case needs the plan of an undisturbed day.
                    let drawn = super::super::sample::draw(&super::super::FAMILY, &draw, &found.domain, &mut NoPlanner);
                    let Ok(shop) = drawn else { continue };
                    let plan = super::super::PLAN.for_switches(&shop.switches());
                    let brief = write(&draw, &shop, &plan).unwrap();
                    let numbers: BTreeSet<String> = numbers(&brief.text).into_iter().collect();
                    assert_eq!(numbers, bound(&shop), "{name}");
                    let first = super::super::records::first_state(&shop, &found.domain).unwrap();
                    Sandbox::from_snapshot(Arc::clone(&found.domain), found.natives, &first.snapshot).unwrap();
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 60, "{seen}");
}

#[test]
fn money_has_one_form() {
    let shown: Vec<String> = [0, 5, 100, 99_999, 100_000, 123_456_789].into_iter().map(values::money).collect();
    assert_eq!(shown, ["$0.00", "$0.05", "$1.00", "$999.99", "$1,000.00", "$1,234,567.89"]);
}

/// What every phrasing of a rule's sentence has in common.
const KEYS: &[(&str, &str)] = &[
    ("erp/order-quantity", "exactly the number of units asked"),
    ("erp/one-promise", "delivered as a whole"),
    ("erp/promised-day", "needed-by date or earlier"),
    ("erp/list-price", "at list price"),
    ("erp/customer-limit", "may not exceed it"),
    ("erp/cover", "can be used {usable}"),
    ("erp/listed-supplier", "suppliers that list it"),
    ("erp/min-order-quantity", "smallest order"),
    ("erp/max-finished", "For {a_finished},"),
    ("erp/max-parts", "For parts,"),
    ("erp/tier-price", "listed price for the quantity you take"),
    ("erp/supplier-lead", "delivery days"),
    ("erp/receipt-open", "received on a closed day"),
    ("erp/one-line-per-offer", "at most one order line"),
    ("erp/eligible-supplier", "may not be used again"),
    ("erp/never-bought", "never bought"),
    ("erp/margin", "may not exceed {share} percent of"),
    ("erp/budget", "budget for this plan"),
    ("erp/purchases-confirmed", "open request for quotation"),
    ("erp/build-span", "manufacturing days"),
    ("erp/build-open", "closed day"),
    ("erp/parts-on-hand", "all its parts are there"),
    ("erp/recipe", "recipe on file"),
    ("erp/approved-centre", "approved for the item"),
    ("erp/centre-minutes", "one total for the whole plan"),
    ("erp/day-minutes", "start on one day"),
    ("erp/centre-down", "no build may start"),
    ("erp/never-made", "do not build {this_item}"),
    ("erp/builds-confirmed", "every build you rely on"),
    ("erp/invoice-flow", "bill each order once"),
    ("erp/order-terms", "payment terms are {terms}"),
    ("erp/invoice-customer", "the customer who ordered"),
    ("erp/final-invoice", "the order's full value{final_less}"),
    ("erp/deposit-invoice", "the deposit is {deposit}"),
    ("erp/declined-not-billed", "Nothing is billed"),
    ("erp/purchase-origin", "source field of each purchase"),
    ("erp/build-origin", "source field of each build"),
    ("erp/orders-confirmed", "must be confirmed in the end"),
    ("erp/tax-free", "free of tax"),
    ("erp/adjacent-records", "do not belong to this job"),
    ("erp/master-data", "supplier lists"),
    ("erp/draft-confirmed", "on that very record"),
    ("erp/draft-cancelled", "drafts that fail the intake rules"),
    ("erp/listed-request-entered", "entered once and confirmed"),
    ("erp/declined-not-entered", "not entered at all"),
    ("erp/standing-orders", "confirmed in the system and stand"),
    ("erp/broken-documents", "can no longer happen"),
    ("erp/one-order-each", "No duplicates"),
    ("erp/nothing-booked", "do not book"),
];

#[test]
fn phrasings_of_a_rule_share_a_key_phrase_and_all_placeholders() {
    let plan = &*super::super::PLAN;
    let said = plan.rules.iter().filter(|(_, rule)| !rule.says.is_empty());
    assert_eq!(said.map(|(id, _)| &**id).collect::<BTreeSet<_>>(), KEYS.iter().map(|(id, _)| *id).collect());
    let placeholders = |text: &str| -> BTreeSet<String> {
        text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name.to_owned()).collect()
    };
    for (id, key) in KEYS {
        let says = &plan.rules[*id].says;
        assert_eq!(says.len(), 3, "{id}");
        for text in says {
            assert!(text.to_lowercase().contains(&key.to_lowercase()), "{id}: {text}");
            assert_eq!(placeholders(text), placeholders(&says[0]), "{id}");
            assert!(!text.contains(|c: char| c.is_ascii_digit()), "{id}: {text}");
            assert!(text.ends_with(['.', '}']), "{id}: {text}");
        }
    }
}

#[test]
fn another_seed_gives_other_words_and_the_same_one_the_same() {
    let shop = micro::micro();
    assert_eq!(brief_of(&shop, 3), brief_of(&shop, 3));
    assert_ne!(brief_of(&shop, 3).text, brief_of(&shop, 4).text);
}

#[test]
fn the_heading_does_not_name_the_pattern() {
    for (shop, seed) in shops().iter().zip(0..) {
        let brief = brief_of(shop, seed);
        let heading = brief.text.lines().next().unwrap();
        assert!(heading.starts_with("# ") && heading.contains(&shop.finished().name), "{heading}");
        assert!(!heading.contains(&pattern(&shop.objective).text.title), "{heading}");
    }
}
