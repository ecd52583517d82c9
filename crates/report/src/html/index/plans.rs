//! The section on planning problems: who hands in, who keeps every rule, how good plans are, and where trials end.

use super::{Most, figure, heads};
use crate::AgentSummary;
use crate::html::{Cell, Table, section};
use crate::text::{PLANS, percent, planned};
use crate::{PlanFigures, PlanKind};
use benchwright_draw::charts;
use benchwright_draw::{Mark, Panel, Words};
use maud::{Markup, Render as _, html};
use std::collections::BTreeMap;

/// An agent with how it plans.
type Planner<'a> = (&'a str, &'a PlanFigures);

/// The section, where some task is a planning problem.
pub(super) fn plans(agents: &[AgentSummary], most: Most) -> Markup {
    let planners: Vec<Planner<'_>> =
        agents.iter().filter_map(|agent| Some((&*agent.agent, agent.plans.as_ref()?))).collect();
    if planners.is_empty() {
        return html! {};
    }
    html! {
        (section("Plans", html! { (tiers(&planners).render()) (ends(&planners).render()) }))
        (thresholds(&planners))
        (section("Plans by kind of problem", html! {
            (kinds("Passed by problem, in percent", "problem", &planners, most, |plans| &plans.classes).render())
            (kinds("Passed by trade, in percent", "trade", &planners, most, |plans| &plans.trades).render())
            (kinds("Passed by difficulty, in percent: each respect from 0 to 3", "respect", &planners, most, |plans| &plans.difficulty).render())
        }))
    }
}

fn tiers(planners: &[Planner<'_>]) -> Table {
    let rows = planners.iter().flat_map(|(agent, plans)| {
        plans.tiers.iter().map(|tier| planned(agent, tier).into_iter().map(Cell::from).collect())
    });
    Table::new(
        "Planning problems, in percent of scored trials. A plan that breaks a rule has no quality.",
        heads(&PLANS),
        rows.collect(),
    )
}

fn ends(planners: &[Planner<'_>]) -> Table {
    let mut known: Vec<&str> = Vec::new();
    for end in planners.iter().flat_map(|(_, plans)| &plans.ends) {
        if !known.contains(&&*end.end) {
            known.push(&end.end);
        }
    }
    let names = std::iter::once("agent").chain(known.iter().copied());
    let row = |(agent, plans): &Planner<'_>| {
        let rate = |name: &&str| plans.ends.iter().find(|end| end.end == *name).map_or(0.0, |end| end.rate);
        let cells = known.iter().map(|name| percent(Some(rate(name))).into());
        std::iter::once(Cell::Text((*agent).to_owned())).chain(cells).collect()
    };
    let rows = planners.iter().map(row).collect();
    Table::new("Where trials of planning problems end, in percent.", heads(&names.collect::<Vec<_>>()), rows)
}

fn thresholds(planners: &[Planner<'_>]) -> Markup {
    let asked = planners.first().map(|(_, plans)| &*plans.thresholds).unwrap_or_default();
    let groups: Vec<String> = asked.iter().map(|threshold| format!("{:.1}", threshold.quality)).collect();
    let panel = |(agent, plans): &Planner<'_>| Panel {
        title: (*agent).to_owned(),
        marks: plans.thresholds.iter().map(|threshold| Mark::of(Some(threshold.reached))).collect(),
        hollow: Vec::new(),
    };
    let panels: Vec<Panel> = planners.iter().map(panel).collect();
    let words = Words {
        title: "Plans by quality",
        description: "Share of trials whose plan keeps every rule and is at least so good, a panel for each agent",
    };
    let names: Vec<&str> = std::iter::once("agent").chain(groups.iter().map(|group| &**group)).collect();
    let row = |(agent, plans): &Planner<'_>| {
        let cells = plans.thresholds.iter().map(|threshold| percent(Some(threshold.reached)).into());
        std::iter::once(Cell::Text((*agent).to_owned())).chain(cells).collect()
    };
    figure(
        "Plans by quality",
        &charts::lines(words, &groups, &panels),
        "Share of trials whose plan keeps every rule and has at least this quality; 1 is the proved bound, 0.5 the value that passes.",
        &Table::new("Plans that are at least so good, in percent", heads(&names), planners.iter().map(row).collect()),
    )
}

/// Pass rates of kinds, a column for each agent.
fn kinds(
    caption: &str,
    what: &str,
    planners: &[Planner<'_>],
    most: Most,
    of: fn(&PlanFigures) -> &[PlanKind],
) -> Table {
    let mut rows: BTreeMap<&str, (usize, Vec<Option<f64>>)> = BTreeMap::new();
    for (at, (_, plans)) in planners.iter().enumerate() {
        for kind in of(plans) {
            let row = rows.entry(&kind.name).or_insert_with(|| (kind.tasks, vec![None; planners.len()]));
            row.1[at] = Some(kind.passed);
        }
    }
    let names: Vec<&str> = [what, "tasks"].into_iter().chain(planners.iter().map(|(agent, _)| *agent)).collect();
    let row = |(name, (tasks, passed)): (&str, (usize, Vec<Option<f64>>))| {
        let named = [Cell::Text(name.to_owned()), tasks.to_string().into()];
        named.into_iter().chain(passed.into_iter().map(|share| percent(share).into())).collect()
    };
    Table::new(caption, heads(&names), rows.into_iter().take(most.rows).map(row).collect())
}
