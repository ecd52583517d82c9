//! The slice of the coverage simulation that every test run makes; the example `coverage` makes all of it.

use crate::simulate::{LAYOUTS, coverage};
use crate::simulate_pairs::{Gain, found};
use benchwright_report::stats::{Design, power};

#[test]
fn printed_intervals_hold_the_truth_in_93_to_98_of_100_or_say_so() {
    const REPLICATIONS: u32 = 2_000;
    // Two standard errors of 2,000 replications at 93 %.
    const CHANCE: f64 = 0.011;
    for (name, sizes) in LAYOUTS {
        for icc in [0.2, 0.4] {
            for p in [0.5, 0.1] {
                let found = coverage(sizes, icc, p, REPLICATIONS, 1);
                let held = (0.93 - CHANCE..=0.98 + CHANCE).contains(&found.covered);
                assert!(held || found.warned == 1.0, "{name}, icc {icc}, p {p}: {}", found.covered);
                // What clusters are for: without them an interval promises what it does not hold.
                assert!(found.naive < 0.90, "{name}, icc {icc}, p {p}: naive {}", found.naive);
            }
        }
    }
}

#[test]
fn a_small_share_is_told_to_be_hard() {
    let found = coverage(LAYOUTS[1].1, 0.4, 0.03, 1_000, 1);
    assert!(found.covered > 0.9, "{}", found.covered);
    assert!(found.warned > 0.9, "{}", found.warned);
    let easy = coverage(LAYOUTS[1].1, 0.2, 0.5, 1_000, 1);
    assert_eq!(easy.warned, 0.0);
    // Not by being wide: 300 tasks in 29 patterns tell a share to about 20 points.
    assert!(easy.width < 0.25, "{}", easy.width);
}

/// The comparisons whose power the recipe states.
const STATED: [(u32, u32, f64); 3] = [(300, 1, 0.08), (300, 4, 0.042), (50, 1, 0.116)];

fn design(tasks: u32, trials: u32) -> Design {
    Design { tasks, trials, clusters: 29, icc: 0.6, base: 0.4 }
}

#[test]
fn a_comparison_of_equals_rarely_finds_a_difference() {
    for (tasks, trials, _) in STATED {
        let found = found(&design(tasks, trials), 0.0, Gain::Even, 1_500, 1);
        let either = found.right + found.wrong;
        assert!((0.02..0.065).contains(&either), "{tasks} x {trials}: {either}");
    }
}

#[test]
fn the_power_that_is_printed_is_the_power_that_trials_have() {
    for (tasks, trials, difference) in STATED {
        let design = design(tasks, trials);
        let printed = power(&design, difference).unwrap();
        let even = found(&design, difference, Gain::Even, 1_500, 1);
        assert!((printed - even.right).abs() < 0.06, "{tasks} x {trials}: printed {printed}, simulated {}", even.right);
        assert!(even.wrong < 0.01);
        // Where hard tasks gain most, results scatter more and the printed power is too high by up to a tenth.
        let by_room = found(&design, difference, Gain::ByRoom, 1_500, 1);
        assert!((-0.02..0.12).contains(&(printed - by_room.right)), "{tasks} x {trials}: {}", by_room.right);
    }
}

#[test]
fn the_layouts_are_those_of_the_suite() {
    let suite = include_str!("../../../../suites/erp-300.toml");
    for (name, sizes) in &LAYOUTS[1..] {
        let mut counts = std::collections::BTreeMap::new();
        for task in suite.split("[[task]]").skip(1) {
            let value = |key: &str| {
                let line = task.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = ")).unwrap();
                line.trim_matches('"').to_owned()
            };
            if *name == "erp-300" || value("tier") == *name {
                *counts.entry(value("cluster")).or_insert(0) += 1;
            }
        }
        let mut counted: Vec<usize> = counts.into_values().collect();
        let mut stated = sizes.to_vec();
        counted.sort_unstable();
        stated.sort_unstable();
        assert_eq!(counted, stated, "{name}");
    }
}
