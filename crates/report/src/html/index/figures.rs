//! The drawings on the page of a run, each beside the table it is drawn from.

use super::{Most, figure, heads, minus, share, tables::crossed};
use crate::html::{Cell, Table, section};
use crate::stats::Estimate;
use crate::text::{number, percent};
use crate::{AgentSummary, Grid, Group};
use benchwright_draw::charts::{self, Spot};
use benchwright_draw::{Mark, Panel, Scale, Words};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// A mark of an estimate.
fn mark(estimate: &Estimate) -> Mark {
    Mark { value: estimate.value, low: estimate.low, high: estimate.high }
}

/// A panel of full marks.
fn panel(title: &str, marks: impl Iterator<Item = Mark>) -> Panel {
    Panel { title: title.to_owned(), marks: marks.collect(), hollow: Vec::new() }
}

pub(super) fn by_tier(agents: &[AgentSummary]) -> Markup {
    let labels: Vec<String> = agents.iter().map(|agent| agent.agent.clone()).collect();
    let all = panel("all tasks", agents.iter().map(|agent| mark(&agent.all.pass_at_1)));
    let tiers = agents.first().map(|agent| &*agent.by.tier).unwrap_or_default();
    let of = |agent: &AgentSummary, at: usize| agent.by.tier.get(at).map(|group| mark(&group.figures.pass_at_1));
    let tier =
        |(at, group): (usize, &Group)| panel(&group.name, agents.iter().map(|agent| of(agent, at).unwrap_or_default()));
    let panels: Vec<Panel> = std::iter::once(all).chain(tiers.iter().enumerate().map(tier)).collect();
    let words = Words {
        title: "Success by tier",
        description: "pass@1 of each agent with its 95 % interval, a panel for each tier",
    };
    figure(
        "Success by tier",
        &charts::dots(words, &labels, &panels, Scale::Percent),
        "pass@1 in percent. Whiskers are 95 % intervals over clusters of tasks.",
        &crossed("pass@1 by tier", "tier", agents, |by| &by.tier, 50),
    )
}

pub(super) fn by_pattern(agents: &[AgentSummary], most: Most) -> Markup {
    let groups = agents.first().map(|agent| &*agent.by.pattern).unwrap_or_default();
    let shown = groups.len().min(most.rows);
    let labels: Vec<String> = groups[..shown].iter().map(|group| group.name.clone()).collect();
    let marks = |agent: &AgentSummary| {
        let groups = agent.by.pattern.iter().take(shown);
        panel(&agent.agent, groups.map(|group| mark(&group.figures.pass_at_1)))
    };
    let panels: Vec<Panel> = agents.iter().map(marks).collect();
    let words = Words {
        title: "Success by pattern",
        description: "pass@1 on the tasks of each pattern, a panel for each agent",
    };
    figure(
        "Success by pattern",
        &charts::dots(words, &labels, &panels, Scale::Percent),
        "pass@1 in percent. A pattern that is a single cluster has no interval: its tasks do not tell how another pattern would go.",
        &crossed("pass@1 by pattern", "pattern", agents, |by| &by.pattern, most.rows),
    )
}

pub(super) fn feasible(agents: &[AgentSummary]) -> Markup {
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
        &[charts::scatter(
            words,
            ("clean: every rule kept (%)", "passed: kept and best (%)"),
            &spots,
            Scale::Percent,
            true,
        )],
        "On the dashed line every plan that keeps the rules is also the best one; the distance below it is what optimality costs.",
        &Table::new(
            "Feasible and optimal, in percent",
            heads(&["agent", "clean", "passed", "optimal given clean"]),
            rows,
        ),
    )
}

pub(super) fn families(agents: &[AgentSummary], most: Most) -> Markup {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for failure in agents.iter().flat_map(|agent| &agent.families) {
        *sums.entry(&failure.name).or_default() += failure.rate;
    }
    let mut names: Vec<(&str, f64)> = sums.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    names.truncate(most.rows.min(40));
    if names.is_empty() {
        return section("Failures by family", html! { p { "No rule failed." } });
    }
    let labels: Vec<String> = names.iter().map(|(name, _)| (*name).to_owned()).collect();
    let rate = |agent: &AgentSummary, name: &str| {
        let none = (agent.all.counts.scored > 0).then_some(0.0);
        agent.families.iter().find(|failure| failure.name == name).map(|failure| failure.rate).or(none)
    };
    let marks = |agent: &AgentSummary| panel(&agent.agent, names.iter().map(|(name, _)| Mark::of(rate(agent, name))));
    let panels: Vec<Panel> = agents.iter().map(marks).collect();
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
        &charts::bars(words, &labels, &panels),
        "Share of scored trials in which at least one rule of the family failed. A trial can fail in several.",
        &Table::new("Trials with a failure of the family, in percent", columns, rows),
    )
}

pub(super) fn horizon(agents: &[AgentSummary]) -> Markup {
    let groups = agents.first().map(|agent| &*agent.by.horizon).unwrap_or_default();
    let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
    let marks =
        |agent: &AgentSummary| panel(&agent.agent, agent.by.horizon.iter().map(|group| mark(&group.figures.pass_at_1)));
    let panels: Vec<Panel> = agents.iter().map(marks).collect();
    let words = Words {
        title: "Success by horizon",
        description: "pass@1 over the number of calls the oracle needs, a panel for each agent",
    };
    figure(
        "Success by horizon",
        &charts::lines(words, &names, &panels),
        "pass@1 over the number of calls that the oracle needs, in bins that double. Whiskers are 95 % intervals over clusters.",
        &crossed("pass@1 by horizon", "calls of the oracle", agents, |by| &by.horizon, 50),
    )
}

pub(super) fn grids(agents: &[AgentSummary]) -> Markup {
    let all = agents.first().map(|agent| &*agent.grids).unwrap_or_default();
    let one = |(at, grid): (usize, &Grid)| {
        let (rows, columns) = (grid.rows.len().min(40), grid.columns.len().min(12));
        let cells = |agent: &AgentSummary| -> Vec<Option<f64>> {
            let cell = |row: usize, column: usize| agent.grids.get(at)?.cells.get(row)?.get(column)?.pass_at_1;
            (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).map(|(r, c)| cell(r, c)).collect()
        };
        let marks = |agent: &AgentSummary| panel(&agent.agent, cells(agent).into_iter().map(Mark::of));
        let panels: Vec<Panel> = agents.iter().map(marks).collect();
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
        figure(
            &heading,
            &charts::heat(words, &grid.rows[..rows], &grid.columns[..columns], &panels),
            &caption,
            &Table::new(&*heading, names, table_rows),
        )
    };
    html! { @for grid in all.iter().enumerate() { (one(grid)) } }
}

pub(super) fn correlations(agents: &[AgentSummary], most: Most) -> Markup {
    let all = agents.first().map(|agent| &*agent.correlations).unwrap_or_default();
    let shown = all.len().min(most.rows.min(60));
    let labels: Vec<String> = all[..shown].iter().map(|correlation| correlation.parameter.clone()).collect();
    let marks = |agent: &AgentSummary, of: fn(&crate::Correlation) -> Option<f64>| {
        agent.correlations.iter().take(shown).map(|found| Mark::of(of(found))).collect()
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
        &charts::dots(words, &labels, &panels, Scale::Correlation),
        "Spearman's rank correlation over tasks: full points with the pass rate (the number beside), hollow points with the number of calls. A dash: all results are alike.",
        &Table::new("Rank correlations", columns, rows),
    )
}

pub(super) fn cost(agents: &[AgentSummary]) -> Markup {
    let priced = agents.iter().all(|agent| agent.all.cost.is_some());
    let value = |agent: &AgentSummary| if priced { agent.all.cost } else { agent.all.calls };
    let most = agents.iter().filter_map(value).fold(0.0, f64::max);
    let spots: Vec<Spot> = agents
        .iter()
        .map(|agent| Spot { name: agent.agent.clone(), x: Mark::of(value(agent)), y: mark(&agent.all.pass_at_1) })
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
        &[charts::scatter(words, (axis, "passed (%)"), &spots, Scale::Amount(most * 1.05), false)],
        if priced {
            "Means over scored trials."
        } else {
            "Means over scored trials. The cost is not known of every agent, so calls stand for it."
        },
        &Table::new(
            "What a trial takes",
            heads(&["agent", "$ per trial", "$ per passed trial", "calls", "pass@1 (%)"]),
            rows,
        ),
    )
}
