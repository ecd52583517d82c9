//! The matrix: a row for each task, a column for each agent, a mark for each attempt that leads to its page. Every row carries short words
//! for what it may be filtered by; the script hides the rows that lack one of those chosen.

use super::site::Site;
use super::{crumbs, page};
use crate::summary::Tried;
use benchwright_draw::text::cut;
use benchwright_pack::run::RunPlan;
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// The most choices of one filter.
const MOST_CHOICES: usize = 500;
/// What rows may be filtered by: the letter of its words, and what it is called.
const FILTERS: [(char, &str); 7] = [
    ('d', "Domain"),
    ('p', "Pattern"),
    ('t', "Tier"),
    ('o', "Objective"),
    ('e', "Ending"),
    ('f', "Failed family"),
    ('r', "Failed rule"),
];

/// The words of filters: for each letter the names in order, whose places are the numbers of the words.
pub(super) struct Words {
    names: BTreeMap<char, Vec<String>>,
    /// The words of each task, by its place in the plan.
    of_tasks: Vec<BTreeSet<(char, usize)>>,
}

impl Words {
    pub(super) fn of(plan: &RunPlan, tried: &[Vec<Tried<'_>>], rules: &BTreeMap<u32, (&str, &str)>) -> Words {
        let mut said: Vec<BTreeSet<(char, String)>> = Vec::new();
        for (at, task) in plan.tasks.iter().enumerate() {
            let mut own = BTreeSet::from([
                ('d', task.domain.clone()),
                ('p', task.pattern.clone()),
                ('t', task.tier.clone()),
                ('o', task.obstacle.as_ref().unwrap_or(&task.objective).clone()),
            ]);
            for tried in tried {
                let trials = tried[at].trials;
                let ends = [
                    (trials.passed > 0, "passed"),
                    (trials.scored > trials.passed, "failed"),
                    (trials.ended > trials.scored, "not scored"),
                    (trials.ended < plan.attempts, "not ended"),
                    (trials.passed > 0 && trials.passed < trials.scored, "passed and failed by one agent"),
                ];
                own.extend(ends.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| ('e', word.to_owned())));
                for (what, named) in [
                    ("error", &trials.causes),
                    ("limit", &trials.limits),
                    ("gate", &trials.gates),
                    ("program", &trials.broken),
                ] {
                    own.extend(named.keys().map(|name| ('e', format!("{what}: {name}"))));
                }
                for (rule, family) in trials.failed.iter().filter_map(|(number, _)| rules.get(number)) {
                    own.insert(('f', (*family).to_owned()));
                    own.insert(('r', (*rule).to_owned()));
                }
            }
            said.push(own);
        }
        let mut names: BTreeMap<char, Vec<String>> = BTreeMap::new();
        let all: BTreeSet<&(char, String)> = said.iter().flatten().collect();
        for (letter, name) in all {
            names.entry(*letter).or_default().push(name.clone());
        }
        let number = |(letter, name): &(char, String)| {
            let place = names.get(letter).and_then(|names| names.binary_search(name).ok());
            (*letter, place.unwrap_or_default())
        };
        let of_tasks = said.iter().map(|own| own.iter().map(number).collect()).collect();
        Words { names, of_tasks }
    }

    /// The word of a name, by which a link chooses it.
    pub(super) fn word(&self, letter: char, name: &str) -> Option<String> {
        let place = self.names.get(&letter)?.iter().position(|known| known == name)?;
        Some(format!("{letter}{place}"))
    }

    fn of_task(&self, task: usize) -> String {
        let words: Vec<String> = self.of_tasks[task].iter().map(|(letter, place)| format!("{letter}{place}")).collect();
        words.join(" ")
    }
}

/// A page of the matrix.
pub(super) fn page_of(site: &Site<'_>, at: usize) -> String {
    let shards = site.shards();
    let title = format!("Tasks and agents, page {} of {shards}", at + 1);
    let to = |at: usize| site.name(super::Page::Matrix(at));
    let header = html! {
        (crumbs(&[(site.name(super::Page::Index), "Report")], &title))
        h1 { (title) } "\n"
        nav class="walk" aria-label="Pages" {
            @if at > 0 { a rel="prev" href=(to(at - 1)) { "← page " (at) } " " }
            @if at + 1 < shards { a rel="next" href=(to(at + 1)) { "page " (at + 2) " →" } }
        } "\n"
    };
    let main = html! { section id="matrix" { (matrix(site, site.shard(at), "")) } };
    page(&title, header, main)
}

/// The matrix of some tasks, with its filters. `root` leads to the index.
pub(super) fn matrix(site: &Site<'_>, tasks: &[usize], root: &str) -> Markup {
    let agents = site.plan.agents.len().min(64);
    html! {
        (filters(site, tasks))
        p class="soft" {
            "✓ passed, ✗ failed, ! not scored, · not ended; each leads to the trial, or to the task where the trial has no page."
        } "\n"
        div class="wide tall" tabindex="0" role="region" aria-label="Tasks and agents" {
            table class="matrix" {
                thead {
                    tr {
                        th scope="col" { "task" }
                        @for agent in &site.plan.agents[..agents] { th scope="col" { (cut(agent, 60)) } }
                        th scope="col" class="left" { "tier" }
                        th scope="col" class="left" { "pattern" }
                    }
                } "\n"
                tbody { "\n"
                    @for task in tasks {
                        @let line = site.line(*task);
                        tr data-k=(site.words.of_task(*task)) {
                            th scope="row" { a href={ (root) (site.name(super::Page::Task(*task))) } { (cut(&line.id, 80)) } }
                            @for agent in 0..agents { td { (site.attempts(agent, *task, root)) } }
                            td class="left" { (cut(&line.tier, 40)) }
                            td class="left" { (cut(&line.pattern, 80)) }
                        } "\n"
                    }
                }
            }
        } "\n"
        @if site.plan.agents.len() > agents { p { (site.plan.agents.len() - agents) " more agents stand on the pages of the tasks." } "\n" }
    }
}

/// What rows can be filtered by. It is hidden where no script runs.
fn filters(site: &Site<'_>, tasks: &[usize]) -> Markup {
    let mut found: BTreeMap<(char, usize), usize> = BTreeMap::new();
    for word in tasks.iter().flat_map(|task| &site.words.of_tasks[*task]) {
        *found.entry(*word).or_default() += 1;
    }
    let choices = |letter: char| -> Vec<(usize, usize)> {
        found.range((letter, 0)..=(letter, usize::MAX)).map(|((_, place), count)| (*place, *count)).collect()
    };
    html! {
        div class="filters" hidden { "\n"
            @for (letter, name) in FILTERS {
                @let choices = choices(letter);
                @if choices.len() > 1 || (!choices.is_empty() && matches!(letter, 'e' | 'f' | 'r')) {
                    label {
                        (name) " "
                        select data-filter=(letter) {
                            option value="" { "all" }
                            @for (place, count) in choices.iter().take(MOST_CHOICES) {
                                @let name = site.words.names.get(&letter).and_then(|names| names.get(*place));
                                option value={ (letter) (place) } { (cut(name.map_or("", |name| name), 60)) " (" (count) ")" }
                            }
                        }
                    } "\n"
                }
            }
            label { "Search " input type="search" data-search placeholder="task or pattern"; } "\n"
            button type="button" data-reset { "Show all" } " "
            output aria-live="polite" {} "\n"
        } "\n"
    }
}
