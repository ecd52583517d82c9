//! Draws cases of the ERP family from the recipes of patterns.
//!
//! All draws are of integers, and every parameter has a stream of its own. Where most draws would be no task, a part of the
//! case is drawn again from the same stream until plain arithmetic finds no fault in it.

mod accept;
mod bench;
mod budget;
mod demand;
mod goods;
mod laws;
mod offers;
mod recipe;
mod repair;
mod surroundings;
mod works;

pub(crate) use self::accept::accept;

use self::bench::Bench;
use self::demand::{Demand, Rounds};
use self::offers::{Item, Quote};
pub(crate) use self::recipe::check;
use self::recipe::{Dice, Ranges, Recipe, Route, Structure, Switch, leaning, share, within};
use self::surroundings::Register;
use self::works::{Size, Works};
use super::shop::{
    Adjacent, BomLine, Centre, Clauses, MakeOption, NeverBought, Offer, Order, OrderLine, Party, Product, Role, Shop,
};
use benchwright_base::Date;
use benchwright_project::{Discard, Draw, Family};
use benchwright_schema::Domain;
use benchwright_spec::Planner;

/// How often the whole of a case, and how often its offers are drawn before a fault is reported.
const ROUNDS: (usize, usize) = (8, 60);

/// Draws a case.
pub(crate) fn draw(
    family: &dyn Family,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
) -> Result<Shop, Discard> {
    let shop = undisturbed(&Dice { draw, replaced: None })?;
    let recipe = Recipe::of(draw).map_err(Discard::Fault)?;
    let ranges = recipe.ranges(draw.tier, draw.objective).map_err(Discard::Fault)?;
    let mut bench = Bench::new(family, draw, domain, planner);
    match recipe.repair {
        Some(trouble) => repair::disturb(shop, trouble, &mut bench),
        None if ranges.on(Switch::Budget) => budget::set(shop, &mut draw.stream("budget"), &mut bench),
        None => Ok(shop),
    }
}

/// Draws a case in which nothing has gone wrong yet.
fn undisturbed(dice: &Dice<'_>) -> Result<Shop, Discard> {
    let recipe = Recipe::of(dice.draw).map_err(Discard::Fault)?;
    let ranges = recipe.ranges(dice.draw.tier, dice.draw.objective).map_err(Discard::Fault)?;
    let (line, names) = goods::line(&recipe.line).map_err(Discard::Fault)?;
    let mut streams = Streams::new(dice);
    let mut rounds = Rounds::new(dice);
    let mut why = "D2";
    for _ in 0..ROUNDS.0 {
        let demand = match demand::draw(dice, &recipe, &ranges, line.price, &mut rounds) {
            Err(Discard::Because(_)) => {
                why = "D6";
                continue;
            }
            other => other?,
        };
        let margin = streams.margin.between(ranges.margin.0 / 50, ranges.margin.1 / 50) * 50;
        let units: Vec<i64> = (0..demand.lists.len()).map(|item| demand.units_of(item)).collect();
        let part = leaning(&mut streams.stock, ranges.stock, ranges.tightness);
        let stock: Vec<i64> = units.iter().map(|units| share(*units, part)).collect();
        // What a bought unit costs, a little below what the margin leaves.
        let part = within(&mut streams.cost, ranges.cost);
        let cost = |list: &i64| list * (10_000 - margin) / 10_000 * 98 / 100 * part / 100;
        let costs: Vec<i64> = demand.lists.iter().map(cost).collect();
        let days = demand.days();
        let gap = demand.units() - stock.iter().sum::<i64>();
        let size = Size { units: &units, demand: demand.units(), gap, cost: costs[0], days: &days };
        if units.iter().zip(&stock).any(|(units, stock)| units - stock < 1) {
            why = "D9";
            continue;
        }
        let works = works::draw(dice, &recipe, &ranges, &size);
        for _ in 0..ROUNDS.1 {
            let goods: Vec<Goods> = (0..units.len())
                .map(|item| (units[item], units[item] - stock[item], costs[item], demand.days_of(item)))
                .collect();
            let quotes = streams.quotes(&recipe, &ranges, &works, &size, &goods)?;
            let parts = Parts { demand: &demand, works: &works, quotes: &quotes, margin, stock: &stock };
            let mut register = Register::new(dice, line, names);
            let mut shop = assemble(dice, &recipe, &ranges, &mut register, &parts, &line.centres)?;
            match laws::fault(&shop).or_else(|| accept::doubt(dice.draw, &recipe, &shop)) {
                Some(code) => why = code,
                None => {
                    if !recipe.lean {
                        let own: Vec<_> = shop.products.iter().map(|known| (known.role, known.name.clone())).collect();
                        shop.adjacent = register.around(dice, &own).ok_or_else(|| short(&recipe))?;
                    }
                    return Ok(shop);
                }
            }
        }
    }
    Err(Discard::Because(why.to_owned()))
}

/// What was drawn, before it has names.
struct Parts<'a> {
    demand: &'a Demand,
    works: &'a Works,
    quotes: &'a [Quote],
    margin: i64,
    stock: &'a [i64],
}

/// Streams that go on from round to round.
struct Streams {
    margin: benchwright_base::Stream,
    stock: benchwright_base::Stream,
    cost: benchwright_base::Stream,
    finished: benchwright_base::Stream,
    others: benchwright_base::Stream,
    parts: benchwright_base::Stream,
}

impl Streams {
    fn new(dice: &Dice<'_>) -> Streams {
        Streams {
            margin: dice.stream("margin"),
            stock: dice.stream("stock"),
            cost: dice.stream("cost"),
            finished: dice.stream("finished offers"),
            others: dice.stream("other finished offers"),
            parts: dice.stream("part offers"),
        }
    }

    /// Quotes for everything that can be bought.
    fn quotes(
        &mut self,
        recipe: &Recipe,
        ranges: &Ranges,
        works: &Works,
        size: &Size<'_>,
        goods: &[Goods],
    ) -> Result<Vec<Quote>, Discard> {
        let mut quotes = Vec::new();
        for (number, (need, gap, cost, days)) in goods.iter().enumerate().filter(|_| recipe.route != Route::Market) {
            let stream = if number == 0 { &mut self.finished } else { &mut self.others };
            let item = Item { product: works.item(number), need: *need, cost: *cost, days, latest: None };
            quotes.extend(offers::finished(stream, ranges, &item, *gap).map_err(Discard::Fault)?);
        }
        // Parts take so much of what a bought unit costs, each its share.
        let budget = size.cost * within(&mut self.parts, ranges.parts_cost) / 100;
        let parts = works.modules + 1..works.modules + 1 + works.parts;
        let weights: Vec<i64> = parts.clone().map(|_| self.parts.between(20, 120)).collect();
        let sum: i64 = weights.iter().sum::<i64>().max(1);
        let last = size.days.last().copied().unwrap_or(0);
        for (part, weight) in parts.zip(weights) {
            let per_unit = works.per_unit(part);
            let need = works.need(part, size.units);
            let item = Item {
                product: part,
                need,
                cost: budget * weight / sum / per_unit.max(1),
                days: size.days,
                latest: Some(last - works.way(part)),
            };
            let scarce = (works.shared == Some(part))
                .then(|| works.target * need / size.demand * self.parts.between(95, 115) / 100);
            quotes.extend(offers::part(&mut self.parts, ranges, &item, scarce).map_err(Discard::Fault)?);
        }
        Ok(quotes)
    }
}

/// A finished product: units asked, units that stock cannot cover, what a unit may cost, and due days.
type Goods = (i64, i64, i64, Vec<i64>);

fn short(recipe: &Recipe) -> Discard {
    Discard::Fault(format!("goods.toml has too few words for {}", recipe.line))
}

/// Gives names to what was drawn.
fn assemble(
    dice: &Dice<'_>,
    recipe: &Recipe,
    ranges: &Ranges,
    register: &mut Register,
    parts: &Parts<'_>,
    centre_names: &[String],
) -> Result<Shop, Discard> {
    let short = || short(recipe);
    let (demand, works) = (parts.demand, parts.works);
    let mut products = products(dice, recipe, register, parts).ok_or_else(short)?;
    let codes: Vec<String> = products.iter().map(|product| product.code.clone()).collect();
    let code = |place: usize| codes[place].clone();
    // Finished goods that were drawn after the parts stand with the first.
    products.sort_by_key(|product| match product.role {
        Role::Finished => 0,
        Role::Module => 1,
        Role::Part => 2,
    });

    let mut customers: Vec<Party> =
        demand.requests.iter().map(|_| register.customer()).collect::<Option<_>>().ok_or_else(short)?;
    let asking = surroundings::regulars(dice, ranges, customers.len());
    let first = dice.stream("references").between(11, 60);
    let orders = demand.requests.iter().zip(&asking).enumerate().map(|(nth, (request, customer))| {
        let lines = request.units.iter().enumerate().filter(|(_, units)| **units > 0);
        Order {
            reference: format!("REQ-{}", first + nth as i64),
            customer: customers[*customer].reference.clone(),
            lines: lines.map(|(item, units)| OrderLine { product: code(works.item(item)), units: *units }).collect(),
            due: request.due,
            limit: request.limit,
            source: request.source,
        }
    });
    let orders: Vec<Order> = orders.collect();
    customers.retain(|party| orders.iter().any(|order| order.customer == party.reference));
    customers.sort_by(|a, b| a.reference.cmp(&b.reference));

    let mut vendors: Vec<Party> =
        parts.quotes.iter().map(|_| register.vendor()).collect::<Option<_>>().ok_or_else(short)?;
    let sellers =
        surroundings::baskets(dice, ranges, &parts.quotes.iter().map(|quote| quote.product).collect::<Vec<_>>());
    let offers = parts.quotes.iter().zip(&sellers).map(|(quote, vendor)| Offer {
        vendor: vendors[*vendor].reference.clone(),
        product: code(quote.product),
        lead: quote.lead,
        most: Some(quote.most),
        tiers: quote.tiers.clone(),
    });
    let mut offers: Vec<Offer> = offers.collect();
    // Offers stand by product, then by supplier, so that their place tells nothing of their class.
    let place = |code: &str| products.iter().position(|product| product.code == code);
    offers.sort_by(|a, b| (place(&a.product), &a.vendor).cmp(&(place(&b.product), &b.vendor)));
    vendors.retain(|party| offers.iter().any(|offer| offer.vendor == party.reference));
    vendors.sort_by(|a, b| a.reference.cmp(&b.reference));

    let stream = &mut dice.stream("centres");
    let prefix = products[0].code.split('-').next().unwrap_or_default().to_owned();
    let centre_codes = goods::numbers(stream, 11, 99);
    let words = goods::shuffled(stream, centre_names);
    let daily = works.daily(dice, ranges);
    let centres: Vec<Centre> = works
        .centres
        .iter()
        .zip(daily)
        .zip(centre_codes.iter().zip(words))
        .map(|(((hourly, minutes), daily), (n, name))| Centre {
            code: format!("{prefix}-W{n}"),
            name: name.to_owned(),
            hourly: *hourly,
            minutes: Some(*minutes),
            daily,
            down: None,
        })
        .collect();
    let option = |(product, centre, minutes): &(usize, usize, i64)| MakeOption {
        product: code(*product),
        centre: centres[*centre].code.clone(),
        minutes: *minutes,
    };
    let line = |(product, part, units): &(usize, usize, i64)| BomLine {
        product: code(*product),
        part: code(*part),
        units: *units,
    };
    let today = anchor(dice, ranges)?;
    let last = demand.days().last().copied().unwrap_or(0);
    let calendar = ranges.on(Switch::Calendar).then(|| surroundings::calendar(dice, ranges, today, last));
    Ok(Shop {
        anchor: today.to_string(),
        objective: dice.draw.objective.to_owned(),
        line: recipe.line.clone(),
        margin: Some(parts.margin),
        budget: None,
        customers,
        orders,
        screen: demand.screen.clone(),
        billing: demand.billing.clone(),
        calendar,
        bom: works.lines.iter().map(line).collect(),
        options: works.options.iter().map(option).collect(),
        products,
        centres,
        groups: Vec::new(),
        vendors,
        offers,
        never_bought: match recipe.route {
            Route::Buy | Route::Both => None,
            Route::Policy => Some(NeverBought::Policy),
            Route::Design => Some(NeverBought::Design),
            Route::Market => Some(NeverBought::Market),
        },
        repair: None,
        adjacent: Adjacent::default(),
        clauses: Clauses::default(),
    })
}

/// The products of the job.
fn products(dice: &Dice<'_>, recipe: &Recipe, register: &mut Register, parts: &Parts<'_>) -> Option<Vec<Product>> {
    let (demand, works) = (parts.demand, parts.works);
    let (cards, on_hand) = (&mut dice.stream("cards"), &mut dice.stream("part stock"));
    let made = recipe.structure != Structure::None;
    let mut products = Vec::new();
    for place in 0..works.places() {
        let item = works.item_at(place);
        let role = match place {
            _ if item.is_some() => Role::Finished,
            _ if place <= works.modules => Role::Module,
            _ => Role::Part,
        };
        let (code, name) = register.product(role)?;
        let percent = cards.between(38, 62);
        let quoted: Vec<i64> =
            parts.quotes.iter().filter(|quote| quote.product == place).map(|quote| quote.tiers[0].1).collect();
        let usual = quoted.iter().sum::<i64>() / (quoted.len() as i64).max(1);
        let (list, cost) = match role {
            Role::Finished => {
                let list = demand.lists[item.unwrap_or(0)];
                (list, list * percent / 100)
            }
            // A module is worth a part of what it goes into.
            Role::Module => (demand.lists[0] * 40 / 100, demand.lists[0] * 40 / 100 * percent / 100),
            Role::Part => (usual * 100 / percent / 10 * 10, usual),
        };
        let units: Vec<i64> = (0..demand.lists.len()).map(|item| demand.units_of(item)).collect();
        let need = works.need(place, &units);
        products.push(Product {
            code,
            name,
            role,
            list,
            cost: cost / 10 * 10,
            stock: match role {
                Role::Finished => parts.stock[item.unwrap_or(0)],
                Role::Module => on_hand.between(0, 3),
                Role::Part => on_hand.between(2, (need / 5).clamp(4, 45)),
            },
            buys: match role {
                Role::Finished => recipe.route != Route::Design,
                Role::Module => false,
                Role::Part => true,
            },
            makes: made && role != Role::Part,
            build_days: if made && role != Role::Part { works.days(place) } else { 0 },
        });
    }
    Some(products)
}

/// Day 0: a Monday of the year 2032, or with a calendar any day of the working week.
fn anchor(dice: &Dice<'_>, ranges: &Ranges) -> Result<Date, Discard> {
    let first = Date::from_civil(2032, 1, 5);
    let weeks = dice.stream("anchor").between(0, 51);
    let weekday = if ranges.on(Switch::Calendar) { dice.stream("weekday").between(0, 4) } else { 0 };
    let day = first.and_then(|first| first.add_days(7 * weeks + weekday));
    day.ok_or_else(|| Discard::Fault("there is no such day".to_owned()))
}

#[cfg(test)]
mod tests;
