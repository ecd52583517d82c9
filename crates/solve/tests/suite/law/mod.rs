//! The law of the two readings: what the solver may choose is what the evaluator accepts.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod constructs;
pub(crate) mod fixture;
mod grow;
pub(crate) mod harness;
mod micro;
mod refused;
mod shapes;
mod shop;

use crate::support;
use benchwright_solve::sabotage::{self, Sabotage};
use harness::{Case, Harness, Tally};
use std::time::Instant;

/// Points of each case.
const POINTS: usize = 4;
/// Cases of a plain run; `BENCHWRIGHT_LAW_POINTS` gives another number of points.
const CASES: u64 = 2_000;
/// How often every construct must have occurred at least.
const AT_LEAST: usize = 20;

fn cases() -> u64 {
    let points = std::env::var("BENCHWRIGHT_LAW_POINTS").ok().and_then(|text| text.parse::<u64>().ok());
    points.map_or(CASES, |points| points.div_ceil(POINTS as u64))
}

#[test]
fn a_point_is_feasible_exactly_when_the_evaluator_accepts_its_rows() {
    let Some(library) = support::library() else { return };
    let begun = Instant::now();
    let domain = fixture::things();
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let share = |part: u64| {
            let mut harness = Harness::new(&library);
            for seed in (0..cases()).filter(|seed| seed % 2 == part) {
                harness.case(&Case::new(&domain, seed), POINTS);
            }
            harness.tally
        };
        let other = scope.spawn(move || share(1));
        tally.add(share(0));
        tally.add(other.join().unwrap());
    });
    println!("{:#?}", tally.constructs);
    let Tally { rules, instances, known, points, solves, verdicts, rejected, numbers, refused, largest, .. } = &tally;
    println!(
        "{rules} rules, {instances} instances ({known} known before any point), {points} points, {verdicts} verdicts ({rejected} \
         rejections), {numbers} numbers, {solves} solves, at most {largest} variables, {} cases refused, {:.1} s",
        refused.len(),
        begun.elapsed().as_secs_f64()
    );
    for why in refused.iter().take(5) {
        println!("refused: {why}");
    }
    assert!(tally.wrong.is_empty(), "{} disagreements, the first: {}", tally.wrong.len(), tally.wrong[0]);
    assert!(refused.len() * 50 < *rules, "the lowering refuses too much: {refused:?}");
    let counted = |name: &str| tally.constructs.get(name).copied().unwrap_or_default();
    let rare: Vec<(&str, usize)> =
        constructs::ALL.iter().map(|name| (*name, counted(name))).filter(|(_, count)| *count < AT_LEAST).collect();
    assert!(rare.is_empty(), "constructs that are hardly exercised: {rare:?}");
    let unknown: Vec<&&str> = tally.constructs.keys().filter(|name| !constructs::ALL.contains(name)).collect();
    assert!(unknown.is_empty(), "constructs without a place in the list: {unknown:?}");
}

/// Cases of each kind for the shared way.
const SHARED: u64 = 400;

#[test]
fn the_shared_way_has_the_same_points_and_its_bundles_hold_together() {
    let Some(library) = support::library() else { return };
    let begun = Instant::now();
    let domain = fixture::things();
    let mut harness = Harness::new(&library);
    for seed in 0..SHARED {
        harness.case(&Case::shaped(&domain, seed), POINTS);
        harness.case(&Case::new(&domain, seed).shared(), POINTS / 2);
    }
    let Tally { points, torn, native, refused, wrong, .. } = &harness.tally;
    println!(
        "{points} points, {torn} with half a bundle, {native} native constraints, {} refused, {:.1} s",
        refused.len(),
        begun.elapsed().as_secs_f64()
    );
    assert!(wrong.is_empty(), "{} disagreements, the first: {}", wrong.len(), wrong[0]);
    assert!(refused.len() < 50, "the lowering refuses too much: {refused:?}");
    assert!(*torn > 500 && *native > 300, "{torn} points with half a bundle, {native} native constraints");
}

#[test]
fn every_sabotage_of_the_lowering_is_caught() {
    let Some(library) = support::library() else { return };
    let domain = fixture::things();
    let mut missed = Vec::new();
    for way in Sabotage::ALL {
        let begun = Instant::now();
        let mut harness = Harness::new(&library);
        let mut seeds = 0..CASES;
        while harness.tally.wrong.is_empty()
            && let Some(seed) = seeds.next()
        {
            for case in [Case::shaped(&domain, seed), Case::new(&domain, seed)] {
                sabotage::with(way, || harness.case(&case, POINTS));
            }
        }
        let (points, wrong) = (harness.tally.points, &harness.tally.wrong);
        let what = wrong.first().and_then(|wrong| wrong.split(':').next()).unwrap_or("never");
        println!("{way:?}: {what} ({points} points, {:.1} s)", begun.elapsed().as_secs_f64());
        if wrong.is_empty() {
            missed.push(way);
        }
    }
    assert!(missed.is_empty(), "not caught: {missed:?}");
}
