//! A case of the ERP family in the words of the trade: who ordered what, who offers it, and how it is built.
//!
//! Money is in cents, time in days from the anchor, work in minutes. Whatever can be computed from the rest is a method,
//! so that nothing is said twice.

use benchwright_base::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A case.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Shop {
    /// Day 0, as `YYYY-MM-DD`.
    pub(crate) anchor: String,
    /// The objective, by name.
    pub(crate) objective: String,
    /// The product line, which is a line of `goods.toml`.
    pub(crate) line: String,
    /// The lowest margin on new spending, in hundredths of a percent.
    pub(crate) margin: Option<i64>,
    /// The purchasing budget of the whole plan.
    pub(crate) budget: Option<i64>,
    /// The customers.
    pub(crate) customers: Vec<Party>,
    /// What they asked for, in the order of their references.
    pub(crate) orders: Vec<Order>,
    /// How requests are screened.
    pub(crate) screen: Option<Screen>,
    /// How accepted orders are billed.
    pub(crate) billing: Option<Billing>,
    /// The days on which nothing is received, started or finished, where there are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calendar: Option<Calendar>,
    /// The products of the job: the finished ones first, then modules, then bought parts.
    pub(crate) products: Vec<Product>,
    /// What each made product consists of.
    pub(crate) bom: Vec<BomLine>,
    /// The work centres.
    pub(crate) centres: Vec<Centre>,
    /// Minutes that several centres share.
    pub(crate) groups: Vec<Group>,
    /// Who can build what; the first option of a product is the one its recipe names.
    pub(crate) options: Vec<MakeOption>,
    /// The suppliers.
    pub(crate) vendors: Vec<Party>,
    /// What they offer.
    pub(crate) offers: Vec<Offer>,
    /// Why finished goods are not bought, if they are not.
    pub(crate) never_bought: Option<NeverBought>,
    /// What went wrong with a plan that stood already.
    pub(crate) repair: Option<Repair>,
    /// Records that do not belong to the job.
    pub(crate) adjacent: Adjacent,
    /// How clauses are put that can be put in two ways.
    #[serde(default, skip_serializing_if = "Clauses::is_usual")]
    pub(crate) clauses: Clauses,
}

/// Clauses that can be put in two ways. What stands here by itself is what the family usually says.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Clauses {
    /// What comes in can be used from the day after on.
    pub(crate) next_day: bool,
    /// A price step holds for the units from its minimum on, and not for all.
    pub(crate) above_step: bool,
    /// What the limits of customers include.
    pub(crate) limits: Limits,
    /// What becomes of a value exactly on a bound of intake.
    pub(crate) bound: Bounds,
}

impl Clauses {
    fn is_usual(&self) -> bool {
        *self == Clauses::default()
    }
}

/// What becomes of a value exactly on a bound of intake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bounds {
    /// It passes, as the tests themselves say.
    #[default]
    Inclusive,
    /// It passes, which only a sentence tells.
    Passes,
    /// It fails, which only a sentence tells.
    Fails,
}

/// What the limits of customers include.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Limits {
    /// No tax; they are called so.
    #[default]
    Named,
    /// No tax, which a sentence tells.
    Net,
    /// A tax in percent on top of the list value.
    Gross(i64),
}

/// A customer or a supplier.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Party {
    /// The unique reference, such as `C-104` or `V-207`.
    pub(crate) reference: String,
    /// The name.
    pub(crate) name: String,
}

/// Where an order stands when the job begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Source {
    /// A draft in the system.
    Draft,
    /// Only in the brief.
    Brief,
    /// Confirmed in the system.
    Confirmed,
}

/// A request of a customer for finished goods.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The customer's own reference, unique: `REQ-31`.
    pub(crate) reference: String,
    /// The customer's reference.
    pub(crate) customer: String,
    /// What is asked, a line for each finished product.
    pub(crate) lines: Vec<OrderLine>,
    /// The latest day of delivery.
    pub(crate) due: i64,
    /// The most that the customer pays before tax, for all lines together.
    pub(crate) limit: Option<i64>,
    /// Where it stands.
    pub(crate) source: Source,
}

/// A line of a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct OrderLine {
    /// The finished product's code.
    pub(crate) product: String,
    /// How many.
    pub(crate) units: i64,
}

impl Order {
    /// Units of all lines together.
    pub(crate) fn units(&self) -> i64 {
        self.lines.iter().map(|line| line.units).sum()
    }

    /// Units of a product.
    pub(crate) fn asked(&self, code: &str) -> i64 {
        self.lines.iter().filter(|line| line.product == code).map(|line| line.units).sum()
    }
}

/// The days on which the company is closed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Calendar {
    /// Closed weekdays, from 0 for Monday, ascending.
    pub(crate) weekdays: Vec<u8>,
    /// Closed dates as `YYYY-MM-DD`, ascending.
    pub(crate) dates: Vec<String>,
}

/// Which requests are taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Screen {
    /// Fewest and most units of a request.
    pub(crate) window: Option<(i64, i64)>,
    /// The fewest days ahead.
    pub(crate) lead: Option<i64>,
    /// Whether a customer's limit must cover the list value.
    pub(crate) limit: bool,
}

/// How orders are billed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Billing {
    /// Days to pay: 0 or 30.
    pub(crate) days: i64,
    /// The deposit.
    pub(crate) deposit: Option<Deposit>,
}

/// A deposit before the final invoice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Deposit {
    /// The order value from which it is asked.
    pub(crate) from: i64,
    /// A fixed amount.
    pub(crate) fixed: Option<i64>,
    /// Or a share in percent.
    pub(crate) percent: Option<i64>,
}

/// What a product is in the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// Sold to customers.
    Finished,
    /// Built and used in others.
    Module,
    /// Bought and used in others.
    Part,
}

/// A product.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Product {
    /// The unique code.
    pub(crate) code: String,
    /// The name.
    pub(crate) name: String,
    /// What it is in the job.
    pub(crate) role: Role,
    /// The list price.
    pub(crate) list: i64,
    /// The cost on its card.
    pub(crate) cost: i64,
    /// Units on hand on day 0.
    pub(crate) stock: i64,
    /// Whether its routes include buying.
    pub(crate) buys: bool,
    /// Whether its routes include building.
    pub(crate) makes: bool,
    /// Days from start to finish of a build; 0 where it is not built.
    pub(crate) build_days: i64,
}

/// A line of a recipe: units of `part` in one unit of `product`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BomLine {
    /// The product that is built.
    pub(crate) product: String,
    /// What it takes.
    pub(crate) part: String,
    /// How many.
    pub(crate) units: i64,
}

/// A work centre.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Centre {
    /// The unique code.
    pub(crate) code: String,
    /// The name.
    pub(crate) name: String,
    /// The cost of an hour, in whole dollars.
    pub(crate) hourly: i64,
    /// Minutes for the whole plan.
    pub(crate) minutes: Option<i64>,
    /// Minutes of builds that may start on one day.
    pub(crate) daily: Option<i64>,
    /// First and last day on which nothing can start.
    pub(crate) down: Option<(i64, i64)>,
}

/// Centres that share minutes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Group {
    /// Its name.
    pub(crate) name: String,
    /// The codes of its centres.
    pub(crate) centres: Vec<String>,
    /// Minutes for the whole plan.
    pub(crate) minutes: i64,
}

/// A product that a centre can build.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct MakeOption {
    /// The product.
    pub(crate) product: String,
    /// The centre's code.
    pub(crate) centre: String,
    /// Minutes per unit, a multiple of 6.
    pub(crate) minutes: i64,
}

/// What a supplier offers: one lead, one maximum, and prices that fall with the quantity.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// The supplier's reference.
    pub(crate) vendor: String,
    /// The product's code.
    pub(crate) product: String,
    /// Days from order to receipt.
    pub(crate) lead: i64,
    /// The most units in all.
    pub(crate) most: Option<i64>,
    /// Units from which a price holds, and the price; ascending.
    pub(crate) tiers: Vec<(i64, i64)>,
}

/// Why finished goods are not bought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NeverBought {
    /// The company says so.
    Policy,
    /// The product has no route for it.
    Design,
    /// Nobody offers it.
    Market,
}

/// A plan that stood, and what went wrong with it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Repair {
    /// The supplier that cancelled.
    pub(crate) vendor: Option<String>,
    /// The centre that is down.
    pub(crate) centre: Option<String>,
    /// The purchases that stood.
    pub(crate) buys: Vec<Buy>,
    /// The builds that stood.
    pub(crate) builds: Vec<Build>,
}

/// A purchase of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Buy {
    /// The supplier.
    pub(crate) vendor: String,
    /// The product.
    pub(crate) product: String,
    /// How many.
    pub(crate) units: i64,
    /// The day of receipt.
    pub(crate) arrive: i64,
    /// The price of a unit.
    pub(crate) price: i64,
}

/// A build of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Build {
    /// The product.
    pub(crate) product: String,
    /// The centre.
    pub(crate) centre: String,
    /// How many.
    pub(crate) units: i64,
    /// The day it starts.
    pub(crate) start: i64,
    /// The day it is finished.
    pub(crate) due: i64,
}

/// Records around the job that it must leave alone.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Adjacent {
    /// Customers.
    pub(crate) customers: Vec<Party>,
    /// Suppliers.
    pub(crate) vendors: Vec<Party>,
    /// Products, each with one offer, its stock, and the parts it is built from, if any.
    pub(crate) products: Vec<AdjacentProduct>,
}

/// A product around the job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct AdjacentProduct {
    /// The unique code.
    pub(crate) code: String,
    /// The name.
    pub(crate) name: String,
    /// The list price.
    pub(crate) list: i64,
    /// The cost on its card.
    pub(crate) cost: i64,
    /// Units on hand.
    pub(crate) stock: i64,
    /// Its one offer: supplier reference, price, lead, maximum.
    pub(crate) vendor: String,
    /// The offer's price.
    pub(crate) price: i64,
    /// The offer's lead.
    pub(crate) lead: i64,
    /// The offer's maximum.
    pub(crate) most: i64,
    /// The parts it is built from: code and units.
    pub(crate) bom: Vec<(String, i64)>,
}

impl Shop {
    /// The first finished product. Every case has one, and all of them are bought or built in the same way.
    pub(crate) fn finished(&self) -> &Product {
        &self.products[0]
    }

    /// All finished products.
    pub(crate) fn finished_goods(&self) -> impl Iterator<Item = &Product> {
        self.products.iter().filter(|product| product.role == Role::Finished)
    }

    /// Whether a code is that of a finished product.
    pub(crate) fn is_finished(&self, code: &str) -> bool {
        self.finished_goods().any(|product| product.code == code)
    }

    /// The list price of a product.
    pub(crate) fn list_price(&self, code: &str) -> i64 {
        self.product(code).map_or(0, |product| product.list)
    }

    /// Whether nothing is received, started or finished on a day.
    pub(crate) fn is_closed(&self, day: i64) -> bool {
        let Some(calendar) = &self.calendar else { return false };
        let date = Date::parse(&self.anchor).and_then(|anchor| anchor.add_days(day));
        date.is_some_and(|date| {
            calendar.weekdays.contains(&date.weekday()) || calendar.dates.contains(&date.to_string())
        })
    }

    /// The first day from a day on that is not closed. A year without an open day is none.
    pub(crate) fn open_from(&self, day: i64) -> i64 {
        (day..day + 366).find(|day| !self.is_closed(*day)).unwrap_or(day)
    }

    /// The first day on which an offer can be received.
    pub(crate) fn ready(&self, offer: &Offer) -> i64 {
        self.open_from(offer.lead)
    }

    /// The first day on which what an offer brings can be used.
    pub(crate) fn usable(&self, offer: &Offer) -> i64 {
        self.ready(offer) + self.wait()
    }

    /// The first day on which a build that starts on a day can be finished.
    pub(crate) fn done(&self, start: i64, days: i64) -> i64 {
        self.open_from(start + days)
    }

    /// The last day on which a build can start whose units are to be used by a day, if there is one.
    pub(crate) fn last_start(&self, day: i64, days: i64) -> Option<i64> {
        let day = day - self.wait();
        (0..=day - days).rev().find(|start| !self.is_closed(*start) && self.done(*start, days) <= day)
    }

    /// A product by its code.
    pub(crate) fn product(&self, code: &str) -> Option<&Product> {
        self.products.iter().find(|product| product.code == code)
    }

    /// The list value of an order.
    pub(crate) fn value(&self, order: &Order) -> i64 {
        order.lines.iter().map(|line| line.units * self.list_price(&line.product)).sum()
    }

    /// Whether a request passes the screening.
    pub(crate) fn accepts(&self, order: &Order) -> bool {
        let Some(screen) = &self.screen else { return true };
        // A value exactly on a bound passes, or it does not.
        let short = |value: i64, least: i64| value < least || (self.clauses.bound == Bounds::Fails && value == least);
        let limit = screen.limit && self.limit(order).is_some_and(|limit| short(limit, self.value(order)));
        let window = screen.window.is_some_and(|(low, high)| short(order.units(), low) || short(high, order.units()));
        let lead = screen.lead.is_some_and(|lead| short(order.due, lead));
        !(limit || window || lead)
    }

    /// The most that an order may come to before tax.
    pub(crate) fn limit(&self, order: &Order) -> Option<i64> {
        match self.clauses.limits {
            Limits::Named | Limits::Net => order.limit,
            Limits::Gross(tax) => order.limit.map(|limit| limit * 100 / (100 + tax)),
        }
    }

    /// Days from the one on which something comes in to the one on which it can be used.
    pub(crate) fn wait(&self) -> i64 {
        i64::from(self.clauses.next_day)
    }

    /// What a quantity of an offer costs beyond its step's price for all units, by the step: where a price holds only from its
    /// minimum on, the units below it cost what the steps before it say.
    pub(crate) fn beyond(&self, offer: &Offer, step: usize) -> i64 {
        if !self.clauses.above_step {
            return 0;
        }
        let price = offer.tiers[step].1;
        let below = (0..step).map(|at| {
            let first = if at == 0 { 1 } else { offer.tiers[at].0 };
            (offer.tiers[at + 1].0 - first) * (offer.tiers[at].1 - price)
        });
        below.sum()
    }

    /// The requests that are taken.
    pub(crate) fn accepted(&self) -> impl Iterator<Item = &Order> {
        self.orders.iter().filter(|order| self.accepts(order))
    }

    /// The requests that are declined.
    pub(crate) fn declined(&self) -> impl Iterator<Item = &Order> {
        self.orders.iter().filter(|order| !self.accepts(order))
    }

    /// The last day of the plan.
    pub(crate) fn horizon(&self) -> i64 {
        self.accepted().map(|order| order.due).max().unwrap_or(0)
    }

    /// Units of a product that accepted orders ask for.
    pub(crate) fn demand(&self, code: &str) -> i64 {
        self.accepted().map(|order| order.asked(code)).sum()
    }

    /// Units of finished goods that opening stock cannot cover.
    pub(crate) fn uncovered(&self) -> i64 {
        self.finished_goods().map(|product| self.short(product)).sum()
    }

    /// Units of a finished product that opening stock cannot cover.
    pub(crate) fn short(&self, product: &Product) -> i64 {
        (self.demand(&product.code) - product.stock).max(0)
    }

    /// The most that may be spent under the margin.
    pub(crate) fn spend_cap(&self) -> Option<i64> {
        let margin = self.margin?;
        let value: i64 = self.finished_goods().map(|product| self.short(product) * product.list).sum();
        Some(value * (10_000 - margin) / 10_000)
    }

    /// Units in `of` per unit of `product`.
    pub(crate) fn units_in(&self, product: &str, part: &str) -> i64 {
        self.bom.iter().find(|line| line.product == product && line.part == part).map_or(0, |line| line.units)
    }

    /// For each product the most units that could be of use: demand, and what all useful builds can take. Products stand
    /// before what they consist of.
    pub(crate) fn useful(&self) -> BTreeMap<&str, i64> {
        let mut useful: BTreeMap<&str, i64> = BTreeMap::new();
        for product in &self.products {
            *useful.entry(&product.code).or_default() += self.demand(&product.code);
            let units = useful[&*product.code];
            for line in self.bom.iter().filter(|line| line.product == product.code) {
                *useful.entry(&line.part).or_default() += line.units * units;
            }
        }
        useful
    }

    /// The cost of building one unit by an option.
    pub(crate) fn unit_cost(&self, option: &MakeOption) -> i64 {
        let hourly = self.centres.iter().find(|centre| centre.code == option.centre).map_or(0, |centre| centre.hourly);
        option.minutes * hourly * 100 / 60
    }

    /// The deposit on an order, if one is due.
    pub(crate) fn deposit(&self, order: &Order) -> Option<i64> {
        let deposit = self.billing.as_ref()?.deposit.as_ref()?;
        let value = self.value(order);
        if value < deposit.from {
            return None;
        }
        // Half a cent is rounded up; samplers keep to values where nothing has to be rounded.
        deposit.fixed.or(deposit.percent.map(|percent| (value * percent + 50) / 100))
    }

    /// Whether a product may be bought at all.
    pub(crate) fn may_buy(&self, code: &str) -> bool {
        match self.product(code).map(|product| product.role) {
            Some(Role::Finished) => self.never_bought.is_none(),
            Some(Role::Module) => false,
            Some(Role::Part) => true,
            None => false,
        }
    }

    /// The switches that bring rules in.
    pub(crate) fn switches(&self) -> Vec<String> {
        let billing = self.billing.as_ref();
        let screen = self.screen.as_ref();
        let on = [
            ("margin", self.margin.is_some()),
            ("budget", self.budget.is_some()),
            ("limits", self.accepted().any(|order| order.limit.is_some())),
            ("screen", screen.is_some()),
            ("drafts", self.orders.iter().any(|order| order.source == Source::Draft)),
            ("drafts-kept", self.accepted().any(|order| order.source == Source::Draft)),
            ("drafts-declined", self.declined().any(|order| order.source == Source::Draft)),
            ("listed", self.orders.iter().any(|order| order.source == Source::Brief)),
            ("listed-kept", self.accepted().any(|order| order.source == Source::Brief)),
            ("listed-declined", self.declined().any(|order| order.source == Source::Brief)),
            ("lines", self.orders.iter().any(|order| order.lines.len() > 1)),
            ("basket", several(self.offers.iter().map(|offer| &*offer.vendor))),
            ("regulars", several(self.orders.iter().map(|order| &*order.customer))),
            ("exact", self.accepted().any(|order| order.limit == Some(self.value(order)))),
            ("calendar", self.calendar.is_some()),
            ("billing", billing.is_some()),
            ("deposit", billing.is_some_and(|billing| billing.deposit.is_some())),
            ("makes", self.products.iter().any(|product| product.makes)),
            ("factory", self.never_bought.is_some() && self.uncovered() > 0),
            ("make-only", self.products.iter().any(|product| !self.may_buy(&product.code))),
            ("bought-parts", self.products.iter().any(|product| product.role == Role::Part)),
            (
                "finished-offers",
                self.offers.iter().any(|offer| self.is_finished(&offer.product) && self.may_buy(&offer.product)),
            ),
            ("daily", self.centres.iter().any(|centre| centre.daily.is_some())),
            ("pools", self.centres.iter().any(|centre| centre.minutes.is_some()) || !self.groups.is_empty()),
            ("outage", self.centres.iter().any(|centre| centre.down.is_some())),
            ("repair", self.repair.is_some()),
            ("withdrawn", self.repair.as_ref().is_some_and(|repair| repair.vendor.is_some())),
            ("adjacent", !self.adjacent.products.is_empty()),
        ];
        on.iter().filter(|(_, on)| *on).map(|(name, _)| (*name).to_owned()).collect()
    }
}

/// Whether a name stands there more than once.
fn several<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = BTreeSet::new();
    names.any(|name| !seen.insert(name))
}
