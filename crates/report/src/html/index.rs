//! The index of a run: every table and every drawing on one page.

use super::plot::{self, Mark, Panel, Scale, Spot, Words};
use super::{Cell, escape, facts, page, table};
use crate::stats::Estimate;
use crate::text::{self, PARTS, UNKNOWN, number, percent, points};
use crate::{AgentSummary, Comparison, Group, Summary};
use std::collections::BTreeMap;

/// The largest index, in bytes.
pub const LARGEST_INDEX: usize = 5_000_000;

/// A link to the page of a trial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageLink {
    /// Where it stands, seen from the index. Only letters, digits, `.`, `_`, `-` and `/` make a link.
    pub href: String,
    /// The agent.
    pub agent: String,
    /// The task's id.
    pub task: String,
    /// The attempt.
    pub attempt: u32,
    /// Whether it passed; `None` without a score.
    pub pass: Option<bool>,
}

/// What stands on an index beside the summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Index<'a> {
    /// The title; empty for a plain one.
    pub title: &'a str,
    /// Comparisons of the agents.
    pub comparisons: &'a [Comparison],
    /// The pages of trials.
    pub pages: &'a [PageLink],
}

/// How much is shown, so that the page stays within its size.
#[derive(Clone, Copy)]
struct Most {
    agents: usize,
    rows: usize,
}

/// The index of a run, at most [`LARGEST_INDEX`] bytes: a run that is larger shows fewer rows and says so.
pub fn index(summary: &Summary, beside: &Index) -> String {
    let sizes = [(64, 1_000), (32, 200), (12, 60), (4, 20)];
    let mut out = String::new();
    for (agents, rows) in sizes {
        out = whole(summary, beside, Most { agents, rows });
        if out.len() <= LARGEST_INDEX {
            break;
        }
    }
    out
}

/// The page, showing at most so much.
fn whole(summary: &Summary, beside: &Index, most: Most) -> String {
    let agents = &summary.agents[..summary.agents.len().min(most.agents)];
    let title = if beside.title.is_empty() { "Benchwright report" } else { beside.title };
    let mut out = format!("<header><h1>{}</h1>\n", escape(&text::cut(title, 200)));
    let run = summary.plan.get(..16).unwrap_or(&summary.plan);
    out.push_str(&format!("<p class=\"soft\">Run <code>{}</code></p>\n", escape(run)));
    out.push_str(&facts(&[
        ("tasks", summary.tasks.to_string()),
        ("clusters", summary.clusters.to_string()),
        ("agents", summary.agents.len().to_string()),
        ("attempts", summary.attempts.to_string()),
        ("planned", summary.planned.to_string()),
        ("attempted", summary.attempted.to_string()),
        ("scored", summary.scored.to_string()),
        ("errors", summary.errors.to_string()),
        ("trials/s per worker", number(summary.trials_per_s, 2)),
        ("time in the world", format!("{} %", percent(summary.environment_share))),
    ]));
    out.push_str("</header>\n<main>\n");
    if agents.len() < summary.agents.len() {
        let more = summary.agents.len() - agents.len();
        out.push_str(&format!("<p>{more} more agents are in the JSON of this report and not on this page.</p>\n"));
    }
    out.push_str(&results(summary, agents));
    out.push_str(&by_tier(agents));
    out.push_str(&by_pattern(agents, most));
    out.push_str(&feasible(agents));
    out.push_str(&families(agents, most));
    out.push_str(&horizon(agents));
    out.push_str(&grids(agents));
    out.push_str(&correlations(agents, most));
    out.push_str(&cost(agents));
    out.push_str(&parts(agents, most));
    out.push_str(&compared(beside.comparisons, most));
    out.push_str(&rules(agents, most));
    out.push_str(&consistency(agents, most));
    out.push_str(&method(summary));
    out.push_str(&pages(beside.pages, most));
    out.push_str("</main>\n");
    page(title, &out)
}

/// A mark of an estimate.
fn mark(estimate: &Estimate) -> Mark {
    Mark { value: estimate.value, low: estimate.low, high: estimate.high }
}

/// A cell of an estimate, in percent.
fn share(estimate: &Estimate) -> Cell {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            Cell::Interval(percent(estimate.value), format!("{}–{}", percent(Some(low)), percent(Some(high))))
        }
        _ => Cell::Text(percent(estimate.value)),
    }
}

/// A number with a minus sign in place of a hyphen.
fn minus(number: &str) -> String {
    number.replace('-', "−")
}

/// The heads of a table.
fn heads(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A drawing with its words below it, and its table.
fn figure(heading: &str, drawing: &str, caption: &str, table: &str) -> String {
    // A drawing of half the width has its table at its side.
    let (open, close) =
        if drawing.contains("<svg class=\"half\"") { ("<div class=\"beside\">\n", "</div>\n") } else { ("", "") };
    let (heading, caption) = (escape(heading), escape(caption));
    format!(
        "<section><h2>{heading}</h2>\n{open}<figure>\n{drawing}<figcaption>{caption}</figcaption>\n</figure>\n{table}{close}</section>\n"
    )
}

fn results(summary: &Summary, agents: &[AgentSummary]) -> String {
    let k = summary.attempts;
    let mut names = heads(&["agent", "scored", "pass@1 (%)"]);
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
    let mut out = String::from("<section><h2>Results</h2>\n");
    out.push_str(&table("Shares in percent; intervals at 95 %, tasks of one cluster taken as alike.", &names, &rows));
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
    out.push_str(&table("What it took, per scored trial; – is not known.", &names, &rows));
    out.push_str("</section>\n");
    out
}

/// A table of pass@1: a row for each group, a column for each agent.
fn crossed(
    caption: &str,
    head: &str,
    agents: &[AgentSummary],
    part: fn(&crate::Breakdown) -> &[Group],
    rows: usize,
) -> String {
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
    table(caption, &names, &rows)
}

fn by_tier(agents: &[AgentSummary]) -> String {
    let labels: Vec<String> = agents.iter().map(|agent| agent.agent.clone()).collect();
    let all = Panel {
        title: "all tasks".into(),
        marks: agents.iter().map(|agent| mark(&agent.all.pass_at_1)).collect(),
        hollow: Vec::new(),
    };
    let tiers = agents.first().map(|agent| &*agent.by.tier).unwrap_or_default();
    let tier = |(at, group): (usize, &Group)| Panel {
        title: group.name.clone(),
        marks: agents
            .iter()
            .map(|agent| agent.by.tier.get(at).map(|group| mark(&group.figures.pass_at_1)).unwrap_or_default())
            .collect(),
        hollow: Vec::new(),
    };
    let panels: Vec<Panel> = std::iter::once(all).chain(tiers.iter().enumerate().map(tier)).collect();
    let words = Words {
        title: "Success by tier",
        description: "pass@1 of each agent with its 95 % interval, a panel for each tier",
    };
    figure(
        "Success by tier",
        &plot::dots(words, &labels, &panels, Scale::Percent),
        "pass@1 in percent. Whiskers are 95 % intervals over clusters of tasks.",
        &crossed("pass@1 by tier", "tier", agents, |by| &by.tier, 50),
    )
}

fn by_pattern(agents: &[AgentSummary], most: Most) -> String {
    let groups = agents.first().map(|agent| &*agent.by.pattern).unwrap_or_default();
    let shown = groups.len().min(most.rows);
    let labels: Vec<String> = groups[..shown].iter().map(|group| group.name.clone()).collect();
    let panel = |agent: &AgentSummary| Panel {
        title: agent.agent.clone(),
        marks: agent.by.pattern.iter().take(shown).map(|group| mark(&group.figures.pass_at_1)).collect(),
        hollow: Vec::new(),
    };
    let panels: Vec<Panel> = agents.iter().map(panel).collect();
    let words = Words {
        title: "Success by pattern",
        description: "pass@1 on the tasks of each pattern, a panel for each agent",
    };
    figure(
        "Success by pattern",
        &plot::dots(words, &labels, &panels, Scale::Percent),
        "pass@1 in percent. A pattern that is a single cluster has no interval: its tasks do not tell how another pattern would go.",
        &crossed("pass@1 by pattern", "pattern", agents, |by| &by.pattern, most.rows),
    )
}

fn feasible(agents: &[AgentSummary]) -> String {
    let spots: Vec<Spot> = agents
        .iter()
        .map(|agent| Spot { name: agent.agent.clone(), x: mark(&agent.all.clean), y: mark(&agent.all.pass_at_1) })
        .collect();
    let words = Words {
        title: "Feasible against optimal",
        description: "Share of clean trials across, share of passed trials upwards, a point for each agent",
    };
    let rows: Vec<Vec<Cell>> = agents
        .iter()
        .map(|agent| {
            let all = &agent.all;
            vec![
                Cell::Text(agent.agent.clone()),
                share(&all.clean),
                share(&all.pass_at_1),
                percent(all.optimal_given_clean).into(),
            ]
        })
        .collect();
    figure(
        "Feasible against optimal",
        &plot::scatter(
            words,
            ("clean: every rule kept (%)", "passed: kept and best (%)"),
            &spots,
            Scale::Percent,
            true,
        ),
        "On the dashed line every plan that keeps the rules is also the best one; the distance below it is what optimality costs.",
        &table("Feasible and optimal, in percent", &heads(&["agent", "clean", "passed", "optimal given clean"]), &rows),
    )
}

fn families(agents: &[AgentSummary], most: Most) -> String {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for failure in agents.iter().flat_map(|agent| &agent.families) {
        *sums.entry(&failure.name).or_default() += failure.rate;
    }
    let mut names: Vec<(&str, f64)> = sums.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    names.truncate(most.rows.min(40));
    if names.is_empty() {
        return "<section><h2>Failures by family</h2><p>No rule failed.</p></section>\n".into();
    }
    let labels: Vec<String> = names.iter().map(|(name, _)| (*name).to_owned()).collect();
    let rate = |agent: &AgentSummary, name: &str| {
        let none = (agent.all.counts.scored > 0).then_some(0.0);
        agent.families.iter().find(|failure| failure.name == name).map(|failure| failure.rate).or(none)
    };
    let panel = |agent: &AgentSummary| Panel {
        title: agent.agent.clone(),
        marks: names.iter().map(|(name, _)| Mark { value: rate(agent, name), ..Mark::default() }).collect(),
        hollow: Vec::new(),
    };
    let panels: Vec<Panel> = agents.iter().map(panel).collect();
    let words = Words {
        title: "Failures by family",
        description: "Share of trials in which a rule of the family failed, a panel for each agent",
    };
    let mut columns = heads(&["family"]);
    columns.extend(agents.iter().map(|agent| agent.agent.clone()));
    let rows: Vec<Vec<Cell>> = names
        .iter()
        .map(|(name, _)| {
            let first = Cell::Text((*name).to_owned());
            std::iter::once(first).chain(agents.iter().map(|agent| percent(rate(agent, name)).into())).collect()
        })
        .collect();
    figure(
        "Failures by family",
        &plot::bars(words, &labels, &panels),
        "Share of scored trials in which at least one rule of the family failed. A trial can fail in several.",
        &table("Trials with a failure of the family, in percent", &columns, &rows),
    )
}

fn horizon(agents: &[AgentSummary]) -> String {
    let groups = agents.first().map(|agent| &*agent.by.horizon).unwrap_or_default();
    let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
    let panel = |agent: &AgentSummary| Panel {
        title: agent.agent.clone(),
        marks: agent.by.horizon.iter().map(|group| mark(&group.figures.pass_at_1)).collect(),
        hollow: Vec::new(),
    };
    let panels: Vec<Panel> = agents.iter().map(panel).collect();
    let words = Words {
        title: "Success by horizon",
        description: "pass@1 over the number of calls the oracle needs, a panel for each agent",
    };
    figure(
        "Success by horizon",
        &plot::lines(words, &names, &panels),
        "pass@1 over the number of calls that the oracle needs, in bins that double. Whiskers are 95 % intervals over clusters.",
        &crossed("pass@1 by horizon", "calls of the oracle", agents, |by| &by.horizon, 50),
    )
}

fn grids(agents: &[AgentSummary]) -> String {
    let mut out = String::new();
    let all = agents.first().map(|agent| &*agent.grids).unwrap_or_default();
    for (at, grid) in all.iter().enumerate() {
        let (rows, columns) = (grid.rows.len().min(40), grid.columns.len().min(12));
        let cells = |agent: &AgentSummary| -> Vec<Option<f64>> {
            let cell = |row: usize, column: usize| agent.grids.get(at)?.cells.get(row)?.get(column)?.pass_at_1;
            (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).map(|(r, c)| cell(r, c)).collect()
        };
        let panel = |agent: &AgentSummary| Panel {
            title: agent.agent.clone(),
            marks: cells(agent).into_iter().map(|value| Mark { value, ..Mark::default() }).collect(),
            hollow: Vec::new(),
        };
        let panels: Vec<Panel> = agents.iter().map(panel).collect();
        let heading = format!("Success by {} and {}", grid.row_axis, grid.column_axis);
        let words = Words { title: &heading, description: "pass@1 over two axes, a panel for each agent" };
        let mut names = heads(&[&grid.row_axis, &grid.column_axis, "tasks"]);
        names.extend(agents.iter().map(|agent| agent.agent.clone()));
        let mut table_rows: Vec<Vec<Cell>> = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let tasks = grid.cells.get(row).and_then(|cells| cells.get(column)).map_or(0, |cell| cell.tasks);
                if tasks == 0 {
                    continue;
                }
                let mut line = vec![
                    Cell::Text(grid.rows[row].clone()),
                    Cell::Left(grid.columns[column].clone()),
                    tasks.to_string().into(),
                ];
                line.extend(agents.iter().map(|agent| Cell::Text(percent(cells(agent)[row * columns + column]))));
                table_rows.push(line);
            }
        }
        let caption =
            format!("pass@1 in percent, {} downwards and {} across. A dash: no task.", grid.row_axis, grid.column_axis);
        out.push_str(&figure(
            &heading,
            &plot::heat(words, &grid.rows[..rows], &grid.columns[..columns], &panels),
            &caption,
            &table(&heading, &names, &table_rows),
        ));
    }
    out
}

fn correlations(agents: &[AgentSummary], most: Most) -> String {
    let all = agents.first().map(|agent| &*agent.correlations).unwrap_or_default();
    let shown = all.len().min(most.rows.min(60));
    let labels: Vec<String> = all[..shown].iter().map(|correlation| correlation.parameter.clone()).collect();
    let marks = |agent: &AgentSummary, of: fn(&crate::Correlation) -> Option<f64>| {
        agent.correlations.iter().take(shown).map(|found| Mark { value: of(found), ..Mark::default() }).collect()
    };
    let panel = |agent: &AgentSummary| Panel {
        title: agent.agent.clone(),
        marks: marks(agent, |found| found.success),
        hollow: marks(agent, |found| found.calls),
    };
    let panels: Vec<Panel> = agents.iter().map(panel).collect();
    let words = Words {
        title: "What goes along with success",
        description: "Spearman's rank correlation of each parameter with success, full, and with the number of calls, hollow",
    };
    let mut columns = heads(&["parameter"]);
    columns.extend(agents.iter().flat_map(|agent| [format!("{}: success", agent.agent), "calls".to_owned()]));
    let rows: Vec<Vec<Cell>> = (0..shown)
        .map(|at| {
            let mut row = vec![Cell::Text(labels[at].clone())];
            for agent in agents {
                let found = agent.correlations.get(at);
                row.push(minus(&number(found.and_then(|found| found.success), 2)).into());
                row.push(minus(&number(found.and_then(|found| found.calls), 2)).into());
            }
            row
        })
        .collect();
    figure(
        "What goes along with success",
        &plot::dots(words, &labels, &panels, Scale::Correlation),
        "Spearman's rank correlation over tasks: full points with the pass rate (the number beside), hollow points with the number of calls. A dash: all results are alike.",
        &table("Rank correlations", &columns, &rows),
    )
}

fn cost(agents: &[AgentSummary]) -> String {
    let priced = agents.iter().all(|agent| agent.all.cost.is_some());
    let value = |agent: &AgentSummary| if priced { agent.all.cost } else { agent.all.calls };
    let most = agents.iter().filter_map(value).fold(0.0, f64::max);
    let spots: Vec<Spot> = agents
        .iter()
        .map(|agent| Spot {
            name: agent.agent.clone(),
            x: Mark { value: value(agent), ..Mark::default() },
            y: mark(&agent.all.pass_at_1),
        })
        .collect();
    let (title, axis) = match priced {
        true => ("Cost against success", "dollars per trial"),
        false => ("Calls against success", "calls per trial"),
    };
    let words = Words { title, description: "What a trial takes across, pass@1 upwards, a point for each agent" };
    let rows: Vec<Vec<Cell>> = agents
        .iter()
        .map(|agent| {
            let all = &agent.all;
            let per_pass =
                all.cost.zip(all.pass_at_1.value).filter(|(_, pass)| *pass > 0.0).map(|(cost, pass)| cost / pass);
            vec![
                Cell::Text(agent.agent.clone()),
                number(all.cost, 4).into(),
                number(per_pass, 4).into(),
                number(all.calls, 1).into(),
                share(&all.pass_at_1),
            ]
        })
        .collect();
    figure(
        title,
        &plot::scatter(words, (axis, "passed (%)"), &spots, Scale::Amount(most * 1.05), false),
        if priced {
            "Means over scored trials."
        } else {
            "Means over scored trials. The cost is not known of every agent, so calls stand for it."
        },
        &table(
            "What a trial takes",
            &heads(&["agent", "$ per trial", "$ per passed trial", "calls", "pass@1 (%)"]),
            &rows,
        ),
    )
}

/// Tables by the parts that have no drawing.
fn parts(agents: &[AgentSummary], most: Most) -> String {
    let mut out = String::new();
    for (name, part) in PARTS.into_iter().filter(|(name, _)| ["domain", "objective"].contains(name)) {
        if agents.first().is_some_and(|agent| part(&agent.by).len() > 1) {
            out.push_str(&format!("<section><h2>Success by {name}</h2>\n"));
            out.push_str(&crossed(&format!("pass@1 by {name}"), name, agents, part, most.rows));
            out.push_str("</section>\n");
        }
    }
    out
}

fn compared(comparisons: &[Comparison], most: Most) -> String {
    if comparisons.is_empty() {
        return String::new();
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
    format!("<section><h2>Comparisons</h2>\n{}</section>\n", table(caption, &names, &rows))
}

fn rules(agents: &[AgentSummary], most: Most) -> String {
    let mut sums: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for rule in agents.iter().flat_map(|agent| &agent.rules) {
        *sums.entry((&rule.name, &rule.family)).or_default() += rule.rate;
    }
    let mut names: Vec<((&str, &str), f64)> = sums.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown = names.len().min(most.rows.min(40));
    if shown == 0 {
        return String::new();
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
    format!("<section><h2>Rules that fail</h2>\n{}</section>\n", table(&caption, &columns, &rows))
}

fn consistency(agents: &[AgentSummary], most: Most) -> String {
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
    format!("<section><h2>How alike results are</h2>\n{}</section>\n", table(caption, &names, &rows))
}

fn method(summary: &Summary) -> String {
    let mut notes = vec![
        "Each task counts the same, however often it was tried. Trials that ended in an error are not scored; the range beside them is what they could change.".to_owned(),
        "Intervals of shares: Wilson's on the effective sample size, with Student's t and degrees of freedom from the spread between clusters; the rule of three where all results are alike.".to_owned(),
        "Intervals of rewards and of differences: Student's t with errors over clusters. A difference counts as found when its interval leaves out 0; where fewer than 10 tasks differ, the exact test must agree.".to_owned(),
        "A trial passes when no gate fired, every check that applies passed and every scored objective is within its tolerance. Paper pass is a reward of at least 0.99.".to_owned(),
    ];
    notes.extend(text::warnings(summary));
    let notes: String = notes.iter().map(|note| format!("<li>{}</li>\n", escape(&text::cut(note, 1_000)))).collect();
    format!("<section><h2>How to read this</h2>\n<ul class=\"notes\">\n{notes}</ul></section>\n")
}

fn pages(pages: &[PageLink], most: Most) -> String {
    if pages.is_empty() {
        return String::new();
    }
    let shown = pages.len().min(most.rows.saturating_mul(4));
    let mut out = String::from("<section><h2>Trials</h2>\n<ul class=\"pages\">\n");
    for link in &pages[..shown] {
        let name = escape(&text::cut(&format!("{} · {} · {}", link.agent, link.task, link.attempt), 120));
        let (class, ending) = match link.pass {
            Some(true) => ("good", "passed"),
            Some(false) => ("fail", "failed"),
            None => ("soft", "not scored"),
        };
        let name = if safe(&link.href) { format!("<a href=\"{}\">{name}</a>", escape(&link.href)) } else { name };
        out.push_str(&format!("<li>{name} <span class=\"{class}\">{ending}</span></li>\n"));
    }
    out.push_str("</ul>\n");
    if shown < pages.len() {
        out.push_str(&format!("<p>{} more pages are in the folder and not listed here.</p>\n", pages.len() - shown));
    }
    out.push_str("</section>\n");
    out
}

/// Whether a link stays within the folder of the report.
fn safe(href: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    !href.is_empty() && href.len() < 300 && href.chars().all(plain) && !href.starts_with('/') && !href.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_nowhere_else() {
        assert!(safe("trials/0a1b.html"));
        for href in ["javascript:alert(1)", "/etc/passwd", "../x", "//host/x", "", "a b", "data:text/html,x"] {
            assert!(!safe(href), "{href}");
        }
    }
}
