//! What is drawn keeps to its laws and ranges, and each parameter to its own stream.

use super::recipe::Dice;
use super::*;
use crate::Catalog;
use benchwright_project::Pattern;
use std::collections::BTreeMap;

fn patterns() -> Vec<Pattern> {
    let catalog = Catalog::built_in();
    let names = catalog.pattern_names().unwrap();
    let all = names.iter().map(|name| catalog.pattern(name).unwrap());
    all.filter(|pattern| pattern.family == "erp").collect()
}

fn drawn(pattern: &Pattern, tier: &str, objective: &str, seed: u64, attempt: u32) -> Result<Shop, Discard> {
    let draw = Draw { pattern, tier, objective, seed, attempt };
    undisturbed(&Dice { draw: &draw, replaced: None })
}

#[test]
fn cases_keep_their_laws_and_the_ranges_of_their_tier() {
    let mut table = Vec::new();
    for pattern in patterns() {
        for (place, cell) in pattern.head.cells.iter().enumerate() {
            for (nth, objective) in cell.objectives.iter().enumerate() {
                let seeds = if (place, nth) == (0, 0) { 20 } else { 3 };
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                for seed in 0..seeds {
                    match drawn(&pattern, &cell.tier, objective, seed, 0) {
                        Ok(shop) => {
                            assert_eq!(laws::broken(&shop), None, "{} {} {seed}", pattern.name, cell.tier);
                            *counts.entry("drawn".to_owned()).or_default() += 1;
                        }
                        Err(Discard::Because(code)) => *counts.entry(code).or_default() += 1,
                        Err(other) => panic!("{} {}: {other}", pattern.name, cell.tier),
                    }
                }
                table.push(format!("{} {} {objective}: {counts:?}", pattern.name, cell.tier));
            }
        }
    }
    println!("{}", table.join("\n"));
}

#[test]
#[ignore]
fn dump() {
    let (path, seeds) = (std::env::var("DUMP").unwrap(), std::env::var("SEEDS").unwrap().parse::<u64>().unwrap());
    let only = std::env::var("ONLY").unwrap_or_default();
    let all = std::env::var("ALL").is_ok();
    let mut out = String::new();
    for pattern in patterns().iter().filter(|pattern| pattern.name.contains(&only)) {
        for (place, cell) in pattern.head.cells.iter().enumerate() {
            for (nth, objective) in cell.objectives.iter().enumerate() {
                if !all && (place, nth) != (0, 0) {
                    continue;
                }
                for seed in 0..seeds {
                    let shop = drawn(pattern, &cell.tier, objective, seed, 0);
                    let (shop, code) = match shop {
                        Ok(shop) => (Some(shop), String::new()),
                        Err(error) => (None, error.to_string()),
                    };
                    let recipe = &pattern.head.recipe;
                    let greedy = shop.as_ref().map(super::super::greedy::plan);
                    let row = serde_json::json!({"pattern": pattern.name, "tier": cell.tier, "objective": objective, "seed": seed, "shop": shop, "discard": code, "greedy": greedy, "recipe": recipe});
                    out.push_str(&row.to_string());
                    out.push('\n');
                }
            }
        }
    }
    std::fs::write(path, out).unwrap();
}
