//! Who asks for what: requests, the tests they must pass, and what customers can pay.

use super::super::shop::{Billing, Deposit, Screen, Source};
use super::recipe::{BillingRecipe, Dice, Ranges, Recipe, Seeded, Test, within};
use benchwright_base::Stream;
use benchwright_project::Discard;

/// A request before it has a name.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Units.
    pub(super) units: i64,
    /// The due day.
    pub(super) due: i64,
    /// The test it fails.
    pub(super) fails: Option<Test>,
    /// The customer's limit, in cents.
    pub(super) limit: i64,
    /// Where it stands.
    pub(super) source: Source,
}

/// What is asked, at which price, and under which terms.
pub(super) struct Demand {
    /// The requests, in the order of their references.
    pub(super) requests: Vec<Request>,
    /// The list price, in cents.
    pub(super) list: i64,
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

    /// Units of requests that pass.
    pub(super) fn units(&self) -> i64 {
        self.passing().map(|request| request.units).sum()
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

    let billing = recipe.billing.as_ref().map(|billing| terms(billing, dice.draw.tier)).transpose()?;
    let passing: Vec<i64> = drawn.iter().filter(|(_, _, fails)| fails.is_none()).map(|(units, _, _)| *units).collect();
    let list = price(&mut round.list, prices, billing.as_ref(), &passing)?;
    let mut sources = sources(&mut round.sources, recipe, &drawn).into_iter();
    let requests = drawn.into_iter().map(|(units, due, fails)| {
        let value = units * list;
        let limit = match fails {
            Some(Test::Limit) => value * round.limits.between(70, 95) / 100 / 100 * 100,
            _ => (value * round.limits.between(102, 112) / 100 + 99) / 100 * 100,
        };
        Request { units, due, fails, limit, source: sources.next().unwrap_or(Source::Brief) }
    });
    Ok(Demand { requests: requests.collect(), list, screen, billing })
}

/// The streams that a second round goes on with.
pub(super) struct Rounds {
    orders: Stream,
    list: Stream,
    limits: Stream,
    sources: Stream,
}

impl Rounds {
    /// The streams of a draw.
    pub(super) fn new(dice: &Dice<'_>) -> Rounds {
        Rounds {
            orders: dice.stream("orders"),
            list: dice.stream("list"),
            limits: dice.stream("limits"),
            sources: dice.stream("sources"),
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

/// A list price in whole dollars; with a deposit, one that puts orders on both sides of its threshold.
fn price(
    stream: &mut Stream,
    (mut low, mut high): (i64, i64),
    billing: Option<&Billing>,
    passing: &[i64],
) -> Result<i64, Discard> {
    if let Some(deposit) = billing.and_then(|billing| billing.deposit.as_ref()) {
        let (least, most) = (passing.iter().min().copied().unwrap_or(1), passing.iter().max().copied().unwrap_or(1));
        let from = deposit.from / 100;
        low = low.max((from + most - 1) / most);
        high = high.min((from - 1) / least);
    }
    if low > high {
        return Err(Discard::Because("D6".to_owned()));
    }
    Ok(stream.between(low, high) * 100)
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
