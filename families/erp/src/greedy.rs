//! A plan made without a solver, as a hurried planner makes it: the earliest need first, and for it the cheapest source that
//! comes in time.

use super::facts;
use super::shop::{Build, Buy, MakeOption, Role, Shop};
use benchwright_schema::plan::Binding;
use benchwright_spec::NamedRows;
use std::collections::BTreeMap;

/// Purchases and builds. It keeps to suppliers' terms, minutes and parts as well as it can; it may spend too much, and where
/// its choices lead nowhere it may fall short.
pub(crate) fn plan(shop: &Shop) -> (Vec<Buy>, Vec<Build>) {
    let mut sketch = Sketch::new(shop);
    sketch.keep_what_stands();
    let mut days: Vec<i64> = shop.accepted().map(|order| order.due).collect();
    days.sort_unstable();
    days.dedup();
    for day in days {
        for known in shop.finished_goods() {
            let short = -sketch.free(&known.code, day, day);
            sketch.supply(&known.code, day, short.max(0));
        }
    }
    sketch.drop_what_is_idle();
    sketch.rows()
}

/// The same as rows of the family's views, with every accepted order sold as it was asked.
pub(crate) fn rows(shop: &Shop) -> NamedRows {
    let (buys, builds) = plan(shop);
    let row = |keys: &[(&str, String)], numbers: &[(&str, i64)]| -> BTreeMap<String, Binding> {
        let keys = keys.iter().map(|(field, key)| ((*field).to_owned(), Binding::Key(key.clone())));
        keys.chain(numbers.iter().map(|(field, n)| ((*field).to_owned(), Binding::Number(*n)))).collect()
    };
    let lines = shop.accepted().flat_map(|order| order.lines.iter().map(move |line| (order, line)));
    let sell = lines.map(|(order, line)| {
        let keys = [
            ("order", order.reference.clone()),
            ("customer", facts::customer(&order.customer)),
            ("product", facts::product(&line.product)),
        ];
        let price = shop.list_price(&line.product);
        row(&keys, &[("qty", line.units), ("promised", order.due), ("price", price), ("discount", 0)])
    });
    let buy = buys.iter().map(|buy| {
        let keys = [("vendor", facts::vendor(&buy.vendor)), ("product", facts::product(&buy.product))];
        row(&keys, &[("qty", buy.units), ("arrive", buy.arrive), ("price", buy.price), ("discount", 0)])
    });
    let build = builds.iter().map(|build| {
        let keys = [("product", facts::product(&build.product)), ("centre", facts::centre(&build.centre))];
        row(&keys, &[("qty", build.units), ("start", build.start), ("due", build.due), ("orders", 1)])
    });
    let views = [("sell", sell.collect()), ("buy", buy.collect()), ("build", build.collect::<Vec<_>>())];
    let views = views.into_iter().filter(|(_, rows): &(&str, Vec<_>)| !rows.is_empty());
    NamedRows(views.map(|(view, rows)| (view.to_owned(), rows)).collect())
}

/// How deep modules may stand in one another.
const DEPTH: usize = 4;

#[derive(Clone)]
struct Sketch<'a> {
    shop: &'a Shop,
    horizon: i64,
    /// What is on hand of each product at the end of each day, if all goes to plan.
    on_hand: BTreeMap<&'a str, Vec<i64>>,
    /// Units bought on each offer.
    bought: Vec<i64>,
    /// Minutes left at each centre.
    minutes: BTreeMap<&'a str, i64>,
    /// Minutes that start on a day at each centre that counts them.
    started: BTreeMap<(&'a str, i64), i64>,
    /// Units by product, centre and start.
    builds: BTreeMap<(&'a str, &'a str, i64), i64>,
}

/// Where units can come from.
enum From<'a> {
    /// An offer, by its place.
    Offer(usize),
    /// A build.
    Build(&'a MakeOption),
}

impl<'a> Sketch<'a> {
    fn new(shop: &'a Shop) -> Sketch<'a> {
        let horizon = shop.horizon();
        let days = usize::try_from(horizon + 1).unwrap_or(1);
        let mut on_hand: BTreeMap<&str, Vec<i64>> =
            shop.products.iter().map(|product| (&*product.code, vec![product.stock; days])).collect();
        for order in shop.accepted() {
            for line in &order.lines {
                if let Some(units) = on_hand.get_mut(&*line.product) {
                    units.iter_mut().skip(order.due as usize).for_each(|units| *units -= line.units);
                }
            }
        }
        let minutes = shop.centres.iter().map(|centre| {
            let down = centre.down.is_some_and(|(first, last)| first <= 0 && last >= horizon);
            (&*centre.code, if down { 0 } else { centre.minutes.unwrap_or(i64::MAX / 4) })
        });
        let bought = vec![0; shop.offers.len()];
        Sketch {
            shop,
            horizon,
            on_hand,
            bought,
            minutes: minutes.collect(),
            started: BTreeMap::new(),
            builds: BTreeMap::new(),
        }
    }

    /// In a repair, takes over what still holds of the plan that stood.
    fn keep_what_stands(&mut self) {
        let Some(repair) = &self.shop.repair else { return };
        for buy in repair.buys.iter().filter(|buy| repair.vendor.as_deref() != Some(&*buy.vendor)) {
            let offer = |offer: &super::shop::Offer| offer.vendor == buy.vendor && offer.product == buy.product;
            if let Some(at) = self.shop.offers.iter().position(offer) {
                self.buy(at, buy.units);
            }
        }
        for build in repair.builds.iter().filter(|build| repair.centre.as_deref() != Some(&*build.centre)) {
            let option = |option: &&MakeOption| option.product == build.product && option.centre == build.centre;
            if let Some(option) = self.shop.options.iter().find(option) {
                self.build(option, build.start, build.units);
            }
        }
    }

    /// Units of a product that nobody needs from a day to another.
    fn free(&self, code: &str, from: i64, to: i64) -> i64 {
        let days = self.on_hand.get(code).map_or(&[][..], |units| units);
        let days = days.iter().take((to + 1).max(0) as usize).skip(from.max(0) as usize);
        days.min().copied().unwrap_or(0)
    }

    fn put(&mut self, code: &str, day: i64, units: i64) {
        if let Some(days) = self.on_hand.get_mut(code) {
            days.iter_mut().skip(day.max(0) as usize).for_each(|on_hand| *on_hand += units);
        }
    }

    fn room(&self, at: usize) -> i64 {
        let offer = &self.shop.offers[at];
        let useful = self.shop.useful().get(&*offer.product).copied().unwrap_or(0);
        (offer.most.unwrap_or(useful.max(offer.tiers[0].0)) - self.bought[at]).max(0)
    }

    fn usable(&self, at: usize, code: &str, day: i64) -> bool {
        let offer = &self.shop.offers[at];
        let gone = self.shop.repair.as_ref().and_then(|repair| repair.vendor.as_deref());
        let fits = self.bought[at] > 0 || self.room(at) >= offer.tiers[0].0;
        offer.product == code
            && self.shop.usable(offer) <= day
            && self.shop.may_buy(code)
            && gone != Some(&offer.vendor)
            && fits
            && self.room(at) > 0
    }

    /// What a unit costs by the look of it; `None` if there is no way to have one in time.
    fn price(&self, code: &str, day: i64, depth: usize) -> Option<i64> {
        let offers = (0..self.shop.offers.len()).filter(|at| self.usable(*at, code, day));
        let bought = offers.map(|at| self.shop.offers[at].tiers[0].1).min();
        let options = self.shop.options.iter().filter(|option| option.product == code);
        let built = options.filter_map(|option| self.build_price(option, day, depth)).min();
        [bought, built].into_iter().flatten().min()
    }

    fn build_price(&self, option: &MakeOption, day: i64, depth: usize) -> Option<i64> {
        let start = self.start(option, day)?;
        if depth == 0 || self.left(option, start) < option.minutes {
            return None;
        }
        let mut cost = self.shop.unit_cost(option);
        for line in self.shop.bom.iter().filter(|line| line.product == option.product) {
            if self.free(&line.part, start, self.horizon) < line.units {
                cost += line.units * self.price(&line.part, start, depth - 1)?;
            }
        }
        Some(cost)
    }

    /// The day on which a build has to start that is to be there by a day.
    fn start(&self, option: &MakeOption, day: i64) -> Option<i64> {
        self.shop.last_start(day, self.shop.product(&option.product)?.build_days)
    }

    /// Minutes that a build at a centre may still take if it starts on a day.
    fn left(&self, option: &MakeOption, start: i64) -> i64 {
        let all = self.minutes.get(&*option.centre).copied().unwrap_or(0);
        let daily =
            self.shop.centres.iter().find(|centre| centre.code == option.centre).and_then(|centre| centre.daily);
        let started = self.started.get(&(&*option.centre, start)).copied().unwrap_or(0);
        daily.map_or(all, |daily| all.min(daily - started))
    }

    /// At the most so many units could still be had by a day.
    fn limit(&self, code: &str, day: i64, depth: usize) -> i64 {
        let offers = (0..self.shop.offers.len()).filter(|at| self.usable(*at, code, day));
        let bought: i64 = offers.map(|at| self.room(at)).sum();
        let options = self.shop.options.iter().filter(|option| option.product == code);
        let built: i64 = options.map(|option| self.build_limit(option, day, depth)).sum();
        self.free(code, day, self.horizon).max(0) + bought + built
    }

    fn build_limit(&self, option: &MakeOption, day: i64, depth: usize) -> i64 {
        let Some(start) = self.start(option, day).filter(|_| depth > 0) else { return 0 };
        let minutes = self.left(option, start).max(0);
        let lines = self.shop.bom.iter().filter(|line| line.product == option.product);
        lines.map(|line| self.limit(&line.part, start, depth - 1) / line.units).fold(minutes / option.minutes, i64::min)
    }

    /// Gets so many units by a day, the cheapest source first. Returns how many are still short.
    fn supply(&mut self, code: &str, day: i64, units: i64) -> i64 {
        let mut short = units;
        let mut hopeless: Vec<&str> = Vec::new();
        while short > 0 {
            let offers = (0..self.shop.offers.len()).filter(|at| self.usable(*at, code, day));
            let offers = offers.map(|at| (self.offer_price(at, short), From::Offer(at)));
            let options = self.shop.options.iter().filter(|option| option.product == code);
            let options = options.filter(|option| !hopeless.contains(&&*option.centre));
            let builds = options.filter_map(|o| Some((self.build_price(o, day, DEPTH)?, From::Build(o))));
            let Some((_, source)) = offers.chain(builds).min_by_key(|(price, _)| *price) else { break };
            match source {
                From::Offer(at) => {
                    let units = short.min(self.room(at)).max(self.least(at));
                    self.buy(at, units);
                    short -= units;
                }
                From::Build(option) => {
                    let built = self.try_to_build(option, day, short);
                    if built == 0 {
                        hopeless.push(&option.centre);
                    }
                    short -= built;
                }
            }
        }
        short.max(0)
    }

    /// Builds as many units as minutes and parts allow, up to a number. Returns how many.
    fn try_to_build(&mut self, option: &'a MakeOption, day: i64, units: i64) -> i64 {
        let Some(start) = self.start(option, day) else { return 0 };
        let mut units = units.min(self.build_limit(option, day, DEPTH));
        while units > 0 {
            let mut sketch = self.clone();
            sketch.build(option, start, units);
            let lines = self.shop.bom.iter().filter(|line| line.product == option.product);
            let short = lines.map(|line| {
                let missing = -sketch.free(&line.part, start, sketch.horizon);
                sketch.supply(&line.part, start, missing.max(0))
            });
            if short.sum::<i64>() == 0 {
                *self = sketch;
                return units;
            }
            // Sources that branches share were counted twice; a smaller lot may do.
            units = units * 3 / 4;
        }
        0
    }

    /// The fewest units that a purchase can have, or be raised by.
    fn least(&self, at: usize) -> i64 {
        if self.bought[at] > 0 { 1 } else { self.shop.offers[at].tiers[0].0 }
    }

    /// What a needed unit costs on an offer, if the smallest order is more than what is needed.
    fn offer_price(&self, at: usize, needed: i64) -> i64 {
        let price = self.shop.offers[at].tiers[0].1;
        price * needed.max(self.least(at)) / needed.max(1)
    }

    fn buy(&mut self, at: usize, units: i64) {
        let offer = &self.shop.offers[at];
        self.bought[at] += units;
        self.put(&offer.product, self.shop.usable(offer), units);
    }

    fn build(&mut self, option: &'a MakeOption, start: i64, units: i64) {
        let days = self.shop.product(&option.product).map_or(0, |product| product.build_days);
        *self.builds.entry((&option.product, &option.centre, start)).or_default() += units;
        if let Some(minutes) = self.minutes.get_mut(&*option.centre) {
            *minutes -= units * option.minutes;
        }
        *self.started.entry((&option.centre, start)).or_default() += units * option.minutes;
        self.put(&option.product, self.shop.done(start, days) + self.shop.wait(), units);
        for line in self.shop.bom.iter().filter(|line| line.product == option.product) {
            self.put(&line.part, start, -units * line.units);
        }
    }

    /// Leaves out purchases of parts that nothing needs, the dearest first.
    fn drop_what_is_idle(&mut self) {
        let part = |code: &str| self.shop.product(code).is_some_and(|product| product.role == Role::Part);
        let used = |at: &usize| self.bought[*at] > 0 && part(&self.shop.offers[*at].product);
        let mut places: Vec<usize> = (0..self.shop.offers.len()).filter(used).collect();
        places.sort_by_key(|at| -self.shop.offers[*at].tiers[0].1);
        for at in places {
            let offer = &self.shop.offers[at];
            let ready = self.shop.usable(offer);
            if self.free(&offer.product, ready, self.horizon) >= self.bought[at] {
                self.put(&offer.product, ready, -self.bought[at]);
                self.bought[at] = 0;
            }
        }
    }

    fn rows(self) -> (Vec<Buy>, Vec<Build>) {
        let offers = self.shop.offers.iter().zip(&self.bought).filter(|(_, units)| **units > 0);
        let buys = offers.map(|(offer, units)| Buy {
            vendor: offer.vendor.clone(),
            product: offer.product.clone(),
            units: *units,
            arrive: self.shop.ready(offer),
            price: offer.tiers.iter().rev().find(|(from, _)| from <= units).map_or(0, |(_, price)| *price),
        });
        let builds = self.builds.iter().map(|((product, centre, start), units)| Build {
            product: (*product).to_owned(),
            centre: (*centre).to_owned(),
            units: *units,
            start: *start,
            due: self.shop.done(*start, self.shop.product(product).map_or(0, |product| product.build_days)),
        });
        (buys.collect(), builds.collect())
    }
}
