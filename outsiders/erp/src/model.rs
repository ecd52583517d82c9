//! The job as an optimisation problem: how much is bought of each offer at each price step, how much is built at each centre on
//! each start day, and what is on hand of every item on every day. Solved goal by goal, each at the best of those before it.
//!
//! Some dates are settled by an argument and not by a variable. A purchase that comes later, a promise that is earlier or a deadline
//! that is further from its start leaves less on hand on some day and more on none, and costs the same; so everything comes as
//! early and is owed as late as it may.

use crate::{
    job::{Goal, Job, Offer, Stood, Way},
    lost::Lost,
};
use benchwright_solve::{Constraint, Engine, Limits, Lin, Lit, Model, Status};
use std::collections::BTreeMap;

/// Work of one phase. It is generous: hard tasks take a small part of it.
const LIMITS: Limits = Limits { work: 240.0, linearization: 2, fixed_search: false };

/// The best that can be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Best {
    /// What each phase is about, and its least value.
    pub(crate) phases: Vec<(&'static str, i64)>,
    /// A plan that reaches it.
    pub(crate) plan: Plan,
}

/// What is bought and built.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) purchases: Vec<Purchased>,
    pub(crate) builds: Vec<Built>,
}

/// A purchase of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Purchased {
    pub(crate) supplier: String,
    pub(crate) item: String,
    pub(crate) units: i64,
    pub(crate) comes: i64,
    pub(crate) price: i64,
}

/// A build of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Built {
    pub(crate) item: String,
    pub(crate) centre: String,
    pub(crate) units: i64,
    pub(crate) start: i64,
    pub(crate) done: i64,
}

/// Solves a job.
pub(crate) fn best(job: &Job, engine: &dyn Engine) -> Result<Best, Lost> {
    let mut problem = Problem::new(job);
    let mut phases = Vec::new();
    let mut point = Vec::new();
    for (name, least) in problem.goals(job) {
        point = problem.minimise(&least, engine, name)?;
        let value = least.at(&point);
        problem.at_most(least, value);
        phases.push((name, value));
    }
    Ok(Best { phases, plan: problem.plan(job, &point) })
}

/// A purchase that may be made: the units of an offer over all its price steps.
struct Purchase<'j> {
    offer: &'j Offer,
    units: Lin,
    /// One literal for each step; one of them holds where something is bought.
    steps: Vec<Lit>,
}

/// A build that may be made.
struct Build<'j> {
    way: &'j Way,
    start: i64,
    done: i64,
    units: Lin,
}

struct Problem<'j> {
    model: Model,
    purchases: Vec<Purchase<'j>>,
    builds: Vec<Build<'j>>,
    spending: Lin,
}

impl<'j> Problem<'j> {
    /// All decisions, held by everything that a plan has to keep.
    fn new(job: &'j Job) -> Problem<'j> {
        let mut problem =
            Problem { model: Model::default(), purchases: Vec::new(), builds: Vec::new(), spending: Lin::default() };
        let need = needs(job);
        let of_use = |item: &str| need.get(item).copied().unwrap_or(0);
        for offer in job.open_offers() {
            problem.offer(job, offer, of_use(&offer.item));
        }
        for way in job.ways.iter().filter(|way| !job.is_out(&way.centre)) {
            problem.way(job, way, of_use(&way.item));
        }
        problem.stock_lasts(job);
        problem.minutes_last(job);
        for limit in job.spending_cap().into_iter().chain(job.told.budget) {
            problem.at_most(problem.spending.clone(), limit);
        }
        problem
    }

    /// A quantity at each price step of an offer, of which one holds. More than is of use is bought to reach a step, never beyond.
    fn offer(&mut self, job: &Job, offer: &'j Offer, of_use: i64) {
        let stood: i64 = matching(&job.bought_before, &offer.supplier, &offer.item).sum();
        let last = offer.steps.last().map_or(0, |(from, _)| *from);
        let most = offer.most.unwrap_or(i64::MAX).min(of_use.max(last).max(stood));
        let mut purchase = Purchase { offer, units: Lin::default(), steps: Vec::new() };
        for (at, (from, price)) in offer.steps.iter().enumerate() {
            let to = offer.steps.get(at + 1).map_or(most, |(next, _)| most.min(next - 1));
            if to < *from {
                continue;
            }
            let (units, here) = (Lin::var(self.model.var(0, to)), self.model.lit());
            self.within(units.clone(), (*from, to), vec![here]);
            self.within(units.clone(), (0, 0), vec![!here]);
            let cost = units.times(*price).plus(&Lin::lit(here).times(job.beyond(offer, at)));
            self.spending = self.spending.plus(&cost);
            purchase.units = purchase.units.plus(&units);
            purchase.steps.push(here);
        }
        self.at_most(Lin::sum(purchase.steps.iter().map(|step| Lin::lit(*step))), 1);
        self.purchases.push(purchase);
    }

    /// A quantity for each day on which a build can start and still be of use.
    fn way(&mut self, job: &Job, way: &'j Way, of_use: i64) {
        let Some(recipe) = job.items.get(&way.item).and_then(|item| item.recipe.as_ref()) else { return };
        let stood: i64 = matching(&job.built_before, &way.centre, &way.item).sum();
        let pools = job.pools.iter().filter(|pool| pool.centres.contains(&way.centre));
        let most = pools.map(|pool| pool.minutes / way.minutes.max(1)).min().unwrap_or(i64::MAX).min(of_use.max(stood));
        for start in 0..=job.last_day() - recipe.days {
            let is_down = job.down.get(&way.centre).is_some_and(|days| days.contains(&start));
            let done = job.open_from(start + recipe.days);
            if !is_down && !job.closed.contains(&start) && done + job.told.readings.wait <= job.last_day() {
                let units = Lin::var(self.model.var(0, most));
                self.spending = self.spending.plus(&units.times(way.cost));
                self.builds.push(Build { way, start, done, units });
            }
        }
    }

    /// On every day there is enough of every item for what is owed by then and for what builds have taken.
    fn stock_lasts(&mut self, job: &Job) {
        let wait = job.told.readings.wait;
        for (code, item) in &job.items {
            for day in 0..=job.last_day() {
                let bought = self.purchases.iter().filter(|purchase| purchase.offer.item == *code);
                let bought = bought
                    .filter(|purchase| job.comes(purchase.offer) + wait <= day)
                    .map(|purchase| purchase.units.clone());
                let built = self.builds.iter().filter(|build| build.way.item == *code && build.done + wait <= day);
                let built = built.map(|build| build.units.clone());
                let taken = self.builds.iter().filter(|build| build.start <= day).filter_map(|build| {
                    let recipe = job.items.get(&build.way.item)?.recipe.as_ref()?;
                    Some(build.units.times(-*recipe.parts.get(code)?))
                });
                let left = Lin::sum(bought.chain(built).chain(taken).chain([Lin::constant(item.stock)]));
                self.within(left, (job.owed(code, day), i64::MAX), Vec::new());
            }
        }
    }

    /// Builds take no more minutes than their centres have, in the whole plan or on each start day.
    fn minutes_last(&mut self, job: &Job) {
        for pool in &job.pools {
            let mut by_day: BTreeMap<i64, Lin> = BTreeMap::new();
            for build in self.builds.iter().filter(|build| pool.centres.contains(&build.way.centre)) {
                let total = by_day.entry(if pool.daily { build.start } else { 0 }).or_default();
                *total = total.plus(&build.units.times(build.way.minutes));
            }
            for total in by_day.into_values() {
                self.at_most(total, pool.minutes);
            }
        }
    }

    /// What is made small, in order.
    fn goals(&mut self, job: &Job) -> Vec<(&'static str, Lin)> {
        let spending = ("spending", self.spending.clone());
        match job.told.goal {
            Goal::Anything | Goal::Spending => vec![spending],
            Goal::Suppliers => vec![("suppliers", self.suppliers()), spending],
            Goal::Minutes => {
                let minutes = self.builds.iter().map(|build| build.units.times(build.way.minutes));
                vec![("minutes", Lin::sum(minutes)), spending]
            }
            Goal::Change => vec![("change", self.change(job)), spending],
        }
    }

    /// How many suppliers get an order.
    fn suppliers(&mut self) -> Lin {
        let mut asked: BTreeMap<&str, Lit> = BTreeMap::new();
        let mut used = Vec::new();
        for purchase in &self.purchases {
            let supplier = *asked.entry(&purchase.offer.supplier).or_insert_with(|| self.model.lit());
            used.extend(purchase.steps.iter().map(|step| Lin::lit(*step).minus(&Lin::lit(supplier))));
        }
        for one in used {
            self.at_most(one, 0);
        }
        Lin::sum(asked.into_values().map(Lin::lit))
    }

    /// Units of what is sold that a supplier or a centre has more or less of than before.
    fn change(&mut self, job: &Job) -> Lin {
        let sold = |item: &str| job.items.get(item).is_some_and(|item| item.sold);
        let mut now: BTreeMap<(bool, &str, &str), Lin> = BTreeMap::new();
        for Purchase { offer, units, .. } in self.purchases.iter().filter(|purchase| sold(&purchase.offer.item)) {
            let total = now.entry((true, &offer.supplier, &offer.item)).or_default();
            *total = total.plus(units);
        }
        for Build { way, units, .. } in self.builds.iter().filter(|build| sold(&build.way.item)) {
            let total = now.entry((false, &way.centre, &way.item)).or_default();
            *total = total.plus(units);
        }
        let before = job
            .bought_before
            .iter()
            .map(|stood| (true, stood))
            .chain(job.built_before.iter().map(|stood| (false, stood)));
        for (bought, stood) in before.filter(|(_, stood)| sold(&stood.item)) {
            let total = now.entry((bought, &stood.at, &stood.item)).or_default();
            *total = total.minus(&Lin::constant(stood.units));
        }
        let differences: Vec<Lin> = now.into_values().collect();
        Lin::sum(differences.into_iter().map(|difference| self.size(&difference)).collect::<Vec<Lin>>())
    }

    /// The absolute value of an expression, for making it small.
    fn size(&mut self, of: &Lin) -> Lin {
        let (low, high) = self.model.bounds_of(of);
        let size = Lin::var(self.model.var(0, high.abs().max(low.abs())));
        self.at_most(of.minus(&size), 0);
        self.at_most(of.times(-1).minus(&size), 0);
        size
    }

    fn within(&mut self, of: Lin, range: (i64, i64), when: Vec<Lit>) {
        self.model.constraints.push(Constraint::Linear { of, within: vec![range], when });
    }

    fn at_most(&mut self, of: Lin, most: i64) {
        self.within(of, (i64::MIN, most), Vec::new());
    }

    /// The plan at a point.
    fn plan(&self, job: &Job, point: &[i64]) -> Plan {
        let mut plan = Plan::default();
        for Purchase { offer, units, .. } in &self.purchases {
            let units = units.at(point);
            let step = offer.steps.iter().rev().find(|(from, _)| *from <= units);
            if let Some((_, price)) = step.filter(|_| units > 0) {
                let (supplier, item) = (offer.supplier.clone(), offer.item.clone());
                plan.purchases.push(Purchased { supplier, item, units, comes: job.comes(offer), price: *price });
            }
        }
        for Build { way, start, done, units } in &self.builds {
            let units = units.at(point);
            if units > 0 {
                let (item, centre) = (way.item.clone(), way.centre.clone());
                plan.builds.push(Built { item, centre, units, start: *start, done: *done });
            }
        }
        plan
    }

    /// A point at which an expression is least, proved.
    fn minimise(&mut self, of: &Lin, engine: &dyn Engine, name: &str) -> Result<Vec<i64>, Lost> {
        self.model.minimise = Some(of.clone());
        let answer = engine.solve(&self.model, &LIMITS).map_err(|error| Lost::Unproved(error.to_string()))?;
        match answer.status {
            Status::Optimal => {
                self.model.hint = (0..).zip(answer.point.iter().copied()).collect();
                Ok(answer.point)
            }
            Status::Infeasible => Err(Lost::NoPlan),
            Status::Feasible | Status::Unknown => {
                Err(Lost::Unproved(format!("{name}: no proof within {} work", LIMITS.work)))
            }
        }
    }
}

/// The units of some papers with one supplier or centre.
fn matching<'s>(stood: &'s [Stood], at: &'s str, item: &'s str) -> impl Iterator<Item = i64> + 's {
    stood.iter().filter(move |stood| stood.at == at && stood.item == item).map(|stood| stood.units)
}

/// For each item the most units that can be of any use: what customers are owed, and what builds of use take.
fn needs(job: &Job) -> BTreeMap<&str, i64> {
    let last = job.last_day();
    let mut needs: BTreeMap<&str, i64> = BTreeMap::new();
    // As many rounds as items, because no way from an item down to its last part is longer.
    for _ in 0..job.items.len() {
        let before = needs.clone();
        for code in job.items.keys() {
            let taken = job.items.iter().filter_map(|(above, item)| {
                let units = item.recipe.as_ref()?.parts.get(code)?;
                Some(units * before.get(&**above).copied().unwrap_or(0))
            });
            needs.insert(code, job.owed(code, last) + taken.sum::<i64>());
        }
    }
    needs
}
