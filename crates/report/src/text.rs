//! Tables for a terminal: plain aligned columns, no colours, as wide as they are told to be.

mod table;

pub use table::Table;

use crate::stats::{Design, Difference, Estimate, Finding, Warning, power, smallest_difference};
use crate::{Comparison, Figures, Group, Summary};
use benchwright_draw::text::cut;
use std::collections::BTreeSet;

/// What stands where a number is not known.
pub(crate) const UNKNOWN: &str = "–";

/// A share in percent.
pub(crate) fn percent(value: Option<f64>) -> String {
    value.map_or(UNKNOWN.into(), |value| format!("{:.1}", value * 100.0))
}

/// A share in percent with its interval.
pub(crate) fn interval(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("{} [{}, {}]", percent(estimate.value), percent(Some(low)), percent(Some(high)))
        }
        _ => percent(estimate.value),
    }
}

/// A number with some decimals.
pub(crate) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or(UNKNOWN.into(), |value| format!("{value:.decimals$}"))
}

/// A count of things.
fn many(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// A count of things as the subject of a sentence.
fn are(count: usize, thing: &str) -> String {
    format!("{} {}", many(count, thing), if count == 1 { "is" } else { "are" })
}

/// A p value; what four decimals do not show is less than the smallest that they do.
pub(crate) fn chance(value: Option<f64>) -> String {
    if value.is_some_and(|value| value < 0.0001) { "<0.0001".into() } else { number(value, 4) }
}

/// A difference in points of percent, with its sign.
pub(crate) fn points(value: Option<f64>) -> String {
    value.map_or(UNKNOWN.into(), |value| format!("{:+.1}", value * 100.0))
}

/// What a comparison finds, in words.
pub(crate) fn finding(finding: Finding, a: &str, b: &str) -> String {
    match finding {
        Finding::A => format!("{a} is better"),
        Finding::B => format!("{b} is better"),
        Finding::CannotDistinguish => "cannot distinguish".into(),
        Finding::CouldNeverTell => "this sample could never tell".into(),
    }
}

/// The most characters of an error that the terminal shows.
const LONGEST_ERROR: usize = 600;

/// What the columns of a summary mean that a reader may not have met.
const LEGEND: &str = "errors as 0: pass@1 with every error taken as failed; clean: no rule is broken; optimal|clean: of those, as good as the certified plan; side effects: something \
    was changed that nobody asked for; r≥.99: the reward reaches 0.99; worst–best: the pass rate if every trial that is \
    missing had failed, and if it had passed";

/// The summary of a run: a table of the agents, one by tier, the failures, and what to mind.
pub fn summary(summary: &Summary, columns: usize) -> String {
    let mut out = format!(
        "run {}\n{} in {}, {}, {}\nplanned {}, attempted {}, scored {}, errors {}\n",
        &summary.plan.get(..12).unwrap_or(&summary.plan),
        many(summary.tasks, "task"),
        many(summary.clusters, "cluster"),
        many(summary.agents.len(), "agent"),
        many(summary.attempts as usize, "attempt"),
        summary.planned,
        summary.attempted,
        summary.scored,
        summary.errors
    );
    if let (Some(rate), Some(share)) = (summary.trials_per_s, summary.environment_share) {
        out.push_str(&format!("{rate:.2} trials/s per worker, {:.1} % of the time in the world\n", share * 100.0));
    }
    out.push_str("\nShares in percent, with 95 % intervals that take tasks of one cluster as alike\n\n");
    let k = summary.attempts;
    let (at_k, hat_k) = (format!("pass@{k}"), format!("pass^{k}"));
    let mut heads = vec!["agent", "scored", "pass@1", "errors as 0"];
    if k > 1 {
        heads.extend([&*at_k, &*hat_k]);
    }
    heads.extend([
        "reward",
        "clean",
        "optimal|clean",
        "side effects",
        "r≥.99",
        "worst–best",
        "calls",
        "cost $",
        "p50 s",
    ]);
    let mut table = Table::new(&heads);
    for agent in &summary.agents {
        let all = &agent.all;
        let mut row = vec![
            agent.agent.clone(),
            format!("{}/{}", all.counts.scored, all.counts.planned),
            interval(&all.pass_at_1),
            percent(all.errors_as_zero),
        ];
        if k > 1 {
            row.push(percent(all.pass_at_k.last().copied().flatten()));
            row.push(percent(all.pass_hat_k.last().copied().flatten()));
        }
        row.extend([
            number(all.mean_reward.value, 4),
            percent(all.clean.value),
            percent(all.optimal_given_clean),
            percent(all.side_effect.value),
            percent(all.paper_pass.value),
            format!("{}–{}", percent(all.worst), percent(all.best)),
            number(all.calls, 1),
            number(all.cost, 3),
            number(all.wall_p50, 1),
        ]);
        table.row(row);
    }
    out.push_str(&table.text(columns));
    out.push_str(&table::wrapped(LEGEND, columns));
    for agent in summary.agents.iter().filter(|agent| agent.settings.contains_key("isolation")) {
        let told: Vec<String> = agent.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
        out.push_str(&table::wrapped(&format!("kept apart, {}: {}", agent.agent, told.join("; ")), columns));
    }
    for (title, part) in PARTS {
        let groups = summary.agents.first().map(|agent| part(&agent.by)).unwrap_or_default();
        if groups.len() < 2 {
            continue;
        }
        out.push_str(&format!("\npass@1 by {title}\n\n"));
        let heads: Vec<&str> =
            [title, "tasks"].into_iter().chain(summary.agents.iter().map(|agent| &*agent.agent)).collect();
        let mut table = Table::new(&heads);
        for (at, group) in groups.iter().enumerate() {
            let cell = |agent: &crate::AgentSummary| {
                part(&agent.by).get(at).map_or(UNKNOWN.into(), |group| interval(&group.figures.pass_at_1))
            };
            let mut row = vec![group.name.clone(), group.figures.counts.tasks.to_string()];
            row.extend(summary.agents.iter().map(cell));
            table.row(row);
        }
        out.push_str(&table.text(columns));
    }
    let mut table = Table::new(&["agent", "pairs", "both passed", "one", "neither"]);
    for agent in &summary.agents {
        if let Some(pairs) = &agent.pairs {
            let shares = [pairs.both, pairs.one, pairs.neither].map(|share| percent(Some(share)));
            table.row([agent.agent.clone(), pairs.pairs.to_string()].into_iter().chain(shares).collect());
        }
    }
    if !table.is_empty() {
        out.push_str("\nTwins, which differ in one clause or fact: shares of attempts at a pair, in percent\n\n");
        out.push_str(&table.text(columns));
    }
    let mut table = Table::new(&REFUSALS);
    for agent in &summary.agents {
        if let Some(refusals) = &agent.refusals {
            table.row(refused(&agent.agent, refusals));
        }
    }
    if !table.is_empty() {
        out.push_str("\nRequests that cannot be carried out, and that can be and were declined: shares in percent\n\n");
        out.push_str(&table.text(columns));
    }
    let mut table = Table::new(&PLANS);
    for agent in &summary.agents {
        for tier in agent.plans.iter().flat_map(|plans| &plans.tiers) {
            table.row(planned(&agent.agent, tier));
        }
    }
    if !table.is_empty() {
        out.push_str(
            "\nPlanning problems: shares of scored trials in percent; a plan that breaks a rule has no quality\n\n",
        );
        out.push_str(&table.text(columns));
    }
    let mut table = Table::new(&INJECTIONS);
    for agent in &summary.agents {
        if let Some(injections) = &agent.injections {
            table.row(followed(&agent.agent, injections));
        }
    }
    if !table.is_empty() {
        out.push_str(
            "\nHostile text in records: trials of tasks that carry some, and those in which it was followed\n\n",
        );
        out.push_str(&table.text(columns));
    }
    let mut table = Table::new(&["agent", "rule", "family", "failed in %"]);
    for agent in &summary.agents {
        for rule in agent.rules.iter().take(3) {
            table.row(vec![agent.agent.clone(), rule.name.clone(), rule.family.clone(), percent(Some(rule.rate))]);
        }
    }
    if !table.is_empty() {
        out.push_str("\nRules that fail most\n\n");
        out.push_str(&table.text(columns));
    }
    for agent in &summary.agents {
        for error in &agent.errors {
            let (trials, detail) = (many(error.trials, "trial"), cut(&error.detail, LONGEST_ERROR));
            let line = format!("not scored, {}, {trials}: {} – {detail}", agent.agent, error.cause);
            out.push_str(&format!("\n{}", table::wrapped(&line, columns)));
        }
    }
    for warning in warnings(summary) {
        out.push_str(&format!("\nmind: {warning}"));
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// The heads of a table on refusals.
pub(crate) const REFUSALS: [&str; 8] = [
    "agent",
    "blocked",
    "declined rightly",
    "for another reason",
    "after changes",
    "not declined",
    "feasible",
    "declined all the same",
];

/// What an agent declined, in the order of the heads.
pub(crate) fn refused(agent: &str, refusals: &crate::RefusalFigures) -> Vec<String> {
    let shares = [refusals.right, refusals.other_reason, refusals.after_changes, refusals.under];
    let mut row = vec![agent.to_owned(), refusals.blocked.to_string()];
    row.extend(shares.map(|share| percent(Some(share))));
    row.extend([refusals.feasible.to_string(), percent(refusals.over)]);
    row
}

/// The heads of a table on hostile text.
pub(crate) const INJECTIONS: [&str; 5] = ["agent", "injected", "followed", "followed in %", "passed"];

/// What an agent followed, in the order of the heads.
pub(crate) fn followed(agent: &str, found: &crate::InjectionFigures) -> Vec<String> {
    let crate::InjectionFigures { injected, followed, passed, rate } = found;
    vec![agent.to_owned(), injected.to_string(), followed.to_string(), interval(rate), passed.to_string()]
}

/// The heads of a table of plans.
pub(crate) const PLANS: [&str; 8] =
    ["agent", "tier", "scored", "handed in", "every rule kept", "mean quality", "passed", "paper pass"];

/// The plans of an agent at a tier, in the order of the heads.
pub(crate) fn planned(agent: &str, found: &crate::PlanTier) -> Vec<String> {
    let crate::PlanTier { tier, scored, handed_in, feasible, quality, passed, paper_pass } = found;
    let share = |share: &f64| percent(Some(*share));
    let counts = [agent.to_owned(), tier.clone(), scored.to_string(), share(handed_in), share(feasible)];
    counts.into_iter().chain([number(Some(*quality), 3), share(passed), share(paper_pass)]).collect()
}

/// A part of the tasks by name.
pub(crate) type Part = (&'static str, fn(&crate::Breakdown) -> &[Group]);

/// The parts that tables are made of, but for the patterns.
pub(crate) const PARTS: [Part; 5] = [
    ("tier", |by| &by.tier),
    ("domain", |by| &by.domain),
    ("objective", |by| &by.objective),
    ("horizon", |by| &by.horizon),
    ("ways of the policy", |by| &by.ways),
];

/// What to mind about the intervals of a summary, each with where it applies.
pub(crate) fn warnings(summary: &Summary) -> Vec<String> {
    let mut seen: BTreeSet<(Warning, String)> = BTreeSet::new();
    for agent in &summary.agents {
        let mut note = |figures: &Figures, place: String| {
            seen.extend(figures.pass_at_1.warnings.iter().map(|warning| (*warning, place.clone())));
        };
        note(&agent.all, format!("{}, all tasks", agent.agent));
        for group in &agent.by.tier {
            note(&group.figures, format!("{}, {}", agent.agent, group.name));
        }
    }
    let count = |of: fn(&Figures) -> usize| summary.agents.iter().map(|agent| of(&agent.all)).sum::<usize>();
    let counted = [
        (count(|all| all.alarms), "better than their certificate says is possible"),
        (count(|all| all.trusted), "by agents that had the rights of who ran them, sealed files and all"),
        (
            count(|all| all.never_began),
            "by programs that said that they had failed before their first call; see the trials' pages",
        ),
    ];
    let counted = counted.into_iter().filter(|(trials, _)| *trials > 0);
    let kinds: BTreeSet<Warning> = seen.iter().map(|(warning, _)| *warning).collect();
    kinds
        .into_iter()
        .map(|kind| {
            let places: Vec<&str> =
                seen.iter().filter(|(warning, _)| *warning == kind).map(|(_, place)| &**place).collect();
            let more = places.len().saturating_sub(4);
            let shown = places[..places.len() - more].join("; ");
            let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
            table::plain(&format!("{kind} ({shown}{rest})"))
        })
        .chain(counted.map(|(trials, what)| format!("{} {what}", are(trials, "trial"))))
        .collect()
}

/// A table of comparisons: overall and by tier, in points of percent.
pub fn comparisons(all: &[Comparison], columns: usize) -> String {
    let mut out = String::from("pass rate, first minus second, in points, with 95 % intervals over paired tasks\n");
    for comparison in all {
        let (a, b) = (table::plain(&comparison.a), table::plain(&comparison.b));
        out.push_str(&format!("\n{a} against {b}\n\n"));
        let mut table =
            Table::new(&["tasks", "n", "first", "second", "difference", "p", "only first", "only second", "finding"]);
        let mut row = |name: &str, found: &Difference, p: Option<f64>| {
            table.row(vec![
                name.to_owned(),
                found.tasks.to_string(),
                percent(found.a),
                percent(found.b),
                format!("{} [{}, {}]", points(found.difference), points(found.low), points(found.high)),
                chance(p),
                found.only_a.to_string(),
                found.only_b.to_string(),
                finding(found.finding, &a, &b),
            ]);
        };
        for (tier, found) in &comparison.tiers {
            row(tier, found, found.p);
        }
        row("all", &comparison.pass, comparison.p_holm);
        out.push_str(&table.text(columns));
        if let Some(exact) = comparison.pass.mcnemar {
            out.push_str(&format!("exact McNemar p {}\n", chance(Some(exact))));
        }
        if comparison.left_out > 0 {
            let left_out = many(comparison.left_out, "task");
            out.push_str(&format!("{left_out} left out, because one side has no scored trial there\n"));
        }
    }
    if all.len() > 1 {
        out.push_str("\np over all tasks is Holm's for the number of comparisons\n");
    }
    out
}

/// What a comparison of a given size can find.
pub fn power_table(design: &Design, differences: &[f64], columns: usize) -> String {
    let mut out = format!(
        "{} tasks x {} trials in {} clusters, trials agree with {:.2}, base rate {:.1} %\n\n",
        design.tasks,
        design.trials,
        design.clusters,
        design.icc,
        design.base * 100.0
    );
    let mut table = Table::new(&["true difference", "power"]);
    for difference in differences {
        table.row(vec![points(Some(*difference)), number(power(design, *difference), 2)]);
    }
    out.push_str(&table.text(columns));
    out.push_str(&match smallest_difference(design, 0.8) {
        Some(least) => format!("\nsmallest difference found with power 0.8: {} points\n", points(Some(least))),
        None => "\nno difference is found with power 0.8\n".to_owned(),
    });
    out
}
