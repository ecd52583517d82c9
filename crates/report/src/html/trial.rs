//! The page of one trial: what fell short and why, the plan beside the certified one, what was said and called beside the brief, what
//! changed, and every check.

mod beside;
mod checks;
mod said;

use super::site::{Page, Site};
use super::{crumbs, ending, facts, markdown, page, part, parts};
use crate::summary::Came;
use crate::text::UNKNOWN;
use benchwright_draw::text::cut;
use benchwright_pack::run::{TaskLine, TrialEnd, TrialRecord};
use benchwright_pack::{Anchors, Verdict};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// The longest text that is shown of anything that was said, called or answered.
const LONGEST: usize = 20_000;
/// The most of anything that is listed.
const MOST: usize = 2_000;

/// How a call was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The JSON that the tool answered with.
    Answered(String),
    /// Why it was refused.
    Refused(String),
}

/// A call with its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallView {
    /// The name of the tool that was called.
    pub tool: String,
    /// The arguments, as they were given.
    pub arguments: String,
    /// How it was answered.
    pub answer: Answer,
}

/// A turn of a model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Turn {
    /// What it wrote.
    pub text: String,
    /// What it thought before, where its server says.
    pub reasoning: Option<String>,
    /// The tokens that it was sent, where its server says.
    pub tokens_in: Option<u64>,
    /// The tokens that it wrote, where its server says.
    pub tokens_out: Option<u64>,
    /// The microseconds that it took, where they were kept.
    pub micros: Option<u64>,
}

/// Something that was said or done in a trial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// What the agent was told that it is.
    System(String),
    /// What was asked of it.
    User(String),
    /// What a model said; the calls that it asked for follow.
    Turn(Turn),
    /// A call with its answer.
    Call(CallView),
    /// How a program ended and what it printed.
    Program {
        /// Its exit code, if it had one.
        code: Option<i64>,
        /// The signal that ended it, if one did.
        signal: Option<i64>,
        /// What it printed.
        out: String,
        /// What it printed as errors.
        err: String,
    },
}

/// What happened to a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum What {
    /// It was made.
    Added,
    /// Some of its fields were changed.
    Changed,
    /// It was removed.
    Removed,
}

/// A record that is not as it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// Its table.
    pub table: String,
    /// What it is called.
    pub record: String,
    /// What happened to it.
    pub what: What,
    /// Its fields: the name, the value before and the value after; of a record that is new or gone one of these is empty.
    pub cells: Vec<(String, String, String)>,
}

/// The rows of one kind in a plan, beside those of the certified one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanRows {
    /// What they are, such as `buy`.
    pub view: String,
    /// The names of their fields.
    pub fields: Vec<String>,
    /// The rows of the certified plan.
    pub certified: Vec<Vec<String>>,
    /// The rows that the agent came to.
    pub found: Vec<Vec<String>>,
}

/// What came of making the calls of a trial again.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Made {
    /// What the agent was told.
    pub instruction: String,
    /// What was said and called, in order.
    pub said: Vec<Said>,
    /// The verdict, if one was reached.
    pub verdict: Option<Verdict>,
    /// The records that are not as they were.
    pub changes: Vec<Changed>,
    /// The plan beside the certified one; nothing of a request.
    pub plan: Vec<PlanRows>,
    /// For each phase of the objective what the state is worth and what is certified, in words.
    pub phases: Vec<(Option<String>, String)>,
    /// The values by which the quality of a plan is told, and their words.
    pub anchors: Option<(Anchors, [String; 3])>,
    /// Why checks fail, by rule and what they are about, where the verdict itself does not say.
    pub whys: BTreeMap<(String, Vec<String>), String>,
    /// The sentences of the brief that tell a rule.
    pub sentences: BTreeMap<String, Vec<String>>,
}

/// The page of a trial.
pub(super) fn page_of(site: &Site<'_>, record: &TrialRecord, made: Option<&Made>, wrong: Option<&str>) -> String {
    let key = &record.key;
    let task = site.plan.tasks.iter().position(|task| task.digest == key.task);
    let id = task.map_or(&*key.task, |task| &site.line(task).id);
    let title = format!("{id} · {} · attempt {}", key.agent, key.attempt);
    let to_task = task.map(|task| (format!("../{}", site.name(Page::Task(task))), id));
    let links: Vec<(String, &str)> = [("../index.html".to_owned(), "Report")].into_iter().chain(to_task).collect();
    let verdict = made.and_then(|made| made.verdict.as_ref());
    let mut listed: Vec<(&str, &str)> = Vec::new();
    if wrong.is_some() {
        listed.push(("wrong", "What is wrong"));
    }
    if let Some(made) = made {
        listed.extend(verdict.map(|_| ("short", "What fell short")));
        listed.extend((!made.plan.is_empty()).then_some(("plan", "Plan")));
        listed.extend([("said", "Conversation"), ("brief", "Brief"), ("changed", "What changed")]);
        listed.extend(verdict.map(|_| ("checks", "All checks")));
    }
    let header = html! {
        (crumbs(&links, &format!("{} · attempt {}", key.agent, key.attempt)))
        h1 { (cut(&title, 300)) } "\n"
        p { (ended(&record.end)) } "\n"
        @if let Some(failed) = &record.failed { p { "The program said that it had failed:" } pre { (cut(failed, LONGEST)) } "\n" }
        (facts(&known(task.map(|task| site.line(task)), record)))
        @if let Some(task) = task { (others(site, task, record)) }
        (parts(&listed))
    };
    let main = html! {
        @if let Some(wrong) = wrong {
            (part("wrong", "What is wrong with this record", html! { p class="fail" { (cut(wrong, LONGEST)) } }))
        }
        @if let Some(made) = made {
            @if let Some(verdict) = verdict { (part("short", "What fell short", checks::short(verdict, made))) }
            @if !made.plan.is_empty() {
                (part("plan", "The plan beside the certified one", beside::plans(&made.plan)))
            }
            div class="twin" { "\n"
                (part("said", "Conversation", said::conversation(&made.said, record)))
                (part("brief", "Brief", markdown::brief(&made.instruction)))
            } "\n"
            (part("changed", "What changed", beside::changes(&made.changes)))
            @if let Some(verdict) = verdict { (part("checks", "All checks", checks::all(verdict, made))) }
        }
    };
    page(&title, header, main)
}

fn ended(end: &TrialEnd) -> Markup {
    match end {
        TrialEnd::Scored(score) if score.pass => html! { span class="good" { "Passed" } },
        TrialEnd::Scored(score) => html! {
            span class="fail" { "Failed" }
            @if let Some(limit) = &score.limit { ", stopped by a limit: " (cut(limit, 100)) }
        },
        TrialEnd::Error { cause, detail } => html! {
            "Not scored: " (cut(cause, 100)) "\n" pre { (cut(detail, LONGEST)) }
        },
    }
}

/// What is known of a trial, by name.
fn known(task: Option<&TaskLine>, record: &TrialRecord) -> Vec<(&'static str, String)> {
    let million = |value: i64| format!("{:.4}", value as f64 / 1e6);
    let known = |value: Option<u64>| value.map_or(UNKNOWN.to_owned(), |value| value.to_string());
    let used = &record.used;
    let mut list = Vec::new();
    if let TrialEnd::Scored(score) = &record.end {
        list.push(("reward", million(score.reward)));
        list.push(("constraints", million(score.constraints)));
        list.push(("traceability", million(score.trace)));
        list.push(("objective reached", million(score.objective)));
    }
    list.extend([
        ("calls", used.calls.to_string()),
        ("refused", used.refused.to_string()),
        ("turns", known(used.turns.map(u64::from))),
        ("tokens in", known(used.tokens_in)),
        ("tokens out", known(used.tokens_out)),
        ("cost ($)", used.cost.map_or(UNKNOWN.to_owned(), |cost| format!("{:.4}", cost as f64 / 1e6))),
        ("wall (s)", format!("{:.2}", record.spent.wall as f64 / 1e6)),
    ]);
    if let Some(task) = task {
        list.extend([
            ("oracle's calls", task.horizon.to_string()),
            ("pattern", task.pattern.clone()),
            ("tier", task.tier.clone()),
            ("objective", task.objective.clone()),
        ]);
    }
    list
}

/// The other trials of the same task, agent by agent.
fn others(site: &Site<'_>, task: usize, record: &TrialRecord) -> Markup {
    const AGENTS: usize = 24;
    const ATTEMPTS: u32 = 12;
    html! {
        details class="others" {
            summary { "Other trials of this task" }
            dl class="facts" {
                @for (agent, name) in site.plan.agents.iter().enumerate().take(AGENTS) {
                    div { dt { (cut(name, 60)) } dd {
                        @for attempt in 1..=site.plan.attempts.min(ATTEMPTS) {
                            @let came = site.tried[agent][task].trials.came(attempt);
                            @if *name == record.key.agent && attempt == record.key.attempt {
                                strong { "this one" } " "
                            } @else if site.is_paged(agent, attempt, task) {
                                a href={ "../" (site.trial_href(agent, attempt, task)) } { (ending(came)) } " "
                            } @else if came != Came::Open {
                                (ending(came)) " "
                            }
                        }
                    } }
                }
            }
            p { a href={ "../" (site.name(Page::Task(task))) } { "All agents side by side" } }
        } "\n"
    }
}
