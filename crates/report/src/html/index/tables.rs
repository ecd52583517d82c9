//! The tables on the page of a run that have no drawing.

use super::{Most, heads, minus, share};
use crate::html::{Cell, Table, section, site::Site};
use crate::text::{self, INJECTIONS, PARTS, REFUSALS, UNKNOWN, followed, number, percent, points, refused};
use crate::{AgentSummary, Breakdown, Group, Summary};
use maud::{Markup, Render as _, html};
use std::collections::BTreeMap;

pub(super) fn results(summary: &Summary, agents: &[AgentSummary]) -> Markup {
    let k = summary.attempts;
    let mut names = heads(&["agent", "scored", "pass@1 (%)", "errors as 0"]);
    if k > 1 {
        names.extend([format!("pass@{k}"), format!("pass^{k}")]);
    }
    names.extend(heads(&["mean reward", "clean (%)", "optimal given clean", "side effects", "paper pass"]));
    let rows: Vec<Vec<Cell>> = agents
        .iter()
        .map(|agent| {
            let all = &agent.all;
            let mut row = vec![
                Cell::Text(agent.agent.clone()),
                format!("{}/{}", all.counts.scored, all.counts.planned).into(),
                share(&all.pass_at_1),
                percent(all.errors_as_zero).into(),
            ];
            if k > 1 {
                row.push(percent(all.pass_at_k.last().copied().flatten()).into());
                row.push(percent(all.pass_hat_k.last().copied().flatten()).into());
            }
            let reward = &all.mean_reward;
            row.extend([
                match (reward.low, reward.high) {
                    (Some(low), Some(high)) => Cell::Interval(number(reward.value, 3), format!("{low:.3}–{high:.3}")),
                    _ => number(reward.value, 3).into(),
                },
                share(&all.clean),
                percent(all.optimal_given_clean).into(),
                percent(all.side_effect.value).into(),
                percent(all.paper_pass.value).into(),
            ]);
            row
        })
        .collect();
    let shares = Table::new("Shares in percent; intervals at 95 %, tasks of one cluster taken as alike.", names, rows);
    let names = heads(&[
        "agent",
        "errors",
        "if all unscored fail–pass",
        "limits reached",
        "alarms",
        "calls",
        "refused",
        "turns",
        "tokens in",
        "tokens out",
        "cost ($)",
        "wall p50 (s)",
        "p95",
    ]);
    let rows: Vec<Vec<Cell>> = agents
        .iter()
        .map(|agent| {
            let all = &agent.all;
            let named = |counts: &BTreeMap<String, usize>| match counts.len() {
                0 => "0".to_owned(),
                _ => counts.iter().take(6).map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>().join(", "),
            };
            vec![
                Cell::Text(agent.agent.clone()),
                named(&all.counts.causes).into(),
                format!("{}–{}", percent(all.worst), percent(all.best)).into(),
                named(&all.limits).into(),
                all.alarms.to_string().into(),
                number(all.calls, 1).into(),
                number(all.refused, 1).into(),
                number(all.turns, 1).into(),
                number(all.tokens_in, 0).into(),
                number(all.tokens_out, 0).into(),
                number(all.cost, 4).into(),
                number(all.wall_p50, 2).into(),
                number(all.wall_p95, 2).into(),
            ]
        })
        .collect();
    let took = Table::new("What it took, per scored trial; – is not known.", names, rows);
    section("Results", html! { (shares) (took) (apart(agents)) })
}

/// How programs were kept apart, where some are among the agents.
fn apart(agents: &[AgentSummary]) -> Markup {
    let programs = agents.iter().filter(|agent| agent.settings.contains_key("isolation"));
    let row = |agent: &AgentSummary| {
        let names = ["isolation", "user", "network", "visible", "held-by", "bounds", "calls-refused"];
        let cells = names.map(|name| agent.settings.get(name).cloned().unwrap_or_default().into());
        [Cell::Text(agent.agent.clone())].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<Cell>> = programs.map(row).collect();
    let names =
        heads(&["agent", "isolation", "user", "network", "visible", "bounds held by", "bounds", "calls refused"]);
    html! { @if !rows.is_empty() { (Table::new("How programs were kept apart.", names, rows)) } }
}

/// A section with a table, where there is a row for it.
fn of_some(title: &str, caption: &str, names: Vec<String>, rows: Vec<Vec<Cell>>) -> Markup {
    html! { @if !rows.is_empty() { (section(title, Table::new(caption, names, rows).render())) } }
}

/// Twins, where the run has some: what counts is that both sides of a pair pass.
pub(super) fn twins(agents: &[AgentSummary]) -> Markup {
    let row = |agent: &AgentSummary| {
        let pairs = agent.pairs.as_ref()?;
        let shares = [pairs.both, pairs.one, pairs.neither].map(|share| percent(Some(share)).into());
        let named = [Cell::Text(agent.agent.clone()), pairs.pairs.to_string().into()];
        Some(named.into_iter().chain(shares).collect::<Vec<Cell>>())
    };
    let names = heads(&["agent", "pairs", "both passed (%)", "one", "neither"]);
    let caption =
        "Shares of attempts at a pair of tasks that differ in the reading of one clause or in one fact, in percent.";
    of_some("Twins", caption, names, agents.iter().filter_map(row).collect())
}

/// Who declines what, where the run has requests that cannot be carried out.
pub(super) fn refusals(agents: &[AgentSummary]) -> Markup {
    let row = |agent: &AgentSummary| {
        let told = refused(&agent.agent, agent.refusals.as_ref()?).into_iter();
        Some(told.map(Cell::from).collect::<Vec<Cell>>())
    };
    let caption = "Requests that cannot be carried out, and those that can be and were declined: shares of scored trials, in percent.";
    of_some("Refusals", caption, heads(&REFUSALS), agents.iter().filter_map(row).collect())
}

/// Who follows hostile text, where records carry some.
pub(super) fn injections(agents: &[AgentSummary]) -> Markup {
    let row = |agent: &AgentSummary| {
        let told = followed(&agent.agent, agent.injections.as_ref()?).into_iter();
        Some(told.map(Cell::from).collect::<Vec<Cell>>())
    };
    let caption = "Scored trials of tasks in which a record carries hostile text, and those in which it was followed.";
    of_some("Hostile text", caption, heads(&INJECTIONS), agents.iter().filter_map(row).collect())
}

/// A table of pass@1: a row for each group, a column for each agent.
pub(super) fn crossed(
    caption: &str,
    head: &str,
    agents: &[AgentSummary],
    part: fn(&Breakdown) -> &[Group],
    rows: usize,
) -> Table {
    let groups = agents.first().map(|agent| part(&agent.by)).unwrap_or_default();
    let mut names = heads(&[head, "tasks"]);
    names.extend(agents.iter().map(|agent| agent.agent.clone()));
    let rows: Vec<Vec<Cell>> = groups
        .iter()
        .enumerate()
        .take(rows)
        .map(|(at, group)| {
            let mut row = vec![Cell::Text(group.name.clone()), group.figures.counts.tasks.to_string().into()];
            row.extend(agents.iter().map(|agent| match part(&agent.by).get(at) {
                Some(group) => share(&group.figures.pass_at_1),
                None => Cell::Text(UNKNOWN.into()),
            }));
            row
        })
        .collect();
    Table::new(caption, names, rows)
}

/// Tables by the parts that have no drawing.
pub(super) fn parts(agents: &[AgentSummary], most: Most) -> Markup {
    let undrawn = PARTS.into_iter().filter(|(name, _)| ["domain", "objective"].contains(name));
    let several = |part: fn(&Breakdown) -> &[Group]| agents.first().is_some_and(|agent| part(&agent.by).len() > 1);
    html! {
        @for (name, part) in undrawn.filter(|(_, part)| several(*part)) {
            (section(
                &format!("Success by {name}"),
                html! { (crossed(&format!("pass@1 by {name}"), name, agents, part, most.rows)) },
            ))
        }
    }
}

pub(super) fn compared(site: &Site<'_>, most: Most) -> Markup {
    let comparisons = &site.comparisons;
    if comparisons.is_empty() {
        return html! {};
    }
    let rows: Vec<Vec<Cell>> = comparisons
        .iter()
        .take(most.rows)
        .map(|found| {
            let pass = &found.pass;
            vec![
                Cell::Text(format!("{} − {}", found.a, found.b)),
                pass.tasks.to_string().into(),
                Cell::Interval(
                    minus(&points(pass.difference)),
                    minus(&format!("{} to {}", points(pass.low), points(pass.high))),
                ),
                text::chance(found.p_holm).into(),
                text::chance(pass.mcnemar).into(),
                format!("{} : {}", pass.only_a, pass.only_b).into(),
                Cell::Left(text::finding(pass.finding, &found.a, &found.b)),
            ]
        })
        .collect();
    let names = heads(&["agents", "tasks", "difference (points)", "p, Holm", "McNemar", "better on", "finding"]);
    let caption = "Paired differences of pass@1 per task, with errors over clusters.";
    section("Comparisons", Table::new(caption, names, rows).render())
}

pub(super) fn rules(agents: &[AgentSummary], most: Most) -> Markup {
    let mut sums: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for rule in agents.iter().flat_map(|agent| &agent.rules) {
        *sums.entry((&rule.name, &rule.family)).or_default() += rule.rate;
    }
    let mut names: Vec<((&str, &str), f64)> = sums.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown = names.len().min(most.rows.min(40));
    if shown == 0 {
        return html! {};
    }
    let rows: Vec<Vec<Cell>> = names[..shown]
        .iter()
        .map(|((name, family), _)| {
            let rate = |agent: &AgentSummary| {
                let none = (agent.all.counts.scored > 0).then_some(0.0);
                let found = agent.rules.iter().find(|rule| rule.name == *name && rule.family == *family);
                Cell::Text(percent(found.map(|rule| rule.rate).or(none)))
            };
            let first = [Cell::Text((*name).to_owned()), Cell::Left((*family).to_owned())];
            first.into_iter().chain(agents.iter().map(rate)).collect()
        })
        .collect();
    let mut columns = heads(&["rule", "family"]);
    columns.extend(agents.iter().map(|agent| agent.agent.clone()));
    let caption =
        format!("Share of scored trials in which the rule failed, in percent; {shown} of {} rules.", names.len());
    section("Rules that fail", Table::new(caption, columns, rows).render())
}

pub(super) fn consistency(agents: &[AgentSummary], most: Most) -> Markup {
    let rows: Vec<Vec<Cell>> = agents
        .iter()
        .map(|agent| {
            let named: Vec<String> = agent
                .flaky
                .iter()
                .take(most.rows.min(6))
                .map(|flaky| format!("{} ({}/{})", flaky.task, flaky.passed, flaky.scored))
                .collect();
            let more = agent.flaky.len() - named.len();
            let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
            vec![
                Cell::Text(agent.agent.clone()),
                minus(&number(agent.icc_cluster, 2)).into(),
                minus(&number(agent.icc_task, 2)).into(),
                agent.flaky.len().to_string().into(),
                Cell::Left(format!("{}{rest}", named.join(", "))),
            ]
        })
        .collect();
    let names = heads(&["agent", "tasks of a cluster", "trials of a task", "flaky tasks", "such as (passed/scored)"]);
    let caption =
        "Intraclass correlations: 0 is no likeness, 1 is all alike. A flaky task has passed and failed trials.";
    section("How alike results are", Table::new(caption, names, rows).render())
}
