//! Both engines against brute force, and against themselves.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::models::{limits, points, random_intervals, random_model};
use crate::support::library;
use benchwright_base::Stream;
use benchwright_solve::{
    Answer, Constraint, CpSat, Engine, EngineError, Highs, Limits, Lin, Lit, Model, Status, satisfied,
};

const MODELS: u64 = 400;

/// Holds an answer to what brute force found.
fn compare(model: &Model, answer: &Answer, points: &[Vec<i64>], who: &str) {
    if points.is_empty() {
        assert_eq!(answer.status, Status::Infeasible, "{who}: {model:?}");
        assert_eq!((&*answer.point, answer.bound), (&[][..], 0));
        return;
    }
    assert_eq!(answer.status, Status::Optimal, "{who}: {model:?}");
    assert!(satisfied(model, &answer.point), "{who}: {model:?}");
    match &model.minimise {
        Some(objective) => {
            let best = points.iter().map(|point| objective.at(point)).min().unwrap();
            assert_eq!((objective.at(&answer.point), answer.bound), (best, best), "{who}: {model:?}");
        }
        None => assert_eq!(answer.bound, 0),
    }
}

#[test]
fn both_agree_with_brute_force_on_intervals() {
    let Some(library) = library() else { return };
    let (cp_sat, highs) = (CpSat::load(&library).unwrap(), Highs::load(&library).unwrap());
    let mut infeasible = 0;
    for seed in 0..MODELS / 2 {
        let model = random_intervals(&mut Stream::new(seed, &["intervals"]));
        let points = points(&model);
        infeasible += usize::from(points.is_empty());
        compare(&model, &cp_sat.solve(&model, &limits()).unwrap(), &points, &format!("CP-SAT, seed {seed}"));
        compare(&model, &highs.solve(&model, &limits()).unwrap(), &points, &format!("HiGHS, seed {seed}"));
    }
    assert!((5..100).contains(&infeasible), "{infeasible} are infeasible");
}

fn is_two_valued(model: &Model, lin: &Lin) -> bool {
    match &*lin.terms {
        [] => true,
        [(var, _)] => matches!(model.bounds(*var), (0 | 1, 0 | 1)),
        _ => false,
    }
}

#[test]
fn cp_sat_agrees_with_brute_force() {
    let Some(library) = library() else { return };
    let engine = CpSat::load(&library).unwrap();
    let plain = engine.clone().without_presolve();
    let mut infeasible = 0;
    for seed in 0..MODELS {
        let model = random_model(&mut Stream::new(seed, &["engines"]));
        let points = points(&model);
        infeasible += usize::from(points.is_empty());
        compare(&model, &engine.solve(&model, &limits()).unwrap(), &points, &format!("seed {seed}"));
        compare(&model, &plain.solve(&model, &limits()).unwrap(), &points, &format!("seed {seed} without presolve"));
    }
    assert!((50..350).contains(&infeasible), "{infeasible} of {MODELS} are infeasible");
}

#[test]
fn highs_agrees_with_brute_force() {
    let Some(library) = library() else { return };
    let engine = Highs::load(&library).unwrap();
    let mut solved = 0;
    for seed in 0..MODELS {
        let model = random_model(&mut Stream::new(seed, &["engines"]));
        let is_linear = model.constraints.iter().all(|constraint| match constraint {
            Constraint::Product { of, .. } => of.iter().any(|lin| is_two_valued(&model, lin)),
            _ => true,
        });
        match engine.solve(&model, &limits()) {
            Ok(answer) => {
                assert!(is_linear);
                solved += 1;
                compare(&model, &answer, &points(&model), &format!("seed {seed}"));
            }
            Err(EngineError::Failed { why, .. }) => {
                assert!(!is_linear && why.contains("no linear form"), "seed {seed}: {why}");
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(solved > 300, "{solved} of {MODELS} have a linear form");
}

#[test]
fn the_fixed_search_gives_the_first_point_in_order() {
    let Some(library) = library() else { return };
    let engine = CpSat::load(&library).unwrap();
    let fixed = Limits { fixed_search: true, ..limits() };
    let mut seen = 0;
    for seed in 0..MODELS {
        let model = Model { minimise: None, ..random_model(&mut Stream::new(seed, &["engines"])) };
        let answer = engine.solve(&model, &fixed).unwrap();
        if let Some(first) = points(&model).first() {
            assert_eq!(answer.point, *first, "seed {seed}: {model:?}");
            seen += 1;
        }
    }
    assert!(seen > 50);
}

#[test]
fn twenty_repeats_are_identical() {
    let Some(library) = library() else { return };
    let engines: [Box<dyn Engine>; 2] =
        [Box::new(CpSat::load(&library).unwrap()), Box::new(Highs::load(&library).unwrap())];
    let model = knapsack(24);
    for engine in engines {
        let first = engine.solve(&model, &limits()).unwrap();
        assert_eq!(first.status, Status::Optimal);
        for _ in 1..20 {
            assert_eq!(engine.solve(&model, &limits()).unwrap(), first, "{}", engine.version());
        }
    }
}

/// Choose things of different weight and worth, with rules between them.
fn knapsack(count: usize) -> Model {
    let stream = &mut Stream::new(3, &["knapsack"]);
    let mut model = Model::default();
    let things: Vec<Lit> = (0..count).map(|_| model.lit()).collect();
    let amounts: Vec<Lin> = (0..count).map(|_| Lin::var(model.var(0, 9))).collect();
    let mut sum = |low, high| Lin::sum(amounts.iter().map(|amount| amount.times(stream.between(low, high))));
    let (weight, worth) = (sum(11, 97), sum(-997, -101));
    model.constraints.push(Constraint::Linear { of: weight, within: vec![(i64::MIN, 1_000)], when: vec![] });
    for (thing, amount) in things.iter().zip(&amounts) {
        model.constraints.push(Constraint::Linear { of: amount.clone(), within: vec![(0, 0)], when: vec![!*thing] });
        let few = Constraint::Linear { of: amount.clone(), within: vec![(2, 3), (5, 5)], when: vec![*thing] };
        model.constraints.push(few);
    }
    for pair in things.windows(3) {
        model.constraints.push(Constraint::Or(vec![!pair[0], !pair[2]]));
    }
    model.minimise = Some(worth.plus(&Lin::constant(100_000)));
    model
}

/// Split things so that four sums come out even; the less they do, the worse. Small and hard.
fn uneven() -> Model {
    let stream = &mut Stream::new(5, &["uneven"]);
    let mut model = Model::default();
    let things: Vec<Lin> = (0..30).map(|_| Lin::lit(model.lit())).collect();
    let score = Lin::var(model.var(0, 20_000));
    let mut total = score.clone();
    for _ in 0..4 {
        let weights: Vec<i64> = things.iter().map(|_| stream.between(0, 99)).collect();
        let half = weights.iter().sum::<i64>() / 2;
        let sum = Lin::sum(things.iter().zip(&weights).map(|(thing, weight)| thing.times(*weight)));
        let (over, under) = (Lin::var(model.var(0, 5_000)), Lin::var(model.var(0, 5_000)));
        let off = sum.minus(&over).plus(&under);
        model.constraints.push(Constraint::Linear { of: off, within: vec![(half, half)], when: vec![] });
        total = Lin::sum([total, over, under]);
    }
    model.constraints.push(Constraint::Linear { of: total, within: vec![(20_000, 20_000)], when: vec![] });
    model.minimise = Some(score.times(-1).plus(&Lin::constant(70)));
    model
}

#[test]
fn little_work_proves_little_and_nothing_wrong() {
    let Some(library) = library() else { return };
    let model = uneven();
    let objective = model.minimise.as_ref().unwrap();
    let engines: [Box<dyn Engine>; 2] =
        [Box::new(CpSat::load(&library).unwrap()), Box::new(Highs::load(&library).unwrap())];
    let (mut bound, mut value) = (i64::MIN, i64::MAX);
    for engine in &engines {
        let mut seen = Vec::new();
        for work in [0.0, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1] {
            let answer = engine.solve(&model, &Limits { work, ..limits() }).unwrap();
            bound = bound.max(answer.bound);
            if !answer.point.is_empty() {
                value = value.min(objective.at(&answer.point));
            }
            assert!(answer.work <= work * 2.0 + 0.01, "{}: {} for {work}", engine.version(), answer.work);
            seen.push(answer.status);
        }
        assert!(seen.iter().all(|status| matches!(status, Status::Unknown | Status::Feasible)), "{seen:?}");
        assert_eq!(seen.last(), Some(&Status::Feasible));
    }
    assert!(bound <= value, "a bound of {bound} is above a point of {value}");
}

#[test]
fn objectives_in_cents_are_exact() {
    let Some(library) = library() else { return };
    let mut model = Model::default();
    let (amount, fee) = (model.var(0, 100_000), model.lit());
    let spend = Lin::var(amount).times(1_037).plus(&Lin::lit(fee).times(12_700_000)).plus(&Lin::constant(41));
    let within = vec![(77_777, i64::MAX)];
    model.constraints.push(Constraint::Linear { of: Lin::var(amount), within, when: vec![] });
    let free = Constraint::Linear { of: Lin::var(amount), within: vec![(90_001, i64::MAX)], when: vec![!fee] };
    model.constraints.push(free);
    model.minimise = Some(spend);
    let engines: [Box<dyn Engine>; 2] =
        [Box::new(CpSat::load(&library).unwrap()), Box::new(Highs::load(&library).unwrap())];
    for engine in engines {
        let answer = engine.solve(&model, &limits()).unwrap();
        // 77777 * 1037 + 12700000 is more than 90001 * 1037 by a little.
        assert_eq!((answer.status, answer.bound), (Status::Optimal, 90_001 * 1_037 + 41), "{}", engine.version());
    }
}

#[test]
fn models_at_the_edge_are_answered_alike() {
    let Some(library) = library() else { return };
    let engines: [Box<dyn Engine>; 2] =
        [Box::new(CpSat::load(&library).unwrap()), Box::new(Highs::load(&library).unwrap())];
    for engine in engines {
        let solve = |model: &Model| engine.solve(model, &limits());
        let who = engine.version();
        let empty = Model { minimise: Some(Lin::constant(3)), ..Model::default() };
        let answer = solve(&empty).unwrap();
        assert_eq!((answer.status, answer.bound), (Status::Optimal, 3), "{who}");
        let never = Model { constraints: vec![Constraint::Or(vec![])], ..Model::default() };
        assert_eq!(solve(&never).unwrap().status, Status::Infeasible, "{who}");

        let mut model = Model::default();
        let (number, lit) = (model.var(-3, 8), model.lit());
        // Nothing lies in an empty range, so the literal cannot hold.
        let nothing = Constraint::Linear { of: Lin::var(number), within: vec![], when: vec![lit] };
        model.constraints = vec![nothing.clone()];
        model.minimise = Some(Lin::lit(!lit).plus(&Lin::constant(5)));
        let answer = solve(&model).unwrap();
        assert_eq!((answer.status, answer.bound, answer.point[1]), (Status::Optimal, 6, 0), "{who}");
        model.constraints.push(Constraint::Or(vec![lit]));
        assert_eq!(solve(&model).unwrap().status, Status::Infeasible, "{who}");

        model.vars[0].clear();
        let error = solve(&model).unwrap_err().to_string();
        assert!(error.contains("variable 0 has an empty domain"), "{who}: {error}");
    }
}
