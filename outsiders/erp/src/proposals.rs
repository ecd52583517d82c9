//! Plans that the outsider proposes, each with whether it keeps the rules: its best one, the same with a request promised as early
//! as the goods are there, and a day before that; and its best one with more bought than anybody needs, which is dear and allowed, or
//! with a number that is off by the least there is, which is not. The optimum alone says nothing of what a good plan does not choose.

use crate::{
    job::{Job, Place, Request},
    model::{Best, Plan, Purchased},
    said::Said,
};
use std::collections::BTreeMap;

/// How many plans are proposed at most with other promises, the best one included.
const MOST: usize = 8;
/// How many purchases and sales are changed, each in every way.
const CHANGED: usize = 2;
/// More than anybody needs, where a supplier has no maximum.
const PLENTY: i64 = 60;

/// A row of a plan, by the names of its columns.
pub type Row = BTreeMap<&'static str, Said>;

/// A plan with what the outsider holds of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// What is special about it.
    pub about: String,
    /// Whether it keeps all rules.
    pub keeps: bool,
    /// Whether it is as good as any.
    pub best: bool,
    /// `sales`, `purchases` and `builds`.
    pub rows: BTreeMap<&'static str, Vec<Row>>,
}

/// The best plan, and what may and may not be promised early under it.
pub(crate) fn of(job: &Job, best: &Best) -> Vec<Proposal> {
    let due = |request: &Request| request.due;
    let mut proposals = vec![Proposal {
        about: "the best plan".to_owned(),
        keeps: true,
        best: true,
        rows: rows(job, &best.plan, &due),
    }];
    // Orders that stand keep their days.
    for request in job.taken().filter(|request| request.place != Place::Standing) {
        let first = first_day(job, &best.plan, request);
        let days = [(first, true, first < request.due), (first - 1, false, first > 0)];
        for (day, keeps, _) in days.into_iter().filter(|(_, _, worth)| *worth) {
            let about = format!("{} promised on day {day}", request.reference);
            let promised = |other: &Request| if other.reference == request.reference { day } else { other.due };
            proposals.push(Proposal { about, keeps, best: keeps, rows: rows(job, &best.plan, &promised) });
        }
        if proposals.len() >= MOST {
            break;
        }
    }
    // What is changed of a plan that stood is another matter.
    if job.bought_before.is_empty() && job.built_before.is_empty() {
        proposals.extend(dear(job, &best.plan));
        proposals.extend(off_by_one(job, &best.plan));
    }
    proposals
}

/// The best plan with all that a supplier has, or the least of one who is not needed, as far as money goes.
fn dear(job: &Job, plan: &Plan) -> Vec<Proposal> {
    let mut found = Vec::new();
    for offer in job.open_offers() {
        let mut plan = plan.clone();
        let of = |bought: &&mut Purchased| bought.supplier == offer.supplier && bought.item == offer.item;
        let known = plan.purchases.iter_mut().find(of);
        let least = offer.steps.first().map_or(1, |step| step.0);
        let units = match &known {
            Some(bought) => offer.most.unwrap_or(bought.units + PLENTY),
            None => least,
        };
        let Some((_, price)) = offer.steps.iter().rev().find(|step| step.0 <= units) else { continue };
        let more = Purchased {
            supplier: offer.supplier.clone(),
            item: offer.item.clone(),
            units,
            comes: job.comes(offer),
            price: *price,
        };
        match known {
            Some(bought) => *bought = more,
            None => plan.purchases.push(more),
        }
        let spent = spent(job, &plan);
        if job.spending_cap().into_iter().chain(job.told.budget).all(|most| spent <= most) {
            let about = format!("{units} of {} from {}", offer.item, offer.supplier);
            let rows = rows(job, &plan, &|request| request.due);
            found.push(Proposal { about, keeps: true, best: false, rows });
        }
    }
    found
}

/// What a plan costs.
fn spent(job: &Job, plan: &Plan) -> i64 {
    let purchases = plan.purchases.iter().map(|bought| {
        let offer = job.offer(&bought.supplier, &bought.item);
        let step = offer.and_then(|offer| Some((offer, offer.steps.iter().rposition(|step| step.0 <= bought.units)?)));
        bought.units * bought.price + step.map_or(0, |(offer, step)| job.beyond(offer, step))
    });
    let builds = plan.builds.iter().map(|built| {
        let way = job.ways.iter().find(|way| way.item == built.item && way.centre == built.centre);
        way.map_or(0, |way| way.cost * built.units)
    });
    purchases.chain(builds).sum()
}

/// The best plan with one number changed by the least there is.
fn off_by_one(job: &Job, plan: &Plan) -> Vec<Proposal> {
    let mut found = Vec::new();
    let mut breaks = |about: String, rows: BTreeMap<&'static str, Vec<Row>>| {
        found.push(Proposal { about, keeps: false, best: false, rows });
    };
    let due = |request: &Request| request.due;
    for at in 0..plan.purchases.len().min(CHANGED) {
        let bought = &plan.purchases[at];
        let Some(offer) = job.offer(&bought.supplier, &bought.item) else { continue };
        let mut changed = |about: &str, change: &dyn Fn(&mut Purchased)| {
            let mut plan = plan.clone();
            change(&mut plan.purchases[at]);
            breaks(format!("{} from {} {about}", offer.item, offer.supplier), rows(job, &plan, &due));
        };
        changed("a cent cheaper", &|bought| bought.price -= 1);
        changed("a cent dearer", &|bought| bought.price += 1);
        if bought.comes == job.comes(offer) && bought.comes > 0 {
            changed("a day early", &|bought| bought.comes -= 1);
        }
        if let Some(most) = offer.most {
            changed("one above its maximum", &|bought| bought.units = most + 1);
        }
        let least = offer.steps.first().map_or(1, |step| step.0);
        if least > 1 {
            changed("one below its smallest order", &|bought| bought.units = least - 1);
        }
    }
    let sales = rows(job, plan, &due).remove("sales").unwrap_or_default();
    for (at, sale) in sales.iter().enumerate().take(CHANGED) {
        for (word, by, about) in [
            ("price", -1, "a cent cheaper"),
            ("price", 1, "a cent dearer"),
            ("units", 1, "one unit more"),
            ("units", -1, "one unit less"),
        ] {
            let Some(Said::Number(number)) = sale.get(word) else { continue };
            let mut rows = rows(job, plan, &due);
            if let Some(row) = rows.get_mut("sales").and_then(|rows| rows.get_mut(at)) {
                row.insert(word, Said::Number(number + by));
            }
            breaks(format!("sale {} {about}", at + 1), rows);
        }
    }
    found
}

/// The first day on which a request could be promised while all others keep their days.
fn first_day(job: &Job, plan: &Plan, request: &Request) -> i64 {
    let fits = |day: &i64| {
        request.lines.iter().all(|(item, units)| (*day..request.due).all(|at| left(job, plan, item, at) >= *units))
    };
    (0..=request.due).find(fits).unwrap_or(request.due)
}

/// Units of an item on a day that neither customers nor builds have taken by then.
fn left(job: &Job, plan: &Plan, item: &str, day: i64) -> i64 {
    let stock = job.items.get(item).map_or(0, |item| item.stock);
    let there = day - job.told.readings.wait;
    let bought =
        plan.purchases.iter().filter(|bought| bought.item == item && bought.comes <= there).map(|bought| bought.units);
    let built = plan.builds.iter().filter(|built| built.item == item && built.done <= there).map(|built| built.units);
    let taken = plan.builds.iter().filter(|built| built.start <= day).filter_map(|built| {
        let recipe = job.items.get(&built.item)?.recipe.as_ref()?;
        Some(recipe.parts.get(item)? * built.units)
    });
    stock + bought.chain(built).sum::<i64>() - taken.sum::<i64>() - job.owed(item, day)
}

/// A plan as rows, each request promised on a day.
fn rows(job: &Job, plan: &Plan, promised: &dyn Fn(&Request) -> i64) -> BTreeMap<&'static str, Vec<Row>> {
    let name = |name: &str| Said::Name(name.to_owned());
    let sales = job.taken().flat_map(|request| {
        request.lines.iter().map(move |(item, units)| {
            BTreeMap::from([
                ("request", name(&request.reference)),
                ("customer", name(&request.customer)),
                ("item", name(item)),
                ("units", Said::Number(*units)),
                ("day", Said::Number(promised(request))),
                ("price", Said::Number(job.items.get(item).map_or(0, |item| item.list))),
            ])
        })
    });
    let purchases = plan.purchases.iter().map(|bought| {
        BTreeMap::from([
            ("supplier", name(&bought.supplier)),
            ("item", name(&bought.item)),
            ("units", Said::Number(bought.units)),
            ("day", Said::Number(bought.comes)),
            ("price", Said::Number(bought.price)),
        ])
    });
    let builds = plan.builds.iter().map(|built| {
        BTreeMap::from([
            ("item", name(&built.item)),
            ("centre", name(&built.centre)),
            ("units", Said::Number(built.units)),
            ("start", Said::Number(built.start)),
            ("end", Said::Number(built.done)),
        ])
    });
    BTreeMap::from([("sales", sales.collect()), ("purchases", purchases.collect()), ("builds", builds.collect())])
}
