//! What came of a run, as the command tells it: a document and a table.

use crate::run::Over;
use benchwright_report::{AgentSummary, Summary, layout::columns};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The document of `run --json`.
pub fn to_json(over: &Over, summary: &Summary, highest: &BTreeMap<String, i64>) -> Json {
    let Over { recorded, fresh, seconds } = over;
    let rounded = |number: f64| (number * 1e6).round() / 1e6;
    let agent = |agent: &AgentSummary| {
        let (counts, figures) = (&agent.all.counts, &agent.all);
        let told = json!({
            "planned": counts.planned, "scored": counts.scored, "errors": counts.errors,
            "mean_reward": figures.mean_reward.value, "pass_at_1": figures.pass_at_1.value,
            "errors_as_zero": figures.errors_as_zero,
            "highest_reward": highest.get(&agent.agent).map(|reward| rounded(*reward as f64 / 1e6)),
        });
        (agent.agent.clone(), told)
    };
    let agents: BTreeMap<String, Json> = summary.agents.iter().map(agent).collect();
    json!({
        "run": recorded.name, "head": recorded.head(), "plan": summary.plan, "planned": summary.planned, "attempted": summary.attempted,
        "scored": summary.scored, "errors": summary.errors, "mean_reward": summary.mean_reward,
        "pass_at_1": summary.pass_at_1, "seconds": rounded(*seconds),
        "trials_per_s": (*fresh > 0).then(|| rounded(*fresh as f64 / seconds)),
        "environment_share": summary.environment_share, "agents": agents,
    })
}

/// The table of `run`.
pub fn to_table(summary: &Summary) -> String {
    let mut rows =
        vec![["agent", "tier", "trials", "errors", "passed", "errors as 0", "mean reward"].map(str::to_owned).to_vec()];
    for agent in &summary.agents {
        let tiers = agent.by.tier.iter().map(|group| (&*group.name, &group.figures));
        for (tier, figures) in std::iter::once(("all", &agent.all)).chain(tiers) {
            let shown = |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.4}"));
            rows.push(vec![
                agent.agent.clone(),
                tier.to_owned(),
                figures.counts.attempted.to_string(),
                figures.counts.errors.to_string(),
                shown(figures.pass_at_1.value),
                shown(figures.errors_as_zero),
                shown(figures.mean_reward.value),
            ]);
        }
    }
    columns(&rows, &[2, 3, 4, 5, 6], 0)
}
