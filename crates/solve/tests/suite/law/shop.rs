//! The worked example as data: what a shop binds, and the candidates of its plans.

use super::fixture;
use benchwright_schema::plan::{Bindings, Bound, Plan, PlanText};
use benchwright_spec::{Candidate, Candidates, Cell};
use std::collections::BTreeMap;

/// An offer: vendor, product, days to deliver, the most it sells, and its prices from so many units on.
pub(crate) struct Offer {
    pub(crate) vendor: &'static str,
    pub(crate) product: &'static str,
    pub(crate) lead: i64,
    pub(crate) most: i64,
    pub(crate) tiers: &'static [(i64, i64)],
}

/// A way to build a product: centre, minutes and cost of a unit, days it takes.
pub(crate) struct Route {
    pub(crate) product: &'static str,
    pub(crate) centre: &'static str,
    pub(crate) minutes: i64,
    pub(crate) cost: i64,
    pub(crate) days: i64,
}

/// A shop and what is asked of it.
pub(crate) struct Shop {
    /// Reference, units and due day of each order of the finished product.
    pub(crate) orders: Vec<(&'static str, i64, i64)>,
    /// Products with their stock, whatever is built of others before those.
    pub(crate) stock: Vec<(&'static str, i64)>,
    /// Product, part, units of it.
    pub(crate) bom: Vec<(&'static str, &'static str, i64)>,
    pub(crate) offers: Vec<Offer>,
    pub(crate) routes: Vec<Route>,
    /// Minutes of each centre in all.
    pub(crate) pools: Vec<(&'static str, i64)>,
    /// Minutes of a centre that may start on one day.
    pub(crate) daily: Option<(&'static str, i64)>,
    pub(crate) spend_cap: Option<i64>,
    /// The last day.
    pub(crate) horizon: i64,
    pub(crate) barred: Option<&'static str>,
    /// Days on which the first centre is down.
    pub(crate) down: Vec<i64>,
    /// Whether nothing may be left over.
    pub(crate) no_surplus: bool,
}

/// The product that is sold.
const FINISHED: &str = "FG";
/// A vendor without an offer and a centre without a route, for plans that nobody should make.
const STRANGER: (&str, &str) = ("Elm", "W9");

/// The shop of the worked example.
pub(crate) fn micro() -> Shop {
    let offer = |vendor, product, lead, most, tiers| Offer { vendor, product, lead, most, tiers };
    Shop {
        orders: vec![("O1", 5, 4), ("O2", 6, 7), ("O3", 9, 9)],
        stock: vec![("FG", 4), ("CP", 6)],
        bom: vec![("FG", "CP", 2)],
        offers: vec![
            offer("Alder", "FG", 3, 8, &[(2, 26_000), (6, 24_500)]),
            offer("Birch", "FG", 6, 10, &[(5, 23_600), (8, 23_000)]),
            offer("Cedar", "CP", 2, 40, &[(4, 7_000), (20, 6_000)]),
            offer("Dune", "CP", 5, 24, &[(6, 5_800), (12, 4_700)]),
        ],
        routes: vec![Route { product: "FG", centre: "W1", minutes: 60, cost: 4_500, days: 2 }],
        pools: vec![("W1", 480)],
        daily: Some(("W1", 300)),
        spend_cap: Some(448_000),
        horizon: 9,
        barred: None,
        down: Vec::new(),
        no_surplus: false,
    }
}

/// A shop that builds a module and the finished product of it.
pub(crate) fn two_levels() -> Shop {
    let offer = |vendor, product, lead, most, tiers| Offer { vendor, product, lead, most, tiers };
    Shop {
        orders: vec![("O1", 4, 6), ("O2", 5, 9)],
        stock: vec![("FG", 2), ("SA", 1), ("CP", 0), ("CQ", 10)],
        bom: vec![("FG", "SA", 1), ("FG", "CQ", 1), ("SA", "CP", 2)],
        offers: vec![
            offer("Alder", "FG", 5, 4, &[(1, 30_000)]),
            offer("Cedar", "CP", 2, 8, &[(4, 4_000)]),
            offer("Dune", "CP", 5, 20, &[(6, 3_000)]),
        ],
        routes: vec![
            Route { product: "FG", centre: "W2", minutes: 60, cost: 4_000, days: 2 },
            Route { product: "SA", centre: "W1", minutes: 30, cost: 1_500, days: 1 },
        ],
        pools: vec![("W1", 300), ("W2", 300)],
        daily: None,
        spend_cap: None,
        ..micro()
    }
}

const TABLES: &str = "
[partner]
name = 'text unique'
[product]
name = 'text unique'
[centre]
name = 'text unique'
[sale]
product = '-> product'
qty = 'int'
promised = 'date'
[purchase]
vendor = '-> partner'
product = '-> product'
qty = 'int'
arrive = 'date'
price = 'money'
discount = 'int'
[build]
product = '-> product'
centre = '-> centre'
qty = 'int'
start = 'date'
due = 'date'
orders = 'int'
";

impl Shop {
    /// The plan with the rules that concern this shop.
    pub(crate) fn plan(&self) -> Plan {
        let text = PlanText::from_toml("micro.toml", include_str!("micro.toml")).unwrap();
        let switches = [
            ("daily", self.daily.is_some()),
            ("margin", self.spend_cap.is_some()),
            ("withdrawn", self.barred.is_some()),
            ("outage", !self.down.is_empty()),
            ("no-surplus", self.no_surplus),
        ];
        let on: Vec<String> = switches.iter().filter(|(_, on)| *on).map(|(name, _)| (*name).to_owned()).collect();
        let domain = fixture::domain("shop", TABLES);
        Plan::compile(&text.for_switches(&on), &domain).unwrap_or_else(|faults| panic!("{faults}"))
    }

    /// The facts and sets. The base of a repair is the best plan of the worked example.
    pub(crate) fn bound(&self, plan: &Plan) -> Bound {
        let mut bindings = Bindings { anchor: "2026-03-02".to_owned(), ..Bindings::default() };
        let vendors: Vec<&str> = self.offers.iter().map(|offer| offer.vendor).chain([STRANGER.0]).collect();
        let centres: Vec<&str> = self.pools.iter().map(|pool| pool.0).chain([STRANGER.1]).collect();
        let orders: Vec<&str> = self.orders.iter().map(|order| order.0).collect();
        let products: Vec<&str> = self.stock.iter().map(|stock| stock.0).collect();
        let parts = products.iter().copied().filter(|product| *product != FINISHED);
        let sorts = [("order", &orders), ("vendor", &vendors), ("product", &products), ("centre", &centres)];
        for (sort, members) in sorts.into_iter().chain([("pool", &centres)]) {
            bindings.members.insert(sort.to_owned(), members.iter().map(|name| (*name).to_owned()).collect());
        }
        bindings.set("orders", orders.iter().copied());
        bindings.set("products", products.iter().copied());
        bindings.set("finished", [FINISHED]);
        bindings.set("parts", parts);
        bindings.set("vendors", vendors.iter().copied());
        bindings.set("centres", centres.iter().copied());
        bindings.set("daily_centres", self.daily.map(|daily| daily.0));
        bindings.set("pools", self.pools.iter().map(|pool| pool.0));
        bindings.numbers("days", 0..=self.horizon);
        for (order, asked, due) in &self.orders {
            bindings.fact("asked", &[order, FINISHED], *asked);
            bindings.fact("due_day", &[order], *due);
        }
        for (product, stock) in &self.stock {
            bindings.fact("stock", &[product], *stock);
        }
        for (product, part, units) in &self.bom {
            bindings.fact("bom", &[product, part], *units);
        }
        for route in &self.routes {
            bindings.fact("build_days", &[route.product], route.days);
            bindings.fact("minutes", &[route.product, route.centre], route.minutes);
            bindings.fact("unit_cost", &[route.product, route.centre], route.cost);
        }
        for (centre, minutes) in &self.pools {
            bindings.fact("pool_minutes", &[centre], *minutes);
            bindings.fact("in_pool", &[centre, centre], 1);
        }
        if let Some((centre, minutes)) = self.daily {
            bindings.fact("day_minutes", &[centre], minutes);
        }
        for offer in &self.offers {
            let key = [offer.vendor, offer.product];
            bindings.fact("offered", &key, 1);
            bindings.fact("moq", &key, offer.tiers[0].0);
            bindings.fact("most", &key, offer.most);
            bindings.fact("lead", &key, offer.lead);
            for (from, price) in offer.tiers {
                bindings.fact("price", &[offer.vendor, offer.product, &from.to_string()], *price);
            }
        }
        if let Some(cap) = self.spend_cap {
            bindings.fact("spend_cap", &[], cap);
        }
        if let Some(vendor) = self.barred {
            bindings.fact("barred", &[vendor], 1);
        }
        for day in &self.down {
            bindings.fact("down", &[self.pools[0].0, &day.to_string()], 1);
        }
        if vendors.contains(&"Birch") {
            bindings.fact("base_buy", &["Birch", FINISHED], 8);
            bindings.fact("base_build", &[FINISHED, "W1"], 8);
        }
        Bound::new(plan, &bindings).unwrap_or_else(|faults| panic!("{faults}"))
    }

    /// The most units of each product that can be of use.
    fn need(&self) -> BTreeMap<&'static str, i64> {
        let mut need = BTreeMap::from([(FINISHED, self.orders.iter().map(|order| order.1).sum())]);
        for (product, _) in &self.stock {
            let units: i64 = need.get(product).copied().unwrap_or_default();
            for (_, part, each) in self.bom.iter().filter(|line| line.0 == *product) {
                *need.entry(*part).or_default() += each * units;
            }
        }
        need
    }

    /// What is worth considering: a row per price of an offer and per start day of a route, everything but the quantity
    /// settled by dominance.
    pub(crate) fn tight(&self, plan: &Plan, bound: &Bound) -> Candidates {
        let rows = Rowed { plan, bound };
        let need = self.need();
        let mut candidates = vec![Vec::new(); plan.views.len()];
        for (order, asked, due) in &self.orders {
            rows.push(&mut candidates, "sell", true, &[Word(order), Word(FINISHED), Is(*asked), Is(*due)]);
        }
        for offer in &self.offers {
            let last = offer.tiers[offer.tiers.len() - 1].0;
            let useful = offer.most.min(need[offer.product].max(last));
            for (at, (from, price)) in offer.tiers.iter().enumerate() {
                let to = offer.tiers.get(at + 1).map_or(useful, |next| useful.min(next.0 - 1));
                let cells = [Word(offer.vendor), Word(offer.product), In(*from, to), Is(offer.lead), Is(*price), Is(0)];
                rows.push(&mut candidates, "buy", false, &cells);
            }
        }
        for route in &self.routes {
            let pool = self.pools.iter().chain(&self.daily).filter(|pool| pool.0 == route.centre);
            let minutes = pool.map(|pool| pool.1).min().unwrap_or_default();
            let to = need[route.product].min(minutes / route.minutes);
            for start in 0..=self.horizon - route.days {
                let (due, centre) = (start + route.days, Word(route.centre));
                rows.push(
                    &mut candidates,
                    "build",
                    false,
                    &[Word(route.product), centre, In(1, to), Is(start), Is(due), Is(1)],
                );
            }
        }
        candidates
    }

    /// What somebody could write down: so many lines per offer and builds per route, dates, prices and quantities free, a
    /// vendor without an offer and a centre without a route.
    pub(crate) fn wide(&self, plan: &Plan, bound: &Bound, lines: usize, units: i64) -> Candidates {
        let rows = Rowed { plan, bound };
        let mut candidates = vec![Vec::new(); plan.views.len()];
        let days = In(0, self.horizon + 1);
        for (order, asked, _) in &self.orders {
            for _ in 0..lines {
                rows.push(&mut candidates, "sell", false, &[Word(order), Word(FINISHED), In(1, asked + 1), days]);
            }
        }
        for offer in &self.offers {
            let last = offer.tiers[offer.tiers.len() - 1].1;
            for _ in 0..lines {
                let prices = In(last - 1, offer.tiers[0].1);
                let cells = [Word(offer.vendor), Word(offer.product), In(1, units), days, prices, In(0, 1)];
                rows.push(&mut candidates, "buy", false, &cells);
            }
        }
        let cells = [Word(STRANGER.0), Word(FINISHED), In(1, units), days, In(0, 25_000), Is(0)];
        rows.push(&mut candidates, "buy", false, &cells);
        for route in &self.routes {
            for _ in 0..=lines {
                let cells = [Word(route.product), Word(route.centre), In(1, units), In(-1, self.horizon), days, Is(1)];
                rows.push(&mut candidates, "build", false, &cells);
            }
        }
        let cells = [Word(FINISHED), Word(STRANGER.1), In(1, units), days, days, In(1, 2)];
        rows.push(&mut candidates, "build", false, &cells);
        candidates
    }
}

/// A cell before its member has a number.
#[derive(Clone, Copy)]
enum Draft {
    Word(&'static str),
    Is(i64),
    In(i64, i64),
}
use Draft::{In, Is, Word};

/// Puts rows into the order of the plan's fields.
struct Rowed<'a> {
    plan: &'a Plan,
    bound: &'a Bound,
}

impl Rowed<'_> {
    fn push(&self, candidates: &mut Candidates, view: &str, must: bool, cells: &[Draft]) {
        let names: &[&str] = match view {
            "sell" => &["order", "product", "qty", "promised"],
            "buy" => &["vendor", "product", "qty", "arrive", "price", "discount"],
            _ => &["product", "centre", "qty", "start", "due", "orders"],
        };
        let at = self.plan.view_named(view).unwrap();
        let fields = self.plan.views[at].fields.iter().map(|field| {
            let place = names.iter().position(|name| *name == field.name).unwrap();
            match cells[place] {
                Word(word) => {
                    let sort = self.plan.sort_named(&field.name).unwrap();
                    Cell::Fixed(i64::from(self.bound.member(sort, word).unwrap()))
                }
                Is(value) => Cell::Fixed(value),
                In(low, high) => Cell::Free(low, high),
            }
        });
        candidates[at].push(Candidate::single(must, fields.collect()));
    }
}
