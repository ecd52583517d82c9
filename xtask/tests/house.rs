//! The workspace itself keeps the rules of the house.

use xtask::Outcome;

#[track_caller]
fn holds(outcome: anyhow::Result<Outcome>) {
    let Outcome { seen, faults } = outcome.expect("the check runs");
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} faults in {seen}:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn crates_see_only_lower_rows() {
    holds(xtask::layers::run(&xtask::workspace_root()));
}

#[test]
fn every_file_is_tidy() {
    holds(xtask::tidy::run(&xtask::workspace_root()));
}

#[test]
fn the_list_of_what_has_code_is_fresh() {
    holds(xtask::domains::check(&xtask::workspace_root()));
}
