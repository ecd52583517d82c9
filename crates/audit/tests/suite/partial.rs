//! Partial rewards point the right way: what was seen to pay for wrong or half work, with what it paid before a broken state was
//! paid by parts of the job, and what it pays now. And the picture of it, `docs/reward.svg`, which `BENCHWRIGHT_UPDATE=1` draws anew.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::support::library;
use benchwright_audit::{NotRemade, Subject};
use benchwright_base::Stream;
use benchwright_calls::offered::{Ground, Maker};
use benchwright_catalog::Catalog;
use benchwright_draw::{
    Mark, Scale, Words,
    curves::{Chart, Curve, curves},
};
use benchwright_grade::{FULL, Grader};
use benchwright_pack::{Script, Step, Task, Verdict};
use benchwright_project::{Breadth, Order, Solver, make};
use benchwright_sandbox::Episode;
use benchwright_schema::{arguments_schema, plan::Binding};
use benchwright_solve::{CpSat, PhasePlanner};
use benchwright_spec::{NamedRows, NoPlanner, Rows};
use benchwright_world::replay;
use serde_json::json;
use std::{collections::BTreeMap, path::Path};

const GRID: &str = "grid/travel";
/// Patterns with and without billing, screening and a disruption.
const PATTERNS: [&str; 5] = [
    "procurement/lean-context-purchasing-cycle",
    "procurement/buy-and-bill-immediately",
    "procurement/screen-mixed-intake-before-buying",
    "production/one-line-make-or-buy-plan",
    "recovery/supplier-cancellation-rescue",
];

fn made(catalog: &Catalog, engine: Option<&CpSat>, pattern: &str, tier: Option<&str>) -> Task {
    let pattern = catalog.pattern(pattern).unwrap();
    let family = catalog.family(&pattern.family, &pattern.domain).unwrap();
    let domain = catalog.find(&pattern.domain).unwrap().domain;
    let cell = pattern.head.cells.iter().find(|cell| tier.is_none_or(|tier| cell.tier == tier)).unwrap();
    let order = Order { pattern: &pattern, tier: &cell.tier, objective: &cell.objectives[0], seed: 1, reading: None };
    let solver = Solver { version: "test".to_owned(), library: "test".to_owned() };
    match engine {
        Some(engine) => make(order, family, &domain, &mut PhasePlanner::new(engine), &solver).unwrap(),
        None => make(order, family, &domain, &mut NoPlanner, &solver).unwrap(),
    }
}

fn on_the_bench(catalog: &Catalog, task: &Task, each: impl FnOnce(&Subject<'_>, &Grader<'_>)) {
    let remake = || Err(NotRemade("nobody asks".to_owned()));
    let subject = Subject::new(task, catalog, None, &remake).unwrap();
    each(&subject, &subject.grader().unwrap());
}

fn judged(subject: &Subject<'_>, grader: &Grader<'_>, script: &Script) -> Verdict {
    grader.grade(&subject.play(script).unwrap()).unwrap()
}

/// The reward of a plan that is carried out.
fn reward(subject: &Subject<'_>, grader: &Grader<'_>, plan: &NamedRows) -> i64 {
    judged(subject, grader, &subject.family.script(&subject.case, plan).unwrap()).reward
}

/// The one plan of a grid with some slots otherwise: wrongly filled, or empty.
fn slots(subject: &Subject<'_>, wrong: &[usize], empty: &[usize]) -> NamedRows {
    let view = subject.plan.view_named("assign").unwrap();
    let optimised = subject.family.optimised().unwrap();
    let candidates = optimised.candidates(&subject.case, &subject.plan, &subject.bound, Breadth::Tight).unwrap();
    let mut all = Rows::empty(&subject.plan);
    let fixed = |cell: &benchwright_spec::Cell| match cell {
        benchwright_spec::Cell::Fixed(n) => *n,
        benchwright_spec::Cell::Free(..) => panic!("a grid has no free cell"),
    };
    all.0[view] = candidates[view].iter().map(|row| row.fields.iter().map(fixed).collect()).collect();
    let all = NamedRows::of(&all, &subject.plan, &subject.bound).0.remove("assign").unwrap();
    let right = &subject.named.0["assign"];
    let mut rows = Vec::new();
    for (at, row) in right.iter().enumerate().filter(|(at, _)| !empty.contains(at)) {
        let other = all.iter().find(|other| other["slot"] == row["slot"] && other["item"] != row["item"]).unwrap();
        rows.push(if wrong.contains(&at) { other.clone() } else { row.clone() });
    }
    NamedRows(BTreeMap::from([("assign".to_owned(), rows)]))
}

#[test]
fn a_wrong_slot_of_a_grid_pays_less_than_an_empty_one() {
    let catalog = Catalog::built_in();
    let task = made(&catalog, None, GRID, Some("h05-b05"));
    on_the_bench(&catalog, &task, |subject, grader| {
        // What is done, what it paid (measured on another grid of the same size), and what it pays.
        let cases: [(&[usize], &[usize], i64, i64); 6] = [
            (&[0], &[], 200_000, 150_000),
            (&[0, 1, 2, 3, 4], &[], 160_000, 0),
            (&[], &[4], 234_000, 200_000),
            (&[4], &[], 226_000, 150_000),
            (&[], &[1, 2, 3, 4], 0, 50_000),
            (&[], &[], 1_000_000, FULL),
        ];
        for (wrong, empty, before, now) in cases {
            let earned = reward(subject, grader, &slots(subject, wrong, empty));
            assert_eq!(earned, now, "wrong {wrong:?}, empty {empty:?}; it was {before}");
        }
        // Handing in what nobody filled, and asking, earn nothing.
        let done = Script { steps: vec![Step::call("done", "", json!({}))], ..Script::default() };
        assert_eq!(judged(subject, grader, &done).reward, 0);
    });
}

#[test]
fn orders_alone_earn_a_tenth_at_most_and_a_note_earns_nothing() {
    let Some(library) = library() else { return };
    let (catalog, engine) = (Catalog::built_in(), CpSat::load(&library).unwrap());
    for pattern in PATTERNS {
        let task = made(&catalog, Some(&engine), pattern, None);
        on_the_bench(&catalog, &task, |subject, grader| {
            let mut orders = subject.named.clone();
            orders.0.retain(|view, _| view == "sell");
            // It was 0.14 to 0.247.
            let alone = reward(subject, grader, &orders);
            assert!(alone <= FULL / 10, "{pattern}: orders alone earn {alone}");
            // The goods without any order, where at most what is declined counts besides.
            let mut goods = subject.named.clone();
            goods.0.remove("sell");
            if let Ok(script) = subject.family.script(&subject.case, &goods)
                && let Ok(state) = subject.play(&script)
            {
                let alone = grader.grade(&state).unwrap().reward;
                assert!(alone < 20 * FULL / 100, "{pattern}: goods alone earn {alone}");
            }
            // It was 0.011.
            let order = episode_row(&subject.begin().unwrap(), "sale_order");
            let note = json!({ "ids": [order], "body": "Good morning" });
            let note = Script { steps: vec![Step::call("sale.order", "message_post", note)], ..Script::default() };
            if subject.domain.tools.iter().any(|tool| tool.name == "sale_order_message_post") && order.is_some() {
                assert_eq!(judged(subject, grader, &note).reward, 0, "{pattern}");
            }
        });
    }
}

fn episode_row(episode: &Episode, table: &str) -> Option<u32> {
    let table = episode.domain().table_named(table)?;
    episode.rows(table).next().map(|row| row.id())
}

/// The rows of an episode, as random calls may name them.
struct Here<'e>(&'e Episode);

impl Ground for Here<'_> {
    fn count(&self, table: &str) -> usize {
        self.0.domain().table_named(table).map_or(0, |table| self.0.table_len(table))
    }
    fn row(&self, table: &str, nth: usize) -> Option<u32> {
        self.0.rows(self.0.domain().table_named(table)?).nth(nth).map(|row| row.id())
    }
    fn today(&self) -> benchwright_base::Date {
        self.0.now().date()
    }
}

/// The reward after each call of a script; calls that are refused are passed over.
fn along(subject: &Subject<'_>, grader: &Grader<'_>, script: &Script) -> Vec<i64> {
    let (mut episode, mut keys) = (subject.begin().unwrap(), subject.bound_keys());
    let mut rewards = vec![0];
    for step in &script.steps {
        let one = Script { steps: vec![step.clone()], ..Script::default() };
        let _ = replay(&one, &mut keys, &mut episode);
        rewards.push(grader.grade_live(&episode.live()).unwrap().reward);
    }
    rewards
}

/// The reward after each of some random calls that make or change something.
fn at_random(subject: &Subject<'_>, grader: &Grader<'_>, calls: usize) -> Vec<i64> {
    let mut episode = subject.begin().unwrap();
    let mut maker = Maker::new(&["reward", "picture"]);
    let tools: Vec<_> = subject.domain.tools.iter().filter(|tool| !tool.reads_only()).collect();
    let mut rewards = vec![0];
    for _ in 0..calls {
        let tool = *maker.stream().pick(&tools).unwrap();
        let arguments = maker.arguments(&arguments_schema(&subject.domain, tool), &Here(&episode));
        let _ = episode.call(&tool.name, &arguments.to_string());
        rewards.push(grader.grade_live(&episode.live()).unwrap().reward);
    }
    rewards
}

/// Curves of rewards over calls, each as long as it is.
fn chart(title: &str, rewards: &[(&str, Vec<i64>)]) -> Chart {
    let most = rewards.iter().map(|(_, rewards)| rewards.len()).max().unwrap_or(1) - 1;
    let curve = |(name, rewards): &(&str, Vec<i64>)| {
        let mark = |reward: &i64| Mark { value: Some(*reward as f64 / FULL as f64), low: None, high: None };
        let points = rewards.iter().enumerate().map(|(at, reward)| (at as f64, mark(reward)));
        Curve { name: (*name).to_owned(), points: points.collect() }
    };
    Chart {
        title: title.to_owned(),
        across: ("calls".to_owned(), most as f64),
        scale: Scale::Amount(1.0),
        curves: rewards.iter().map(curve).collect(),
    }
}

/// A plan with every supplier's quantity one too small, and one with every order for one unit too many.
fn spoilt(plan: &NamedRows, view: &str, by: i64) -> NamedRows {
    let mut plan = plan.clone();
    for row in plan.0.get_mut(view).into_iter().flatten() {
        if let Some(Binding::Number(n)) = row.get_mut("qty") {
            *n += by;
        }
    }
    plan
}

#[test]
fn the_picture_of_the_reward_is_fresh() {
    let Some(library) = library() else { return };
    let (catalog, engine) = (Catalog::built_in(), CpSat::load(&library).unwrap());
    let mut charts = Vec::new();
    let task = made(&catalog, Some(&engine), PATTERNS[1], None);
    on_the_bench(&catalog, &task, |subject, grader| {
        let script = |plan: &NamedRows| subject.family.script(&subject.case, plan).unwrap();
        let oracle = along(subject, grader, &task.sealed.oracle);
        let calls = oracle.len() - 1;
        let random = at_random(subject, grader, calls);
        assert!(oracle.is_sorted() && random.iter().all(|reward| *reward <= FULL / 10), "{oracle:?} {random:?}");
        charts.push(chart(
            "orders, purchases and invoices",
            &[
                ("the oracle", oracle),
                ("bought too little", along(subject, grader, &script(&spoilt(&subject.named, "buy", -1)))),
                ("sold too much", along(subject, grader, &script(&spoilt(&subject.named, "sell", 1)))),
                ("random calls", random),
            ],
        ));
    });
    let task = made(&catalog, None, GRID, Some("h05-b05"));
    on_the_bench(&catalog, &task, |subject, grader| {
        let script = |wrong: &[usize], empty: &[usize]| {
            subject.family.script(&subject.case, &slots(subject, wrong, empty)).unwrap()
        };
        let oracle = along(subject, grader, &task.sealed.oracle);
        assert!(oracle.is_sorted(), "{oracle:?}");
        charts.push(chart(
            "a grid of five open slots",
            &[
                ("the oracle", oracle),
                ("last one empty", along(subject, grader, &script(&[], &[4]))),
                ("last one wrong", along(subject, grader, &script(&[4], &[]))),
                ("all wrong", along(subject, grader, &script(&[0, 1, 2, 3, 4], &[]))),
            ],
        ));
    });
    let description = "Reward after each call: along the oracle it rises in steps to a quarter and then to one; along wrong plans it \
                       stays where the last right part left it or falls back; random calls earn next to nothing.";
    let drawn = curves(Words { title: "The reward along plans", description }, &charts).file();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reward.svg");
    if std::env::var("BENCHWRIGHT_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(&file, &drawn).unwrap();
    }
    assert!(
        std::fs::read_to_string(&file).is_ok_and(|kept| kept == drawn),
        "docs/reward.svg is stale: BENCHWRIGHT_UPDATE=1"
    );
}

/// Any choice of the oracle's calls, in their order, earns no more than all of them.
#[test]
fn some_of_the_calls_of_an_oracle_earn_no_more_than_all() {
    let catalog = Catalog::built_in();
    let task = made(&catalog, None, GRID, Some("h05-b05"));
    on_the_bench(&catalog, &task, |subject, grader| {
        let mut stream = Stream::new(7, &["some"]);
        for _ in 0..40 {
            let steps = task.sealed.oracle.steps.iter().filter(|_| stream.chance(2, 3)).cloned();
            let some = Script { steps: steps.collect(), ..Script::default() };
            let rewards = along(subject, grader, &some);
            assert!(rewards.is_sorted(), "{rewards:?}");
            assert!(some.steps.len() == task.sealed.oracle.steps.len() || *rewards.last().unwrap() <= FULL / 4);
        }
    });
}
