//! The page of one trial: what was asked, what was called and answered, what failed, and what changed.

use super::{Cell, Table, facts, page, section};
use crate::text::UNKNOWN;
use benchwright_draw::text::cut;
use benchwright_pack::run::{TaskLine, TrialEnd, TrialRecord};
use benchwright_pack::{Check, CheckStatus, PhaseScore, Verdict};
use maud::{Markup, Render as _, html};

/// The longest arguments or answer that are shown.
const LONGEST: usize = 4_000;
/// The longest instruction and diff that are shown.
const LONGEST_PART: usize = 200_000;
/// The most calls and checks that are shown.
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

/// All that the page of a trial shows.
#[derive(Clone, Copy, Debug)]
pub struct TrialView<'a> {
    /// The task as the plan of the run lists it.
    pub task: &'a TaskLine,
    /// What was recorded of the trial: how it ended, and what it used.
    pub record: &'a TrialRecord,
    /// What the agent was told.
    pub instruction: &'a str,
    /// The calls that the agent made, in order.
    pub calls: &'a [CallView],
    /// The verdict, if one was reached.
    pub verdict: Option<&'a Verdict>,
    /// What changed, as the lines of `Diff::to_text`.
    pub diff: &'a str,
    /// Why nothing but the record can be shown, where what was kept of the trial is not as it was.
    pub wrong: Option<&'a str>,
}

/// The page of one trial.
pub fn trial_page(view: &TrialView) -> String {
    let key = &view.record.key;
    let title = format!("{} · {} · attempt {}", view.task.id, key.agent, key.attempt);
    let header = html! {
        p class="soft" { a href="../index.html" { "Report" } } "\n"
        h1 { (cut(&title, 300)) } "\n"
        p { (ending(&view.record.end)) } "\n"
        @if let Some(failed) = &view.record.failed { p { "The program said that it had failed:" } pre { (cut(failed, LONGEST)) } "\n" }
        (facts(&known(view)))
    };
    let changed = html! {
        @if view.diff.trim().is_empty() { p { "Nothing." } } @else { pre { (cut(view.diff, LONGEST_PART)) } } "\n"
    };
    let main = html! {
        @if let Some(wrong) = view.wrong {
            (section("What is wrong with this record", html! { p class="fail" { (cut(wrong, LONGEST)) } }))
        }
        @if let Some(verdict) = view.verdict { (section("What fell short", failed(verdict))) }
        (section("Instruction", html! { pre class="said" { (cut(view.instruction, LONGEST_PART)) } }))
        @if view.wrong.is_none() {
            (section("Calls", calls(view.calls)))
            (section("What changed", changed))
        }
        @if let Some(verdict) = view.verdict { (section("All checks", checks(verdict.checks.iter()).render())) }
    };
    page(&title, header, main)
}

fn ending(end: &TrialEnd) -> Markup {
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
fn known(view: &TrialView) -> Vec<(&'static str, String)> {
    let million = |value: i64| format!("{:.4}", value as f64 / 1e6);
    let known = |value: Option<u64>| value.map_or(UNKNOWN.to_owned(), |value| value.to_string());
    let (used, task) = (&view.record.used, view.task);
    let mut list = Vec::new();
    if let TrialEnd::Scored(score) = &view.record.end {
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
        ("wall (s)", format!("{:.2}", view.record.spent.wall as f64 / 1e6)),
        ("oracle's calls", task.horizon.to_string()),
        ("pattern", task.pattern.clone()),
        ("tier", task.tier.clone()),
        ("objective", task.objective.clone()),
    ]);
    list
}

/// Gates, phases and failed checks.
fn failed(verdict: &Verdict) -> Markup {
    let short = |check: &&Check| matches!(check.status, CheckStatus::Fail | CheckStatus::NoVerdict);
    html! {
        @if verdict.alarm {
            p class="fail" { "The state is better than its certificate says is possible." } "\n"
        }
        @if !verdict.gates.is_empty() {
            p class="fail" { "Gates that fired: " (cut(&verdict.gates.join(", "), 1_000)) } "\n"
        }
        @if !verdict.phases.is_empty() { (phases(&verdict.phases)) }
        @if verdict.checks.iter().any(|check| short(&check)) {
            (checks(verdict.checks.iter().filter(short)))
        } @else {
            p { "No check failed." } "\n"
        }
    }
}

/// How far each phase of the objective came.
fn phases(phases: &[PhaseScore]) -> Table {
    let row = |phase: &PhaseScore| {
        vec![
            Cell::Text(phase.name.clone()),
            phase.value.map_or(UNKNOWN.to_owned(), |value| value.to_string()).into(),
            phase.best.to_string().into(),
            format!("{:.4}", phase.score as f64 / 1e6).into(),
            Cell::Left(if phase.within { "within tolerance" } else { "beyond tolerance" }.into()),
        ]
    };
    let names = ["phase", "value", "best", "score", ""].map(str::to_owned);
    Table::new("Objective", names.into(), phases.iter().map(row).collect())
}

/// A table of checks.
fn checks<'a>(checks: impl Iterator<Item = &'a Check>) -> Table {
    let all: Vec<&Check> = checks.collect();
    let row = |check: &&Check| {
        let status = match check.status {
            CheckStatus::Pass => "pass",
            CheckStatus::Fail => "fail",
            CheckStatus::Na => "does not apply",
            CheckStatus::NoVerdict => "no verdict",
        };
        vec![
            Cell::Text(status.into()),
            Cell::Left(check.rule.clone()),
            Cell::Left(check.code.clone()),
            Cell::Left(check.family.clone()),
            Cell::Left(check.at.join(", ")),
            Cell::Left(check.why.clone().unwrap_or_default()),
        ]
    };
    let names = ["status", "rule", "code", "family", "at", "why"].map(str::to_owned);
    let caption = match all.len() > MOST {
        true => format!("The first {MOST} of {} checks", all.len()),
        false if all.len() == 1 => "1 check".to_owned(),
        false => format!("{} checks", all.len()),
    };
    Table::new(caption, names.into(), all.iter().take(MOST).map(row).collect())
}

/// The calls in order.
fn calls(calls: &[CallView]) -> Markup {
    html! {
        @if calls.is_empty() { p { "None." } "\n" }
        ol class="calls" { "\n"
            @for call in calls.iter().take(MOST) {
                li {
                    strong { (cut(&call.tool, 200)) } "\n"
                    pre { (cut(&call.arguments, LONGEST)) } "\n"
                    @match &call.answer {
                        Answer::Answered(text) => { span class="soft" { "answered" } "\n" pre { (cut(text, LONGEST)) } }
                        Answer::Refused(text) => { span class="fail" { "refused" } "\n" pre { (cut(text, LONGEST)) } }
                    }
                } "\n"
            }
        } "\n"
        @if calls.len() > MOST { p { "And " (calls.len() - MOST) " more calls." } "\n" }
    }
}
