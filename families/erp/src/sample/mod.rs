//! Draws cases of the ERP family from the recipes of patterns.
//!
//! All draws are of integers, and every parameter has a stream of its own. Where most draws would be no task, a part of the
//! case is drawn again from the same stream until plain arithmetic finds no fault in it.

mod accept;
mod bench;
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
use self::recipe::{Dice, Ranges, Recipe, Route, Structure, leaning, share, within};
use self::surroundings::Register;
use self::works::{Size, Works};
use super::shop::{
    Adjacent, BomLine, Centre, Clauses, MakeOption, NeverBought, Offer, Order, Party, Product, Role, Shop,
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
    match Recipe::of(draw).map_err(Discard::Fault)?.repair {
        Some(trouble) => repair::disturb(shop, trouble, &mut Bench::new(family, draw, domain, planner)),
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
        let stock = share(demand.units(), leaning(&mut streams.stock, ranges.stock, ranges.tightness));
        // What a bought unit costs, a little below what the margin leaves.
        let cost = demand.list * (10_000 - margin) / 10_000 * 98 / 100 * within(&mut streams.cost, ranges.cost) / 100;
        let days = demand.days();
        let size = Size { demand: demand.units(), gap: demand.units() - stock, cost, days: &days };
        if size.gap < 1 {
            why = "D9";
            continue;
        }
        let works = works::draw(dice, &recipe, &ranges, &size);
        for _ in 0..ROUNDS.1 {
            let quotes = streams.quotes(&recipe, &ranges, &works, &size)?;
            let parts = Parts { demand: &demand, works: &works, quotes: &quotes, margin, stock };
            let mut register = Register::new(dice, line, names);
            let mut shop = assemble(dice, &recipe, &mut register, &parts, &line.centres)?;
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
    stock: i64,
}

/// Streams that go on from round to round.
struct Streams {
    margin: benchwright_base::Stream,
    stock: benchwright_base::Stream,
    cost: benchwright_base::Stream,
    finished: benchwright_base::Stream,
    parts: benchwright_base::Stream,
}

impl Streams {
    fn new(dice: &Dice<'_>) -> Streams {
        Streams {
            margin: dice.stream("margin"),
            stock: dice.stream("stock"),
            cost: dice.stream("cost"),
            finished: dice.stream("finished offers"),
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
    ) -> Result<Vec<Quote>, Discard> {
        let mut quotes = Vec::new();
        if recipe.route != Route::Market {
            let item = Item { product: 0, need: size.demand, cost: size.cost, days: size.days, latest: None };
            quotes = offers::finished(&mut self.finished, ranges, &item, size.gap).map_err(Discard::Fault)?;
        }
        // Parts take so much of what a bought unit costs, each its share.
        let budget = size.cost * within(&mut self.parts, ranges.parts_cost) / 100;
        let parts = works.modules + 1..works.modules + 1 + works.parts;
        let weights: Vec<i64> = parts.clone().map(|_| self.parts.between(20, 120)).collect();
        let sum: i64 = weights.iter().sum::<i64>().max(1);
        let last = size.days.last().copied().unwrap_or(0);
        for (part, weight) in parts.zip(weights) {
            let per_unit = works.per_unit(part);
            let item = Item {
                product: part,
                need: size.demand * per_unit,
                cost: budget * weight / sum / per_unit.max(1),
                days: size.days,
                latest: Some(last - works.way(part)),
            };
            let scarce =
                (works.shared == Some(part)).then(|| works.target * per_unit * self.parts.between(95, 115) / 100);
            quotes.extend(offers::part(&mut self.parts, ranges, &item, scarce).map_err(Discard::Fault)?);
        }
        Ok(quotes)
    }
}

fn short(recipe: &Recipe) -> Discard {
    Discard::Fault(format!("goods.toml has too few words for {}", recipe.line))
}

/// Gives names to what was drawn.
fn assemble(
    dice: &Dice<'_>,
    recipe: &Recipe,
    register: &mut Register,
    parts: &Parts<'_>,
    centre_names: &[String],
) -> Result<Shop, Discard> {
    let short = || short(recipe);
    let (demand, works) = (parts.demand, parts.works);
    let products = products(dice, recipe, register, parts).ok_or_else(short)?;
    let code = |place: usize| products[place].code.clone();

    let mut customers: Vec<Party> =
        demand.requests.iter().map(|_| register.customer()).collect::<Option<_>>().ok_or_else(short)?;
    let first = dice.stream("references").between(11, 60);
    let orders = demand.requests.iter().zip(&customers).enumerate().map(|(nth, (request, customer))| Order {
        reference: format!("REQ-{}", first + nth as i64),
        customer: customer.reference.clone(),
        product: code(0),
        units: request.units,
        due: request.due,
        limit: Some(request.limit),
        source: request.source,
    });
    let orders = orders.collect();
    customers.sort_by(|a, b| a.reference.cmp(&b.reference));

    let mut vendors: Vec<Party> =
        parts.quotes.iter().map(|_| register.vendor()).collect::<Option<_>>().ok_or_else(short)?;
    let offers = parts.quotes.iter().zip(&vendors).map(|(quote, vendor)| Offer {
        vendor: vendor.reference.clone(),
        product: code(quote.product),
        lead: quote.lead,
        most: Some(quote.most),
        tiers: quote.tiers.clone(),
    });
    let mut offers: Vec<Offer> = offers.collect();
    // Offers stand by product, then by supplier, so that their place tells nothing of their class.
    let place = |code: &str| products.iter().position(|product| product.code == code);
    offers.sort_by(|a, b| (place(&a.product), &a.vendor).cmp(&(place(&b.product), &b.vendor)));
    vendors.sort_by(|a, b| a.reference.cmp(&b.reference));

    let stream = &mut dice.stream("centres");
    let prefix = products[0].code.split('-').next().unwrap_or_default().to_owned();
    let centre_codes = goods::numbers(stream, 11, 99);
    let words = goods::shuffled(stream, centre_names);
    let centres: Vec<Centre> = works
        .centres
        .iter()
        .zip(centre_codes.iter().zip(words))
        .map(|((hourly, minutes), (n, name))| Centre {
            code: format!("{prefix}-W{n}"),
            name: name.to_owned(),
            hourly: *hourly,
            minutes: Some(*minutes),
            daily: None,
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
    Ok(Shop {
        anchor: anchor(dice)?,
        objective: dice.draw.objective.to_owned(),
        line: recipe.line.clone(),
        margin: Some(parts.margin),
        budget: None,
        customers,
        orders,
        screen: demand.screen.clone(),
        billing: demand.billing.clone(),
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
    for place in 0..1 + works.modules + works.parts {
        let role = match place {
            0 => Role::Finished,
            _ if place <= works.modules => Role::Module,
            _ => Role::Part,
        };
        let (code, name) = register.product(role)?;
        let percent = cards.between(38, 62);
        let quoted: Vec<i64> =
            parts.quotes.iter().filter(|quote| quote.product == place).map(|quote| quote.tiers[0].1).collect();
        let usual = quoted.iter().sum::<i64>() / (quoted.len() as i64).max(1);
        let (list, cost) = match role {
            Role::Finished => (demand.list, demand.list * percent / 100),
            // A module is worth a part of what it goes into.
            Role::Module => (demand.list * 40 / 100, demand.list * 40 / 100 * percent / 100),
            Role::Part => (usual * 100 / percent / 10 * 10, usual),
        };
        let need = demand.units() * works.per_unit(place);
        products.push(Product {
            code,
            name,
            role,
            list,
            cost: cost / 10 * 10,
            stock: match role {
                Role::Finished => parts.stock,
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

/// Day 0: a Monday of the year 2032.
fn anchor(dice: &Dice<'_>) -> Result<String, Discard> {
    let first = Date::from_civil(2032, 1, 5);
    let weeks = dice.stream("anchor").between(0, 51);
    let day = first.and_then(|first| first.add_days(7 * weeks));
    day.map(|day| day.to_string()).ok_or_else(|| Discard::Fault("there is no such day".to_owned()))
}

#[cfg(test)]
mod tests;
