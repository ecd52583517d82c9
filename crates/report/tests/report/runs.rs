//! Summaries and comparisons of made-up runs.

use crate::made_up::made_up_run;
use benchwright_pack::run::TrialEnd;
use benchwright_report::{
    CompareError, Side, Summary, SummaryError, Tally, compare, compare_all, stats::Finding, text,
};

#[test]
fn a_whole_run_is_counted_once_and_every_breakdown_adds_up() {
    let (plan, records) = made_up_run(2, 1);
    let summary = Summary::of(&plan, &records).unwrap();
    assert_eq!((summary.tasks, summary.clusters, summary.planned), (300, 29, 3000));
    assert_eq!(summary.attempted, 3000);
    assert_eq!(summary.scored + summary.errors, 3000);
    assert!(summary.errors > 0);
    for agent in &summary.agents {
        for part in [&agent.by.tier, &agent.by.pattern, &agent.by.domain, &agent.by.objective, &agent.by.horizon] {
            let scored: usize = part.iter().map(|group| group.figures.counts.scored).sum();
            assert_eq!(scored, agent.all.counts.scored);
        }
        let (all, errors) = (&agent.all, agent.all.counts.errors as f64 / 600.0);
        assert!((all.best.unwrap() - all.worst.unwrap() - errors).abs() < 2e-6);
        assert!(all.pass_hat_k[1] <= all.pass_hat_k[0] && all.pass_at_k[0] <= all.pass_at_k[1]);
        assert!(all.pass_at_1.value <= all.clean.value);
    }
    assert_eq!(
        summary.agents[1].by.tier.iter().map(|group| &*group.name).collect::<Vec<_>>(),
        ["easy", "medium", "hard"]
    );
    let idle = &summary.agents[0];
    assert_eq!((idle.all.pass_at_1.value, idle.all.pass_at_1.high), (Some(0.0), Some(0.01)));
    assert_eq!((idle.all.turns, idle.all.cost), (None, Some(0.0)));
    let best = &summary.agents[4];
    assert_eq!(best.correlations[0].parameter, "horizon");
    assert!(best.correlations[0].success.unwrap() < -0.1 && best.correlations[0].calls.unwrap() > 0.8);
    assert!(!best.flaky.is_empty() && best.icc_task.unwrap() > 0.1);
    assert!(best.by.pattern.iter().all(|group| group.figures.pass_at_1.low.is_none()));
}

#[test]
fn a_summary_is_read_back_as_it_was_written() {
    let (plan, records) = made_up_run(1, 1);
    let summary = Summary::of(&plan, &records).unwrap();
    assert_eq!(summary.plan, plan.digest().to_string());
    let again: Summary = serde_json::from_slice(&serde_json::to_vec(&summary).unwrap()).unwrap();
    assert_eq!(again, summary);
}

#[test]
fn an_unfinished_run_says_what_is_missing() {
    let (plan, records) = made_up_run(1, 1);
    let summary = Summary::of(&plan, &records[..100]).unwrap();
    assert_eq!((summary.planned, summary.attempted), (1500, 100));
    let never = &summary.agents[4].all;
    assert_eq!((never.pass_at_1.value, never.worst, never.best), (None, Some(0.0), Some(1.0)));
    assert_eq!((never.calls, never.wall_p50), (None, None));
    let empty = Summary::of(&plan, &[]).unwrap();
    assert_eq!((empty.pass_at_1, empty.trials_per_s), (None, None));
    assert!(text::summary(&empty, 80).contains("attempted 0"));
}

#[test]
fn a_record_of_another_run_is_refused_and_one_that_stands_twice_counts_once() {
    let (plan, mut records) = made_up_run(1, 1);
    records.push(records[7].clone());
    assert_eq!(Summary::of(&plan, &records).unwrap().attempted, 1500);
    records[3].key.attempt = 2;
    assert!(matches!(Summary::of(&plan, &records), Err(SummaryError::NotPlanned { attempt: 2, .. })));
}

#[test]
fn comparisons_find_what_is_there_and_nothing_else() {
    let (plan, records) = made_up_run(1, 1);
    let tally = Tally::of(&plan, &records).unwrap();
    let side = |agent| Side { tally: &tally, agent };
    let far = compare(side("plan-first:large-model"), side("greedy")).unwrap();
    assert_eq!(far.pass.finding, Finding::A);
    assert!(far.pass.mcnemar.unwrap() < 1e-6 && far.tiers.len() == 3);
    let same = compare(side("greedy"), side("greedy")).unwrap();
    assert_eq!((same.pass.finding, same.pass.difference), (Finding::CannotDistinguish, Some(0.0)));
    let sides: Vec<Side> = plan.agents.iter().map(|agent| side(agent)).collect();
    let all = compare_all(&sides).unwrap();
    assert_eq!(all.len(), 10);
    assert!(all.iter().all(|found| found.p_holm >= found.pass.p));
    let text = text::comparisons(&all, 100);
    assert!(text.contains("cannot distinguish") && text.contains("is better"));
    assert!(text.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn runs_of_different_tasks_are_not_compared() {
    let (plan, records) = made_up_run(1, 1);
    let mut other = plan.clone();
    other.tasks[0].digest = "0".repeat(64);
    let (tally, other) = (Tally::of(&plan, &records).unwrap(), Tally::new(&other));
    let a = Side { tally: &tally, agent: "idle" };
    let b = Side { tally: &other, agent: "idle" };
    assert!(matches!(compare(a, b), Err(CompareError::OtherTasks { only_a: 1, only_b: 1, .. })));
    assert!(matches!(compare(a, Side { agent: "nobody", ..a }), Err(CompareError::NoAgent(..))));
}

#[test]
fn a_terminal_gets_lines_that_fit_it() {
    let (plan, records) = made_up_run(4, 1);
    let summary = Summary::of(&plan, &records).unwrap();
    for columns in [60, 80, 120, 200] {
        let text = text::summary(&summary, columns);
        for line in text.lines().filter(|line| !line.starts_with("mind") && !line.starts_with("Shares")) {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
        assert!(text.contains("pass^4") && text.contains("react:large") && text.contains("medium"));
    }
}

#[test]
fn who_declines_what_is_told() {
    let (mut plan, mut records) = made_up_run(1, 7);
    plan.agents.truncate(1);
    records.retain(|record| record.key.agent == plan.agents[0]);
    plan.tasks.truncate(7);
    records.truncate(7);
    let obstacle = [None, None, Some("policy"), Some("policy"), Some("no_tool"), Some("not_found"), Some("permission")];
    for (task, obstacle) in plan.tasks.iter_mut().zip(obstacle) {
        task.obstacle = obstacle.map(str::to_owned);
        task.parameters.insert("ways".to_owned(), 0);
    }
    // What fails, which gates fire, whether something was changed: each trial in its turn.
    let ends: [(&[&str], &[&str], bool); 7] = [
        (&["link"], &["declined"], false),
        (&[], &[], false),
        (&[], &[], false),
        (&["reason"], &[], false),
        (&["reason", "frame"], &["frame"], true),
        (&["decline", "frame"], &["frame"], true),
        (&["frame"], &["frame"], true),
    ];
    for (record, (failed, gates, changed)) in records.iter_mut().zip(ends) {
        let TrialEnd::Scored(score) = &mut record.end else { panic!("it is scored") };
        score.failed = failed.iter().map(|check| ((*check).to_owned(), "completion".to_owned())).collect();
        score.gates = gates.iter().map(|gate| (*gate).to_owned()).collect();
        score.side_effect = changed;
        score.pass = failed.is_empty();
    }
    let summary = Summary::of(&plan, &records).unwrap();
    let told = summary.agents[0].refusals.clone().unwrap();
    assert_eq!((told.blocked, told.feasible, told.over), (5, 2, Some(0.5)));
    assert_eq!((told.right, told.other_reason, told.after_changes, told.under), (0.2, 0.2, 0.4, 0.2));
    let by: Vec<&str> = summary.agents[0].by.objective.iter().map(|group| &*group.name).collect();
    assert_eq!(by, ["constraint_only", "no_tool", "not_found", "permission", "policy"]);
    assert!(text::summary(&summary, 200).contains("declined all the same"));
}
