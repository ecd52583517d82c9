//! What the outsider says of a task, in its own plain words: facts by name and key, lists by name, and the optimum of each phase.

use crate::{
    job::{Job, Place, Request, Stood},
    model::Best,
    proposals::Proposal,
    said::Said,
};
use std::collections::{BTreeMap, BTreeSet};

/// What it says of a task. Keys of more than one part are joined by `|`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statement {
    /// Facts, such as `deposit` by request.
    pub facts: BTreeMap<&'static str, BTreeMap<String, Said>>,
    /// Lists, such as the requests that are `accepted`.
    pub lists: BTreeMap<&'static str, BTreeSet<String>>,
    /// The least value of each phase, in order.
    pub phases: Vec<(&'static str, i64)>,
    /// Plans, and whether they keep the rules.
    pub proposals: Vec<Proposal>,
}

impl Statement {
    fn number(&mut self, fact: &'static str, key: &[&str], value: i64) {
        self.facts.entry(fact).or_default().insert(key.join("|"), Said::Number(value));
    }

    fn name(&mut self, fact: &'static str, key: &[&str], value: &str) {
        self.facts.entry(fact).or_default().insert(key.join("|"), Said::Name(value.to_owned()));
    }

    fn list(&mut self, name: &'static str, entries: impl IntoIterator<Item = String>) {
        self.lists.entry(name).or_default().extend(entries);
    }
}

/// Puts a job and its optimum into words.
pub(crate) fn of(job: &Job, best: &Best) -> Statement {
    let mut said = Statement { phases: best.phases.clone(), ..Statement::default() };
    for request in &job.requests {
        one_request(job, request, &mut said);
    }
    money(job, &mut said);
    items(job, &mut said);
    offers(job, &mut said);
    shop(job, &mut said);
    before(job, &mut said);
    said
}

fn one_request(job: &Job, request: &Request, said: &mut Statement) {
    let key = [&*request.reference];
    let taken = job.takes(request);
    said.list(if taken { "accepted" } else { "declined" }, [request.reference.clone()]);
    let place = match (request.place, taken) {
        (Place::Draft, true) => "drafts to confirm",
        (Place::Draft, false) => "drafts to cancel",
        (Place::Listed, true) => "requests to enter",
        (Place::Listed, false) => "requests to leave out",
        (Place::Standing, _) => "orders that stand",
    };
    said.list(place, [request.reference.clone()]);
    said.number("due day", &key, request.due);
    said.name("customer", &key, &request.customer);
    said.number("order value", &key, job.value(request));
    said.number("units", &key, request.units());
    for (item, _) in &request.lines {
        said.name("item", &key, item);
        let of_item = request.lines.iter().filter(|(other, _)| other == item);
        said.number("units", &[&request.reference, item], of_item.map(|(_, units)| units).sum());
    }
    if let Some(limit) = request.limit {
        said.number("customer's limit", &key, limit);
        if taken {
            said.list("accepted with a limit", [request.reference.clone()]);
        }
    }
    if taken {
        let deposit = job.deposit(request);
        said.number("final amount", &key, job.value(request) - deposit.unwrap_or(0));
        if let Some(deposit) = deposit {
            said.number("deposit", &key, deposit);
            said.list("with a deposit", [request.reference.clone()]);
        }
    }
}

fn money(job: &Job, said: &mut Statement) {
    let amounts = [
        ("payment days", job.told.billing.map(|billing| billing.days)),
        ("spending share", job.told.share),
        ("spending cap", job.spending_cap()),
        ("budget", job.told.budget),
    ];
    for (name, amount) in amounts.into_iter().filter_map(|(name, amount)| Some((name, amount?))) {
        said.number(name, &[], amount);
    }
    if job.told.readings.tax > 0 {
        said.number("tax that limits include", &[], job.told.readings.tax);
    }
    if job.told.readings.wait > 0 {
        said.number("days from receipt to use", &[], job.told.readings.wait);
    }
    said.list("days", (0..=job.last_day()).map(|day| day.to_string()));
}

fn items(job: &Job, said: &mut Statement) {
    for (code, item) in &job.items {
        said.list(if item.sold { "what is sold" } else { "what goes into it" }, [code.clone()]);
        said.list("items", [code.clone()]);
        said.number("stock", &[code], item.stock);
        said.number("list price", &[code], item.list);
        match &item.recipe {
            None => said.number("not built", &[code], 1),
            Some(recipe) => {
                said.number("days of a build", &[code], recipe.days);
                said.number("lines of the recipe", &[code], recipe.parts.len() as i64);
                for (part, units) in &recipe.parts {
                    said.number("units in the recipe", &[code, part], *units);
                }
            }
        }
        if job.told.never_bought.contains(code) {
            said.number("not bought", &[code], 1);
        }
    }
}

fn offers(job: &Job, said: &mut Statement) {
    for offer in &job.offers {
        let key = [&*offer.supplier, &*offer.item];
        said.list("suppliers", [offer.supplier.clone()]);
        said.number("offered", &key, 1);
        said.number("delivery days", &key, offer.days);
        if let Some(most) = offer.most {
            said.number("largest order", &key, most);
        }
        if let Some((least, _)) = offer.steps.first() {
            said.number("smallest order", &key, *least);
        }
        for (step, (from, price)) in offer.steps.iter().enumerate() {
            let from = from.to_string();
            said.number("price", &[key[0], key[1], &from], *price);
            if job.told.readings.above_step {
                said.number("cost beyond the step's price", &[key[0], key[1], &from], job.beyond(offer, step));
            }
        }
        let wait = job.comes(offer) - offer.days;
        if wait > 0 {
            said.number("days a delivery waits", &key, wait);
        }
    }
    for supplier in &job.told.withdrawn {
        said.number("withdrawn", &[supplier], 1);
    }
}

fn shop(job: &Job, said: &mut Statement) {
    for way in &job.ways {
        said.list("centres", [way.centre.clone()]);
        said.number("minutes per unit", &[&way.item, &way.centre], way.minutes);
        said.number("unit cost", &[&way.item, &way.centre], way.cost);
    }
    for pool in &job.pools {
        if pool.daily {
            said.number("minutes a day", &[&pool.name], pool.minutes);
            said.list("centres with minutes a day", [pool.name.clone()]);
            continue;
        }
        said.list("pools", [pool.name.clone()]);
        said.number("minutes in all", &[&pool.name], pool.minutes);
        for centre in &pool.centres {
            said.number("draws on", &[&pool.name, centre], 1);
        }
    }
    closed(job, said);
    for (centre, days) in &job.down {
        for day in days {
            said.number("down", &[centre, &day.to_string()], 1);
        }
    }
}

/// For how many days after the last one of the plan it tells which are closed.
const AFTER: i64 = 30;

fn closed(job: &Job, said: &mut Statement) {
    let last = job.last_day() + AFTER;
    for day in job.closed.range(..=last) {
        said.number("closed", &[&day.to_string()], 1);
    }
    for (code, recipe) in job.items.iter().filter_map(|(code, item)| Some((code, item.recipe.as_ref()?))) {
        for start in 0..=last {
            let wait = job.open_from(start + recipe.days) - start - recipe.days;
            if wait > 0 {
                said.number("days a build waits", &[code, &start.to_string()], wait);
            }
        }
    }
}

/// The plan that stood: how much of what is sold came from where, and which papers can no longer happen.
fn before(job: &Job, said: &mut Statement) {
    let mut total = |fact: &'static str, key: [&str; 2], units: i64| {
        let known = said.facts.entry(fact).or_default().entry(key.join("|")).or_insert(Said::Number(0));
        if let Said::Number(known) = known {
            *known += units;
        }
    };
    for stood in job.bought_before.iter().filter(|stood| job.items.get(&stood.item).is_some_and(|item| item.sold)) {
        total("bought before", [&stood.at, &stood.item], stood.units);
    }
    for stood in &job.built_before {
        total("built before", [&stood.item, &stood.at], stood.units);
    }
    for (stood, number) in job.bought_before.iter().zip(1_usize..) {
        let number = number.to_string();
        said.number("units of a purchase that stood", &[&number, &stood.at, &stood.item], stood.units);
        said.number("a purchase that stood", &[&number], 1);
        said.list("purchases that stood", [number]);
    }
    for (stood, number) in job.built_before.iter().zip(1_usize..) {
        let number = number.to_string();
        said.number("units of a build that stood", &[&number, &stood.item, &stood.at], stood.units);
        said.number("a build that stood", &[&number], 1);
        said.list("builds that stood", [number]);
    }
    let broken = |papers: &[Stood]| -> Vec<String> {
        let numbered = papers.iter().zip(1..).filter(|(stood, _)| job.told.broken.contains(&stood.at));
        numbered.map(|(_, number): (_, usize)| number.to_string()).collect()
    };
    said.list("broken purchases", broken(&job.bought_before));
    said.list("broken builds", broken(&job.built_before));
}
