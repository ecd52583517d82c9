//! Conflicts that are known, found again.

use crate::models::{limits, points, random_constraint, random_model};
use crate::support::library;
use benchwright_base::Stream;
use benchwright_solve::{Constraint, CoreError, CpSat, Highs, Limits, Lin, Model, core};

type Groups = Vec<(String, Vec<Constraint>)>;

fn at_least(lin: &Lin, low: i64) -> Constraint {
    Constraint::Linear { of: lin.clone(), within: vec![(low, i64::MAX)], when: vec![] }
}

fn at_most(lin: &Lin, high: i64) -> Constraint {
    Constraint::Linear { of: lin.clone(), within: vec![(i64::MIN, high)], when: vec![] }
}

/// Two numbers up to 10, and rules of which three conflict.
fn known() -> (Model, Groups) {
    let mut model = Model::default();
    let (a, b) = (Lin::var(model.var(0, 10)), Lin::var(model.var(0, 10)));
    model.minimise = Some(a.clone());
    let groups = [
        ("small a", at_most(&a, 4)),
        ("not both zero", at_least(&a.plus(&b), 1)),
        ("small b", at_most(&b, 5)),
        ("apart", at_most(&a.minus(&b), 9)),
        ("much", at_least(&a.plus(&b), 10)),
    ];
    (model, groups.map(|(name, constraint)| (name.to_owned(), vec![constraint])).into())
}

#[test]
fn a_known_conflict_is_named_by_both_engines() {
    let Some(library) = library() else { return };
    let (model, mut groups) = known();
    let cp_sat = CpSat::load(&library).unwrap();
    let wanted = Some(vec!["small a".to_owned(), "small b".to_owned(), "much".to_owned()]);
    assert_eq!(core(&model, &groups, &cp_sat, &limits()).unwrap(), wanted);
    assert_eq!(core(&model, &groups, &Highs::load(&library).unwrap(), &limits()).unwrap(), wanted);
    groups.pop();
    assert_eq!(core(&model, &groups, &cp_sat, &limits()).unwrap(), None);
}

#[test]
fn a_base_that_fits_nothing_needs_no_group() {
    let Some(library) = library() else { return };
    let (mut model, groups) = known();
    model.constraints.push(Constraint::Or(vec![]));
    let found = core(&model, &groups, &CpSat::load(&library).unwrap(), &limits()).unwrap();
    assert_eq!(found, Some(vec![]));
}

#[test]
fn without_work_there_is_no_core() {
    let Some(library) = library() else { return };
    let (model, groups) = known();
    let found = core(&model, &groups, &CpSat::load(&library).unwrap(), &Limits { work: 0.0, ..limits() });
    assert!(matches!(found, Err(CoreError::WorkRanOut)), "{found:?}");
}

#[test]
fn random_cores_are_infeasible_and_minimal_by_brute_force() {
    let Some(library) = library() else { return };
    let engine = CpSat::load(&library).unwrap();
    let mut sizes = [0; 8];
    for seed in 0..150 {
        let stream = &mut Stream::new(seed, &["core"]);
        let base = Model { constraints: vec![], ..random_model(stream) };
        let groups: Groups = (0..6).map(|name| (name.to_string(), vec![random_constraint(stream, &base)])).collect();
        let fits = |names: &[String]| {
            let chosen = groups.iter().filter(|(name, _)| names.contains(name)).flat_map(|(_, group)| group).cloned();
            !points(&Model { constraints: chosen.collect(), ..base.clone() }).is_empty()
        };
        let all: Vec<String> = groups.iter().map(|(name, _)| name.clone()).collect();
        let Some(found) = core(&base, &groups, &engine, &limits()).unwrap() else {
            assert!(fits(&all), "seed {seed}");
            continue;
        };
        assert!(!fits(&found), "seed {seed}: {found:?}");
        for left_out in &found {
            let rest: Vec<String> = found.iter().filter(|name| *name != left_out).cloned().collect();
            assert!(fits(&rest), "seed {seed}: {found:?} without {left_out}");
        }
        sizes[found.len()] += 1;
    }
    assert!(sizes[1] > 10 && sizes[2] > 10 && sizes[3..].iter().sum::<i32>() > 3, "{sizes:?}");
}
