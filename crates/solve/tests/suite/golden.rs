//! Planning problems of eleven kinds whose best values are known from models that were written by hand. Each is rules as text over
//! candidate rows; lowered in the shared way it must come to the known value and prove it, and the evaluator, reading the same text over
//! the rows that were found, must give that value and find no rule broken.
//!
//! `scripts/golden` runs those that are left out here because their proofs take long.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::support;
use benchwright_solve::{CpSat, Engine, Formula, Limits, Lower, Lowering, Status};
use benchwright_spec::Problem;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Instant,
};

/// Seconds that a lowering may take, and seconds for a verdict, where many tests run on one core.
const LOWERED_IN: f64 = 5.0;
const JUDGED_IN: f64 = 1.0;

/// A case, bound and ready to be lowered.
pub(crate) struct Golden {
    pub(crate) problem: Problem,
    /// The best value and the bound that are known.
    pub(crate) value: i64,
    pub(crate) least: i64,
}

impl Golden {
    pub(crate) fn load(name: &str) -> Golden {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let known: BTreeMap<String, (i64, i64)> =
            serde_json::from_str(&fs::read_to_string(folder.join("golden.json")).unwrap()).unwrap();
        let text = fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let problem = Problem::new(serde_json::from_str(&text).unwrap()).unwrap_or_else(|why| panic!("{name}: {why}"));
        let (value, least) = known[name];
        Golden { problem, value, least }
    }
}

/// Holds a case to its known value, within this much work.
#[expect(clippy::print_stdout, reason = "a test that measures says what it measured")]
fn proves(name: &str, work: f64) {
    let Some(library) = support::library() else { return };
    let golden = Golden::load(name);
    let problem = &golden.problem;
    let begun = Instant::now();
    let mut lower = Lower::in_way(Lowering::Shared, &problem.plan, &problem.bound, &problem.candidates);
    let instances = lower.all_instances().unwrap();
    for instance in &instances {
        lower.require(&instance.holds);
    }
    let of = lower.number(&problem.plan.objectives[&problem.objective][0].of).unwrap();
    lower.model.minimise = Some(of.clone());
    let lowered = begun.elapsed().as_secs_f64();
    let engine = CpSat::load(&library).unwrap();
    let begun = Instant::now();
    let answer = engine.solve(&lower.model, &Limits { work, linearization: 2, fixed_search: false }).unwrap();
    let solved = begun.elapsed().as_secs_f64();
    let value = (!answer.point.is_empty()).then(|| of.at(&answer.point));
    let begun = Instant::now();
    let rows = lower.read(&answer.point);
    let (judged, broken) = problem.judged(&rows);
    let graded = begun.elapsed().as_secs_f64();
    println!(
        "{name}: value {value:?}, bound {}, work {:.2} of {work}, {solved:.2} s; {} variables, {} constraints, {} instances lowered in \
         {lowered:.3} s, judged in {:.1} ms",
        answer.bound,
        answer.work,
        lower.model.vars.len(),
        lower.model.constraints.len(),
        instances.len(),
        graded * 1_000.0
    );
    assert_eq!((answer.status, value, answer.bound), (Status::Optimal, Some(golden.value), golden.least), "{name}");
    assert_eq!((judged, broken), (value, 0), "{name}: the evaluator reads it otherwise");
    assert!(lowered < LOWERED_IN, "{name}: lowered in {lowered:.1} s");
    assert!(graded < JUDGED_IN, "{name}: judged in {graded:.1} s");
    // One literal for each bundle, whatever its rows.
    let bundles: BTreeSet<u32> = problem.candidates.iter().flatten().filter_map(|candidate| candidate.bundle).collect();
    let rows = lower.rows.iter().flatten().zip(problem.candidates.iter().flatten());
    let lits: BTreeSet<&Formula> =
        rows.filter(|(_, candidate)| candidate.bundle.is_some()).map(|(row, _)| &row.used).collect();
    assert_eq!(lits.len(), bundles.len(), "{name}");
}

/// A test for each case, with the work within which it is proved.
macro_rules! golden {
    ($($(#[$attribute:meta])* $test:ident: $name:literal within $work:literal;)*) => {
        $(
            #[test]
            $(#[$attribute])*
            fn $test() {
                proves($name, $work);
            }
        )*

        /// Every case that has a test.
        const TESTED: &[&str] = &[$($name),*];
    };
}

golden! {
    depots_easy: "fac-E-1" within 3.0;
    #[ignore = "its proof takes more than 5 units of work; scripts/golden runs it"]
    depots_medium: "fac-M-1" within 30.0;
    lots_easy: "lot-E-1" within 3.0;
    lots_medium: "lot-M-1" within 3.0;
    lots_medium_second: "lot-M-2" within 15.0;
    #[ignore = "its proof takes more than 5 units of work; scripts/golden runs it"]
    lots_hard: "lot-H-1" within 15.0;
    network_easy: "net-E-1" within 5.0;
    #[ignore = "its proof takes more than 5 units of work; scripts/golden runs it"]
    network_medium: "netg-M-1" within 20.0;
    roster_easy: "nur-E-1" within 3.0;
    roster_medium: "nur-M-1" within 5.0;
    roster_hard: "nur-H-1" within 3.0;
    project_easy: "rcp-E-1" within 3.0;
    project_medium: "rcp-M-1" within 3.0;
    project_hard: "rcp-H-1" within 15.0;
    stock_easy: "rep-E-1" within 10.0;
    reserve_easy: "res-E-1" within 5.0;
    reserve_medium: "res-M-1" within 30.0;
    shop_easy: "shop4-E-1" within 5.0;
    #[ignore = "its proof takes more than 5 units of work; scripts/golden runs it"]
    shop_medium: "shop4-M-1" within 30.0;
    shop_medium_second: "shop4-M-2" within 30.0;
    shop_hard: "shop4-H-1" within 30.0;
    surgery_easy: "sur-E-1" within 3.0;
    surgery_medium: "sur-M-1" within 3.0;
    #[ignore = "its proof takes more than 5 units of work; scripts/golden runs it"]
    surgery_hard: "sur-H-1" within 15.0;
    power_easy: "uc-E-2" within 3.0;
    power_medium: "uc-M-1" within 3.0;
    power_hard: "uc-H-1" within 3.0;
    power_with_futures_medium: "ucs-M-1" within 3.0;
    power_with_futures_hard: "ucs-H-1" within 3.0;
    delivery_easy: "vrp-E-1" within 1.0;
    delivery_medium: "vrp-M-1" within 1.0;
    delivery_hard: "vrp-H-1" within 1.0;
}

#[test]
fn every_case_has_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let text = fs::read_to_string(folder.join("golden.json")).unwrap();
    let known: BTreeMap<String, (i64, i64)> = serde_json::from_str(&text).unwrap();
    // One is proved by no engine alone; the portfolio has it.
    let tested: BTreeSet<&str> = TESTED.iter().copied().chain([crate::portfolio::GAP]).collect();
    assert_eq!(known.keys().map(|name| &**name).collect::<BTreeSet<&str>>(), tested);
}
