//! Who sells what: classes of offers with their leads, smallest orders, maxima and prices.

use super::recipe::{Class, From, Ranges, classes, leaning, share, within};
use benchwright_base::Stream;

/// An offer before its supplier has a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Quote {
    /// The product, by its place.
    pub(super) product: usize,
    /// Days to delivery.
    pub(super) lead: i64,
    /// The most units.
    pub(super) most: i64,
    /// Units from which a price holds, and the price.
    pub(super) tiers: Vec<(i64, i64)>,
}

/// An item to be quoted.
pub(super) struct Item<'a> {
    /// The product, by its place.
    pub(super) product: usize,
    /// How many units could be of use.
    pub(super) need: i64,
    /// What a unit may cost, in cents.
    pub(super) cost: i64,
    /// Due days of what is asked, ascending.
    pub(super) days: &'a [i64],
    /// No lead is longer.
    pub(super) latest: Option<i64>,
}

/// Quotes for finished goods. `gap` is what stock cannot cover.
pub(super) fn finished(stream: &mut Stream, ranges: &Ranges, item: &Item<'_>, gap: i64) -> Result<Vec<Quote>, String> {
    let bulk = ranges.bulk && item.need >= 30;
    let count = within(stream, ranges.finished_vendors);
    let level = within(stream, ranges.finished_cost);
    let chosen = choose(stream, classes()?.0, count, |class| bulk || class.name != "bulk");
    let mut terms: Vec<Terms<'_>> = chosen.into_iter().map(|class| terms(stream, class, item, level)).collect();
    let ratio = leaning(stream, ranges.vendor_capacity, ranges.tightness);
    let mut total = share(item.need * count, ratio);
    let last = item.days.last().copied().unwrap_or(0);
    let counts: Vec<bool> = terms.iter().map(|terms| terms.lead <= last).collect();
    if let Some(range) = ranges.finished_share_of_demand {
        total = total.min(share(item.need, leaning(stream, range, ranges.tightness)));
    }
    let mut most = spread(stream, &terms, item, total);
    if let Some(range) = ranges.finished_share_of_gap {
        // Only what comes in time can take work off the centres.
        let target = share(gap, within(stream, range));
        let useful: i64 = most.iter().zip(&counts).filter(|(_, counts)| **counts).map(|(most, _)| *most).sum();
        for (most, (terms, _)) in most.iter_mut().zip(terms.iter().zip(&counts)).filter(|(_, (_, counts))| **counts) {
            *most = (*most * target / useful.max(1)).max(terms.least);
        }
    }
    if let Some(range) = ranges.lots {
        for (terms, most) in terms.iter_mut().zip(&most) {
            terms.least = terms.least.max(share(*most, within(stream, range)));
        }
    }
    Ok(quotes(stream, ranges, item, &terms, &most))
}

/// Quotes for a part. `scarce` is the most that all of them hold together.
pub(super) fn part(
    stream: &mut Stream,
    ranges: &Ranges,
    item: &Item<'_>,
    scarce: Option<i64>,
) -> Result<Vec<Quote>, String> {
    let count = within(stream, ranges.part_vendors);
    let chosen = choose(stream, classes()?.1, count, |_| true);
    let noise: Vec<i64> = chosen.iter().map(|_| stream.between(90, 108)).collect();
    let terms: Vec<Terms<'_>> =
        chosen.into_iter().zip(noise).map(|(class, noise)| terms(stream, class, item, noise)).collect();
    let ratio = leaning(stream, ranges.part_capacity, ranges.tightness);
    let total = share(item.need * count, ratio);
    let most = spread(stream, &terms, item, scarce.map_or(total, |scarce| total.max(scarce * 9 / 10).min(scarce)));
    Ok(quotes(stream, ranges, item, &terms, &most))
}

/// What a class asks of an item.
struct Terms<'a> {
    class: &'a Class,
    lead: i64,
    least: i64,
    price: i64,
}

/// Classes for an item: those that it always has, and some others.
fn choose<'a>(stream: &mut Stream, all: &'a [Class], count: i64, may: impl Fn(&Class) -> bool) -> Vec<&'a Class> {
    let mut chosen: Vec<&Class> = all.iter().filter(|class| class.always).collect();
    let mut others: Vec<&Class> = all.iter().filter(|class| !class.always && may(class)).collect();
    stream.shuffle(&mut others);
    chosen.extend(others);
    chosen.truncate(count.max(0) as usize);
    chosen
}

fn terms<'a>(stream: &mut Stream, class: &'a Class, item: &Item<'_>, noise: i64) -> Terms<'a> {
    let days = item.days;
    let from = match class.from {
        From::Today => 0,
        From::First => days.first().copied().unwrap_or(1),
        From::Median => days.get(days.len() / 2).copied().unwrap_or(1),
        From::Last => days.last().copied().unwrap_or(1),
    };
    let lead = (from + within(stream, class.lead)).max(1);
    let lead = item.latest.map_or(lead, |latest| lead.min(latest.max(1)));
    let mut least = within(stream, class.least);
    if class.name == "bulk" {
        least = least.max(item.need / 2);
    }
    // Prices are whole tens of cents.
    let price = (item.cost * within(stream, class.price) * noise / 10_000 + 5) / 10 * 10;
    Terms { class, lead, least: least.clamp(1, (item.need - 1).max(1)), price: price.max(50) }
}

/// Shares a total capacity out: every offer its smallest order, the rest by chance, with weight on cheap and fast offers.
/// None reaches the whole need.
fn spread(stream: &mut Stream, terms: &[Terms<'_>], item: &Item<'_>, total: i64) -> Vec<i64> {
    let least: i64 = terms.iter().map(|terms| terms.least).sum();
    let extra = (total - least).max(0);
    let last = item.latest.or(item.days.last().copied()).unwrap_or(0);
    let weigh = |stream: &mut Stream, terms: &Terms<'_>| {
        let fast = if terms.lead < last { 2 } else { 1 };
        let cheap = if terms.class.price.1 <= 115 { 3 } else { 2 };
        stream.between(20, 120) * fast * cheap
    };
    let weights: Vec<i64> = terms.iter().map(|terms| weigh(stream, terms)).collect();
    let sum: i64 = weights.iter().sum::<i64>().max(1);
    let cut = |(terms, weight): (&Terms<'_>, i64)| {
        (terms.least + extra * weight / sum).clamp(terms.least, (item.need - 1).max(terms.least))
    };
    terms.iter().zip(weights).map(cut).collect()
}

fn quotes(stream: &mut Stream, ranges: &Ranges, item: &Item<'_>, terms: &[Terms<'_>], most: &[i64]) -> Vec<Quote> {
    let quote = |(terms, most): (&Terms<'_>, &i64)| {
        let mut tiers = vec![(terms.least, terms.price)];
        // The draws are made in any case, so that one offer does not shift the next.
        let (second, third) = (stream.chance(6, 10), stream.chance(2, 10));
        for (wanted, cut) in [(second, (2, 8)), (second && third, (2, 5))] {
            let (from, price) = tiers[tiers.len() - 1];
            let step = stream.between(from / 2 + 1, from + 4);
            let lower = (price * (100 - within(stream, cut)) / 100 / 10 * 10).min(price - 10);
            if ranges.breaks && wanted && from + step <= *most && lower > 0 {
                tiers.push((from + step, lower));
            }
        }
        Quote { product: item.product, lead: terms.lead, most: *most, tiers }
    };
    terms.iter().zip(most).map(quote).collect()
}
