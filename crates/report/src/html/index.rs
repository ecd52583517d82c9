//! The page of a run: first what a reader asks first (who is better, by how much, and whether that is certain), then every task by every
//! agent, what failed most, and every table and drawing.

mod answer;
mod figures;
mod plans;
mod tables;

use super::site::{Page, Site};
use super::{Cell, Table, facts, failures, matrix, minus, page_anew, part, parts, section};
use crate::Summary;
use crate::stats::Estimate;
use crate::text::{self, number, percent};
use benchwright_draw::Drawing;
use benchwright_draw::text::cut;
use maud::{Markup, html};

/// The largest index, in bytes.
pub const LARGEST_INDEX: usize = 2_000_000;

/// After how many seconds the index of a run that goes on is asked for again.
const ANEW: u32 = 15;

/// How much is shown, so that the page stays within its size.
#[derive(Clone, Copy)]
struct Most {
    agents: usize,
    rows: usize,
}

/// The index of a run, at most [`LARGEST_INDEX`] bytes: a run that is larger shows fewer rows and says so.
pub(super) fn index(site: &Site<'_>) -> String {
    let sizes = [(64, 1_000), (32, 200), (12, 60), (4, 20), (1, 5)];
    let mut out = String::new();
    for (agents, rows) in sizes {
        out = whole(site, Most { agents, rows });
        if out.len() <= LARGEST_INDEX {
            break;
        }
    }
    out
}

/// The page, showing at most so much.
fn whole(site: &Site<'_>, most: Most) -> String {
    let summary = &site.summary;
    let agents = &summary.agents[..summary.agents.len().min(most.agents)];
    let run = summary.plan.get(..16).unwrap_or(&summary.plan);
    let header = html! {
        h1 { (cut(site.title, 200)) } "\n"
        p class="soft" { "Run " code { (run) } @if !site.head.is_empty() { ", records " code { (cut(site.head, 80)) } } } "\n"
        @if let Some(standing) = &site.standing { p class="standing" { strong { "Still going: " } (cut(standing, 300)) } "\n" }
        (facts(&[
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
        ]))
        (parts(&[
            ("answer", "Who is better"), ("matrix", "Tasks and agents"), ("failed", "What failed"),
            ("results", "Results in full"), ("reading", "How to read this"),
        ]))
    };
    let more = summary.agents.len() - agents.len();
    let main = html! {
        @if more > 0 {
            p { (more) " more agents are in the JSON of this report and not on this page." } "\n"
        }
        (part("answer", "Who is better", answer::answer(site, most)))
        (part("matrix", "Tasks and agents", tasks(site, most)))
        (part("failed", "What failed most", failures::most(site, most.agents.min(12))))
        (wrong(site, most))
        div id="results" { "\n"
            (tables::results(summary, agents))
            (tables::twins(agents))
            (tables::refusals(agents))
            (tables::injections(agents))
            (plans::plans(agents, most))
            (figures::by_tier(agents))
            (figures::by_pattern(agents, most))
            (figures::feasible(agents))
            (figures::families(agents, most))
            (figures::horizon(agents))
            (figures::grids(agents))
            (figures::correlations(agents, most))
            (figures::cost(agents))
            (tables::parts(agents, most))
            (tables::compared(site, most))
            (tables::rules(agents, most))
            (tables::consistency(agents, most))
        } "\n"
        (method(summary))
    };
    page_anew(site.title, site.standing.is_some().then_some(ANEW), header, main)
}

/// The tasks of a pattern, and how many of their trials passed and were scored, by agent.
struct OfPattern<'a> {
    name: &'a str,
    /// The place of its first task in the matrix.
    first: usize,
    tasks: usize,
    passed_of: Vec<(u64, u64)>,
}

/// The matrix, or where its pages are, pattern by pattern.
fn tasks(site: &Site<'_>, most: Most) -> Markup {
    if !site.is_sharded() {
        return matrix::matrix(site, site.shard(0), "");
    }
    let agents = site.plan.agents.len().min(most.agents).min(12);
    let mut patterns: Vec<OfPattern<'_>> = Vec::new();
    for (place, task) in site.order.iter().enumerate() {
        let name = &*site.line(*task).pattern;
        if patterns.last().is_none_or(|last| last.name != name) {
            patterns.push(OfPattern { name, first: place, tasks: 0, passed_of: vec![(0, 0); agents] });
        }
        let Some(pattern) = patterns.last_mut() else { continue };
        pattern.tasks += 1;
        for (agent, (passed, scored)) in pattern.passed_of.iter_mut().enumerate() {
            let trials = site.tried[agent][*task].trials;
            *passed += u64::from(trials.passed);
            *scored += u64::from(trials.scored);
        }
    }
    let shown = patterns.len().min(most.rows);
    html! {
        p { "The tasks stand on " (site.shards()) " pages: "
            @for at in (0..site.shards()).take(most.rows.min(400)) { a href=(site.name(Page::Matrix(at))) { (at + 1) } " " } } "\n"
        div class="wide" tabindex="0" role="region" aria-label="Patterns and agents" {
            table {
                caption { "Trials that passed, of those that were scored; a pattern leads to its tasks." } "\n"
                thead { tr {
                    th scope="col" { "pattern" } th scope="col" { "tasks" }
                    @for agent in &site.plan.agents[..agents] { th scope="col" { (cut(agent, 60)) } }
                } } "\n"
                tbody { "\n"
                    @for OfPattern { name, first, tasks, passed_of } in &patterns[..shown] {
                        @let word = site.words.word('p', name).map_or_else(String::new, |word| format!("#{word}"));
                        tr {
                            th scope="row" { a href={ (site.shard_name(*first)) (word) } { (cut(name, 80)) } }
                            td { (tasks) }
                            @for (passed, scored) in passed_of { td { (passed) "/" (scored) } }
                        } "\n"
                    }
                }
            }
        } "\n"
        @if patterns.len() > shown { p { "And " (patterns.len() - shown) " more patterns." } "\n" }
    }
}

/// Records that cannot be shown as they were.
fn wrong(site: &Site<'_>, most: Most) -> Markup {
    if site.wrong.is_empty() {
        return html! {};
    }
    let list = html! {
        ul { "\n" @for wrong in site.wrong.values().take(most.rows.min(200)) { li class="fail" { (cut(wrong, 300)) } "\n" } }
        p { (answer::counted(site.wrong.len(), "record")) " cannot be shown as recorded." } "\n"
    };
    part("wrong", "Not as it was recorded", list)
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

/// The heads of a table.
fn heads(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Drawings with their words below them, and their table: at their side where they take half of the width.
fn figure(heading: &str, drawings: &[Drawing], caption: &str, table: &Table) -> Markup {
    let both = html! {
        figure { "\n"
            @for drawing in drawings { (drawing.inline()) }
            figcaption { (caption) } "\n"
        } "\n"
        (table)
    };
    let beside = drawings.iter().all(Drawing::is_half);
    section(heading, html! { @if beside { div class="beside" { "\n" (both) } } @else { (both) } })
}

fn method(summary: &Summary) -> Markup {
    let mut notes = vec![
        "Each task counts the same, however often it was tried. Trials that ended in an error are not scored; the range beside them is what they could change.".to_owned(),
        "Intervals of shares: Wilson's on the effective sample size, with Student's t and degrees of freedom from the spread between clusters; the rule of three where all results are alike.".to_owned(),
        "Intervals of rewards and of differences: Student's t with errors over clusters. A difference counts as found when its interval leaves out 0; where fewer than 10 tasks differ, the exact test must agree.".to_owned(),
        "A trial passes when no gate fired, every check that applies passed and every scored objective is within its tolerance. Paper pass is a reward of at least 0.99.".to_owned(),
    ];
    notes.extend(text::warnings(summary));
    part(
        "reading",
        "How to read this",
        html! {
            ul class="notes" { "\n"
                @for note in &notes { li { (cut(note, 1_000)) } "\n" }
            }
        },
    )
}
