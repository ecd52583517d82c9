//! The bound that is added up in whole numbers: never above a point, whatever the multipliers, and of use with HiGHS's own.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::golden::Golden;
use crate::models::{points, random_intervals, random_model};
use crate::support::library;
use benchwright_base::Stream;
use benchwright_solve::{Constraint, Highs, Lin, Lit, Lower, Lowering, Model, Multipliers, near, proved};
use benchwright_spec::BoundProof;

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

/// Of each of some pairs one is to be chosen, at least cost: half of every one is much cheaper than whole ones are.
fn random_cover(stream: &mut Stream) -> Model {
    let vars = 9;
    let mut model = Model { vars: vec![vec![(0, 1)]; vars], ..Model::default() };
    for _ in 0..16 {
        let pair = [stream.below(vars as u64) as u32, stream.below(vars as u64) as u32];
        model.constraints.push(Constraint::Or(pair.map(|var| Lit { var, yes: true }).to_vec()));
    }
    let costs = (0..vars as u32).map(|var| Lin::var(var).times(stream.between(40, 60)));
    model.minimise = Some(Lin::sum(costs));
    model
}

#[test]
fn cases_prove_no_more_than_is_true_and_leave_none_out() {
    let Some(library) = library() else { return };
    let highs = Highs::load(&library).unwrap();
    let (mut seen, mut told_apart) = (0, 0);
    for seed in 0..100 {
        let model = random_cover(&mut Stream::new(seed, &["cases"]));
        let best = points(&model).iter().map(|point| model.minimise.as_ref().unwrap().at(point)).min().unwrap();
        let Some((bound, proof)) = near(&model, &highs, best).unwrap() else { continue };
        assert!(bound <= best && (best - bound) * 20 <= best.abs(), "seed {seed}: {bound} of {best}: {model:?}");
        assert_eq!(proved(&proof, &model), Some(bound), "seed {seed}");
        seen += 1;
        let BoundProof::Cases { var, no, yes } = &proof else { continue };
        told_apart += 1;
        // Two cases of which one is told twice are no proof of more than that one.
        for twice in [no, yes] {
            let cases = BoundProof::Cases { var: *var, no: twice.clone(), yes: twice.clone() };
            assert!(proved(&cases, &model).is_none_or(|bound| bound <= best), "seed {seed}: {model:?}");
        }
        // A variable that is neither 0 nor 1, and one that is not there, tell no cases apart.
        let mut wide = model.clone();
        wide.vars[*var as usize] = vec![(0, 2)];
        assert_eq!(proved(&proof, &wide), None);
        let odd = BoundProof::Cases { var: model.vars.len() as u32, no: no.clone(), yes: yes.clone() };
        assert_eq!(proved(&odd, &model), None);
    }
    println!("{seen} bounds, {told_apart} of cases");
    assert!(told_apart >= 20, "{seen} bounds, {told_apart} of cases");
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
