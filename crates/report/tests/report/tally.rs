//! Records counted one by one: the figures are those of the records, whatever their order.

use crate::{draw::Draw, made_up::made_up_run};
use benchwright_base::Stream;
use benchwright_pack::run::{Problem, RunPlan, Score, TrialEnd, TrialRecord};
use benchwright_report::{Figures, PlanFigures, Summary, Tally, stats};
use std::collections::BTreeMap;

/// A run in which everything is met that a summary tells of, with errors, limits, twins, requests and hostile texts.
fn varied(seed: u64) -> (RunPlan, Vec<TrialRecord>) {
    let (mut plan, mut records) = made_up_run(70, seed);
    plan.tasks.truncate(24);
    plan.agents.truncate(4);
    records.retain(|record| {
        plan.agents.contains(&record.key.agent) && plan.tasks.iter().any(|task| task.digest == record.key.task)
    });
    for (at, task) in plan.tasks.iter_mut().enumerate() {
        task.problem = (at % 2 == 0).then(|| Problem {
            class: ["rostering", "lot sizing"][at / 2 % 2].into(),
            trade: "healthcare".into(),
            difficulty: [("dynamics".into(), (at % 3) as u8)].into(),
        });
        task.pair = (at < 8).then(|| format!("pair-{}", at / 2));
        if at % 3 == 0 {
            task.parameters.insert("ways".into(), (at % 5) as i64);
            task.obstacle = (at % 2 == 0).then(|| "policy".into());
        }
    }
    let mut draw = Draw(Stream::new(seed, &["varied"]));
    let mut drawn = |most: i64| draw.0.between(0, most);
    for record in &mut records {
        record.spent.wall = if drawn(50) == 0 { u64::MAX / 1_000_000_000 } else { drawn(5_000_000) as u64 };
        record.trusted = drawn(3) == 0;
        record.failed = (drawn(4) == 0).then(|| "exit 1".into());
        if drawn(9) == 0 {
            let detail = format!("said {}", drawn(12));
            record.end = TrialEnd::Error { cause: ["stall", "server"][drawn(1) as usize].into(), detail };
        }
        if let TrialEnd::Scored(score) = &mut record.end {
            score.reward = drawn(1_000_000);
            score.followed = (drawn(2) == 0).then(|| drawn(1) == 0);
            score.limit = (drawn(5) == 0).then(|| ["turns", "calls"][drawn(1) as usize].into());
            score.gates = ["declined", "activity"].iter().take(drawn(2) as usize).map(|gate| (*gate).into()).collect();
            for check in ["decline", "reason"] {
                if drawn(3) == 0 {
                    score.failed.insert(check.into(), "completion".into());
                }
            }
        }
    }
    (plan, records)
}

#[test]
fn the_order_of_the_records_does_not_matter() {
    for seed in 0..4 {
        let (plan, mut records) = varied(seed);
        let summary = Summary::of(&plan, &records).unwrap();
        let mut draw = Stream::new(seed, &["order"]);
        for _ in 0..3 {
            for at in (1..records.len()).rev() {
                records.swap(at, draw.between(0, at as i64) as usize);
            }
            let mut tally = Tally::new(&plan);
            records.iter().for_each(|record| tally.add(record).unwrap());
            // What was counted is not counted again.
            records[..100].iter().for_each(|record| tally.add(record).unwrap());
            assert_eq!(tally.summary(), summary);
        }
    }
}

/// The scored trials among some.
fn scored<'r>(records: &[&'r TrialRecord]) -> Vec<(&'r Score, &'r TrialRecord)> {
    let score = |record: &&'r TrialRecord| match &record.end {
        TrialEnd::Scored(score) => Some((score, *record)),
        TrialEnd::Error { .. } => None,
    };
    records.iter().filter_map(score).collect()
}

/// Holds figures to what comes of the records one by one.
fn hold(figures: &Figures, records: &[&TrialRecord]) {
    let scored = scored(records);
    let count = |of: &dyn Fn(&(&Score, &TrialRecord)) -> bool| scored.iter().filter(|of_trial| of(of_trial)).count();
    assert_eq!((figures.counts.attempted, figures.counts.scored), (records.len(), scored.len()));
    assert_eq!(figures.counts.errors, records.len() - scored.len());
    assert_eq!(figures.alarms, count(&|(score, _)| score.alarm));
    assert_eq!(figures.trusted, count(&|(_, record)| record.trusted));
    assert_eq!(figures.never_began, count(&|(_, record)| record.failed.is_some() && record.used.calls == 0));
    let mut named: BTreeMap<String, usize> = BTreeMap::new();
    for gate in scored.iter().flat_map(|(score, _)| &score.gates) {
        *named.entry(gate.clone()).or_default() += 1;
    }
    assert_eq!(figures.gates, named);
    let close = |found: Option<f64>, expected: f64| {
        assert!(found.is_some_and(|found| (found - expected).abs() <= 1.000_001e-6), "{found:?} {expected}");
    };
    let mean =
        |of: fn(&TrialRecord) -> f64| scored.iter().map(|(_, record)| of(record)).sum::<f64>() / scored.len() as f64;
    close(figures.calls, mean(|record| f64::from(record.used.calls)));
    close(figures.cost, mean(|record| record.used.cost.unwrap_or_default() as f64 / 1e6));
    let mut walls: Vec<u64> = scored.iter().map(|(_, record)| record.spent.wall).collect();
    walls.sort_unstable();
    for (found, share) in [(figures.wall_p50, 0.5), (figures.wall_p95, 0.95)] {
        let at = ((share * walls.len() as f64).ceil() as usize).max(1) - 1;
        assert_eq!(found, Some(stats::rounded(walls[at] as f64 / 1e6)));
    }
    let mut tasks: BTreeMap<&str, Vec<&Score>> = BTreeMap::new();
    for (score, record) in &scored {
        tasks.entry(&record.key.task).or_default().push(score);
    }
    let over_tasks = |of: fn(&Score) -> f64| {
        let mean = |scores: &Vec<&Score>| scores.iter().map(|score| of(score)).sum::<f64>() / scores.len() as f64;
        tasks.values().map(mean).sum::<f64>() / tasks.len() as f64
    };
    close(figures.pass_at_1.value, over_tasks(|score| f64::from(u8::from(score.pass))));
    close(figures.mean_reward.value, over_tasks(|score| score.reward as f64 / 1e6));
    close(figures.side_effect.value, over_tasks(|score| f64::from(u8::from(score.side_effect))));
    close(figures.clean.value, over_tasks(|score| f64::from(u8::from(score.clean))));
    close(figures.paper_pass.value, over_tasks(|score| f64::from(u8::from(score.paper_pass))));
}

/// Holds the figures of planning problems to what comes of their records one by one.
fn hold_plans(plans: &PlanFigures, plan: &RunPlan, scored: &[(&Score, &TrialRecord)]) {
    let task = |record: &TrialRecord| plan.tasks.iter().find(|task| task.digest == record.key.task).unwrap();
    let own: Vec<_> = scored.iter().filter(|(_, record)| task(record).problem.is_some()).collect();
    let share = |of: &dyn Fn(&Score, &TrialRecord) -> bool| {
        stats::rounded(own.iter().filter(|(score, record)| of(score, record)).count() as f64 / own.len() as f64)
    };
    assert_eq!(plans.ends.iter().map(|end| end.trials).sum::<usize>(), own.len(), "each ends in one way");
    let passed = plans.ends.iter().find(|end| end.end == "passed").map_or(0.0, |end| end.rate);
    assert_eq!(passed, share(&|score, _| score.pass));
    for threshold in &plans.thresholds {
        let asked = (threshold.quality * 1e6).round() as i64;
        assert_eq!(threshold.reached, share(&|score, _| score.clean && score.reward >= asked));
    }
    let all = plans.tiers.last().unwrap();
    assert_eq!((all.scored, all.feasible), (own.len(), share(&|score, _| score.clean)));
    assert_eq!(all.handed_in, share(&|score, _| !score.gates.iter().any(|gate| gate == "activity")));
    for kind in &plans.classes {
        let of: Vec<_> =
            own.iter().filter(|(_, record)| task(record).problem.as_ref().unwrap().class == kind.name).collect();
        let mut tasks: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
        of.iter().for_each(|(score, record)| tasks.entry(&record.key.task).or_default().push(score.pass));
        let rate = |passes: &Vec<bool>| passes.iter().filter(|pass| **pass).count() as f64 / passes.len() as f64;
        let mean = tasks.values().map(rate).sum::<f64>() / tasks.len() as f64;
        assert!(kind.tasks == tasks.len() && (kind.passed - mean).abs() < 2e-6, "{kind:?} {mean}");
    }
    assert!(plans.difficulty.iter().all(|kind| kind.name.starts_with("dynamics ")));
}

#[test]
fn figures_are_those_of_the_records_one_by_one() {
    let (plan, records) = varied(9);
    let summary = Summary::of(&plan, &records).unwrap();
    for agent in &summary.agents {
        let own: Vec<&TrialRecord> = records.iter().filter(|record| record.key.agent == agent.agent).collect();
        hold(&agent.all, &own);
        for group in &agent.by.pattern {
            let is_in = |record: &&&TrialRecord| {
                plan.tasks.iter().any(|task| task.digest == record.key.task && task.pattern == group.name)
            };
            hold(&group.figures, &own.iter().filter(is_in).copied().collect::<Vec<_>>());
        }
        let scored = scored(&own);
        for failure in &agent.rules {
            let fails = |(score, _): &&(&Score, &TrialRecord)| score.failed.get(&failure.name) == Some(&failure.family);
            assert_eq!(failure.trials, scored.iter().filter(fails).count());
        }
        for line in &agent.errors {
            let end = TrialEnd::Error { cause: line.cause.clone(), detail: line.detail.clone() };
            assert_eq!(line.trials, own.iter().filter(|record| record.end == end).count());
        }
        // Twins: an attempt at a pair is the attempts of that number at both.
        let passed: BTreeMap<(&str, u32), bool> =
            scored.iter().map(|(score, of)| ((&*of.key.task, of.key.attempt), score.pass)).collect();
        let mut by_passed = [0_usize; 3];
        for twins in plan.tasks[..8].chunks(2) {
            for attempt in 1..=plan.attempts {
                let side = |at: usize| passed.get(&(&*twins[at].digest, attempt)).copied();
                if let (Some(left), Some(right)) = (side(0), side(1)) {
                    by_passed[usize::from(left) + usize::from(right)] += 1;
                }
            }
        }
        let pairs = agent.pairs.as_ref().unwrap();
        let share = |count: usize| stats::rounded(count as f64 / by_passed.iter().sum::<usize>() as f64);
        assert_eq!((pairs.pairs, pairs.attempts), (4, by_passed.iter().sum()));
        assert_eq!([pairs.neither, pairs.one, pairs.both], by_passed.map(share));
        assert!(agent.injections.is_some() && agent.refusals.is_some());
        hold_plans(agent.plans.as_ref().unwrap(), &plan, &scored);
        // Who always or never passes is alike everywhere.
        let varies = passed.values().any(|pass| *pass) && !passed.values().all(|pass| *pass);
        assert_eq!(agent.icc_task.is_some(), varies);
    }
}
