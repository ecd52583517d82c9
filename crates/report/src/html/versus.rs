//! Two agents task by task: the paired difference, where only one of them passes, and which rules tell them apart.

use super::site::{Page, Site};
use super::{Cell, Table, crumbs, minus, page, part, parts};
use crate::stats::Difference;
use crate::summary::Tried;
use crate::text::{chance, finding, percent, points};
use benchwright_draw::text::cut;
use maud::{Markup, Render as _, html};
use std::collections::BTreeMap;

/// The most tasks in a list.
const MOST: usize = 500;

pub(super) fn page_of(site: &Site<'_>, at: usize) -> String {
    let found = &site.comparisons[at];
    let title = format!("{} against {}", found.a, found.b);
    let place = |name: &str| site.plan.agents.iter().position(|agent| agent == name);
    let header = html! {
        (crumbs(&[(site.name(Page::Index), "Report")], &title))
        h1 { (cut(&title, 200)) } "\n"
        p { (finding(found.pass.finding, &found.a, &found.b)) ": " (minus(&points(found.pass.difference))) " points of pass@1, 95 % interval "
            (minus(&points(found.pass.low))) " to " (minus(&points(found.pass.high))) ", over " (found.pass.tasks) " tasks." } "\n"
        (parts(&[("tiers", "By tier"), ("first", "Only the first"), ("second", "Only the second"), ("mixed", "Mixed"), ("rules", "Rules")]))
    };
    let main = html! {
        (part("tiers", "By tier", tiers(found).render()))
        @if let (Some(a), Some(b)) = (place(&found.a), place(&found.b)) {
            @let [first, second, mixed] = differing(site, a, b);
            (part("first", &format!("Tasks that only {} passes", found.a), tasks(site, a, b, &first)))
            (part("second", &format!("Tasks that only {} passes", found.b), tasks(site, a, b, &second)))
            (part("mixed", "Tasks that one passes more often", tasks(site, a, b, &mixed)))
            (part("rules", "Rules that tell them apart", rules(site, a, b)))
        }
    };
    page(&format!("{title} · {}", site.title), header, main)
}

fn tiers(found: &crate::Comparison) -> Table {
    let row = |name: &str, found: &Difference, p: Option<f64>| {
        vec![
            Cell::Text(name.to_owned()),
            found.tasks.to_string().into(),
            percent(found.a).into(),
            percent(found.b).into(),
            Cell::Interval(
                minus(&points(found.difference)),
                minus(&format!("{} to {}", points(found.low), points(found.high))),
            ),
            chance(p).into(),
            found.only_a.to_string().into(),
            found.only_b.to_string().into(),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = found.tiers.iter().map(|(tier, found)| row(tier, found, found.p)).collect();
    rows.push(row("all", &found.pass, found.p_holm));
    let names = ["tier", "tasks", &*found.a, &*found.b, "difference (points)", "p", "tasks better: first", "second"];
    let caption = format!(
        "pass@1 in percent, paired by task. Over all tasks p is Holm's. {} tasks are left out, because one side has no scored trial there.",
        found.left_out
    );
    Table::new(caption, names.map(str::to_owned).into(), rows)
}

/// Tasks that only the first passes, only the second, and those where both do, one of them more often.
fn differing(site: &Site<'_>, a: usize, b: usize) -> [Vec<usize>; 3] {
    let mut found = [Vec::new(), Vec::new(), Vec::new()];
    for task in &site.order {
        let (left, right) = (site.tried[a][*task].trials, site.tried[b][*task].trials);
        if left.scored == 0 || right.scored == 0 {
            continue;
        }
        match (left.passed, right.passed) {
            (1.., 0) => found[0].push(*task),
            (0, 1..) => found[1].push(*task),
            (x, y) if u64::from(x) * u64::from(right.scored) != u64::from(y) * u64::from(left.scored) => {
                found[2].push(*task)
            }
            _ => {}
        }
    }
    found
}

/// Tasks with the trials of both, and what failed for who fell short.
fn tasks(site: &Site<'_>, a: usize, b: usize, tasks: &[usize]) -> Markup {
    if tasks.is_empty() {
        return html! { p { "None." } };
    }
    let failed = |of: Tried<'_>| -> Vec<String> {
        let named =
            of.trials.failed.iter().filter_map(|(rule, _)| site.rules.get(rule)).map(|(rule, _)| (*rule).to_owned());
        let gates = of.trials.gates.keys().map(|gate| format!("gate {gate}"));
        gates.chain(named).take(4).collect()
    };
    html! {
        div class="wide" tabindex="0" {
            table class="matrix" {
                thead { tr {
                    th scope="col" { "task" }
                    @for agent in [a, b] { th scope="col" { (cut(&site.plan.agents[agent], 60)) } }
                    th scope="col" class="left" { "what failed" } th scope="col" class="left" { "tier" }
                    th scope="col" class="left" { "pattern" }
                } }
                tbody {
                    @for task in tasks.iter().take(MOST) {
                        @let line = site.line(*task);
                        @let mut said: Vec<String> = [a, b].into_iter().flat_map(|agent| failed(site.tried[agent][*task])).collect();
                        @let () = { said.sort(); said.dedup() };
                        tr {
                            th scope="row" { a href=(site.name(Page::Task(*task))) { (cut(&line.id, 80)) } }
                            @for agent in [a, b] { td { (site.attempts(agent, *task, "")) } }
                            td class="left long" { (cut(&said.join(", "), 200)) }
                            td class="left" { (cut(&line.tier, 40)) }
                            td class="left" { (cut(&line.pattern, 80)) }
                        } "\n"
                    }
                }
            }
        }
        @if tasks.len() > MOST { p { "And " (tasks.len() - MOST) " more tasks." } }
    }
}

/// How often rules failed for each, where that differs.
fn rules(site: &Site<'_>, a: usize, b: usize) -> Markup {
    let mut found: BTreeMap<(&str, &str), [f64; 2]> = BTreeMap::new();
    for (side, agent) in [a, b].into_iter().enumerate() {
        let Some(summary) = site.summary.agents.get(agent) else { continue };
        for rule in &summary.rules {
            found.entry((&rule.name, &rule.family)).or_default()[side] = rule.rate;
        }
    }
    let mut found: Vec<((&str, &str), [f64; 2])> = found.into_iter().filter(|(_, [a, b])| a != b).collect();
    found.sort_by(|(_, x), (_, y)| (y[0] - y[1]).abs().total_cmp(&(x[0] - x[1]).abs()));
    if found.is_empty() {
        return html! { p { "No rule fails more often for one than for the other." } };
    }
    let row = |((rule, family), [left, right]): &((&str, &str), [f64; 2])| {
        vec![
            Cell::Text((*rule).to_owned()),
            Cell::Left((*family).to_owned()),
            percent(Some(*left)).into(),
            percent(Some(*right)).into(),
            minus(&points(Some(left - right))).into(),
        ]
    };
    let names = ["rule", "family", &*site.plan.agents[a], &*site.plan.agents[b], "difference (points)"];
    let rows = found.iter().take(60).map(row).collect();
    let caption = "Share of scored trials in which a rule failed, in percent, by how far they are apart.";
    Table::new(caption, names.map(str::to_owned).into(), rows).render()
}
