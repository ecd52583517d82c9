//! Holds the rewards of many states of the demo's tasks to figures in a file, so that a change to the judge which moves one of
//! them is seen. `BENCHWRIGHT_UPDATE=1` writes the file anew.
//!
//! The states are made by calls: none at all, the oracle's, every beginning of the oracle's, all but one of them, one of them
//! twice, a greedy plan, and the near-misses that the family knows.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::support::library;
use benchwright_audit::{NotRemade, Solvers, Subject};
use benchwright_catalog::Catalog;
use benchwright_grade::Grader;
use benchwright_pack::{CheckStatus, Script, Snapshot, Suite, SuiteTask, Task, Verdict};
use benchwright_project::{Mutation, Order, Solver, make};
use benchwright_solve::{CpSat, Highs, PhasePlanner};
use std::{fmt::Write as _, path::Path};

fn made(catalog: &Catalog, engine: &CpSat, line: &SuiteTask) -> Result<Task, String> {
    let pattern = catalog.pattern(&line.pattern).unwrap();
    let family = catalog.family(&pattern.family, &pattern.domain).unwrap();
    let domain = catalog.find(&pattern.domain).unwrap().domain;
    let order =
        Order { pattern: &pattern, tier: &line.tier, objective: &line.objective, seed: line.seed, reading: None };
    let solver = Solver { version: "test".to_owned(), library: "test".to_owned() };
    make(order, family, &domain, &mut PhasePlanner::new(engine), &solver).map_err(|error| error.to_string())
}

/// The state after the steps, of which those that the world refuses, or that name what no call has bound, are passed over.
fn state_after(subject: &Subject<'_>, script: &Script) -> Snapshot {
    let (mut episode, mut ledger) = (subject.begin().unwrap(), subject.bound_keys());
    for step in &script.steps {
        let Ok(arguments) = ledger.fill(&step.args) else { continue };
        let Ok(answer) = episode.call(&step.tool(), &arguments.to_string()) else { continue };
        if step.bind.is_some() {
            let _ = ledger.note(step, &serde_json::from_str(&answer).unwrap());
        }
    }
    episode.snapshot()
}

/// The scripts by name.
fn scripts(subject: &Subject<'_>, oracle: &Verdict) -> Vec<(String, Script)> {
    let steps = &subject.task.sealed.oracle.steps;
    let mut all = vec![
        ("idle".to_owned(), Script::default()),
        ("oracle".to_owned(), Script { steps: steps.clone(), ..Script::default() }),
    ];
    for at in 0..steps.len() {
        all.push((format!("first {at}"), Script { steps: steps[..at].to_vec(), ..Script::default() }));
        let mut without = steps.clone();
        without.remove(at);
        all.push((format!("without {at}"), Script { steps: without, ..Script::default() }));
        let mut twice = steps.clone();
        twice.insert(at, steps[at].clone());
        all.push((format!("twice {at}"), Script { steps: twice, ..Script::default() }));
    }
    let (family, case) = (subject.family, &subject.case);
    let greedy = family.optimised().unwrap().greedy(case).and_then(|plan| family.script(case, &plan));
    all.push(("greedy".to_owned(), greedy.unwrap()));
    for check in oracle.checks.iter().filter(|check| check.status != CheckStatus::Na) {
        let near = family.mutator().unwrap().mutate(case, &subject.named, &check.rule, &check.at).unwrap();
        if let Some(Mutation::Script(script)) = near {
            all.push((format!("near-miss {} {}", check.rule, check.at.join(" ")), script));
        }
    }
    all
}

/// Everything a verdict counts by, on one line.
fn line(name: &str, verdict: &Verdict) -> String {
    let Verdict { ending, reward, constraints, trace, objective, gates, phases, alarm, paper_pass, .. } = verdict;
    let phases: Vec<String> = phases.iter().map(|phase| format!("{:?}:{}", phase.value, phase.score)).collect();
    format!(
        "{name}: {ending:?} {reward} = {constraints} {objective} {trace}, gates {gates:?}, phases {phases:?}, {alarm} {paper_pass}\n"
    )
}

#[test]
fn rewards_of_states_of_the_demo_stay_as_they_are() {
    let Some(library) = library() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let suite = std::fs::read_to_string(root.join("../../suites/demo.toml")).unwrap();
    let suite = Suite::from_toml("demo.toml", &suite).unwrap();
    let catalog = Catalog::built_in();
    let (engine, second) = (CpSat::load(&library).unwrap(), Highs::load(&library).unwrap());
    let mut found = String::new();
    for task in &suite.tasks {
        let made_of = || made(&catalog, &engine, task).map_err(NotRemade);
        let made = made_of().unwrap();
        let solvers = Some(Solvers { first: &engine, second: &second });
        let subject = Subject::new(&made, &catalog, solvers, &made_of).unwrap();
        let grader: Grader<'_> = subject.grader().unwrap();
        let oracle = grader.grade(&state_after(&subject, &made.sealed.oracle)).unwrap();
        let _ = writeln!(found, "{} {} {} {}", task.pattern, task.tier, task.objective, task.seed);
        for (name, script) in scripts(&subject, &oracle) {
            found.push_str(&line(&name, &grader.grade(&state_after(&subject, &script)).unwrap()));
        }
    }
    let file = root.join("tests/rewards.txt");
    if std::env::var("BENCHWRIGHT_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(&file, &found).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    for (at, (kept, found)) in kept.lines().zip(found.lines()).enumerate() {
        assert_eq!(kept, found, "line {} of rewards.txt", at + 1);
    }
    assert_eq!(kept.lines().count(), found.lines().count());
}
