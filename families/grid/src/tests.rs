//! What the generator promises, seen from outside: by listing choices, by playing, and by moving one bound.

use super::{board::Board, search, setting::Setting, words::Words};
use benchwright_catalog::Catalog;
use benchwright_grade::Grader;
use benchwright_pack::{CheckStatus, Snapshot, Task};
use benchwright_project::{Draw, Order, Solver, make};
use benchwright_sandbox::{Conditions, Sandbox};
use benchwright_spec::NoPlanner;
use benchwright_world::Seat;
use serde_json::json;
use std::{path::Path, sync::Arc};

const DOMAINS: [&str; 6] = ["course", "meal", "pc_build", "shopping", "travel", "workforce"];

fn task(domain: &str, tier: &str, seed: u64) -> Task {
    let catalog = Catalog::built_in();
    let pattern = catalog.pattern(&format!("grid/{domain}")).unwrap();
    let family = catalog.family("grid", domain).unwrap();
    let found = catalog.find(domain).unwrap();
    let solver = Solver { version: String::new(), library: String::new() };
    let order = Order { pattern: &pattern, tier, objective: "fill", seed, reading: None };
    make(order, family, &found.domain, &mut NoPlanner, &solver).unwrap()
}

fn board(task: &Task) -> Board {
    serde_json::from_value(task.sealed.case.clone()).unwrap()
}

fn words(domain: &str) -> Words {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains").join(domain).join("grid.toml");
    Words::read(&std::fs::read_to_string(file).unwrap(), None).unwrap()
}

#[test]
fn every_setting_has_its_slots_and_its_decoys() {
    for (at, tier) in Catalog::built_in().pattern("grid/meal").unwrap().head.cells.iter().map(|c| &c.tier).enumerate() {
        let domain = DOMAINS[at % DOMAINS.len()];
        let (task, words) = (task(domain, tier, 3), words(domain));
        let board = board(&task);
        let (open, decoys): (usize, usize) = (tier[1..3].parse().unwrap(), tier[5..7].parse().unwrap());
        assert_eq!((board.open.len(), board.rows, board.cols), (open, 5, 7), "{tier}");
        let candidates = board.candidates();
        assert!(candidates.iter().all(|list| list.len() == 25), "{tier}");
        let fits = |(slot, list): (usize, &Vec<u32>)| {
            list.iter().filter(|number| board.fits(slot, &board.item(**number).unwrap().values)).count()
        };
        assert_eq!(candidates.iter().enumerate().map(fits).sum::<usize>(), open + decoys, "{tier}");
        assert_eq!(search::search(&words, &board).count, 1, "{tier}");
        assert!(task.sealed.certificate.discarded.is_empty(), "{tier}: {:?}", task.sealed.certificate.discarded);
    }
}

#[test]
fn listing_every_choice_finds_one() {
    for (domain, seed) in DOMAINS.into_iter().zip(20..) {
        let (task, words) = (task(domain, "h03-b14", seed), words(domain));
        let board = board(&task);
        let gauges: Vec<search::Gauge> =
            board.limits.iter().map(|limit| search::Gauge::of(&words, limit).unwrap()).collect();
        let lists = board.candidates();
        let mut found = Vec::new();
        for a in &lists[0] {
            for b in &lists[1] {
                for c in &lists[2] {
                    let choice = [*a, *b, *c];
                    let values = |slot: usize| &*board.item(choice[slot]).unwrap().values;
                    let right = (0..3).all(|slot| board.fits(slot, values(slot)))
                        && gauges.iter().all(|gauge| {
                            let placed: i64 = (0..3).map(|slot| gauge.weight(board.row_of(slot), values(slot))).sum();
                            gauge.holds(search::given_of(&board, gauge) + placed)
                        });
                    if right {
                        found.push(choice.to_vec());
                    }
                }
            }
        }
        assert_eq!(Some(&found), search::search(&words, &board).first.map(|first| vec![first]).as_ref(), "{domain}");
    }
}

#[test]
fn a_search_sees_a_second_choice() {
    let (task, words) = (task("course", "h05-b09", 4), words("course"));
    let mut board = board(&task);
    let loose = board.limits.iter_mut();
    loose.for_each(|limit| limit.bound = if words.rule[limit.rule].of == "seats" { 0 } else { 1_000_000 });
    assert_eq!(search::search(&words, &board).count, 2);
    board
        .limits
        .iter_mut()
        .for_each(|limit| limit.bound = if words.rule[limit.rule].of == "seats" { 1_000_000 } else { 0 });
    assert_eq!(search::search(&words, &board).count, 0);
}

#[test]
fn a_twin_is_the_same_but_for_one_bound_and_one_answer() {
    for domain in DOMAINS {
        let (one, other) = (task(domain, "h07-b09", 5), task(domain, "h07-b09-twin", 5));
        let (a, b) = (board(&one), board(&other));
        assert_eq!((&a.items, &a.given, &a.open, &a.limits), (&b.items, &b.given, &b.open, &b.limits), "{domain}");
        let moved = a.conditions.iter().zip(&b.conditions).filter(|(a, b)| a != b).count();
        assert_eq!(moved, 1, "{domain}");
        let lines = one.instruction.lines().zip(other.instruction.lines()).filter(|(a, b)| a != b).count();
        assert_eq!((lines, one.instruction.lines().count()), (1, other.instruction.lines().count()), "{domain}");
        let chosen = |task: &Task| task.sealed.certificate.plan["assign"].as_array().unwrap().clone();
        let changed = chosen(&one).iter().zip(&chosen(&other)).filter(|(a, b)| a["item"] != b["item"]).count();
        assert_eq!(changed, 1, "{domain}");
    }
}

#[test]
fn so_many_decoys_stay_unseen() {
    for (seed, (decoys, further)) in (0..4).zip([(3, 2), (0, 1), (5, 1), (2, 4)]) {
        let (task, words) = (task("workforce", &format!("h09-b05-k{further}-s{decoys}"), seed), words("workforce"));
        let board = board(&task);
        let gauges: Vec<search::Gauge> =
            board.limits.iter().map(|limit| search::Gauge::of(&words, limit).unwrap()).collect();
        let truth = search::search(&words, &board).first.unwrap();
        let weight = |gauge: &search::Gauge, slot: usize, number: u32| {
            gauge.weight(board.row_of(slot), &board.item(number).unwrap().values)
        };
        let mut unseen = 0;
        for (slot, list) in board.candidates().iter().enumerate() {
            let is_decoy =
                |number: &&u32| **number != truth[slot] && board.fits(slot, &board.item(**number).unwrap().values);
            for decoy in list.iter().filter(is_decoy) {
                let end = slot + 1 + further;
                let holds = end <= truth.len()
                    && gauges.iter().filter(|gauge| gauge.is_upper()).all(|gauge| {
                        let others = (0..end).filter(|at| *at != slot).map(|at| weight(gauge, at, truth[at]));
                        let total = search::given_of(&board, gauge) + others.sum::<i64>();
                        gauge.holds(total + weight(gauge, slot, *decoy))
                    });
                unseen += usize::from(holds);
            }
        }
        assert_eq!(unseen, decoys, "seed {seed}");
    }
}

#[test]
fn failures_and_twins_leave_the_grid_as_it_is() {
    let (plain, failing) = (task("travel", "h05-b05", 9), task("travel", "h05-b05-p10", 9));
    let (mut a, b) = (board(&plain), board(&failing));
    assert_eq!((a.faults, b.faults), (0, 100_000));
    a.faults = b.faults;
    assert_eq!(a, b);
    assert_eq!(plain.instruction, failing.instruction);
}

#[test]
fn tiers_that_cannot_be_are_refused() {
    let catalog = Catalog::built_in();
    let pattern = catalog.pattern("grid/course").unwrap();
    for tier in ["h05-b09-k2", "h05-b09-r1-c2", "h01-b20-n10", "h05", "h05-b09-x3"] {
        let draw = Draw { pattern: &pattern, tier, objective: "fill", seed: 1, attempt: 0 };
        assert!(tier == "h05" || Setting::read(&draw).is_err(), "{tier}");
        assert!(!pattern.admits("h05-b09-x3", "fill") && pattern.admits("h05-b09-n12-twin", "fill"));
    }
}

/// The checking tools read rows of the world, the judge reads rules: they must say the same of any grid.
#[test]
fn the_checking_tools_agree_with_the_judge() {
    for domain in DOMAINS {
        let task = task(domain, "h05-b14", 6);
        let catalog = Catalog::built_in();
        let found = catalog.find(domain).unwrap();
        let first = Snapshot::from_bytes(&task.world, &found.domain).unwrap();
        let sandbox = Arc::new(Sandbox::from_snapshot(Arc::clone(&found.domain), found.natives, &first).unwrap());
        let grader = Grader::new(&found.domain, &task.sealed.verifier, &first, &[]).unwrap();
        let board = board(&task);
        let lists = board.candidates();
        let mut stream = benchwright_base::Stream::new(1, &["fills", domain]);
        let (mut held, mut broken) = (0, 0);
        for round in 0..60 {
            let seat = Seat { role: "planner".to_owned(), actor: None };
            let mut episode = sandbox.begin(&seat, Conditions::default()).unwrap();
            let mut fits = Vec::new();
            for (slot, list) in lists.iter().enumerate() {
                let (row, col) = board.place(board.open[slot]);
                let truth = task.sealed.certificate.plan["assign"].as_array().unwrap().iter();
                let truth = truth.clone().find(|row_of| row_of["slot"] == json!(format!("slot/{row}-{col}"))).unwrap();
                // Near the truth in half of the rounds, so that both answers occur.
                let id = match round % 2 == 0 && stream.chance(4, 5) {
                    true => truth["item"].as_u64().unwrap() as u32,
                    false => *stream.pick(list).unwrap(),
                };
                let place = json!({ "row": row, "col": col });
                episode.call("set_slot", &json!({ "row": row, "col": col, "id": id }).to_string()).unwrap();
                let answer = episode.call(&format!("check_{domain}_slot_constraints"), &place.to_string()).unwrap();
                fits.push((format!("slot/{row}-{col}"), answer.contains("true")));
            }
            let whole = episode.call(&format!("check_{domain}_global_constraints"), "{}").unwrap().contains("true");
            let verdict = grader.grade_live(&episode.live()).unwrap();
            assert_eq!(verdict, grader.grade(&episode.snapshot()).unwrap());
            let good = |family: &str, at: Option<&str>| {
                let checks = verdict.checks.iter().filter(|check| check.family == family);
                let mut checks = checks.filter(|check| at.is_none_or(|at| check.at.first().is_some_and(|s| s == at)));
                checks.all(|check| check.status == CheckStatus::Pass)
            };
            assert_eq!(whole, good("requirement", None), "{domain} round {round}");
            for (slot, fit) in &fits {
                assert_eq!(*fit, good("condition", Some(slot)), "{domain} round {round} {slot}");
            }
            held += usize::from(whole);
            broken += usize::from(!whole);
        }
        assert!(held > 0 && broken > 0, "{domain}: {held} held, {broken} broken");
    }
}

#[test]
fn budgets_end_and_handing_in_is_the_last_word() {
    let task = task("shopping", "h03-b02", 8);
    let catalog = Catalog::built_in();
    let found = catalog.find("shopping").unwrap();
    let first = Snapshot::from_bytes(&task.world, &found.domain).unwrap();
    let sandbox = Arc::new(Sandbox::from_snapshot(Arc::clone(&found.domain), found.natives, &first).unwrap());
    let seat = Seat { role: "planner".to_owned(), actor: None };
    let mut episode = sandbox.begin(&seat, Conditions::default()).unwrap();
    let board = board(&task);
    let (row, col) = board.place(board.open[0]);
    let query = json!({ "row": row, "col": col, "field": "price", "operator": "<=", "value": 500 }).to_string();
    for left in (0..board.queries).rev() {
        episode.call("query_shopping_candidate_from_attribute", &query).unwrap();
        let place = json!({ "row": row, "col": col }).to_string();
        let budget = episode.call("get_hidden_slot_query_budget", &place).unwrap();
        assert_eq!(budget, format!("{{\"left\":{left}}}"));
    }
    let refused = episode.call("query_shopping_candidate_from_attribute", &query).unwrap_err();
    assert_eq!(refused.code.word(), "budget_exhausted");
    for _ in 0..board.checks {
        episode.call("check_shopping_global_constraints", "{}").unwrap();
    }
    let refused = episode.call("check_shopping_global_constraints", "{}").unwrap_err();
    assert_eq!(refused.code.word(), "budget_exhausted");
    let candidate = board.candidates()[0][0];
    let set = json!({ "row": row, "col": col, "id": candidate }).to_string();
    let other = board.candidates()[1][0];
    assert!(episode.call("set_slot", &json!({ "row": row, "col": col, "id": other }).to_string()).is_err());
    assert!(episode.call("get_shopping_item_info", &json!({ "id": candidate }).to_string()).is_err());
    let both = json!({ "ids": [candidate, other], "field": "price" }).to_string();
    assert!(episode.call("get_shopping_item_attributes", &both).is_err());
    episode.call("set_slot", &set).unwrap();
    episode.call("done", "{}").unwrap();
    assert!(episode.call("set_slot", &set).is_err());
}
