//! The page of a task across agents: how each fared, which rules failed for whom, every trial with its link, and what was asked.

use super::site::{Page, Site, mark};
use super::{Cell, Table, crumbs, facts, markdown, page, part, parts};
use crate::summary::Tried;
use crate::text::{UNKNOWN, number, percent};
use benchwright_draw::text::cut;
use maud::{Markup, Render as _, html};
use std::collections::BTreeMap;

/// The most attempts of an agent that are listed.
const MOST_ATTEMPTS: u32 = 400;
/// The most rules that are listed.
const MOST_RULES: usize = 200;

pub(super) fn page_of(site: &Site<'_>, task: usize, brief: Option<&str>) -> String {
    let line = site.line(task);
    let place = site.places[task];
    let near =
        |at: Option<usize>| at.and_then(|at| site.order.get(at)).map(|at| format!("../{}", site.name(Page::Task(*at))));
    let (before, after) = (near(place.checked_sub(1)), near(Some(place + 1)));
    let matrix = format!("../{}", site.shard_name(place));
    let mut known = vec![
        ("domain", line.domain.clone()),
        ("pattern", line.pattern.clone()),
        ("tier", line.tier.clone()),
        ("objective", line.objective.clone()),
        ("oracle's calls", line.horizon.to_string()),
    ];
    if let Some(obstacle) = &line.obstacle {
        known.push(("cannot be carried out", obstacle.clone()));
    }
    if let Some(problem) = &line.problem {
        known.extend([("problem", problem.class.clone()), ("trade", problem.trade.clone())]);
    }
    known.extend(line.parameters.iter().take(8).map(|(name, value)| (&**name, value.to_string())));
    let header = html! {
        (crumbs(&[("../index.html".to_owned(), "Report"), (format!("{matrix}#matrix"), "Tasks and agents")], &line.id))
        h1 { (cut(&line.id, 200)) } "\n"
        (facts(&known))
        nav class="walk" aria-label="Tasks" {
            @if let Some(href) = &before { a rel="prev" href=(href) { "← task before" } " " }
            @if let Some(href) = &after { a rel="next" href=(href) { "task after →" } }
        } "\n"
        (parts(&[("agents", "Agents"), ("rules", "Failed rules"), ("trials", "Trials"), ("brief", "Brief")]))
    };
    let main = html! {
        (part("agents", "Agents side by side", side_by_side(site, task).render()))
        (part("rules", "Rules that failed", rules(site, task)))
        (part("trials", "Trials", trials(site, task)))
        (part("brief", "What was asked", html! {
            @match brief {
                Some(brief) => (markdown::brief(brief)),
                None => p { "The tasks of this run were not at hand when this page was made." },
            }
        }))
    };
    page(&format!("{} · {}", line.id, site.title), header, main)
}

/// The agents with what their trials of a task came to.
fn of_task<'s>(site: &'s Site<'_>, task: usize) -> impl Iterator<Item = (usize, &'s str, Tried<'s>)> {
    let agents = site.plan.agents.iter().enumerate();
    agents.map(move |(at, agent)| (at, &**agent, site.tried[at][task]))
}

fn side_by_side(site: &Site<'_>, task: usize) -> Table {
    let row = |(_, agent, of): (usize, &str, Tried<'_>)| {
        let trials = of.trials;
        let mean = |sum: f64| (trials.scored > 0).then(|| sum / f64::from(trials.scored));
        let share = |count: u32| percent(mean(f64::from(count)));
        let known = |known: crate::summary::Known, scale: f64| {
            (known.trials > 0).then(|| known.sum as f64 / f64::from(known.trials) / scale)
        };
        let named = [&trials.causes, &trials.limits, &trials.gates, &trials.broken];
        let notes: Vec<String> = named.into_iter().flatten().map(|(name, count)| format!("{count} {name}")).collect();
        vec![
            Cell::Text(agent.to_owned()),
            format!("{}/{}", trials.passed, trials.scored).into(),
            share(trials.clean).into(),
            number(mean(trials.reward as f64 / 1e6), 3).into(),
            number(mean(trials.calls as f64), 1).into(),
            number(mean(trials.refused as f64), 1).into(),
            number(known(trials.turns, 1.0), 1).into(),
            number(known(trials.tokens_out, 1.0), 0).into(),
            number(known(trials.cost, 1e6), 4).into(),
            Cell::Left(notes.join(", ")),
        ]
    };
    let names = [
        "agent",
        "passed",
        "clean (%)",
        "mean reward",
        "calls",
        "refused",
        "turns",
        "tokens out",
        "cost ($)",
        "what else",
    ];
    let rows = of_task(site, task).map(row).collect();
    Table::new(format!("Means over scored trials; {UNKNOWN} is not known."), names.map(str::to_owned).into(), rows)
}

/// In how many trials of whom a rule failed.
fn rules(site: &Site<'_>, task: usize) -> Markup {
    let mut found: BTreeMap<(&str, &str), Vec<u32>> = BTreeMap::new();
    for (agent, _, of) in of_task(site, task) {
        for (rule, count) in &of.trials.failed {
            let Some((rule, family)) = site.rules.get(rule) else { continue };
            found.entry((family, rule)).or_insert_with(|| vec![0; site.plan.agents.len()])[agent] = *count;
        }
    }
    if found.is_empty() {
        return html! { p { "No rule failed in a scored trial." } };
    }
    let row = |((family, rule), counts): (&(&str, &str), &Vec<u32>)| {
        let named = [Cell::Text((*rule).to_owned()), Cell::Left((*family).to_owned())];
        named.into_iter().chain(counts.iter().map(|count| count.to_string().into())).collect()
    };
    let names = ["rule", "family"].map(str::to_owned).into_iter().chain(site.plan.agents.iter().cloned()).collect();
    let caption = match found.len() > MOST_RULES {
        true => format!("Scored trials in which a rule failed; the first {MOST_RULES} of {} rules.", found.len()),
        false => "Scored trials in which a rule failed.".to_owned(),
    };
    Table::new(caption, names, found.iter().take(MOST_RULES).map(row).collect()).render()
}

/// Every attempt of every agent.
fn trials(site: &Site<'_>, task: usize) -> Markup {
    let attempts = site.plan.attempts;
    html! {
        @for (agent, name, of) in of_task(site, task) {
            div class="tries" id={ "agent-" (agent + 1) } {
                h3 { (cut(name, 200)) } " "
                span class="soft" { (of.trials.passed) " of " (of.trials.scored) " passed" }
                ol class="marks" {
                    @for attempt in 1..=attempts.min(MOST_ATTEMPTS) {
                        @let (class, sign, word) = mark(of.trials.came(attempt));
                        li {
                            @if site.is_paged(agent, attempt, task) {
                                a class=(class) href={ "../" (site.trial_href(agent, attempt, task)) } { (sign) " " (word) }
                            } @else {
                                span class=(class) { (sign) " " (word) }
                            }
                        }
                    }
                }
                @if attempts > MOST_ATTEMPTS { p { "And " (attempts - MOST_ATTEMPTS) " more attempts." } }
            } "\n"
        }
        p class="soft" { "A trial without a link has no page in this report." } "\n"
    }
}
