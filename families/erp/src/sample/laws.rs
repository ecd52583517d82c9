//! What can be said of a case without solving it: the laws of its data, and plain reasons why it is no task.

use super::super::shop::{Product, Role, Shop, Source};
use std::collections::{BTreeMap, BTreeSet};

/// A reason to throw a case away: its code, and whether it holds.
type Test = (&'static str, fn(&Shop) -> bool);

/// The first reason to throw a case away, by code.
pub(crate) fn fault(shop: &Shop) -> Option<&'static str> {
    let tests: [Test; 9] = [
        ("D8", |shop| shop.offers.iter().any(|offer| offer.most.is_some_and(|most| most < offer.tiers[0].0))),
        ("D7", |shop| {
            let rising = |pair: &[(i64, i64)]| pair[0].0 >= pair[1].0 || pair[0].1 <= pair[1].1;
            shop.offers.iter().any(|offer| offer.tiers.windows(2).any(rising))
        }),
        ("D5", |shop| !screened(shop)),
        ("D6", |shop| !deposits(shop)),
        ("D9", |shop| shop.uncovered() == 0),
        ("D1", |shop| {
            shop.products.iter().any(|product| product.role == Role::Part && reach(shop, &product.code, 99) == 0)
        }),
        ("D3", |shop| {
            shop.finished_goods().any(|known| reach(shop, &known.code, shop.horizon()) < shop.demand(&known.code))
        }),
        ("D2", |shop| !in_time(shop)),
        ("D4", |shop| shop.spend_cap().is_some_and(|cap| least_spend(shop).is_none_or(|spend| spend > cap))),
    ];
    tests.iter().find(|(_, fails)| fails(shop)).map(|(code, _)| *code)
}

/// Whether the screening has something to take and something to decline, each test by itself.
fn screened(shop: &Shop) -> bool {
    let Some(screen) = &shop.screen else { return shop.declined().next().is_none() };
    let alone = |keep: fn(&mut super::super::shop::Screen)| {
        let mut without = shop.clone();
        if let Some(screen) = &mut without.screen {
            keep(screen);
        }
        // A request that only this test declines.
        shop.declined().any(|order| without.accepts(order))
    };
    let mixed = shop.orders.iter().any(|order| order.source == Source::Brief);
    shop.accepted().next().is_some()
        && shop.declined().any(|order| order.source == Source::Draft)
        && (!mixed || shop.accepted().any(|order| order.source == Source::Brief))
        && (screen.window.is_none() || alone(|screen| screen.window = None))
        && (screen.lead.is_none() || alone(|screen| screen.lead = None))
        && (!screen.limit || alone(|screen| screen.limit = false))
}

/// Whether orders stand on both sides of the deposit's threshold, and something is left to bill after it.
fn deposits(shop: &Shop) -> bool {
    if shop.billing.as_ref().is_none_or(|billing| billing.deposit.is_none()) {
        return true;
    }
    let due = |due: bool| shop.accepted().any(|order| shop.deposit(order).is_some() == due);
    due(true)
        && due(false)
        && shop.accepted().all(|order| shop.deposit(order).is_none_or(|cents| cents < shop.value(order)))
}

/// At the most so many units of a product can be there by a day: stock, what arrives, and what can be built of what arrives.
pub(crate) fn reach(shop: &Shop, code: &str, day: i64) -> i64 {
    let Some(product) = shop.product(code).filter(|_| day >= 0) else { return 0 };
    let offers =
        shop.offers.iter().filter(|offer| offer.product == code && shop.usable(offer) <= day && shop.may_buy(code));
    let bought: i64 = offers.map(|offer| offer.most.unwrap_or(1_000_000)).sum();
    let mut built = 0;
    if product.makes
        && let Some(start) = shop.last_start(day, product.build_days)
    {
        let minutes = |centre: &str| shop.centres.iter().find(|c| c.code == centre).and_then(|c| c.minutes);
        let options = shop.options.iter().filter(|option| option.product == code);
        built = options.map(|option| minutes(&option.centre).unwrap_or(1_000_000) / option.minutes).sum();
        for line in shop.bom.iter().filter(|line| line.product == code) {
            built = built.min(reach(shop, &line.part, start) / line.units);
        }
    }
    product.stock + bought + built
}

/// Whether every due day could be met if all sources were free for it.
pub(crate) fn in_time(shop: &Shop) -> bool {
    let days: BTreeSet<i64> = shop.accepted().map(|order| order.due).collect();
    let in_time = |code: &str| days.iter().all(|day| reach(shop, code, *day) >= asked(shop, code, *day));
    shop.finished_goods().all(|known| in_time(&known.code))
}

/// Units of a product that are due by a day.
fn asked(shop: &Shop, code: &str, day: i64) -> i64 {
    shop.accepted().filter(|order| order.due <= day).map(|order| order.asked(code)).sum()
}

/// No plan spends less. Where nothing is built it is the least spend itself; `None` if there is no plan.
pub(crate) fn least_spend(shop: &Shop) -> Option<i64> {
    if shop.products.iter().any(|product| product.makes) {
        let mut memo = BTreeMap::new();
        let mut spend = 0;
        for known in shop.finished_goods() {
            spend += cheapest(shop, &known.code, &mut memo)? * shop.short(known);
        }
        return Some(spend);
    }
    purchase(shop).map(|(spend, _)| spend)
}

/// The least spend where nothing is built, and the units of each offer; `None` if no purchase covers the need in time.
pub(crate) fn purchase(shop: &Shop) -> Option<(i64, Vec<i64>)> {
    let mut all = (0, vec![0; shop.offers.len()]);
    for known in shop.finished_goods() {
        let (spend, units) = purchase_of(shop, known)?;
        all.0 += spend;
        all.1.iter_mut().zip(units).for_each(|(all, units)| *all += units);
    }
    Some(all)
}

/// The same for one finished product.
fn purchase_of(shop: &Shop, known: &Product) -> Option<(i64, Vec<i64>)> {
    // Least cost of having at least so many units, offer by offer in the order of arrival.
    let (gap, stock) = (shop.short(known), known.stock);
    let size = usize::try_from(gap).ok()?;
    let mut cost: Vec<Option<i64>> = vec![None; size + 1];
    cost[0] = Some(0);
    let ready = |at: usize| shop.usable(&shop.offers[at]);
    let ours = |at: &usize| shop.offers[*at].product == known.code && ready(*at) <= shop.horizon();
    let mut order: Vec<usize> = (0..shop.offers.len()).filter(ours).collect();
    order.sort_by_key(|at| ready(*at));
    let starve = |cost: &mut Vec<Option<i64>>, day: i64| {
        let needed = usize::try_from((asked(shop, &known.code, day) - stock).max(0)).unwrap_or(0);
        cost.iter_mut().take(needed.min(size + 1)).for_each(|cell| *cell = None);
    };
    // For each offer and amount: what was there before it, and the units it brings.
    let mut steps: Vec<Vec<(usize, i64)>> = Vec::new();
    for at in &order {
        let offer = &shop.offers[*at];
        starve(&mut cost, ready(*at) - 1);
        let before = cost.clone();
        let mut step: Vec<(usize, i64)> = (0..=size).map(|have| (have, 0)).collect();
        let (least, last) = (offer.tiers[0].0, offer.tiers[offer.tiers.len() - 1].0);
        for (have, cents) in before.iter().enumerate() {
            let Some(cents) = cents else { continue };
            for units in least..=offer.most.unwrap_or(gap.max(last)).min(gap.max(last)) {
                let price = offer.tiers.iter().rev().find(|(from, _)| *from <= units).map_or(0, |(_, price)| *price);
                let to = (have + units as usize).min(size);
                let total = cents + units * price;
                if cost[to].is_none_or(|known| total < known) {
                    (cost[to], step[to]) = (Some(total), (have, units));
                }
            }
        }
        steps.push(step);
    }
    starve(&mut cost, shop.horizon());
    let spend = cost[size]?;
    let mut units = vec![0; shop.offers.len()];
    let mut have = size;
    for (at, step) in order.iter().zip(&steps).rev() {
        let (before, taken) = step[have];
        units[*at] = taken;
        have = before;
    }
    Some((spend, units))
}

/// The least spend of a case in which nothing can be built; `None` where something can, or there is no plan within the margin.
pub(crate) fn exact(shop: &Shop) -> Option<i64> {
    if shop.products.iter().any(|product| product.makes) {
        return None;
    }
    least_spend(shop).filter(|spend| shop.spend_cap().is_none_or(|cap| *spend <= cap))
}

/// A disturbed case as it is left: without the offers of the supplier that cancelled and the options of the centre that is
/// down.
pub(crate) fn without_the_broken(shop: &Shop) -> Shop {
    let mut left = shop.clone();
    if let Some(repair) = &shop.repair {
        left.offers.retain(|offer| Some(&offer.vendor) != repair.vendor.as_ref());
        left.options.retain(|option| Some(&option.centre) != repair.centre.as_ref());
    }
    left
}

/// The cheapest conceivable unit of a product.
fn cheapest<'a>(shop: &'a Shop, code: &'a str, memo: &mut BTreeMap<&'a str, Option<i64>>) -> Option<i64> {
    if let Some(known) = memo.get(code) {
        return *known;
    }
    let offers = shop.offers.iter().filter(|offer| offer.product == code && shop.may_buy(code));
    let bought = offers.filter_map(|offer| offer.tiers.last()).map(|(_, price)| *price).min();
    let work = shop.options.iter().filter(|option| option.product == code).map(|option| shop.unit_cost(option)).min();
    let mut built = work;
    for line in shop.bom.iter().filter(|line| line.product == code) {
        // Parts on hand are free, but no more than a sliver of the need; a bound must not count on buying them.
        let stock = shop.product(&line.part).map_or(0, |part| part.stock);
        let unit = cheapest(shop, &line.part, memo);
        // Where several finished products take a part, its stock is counted for the smallest need, which is no less than fair.
        let least = shop.finished_goods().map(|known| shop.short(known)).min().unwrap_or(0).max(1);
        let paid = (line.units * least - stock).max(0);
        built = match (built, unit) {
            (Some(built), Some(unit)) => Some(built + unit * paid / least),
            _ => None,
        };
    }
    let best = [bought, built].into_iter().flatten().min();
    memo.insert(code, best);
    best
}

/// The laws that the data of every case keep; the first one broken, in words.
#[cfg(test)]
pub(crate) fn broken(shop: &Shop) -> Option<String> {
    let mut seen = BTreeSet::new();
    let around = &shop.adjacent;
    let parties = shop.customers.iter().chain(&shop.vendors).chain(&around.customers).chain(&around.vendors);
    let references = parties.map(|party| party.reference.clone());
    let codes = shop.products.iter().map(|product| product.code.clone());
    let codes = codes.chain(around.products.iter().map(|product| product.code.clone()));
    let others = shop.orders.iter().map(|order| order.reference.clone());
    let centres = shop.centres.iter().map(|centre| centre.code.clone());
    for name in references.chain(codes).chain(others).chain(centres) {
        if !seen.insert(name.clone()) {
            return Some(format!("`{name}` stands twice"));
        }
    }
    let mut offered = BTreeSet::new();
    for offer in &shop.offers {
        let rising = offer.tiers.windows(2).any(|pair| pair[0].0 >= pair[1].0 || pair[0].1 <= pair[1].1);
        let (Some(first), Some(last)) = (offer.tiers.first(), offer.tiers.last()) else {
            return Some(format!("the offer of {} has no price", offer.vendor));
        };
        if rising || first.0 < 1 || last.1 < 1 || offer.lead < 1 || offer.most.is_some_and(|most| most < last.0) {
            return Some(format!("the offer of {} on {} is no offer", offer.vendor, offer.product));
        }
        if !offered.insert((&offer.vendor, &offer.product)) {
            return Some(format!("{} offers {} twice", offer.vendor, offer.product));
        }
        if shop.product(&offer.product).is_none() {
            return Some(format!("{} is offered and not there", offer.product));
        }
    }
    for option in &shop.options {
        let Some(centre) = shop.centres.iter().find(|centre| centre.code == option.centre) else {
            return Some(format!("there is no centre {}", option.centre));
        };
        if option.minutes < 6 || option.minutes % 6 != 0 || centre.hourly < 1 {
            return Some(format!("a unit at {} does not cost whole cents", option.centre));
        }
    }
    for product in &shop.products {
        let made = shop.options.iter().any(|option| option.product == product.code);
        let lines = shop.bom.iter().filter(|line| line.product == product.code);
        let sound = lines.clone().all(|line| line.units >= 1) && (lines.count() > 0) == product.makes;
        if product.makes != made || product.makes != (product.build_days > 0) || !sound || product.stock < 0 {
            return Some(format!("{} is made or it is not", product.code));
        }
        if (product.list < 1, product.cost < 1) != (false, false) {
            return Some(format!("{} has no price", product.code));
        }
    }
    // Products stand before what they consist of.
    let place = |code: &str| shop.products.iter().position(|product| product.code == code);
    for line in &shop.bom {
        if place(&line.product).zip(place(&line.part)).is_none_or(|(product, part)| product >= part) {
            return Some(format!("{} stands before what takes it", line.part));
        }
    }
    for order in &shop.orders {
        let value = shop.value(order);
        let percent = shop.billing.as_ref().and_then(|billing| billing.deposit.as_ref()?.percent).unwrap_or(0);
        if value * percent % 100 != 0 || order.lines.iter().any(|line| line.units < 1) || order.due < 1 {
            return Some(format!("{} is no order", order.reference));
        }
        let twice = |line: &super::super::shop::OrderLine| {
            order.lines.iter().filter(|other| other.product == line.product).count() != 1
        };
        if order.lines.is_empty() || order.lines.iter().any(|line| !shop.is_finished(&line.product) || twice(line)) {
            return Some(format!("{} has lines that are none", order.reference));
        }
        if shop.customers.iter().filter(|party| party.reference == order.customer).count() != 1 {
            return Some(format!("{} is nobody's order", order.reference));
        }
        if shop.accepts(order) && order.limit.is_some_and(|limit| limit < value) {
            return Some(format!("{} is taken above the customer's limit", order.reference));
        }
    }
    None
}
