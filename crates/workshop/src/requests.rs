//! Requests for people: what a scenario is, and what is sealed of a task of one, as lines.

use benchwright_catalog::{Catalog, CatalogError};
use benchwright_derive::{DONE, FAMILY};
use benchwright_pack::{Effects, SealedTask};
use benchwright_schema::{Domain, Rule};
use benchwright_spec::scenario::{Asked, BlockingRule, Scenario};
use serde_json::{Value as Json, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A line: what it is about, and the rest.
pub type Line = (String, String);

/// A scenario with its name and its domain.
pub type Named = (String, Scenario, Arc<Domain>);

/// Patterns by name and scenarios: all, or the one that a name or a path means.
pub fn listed(catalog: &Catalog, name: Option<&str>) -> Result<(Vec<String>, Vec<Named>), CatalogError> {
    match name {
        Some(name) => {
            let name = Catalog::pattern_path(name).map_or_else(|| name.to_owned(), |(_, name)| name);
            told_apart(catalog, vec![name])
        }
        None => Ok((catalog.pattern_names()?, told_apart(catalog, catalog.scenario_names()?)?.1)),
    }
}

/// The names that are no scenarios, and the scenarios.
fn told_apart(catalog: &Catalog, names: Vec<String>) -> Result<(Vec<String>, Vec<Named>), CatalogError> {
    let (mut others, mut scenarios) = (Vec::new(), Vec::new());
    for name in names {
        if !catalog.is_scenario(&name) {
            others.push(name);
            continue;
        }
        let (scenario, found) = catalog.scenario(&name)?;
        scenarios.push((name, scenario, found.domain));
    }
    Ok((others, scenarios))
}

/// The rules that are in play: those on tables that its clauses write, and those that stand in the way of a variant.
fn rules<'d>(scenario: &Scenario, domain: &'d Domain) -> Vec<&'d Rule> {
    let clauses = scenario.clauses.iter().chain(scenario.blocked.iter().flat_map(|blocked| &blocked.clauses));
    let written: BTreeSet<_> = clauses
        .flat_map(|clause| match &clause.act {
            Asked::Change { table, .. } | Asked::Make { table, .. } | Asked::Drop { table, .. } => vec![*table],
            Asked::Call { tool, .. } => domain.tools[*tool].native.iter().flat_map(|it| it.writes.clone()).collect(),
            Asked::Answer { .. } => Vec::new(),
        })
        .collect();
    let blocks = |place: usize| scenario.blocked.iter().any(|it| it.rule == Some(BlockingRule::Rule(place)));
    let rules = domain.rules.iter().enumerate();
    let in_play = rules.filter(|(at, rule)| blocks(*at) || rule.on.iter().any(|(table, _)| written.contains(table)));
    in_play.map(|(_, rule)| rule).collect()
}

/// A scenario in figures.
pub fn summary(name: &str, scenario: &Scenario, domain: &Domain) -> Json {
    let rules = rules(scenario, domain);
    let with_ways = rules.iter().filter(|rule| !rule.ways.is_empty());
    let blocked: BTreeMap<&str, &str> =
        scenario.blocked.iter().map(|blocked| (&*blocked.name, blocked.obstacle.word())).collect();
    let objectives: Vec<&str> =
        [DONE].into_iter().chain(scenario.blocked.iter().map(|blocked| &*blocked.name)).collect();
    let tiers: Vec<&str> = scenario.tiers.iter().map(|(tier, _)| &**tier).collect();
    json!({
        "name": name,
        "title": scenario.title,
        "group": name.split('/').next(),
        "family": FAMILY,
        "domain": scenario.domain,
        "tiers": tiers,
        "objectives": objectives,
        "blocked": blocked,
        "clauses": scenario.clauses.len(),
        "answers": scenario.clauses.iter().any(|clause| matches!(clause.act, Asked::Answer { .. })),
        "voices": scenario.voices.len(),
        "rules": rules.iter().map(|rule| &*rule.id).collect::<Vec<&str>>(),
        "ways": with_ways.map(|rule| &*rule.id).collect::<Vec<&str>>(),
    })
}

/// The columns of a scenario in a table of patterns: name, tiers, objectives, rules.
pub fn columns(name: &str, scenario: &Scenario, domain: &Domain) -> Vec<String> {
    let tiers: Vec<&str> = scenario.tiers.iter().map(|(tier, _)| &**tier).collect();
    let objectives = format!("{DONE}, and {} blocked", scenario.blocked.len());
    vec![name.to_owned(), tiers.join(", "), objectives, rules(scenario, domain).len().to_string()]
}

/// A scenario line by line.
pub fn about(name: &str, scenario: &Scenario, domain: &Domain) -> Vec<Line> {
    let line = |of: &str, text: &str| (of.to_owned(), text.to_owned());
    let mut lines = vec![line("request", &format!("{name} in {}: {}", domain.title, scenario.title))];
    lines.push(line("seat", &scenario.seat));
    lines.extend(scenario.cast.iter().map(|member| line(&member.name, &member.text)));
    let clauses: Vec<&str> = scenario.clauses.iter().map(|clause| &*clause.id).collect();
    lines.push(line("asked for", &clauses.join(", ")));
    lines.extend(
        scenario
            .blocked
            .iter()
            .map(|blocked| line("blocked", &format!("{} ({})", blocked.name, blocked.obstacle.word()))),
    );
    lines
}

/// What is sealed of a request: the plan with its reasons, and what it comes to or why it cannot be carried out.
pub fn sealed(sealed: &SealedTask, effects: &Effects) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (at, step) in sealed.oracle.steps.iter().enumerate() {
        let each = step.each.as_ref().map_or_else(String::new, |set| format!(", for each of {set}"));
        let why = step.because.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        lines.push((format!("{}.", at + 1), format!("{} {}{each}{why}", step.tool(), step.args)));
    }
    if let Some(refusal) = &effects.refusal {
        lines.push(("cannot be".to_owned(), format!("{}: {}", refusal.obstacle, sealed.certificate.plan)));
        lines.push(("reasons".to_owned(), [&refusal.rules[..], &refusal.records[..]].concat().join(", ")));
    }
    for row in &effects.expected {
        let cell = |(field, cell)| format!("{field} {}", serde_json::to_string(cell).unwrap_or_default());
        let cells: Vec<String> = row.cells.iter().map(cell).collect();
        lines.push((row.of.clone(), format!("{}: {}", row.at, cells.join(", "))));
    }
    lines
}
