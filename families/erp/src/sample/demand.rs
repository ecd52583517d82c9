//! Who asks for what: requests, the tests they must pass, and what customers can pay.

use super::super::shop::{Billing, Deposit, Screen, Source};
use super::recipe::{BillingRecipe, Dice, Ranges, Recipe, Seeded, Switch, Test, within};
use benchwright_base::Stream;
use benchwright_project::Discard;

/// A request before it has a name.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Units of each finished item.
    pub(super) units: Vec<i64>,
    /// The due day.
    pub(super) due: i64,
    /// The test it fails.
    pub(super) fails: Option<Test>,
    /// The customer's limit, in cents, where there is one.
    pub(super) limit: Option<i64>,
    /// Where it stands.
    pub(super) source: Source,
}

/// What is asked, at which price, and under which terms.
pub(super) struct Demand {
    /// The requests, in the order of their references.
    pub(super) requests: Vec<Request>,
    /// The list price of each finished item, in cents.
    pub(super) lists: Vec<i64>,
    /// The tests.
    pub(super) screen: Option<Screen>,
    /// The billing.
    pub(super) billing: Option<Billing>,
}

impl Demand {
    /// The due days of requests that pass, ascending.
    pub(super) fn days(&self) -> Vec<i64> {
        let mut days: Vec<i64> = self.passing().map(|request| request.due).collect();
        days.sort_unstable();
        days
    }

    /// The due days of requests for an item that pass, ascending.
    pub(super) fn days_of(&self, item: usize) -> Vec<i64> {
        let mut days: Vec<i64> = self.passing().filter(|request| request.units[item] > 0).map(|r| r.due).collect();
        days.sort_unstable();
        days
    }

    /// Units of requests that pass.
    pub(super) fn units(&self) -> i64 {
        (0..self.lists.len()).map(|item| self.units_of(item)).sum()
    }

    /// Units of an item in requests that pass.
    pub(super) fn units_of(&self, item: usize) -> i64 {
        self.passing().map(|request| request.units[item]).sum()
    }

    fn passing(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(|request| request.fails.is_none())
    }
}

/// Draws the demand.
pub(super) fn draw(
    dice: &Dice<'_>,
    recipe: &Recipe,
    ranges: &Ranges,
    prices: (i64, i64),
    round: &mut Rounds,
) -> Result<Demand, Discard> {
    let stream = &mut round.orders;
    let screen = (!recipe.screen.is_empty()).then(|| screen(stream, &recipe.screen, ranges));
    let count = within(stream, ranges.orders);
    let rejected = rejected(stream, &recipe.screen, count);
    let units = screen.as_ref().and_then(|screen| screen.window).unwrap_or(ranges.units);
    let first = screen.as_ref().and_then(|screen| screen.lead).unwrap_or(ranges.due.0);
    let due = (first, ranges.due.1);
    let mut drawn: Vec<(i64, i64, Option<Test>)> = Vec::new();
    for test in rejected {
        let mut request = (within(stream, units), within(stream, due), Some(test));
        match test {
            Test::Window if stream.chance(1, 2) && units.0 > ranges.units.0 => {
                request.0 = stream.between(ranges.units.0, units.0 - 1);
            }
            Test::Window => request.0 = stream.between(units.1 + 1, ranges.units.1),
            Test::Lead => request.1 = stream.between(ranges.due.0, first - 1),
            Test::Limit => {}
        }
        drawn.push(request);
    }
    let mut days: Vec<i64> = (drawn.len() as i64..count).map(|_| within(stream, due)).collect();
    days.sort_unstable();
    let sizes = split(stream, days.len() as i64, units);
    drawn.extend(sizes.into_iter().zip(days).map(|(units, due)| (units, due, None)));
    stream.shuffle(&mut drawn);
    if ranges.on(Switch::Exact) {
        on_the_bounds(&mut round.exact, screen.as_ref(), &mut drawn);
    }

    let billing = recipe.billing.as_ref().map(|billing| terms(billing, dice.draw.tier)).transpose()?;
    let passing: Vec<i64> = drawn.iter().filter(|(_, _, fails)| fails.is_none()).map(|(units, _, _)| *units).collect();
    let exact = ranges.on(Switch::Exact) && !ranges.on(Switch::Lines);
    let list = price(&mut round.list, prices, billing.as_ref(), &passing, exact)?;
    let lists = lists(&mut round.items, ranges, list);
    let mut sources = sources(&mut round.sources, recipe, &drawn).into_iter();
    let screened = recipe.screen.contains(&Test::Limit);
    let mut requests = Vec::new();
    for (nth, (units, due, fails)) in drawn.into_iter().enumerate() {
        let units = lines(&mut round.items, ranges, nth, lists.len(), units);
        let value: i64 = units.iter().zip(&lists).map(|(units, list)| units * list).sum();
        let limit = match fails {
            Some(Test::Limit) => value * round.limits.between(70, 95) / 100 / 100 * 100,
            _ => (value * round.limits.between(102, 112) / 100 + 99) / 100 * 100,
        };
        // A limit that nothing can reach is not told.
        let limit = (screened || ranges.on(Switch::Exact)).then_some(limit);
        requests.push(Request { units, due, fails, limit, source: sources.next().unwrap_or(Source::Brief) });
    }
    if ranges.on(Switch::Exact) {
        exact_limits(&mut round.exact, &lists, screened, &mut requests);
    }
    if (0..lists.len()).any(|item| requests.iter().all(|r| r.fails.is_some() || r.units[item] == 0)) {
        return Err(Discard::Because("D6".to_owned()));
    }
    Ok(Demand { requests, lists, screen, billing })
}

/// The list prices of all finished items.
fn lists(stream: &mut Stream, ranges: &Ranges, first: i64) -> Vec<i64> {
    let mut lists = vec![first];
    if ranges.on(Switch::Lines) {
        let more = within(stream, ranges.items) - 1;
        lists.extend((0..more).map(|_| first * stream.between(80, 125) / 100 / 100 * 100));
    }
    lists
}

/// The units of a request, split over items: each item is the first of some request, and some ask for another one too.
fn lines(stream: &mut Stream, ranges: &Ranges, nth: usize, items: usize, units: i64) -> Vec<i64> {
    let mut split = vec![0; items];
    let first = nth % items;
    split[first] = units;
    if items > 1 {
        let other = (first + stream.between(1, items as i64 - 1) as usize) % items;
        let wanted = nth == 0 || stream.between(1, 10_000) <= ranges.several;
        let part = units * stream.between(25, 60) / 100;
        if wanted && part > 0 && part < units {
            (split[first], split[other]) = (units - part, part);
        }
    }
    split
}

/// Moves a request that passes onto each bound of the intake, and one that fails next to it.
fn on_the_bounds(stream: &mut Stream, screen: Option<&Screen>, drawn: &mut [(i64, i64, Option<Test>)]) {
    let Some(screen) = screen else { return };
    let mut passing: Vec<usize> = (0..drawn.len()).filter(|at| drawn[*at].2.is_none()).collect();
    stream.shuffle(&mut passing);
    let mut passing = passing.into_iter();
    let upper = stream.chance(1, 2);
    if let (Some((low, high)), Some(at)) = (screen.window, passing.next()) {
        drawn[at].0 = if upper { high } else { low };
        for failing in drawn.iter_mut().filter(|(_, _, fails)| *fails == Some(Test::Window)).take(1) {
            failing.0 = if failing.0 < low { low - 1 } else { high + 1 };
        }
    }
    if let (Some(lead), Some(at)) = (screen.lead, passing.next()) {
        drawn[at].1 = lead;
        for failing in drawn.iter_mut().filter(|(_, _, fails)| *fails == Some(Test::Lead)).take(1) {
            failing.1 = lead - 1;
        }
    }
}

/// Gives requests that pass a limit of exactly their value; where limits are a test, one that fails misses it by a dollar. Where
/// they are none, only some requests name one.
fn exact_limits(stream: &mut Stream, lists: &[i64], screened: bool, requests: &mut [Request]) {
    let value = |request: &Request| -> i64 { request.units.iter().zip(lists).map(|(units, list)| units * list).sum() };
    let mut passing: Vec<usize> = (0..requests.len()).filter(|at| requests[*at].fails.is_none()).collect();
    stream.shuffle(&mut passing);
    for (nth, at) in passing.into_iter().enumerate() {
        if nth < 2 {
            requests[at].limit = Some(value(&requests[at]));
        } else if !screened && stream.chance(1, 2) {
            requests[at].limit = None;
        }
    }
    for failing in requests.iter_mut().filter(|request| request.fails == Some(Test::Limit)).take(1) {
        failing.limit = Some(value(failing) - 100);
    }
}

/// The streams that a second round goes on with.
pub(super) struct Rounds {
    orders: Stream,
    list: Stream,
    limits: Stream,
    sources: Stream,
    items: Stream,
    exact: Stream,
}

impl Rounds {
    /// The streams of a draw.
    pub(super) fn new(dice: &Dice<'_>) -> Rounds {
        Rounds {
            orders: dice.stream("orders"),
            list: dice.stream("list"),
            limits: dice.stream("limits"),
            sources: dice.stream("sources"),
            items: dice.stream("items"),
            exact: dice.stream("exact"),
        }
    }
}

/// Draws the tests, each a little narrower than the range of its tier.
fn screen(stream: &mut Stream, tests: &[Test], ranges: &Ranges) -> Screen {
    let (low, high) = ranges.units;
    let slack = ((high - low) / 4).max(1);
    let window = (stream.between(low + 1, low + slack), stream.between(high - slack, high - 1));
    let (first, last) = ranges.due;
    let lead = stream.between(first + 1, first + ((last - first) / 3).max(1));
    Screen {
        window: tests.contains(&Test::Window).then_some(window),
        lead: tests.contains(&Test::Lead).then_some(lead),
        limit: tests.contains(&Test::Limit),
    }
}

/// Which tests are failed, each by one request at least, and nothing by two.
fn rejected(stream: &mut Stream, tests: &[Test], count: i64) -> Vec<Test> {
    let mut rejected = tests.to_vec();
    if tests.is_empty() {
        return rejected;
    }
    // A small backlog has no room for more; a large one has room for several.
    let room = (count - tests.len() as i64 - 3).clamp(0, 1 + count / 8);
    let more = stream.between(i64::from(tests.len() == 1 && room > 0), room);
    rejected.extend((0..more).filter_map(|_| stream.pick(tests).copied()));
    rejected
}

/// Sizes of requests: a total, split by weights that rise with the due day.
fn split(stream: &mut Stream, count: i64, (low, high): (i64, i64)) -> Vec<i64> {
    let room = (high - low) * count;
    let total = low * count + stream.between(room * 3 / 10, room * 7 / 10);
    let weight = |stream: &mut Stream, at: i64| 7000 + 6000 * at / (count - 1).max(1) + stream.between(-2500, 2500);
    let weights: Vec<i64> = (0..count).map(|at| weight(stream, at)).collect();
    let sum: i64 = weights.iter().sum::<i64>().max(1);
    let mut sizes: Vec<i64> = weights.iter().map(|weight| (total * weight / sum).clamp(low, high)).collect();
    // What rounding and clamping left over goes where there is room.
    let mut left = total - sizes.iter().sum::<i64>();
    for _ in 0..room.max(0) {
        let Some(size) = (left != 0).then(|| stream.between(0, count - 1) as usize).and_then(|at| sizes.get_mut(at))
        else {
            break;
        };
        let step = left.signum();
        if (low..=high).contains(&(*size + step)) {
            *size += step;
            left -= step;
        }
    }
    sizes
}

/// The terms of billing in a tier.
fn terms(recipe: &BillingRecipe, tier: &str) -> Result<Billing, Discard> {
    let mut deposit = None;
    if recipe.fixed.is_some() || recipe.percent.is_some() {
        let from =
            recipe.from.get(tier).ok_or_else(|| Discard::Fault(format!("billing.from says nothing of {tier}")))?;
        deposit = Some(Deposit {
            from: from * 100,
            fixed: recipe.fixed.map(|dollars| dollars * 100),
            percent: recipe.percent,
        });
    }
    Ok(Billing { days: recipe.days, deposit })
}

/// A list price in whole dollars; with a deposit, one that puts orders on both sides of its threshold, or one of them exactly
/// on it.
fn price(
    stream: &mut Stream,
    (mut low, mut high): (i64, i64),
    billing: Option<&Billing>,
    passing: &[i64],
    exact: bool,
) -> Result<i64, Discard> {
    let mut on_it = Vec::new();
    if let Some(deposit) = billing.and_then(|billing| billing.deposit.as_ref()) {
        let (least, most) = (passing.iter().min().copied().unwrap_or(1), passing.iter().max().copied().unwrap_or(1));
        let from = deposit.from / 100;
        low = low.max((from + most - 1) / most);
        high = high.min((from - 1) / least);
        let fits = |units: &&i64| exact && from % **units == 0 && (low..=high).contains(&(from / **units));
        on_it.extend(passing.iter().filter(fits).map(|units| from / units));
    }
    if low > high {
        return Err(Discard::Because("D6".to_owned()));
    }
    let dollars = stream.between(low, high);
    Ok(stream.pick(&on_it).copied().unwrap_or(dollars) * 100)
}

/// Where requests stand: with a mixed intake, drafts and listed ones among those that pass and those that fail.
fn sources(stream: &mut Stream, recipe: &Recipe, drawn: &[(i64, i64, Option<Test>)]) -> Vec<Source> {
    if recipe.repair.is_some() {
        return vec![Source::Confirmed; drawn.len()];
    }
    let plain = match recipe.seeded {
        Seeded::All => Source::Draft,
        Seeded::None | Seeded::Mixed => Source::Brief,
    };
    let mut sources = vec![plain; drawn.len()];
    if recipe.seeded == Seeded::Mixed {
        for (passes, first) in [(true, Source::Brief), (false, Source::Draft)] {
            let mut group: Vec<usize> = (0..drawn.len()).filter(|at| drawn[*at].2.is_none() == passes).collect();
            stream.shuffle(&mut group);
            for (nth, at) in group.into_iter().enumerate() {
                let other = if first == Source::Brief { Source::Draft } else { Source::Brief };
                sources[at] = match nth {
                    0 => first,
                    1 => other,
                    _ if stream.chance(1, 2) => Source::Draft,
                    _ => Source::Brief,
                };
            }
        }
    }
    sources
}
