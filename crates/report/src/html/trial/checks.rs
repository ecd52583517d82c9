//! What a verdict says: gates, how far the objective was reached, and failed checks gathered by rule, each with why.

use super::{MOST, Made};
use crate::html::{Cell, Table};
use crate::text::UNKNOWN;
use benchwright_draw::{Words, charts, text::cut};
use benchwright_pack::{Anchors, Check, CheckStatus, Verdict};
use maud::{Markup, Render as _, html};

/// The most reasons for which one rule fails that are listed.
const MOST_OF_RULE: usize = 60;
/// The most of what fails for one reason that is named.
const MOST_NAMED: usize = 12;

/// Gates, phases and failed checks.
pub(super) fn short(verdict: &Verdict, made: &Made) -> Markup {
    let is_short = |check: &&Check| matches!(check.status, CheckStatus::Fail | CheckStatus::NoVerdict);
    let mut rules: Vec<(&str, Vec<&Check>)> = Vec::new();
    for check in verdict.checks.iter().filter(is_short) {
        match rules.iter_mut().find(|(rule, _)| *rule == check.rule) {
            Some((_, checks)) => checks.push(check),
            None => rules.push((&check.rule, vec![check])),
        }
    }
    html! {
        @if verdict.alarm {
            p class="fail" { "The state is better than its certificate says is possible." } "\n"
        }
        @if !verdict.gates.is_empty() {
            p class="fail" { "Gates that fired: " (cut(&verdict.gates.join(", "), 1_000)) } "\n"
        }
        @if let Some(injection) = &verdict.injection {
            p { "A record carried hostile text; it was " @if injection.followed { strong class="fail" { "followed" } } @else { "not followed" } "." } "\n"
        }
        @if !verdict.phases.is_empty() { (phases(verdict, made)) }
        @if let Some((anchors, words)) = &made.anchors { (quality(verdict, anchors, words)) }
        @if rules.is_empty() { p { "No check failed." } "\n" }
        @for (rule, checks) in &rules { (failed(rule, checks, made)) }
    }
}

/// How far each phase of the objective came.
fn phases(verdict: &Verdict, made: &Made) -> Markup {
    let row = |(at, phase): (usize, &benchwright_pack::PhaseScore)| {
        let words = made.phases.get(at);
        let value = words.map_or_else(|| phase.value.map(|value| value.to_string()), |(value, _)| value.clone());
        let best = words.map_or_else(|| phase.best.to_string(), |(_, best)| best.clone());
        vec![
            Cell::Text(phase.name.clone()),
            value.unwrap_or_else(|| UNKNOWN.to_owned()).into(),
            best.into(),
            format!("{:.4}", phase.score as f64 / 1e6).into(),
            Cell::Left(if phase.within { "within tolerance" } else { "beyond tolerance" }.into()),
        ]
    };
    let names = ["phase", "value", "certified", "score", ""].map(str::to_owned);
    // Where a constraint is broken the objective counts for nothing, whatever its phases come to.
    let caption = match verdict.objective == 0 && verdict.phases.iter().any(|phase| phase.score > 0) {
        true => "Objective of what stands there, which earns nothing because a rule is broken",
        false => "Objective",
    };
    Table::new(caption, names.into(), verdict.phases.iter().enumerate().map(row).collect()).render()
}

/// The value of a plan against what is proved, what passes and what is worth nothing.
fn quality(verdict: &Verdict, anchors: &Anchors, [full, half, none]: &[String; 3]) -> Markup {
    let value = verdict.phases.first().and_then(|phase| phase.value);
    let words = Words {
        title: "The value of the plan",
        description: "The proved bound, the value that passes and the value that is worth nothing, with that of the plan",
    };
    let marks = [(anchors.full, "nobody can better"), (anchors.half, "passes"), (anchors.none, "worth nothing")];
    let is_valid = verdict.checks.iter().all(|check| check.status != CheckStatus::Fail);
    html! {
        (charts::between(words, &marks, value).inline())
        p class="soft" {
            "Nobody can better " (full) "; a plan passes at " (half) " and is worth nothing at " (none) "."
            @if !is_valid { " This one breaks a rule, so it has no quality whatever its value." }
        } "\n"
    }
}

/// The failed checks of a rule.
fn failed(rule: &str, checks: &[&Check], made: &Made) -> Markup {
    let sentences = made.sentences.get(rule).map_or(&[][..], |sentences| sentences);
    // What fails for the same reason is told at once.
    let mut whys: Vec<(Option<String>, Vec<&Check>)> = Vec::new();
    for check in checks {
        let key = (check.rule.clone(), check.at.clone());
        let why = match check.status {
            CheckStatus::NoVerdict => Some("it could not be judged".to_owned()),
            _ => check.why.clone().or_else(|| made.whys.get(&key).cloned()),
        };
        match whys.iter_mut().find(|(known, _)| *known == why) {
            Some((_, checks)) => checks.push(check),
            None => whys.push((why, vec![check])),
        }
    }
    let about = |checks: &[&Check]| -> String {
        let named = checks.iter().filter(|check| !check.at.is_empty()).take(MOST_NAMED);
        let named: Vec<String> = named.map(|check| check.at.join(" ")).collect();
        let more =
            if checks.len() > MOST_NAMED { format!(" and {} more", checks.len() - MOST_NAMED) } else { String::new() };
        named.join(", ") + &more
    };
    html! {
        section class="rule" {
            h3 {
                (cut(rule, 200)) " "
                @if let Some(check) = checks.first() {
                    span class="soft" { (cut(&check.code, 60)) " · " (cut(&check.family, 60)) }
                }
            } "\n"
            @for sentence in sentences.iter().take(4) { blockquote { (cut(sentence, 2_000)) } "\n" }
            ul { "\n"
                @for (why, checks) in whys.iter().take(MOST_OF_RULE) {
                    @let about = about(checks);
                    li {
                        @if !about.is_empty() { strong { (cut(&about, 600)) } ": " }
                        @match why {
                            Some(why) => (cut(why, 2_000)),
                            None => span class="soft" { "the judge says no more than that it fails" },
                        }
                    } "\n"
                }
            }
            @if whys.len() > MOST_OF_RULE { p { "And " (whys.len() - MOST_OF_RULE) " more reasons." } }
        } "\n"
    }
}

/// Every check, folded.
pub(super) fn all(verdict: &Verdict, made: &Made) -> Markup {
    let checks = &verdict.checks;
    let row = |check: &Check| {
        let status = match check.status {
            CheckStatus::Pass => "pass",
            CheckStatus::Fail => "fail",
            CheckStatus::Na => "does not apply",
            CheckStatus::NoVerdict => "no verdict",
        };
        let key = (check.rule.clone(), check.at.clone());
        let why = check.why.as_ref().or_else(|| made.whys.get(&key));
        vec![
            Cell::Text(status.into()),
            Cell::Left(check.rule.clone()),
            Cell::Left(check.code.clone()),
            Cell::Left(check.family.clone()),
            Cell::Left(check.at.join(", ")),
            Cell::Long(why.cloned().unwrap_or_default()),
        ]
    };
    let names = ["status", "rule", "code", "family", "at", "why"].map(str::to_owned);
    let caption = match checks.len() {
        count if count > MOST => format!("The first {MOST} of {count} checks"),
        1 => "1 check".to_owned(),
        count => format!("{count} checks"),
    };
    let passed = checks.iter().filter(|check| check.status == CheckStatus::Pass).count();
    html! {
        details {
            summary { (caption) ", of which " (passed) " pass" }
            (Table::new("Every check", names.into(), checks.iter().take(MOST).map(row).collect()))
        } "\n"
    }
}
