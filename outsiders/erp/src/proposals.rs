//! Plans that the outsider proposes, each with whether it keeps the rules: its best one, and the same with a request promised as early
//! as the goods are there, and a day before that. The optimum alone says nothing of dates that a good plan does not choose.

use crate::{
    job::{Job, Place, Request},
    model::{Best, Plan},
    said::Said,
};
use std::collections::BTreeMap;

/// How many plans are proposed at most, the best one included.
const MOST: usize = 8;

/// A row of a plan, by the names of its columns.
pub type Row = BTreeMap<&'static str, Said>;

/// A plan with what the outsider holds of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// What is special about it.
    pub about: String,
    /// Whether it keeps all rules, and then is as good as any.
    pub keeps: bool,
    /// `sales`, `purchases` and `builds`.
    pub rows: BTreeMap<&'static str, Vec<Row>>,
}

/// The best plan, and what may and may not be promised early under it.
pub(crate) fn of(job: &Job, best: &Best) -> Vec<Proposal> {
    let due = |request: &Request| request.due;
    let mut proposals =
        vec![Proposal { about: "the best plan".to_owned(), keeps: true, rows: rows(job, &best.plan, &due) }];
    // Orders that stand keep their days.
    for request in job.taken().filter(|request| request.place != Place::Standing) {
        let first = first_day(job, &best.plan, request);
        let days = [(first, true, first < request.due), (first - 1, false, first > 0)];
        for (day, keeps, _) in days.into_iter().filter(|(_, _, worth)| *worth) {
            let about = format!("{} promised on day {day}", request.reference);
            let promised = |other: &Request| if other.reference == request.reference { day } else { other.due };
            proposals.push(Proposal { about, keeps, rows: rows(job, &best.plan, &promised) });
        }
        if proposals.len() >= MOST {
            break;
        }
    }
    proposals
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
