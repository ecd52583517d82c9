//! What failed, gathered by cause (how trials ended) and by rule, each with who it happened to and links to some of the trials.

use super::site::{Page, Site};
use super::{Cell, Table, crumbs, page, part, parts};
use crate::text::percent;
use benchwright_draw::text::cut;
use maud::{Markup, Render, html};
use std::collections::{BTreeMap, BTreeSet};

/// How many trials of a cluster are linked.
const EXAMPLES: usize = 12;
/// The most clusters on the page.
const MOST: usize = 300;

/// Trials that fell short in one way.
struct Cluster<'a> {
    /// The rule and its family, or what kind of cause and which one.
    what: (&'a str, &'a str),
    trials: u64,
    /// How many of each agent.
    of_agents: Vec<u64>,
    patterns: BTreeSet<&'a str>,
    tasks: usize,
    /// Agent and task of the first.
    examples: Vec<(usize, usize)>,
}

impl<'a> Cluster<'a> {
    fn new(what: (&'a str, &'a str), agents: usize) -> Cluster<'a> {
        let (patterns, examples) = (BTreeSet::new(), Vec::new());
        Cluster { what, trials: 0, of_agents: vec![0; agents], patterns, tasks: 0, examples }
    }
}

/// Is told what some trials fell short by, and how many of them.
type Told<'t, 'a> = dyn FnMut((&'a str, &'a str), u64) + 't;

/// Gathers what falls short; `each` tells of the trials of one agent at one task what it was and how often.
fn gather<'a>(site: &Site<'a>, each: &dyn Fn(&'a crate::summary::Trials, &mut Told<'_, 'a>)) -> Vec<Cluster<'a>> {
    let mut found: BTreeMap<(&str, &str), Cluster<'a>> = BTreeMap::new();
    let agents = site.plan.agents.len();
    for task in &site.order {
        let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
        for agent in 0..agents {
            each(site.tried[agent][*task].trials, &mut |what, count| {
                let cluster = found.entry(what).or_insert_with(|| Cluster::new(what, agents));
                cluster.trials += count;
                cluster.of_agents[agent] += count;
                cluster.patterns.insert(&site.line(*task).pattern);
                cluster.tasks += usize::from(seen.insert(what));
                if cluster.examples.len() < EXAMPLES {
                    cluster.examples.push((agent, *task));
                }
            });
        }
    }
    let mut found: Vec<Cluster<'a>> = found.into_values().collect();
    // Sorting keeps equal ones in the order of their names.
    found.sort_by_key(|cluster| std::cmp::Reverse(cluster.trials));
    found
}

fn by_rule<'a>(site: &Site<'a>) -> Vec<Cluster<'a>> {
    gather(site, &|trials, tell| {
        for (rule, count) in &trials.failed {
            if let Some((rule, family)) = site.rules.get(rule) {
                tell((rule, family), u64::from(*count));
            }
        }
    })
}

fn by_cause<'a>(site: &Site<'a>) -> Vec<Cluster<'a>> {
    gather(site, &|trials, tell| {
        for (what, named) in
            [("error", &trials.causes), ("gate", &trials.gates), ("limit", &trials.limits), ("program", &trials.broken)]
        {
            named.iter().for_each(|(name, count)| tell((name, what), *count as u64));
        }
    })
}

pub(super) fn page_of(site: &Site<'_>) -> String {
    let title = "What failed";
    let header = html! {
        (crumbs(&[(site.name(Page::Index), "Report")], title))
        h1 { (title) } "\n"
        p { "Trials that fell short, by how they ended and by the rules that failed in them. A trial can stand in several clusters." } "\n"
        (parts(&[("causes", "By cause"), ("rules", "By rule"), ("errors", "Errors in full")]))
    };
    let (causes, rules) = (by_cause(site), by_rule(site));
    let main = html! {
        (part("causes", "By cause", clusters(site, &causes, 'e', "No trial ended in an error, at a limit or by a gate.")))
        (part("rules", "By rule", clusters(site, &rules, 'r', "No rule failed.")))
        (part("errors", "Errors in full", errors(site)))
    };
    page(&format!("{title} · {}", site.title), header, main)
}

/// The part of the index: the rules and causes with most trials.
pub(super) fn most(site: &Site<'_>, agents: usize) -> Markup {
    let (causes, rules) = (by_cause(site), by_rule(site));
    let row = |cluster: &Cluster<'_>| {
        let (name, family) = cluster.what;
        let first = [Cell::Text(name.to_owned()), Cell::Left(family.to_owned()), cluster.trials.to_string().into()];
        let counts = cluster.of_agents.iter().take(agents).map(|count| count.to_string().into());
        first.into_iter().chain([cluster.tasks.to_string().into()]).chain(counts).collect()
    };
    let rows: Vec<Vec<Cell>> = causes.iter().take(5).chain(rules.iter().take(7)).map(row).collect();
    if rows.is_empty() {
        return html! { p { "Nothing failed." } };
    }
    let named = site.plan.agents.iter().take(agents).cloned();
    let names = ["what", "kind or family", "trials", "tasks"].map(str::to_owned).into_iter().chain(named).collect();
    html! {
        (Table::new("The causes and rules with most trials; trials of each agent.", names, rows))
        p { a href=(site.name(Page::Failures)) { "All " (causes.len() + rules.len()) " clusters, with links to trials" } } "\n"
    }
}

fn clusters(site: &Site<'_>, clusters: &[Cluster<'_>], letter: char, none: &str) -> Markup {
    if clusters.is_empty() {
        return html! { p { (none) } };
    }
    let scored = |agent: usize| site.summary.agents.get(agent).map_or(0, |of| of.all.counts.attempted);
    html! {
        @for cluster in clusters.iter().take(MOST) {
            @let (name, kind) = cluster.what;
            details class="cluster" open[clusters.len() <= 12] {
                summary {
                    strong { (cut(name, 200)) } " " span class="soft" { (cut(kind, 100)) } " "
                    (cluster.trials) " trials, " (cluster.tasks) " tasks, " (cluster.patterns.len()) " patterns"
                }
                dl class="facts" {
                    @for (agent, count) in cluster.of_agents.iter().enumerate().filter(|(_, count)| **count > 0).take(64) {
                        div { dt { (cut(&site.plan.agents[agent], 60)) } dd {
                            (count) " " small class="soft" {
                                "of " (scored(agent)) ", " (percent(Some(*count as f64 / scored(agent).max(1) as f64))) " %"
                            }
                        } }
                    }
                } "\n"
                ul class="links" {
                    @for (agent, task) in &cluster.examples {
                        li { a href=(site.failed_href(*agent, *task)) {
                            (cut(&site.line(*task).id, 60)) " · " (cut(&site.plan.agents[*agent], 60))
                        } }
                    }
                } "\n"
                @let word = match letter {
                    'e' => site.words.word(letter, &format!("{kind}: {name}")),
                    letter => site.words.word(letter, name),
                };
                @if let Some(word) = word {
                    p { a href={ (site.shard_name(0)) "#" (word) } { "These tasks in the matrix" }
                        @if site.is_sharded() { " (its first page)" } }
                }
            } "\n"
        }
        @if clusters.len() > MOST { p { "And " (clusters.len() - MOST) " more, in the JSON of this report." } }
    }
}

/// What errors said.
fn errors(site: &Site<'_>) -> Markup {
    let row = |agent: &crate::AgentSummary| {
        let line = |line: &crate::ErrorLine| {
            vec![
                Cell::Text(agent.agent.clone()),
                Cell::Left(line.cause.clone()),
                line.trials.to_string().into(),
                Cell::Long(line.detail.clone()),
            ]
        };
        agent.errors.iter().map(line).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<Cell>> = site.summary.agents.iter().flat_map(row).collect();
    if rows.is_empty() {
        return html! { p { "No trial ended in an error." } };
    }
    let names = ["agent", "cause", "trials", "what was said"].map(str::to_owned).into();
    Table::new("The most frequent errors of each agent.", names, rows).render()
}
