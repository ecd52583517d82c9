//! The slice of the coverage simulation that every test run makes; the example `coverage` makes all of it.

use crate::simulate::{LAYOUTS, coverage};

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
