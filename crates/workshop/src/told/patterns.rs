//! Patterns as commands tell them: which there are, and a page on one.

use crate::requests;
use benchwright_catalog::{Catalog, CatalogError};
use benchwright_project::{Authoring, Discard, Draw, Pattern, Placeholder, plan_text};
use benchwright_report::layout::{columns, paragraph};
use benchwright_schema::{Domain, plan::PlanText};
use benchwright_spec::NoPlanner;
use serde_json::{Value as Json, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// How many draws of a cell are tried for one that stands.
const DRAWS: u32 = 12;

/// A pattern with the rules that can apply to its tasks.
pub type Listed = (Pattern, PlanText);

/// Patterns by name, in that order; or the name of the first that cannot be had, and why.
pub fn listed(catalog: &Catalog, names: &[String]) -> Result<Vec<Listed>, (String, CatalogError)> {
    let mut domains: BTreeMap<String, Arc<Domain>> = BTreeMap::new();
    let mut one = |name: &str| {
        let mut pattern = catalog.pattern(name)?;
        let family = catalog.family(&pattern.family, &pattern.domain)?;
        let placeholders = family.authoring().map(Authoring::placeholders).unwrap_or_default();
        pattern.text.title = Placeholder::fill(&placeholders, &pattern.text.title);
        if !domains.contains_key(&pattern.domain) {
            domains.insert(pattern.domain.clone(), catalog.find(&pattern.domain)?.domain);
        }
        let rules = rules(catalog, &pattern, &domains[&pattern.domain])?;
        Ok((pattern, rules))
    };
    names.iter().map(|name| one(name).map_err(|error| (name.clone(), error))).collect()
}

/// The rules that can apply to tasks of a pattern: those that the switches of drawn cases bring in, one case for each tier
/// and objective. Where no case can be drawn without a solver, all rules of the family and the pattern.
fn rules(catalog: &Catalog, pattern: &Pattern, domain: &Domain) -> Result<PlanText, CatalogError> {
    let family = catalog.family(&pattern.family, &pattern.domain)?;
    let mut all = family.plan().clone();
    all.rules.extend(pattern.rules.rules.clone());
    let mut known = BTreeSet::new();
    for cell in &pattern.head.cells {
        for objective in &cell.objectives {
            let drawn = (0..DRAWS).find_map(|attempt| {
                let draw = Draw { pattern, tier: &cell.tier, objective, seed: 1, attempt };
                let case = family.sample(&draw, domain, &mut NoPlanner);
                match case {
                    Err(Discard::Because(_)) => None,
                    other => Some(other.ok()),
                }
            });
            let Some(case) = drawn.flatten() else { return Ok(all) };
            known.extend(plan_text(family, pattern, &case.switches).rules.into_keys());
        }
    }
    all.rules.retain(|id, _| known.contains(id));
    Ok(all)
}

fn objectives(pattern: &Pattern) -> Vec<&str> {
    let mut known = Vec::new();
    for objective in pattern.head.cells.iter().flat_map(|cell| &cell.objectives) {
        if !known.contains(&&**objective) {
            known.push(objective);
        }
    }
    known
}

fn tiers(pattern: &Pattern) -> Vec<&str> {
    pattern.head.cells.iter().map(|cell| &*cell.tier).collect()
}

/// Tiers that are all pairs `row-column` of some rows and columns, two of each at least.
fn grid<'t>(tiers: &[&'t str]) -> Option<(Vec<&'t str>, Vec<&'t str>)> {
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    for tier in tiers {
        let (row, column) = tier.split_once('-')?;
        if !rows.contains(&row) {
            rows.push(row);
        }
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    (rows.len() > 1 && columns.len() > 1 && tiers.len() == rows.len() * columns.len()).then_some((rows, columns))
}

/// What a pattern is, as a document.
pub fn summary(pattern: &Pattern, rules: &PlanText) -> Json {
    let cells: BTreeMap<&str, &Vec<String>> =
        pattern.head.cells.iter().map(|cell| (&*cell.tier, &cell.objectives)).collect();
    json!({
        "name": pattern.name,
        "title": pattern.text.title,
        "group": pattern.group(),
        "family": pattern.family,
        "domain": pattern.domain,
        "tiers": tiers(pattern),
        "objectives": objectives(pattern),
        "cells": cells,
        "rules": rules.rules.len(),
    })
}

/// All patterns, a line each.
pub fn table(listed: &[Listed], scenarios: &[requests::Named]) -> String {
    let mut rows = vec![["name", "tiers", "objectives", "rules"].map(str::to_owned).to_vec()];
    for (pattern, rules) in listed {
        rows.push(vec![
            pattern.name.clone(),
            match grid(&tiers(pattern)) {
                Some((rows, columns)) => {
                    let ends = |names: &[&str]| format!("{}…{}", names[0], names[names.len() - 1]);
                    format!("{} × {} ({})", ends(&rows), ends(&columns), rows.len() * columns.len())
                }
                None => tiers(pattern).join(", "),
            },
            objectives(pattern).join(", "),
            rules.rules.len().to_string(),
        ]);
    }
    rows.extend(scenarios.iter().map(|(name, scenario, domain)| requests::columns(name, scenario, domain)));
    columns(&rows, &[3], 0)
}

/// A page on one pattern, called as it was given, in lines of so many columns.
pub fn page(given: &str, pattern: &Pattern, rules: &PlanText, width: usize) -> String {
    let mut out = format!("{} ({}, family {})\n\n", pattern.text.title, pattern.name, pattern.family);
    match (grid(&tiers(pattern)), &objectives(pattern)[..]) {
        (Some((rows, columns)), [objective]) => {
            let says = format!("one of {}, and after a hyphen one of {}", rows.join(" "), columns.join(" "));
            out.push_str(&paragraph("tier       ", &says, width));
            out.push_str(&paragraph("objective  ", objective, width));
        }
        _ => {
            let widest = pattern.head.cells.iter().map(|cell| cell.tier.len() + 2).fold(8, usize::max);
            for cell in &pattern.head.cells {
                out.push_str(&paragraph(&format!("{:<widest$}", cell.tier), &cell.objectives.join(", "), width));
            }
        }
    }
    out.push_str(&format!("\n{} rules can apply:\n", rules.rules.len()));
    for (id, rule) in &rules.rules {
        let says = rule.says.first().map_or("", |says| &**says);
        let told = match (&rule.told_with, &rule.told_by) {
            (Some(other), _) => format!("(told with {other})"),
            (_, Some(by)) => format!("(told by the {by})"),
            _ => String::new(),
        };
        out.push_str(&paragraph(&format!("  {id}  "), &format!("{says}{told}"), width));
    }
    if let Some(cell) = pattern.head.cells.first() {
        out.push_str(&format!("\nnext: benchwright new {given} --tier {} --seed 1 -o DIR\n", cell.tier));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_a_grid_only_if_every_pair_is_there() {
        assert_eq!(grid(&["a-x", "a-y", "b-x", "b-y"]), Some((vec!["a", "b"], vec!["x", "y"])));
        assert_eq!(grid(&["a-x", "a-y", "b-x"]), None);
        assert_eq!(grid(&["easy", "hard"]), None);
    }
}
