//! `benchwright patterns`: which workflows there are, and what is in one.

use crate::{
    failure::Failure,
    layout::{columns, paragraph},
    output,
};
use benchwright_catalog::{Catalog, CatalogError};
use benchwright_project::{Authoring, Discard, Draw, Pattern, Placeholder, plan_text};
use benchwright_schema::{Domain, plan::PlanText};
use benchwright_spec::NoPlanner;
use benchwright_workshop::requests;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// How many draws of a cell are tried for one that stands.
const DRAWS: u32 = 12;

/// Which workflows there are: group, tiers, objectives, rules
#[derive(clap::Args)]
#[command(after_long_help = "\
Without NAME, a table of all patterns. With NAME, a page on that one: its business name, the objectives of
each tier, and the rules that can apply to its tasks.

Examples:
  benchwright patterns
  benchwright patterns production/lowest-cost-sourcing-route
  benchwright patterns ./my-pattern

Keys of --json, a list even for one pattern:
  name, title, group, family, domain, tiers, objectives, rules; of a plan cells {TIER: [objective]}, of a
  request blocked {NAME: kind}, clauses, answers, voices, and of its rules the ways: those that say what to do")]
pub(crate) struct Options {
    /// A pattern, by its name or the path to its folder
    name: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

impl Options {
    /// The pattern as it was given.
    pub(crate) fn pattern(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let told = |error: CatalogError, what: &str| Failure::of_catalog(error, what);
    let (names, scenarios) =
        requests::listed(catalog, options.name.as_deref()).map_err(|error| told(error, "patterns"))?;
    if names.is_empty() && scenarios.is_empty() {
        let next = "leave --domains out, or give --patterns DIR";
        return Err(Failure::missing("there are no patterns for these domains", next));
    }
    let mut listed = Vec::new();
    let mut domains: BTreeMap<String, std::sync::Arc<Domain>> = BTreeMap::new();
    for name in &names {
        let mut pattern = catalog.pattern(name).map_err(|error| told(error, name))?;
        let family = catalog.family(&pattern.family, &pattern.domain).map_err(|error| told(error, name))?;
        let placeholders = family.authoring().map(Authoring::placeholders).unwrap_or_default();
        pattern.text.title = Placeholder::fill(&placeholders, &pattern.text.title);
        let domain = &pattern.domain;
        if !domains.contains_key(domain) {
            let found = catalog.find(domain).map_err(|error| told(error, domain))?;
            domains.insert(domain.clone(), found.domain);
        }
        let rules = rules(catalog, &pattern, &domains[domain]).map_err(|error| told(error, name))?;
        listed.push((pattern, rules));
    }
    if options.json {
        let plans = listed.iter().map(|(pattern, rules)| summary(pattern, rules));
        let requests = scenarios.iter().map(|(name, scenario, domain)| requests::summary(name, scenario, domain));
        output::json(&plans.chain(requests).collect())?;
    } else if let Some(given) = &options.name {
        output::data(&listed.iter().map(|(pattern, rules)| page(given, pattern, rules)).collect::<String>())?;
        for (name, scenario, domain) in &scenarios {
            let line = |(of, text): (String, String)| paragraph(&format!("{of:<12}"), &text, output::columns());
            let page: String = requests::about(name, scenario, domain).into_iter().map(line).collect();
            output::data(&format!("{page}\nnext: benchwright new {given} --tier medium --seed 1 -o DIR\n"))?;
        }
    } else {
        output::data(&table(&listed, &scenarios))?;
    }
    Ok(())
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

fn summary(pattern: &Pattern, rules: &PlanText) -> Json {
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

fn table(listed: &[(Pattern, PlanText)], scenarios: &[requests::Named]) -> String {
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

fn page(given: &str, pattern: &Pattern, rules: &PlanText) -> String {
    let width = output::columns();
    let mut out = format!("{} ({}, family {})\n\n", pattern.text.title, pattern.name, pattern.family);
    match (grid(&tiers(pattern)), &objectives(pattern)[..]) {
        (Some((rows, columns)), [objective]) => {
            let says = format!("one of {}, and after a hyphen one of {}", rows.join(" "), columns.join(" "));
            out.push_str(&paragraph("tier       ", &says, width));
            out.push_str(&paragraph("objective  ", objective, width));
        }
        _ => {
            for cell in &pattern.head.cells {
                out.push_str(&paragraph(&format!("{:<8}", cell.tier), &cell.objectives.join(", "), width));
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
