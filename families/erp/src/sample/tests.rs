//! What is drawn keeps to its laws and ranges, and each parameter to its own stream.

use super::recipe::{Dice, Ranges, Recipe};
use super::*;
use benchwright_catalog::Catalog;
use benchwright_project::Pattern;
use std::collections::BTreeMap;

fn patterns() -> Vec<Pattern> {
    let catalog = Catalog::built_in();
    let names = catalog.pattern_names().unwrap();
    let all = names.iter().map(|name| catalog.pattern(name).unwrap());
    all.filter(|pattern| pattern.family == "erp").collect()
}

fn drawn(draw: &Draw<'_>, replaced: Option<&str>) -> Result<Shop, Discard> {
    undisturbed(&Dice { draw, replaced })
}

fn holds((low, high): (i64, i64), number: i64, what: &str) {
    assert!((low..=high).contains(&number), "{what}: {number} is not in {low}..={high}");
}

/// A case against the ranges it was drawn from.
fn keeps_to(shop: &Shop, recipe: &Recipe, ranges: &Ranges) {
    let (line, _) = goods::line(&recipe.line).unwrap();
    holds(ranges.orders, shop.orders.len() as i64, "orders");
    for order in &shop.orders {
        holds(ranges.due, order.due, "due");
        holds(ranges.units, order.units(), "units");
        let limited = recipe.screen.contains(&super::recipe::Test::Limit) || ranges.on(Switch::Exact);
        assert!(limited || order.limit.is_none(), "{} names a limit for nothing", order.reference);
        let Some(limit) = order.limit else { continue };
        let value = shop.value(order);
        let low = limit < value || (!ranges.on(Switch::Exact) && limit * 100 < value * 102);
        assert!(if low { !shop.accepts(order) } else { limit <= value * 112 / 100 + 100 }, "{}", order.reference);
    }
    for known in shop.finished_goods().take(1) {
        holds((line.price.0 * 100, line.price.1 * 100), known.list, "list");
    }
    holds(ranges.margin, shop.margin.unwrap(), "margin");
    let offers = |code: &str| shop.offers.iter().filter(|offer| offer.product == code).count();
    for known in shop.finished_goods() {
        let demand = shop.demand(&known.code);
        holds((share(demand, ranges.stock.0), share(demand, ranges.stock.1)), known.stock, "stock");
        if recipe.route == Route::Market {
            assert_eq!(offers(&known.code), 0);
        } else {
            holds(ranges.finished_vendors, offers(&known.code) as i64, "suppliers of finished goods");
        }
    }
    switches_are_seen(shop, ranges);
    let parts: Vec<&Product> = shop.products.iter().filter(|product| product.role == Role::Part).collect();
    if recipe.structure == Structure::Single {
        holds(ranges.parts, parts.len() as i64, "parts");
    }
    for part in parts {
        holds(ranges.part_vendors, offers(&part.code) as i64, "suppliers of a part");
        holds((2, 45), part.stock, "stock of a part");
    }
    assert!(ranges.breaks || shop.offers.iter().all(|offer| offer.tiers.len() == 1));
    assert!(shop.offers.iter().all(|offer| offer.tiers.len() <= 3));
    assert!(shop.options.iter().all(|option| (30..=200).contains(&option.minutes)));
    let around = &shop.adjacent;
    let built = around.products.iter().filter(|product| !product.bom.is_empty()).count();
    let block = (around.customers.len(), around.vendors.len(), around.products.len(), built);
    assert_eq!(block, if recipe.lean { (0, 0, 0, 0) } else { (50, 50, 50, 10) });
    let day = Date::parse(&shop.anchor).unwrap();
    assert!(day.weekday() == 0 || (ranges.on(Switch::Calendar) && day.weekday() < 5));
    assert!(("2032-01-05"..="2032-12-31").contains(&&*shop.anchor));
    assert_eq!(shop.screen.is_some(), !recipe.screen.is_empty());
    assert_eq!(shop.billing.is_some(), recipe.billing.is_some());
}

/// What a pattern turns on is in its cases, and what it does not is not.
fn switches_are_seen(shop: &Shop, ranges: &Ranges) {
    let on = shop.switches();
    for (switch, name) in [
        (Switch::Lines, "lines"),
        (Switch::Regulars, "regulars"),
        (Switch::Calendar, "calendar"),
        (Switch::Daily, "daily"),
        (Switch::Exact, "exact"),
    ] {
        assert_eq!(on.iter().any(|known| known == name), ranges.on(switch), "{name}");
    }
    // Whether somebody sells two items is left to chance.
    assert!(ranges.on(Switch::Basket) || on.iter().all(|known| known != "basket"));
}

/// How often a case is drawn again here; the compiler tries more often.
const ATTEMPTS: u32 = 10;

#[test]
fn cases_keep_their_laws_and_the_ranges_of_their_tier() {
    let mut table = Vec::new();
    for pattern in patterns() {
        for (place, cell) in pattern.head.cells.iter().enumerate() {
            for (nth, objective) in cell.objectives.iter().enumerate() {
                let seeds = if (place, nth) == (0, 0) { 20 } else { 3 };
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                for seed in 0..seeds {
                    for attempt in 0..ATTEMPTS {
                        let draw = Draw { pattern: &pattern, tier: &cell.tier, objective, seed, attempt };
                        match drawn(&draw, None) {
                            Ok(shop) => {
                                assert_eq!(laws::broken(&shop), None, "{} {} {seed}", pattern.name, cell.tier);
                                let recipe = Recipe::of(&draw).unwrap();
                                keeps_to(&shop, &recipe, &recipe.ranges(&cell.tier, objective).unwrap());
                                *counts.entry("drawn".to_owned()).or_default() += 1;
                                break;
                            }
                            Err(Discard::Because(code)) => *counts.entry(code).or_default() += 1,
                            Err(other) => panic!("{} {}: {other}", pattern.name, cell.tier),
                        }
                    }
                }
                assert!(counts.get("drawn") > Some(&0), "{} {} {objective}: {counts:?}", pattern.name, cell.tier);
                table.push(format!("{} {} {objective}: {counts:?}", pattern.name, cell.tier));
            }
        }
    }
    println!("{}", table.join("\n"));
}

/// Takes away what one parameter decides.
type Clear = fn(&mut Shop);

#[test]
fn the_same_draw_gives_the_same_case_and_no_stream_moves_another() {
    let pattern = Catalog::built_in().pattern("production/screened-backlog-with-vendor-consolidation").unwrap();
    let mut moved = BTreeMap::new();
    for seed in 0..5 {
        let draw = Draw { pattern: &pattern, tier: "medium", objective: "vendor_consolidation", seed, attempt: 0 };
        let first = drawn(&draw, None).unwrap();
        assert_eq!(first, drawn(&draw, None).unwrap());
        // Each parameter, and how to take away what it alone decides.
        let parameters: [(&str, Clear); 6] = [
            ("adjacent", |shop| shop.adjacent = Adjacent::default()),
            ("anchor", |shop| shop.anchor.clear()),
            ("limits", |shop| {
                let accepted: Vec<bool> = shop.orders.iter().map(|order| shop.accepts(order)).collect();
                shop.orders.iter_mut().zip(accepted).for_each(|(order, taken)| order.limit = taken.then_some(0));
            }),
            ("references", |shop| shop.orders.iter_mut().for_each(|order| order.reference.clear())),
            ("sources", |shop| {
                shop.orders.iter_mut().for_each(|order| order.source = super::super::shop::Source::Brief);
            }),
            ("cards", |shop| shop.products.iter_mut().for_each(|card| (card.list, card.cost) = (0, 0))),
        ];
        for (parameter, clear) in parameters {
            let mut other = drawn(&draw, Some(parameter)).unwrap();
            // One of a few values may be drawn again by chance, but not every time.
            *moved.entry(parameter).or_insert(0) += usize::from(first != other);
            let mut first = first.clone();
            clear(&mut first);
            clear(&mut other);
            assert_eq!(first, other, "seed {seed}: {parameter}");
        }
    }
    assert!(moved.values().all(|times| *times >= 3), "{moved:?}");
}

/// Everything that a recipe may say is explained to those who write one.
#[test]
fn every_word_of_a_recipe_is_explained() {
    let page = include_str!("../../../../patterns/RECIPE.md");
    let source = include_str!("recipe.rs");
    let told = &source[..source.find("/// A class of offers.").unwrap()];
    let mut words = Vec::new();
    let mut in_enum = false;
    for line in told.lines() {
        in_enum = line.starts_with("pub(crate) enum") || (in_enum && line != "}");
        if let Some((field, _)) = line.strip_prefix("    pub(crate) ").and_then(|field| field.split_once(": ")) {
            words.push(field.to_owned());
        } else if let Some(variant) =
            line.strip_prefix("    ").and_then(|line| line.strip_suffix(',')).filter(|_| in_enum)
        {
            let mut word = String::new();
            for letter in variant.chars() {
                if letter.is_uppercase() && !word.is_empty() {
                    word.push('-');
                }
                word.extend(letter.to_lowercase());
            }
            words.push(word);
        }
    }
    assert!(words.len() > 60, "{words:?}");
    assert!(
        ["lots", "pools", "tightness", "two-stage", "never-bought"].iter().all(|word| words.iter().any(|w| w == word))
    );
    let missing: Vec<&String> = words.iter().filter(|word| !page.contains(&format!("`{word}`"))).collect();
    assert!(missing.is_empty(), "patterns/RECIPE.md does not explain {missing:?}");
}

/// A pattern says only what differs, so the tiers of the family have every range.
#[test]
fn no_tier_of_the_family_lacks_a_range() {
    let tiers: toml::Table = include_str!("../../tiers.toml").parse().unwrap();
    let keys = |tier: &str| tiers[tier].as_table().unwrap().keys().cloned().collect::<Vec<_>>();
    let source = include_str!("recipe.rs");
    let ranges =
        &source[source.find("pub(crate) struct Ranges").unwrap()..source.find("/// A class of offers.").unwrap()];
    let fields = ranges.lines().filter_map(|line| line.strip_prefix("    pub(crate) ")?.split_once(": "));
    let mut needed: Vec<String> =
        fields.filter(|(_, ty)| !ty.starts_with("Option")).map(|(field, _)| field.to_owned()).collect();
    needed.sort();
    assert!(needed.len() > 15, "{needed:?}");
    for tier in ["easy", "medium", "hard"] {
        assert_eq!(keys(tier), needed, "{tier}");
    }
}
