//! What a reader asks first: who is better, by how much, and whether that is certain.

use super::{Most, heads, minus, share};
use crate::html::site::{Page, Site};
use crate::html::{Cell, Table};
use crate::stats::{Difference, Finding};
use crate::text::{self, UNKNOWN, percent, points};
use crate::{AgentSummary, Comparison};
use benchwright_draw::text::cut;
use maud::{Markup, html};

/// A comparison as its second agent sees it.
fn turned(found: &Difference) -> (Option<f64>, Option<f64>, Option<f64>) {
    let minus = |value: Option<f64>| value.map(|value| -value);
    (minus(found.difference), minus(found.high), minus(found.low))
}

/// A number of trials in words.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

pub(super) fn answer(site: &Site<'_>, most: Most) -> Markup {
    let mut ranked: Vec<&AgentSummary> = site.summary.agents.iter().collect();
    let value = |agent: &AgentSummary| agent.all.pass_at_1.value.unwrap_or(-1.0);
    // Sorting keeps equal ones in the order of the plan.
    ranked.sort_by(|a, b| value(b).total_cmp(&value(a)));
    let Some(best) = ranked.first().filter(|best| best.all.counts.scored > 0) else {
        return html! { p { "No trial was scored yet." } };
    };
    let against = |other: &AgentSummary| {
        site.comparisons.iter().enumerate().find(|(_, found)| {
            (found.a == best.agent && found.b == other.agent) || (found.b == best.agent && found.a == other.agent)
        })
    };
    let rows = ranked.iter().take(most.agents.min(24)).map(|agent| {
        let mut row = vec![Cell::Text(agent.agent.clone()), share(&agent.all.pass_at_1)];
        match against(agent) {
            Some((_, found)) if agent.agent != best.agent => row.extend(beside(found, &best.agent)),
            _ if agent.agent == best.agent => row.extend([UNKNOWN, "", ""].map(|word| Cell::Text(word.into()))),
            _ => row.extend(["not compared", "", ""].map(|word| Cell::Text(word.into()))),
        }
        row
    });
    let links = site.comparisons.iter().enumerate().take(66.min(most.rows));
    let caption =
        "pass@1 in percent with intervals at 95 %, and how far each agent is behind the first, paired by task.";
    html! {
        (sentence(site, best, &ranked, &against))
        (Table::new(caption, heads(&["agent", "pass@1 (%)", "behind the first (points)", "p, Holm", "finding"]), rows.collect()))
        @if !site.comparisons.is_empty() {
            details open[site.comparisons.len() <= 10] {
                summary { "Two agents task by task" }
                ul class="links" {
                    @for (at, found) in links { li { a href=(site.name(Page::Versus(at))) { (cut(&found.a, 60)) " against " (cut(&found.b, 60)) } } }
                }
            } "\n"
        }
    }
}

/// How far an agent is behind the first.
fn beside(found: &Comparison, best: &str) -> [Cell; 3] {
    let pass = &found.pass;
    let (difference, low, high) = match found.a == best {
        true => (pass.difference, pass.low, pass.high),
        false => turned(pass),
    };
    [
        match (low, high) {
            (Some(_), Some(_)) => {
                Cell::Interval(minus(&points(difference)), minus(&format!("{} to {}", points(low), points(high))))
            }
            _ => minus(&points(difference)).into(),
        },
        text::chance(found.p_holm).into(),
        Cell::Text(text::finding(pass.finding, &found.a, &found.b)),
    ]
}

fn sentence<'s>(
    site: &'s Site<'_>,
    best: &AgentSummary,
    ranked: &[&AgentSummary],
    against: &dyn Fn(&AgentSummary) -> Option<(usize, &'s Comparison)>,
) -> Markup {
    let all = &best.all.pass_at_1;
    let interval = match (all.low, all.high) {
        (Some(low), Some(high)) => format!(", 95 % interval {} to {}", percent(Some(low)), percent(Some(high))),
        _ => ", without an interval".to_owned(),
    };
    let of = |wanted: &dyn Fn(Finding) -> bool| -> Vec<String> {
        let found =
            ranked.iter().skip(1).filter(|agent| against(agent).is_some_and(|(_, found)| wanted(found.pass.finding)));
        found.map(|agent| cut(&agent.agent, 60)).collect()
    };
    let alike = of(&|finding| finding == Finding::CannotDistinguish);
    let small = of(&|finding| finding == Finding::CouldNeverTell);
    let alike_value = |agent: &&&AgentSummary| agent.all.pass_at_1.value == best.all.pass_at_1.value;
    let first: Vec<String> = ranked.iter().filter(alike_value).map(|agent| cut(&agent.agent, 60)).collect();
    let behind = of(&|finding| matches!(finding, Finding::A | Finding::B));
    html! {
        p class="lead" {
            strong { (listed(&first)) } @if first.len() == 1 { " passes most often: " } @else { " pass most often, and equally often: " }
            strong { (percent(all.value)) " %" } " of the trials" @if first.len() == 1 { (interval) } ". "
            @if ranked.len() == 1 { "There is no other agent to compare it with." }
            @if !behind.is_empty() { (cut(&best.agent, 80)) " differs from " (listed(&behind)) " beyond chance. " }
            @if !alike.is_empty() { (cut(&best.agent, 80)) " cannot be told from " (listed(&alike)) ". " }
            @if !small.is_empty() {
                "This sample could never tell " (cut(&best.agent, 80)) " from " (listed(&small)) ": "
                (counted(site.summary.tasks, "task")) " in " (counted(site.summary.clusters, "cluster")) " are too few. "
            }
            @if site.summary.attempted < site.summary.planned {
                (counted(site.summary.planned - site.summary.attempted, "trial")) " have not ended yet. "
            }
        } "\n"
    }
}

/// `a, b and 3 more`.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 6;
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] if names.len() <= SHOWN => format!("{} and {last}", before.join(", ")),
        _ => format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN),
    }
}
