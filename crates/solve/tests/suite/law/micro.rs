//! The worked example, whose best plans are known from a reference of another make: golden values, the law on its plans,
//! and why nothing fits when too much is asked.

use super::fixture::Point;
use super::harness::{Harness, at_point, limits, verdicts};
use super::shop::{Shop, micro, two_levels};
use crate::support;
use benchwright_base::Stream;
use benchwright_schema::plan::{Bound, Plan, PlanText};
use benchwright_solve::{Constraint, CpSat, Engine, Highs, Lin, Lower, PhasePlanner, core};
use benchwright_spec::{Candidates, Outcome, Planner, Rows, Solved};
use std::collections::BTreeMap;

/// A solved plan in words: what is bought of whom and what is built when.
struct Told {
    solved: Solved,
    /// Vendor, product, units.
    buys: Vec<(String, String, i64)>,
    /// Product, units, start day.
    builds: Vec<(String, i64, i64)>,
}

impl Told {
    fn value(&self, phase: &str) -> i64 {
        self.solved.phases.iter().find(|result| result.name == phase).unwrap().value
    }

    fn scored(&self) -> Vec<(&str, i64)> {
        let scored = self
            .solved
            .phases
            .iter()
            .filter(|phase| !phase.name.starts_with("tie") && phase.name != "early candidates");
        scored.map(|phase| (&*phase.name, phase.value)).collect()
    }
}

fn best(engine: &dyn Engine, shop: &Shop, objective: &str) -> Told {
    let plan = shop.plan();
    let bound = shop.bound(&plan);
    let candidates = shop.tight(&plan, &bound);
    let outcome = PhasePlanner::new(engine).solve(&plan, &bound, &candidates, objective).unwrap();
    let Outcome::Solved(solved) = outcome else { panic!("{objective}: {outcome:?}") };
    assert!(solved.phases.iter().all(|phase| phase.proved && phase.bound == phase.value), "{:?}", solved.phases);
    accepted(&plan, &bound, &solved.rows);
    let mut told = Told { buys: Vec::new(), builds: Vec::new(), solved: *solved };
    let cell = |view: usize, row: &[i64], field: &str| row[plan.views[view].field_named(field).unwrap()];
    let word = |view: usize, row: &[i64], field: &str| {
        bound.key_of(plan.sort_named(field).unwrap(), cell(view, row, field) as u32)
    };
    let (buy, build) = (plan.view_named("buy").unwrap(), plan.view_named("build").unwrap());
    for row in &told.solved.rows.0[buy] {
        told.buys.push((word(buy, row, "vendor"), word(buy, row, "product"), cell(buy, row, "qty")));
    }
    for row in &told.solved.rows.0[build] {
        told.builds.push((word(build, row, "product"), cell(build, row, "qty"), cell(build, row, "start")));
    }
    told
}

/// Holds a plan to every rule by the evaluator.
fn accepted(plan: &Plan, bound: &Bound, rows: &Rows) {
    for (at, rule) in plan.rules.iter().enumerate() {
        for (instance, verdict) in verdicts(plan, bound, rows, at) {
            assert!(verdict, "the solver's plan breaks {} {instance:?}: {rows:?}", rule.id);
        }
    }
}

fn buys(list: &[(&str, &str, i64)]) -> Vec<(String, String, i64)> {
    list.iter().map(|(vendor, product, units)| ((*vendor).to_owned(), (*product).to_owned(), *units)).collect()
}

fn builds(list: &[(&str, i64, i64)]) -> Vec<(String, i64, i64)> {
    list.iter().map(|(product, units, start)| ((*product).to_owned(), *units, *start)).collect()
}

fn on_both(shop: &Shop, objective: &str, scored: &[(&str, i64)]) -> Option<Told> {
    let library = support::library()?;
    let told = best(&CpSat::load(&library).unwrap(), shop, objective);
    assert_eq!(told.scored(), scored, "CP-SAT");
    assert_eq!(best(&Highs::load(&library).unwrap(), shop, objective).scored(), scored, "HiGHS");
    Some(told)
}

#[test]
fn the_worked_example_is_written_in_the_words_of_the_family() {
    let family = PlanText::from_toml("plan.toml", include_str!("../../../../../families/erp/plan.toml")).unwrap();
    let own = PlanText::from_toml("micro.toml", include_str!("micro.toml")).unwrap();
    assert_eq!(own.ties, family.ties);
    for (name, objective) in &own.objectives {
        assert_eq!(family.objectives.get(name).map(|known| &known.phases), Some(&objective.phases), "{name}");
    }
    // A plan on paper issues no document again, which is what the family's distance counts besides.
    assert!(own.lets["distance"] == "$moved" && family.lets["distance"].starts_with("$moved + "));
    for (name, meant) in own.lets.iter().filter(|(name, _)| *name != "distance") {
        assert_eq!(family.lets.get(name), Some(meant), "${name}");
    }
    let mut same = 0;
    for rule in own.rules.values().filter(|rule| rule.code != "SUP.EXACT") {
        let known = family.rules.values().find(|known| known.code == rule.code).unwrap();
        assert_eq!((&known.require, &known.per), (&rule.require, &rule.per), "{}", rule.code);
        same += 1;
    }
    assert_eq!(same, 19);
}

#[test]
fn the_cheapest_plan_costs_2764() {
    let Some(told) = on_both(&micro(), "min_new_spend", &[("spend", 276_400)]) else { return };
    assert_eq!(told.buys, buys(&[("Birch", "FG", 8), ("Dune", "CP", 12)]));
    assert_eq!(told.builds, builds(&[("FG", 3, 0), ("FG", 5, 5)]));
    assert_eq!(told.value("tie 1"), 4, "records");
}

#[test]
fn two_vendors_are_enough_for_the_same_price() {
    on_both(&micro(), "vendor_consolidation", &[("vendors", 2), ("spend", 276_400)]);
}

#[test]
fn without_the_factory_everything_is_bought() {
    let Some(told) = on_both(&micro(), "capacity_preservation", &[("minutes", 0), ("spend", 377_000)]) else { return };
    assert_eq!((told.buys, told.builds), (buys(&[("Alder", "FG", 6), ("Birch", "FG", 10)]), vec![]));
}

#[test]
fn without_surplus_the_plan_is_dearer() {
    let shop = Shop { no_surplus: true, ..micro() };
    let Some(told) = on_both(&shop, "min_new_spend", &[("spend", 278_000)]) else { return };
    assert_eq!(told.buys, buys(&[("Birch", "FG", 8), ("Dune", "CP", 10)]));
}

#[test]
fn a_vendor_that_withdraws_is_replaced() {
    let shop = Shop { barred: Some("Birch"), ..micro() };
    let Some(told) = on_both(&shop, "repair_plan", &[("distance", 16), ("spend", 288_400)]) else { return };
    assert_eq!(told.buys, buys(&[("Alder", "FG", 8), ("Dune", "CP", 12)]));
}

#[test]
fn a_centre_that_is_down_for_good_is_replaced() {
    let shop = Shop { down: (0..=9).collect(), ..micro() };
    let Some(told) = on_both(&shop, "repair_plan", &[("distance", 16), ("spend", 377_000)]) else { return };
    assert_eq!((told.buys, told.builds), (buys(&[("Alder", "FG", 6), ("Birch", "FG", 10)]), vec![]));
}

#[test]
fn a_centre_that_is_down_for_three_days_only_moves_builds() {
    let shop = Shop { down: vec![5, 6, 7], ..micro() };
    let Some(told) = on_both(&shop, "repair_plan", &[("distance", 0), ("spend", 290_000)]) else { return };
    assert_eq!(told.buys, buys(&[("Birch", "FG", 8), ("Cedar", "CP", 10)]));
    assert_eq!(told.builds, builds(&[("FG", 3, 0), ("FG", 5, 2)]));
}

#[test]
fn two_levels_hand_over_on_the_same_day() {
    let Some(told) = on_both(&two_levels(), "min_new_spend", &[("spend", 110_000)]) else { return };
    assert_eq!(told.buys, buys(&[("Alder", "FG", 2), ("Dune", "CP", 8)]));
    assert_eq!(told.builds, builds(&[("FG", 5, 6), ("SA", 4, 5)]));
}

/// One family of candidates with its model in two forms.
struct Family<'a> {
    name: &'static str,
    candidates: &'a Candidates,
    required: Lower<'a>,
    reified: Lower<'a>,
    lits: Vec<Lin>,
    rules: Vec<usize>,
}

impl<'a> Family<'a> {
    fn new(name: &'static str, plan: &'a Plan, bound: &'a Bound, candidates: &'a Candidates) -> Family<'a> {
        let mut required = Lower::new(plan, bound, candidates);
        let instances = required.all_instances().unwrap();
        let mut reified = required.clone();
        for instance in &instances {
            required.require(&instance.holds);
        }
        let lits = instances.iter().map(|instance| reified.truth_value(&instance.holds)).collect();
        let rules = instances.iter().map(|instance| instance.rule).collect();
        Family { name, candidates, required, reified, lits, rules }
    }
}

/// What was seen on some plans.
#[derive(Default)]
struct Seen {
    feasible: usize,
    solves: usize,
    /// Rejections and acceptances of the instances of each rule.
    rules: BTreeMap<usize, [usize; 2]>,
}

/// Holds one plan to the law.
fn hold(
    harness: &mut Harness,
    family: &Family<'_>,
    plan: &Plan,
    bound: &Bound,
    point: &Point,
    stream: &mut Stream,
) -> Vec<bool> {
    let rows = point.rows();
    let judged = (0..plan.rules.len()).flat_map(|rule| verdicts(plan, bound, &rows, rule));
    let judged: Vec<bool> = judged.map(|(_, verdict)| verdict).collect();
    assert_eq!(judged.len(), family.lits.len());
    let accepts = judged.iter().all(|verdict| *verdict);
    let model = at_point(&family.required.model, &family.required, point);
    assert_eq!(harness.fits(&model).is_some(), accepts, "{}: {point:?}", family.name);
    // Every literal has the evaluator's value, and one of them, whichever, no other.
    let chosen = stream.below(judged.len() as u64) as usize;
    for flipped in [None, Some(chosen)] {
        let mut model = at_point(&family.reified.model, &family.reified, point);
        for (place, (lit, verdict)) in family.lits.iter().zip(&judged).enumerate() {
            if flipped.is_none_or(|flipped| flipped == place) {
                let value = i64::from(*verdict == flipped.is_none());
                let within = vec![(value, value)];
                model.constraints.push(Constraint::Linear { of: lit.clone(), within, when: vec![] });
            }
        }
        let answer = harness.fits(&model);
        assert_eq!(answer.is_some(), flipped.is_none(), "{}: {point:?}", family.name);
        if let Some(answer) = answer {
            assert_eq!(family.reified.read(&answer.point), rows);
        }
    }
    judged
}

#[test]
fn the_law_holds_on_random_plans_of_the_worked_example() {
    const PLANS: u64 = 1_500;
    let Some(library) = support::library() else { return };
    let begun = std::time::Instant::now();
    let shop = micro();
    let plan = shop.plan();
    let bound = shop.bound(&plan);
    let (tight, wide) = (shop.tight(&plan, &bound), shop.wide(&plan, &bound, 2, 14));
    let engine = CpSat::load(&library).unwrap();
    // Random plans hardly ever fit, so most are near one that does.
    let near = ["min_new_spend", "capacity_preservation"].map(|objective| best(&engine, &shop, objective).solved.rows);
    let families = [Family::new("tight", &plan, &bound, &tight), Family::new("wide", &plan, &bound, &wide)];
    let share = |part: u64| {
        let mut harness = Harness::new(&library);
        let mut seen = Seen::default();
        for at in (0..PLANS).filter(|at| at % 2 == part) {
            let stream = &mut Stream::new(at, &["micro", "plans"]);
            let family = &families[usize::from(at % 3 == 0)];
            let seed = Point::of(family.candidates, &near[usize::from(at % 5 == 0)]).unwrap();
            let point = match stream.below(4) {
                0 => Point::random(family.candidates, 40, stream),
                changes => seed.mutated(family.candidates, changes - 1 + stream.below(2), stream),
            };
            let judged = hold(&mut harness, family, &plan, &bound, &point, stream);
            seen.feasible += usize::from(judged.iter().all(|verdict| *verdict));
            for (rule, verdict) in family.rules.iter().zip(&judged) {
                seen.rules.entry(*rule).or_default()[usize::from(*verdict)] += 1;
            }
        }
        seen.solves = harness.tally.solves;
        seen
    };
    let seen = std::thread::scope(|scope| {
        let other = scope.spawn(|| share(1));
        let mut seen = share(0);
        let other = other.join().unwrap();
        seen.feasible += other.feasible;
        seen.solves += other.solves;
        for (rule, [rejected, accepted]) in other.rules {
            let both = seen.rules.entry(rule).or_default();
            *both = [both[0] + rejected, both[1] + accepted];
        }
        seen
    });
    let Seen { feasible, solves, rules } = seen;
    println!("{PLANS} plans, {feasible} feasible, {solves} solves, {:.1} s", begun.elapsed().as_secs_f64());
    for (rule, [rejected, accepted]) in &rules {
        println!("  {}: {accepted} accepted, {rejected} rejected", plan.rules[*rule].id);
    }
    assert!(feasible >= 100, "only {feasible} plans are feasible");
    let idle = rules.iter().filter(|(_, [rejected, accepted])| *rejected == 0 || *accepted == 0);
    let idle: Vec<&str> = idle.map(|(rule, _)| &*plan.rules[*rule].id).collect();
    assert!(idle.is_empty(), "rules that say the same of every plan: {idle:?}");
}

/// The rules in conflict when plans may hold whatever somebody could write down.
fn conflict(shop: &Shop) -> Option<Vec<String>> {
    let library = support::library()?;
    let plan = shop.plan();
    let bound = shop.bound(&plan);
    let candidates = shop.wide(&plan, &bound, 2, 60);
    let mut lower = Lower::new(&plan, &bound, &candidates);
    let instances = lower.all_instances().unwrap();
    // What it takes to read the rules is the base; what requires them is a group each.
    let base = lower.model.constraints.len();
    let mut groups: Vec<(String, Vec<Constraint>)> = Vec::new();
    for (at, rule) in plan.rules.iter().enumerate() {
        for instance in instances.iter().filter(|instance| instance.rule == at) {
            lower.require(&instance.holds);
        }
        groups.push((rule.id.clone(), lower.model.constraints.split_off(base)));
    }
    let engine = CpSat::load(&library).unwrap();
    let found = core(&lower.model, &groups, &engine, &limits()).unwrap().unwrap_or_default();
    // Without any one of them there is a plan, and the evaluator has nothing else against it.
    for name in &found {
        let mut model = lower.model.clone();
        let rest = groups.iter().filter(|(group, _)| group != name && found.contains(group));
        model.constraints.extend(rest.flat_map(|(_, constraints)| constraints).cloned());
        let answer = engine.solve(&model, &limits()).unwrap();
        let rows = lower.read(&answer.point);
        for (at, rule) in plan.rules.iter().enumerate().filter(|(_, rule)| found.contains(&rule.id)) {
            let holds = verdicts(&plan, &bound, &rows, at).iter().all(|(_, verdict)| *verdict);
            assert_eq!(holds, rule.id != *name, "{} without {name}: {rows:?}", rule.id);
        }
    }
    Some(found)
}

#[test]
fn when_twice_as_much_is_asked_the_rules_in_conflict_are_named() {
    let Some(found) = conflict(&Shop { spend_cap: None, daily: None, ..micro() }) else { return };
    assert_eq!(found, [""; 0], "the worked example fits");
    let orders = micro().orders.into_iter().map(|(order, asked, due)| (order, asked * 2, due)).collect();
    let found = conflict(&Shop { orders, spend_cap: None, daily: None, ..micro() });
    // 4 in stock, 18 on offer and 8 that the centre can build are no 40.
    let wanted = ["approved-centre", "centre-minutes", "listed-supplier", "max-finished", "total-supply"];
    assert_eq!(found.unwrap(), wanted);
}
