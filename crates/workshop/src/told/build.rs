//! What was built: figures by tier, and what fell short.

use crate::{
    Built, Shortfall,
    suites::{Figures, named},
};
use benchwright_pack::SuiteTask;
use benchwright_report::layout::{columns, counted};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The document of `build --json`.
pub fn to_json(built: &Built) -> Json {
    let by = |of: fn(&SuiteTask) -> &str| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (line, _) in &built.made {
            *counts.entry(of(line)).or_default() += 1;
        }
        json!(counts)
    };
    let digest = built.digest();
    let figures: Map<String, Json> =
        built.tiers().iter().map(|tier| ((*tier).to_owned(), figures_json(&built.figures(tier)))).collect();
    let short = |(line, short): &(SuiteTask, Shortfall)| json!({ "task": named(line), "why": short.why });
    json!({
        "tasks": built.made.len(),
        "digest": digest,
        "seconds": (built.seconds * 1000.0).round() / 1000.0,
        "by": {
            "pattern": by(|line| &line.pattern),
            "tier": by(|line| &line.tier),
            "objective": by(|line| &line.objective),
        },
        "figures": figures,
        "requests": built.requests(),
        "short": built.short.iter().map(short).collect::<Vec<_>>(),
    })
}

/// Figures by tier.
pub fn to_table(built: &Built) -> String {
    let head = ["tier", "tasks", "variables", "rules", "checks", "thrown away", "per task"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for tier in built.tiers() {
        let figures = built.figures(tier);
        let per_task = figures.resamples as f64 / figures.tasks.max(1) as f64;
        rows.push(vec![
            tier.to_owned(),
            figures.tasks.to_string(),
            spread(&figures.variables),
            spread(&figures.rules),
            spread(&figures.checks),
            figures.resamples.to_string(),
            format!("{per_task:.2}"),
        ]);
    }
    let mut out = columns(&rows, &[1, 2, 3, 4, 5, 6], 0);
    let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, made) in &built.made {
        for (cause, count) in &made.discarded {
            *causes.entry(cause).or_default() += u64::from(*count);
        }
    }
    if !causes.is_empty() {
        let causes: Vec<String> = causes.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
        out.push_str(&format!("draws thrown away, by cause: {}\n", causes.join(", ")));
    }
    let unjudged = built.made.iter().filter(|(_, made)| made.checks.is_none()).count();
    if unjudged > 0 {
        out.push_str(&format!("{} whose own plan could not be carried out\n", counted(unjudged, "task")));
    }
    let digest = built.digest().unwrap_or_else(|| "none, because tasks are missing".to_owned());
    out.push_str(&format!("{} in {:.1} s, digest {digest}\n", counted(built.made.len(), "task"), built.seconds));
    out
}

fn figures_json(figures: &Figures) -> Json {
    let of = |list: &[usize]| match (list.first(), list.last()) {
        (Some(least), Some(most)) => json!({ "least": least, "median": list[list.len() / 2], "most": most }),
        _ => Json::Null,
    };
    json!({
        "tasks": figures.tasks,
        "variables": of(&figures.variables),
        "rules": of(&figures.rules),
        "checks": of(&figures.checks),
        "resamples": figures.resamples,
        "discarded": figures.discarded,
    })
}

/// `least median most` of a list in order.
fn spread(list: &[usize]) -> String {
    match (list.first(), list.last()) {
        (Some(least), Some(most)) => format!("{least} {} {most}", list[list.len() / 2]),
        _ => "-".to_owned(),
    }
}
