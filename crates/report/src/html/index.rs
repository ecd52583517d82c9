//! The page of a run: every table and every drawing on one page, with links to the pages of trials.

mod figures;
mod plans;
mod tables;

use super::{Cell, Table, facts, page, section};
use crate::stats::Estimate;
use crate::text::{self, number, percent};
use crate::{Comparison, Summary};
use benchwright_draw::Drawing;
use benchwright_draw::text::cut;
use maud::{Markup, html};

/// The largest index, in bytes.
pub const LARGEST_INDEX: usize = 5_000_000;

/// A link to the page of a trial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageLink {
    /// Where it stands, seen from the index. Only letters, digits, `.`, `_`, `-` and `/` make a link.
    pub href: String,
    /// The name of the agent.
    pub agent: String,
    /// The id of the task.
    pub task: String,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// Whether it passed; `None` without a score.
    pub pass: Option<bool>,
    /// What is wrong with its record, where it cannot be shown as it was.
    pub wrong: Option<String>,
}

/// How many pages of trials an index lists at most.
pub const MOST_LISTED: usize = 4_000;

/// The pages of a run's trials.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pages {
    /// Those that an index may list, at most [`MOST_LISTED`].
    pub links: Vec<PageLink>,
    /// How many there are beside them.
    pub unlisted: usize,
    /// What is wrong with the records of some, those beside them too.
    pub wrong: Vec<String>,
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
    /// How many pages of trials there are beside these.
    pub unlisted: usize,
    /// The last hash of the chain over the run's records; empty where it is not told.
    pub head: &'a str,
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
    let run = summary.plan.get(..16).unwrap_or(&summary.plan);
    let header = html! {
        h1 { (cut(title, 200)) } "\n"
        p class="soft" { "Run " code { (run) } @if !beside.head.is_empty() { ", records " code { (cut(beside.head, 80)) } } } "\n"
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
    };
    let more = summary.agents.len() - agents.len();
    let main = html! {
        @if more > 0 {
            p { (more) " more agents are in the JSON of this report and not on this page." } "\n"
        }
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
        (tables::compared(beside.comparisons, most))
        (tables::rules(agents, most))
        (tables::consistency(agents, most))
        (method(summary))
        (pages(beside, most))
    };
    page(title, header, main)
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
    section(
        "How to read this",
        html! {
            ul class="notes" { "\n"
                @for note in &notes { li { (cut(note, 1_000)) } "\n" }
            }
        },
    )
}

fn pages(beside: &Index, most: Most) -> Markup {
    let pages = beside.pages;
    if pages.is_empty() {
        return html! {};
    }
    let shown = pages.len().min(most.rows.saturating_mul(4)).min(MOST_LISTED);
    let more = pages.len() - shown + beside.unlisted;
    let list = html! {
        ul class="pages" { "\n"
            @for link in &pages[..shown] { li { (link.name()) " " (link.ending()) (link.wrong()) } "\n" }
        } "\n"
        @if more > 0 {
            p { (more) " more pages are in the folder and not listed here." } "\n"
        }
    };
    section("Trials", list)
}

impl PageLink {
    /// Its name, which leads to the page if the address is one of this report.
    fn name(&self) -> Markup {
        let name = cut(&format!("{} · {} · {}", self.agent, self.task, self.attempt), 120);
        html! { @if safe(&self.href) { a href=(self.href) { (name) } } @else { (name) } }
    }

    fn wrong(&self) -> Markup {
        html! { @if let Some(wrong) = &self.wrong { " " span class="fail" { "not as it was recorded: " (cut(wrong, 200)) } } }
    }

    fn ending(&self) -> Markup {
        let (class, ending) = match self.pass {
            Some(true) => ("good", "passed"),
            Some(false) => ("fail", "failed"),
            None => ("soft", "not scored"),
        };
        html! { span class=(class) { (ending) } }
    }
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
