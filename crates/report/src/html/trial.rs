//! The page of one trial: what was asked, what was called and answered, what failed, and what changed.

use super::{Cell, escape, facts, page, table};
use crate::text::{UNKNOWN, cut};
use benchwright_pack::run::{TaskLine, TrialEnd, TrialRecord};
use benchwright_pack::{Check, CheckStatus, Verdict};

/// The longest arguments or answer that are shown.
const LONGEST: usize = 4_000;
/// The longest instruction and diff that are shown.
const LONGEST_PART: usize = 200_000;
/// The most calls and checks that are shown.
const MOST: usize = 2_000;

/// How a call was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The answer.
    Answered(String),
    /// Why it was refused.
    Refused(String),
}

/// A call with its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallView {
    /// The tool.
    pub tool: String,
    /// The arguments, as they were given.
    pub arguments: String,
    /// How it was answered.
    pub answer: Answer,
}

/// All that the page of a trial shows.
#[derive(Clone, Copy, Debug)]
pub struct TrialView<'a> {
    /// The task.
    pub task: &'a TaskLine,
    /// The record.
    pub record: &'a TrialRecord,
    /// What the agent was told.
    pub instruction: &'a str,
    /// Its calls.
    pub calls: &'a [CallView],
    /// The verdict, if one was reached.
    pub verdict: Option<&'a Verdict>,
    /// What changed, as the lines of `Diff::to_text`.
    pub diff: &'a str,
}

/// The page of one trial.
pub fn trial_page(view: &TrialView) -> String {
    let key = &view.record.key;
    let title = format!("{} · {} · attempt {}", view.task.id, key.agent, key.attempt);
    let mut out = format!(
        "<header><p class=\"soft\"><a href=\"../index.html\">Report</a></p>\n<h1>{}</h1>\n",
        escape(&cut(&title, 300))
    );
    let ending = match &view.record.end {
        TrialEnd::Scored(score) if score.pass => "<span class=\"good\">Passed</span>".to_owned(),
        TrialEnd::Scored(score) => {
            let limit =
                score.limit.as_deref().map(|limit| format!(", stopped by a limit: {}", escape(&cut(limit, 100))));
            format!("<span class=\"fail\">Failed</span>{}", limit.unwrap_or_default())
        }
        TrialEnd::Error { cause, detail } => {
            format!("Not scored: {} – {}", escape(&cut(cause, 100)), escape(&cut(detail, 1_000)))
        }
    };
    out.push_str(&format!("<p>{ending}</p>\n"));
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
    out.push_str(&facts(&list));
    out.push_str("</header>\n<main>\n");
    if let Some(verdict) = view.verdict {
        out.push_str(&failed(verdict));
    }
    out.push_str(&format!(
        "<section><h2>Instruction</h2>\n<pre class=\"said\">{}</pre></section>\n",
        escape(&cut(view.instruction, LONGEST_PART))
    ));
    out.push_str(&calls(view.calls));
    out.push_str(&format!(
        "<section><h2>What changed</h2>\n{}</section>\n",
        if view.diff.trim().is_empty() {
            "<p>Nothing.</p>\n".to_owned()
        } else {
            format!("<pre>{}</pre>\n", escape(&cut(view.diff, LONGEST_PART)))
        }
    ));
    if let Some(verdict) = view.verdict {
        out.push_str(&format!("<section><h2>All checks</h2>\n{}</section>\n", checks(verdict.checks.iter())));
    }
    out.push_str("</main>\n");
    page(&title, &out)
}

/// Gates, phases and failed checks.
fn failed(verdict: &Verdict) -> String {
    let mut out = String::from("<section><h2>What fell short</h2>\n");
    if verdict.alarm {
        out.push_str("<p class=\"fail\">The state is better than its certificate says is possible.</p>\n");
    }
    if !verdict.gates.is_empty() {
        let gates = escape(&cut(&verdict.gates.join(", "), 1_000));
        out.push_str(&format!("<p class=\"fail\">Gates that fired: {gates}</p>\n"));
    }
    if !verdict.phases.is_empty() {
        let rows: Vec<Vec<Cell>> = verdict
            .phases
            .iter()
            .map(|phase| {
                vec![
                    Cell::Text(phase.name.clone()),
                    phase.value.map_or(UNKNOWN.to_owned(), |value| value.to_string()).into(),
                    phase.best.to_string().into(),
                    format!("{:.4}", phase.score as f64 / 1e6).into(),
                    Cell::Left(if phase.within { "within tolerance" } else { "beyond tolerance" }.into()),
                ]
            })
            .collect();
        let names = ["phase", "value", "best", "score", ""].map(str::to_owned);
        out.push_str(&table("Objective", &names, &rows));
    }
    let short = |check: &&Check| matches!(check.status, CheckStatus::Fail | CheckStatus::NoVerdict);
    if verdict.checks.iter().any(|check| short(&check)) {
        out.push_str(&checks(verdict.checks.iter().filter(short)));
    } else {
        out.push_str("<p>No check failed.</p>\n");
    }
    out.push_str("</section>\n");
    out
}

/// A table of checks.
fn checks<'a>(checks: impl Iterator<Item = &'a Check>) -> String {
    let all: Vec<&Check> = checks.collect();
    let rows: Vec<Vec<Cell>> = all
        .iter()
        .take(MOST)
        .map(|check| {
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
        })
        .collect();
    let names = ["status", "rule", "code", "family", "at", "why"].map(str::to_owned);
    let caption = match all.len() > MOST {
        true => format!("The first {MOST} of {} checks", all.len()),
        false if all.len() == 1 => "1 check".to_owned(),
        false => format!("{} checks", all.len()),
    };
    table(&caption, &names, &rows)
}

/// The calls in order.
fn calls(calls: &[CallView]) -> String {
    let mut out = String::from("<section><h2>Calls</h2>\n");
    if calls.is_empty() {
        out.push_str("<p>None.</p>\n");
    }
    out.push_str("<ol class=\"calls\">\n");
    for call in calls.iter().take(MOST) {
        let (class, word, text) = match &call.answer {
            Answer::Answered(text) => ("soft", "answered", text),
            Answer::Refused(text) => ("fail", "refused", text),
        };
        out.push_str(&format!(
            "<li><strong>{}</strong>\n<pre>{}</pre>\n<span class=\"{class}\">{word}</span>\n<pre>{}</pre></li>\n",
            escape(&cut(&call.tool, 200)),
            escape(&cut(&call.arguments, LONGEST)),
            escape(&cut(text, LONGEST))
        ));
    }
    out.push_str("</ol>\n");
    if calls.len() > MOST {
        out.push_str(&format!("<p>And {} more calls.</p>\n", calls.len() - MOST));
    }
    out.push_str("</section>\n");
    out
}
