//! Patterns from disk with one changed rule: made, solved or proved, and attacked like any other. The one on the ERP family is the walk
//! of `docs/extending/pattern.md`, taken from the page itself; the one on grids needs no solver.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::support::library;
use benchwright_audit::{Held, NotRemade, Solvers, Subject, TRIALS, run};
use benchwright_catalog::Catalog;
use benchwright_pack::Task;
use benchwright_project::{Order, Solver, make};
use benchwright_solve::{CpSat, Highs, PhasePlanner};
use benchwright_spec::{NoPlanner, Planner};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

fn own(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

fn task(catalog: &Catalog, name: &str, seed: u64, planner: &mut dyn Planner) -> Result<Task, String> {
    let pattern = catalog.pattern(name).map_err(|error| error.to_string())?;
    let family = catalog.family(&pattern.family, &pattern.domain).unwrap();
    let domain = catalog.find(&pattern.domain).unwrap().domain;
    let cell = &pattern.head.cells[0];
    let order = Order { pattern: &pattern, tier: &cell.tier, objective: &cell.objectives[0], seed, reading: None };
    let solver = Solver { version: "test".to_owned(), library: "test".to_owned() };
    make(order, family, &domain, planner, &solver).map_err(|error| error.to_string())
}

/// What became of each trial.
fn held(subject: &Subject<'_>) -> BTreeMap<&'static str, Held> {
    let grader = subject.grader().unwrap();
    TRIALS.iter().map(|trial| (trial.name, run(trial, subject, &grader).held)).collect()
}

fn failed(held: &BTreeMap<&'static str, Held>) -> Vec<String> {
    let wrong = held.iter().filter(|(_, held)| matches!(held, Held::Failed(_)));
    wrong.map(|(trial, held)| format!("{trial}: {held:?}")).collect()
}

#[test]
fn a_grid_with_a_changed_rule_is_made_and_attacked_without_a_solver() {
    let catalog = Catalog::built_in().with_patterns(own("tests/own_patterns"));
    assert!(catalog.pattern_names().unwrap().contains(&"own/whole-trip".to_owned()));
    let made = task(&catalog, "own/whole-trip", 1, &mut NoPlanner).unwrap();
    let rule = &made.sealed.verifier.plan.rules["grid/handed-in"];
    assert!(rule.require.as_ref().unwrap().contains("for s in slots"), "{rule:?}");
    assert!(made.instruction.starts_with("# The whole itinerary\n"), "{}", made.instruction);
    let remake = || task(&catalog, "own/whole-trip", 1, &mut NoPlanner).map_err(NotRemade);
    let held = held(&Subject::new(&made, &catalog, None, &remake).unwrap());
    assert!(failed(&held).is_empty(), "{:#?}", failed(&held));
    for trial in ["idle", "oracle", "frame", "spam", "clauses", "leak", "regenerate"] {
        assert_eq!(held[trial], Held::Passed, "{trial}");
    }
}

/// The files that the page tells a newcomer to write.
fn walk() -> BTreeMap<String, String> {
    let page = fs::read_to_string(own("../../docs/extending/pattern.md")).unwrap();
    let mut files = BTreeMap::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        let line = line.strip_prefix("       ").unwrap_or(line);
        match &mut open {
            None => {
                let name = line.strip_prefix("cat > ").and_then(|rest| rest.strip_suffix(" <<'END'"));
                open = name.map(|name| (name.to_owned(), String::new()));
            }
            Some(_) if line == "END" => files.extend(open.take()),
            Some((_, text)) => *text += &format!("{line}\n"),
        }
    }
    files
}

#[test]
fn the_walk_of_the_documentation_makes_tasks_that_no_trial_breaks() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("walk");
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(root.join("careful-buying")).unwrap();
    let files = walk();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["README.md", "pattern.toml", "rules.toml", "text.toml"]);
    for (file, text) in &files {
        fs::write(root.join("careful-buying").join(file), text).unwrap();
    }
    let catalog = Catalog::built_in().with_patterns(&root);
    assert_eq!(catalog.check(&root).unwrap()[0].faults, []);
    let pattern = catalog.pattern("own/careful-buying").unwrap();
    let rules: Vec<&str> = pattern.rules.rules.keys().map(|id| &**id).collect();
    assert_eq!(rules, ["erp/max-finished"], "one rule is changed");

    let Some(library) = library() else { return };
    let (engine, second) = (CpSat::load(&library).unwrap(), Highs::load(&library).unwrap());
    let remake = || task(&catalog, "own/careful-buying", 1, &mut PhasePlanner::new(&engine)).map_err(NotRemade);
    let made = remake().unwrap();
    assert!(made.sealed.verifier.plan.rules["erp/max-finished"].require.as_ref().unwrap().contains("< most(v, p)"));
    assert!(made.sealed.clauses.iter().any(|clause| clause.tells == ["erp/max-finished"]));
    let solvers = Some(Solvers { first: &engine, second: &second });
    let held = held(&Subject::new(&made, &catalog, solvers, &remake).unwrap());
    assert!(failed(&held).is_empty(), "{:#?}", failed(&held));
    for trial in ["oracle", "near-miss", "clauses", "closed-book", "second-solver", "dominance", "regenerate"] {
        assert_eq!(held[trial], Held::Passed, "{trial}");
    }
}
