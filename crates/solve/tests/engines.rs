//! Both engines against brute force, and against themselves.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use benchwright_base::Stream;
use benchwright_solve::{
    Answer, Constraint, CpSat, Engine, EngineError, Highs, Limits, Lin, Lit, Model, Status, satisfied,
};
use support::{library, limits, points, random_model};

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
    let mut infeasible = 0;
    for seed in 0..MODELS {
        let model = random_model(&mut Stream::new(seed, &["engines"]));
        let points = points(&model);
        infeasible += usize::from(points.is_empty());
        compare(&model, &engine.solve(&model, &limits()).unwrap(), &points, &format!("seed {seed}"));
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

#[test]
fn work_that_is_too_little_proves_nothing() {
    let Some(library) = library() else { return };
    let model = knapsack(60);
    let engines: [Box<dyn Engine>; 2] =
        [Box::new(CpSat::load(&library).unwrap()), Box::new(Highs::load(&library).unwrap())];
    let best = engines[0].solve(&model, &limits()).unwrap();
    let objective = model.minimise.as_ref().unwrap();
    for engine in &engines {
        for work in [0.0, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1] {
            let answer = engine.solve(&model, &Limits { work, ..limits() }).unwrap();
            println!("{} {work}: {:?} {} {}", engine.version(), answer.status, answer.bound, answer.work);
            assert_ne!(answer.status, Status::Infeasible);
            assert!(answer.bound <= objective.at(&best.point), "{}: {}", engine.version(), answer.bound);
        }
        let least = engine.solve(&model, &Limits { work: 0.0, ..limits() }).unwrap();
        assert_ne!(least.status, Status::Optimal, "{}", engine.version());
    }
}

#[test]
fn objectives_in_cents_are_exact() {
    let Some(library) = library() else { return };
    let mut model = Model::default();
    let (amount, fee) = (model.var(0, 100_000), model.lit());
    let spend = Lin::var(amount).times(1_037).plus(&Lin::lit(fee).times(12_345_678)).plus(&Lin::constant(41));
    let within = vec![(77_777, i64::MAX)];
    model.constraints.push(Constraint::Linear { of: Lin::var(amount), within, when: vec![] });
    let free = Constraint::Linear { of: Lin::var(amount), within: vec![(90_001, i64::MAX)], when: vec![!fee] };
    model.constraints.push(free);
    model.minimise = Some(spend);
    let engines: [Box<dyn Engine>; 2] =
        [Box::new(CpSat::load(&library).unwrap()), Box::new(Highs::load(&library).unwrap())];
    for engine in engines {
        let answer = engine.solve(&model, &limits()).unwrap();
        // 77777 * 1037 + 12345678 is more than 90001 * 1037 by a little.
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
