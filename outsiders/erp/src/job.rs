//! A job as the outsider understands it: what is asked for, what it can come from, and how plans are compared. Days count from
//! today, money is in cents, codes and references are those of the records.

use benchwright_base::Date;
use std::collections::{BTreeMap, BTreeSet};

/// All there is to know.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) told: Told,
    pub(crate) requests: Vec<Request>,
    /// By code: what is sold, and everything that it consists of.
    pub(crate) items: BTreeMap<String, Item>,
    pub(crate) offers: Vec<Offer>,
    pub(crate) ways: Vec<Way>,
    pub(crate) pools: Vec<Pool>,
    /// Days on which nothing may start, by centre.
    pub(crate) down: BTreeMap<String, BTreeSet<i64>>,
    /// Days on which nothing is received, started or finished.
    pub(crate) closed: BTreeSet<i64>,
    /// The purchases that stood on day 0, in the order of their numbers.
    pub(crate) bought_before: Vec<Stood>,
    /// The builds that stood on day 0, likewise.
    pub(crate) built_before: Vec<Stood>,
}

/// What the text says.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) today: Date,
    pub(crate) goal: Goal,
    pub(crate) requests: Vec<ToldRequest>,
    pub(crate) intake: Intake,
    /// Hundredths of a percent of the uncovered list value that may be spent.
    pub(crate) share: Option<i64>,
    pub(crate) budget: Option<i64>,
    pub(crate) billing: Option<Billing>,
    pub(crate) never_bought: BTreeSet<String>,
    /// Suppliers and centres whose documents can no longer happen.
    pub(crate) broken: BTreeSet<String>,
    /// Suppliers that may not be used again.
    pub(crate) withdrawn: BTreeSet<String>,
    /// Whether the company is closed on some days, which the records name.
    pub(crate) closes: bool,
    pub(crate) readings: Readings,
}

/// Clauses that can be put in two ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Readings {
    /// Days from the one on which something comes in to the one on which it can be used.
    pub(crate) wait: i64,
    /// Whether a price step is only for the units from its minimum on.
    pub(crate) above_step: bool,
    /// The tax in percent that customers' limits include.
    pub(crate) tax: i64,
    /// Whether a value exactly on a bound of the intake passes.
    pub(crate) bound_passes: bool,
}

/// What is made as small as it can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Goal {
    /// Nothing: any plan will do.
    Anything,
    Spending,
    Suppliers,
    Minutes,
    Change,
}

/// Where a request stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Listed,
    Draft,
    Standing,
}

/// A request as far as the text tells it.
#[derive(Clone, Debug)]
pub(crate) struct ToldRequest {
    pub(crate) reference: String,
    pub(crate) place: Place,
    pub(crate) limit: Option<i64>,
    /// Customer, lines and day; on record where the text does not say.
    pub(crate) listed: Option<Listed>,
}

/// The columns of a request that is only in the text.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) customer: String,
    pub(crate) lines: Vec<(String, i64)>,
    pub(crate) due: i64,
}

/// A request with all that text and records tell.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) reference: String,
    pub(crate) place: Place,
    pub(crate) customer: String,
    /// Items and units.
    pub(crate) lines: Vec<(String, i64)>,
    pub(crate) due: i64,
    pub(crate) limit: Option<i64>,
}

/// The tests that a request must pass.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Intake {
    pub(crate) units: Option<(i64, i64)>,
    pub(crate) notice: Option<i64>,
    pub(crate) money: bool,
}

/// How orders are billed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Billing {
    /// Days to pay.
    pub(crate) days: i64,
    pub(crate) deposit: Option<Deposit>,
}

/// A deposit on orders of at least some value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deposit {
    pub(crate) from: i64,
    pub(crate) amount: Amount,
}

/// What is due.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Amount {
    Cents(i64),
    Percent(i64),
}

/// Something that is sold, bought or built.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) sold: bool,
    pub(crate) stock: i64,
    pub(crate) list: i64,
    pub(crate) recipe: Option<Recipe>,
}

/// How an item is built.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) days: i64,
    /// Units of each part in one unit.
    pub(crate) parts: BTreeMap<String, i64>,
}

/// What a supplier asks for an item.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) supplier: String,
    pub(crate) item: String,
    pub(crate) days: i64,
    pub(crate) most: Option<i64>,
    /// From how many units a price holds; ascending.
    pub(crate) steps: Vec<(i64, i64)>,
}

/// A centre that can build an item.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) item: String,
    pub(crate) centre: String,
    pub(crate) minutes: i64,
    /// Cents per unit.
    pub(crate) cost: i64,
}

/// Minutes that builds at some centres share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pool {
    pub(crate) name: String,
    pub(crate) centres: BTreeSet<String>,
    pub(crate) minutes: i64,
    /// Whether they are there anew on every day that builds start.
    pub(crate) daily: bool,
}

/// A purchase or a build that stood on day 0.
#[derive(Clone, Debug)]
pub(crate) struct Stood {
    /// The supplier or the centre.
    pub(crate) at: String,
    pub(crate) item: String,
    pub(crate) units: i64,
}

impl Request {
    /// Units over all lines.
    pub(crate) fn units(&self) -> i64 {
        self.lines.iter().map(|(_, units)| units).sum()
    }
}

impl Job {
    /// What a request is worth at list prices.
    pub(crate) fn value(&self, request: &Request) -> i64 {
        request.lines.iter().map(|(item, units)| units * self.items.get(item).map_or(0, |item| item.list)).sum()
    }

    /// Whether a request is taken.
    pub(crate) fn takes(&self, request: &Request) -> bool {
        let Intake { units, notice, money } = self.told.intake;
        let edge = i64::from(!self.told.readings.bound_passes);
        let size = units.is_none_or(|(least, most)| (least + edge..=most - edge).contains(&request.units()));
        let in_time = notice.is_none_or(|days| request.due >= days + edge);
        let paid = !money || self.limit(request).is_none_or(|limit| limit >= self.value(request) + edge);
        size && in_time && paid
    }

    /// The most that a request may come to before tax, in whole cents.
    pub(crate) fn limit(&self, request: &Request) -> Option<i64> {
        request.limit.map(|limit| limit * 100 / (100 + self.told.readings.tax))
    }

    /// The requests that are taken.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(|request| self.takes(request))
    }

    /// The last day on which anything is owed.
    pub(crate) fn last_day(&self) -> i64 {
        self.taken().map(|request| request.due).max().unwrap_or(0)
    }

    /// Units of an item owed to customers up to a day.
    pub(crate) fn owed(&self, item: &str, day: i64) -> i64 {
        let lines = self.taken().filter(|request| request.due <= day).flat_map(|request| &request.lines);
        lines.filter(|(asked, _)| asked == item).map(|(_, units)| units).sum()
    }

    /// The most that may be spent: a share of what the units are worth that stock cannot cover, rounded down to a cent.
    pub(crate) fn spending_cap(&self) -> Option<i64> {
        let share = self.told.share?;
        let last = self.last_day();
        let open = |(code, item): (&String, &Item)| (self.owed(code, last) - item.stock).max(0) * item.list;
        let value: i64 = self.items.iter().filter(|(_, item)| item.sold).map(open).sum();
        Some(value * share / 10_000)
    }

    /// What is billed before the final invoice of a request that is taken.
    pub(crate) fn deposit(&self, request: &Request) -> Option<i64> {
        let Deposit { from, amount } = self.told.billing?.deposit?;
        let value = self.value(request);
        let cents = match amount {
            Amount::Cents(cents) => cents,
            // Half a cent goes up.
            Amount::Percent(percent) => (value * percent + 50) / 100,
        };
        (value >= from).then_some(cents)
    }

    /// The first day from this one on that is not closed.
    pub(crate) fn open_from(&self, day: i64) -> i64 {
        (day..).find(|day| !self.closed.contains(day)).unwrap_or(day)
    }

    /// What a quantity at a price step costs beyond that step's price for all units: where a step is only for the units from its
    /// minimum on, those below it cost what the steps before say, the first of which begins with the first unit.
    pub(crate) fn beyond(&self, offer: &Offer, step: usize) -> i64 {
        let Some((_, price)) = offer.steps.get(step).filter(|_| self.told.readings.above_step) else { return 0 };
        let ends = offer.steps[1..=step].iter().map(|(from, _)| *from);
        let begins = [1].into_iter().chain(offer.steps[1..].iter().map(|(from, _)| *from));
        let before = begins.zip(ends).zip(&offer.steps);
        before.map(|((begin, end), (_, dearer))| (end - begin) * (dearer - price)).sum()
    }

    /// The day on which a purchase can be there.
    pub(crate) fn comes(&self, offer: &Offer) -> i64 {
        self.open_from(offer.days)
    }

    /// The offers that may be taken up.
    pub(crate) fn open_offers(&self) -> impl Iterator<Item = &Offer> {
        self.offers
            .iter()
            .filter(|offer| !self.told.never_bought.contains(&offer.item) && !self.is_out(&offer.supplier))
    }

    /// The offer that a supplier makes of an item.
    pub(crate) fn offer(&self, supplier: &str, item: &str) -> Option<&Offer> {
        self.offers.iter().find(|offer| offer.supplier == supplier && offer.item == item)
    }

    /// Whether a supplier or a centre can no longer be relied on.
    pub(crate) fn is_out(&self, who: &str) -> bool {
        self.told.broken.contains(who) || self.told.withdrawn.contains(who)
    }
}
