//! The pages of a run as a whole: which there are, what each is called, and how they lead to each other. Names depend on what a page shows
//! and on nothing else, so that the same run has the same pages wherever they are written or served.

use super::{failures, index, matrix, task, trial, versus};
use crate::summary::{Came, Tried};
use crate::{Comparison, Summary, Tally};
use benchwright_base::Digest;
use benchwright_pack::{
    run::{RunPlan, TaskLine, TrialKey, TrialRecord},
    tier_place,
};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// How many tasks a page of the matrix has at most.
const TASKS_OF_A_PAGE: usize = 300;
/// How many comparisons get a page: those of twelve agents.
const MOST_VERSUS: usize = 66;
/// How many attempts a cell of the matrix shows one by one.
const MOST_MARKS: u32 = 5;

/// Where the page of a trial stands, seen from the index: a name that depends on the trial alone.
pub fn page_name(key: &TrialKey) -> String {
    let attempt = key.attempt.to_le_bytes();
    named("trials", &[("task", key.task.as_bytes()), ("agent", key.agent.as_bytes()), ("attempt", &attempt[..])])
}

fn named(folder: &str, parts: &[(&str, &[u8])]) -> String {
    let digest = Digest::of_parts(parts.iter().copied()).to_string();
    format!("{folder}/{}.html", digest.get(..20).unwrap_or(&digest))
}

/// A page that is drawn from the records alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Page {
    /// The first one.
    Index,
    /// Some tasks by all agents; the first has the number 0.
    Matrix(usize),
    /// What failed, by rule and by cause.
    Failures,
    /// Two agents task by task; the number is the place of the comparison.
    Versus(usize),
    /// One task by all agents; the number is its place in the plan.
    Task(usize),
}

/// All that the pages of a run are drawn from.
pub struct Site<'a> {
    pub(super) title: &'a str,
    /// The last hash of the chain over the records; empty where it is not told.
    pub(super) head: &'a str,
    pub(super) plan: &'a RunPlan,
    pub(super) summary: Summary,
    pub(super) comparisons: Vec<Comparison>,
    /// The trials by agent and task, both in the order of the plan.
    pub(super) tried: Vec<Vec<Tried<'a>>>,
    /// The rules that failed somewhere, by the number that trials know them by.
    pub(super) rules: BTreeMap<u32, (&'a str, &'a str)>,
    /// The places of the tasks as the matrix lists them: alike tasks together.
    pub(super) order: Vec<usize>,
    /// The place of each task in that order.
    pub(super) places: Vec<usize>,
    pub(super) words: matrix::Words,
    /// The trials that have a page, by number.
    paged: BTreeSet<i64>,
    /// What is wrong with the records of trials.
    pub(super) wrong: BTreeMap<i64, String>,
    /// A line on a run that still goes on.
    pub(super) standing: Option<String>,
}

impl<'a> Site<'a> {
    /// The pages of a run without pages of trials.
    pub fn new(title: &'a str, head: &'a str, tally: &'a Tally<'a>, comparisons: Vec<Comparison>) -> Site<'a> {
        let plan = tally.plan;
        let tried: Vec<Vec<Tried<'a>>> = plan.agents.iter().map(|agent| tally.tried(agent)).collect();
        let rules = tally.rules();
        let mut order: Vec<usize> = (0..plan.tasks.len()).collect();
        order.sort_by_key(|at| {
            let task = &plan.tasks[*at];
            (&task.domain, &task.pattern, tier_place(&task.tier), *at)
        });
        let mut places = vec![0; order.len()];
        for (place, task) in order.iter().enumerate() {
            places[*task] = place;
        }
        let words = matrix::Words::of(plan, &tried, &rules);
        Site {
            title: if title.is_empty() { "Benchwright report" } else { title },
            head,
            plan,
            summary: tally.summary(),
            comparisons,
            tried,
            rules,
            order,
            places,
            words,
            paged: BTreeSet::new(),
            wrong: BTreeMap::new(),
            standing: None,
        }
    }

    /// The same with pages of these trials, by number, and what is wrong with the records of some.
    pub fn with_trials(mut self, paged: BTreeSet<i64>, wrong: BTreeMap<i64, String>) -> Site<'a> {
        (self.paged, self.wrong) = (paged, wrong);
        self
    }

    /// The same of a run that still goes on, with a line on how far it is.
    pub fn still_going(mut self, standing: String) -> Site<'a> {
        self.standing = Some(standing);
        self
    }

    /// What is wrong with records, trial by trial.
    pub fn into_wrong(self) -> Vec<String> {
        self.wrong.into_values().collect()
    }

    /// What the run amounts to.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// All pages but those of trials.
    pub fn pages(&self) -> Vec<Page> {
        let shards = if self.is_sharded() { self.shards() } else { 0 };
        let versus = self.comparisons.len().min(MOST_VERSUS);
        [Page::Index, Page::Failures]
            .into_iter()
            .chain((0..shards).map(Page::Matrix))
            .chain((0..versus).map(Page::Versus))
            .chain((0..self.plan.tasks.len()).map(Page::Task))
            .collect()
    }

    /// Where a page stands, seen from the index.
    pub fn name(&self, page: Page) -> String {
        match page {
            Page::Index => "index.html".to_owned(),
            Page::Matrix(at) => format!("matrix-{}.html", at + 1),
            Page::Failures => "failures.html".to_owned(),
            Page::Versus(at) => format!("versus-{}.html", at + 1),
            Page::Task(at) => named("tasks", &[("task", self.plan.tasks[at].digest.as_bytes())]),
        }
    }

    /// A page. `brief` is what the agents of a task were told, where that is known; other pages do not look at it.
    pub fn render(&self, page: Page, brief: Option<&str>) -> String {
        match page {
            Page::Index => index::index(self),
            Page::Matrix(at) => matrix::page_of(self, at),
            Page::Failures => failures::page_of(self),
            Page::Versus(at) => versus::page_of(self, at),
            Page::Task(at) => task::page_of(self, at, brief),
        }
    }

    /// The page of a trial. `made` is what came of making its calls again; `wrong` is why that could not be had.
    pub fn trial(&self, record: &TrialRecord, made: Option<&trial::Made>, wrong: Option<&str>) -> String {
        trial::page_of(self, record, made, wrong)
    }

    /// How many pages the matrix has.
    pub(super) fn shards(&self) -> usize {
        self.order.len().div_ceil(TASKS_OF_A_PAGE)
    }

    /// Whether the matrix has pages of its own; else it stands on the index.
    pub(super) fn is_sharded(&self) -> bool {
        self.shards() > 1 || self.plan.agents.len() > 64
    }

    /// The tasks of a page of the matrix.
    pub(super) fn shard(&self, at: usize) -> &[usize] {
        self.order.chunks(TASKS_OF_A_PAGE).nth(at).unwrap_or_default()
    }

    /// The page of the matrix that has a task, from its place in the order.
    pub(super) fn shard_name(&self, place: usize) -> String {
        match self.is_sharded() {
            true => self.name(Page::Matrix(place / TASKS_OF_A_PAGE)),
            false => self.name(Page::Index),
        }
    }

    /// The line of a task in the plan.
    pub(super) fn line(&self, task: usize) -> &'a TaskLine {
        &self.plan.tasks[task]
    }

    /// The number of a trial, as the plan counts.
    pub(super) fn number(&self, agent: usize, attempt: u32, task: usize) -> i64 {
        let before = agent * self.plan.attempts as usize + attempt.saturating_sub(1) as usize;
        (before * self.plan.tasks.len() + task + 1) as i64
    }

    /// The link to a trial, seen from the index: its page where it has one, else that of its task.
    pub(super) fn trial_href(&self, agent: usize, attempt: u32, task: usize) -> String {
        match self.paged.contains(&self.number(agent, attempt, task)) {
            true => {
                let key =
                    TrialKey { task: self.line(task).digest.clone(), agent: self.plan.agents[agent].clone(), attempt };
                page_name(&key)
            }
            false => self.agent_href(agent, task),
        }
    }

    /// Whether a trial has a page.
    pub(super) fn is_paged(&self, agent: usize, attempt: u32, task: usize) -> bool {
        self.paged.contains(&self.number(agent, attempt, task))
    }

    /// The link to an agent on the page of a task, seen from the index.
    pub(super) fn agent_href(&self, agent: usize, task: usize) -> String {
        format!("{}#agent-{}", self.name(Page::Task(task)), agent + 1)
    }

    /// The link to what best shows how an agent fell short of a task.
    pub(super) fn failed_href(&self, agent: usize, task: usize) -> String {
        let trials = self.tried[agent][task].trials;
        let short = |attempt: &u32| {
            matches!(trials.came(*attempt), Came::Failed | Came::NotScored) && self.is_paged(agent, *attempt, task)
        };
        // Who tried very often is not searched to the end.
        match (1..=self.plan.attempts.min(1_000)).find(short) {
            Some(attempt) => self.trial_href(agent, attempt, task),
            None => self.agent_href(agent, task),
        }
    }

    /// The attempts of an agent at a task as marks, or how many passed, each a link. `root` leads to the index.
    pub(super) fn attempts(&self, agent: usize, task: usize, root: &str) -> Markup {
        let trials = self.tried[agent][task].trials;
        if self.plan.attempts > MOST_MARKS {
            let class = match (trials.passed, trials.scored) {
                (_, 0) => "n",
                (passed, scored) if passed == scored => "p",
                (0, _) => "f",
                _ => "m",
            };
            let href = format!("{root}{}", self.agent_href(agent, task));
            return html! { a class=(class) href=(href) { (trials.passed) "/" (trials.scored) } };
        }
        html! {
            @for attempt in 1..=self.plan.attempts {
                @let (class, mark, word) = mark(trials.came(attempt));
                @let href = self.trial_href(agent, attempt, task);
                a class=(class) href={ (root) (href) } aria-label=(word) { (mark) }
            }
        }
    }
}

/// The class, the mark and the word of what came of an attempt. The mark tells it without the colour.
pub(super) fn mark(came: Came) -> (&'static str, &'static str, &'static str) {
    match came {
        Came::Passed => ("p", "✓", "passed"),
        Came::Failed => ("f", "✗", "failed"),
        Came::NotScored => ("n", "!", "not scored"),
        Came::Open => ("n", "·", "not ended"),
    }
}
