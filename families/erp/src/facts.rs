//! The facts that rules speak of, and the candidate rows of a plan.

use super::shop::{Limits, Offer, Role, Shop, Source};
use benchwright_project::Breadth;
use benchwright_schema::plan::{Bindings, Bound, Plan};
use benchwright_spec::{Candidate, Candidates, Cell, Rows};
use std::collections::BTreeMap;

/// The key of a customer.
pub(crate) fn customer(reference: &str) -> String {
    format!("customer/{reference}")
}

/// The key of a supplier.
pub(crate) fn vendor(reference: &str) -> String {
    format!("vendor/{reference}")
}

/// The key of a product.
pub(crate) fn product(code: &str) -> String {
    format!("product/{code}")
}

/// The key of a work centre.
pub(crate) fn centre(code: &str) -> String {
    format!("centre/{code}")
}

/// The key of the record that an order has in the first state.
pub(crate) fn record(reference: &str) -> String {
    format!("record/{reference}")
}

/// A partner who sells nothing: where every supplier of the job lists every item, an order can still go to the wrong one.
fn no_vendor(shop: &Shop) -> Option<String> {
    shop.customers.first().map(|party| customer(&party.reference))
}

/// Every fact of a case.
pub(crate) fn bindings(shop: &Shop) -> Bindings {
    let mut bind = Bindings { anchor: shop.anchor.clone(), ..Bindings::default() };
    let keys = |list: &mut dyn Iterator<Item = String>| list.collect::<Vec<String>>();
    let members: [(&str, Vec<String>); 9] = [
        ("order", keys(&mut shop.orders.iter().map(|order| order.reference.clone()))),
        ("record", keys(&mut shop.orders.iter().filter(|o| o.source != Source::Brief).map(|o| record(&o.reference)))),
        ("customer", keys(&mut shop.customers.iter().map(|party| customer(&party.reference)))),
        ("vendor", keys(&mut shop.vendors.iter().map(|party| vendor(&party.reference)).chain(no_vendor(shop)))),
        ("product", keys(&mut shop.products.iter().map(|known| product(&known.code)))),
        ("centre", keys(&mut shop.centres.iter().map(|known| centre(&known.code)))),
        ("pool", keys(&mut pools(shop).into_iter().map(|(name, _, _)| name))),
        (
            "purchase",
            keys(&mut (1..=shop.repair.as_ref().map_or(0, |repair| repair.buys.len())).map(|n| format!("po/{n}"))),
        ),
        (
            "production",
            keys(&mut (1..=shop.repair.as_ref().map_or(0, |repair| repair.builds.len())).map(|n| format!("mo/{n}"))),
        ),
    ];
    bind.members = members.into_iter().map(|(sort, keys)| (sort.to_owned(), keys)).collect();
    orders(shop, &mut bind);
    goods(shop, &mut bind);
    supply(shop, &mut bind);
    repair(shop, &mut bind);
    calendar(shop, &mut bind);
    bind.numbers("days", 0..=shop.horizon());
    bind
}

fn orders(shop: &Shop, bind: &mut Bindings) {
    let set = |bind: &mut Bindings, name: &str, wanted: &dyn Fn(&super::shop::Order) -> bool| {
        let keys: Vec<&str> = shop.orders.iter().filter(|order| wanted(order)).map(|order| &*order.reference).collect();
        bind.set(name, keys);
    };
    let of = |source: Source, accepted: bool| {
        move |order: &super::shop::Order| order.source == source && shop.accepts(order) == accepted
    };
    set(bind, "orders", &|order| shop.accepts(order));
    set(bind, "declined", &|order| !shop.accepts(order));
    set(bind, "drafts_kept", &of(Source::Draft, true));
    set(bind, "drafts_declined", &of(Source::Draft, false));
    set(bind, "briefs_kept", &of(Source::Brief, true));
    set(bind, "briefs_declined", &of(Source::Brief, false));
    set(bind, "standing", &of(Source::Confirmed, true));
    set(bind, "limited", &|order| shop.accepts(order) && order.limit.is_some());
    set(bind, "with_deposit", &|order| shop.accepts(order) && shop.deposit(order).is_some());
    for order in &shop.orders {
        let at = [&*order.reference];
        for line in &order.lines {
            add(bind, "asked", &[&order.reference, &product(&line.product)], line.units);
        }
        bind.fact("due_day", &at, order.due);
        bind.fact_key("customer_of", &at, &customer(&order.customer));
        bind.fact("value", &at, shop.value(order));
        if order.source != Source::Brief {
            bind.fact_key("record_of", &at, &record(&order.reference));
        }
        if let Some(limit) = order.limit {
            bind.fact("limit", &at, limit);
        }
        if shop.accepts(order) {
            bind.fact("wanted", &at, 1);
            let deposit = shop.deposit(order);
            bind.fact("rest", &at, shop.value(order) - deposit.unwrap_or(0));
            if let Some(deposit) = deposit {
                bind.fact("deposit", &at, deposit);
            }
        }
    }
    if let Limits::Gross(tax) = shop.clauses.limits {
        bind.fact("limit_tax", &[], tax);
    }
    if shop.wait() > 0 {
        bind.fact("wait", &[], shop.wait());
    }
    if let Some(billing) = &shop.billing {
        bind.fact("term_days", &[], billing.days);
    }
}

fn goods(shop: &Shop, bind: &mut Bindings) {
    let set = |bind: &mut Bindings, name: &str, wanted: &dyn Fn(&super::shop::Product) -> bool| {
        let keys: Vec<String> = shop.products.iter().filter(|p| wanted(p)).map(|p| product(&p.code)).collect();
        bind.set(name, keys.iter().map(|key| &**key));
    };
    set(bind, "products", &|_| true);
    set(bind, "finished", &|product| product.role == Role::Finished);
    set(bind, "parts", &|product| product.role != Role::Finished);
    for known in &shop.products {
        let key = product(&known.code);
        bind.fact("stock", &[&key], known.stock);
        bind.fact("list_price", &[&key], known.list);
        if known.makes {
            bind.fact("build_days", &[&key], known.build_days);
            bind.fact(
                "recipe_lines",
                &[&key],
                shop.bom.iter().filter(|line| line.product == known.code).count() as i64,
            );
        } else {
            bind.fact("never_made", &[&key], 1);
        }
        if !shop.may_buy(&known.code) {
            bind.fact("never_bought", &[&key], 1);
        }
    }
    for line in &shop.bom {
        bind.fact("bom", &[&product(&line.product), &product(&line.part)], line.units);
    }
    if let Some(margin) = shop.margin {
        bind.fact("spend_share", &[], 10_000 - margin);
    }
    if let Some(cap) = shop.spend_cap() {
        bind.fact("spend_cap", &[], cap);
    }
    if let Some(budget) = shop.budget {
        bind.fact("budget", &[], budget);
    }
}

fn supply(shop: &Shop, bind: &mut Bindings) {
    let centres: Vec<String> = shop.centres.iter().map(|known| centre(&known.code)).collect();
    bind.set("centres", centres.iter().map(|key| &**key));
    let daily: Vec<String> = shop.centres.iter().filter(|c| c.daily.is_some()).map(|c| centre(&c.code)).collect();
    bind.set("daily_centres", daily.iter().map(|key| &**key));
    for known in &shop.centres {
        if let Some(minutes) = known.daily {
            bind.fact("day_minutes", &[&centre(&known.code)], minutes);
        }
        if let Some((from, to)) = known.down {
            for day in from..=to {
                bind.fact("down", &[&centre(&known.code), &day.to_string()], 1);
            }
        }
    }
    for option in &shop.options {
        let at = [&*product(&option.product), &*centre(&option.centre)];
        bind.fact("minutes", &at, option.minutes);
        bind.fact("unit_cost", &at, shop.unit_cost(option));
    }
    let pools = pools(shop);
    bind.set("pools", pools.iter().map(|(name, _, _)| &**name));
    for (name, centres, minutes) in &pools {
        bind.fact("pool_minutes", &[name], *minutes);
        for code in centres {
            bind.fact("in_pool", &[name, &centre(code)], 1);
        }
    }
    let vendors: Vec<String> = shop.vendors.iter().map(|party| vendor(&party.reference)).collect();
    bind.set("vendors", vendors.iter().map(|key| &**key));
    for offer in &shop.offers {
        let at = [&*vendor(&offer.vendor), &*product(&offer.product)];
        bind.fact("offered", &at, 1);
        bind.fact("moq", &at, offer.tiers.first().map_or(1, |tier| tier.0));
        bind.fact("lead", &at, offer.lead);
        if let Some(most) = offer.most {
            bind.fact("most", &at, most);
        }
        for (step, (from, price)) in offer.tiers.iter().enumerate() {
            let from = from.to_string();
            bind.fact("price", &[at[0], at[1], &from], *price);
            if shop.clauses.above_step {
                bind.fact("beyond", &[at[0], at[1], &from], shop.beyond(offer, step));
            }
        }
    }
}

/// Closed days, and how long what is ready on one has to wait.
fn calendar(shop: &Shop, bind: &mut Bindings) {
    if shop.calendar.is_none() {
        return;
    }
    let last = shop.horizon() + AFTER;
    for day in (0..=last).filter(|day| shop.is_closed(*day)) {
        bind.fact("closed", &[&day.to_string()], 1);
    }
    for offer in &shop.offers {
        let wait = shop.ready(offer) - offer.lead;
        if wait > 0 {
            bind.fact("receipt_wait", &[&vendor(&offer.vendor), &product(&offer.product)], wait);
        }
    }
    for known in shop.products.iter().filter(|known| known.makes) {
        for start in 0..=last {
            let wait = shop.done(start, known.build_days) - start - known.build_days;
            if wait > 0 {
                bind.fact("finish_wait", &[&product(&known.code), &start.to_string()], wait);
            }
        }
    }
}

/// For how many days after the last one of the plan it is stated which are closed.
const AFTER: i64 = 30;

fn repair(shop: &Shop, bind: &mut Bindings) {
    let Some(repair) = &shop.repair else { return };
    let mut broken_purchases = Vec::new();
    let (mut old_purchases, mut old_builds) = (Vec::new(), Vec::new());
    for (at, buy) in repair.buys.iter().enumerate() {
        let document = format!("po/{}", at + 1);
        if repair.vendor.as_ref() == Some(&buy.vendor) {
            broken_purchases.push(document.clone());
        }
        bind.fact("old_purchase", &[&document], 1);
        bind.fact("was_bought", &[&document, &vendor(&buy.vendor), &product(&buy.product)], buy.units);
        old_purchases.push(document);
        let finished = shop.product(&buy.product).is_some_and(|known| known.role == Role::Finished);
        if finished {
            add(bind, "base_buy", &[&vendor(&buy.vendor), &product(&buy.product)], buy.units);
        }
    }
    let mut broken_builds = Vec::new();
    for (at, build) in repair.builds.iter().enumerate() {
        let document = format!("mo/{}", at + 1);
        if repair.centre.as_ref() == Some(&build.centre) {
            broken_builds.push(document.clone());
        }
        bind.fact("old_build", &[&document], 1);
        bind.fact("was_built", &[&document, &product(&build.product), &centre(&build.centre)], build.units);
        old_builds.push(document);
        add(bind, "base_build", &[&product(&build.product), &centre(&build.centre)], build.units);
    }
    bind.set("old_purchases", old_purchases.iter().map(|key| &**key));
    bind.set("old_productions", old_builds.iter().map(|key| &**key));
    bind.set("broken_purchases", broken_purchases.iter().map(|key| &**key));
    bind.set("broken_productions", broken_builds.iter().map(|key| &**key));
    if let Some(reference) = &repair.vendor {
        bind.fact("barred", &[&vendor(reference)], 1);
    }
}

fn add(bind: &mut Bindings, fact: &str, at: &[&str], units: i64) {
    use benchwright_schema::plan::Binding;
    let known = match bind.facts.get(fact).and_then(|table| table.get(&at.join("|"))) {
        Some(Binding::Number(known)) => *known,
        _ => 0,
    };
    bind.fact(fact, at, known + units);
}

/// Minutes that a set of centres has for the whole plan: name, centres, minutes.
fn pools(shop: &Shop) -> Vec<(String, Vec<&str>, i64)> {
    let own = shop.centres.iter().filter_map(|known| Some((known.code.clone(), vec![&*known.code], known.minutes?)));
    let shared = shop.groups.iter().map(|group| {
        (format!("group {}", group.name), group.centres.iter().map(|code| &**code).collect(), group.minutes)
    });
    own.chain(shared).collect()
}

/// Candidate rows under construction.
struct Builder<'a> {
    plan: &'a Plan,
    bound: &'a Bound,
    candidates: Candidates,
}

impl Builder<'_> {
    fn push(&mut self, view: &str, must: bool, fields: &[(&str, Cell)]) -> Result<(), String> {
        let at = self.plan.view_named(view).ok_or_else(|| format!("the plan has no view `{view}`"))?;
        let cell = |name: &str| {
            let found = fields.iter().find(|(known, _)| *known == name);
            found.map(|(_, cell)| *cell).ok_or_else(|| format!("{view} has a field `{name}` that no candidate has"))
        };
        let fields = self.plan.views[at].fields.iter().map(|field| cell(&field.name)).collect::<Result<_, _>>()?;
        self.candidates[at].push(Candidate::single(must, fields));
        Ok(())
    }

    fn member(&self, sort: &str, key: &str) -> Result<Cell, String> {
        let at = self.plan.sort_named(sort).ok_or_else(|| format!("the plan has no sort `{sort}`"))?;
        let found = self.bound.member(at, key).ok_or_else(|| format!("`{key}` is no {sort}"))?;
        Ok(Cell::Fixed(i64::from(found)))
    }
}

/// The candidates of a case.
pub(crate) fn candidates(shop: &Shop, plan: &Plan, bound: &Bound, breadth: Breadth<'_>) -> Result<Candidates, String> {
    let mut build = Builder { plan, bound, candidates: vec![Vec::new(); plan.views.len()] };
    match breadth {
        Breadth::Tight => tight(shop, &mut build)?,
        Breadth::Wide => wide(shop, &mut build)?,
        Breadth::Dominant => settled(shop, &mut build)?,
        Breadth::Local(rows) => local(shop, &mut build, rows)?,
    }
    Ok(build.candidates)
}

fn sell(shop: &Shop, build: &mut Builder<'_>, free: bool) -> Result<(), String> {
    let late = shop.horizon() + 1;
    for order in shop.accepted() {
        for line in &order.lines {
            let fields = [
                ("order", build.member("order", &order.reference)?),
                ("customer", build.member("customer", &customer(&order.customer))?),
                ("product", build.member("product", &product(&line.product))?),
                ("qty", if free { Cell::Free(1, line.units + 1) } else { Cell::Fixed(line.units) }),
                ("promised", if free { Cell::Free(0, late) } else { Cell::Fixed(order.due) }),
                ("price", Cell::Fixed(shop.list_price(&line.product))),
                ("discount", Cell::Fixed(0)),
            ];
            build.push("sell", !free, &fields)?;
        }
    }
    Ok(())
}

/// A purchase on an offer.
fn buy(build: &mut Builder<'_>, offer: &Offer, qty: Cell, arrive: Cell, price: Cell) -> Result<(), String> {
    let fields = [
        ("vendor", build.member("vendor", &vendor(&offer.vendor))?),
        ("product", build.member("product", &product(&offer.product))?),
        ("qty", qty),
        ("arrive", arrive),
        ("price", price),
        ("discount", Cell::Fixed(0)),
    ];
    build.push("buy", false, &fields)
}

fn make(
    build: &mut Builder<'_>,
    code: &str,
    centre_code: Option<&str>,
    qty: Cell,
    start: Cell,
    due: Cell,
) -> Result<(), String> {
    let fields = [
        ("product", build.member("product", &product(code))?),
        ("centre", centre_code.map_or(Ok(Cell::Fixed(0)), |code| build.member("centre", &centre(code)))?),
        ("qty", qty),
        ("start", start),
        ("due", due),
        ("orders", Cell::Fixed(i64::from(centre_code.is_some()))),
    ];
    build.push("build", false, &fields)
}

/// The most units of a product that an option can make in all, by the pools its centre draws on.
fn most_built(shop: &Shop, centre_code: &str, minutes: i64) -> i64 {
    let known = shop.centres.iter().find(|known| known.code == centre_code);
    let own = known.and_then(|known| known.minutes).into_iter();
    let daily = known.and_then(|known| known.daily).into_iter();
    let groups = shop.groups.iter().filter(|group| group.centres.iter().any(|code| code == centre_code));
    let least = own.chain(daily).chain(groups.map(|group| group.minutes)).min();
    least.map_or(i64::MAX, |least| least / minutes.max(1))
}

/// Dates by dominance, one row per price tier, one per option and start day.
fn tight(shop: &Shop, build: &mut Builder<'_>) -> Result<(), String> {
    sell(shop, build, false)?;
    let useful = shop.useful();
    let horizon = shop.horizon();
    for offer in &shop.offers {
        let need = useful.get(&*offer.product).copied().unwrap_or(0);
        let last = offer.tiers.last().map_or(1, |tier| tier.0);
        let most = offer.most.unwrap_or(i64::MAX).min(need.max(last));
        for (at, (from, price)) in offer.tiers.iter().enumerate() {
            let high = offer.tiers.get(at + 1).map_or(most, |next| most.min(next.0 - 1));
            if high >= *from {
                buy(build, offer, Cell::Free(*from, high), Cell::Fixed(shop.ready(offer)), Cell::Fixed(*price))?;
            }
        }
    }
    for option in &shop.options {
        let days = shop.product(&option.product).map_or(1, |known| known.build_days);
        let need = useful.get(&*option.product).copied().unwrap_or(0);
        let high = need.min(most_built(shop, &option.centre, option.minutes));
        let down = shop.centres.iter().find(|known| known.code == option.centre).and_then(|known| known.down);
        for start in 0..=horizon - days {
            let is_down = down.is_some_and(|(from, to)| (from..=to).contains(&start));
            let due = shop.done(start, days);
            if high >= 1 && !is_down && !shop.is_closed(start) && due <= horizon {
                let due = Cell::Fixed(due);
                make(build, &option.product, Some(&option.centre), Cell::Free(1, high), Cell::Fixed(start), due)?;
            }
        }
    }
    Ok(())
}

/// One unit more of an offer than could be of use or is allowed.
fn past_use(useful: &BTreeMap<&str, i64>, offer: &Offer) -> i64 {
    let need = useful.get(&*offer.product).copied().unwrap_or(0);
    let last = offer.tiers.last().map_or(1, |tier| tier.0);
    offer.most.unwrap_or(need + 2).min(need.max(last)) + 1
}

/// Whatever an agent could write: two rows per offer and per option, every date and quantity free.
fn wide(shop: &Shop, build: &mut Builder<'_>) -> Result<(), String> {
    sell(shop, build, true)?;
    let useful = shop.useful();
    let horizon = shop.horizon();
    for offer in &shop.offers {
        let most = past_use(&useful, offer);
        let (low, high) = price_range(offer);
        for _ in 0..2 {
            buy(build, offer, Cell::Free(1, most), Cell::Free(0, horizon), Cell::Free(low, high))?;
        }
    }
    for option in &shop.options {
        let need = useful.get(&*option.product).copied().unwrap_or(0);
        let high = need.min(most_built(shop, &option.centre, option.minutes)).max(0) + 1;
        for _ in 0..2 {
            let (start, due) = (Cell::Free(0, horizon), Cell::Free(0, horizon + 2));
            make(build, &option.product, Some(&option.centre), Cell::Free(1, high), start, due)?;
        }
    }
    unapproved(shop, build)?;
    strays(shop, build)
}

/// What is left of the wide rows when dates are settled: every price step, every start day, every quantity. Two builds of
/// one option that start on one day are the same to every rule as one of their sum.
fn settled(shop: &Shop, build: &mut Builder<'_>) -> Result<(), String> {
    sell(shop, build, false)?;
    let useful = shop.useful();
    let horizon = shop.horizon();
    for offer in &shop.offers {
        let most = past_use(&useful, offer);
        for (at, (from, price)) in offer.tiers.iter().enumerate() {
            let low = if at == 0 { 1 } else { *from };
            let high = offer.tiers.get(at + 1).map_or(most, |next| most.min(next.0 - 1));
            if high >= low {
                buy(build, offer, Cell::Free(low, high), Cell::Fixed(shop.ready(offer)), Cell::Fixed(*price))?;
            }
        }
    }
    for option in &shop.options {
        let need = useful.get(&*option.product).copied().unwrap_or(0);
        let days = shop.product(&option.product).map_or(1, |known| known.build_days);
        for start in 0..=horizon {
            let (start, due) = (Cell::Fixed(start), Cell::Fixed(shop.done(start, days)));
            make(build, &option.product, Some(&option.centre), Cell::Free(1, need + 1), start, due)?;
        }
    }
    unapproved(shop, build)?;
    strays(shop, build)
}

/// Builds where none is approved.
fn unapproved(shop: &Shop, build: &mut Builder<'_>) -> Result<(), String> {
    for known in shop.products.iter().filter(|known| known.makes) {
        let approved = |code: &str| shop.options.iter().any(|o| o.product == known.code && o.centre == code);
        for place in shop.centres.iter().filter(|place| !approved(&place.code)) {
            let (start, due) = (Cell::Fixed(0), Cell::Fixed(shop.done(0, known.build_days)));
            make(build, &known.code, Some(&place.code), Cell::Free(1, 9), start, due)?;
        }
        if shop.centres.iter().all(|place| approved(&place.code)) {
            // A build whose work order was taken away has no centre at all.
            let due = Cell::Fixed(shop.done(0, known.build_days));
            make(build, &known.code, None, Cell::Free(1, 9), Cell::Fixed(0), due)?;
        }
    }
    Ok(())
}

fn price_range(offer: &Offer) -> (i64, i64) {
    let prices = || offer.tiers.iter().map(|tier| tier.1);
    (prices().min().unwrap_or(1) - 1, prices().max().unwrap_or(1))
}

/// The rows of a plan with their quantities free, beside them the same rows with one other field moved, and spare rows: each
/// offer and option once more, an order that goes to somebody who does not list the item, and a build where none is approved.
/// Moved dates and prices stand in rows of their own, so that the model stays linear in the quantities.
fn local(shop: &Shop, build: &mut Builder<'_>, rows: &Rows) -> Result<(), String> {
    let horizon = shop.horizon();
    for name in ["sell", "buy", "build"] {
        let at = build.plan.view_named(name).ok_or_else(|| format!("the plan has no view `{name}`"))?;
        let fields: Vec<String> = build.plan.views[at].fields.iter().map(|field| field.name.clone()).collect();
        let candidate = |row: &[i64]| {
            let cell = |(field, value): (&String, &i64)| match &**field {
                "qty" => Cell::Free(1, value * 2 + 30),
                _ => Cell::Fixed(*value),
            };
            Candidate::single(false, fields.iter().zip(row).map(cell).collect())
        };
        build.candidates[at].extend(rows.0[at].iter().map(|row| candidate(row)));
        let place = |field: &str| fields.iter().position(|known| known == field);
        for row in &rows.0[at] {
            for moves in moves(name) {
                let mut moved = row.clone();
                for (field, by) in *moves {
                    if let Some(at) = place(field) {
                        moved[at] = if *by == LATE { horizon + 1 } else { moved[at] + by };
                    }
                }
                if moved.iter().all(|value| *value >= 0) {
                    build.candidates[at].push(candidate(&moved));
                }
            }
        }
    }
    // An order may be entered twice.
    let sells = build.plan.view_named("sell").ok_or("the plan has no view `sell`")?;
    let given = build.candidates[sells].len();
    sell(shop, build, false)?;
    build.candidates[sells].iter_mut().skip(given).for_each(|candidate| candidate.must = false);
    let useful = shop.useful();
    for offer in &shop.offers {
        let need = useful.get(&*offer.product).copied().unwrap_or(0);
        for (at, (from, price)) in offer.tiers.iter().enumerate() {
            let low = if at == 0 { 1 } else { *from };
            let past = offer.most.unwrap_or(need).max(need).max(*from) + 5;
            let high = offer.tiers.get(at + 1).map_or(past, |next| next.0 - 1);
            if high >= low {
                buy(build, offer, Cell::Free(low, high), Cell::Fixed(shop.ready(offer)), Cell::Fixed(*price))?;
                // The same on a day on which nobody is there to receive it.
                if let Some(day) = (offer.lead..=horizon).find(|day| shop.is_closed(*day)) {
                    buy(build, offer, Cell::Free(low, high), Cell::Fixed(day), Cell::Fixed(*price))?;
                }
            }
        }
    }
    strays(shop, build)?;
    for known in shop.products.iter().filter(|known| known.makes) {
        let days = known.build_days;
        for place in &shop.centres {
            let high = useful.get(&*known.code).copied().unwrap_or(0).max(1) + 5;
            for start in [0, (horizon - days) / 2, horizon - days] {
                let start = start.max(0);
                let (at, due) = (Cell::Fixed(start), Cell::Fixed(shop.done(start, days)));
                make(build, &known.code, Some(&place.code), Cell::Free(1, high), at, due)?;
            }
            for start in (0..=horizon - days).filter(|day| shop.is_closed(*day)).take(2) {
                let (at, due) = (Cell::Fixed(start), Cell::Fixed(shop.done(start, days)));
                make(build, &known.code, Some(&place.code), Cell::Free(1, high), at, due)?;
            }
        }
    }
    Ok(())
}

/// Rows that no rule allows: a purchase from somebody who does not list the item, of what is never bought, and a build of
/// what is never built.
fn strays(shop: &Shop, build: &mut Builder<'_>) -> Result<(), String> {
    let horizon = shop.horizon();
    let listed_by_none = no_vendor(shop).into_iter().flat_map(|key| {
        let bought = shop.products.iter().filter(|known| shop.may_buy(&known.code)).take(2);
        bought.map(move |known| (key.clone(), known.code.clone()))
    });
    // Somebody could order what is never bought from anybody at all.
    let first = shop.vendors.first().map(|party| vendor(&party.reference)).or(no_vendor(shop));
    let never = shop.products.iter().filter(|known| !shop.may_buy(&known.code));
    let never = never.filter_map(|known| Some((first.clone()?, known.code.clone())));
    for (key, code) in listed_by_none.chain(never) {
        let fields = [
            ("vendor", build.member("vendor", &key)?),
            ("product", build.member("product", &product(&code))?),
            ("qty", Cell::Free(1, 40)),
            ("arrive", Cell::Fixed(shop.open_from(2))),
            ("price", Cell::Fixed(0)),
            ("discount", Cell::Fixed(0)),
        ];
        build.push("buy", false, &fields)?;
    }
    for known in shop.finished_goods().filter(|known| !known.makes) {
        make(build, &known.code, None, Cell::Free(1, 20), Cell::Fixed(0), Cell::Fixed(horizon))?;
    }
    Ok(())
}

/// Stands for the day after the last.
const LATE: i64 = i64::MAX;

/// Changes of a row that are worth trying: fields, and by how much.
type Moves = &'static [&'static [(&'static str, i64)]];

fn moves(view: &str) -> Moves {
    match view {
        "sell" => &[&[("promised", 1)], &[("promised", LATE)], &[("promised", -1)]],
        "buy" => &[&[("arrive", -1)], &[("arrive", 1)], &[("arrive", LATE)], &[("price", -100)], &[("price", 1)]],
        _ => &[
            &[("start", -1), ("due", -1)],
            &[("start", -2), ("due", -2)],
            &[("start", 1), ("due", 1)],
            &[("start", 1)],
            &[("due", -1)],
            &[("due", LATE)],
        ],
    }
}
