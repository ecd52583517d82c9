//! The bound that is added up in whole numbers: never above a point, whatever the multipliers, and of use with HiGHS's own.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::golden::Golden;
use crate::models::{points, random_intervals, random_model};
use crate::support::library;
use benchwright_base::Stream;
use benchwright_solve::{Highs, Lower, Lowering, Model, Multipliers};

#[test]
fn no_multipliers_prove_more_than_is_true() {
    let Some(library) = library() else { return };
    let highs = Highs::load(&library).unwrap();
    let (mut seen, mut met) = (0, 0);
    for seed in 0..300 {
        let stream = &mut Stream::new(seed, &["certificate"]);
        let model = if stream.chance(1, 2) { random_model(stream) } else { random_intervals(stream) };
        let Some(objective) = &model.minimise else { continue };
        let Some(best) = points(&model).iter().map(|point| objective.at(point)).min() else { continue };
        // Not every model has a linear form.
        let Ok(Some(multipliers)) = Multipliers::of(&model, &highs) else { continue };
        let bound = multipliers.bound(&model).unwrap();
        assert!(bound <= best, "seed {seed}: {bound} is proved of {best}: {model:?}");
        seen += 1;
        met += usize::from(bound == best);
        for _ in 0..8 {
            let bent = multipliers.0.iter().map(|one| match stream.below(3) {
                0 => *one,
                1 => one + stream.between(-3_000_000, 3_000_000),
                _ => stream.between(-9_000_000, 9_000_000),
            });
            let bound = Multipliers(bent.collect()).bound(&model).unwrap();
            assert!(bound <= best, "seed {seed}: {bound} is proved of {best}: {model:?}");
        }
        assert_eq!(Multipliers(vec![0; multipliers.0.len() + 1]).bound(&model), None);
    }
    println!("{seen} models, the bound of {met} is the best value");
    assert!(seen > 100 && met * 4 > seen, "{seen} models, the bound of {met} is the best value");
}

fn lowered(golden: &Golden) -> Model {
    let mut lower =
        Lower::in_way(Lowering::Shared, &golden.problem.plan, &golden.problem.bound, &golden.problem.candidates);
    for instance in &lower.all_instances().unwrap() {
        lower.require(&instance.holds);
    }
    lower.model.minimise =
        Some(lower.number(&golden.problem.plan.objectives[&golden.problem.objective][0].of).unwrap());
    lower.model
}

#[test]
fn deliveries_are_proved_by_arithmetic_alone() {
    let Some(library) = library() else { return };
    let highs = Highs::load(&library).unwrap();
    for (name, permille) in [("vrp-E-1", 1_000), ("vrp-M-1", 1_000), ("uc-E-2", 900)] {
        let golden = Golden::load(name);
        let model = lowered(&golden);
        let multipliers = Multipliers::of(&model, &highs).unwrap().unwrap();
        let bound = multipliers.bound(&model).unwrap();
        println!("{name}: {bound} of {}, {} rows", golden.value, multipliers.0.len());
        assert!(
            bound <= golden.value && bound * 1_000 >= golden.value * permille,
            "{name}: {bound} of {}",
            golden.value
        );
    }
}
