//! What a pattern tells the sampler, and the ranges of a tier.

use super::goods;
use benchwright_base::Stream;
use benchwright_project::{Draw, PatternHead};
use benchwright_schema::{KeyFault, Section};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// `[recipe]` of a pattern.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recipe {
    /// The product line, which is a line of `goods.toml`.
    pub(crate) line: String,
    /// Where finished goods come from.
    pub(crate) route: Route,
    /// How the finished product is built.
    #[serde(default)]
    pub(crate) structure: Structure,
    /// How its work is spread over centres.
    #[serde(default)]
    pub(crate) centres: Centres,
    /// The rules one of which at least must make a difference.
    #[serde(default)]
    pub(crate) headline: Vec<Headline>,
    /// The tests that requests must pass.
    #[serde(default)]
    pub(crate) screen: Vec<Test>,
    /// Which requests are in the system as drafts.
    #[serde(default)]
    pub(crate) seeded: Seeded,
    /// How orders are billed.
    #[serde(default)]
    pub(crate) billing: Option<BillingRecipe>,
    /// What goes wrong.
    #[serde(default)]
    pub(crate) repair: Option<Trouble>,
    /// Whether the job's own records are all there is.
    #[serde(default)]
    pub(crate) lean: bool,
    /// What differs from the ranges of the tier.
    #[serde(default)]
    pub(crate) easy: Map<String, Json>,
    /// The same for the medium tier.
    #[serde(default)]
    pub(crate) medium: Map<String, Json>,
    /// The same for the hard tier.
    #[serde(default)]
    pub(crate) hard: Map<String, Json>,
}

/// Where finished goods come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Route {
    /// They are bought.
    Buy,
    /// They are bought or built.
    Both,
    /// They are built, by order of the company.
    Policy,
    /// They are built, for want of a route.
    Design,
    /// They are built, for want of a supplier.
    Market,
}

/// How the finished product is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Structure {
    /// It is not built.
    #[default]
    None,
    /// From parts.
    Single,
    /// From parts and a module that only one centre can build.
    Restricted,
    /// From parts and a module.
    TwoStage,
    /// From two modules and a part.
    Parallel,
    /// From a module that is built from a module.
    Serial,
    /// From two modules that take the same part.
    Shared,
}

/// How work is spread over centres.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Centres {
    /// One centre does it all.
    #[default]
    One,
    /// Each centre costs more than the one before.
    Cheapest,
    /// No centre can do it alone.
    Split,
    /// Not every centre may build everything.
    Qualified,
    /// A centre takes what others cannot.
    Overflow,
    /// One centre for each step.
    Branch,
}

/// A rule that a pattern is about: without it, another plan would be best.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Headline {
    /// Offers take their time.
    Lead,
    /// Offers have a smallest order.
    Least,
    /// Offers have a greatest quantity.
    Most,
    /// Builds take their time.
    Span,
    /// Centres have so many minutes.
    Pool,
    /// Not every centre may build everything.
    Qualified,
    /// A part that two modules take is scarce.
    Scarce,
    /// Finished goods are never bought.
    NeverBought,
}

/// A test of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Test {
    /// The customer's limit covers the list value.
    Limit,
    /// Neither too few nor too many units.
    Window,
    /// Enough days ahead.
    Lead,
}

/// Which requests are drafts in the system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Seeded {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// Some.
    Mixed,
}

/// How orders are billed. A deposit is `fixed` dollars or `percent` of the value, `from` so many dollars by tier.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BillingRecipe {
    /// Days to pay.
    pub(crate) days: i64,
    /// The deposit in dollars.
    #[serde(default)]
    pub(crate) fixed: Option<i64>,
    /// The deposit in percent.
    #[serde(default)]
    pub(crate) percent: Option<i64>,
    /// The value from which it is asked, in dollars, by tier.
    #[serde(default)]
    pub(crate) from: BTreeMap<String, i64>,
}

/// What goes wrong with a plan that stood.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Trouble {
    /// A supplier cancels.
    Supplier,
    /// A centre is down.
    Centre,
}

/// What makes a case more like the world: a switch that a pattern turns on in a tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Switch {
    /// Several finished items, and requests with several lines.
    Lines,
    /// Suppliers who sell several items.
    Basket,
    /// Customers with several requests.
    Regulars,
    /// Closed weekdays and holidays, and any weekday as today.
    Calendar,
    /// Centres with minutes per start day.
    Daily,
    /// Values exactly on their bounds.
    Exact,
    /// A budget that the first measure must make do with.
    Budget,
}

/// The ranges of a tier, both ends included; shares are in ten-thousandths. `tiers.toml` has them all, a pattern those that differ.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Ranges {
    /// The tier whose ranges are meant where a pattern says nothing; its own, if none is named.
    pub(crate) size: Option<String>,
    /// What makes the case more like the world.
    pub(crate) switches: Vec<Switch>,
    /// Finished items, with `lines`.
    pub(crate) items: (i64, i64),
    /// Requests with more than one line, with `lines`.
    pub(crate) several: i64,
    /// Offers of suppliers who sell something else too, with `basket`.
    pub(crate) basket: i64,
    /// Requests of customers who asked for something else too, with `regulars`.
    pub(crate) regulars: i64,
    /// Minutes per start day, of all minutes of a centre, with `daily`.
    pub(crate) daily: (i64, i64),
    /// Closed dates besides weekends, with `calendar`.
    pub(crate) holidays: (i64, i64),
    /// Requests.
    pub(crate) orders: (i64, i64),
    /// Their due days.
    pub(crate) due: (i64, i64),
    /// Units of a request.
    pub(crate) units: (i64, i64),
    /// Finished stock, of the demand.
    pub(crate) stock: (i64, i64),
    /// The capacity of one finished offer, of the demand.
    pub(crate) vendor_capacity: (i64, i64),
    /// The capacity of one part offer, of what the demand takes.
    pub(crate) part_capacity: (i64, i64),
    /// What one centre can build, of the demand.
    pub(crate) build_capacity: (i64, i64),
    /// How far shares lean towards the low end.
    pub(crate) tightness: i64,
    /// The margin.
    pub(crate) margin: (i64, i64),
    /// What a bought unit costs, in percent of what the margin leaves.
    pub(crate) cost: (i64, i64),
    /// What the parts of a unit cost, in percent of that.
    pub(crate) parts_cost: (i64, i64),
    /// How finished offers are priced, in percent of their class.
    pub(crate) finished_cost: (i64, i64),
    /// Suppliers of finished goods.
    pub(crate) finished_vendors: (i64, i64),
    /// Parts of a single-level recipe.
    pub(crate) parts: (i64, i64),
    /// Suppliers of a part.
    pub(crate) part_vendors: (i64, i64),
    /// Whether prices fall with the quantity.
    pub(crate) breaks: bool,
    /// Whether there may be a bulk offer.
    pub(crate) bulk: bool,
    /// All finished offers together, of the demand.
    pub(crate) finished_share_of_demand: Option<(i64, i64)>,
    /// All finished offers that come in time, of what stock cannot cover.
    pub(crate) finished_share_of_gap: Option<(i64, i64)>,
    /// The smallest order of a finished offer, of its maximum: sold in lots.
    pub(crate) lots: Option<(i64, i64)>,
    /// Days that a build of the finished product takes.
    pub(crate) build_days: Option<i64>,
    /// What each centre can build, of what stock cannot cover.
    pub(crate) pools: Option<Vec<i64>>,
}

/// A class of offers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    /// Its name.
    pub(crate) name: String,
    /// Whether an item always has such an offer.
    #[serde(default)]
    pub(crate) always: bool,
    /// Where its lead counts from.
    pub(crate) from: From,
    /// Its lead.
    pub(crate) lead: (i64, i64),
    /// Its price, in percent.
    pub(crate) price: (i64, i64),
    /// Its smallest order.
    pub(crate) least: (i64, i64),
}

/// Where a lead counts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum From {
    /// Day 0.
    Today,
    /// The first due day.
    First,
    /// The median due day.
    Median,
    /// The last due day.
    Last,
}

/// `tiers.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tiers {
    easy: Map<String, Json>,
    medium: Map<String, Json>,
    hard: Map<String, Json>,
    objective: BTreeMap<String, Map<String, Json>>,
    finished: Vec<Class>,
    part: Vec<Class>,
}

/// The names of the tiers.
const NAMES: [&str; 3] = ["easy", "medium", "hard"];

static TIERS: LazyLock<Result<Tiers, String>> =
    LazyLock::new(|| toml::from_str(include_str!("../../tiers.toml")).map_err(|error| format!("tiers.toml: {error}")));

fn tiers() -> Result<&'static Tiers, String> {
    TIERS.as_ref().map_err(Clone::clone)
}

/// The classes of finished offers and of part offers.
pub(crate) fn classes() -> Result<(&'static [Class], &'static [Class]), String> {
    let tiers = tiers()?;
    Ok((&tiers.finished, &tiers.part))
}

/// Tells what is wrong with the tiers and the recipe of a pattern.
pub(crate) fn check(head: &PatternHead, file: &Section<'_>) {
    for (at, cell) in head.cells.iter().enumerate() {
        if !NAMES.contains(&&*cell.tier) {
            let fault = KeyFault::new(["cells", &*at.to_string(), "tier"], format!("there is no tier `{}`", cell.tier));
            file.fault(fault.instead_of(&cell.tier, NAMES));
        }
    }
    let Some(section) = file.get("recipe") else { return };
    if let Some(recipe) = section.read::<Recipe>() {
        let lines = goods::lines();
        if !recipe.line.is_empty() && !lines.contains(&&*recipe.line) {
            let fault = KeyFault::new(["line"], format!("there is no product line `{}`", recipe.line));
            section.fault(fault.instead_of(&recipe.line, lines));
        }
    }
    for tier in NAMES {
        let Some(own) = section.get(tier) else { continue };
        if head.cells.iter().all(|cell| cell.tier != tier) {
            section.fault(KeyFault::new([tier], format!("no cell has the tier `{tier}`")).at_key());
        }
        let size = own.read::<Ranges>().and_then(|ranges| ranges.size);
        if let Some(size) = size.filter(|size| !NAMES.contains(&&**size)) {
            own.fault(KeyFault::new(["size"], format!("there is no tier `{size}`")).instead_of(&size, NAMES));
        }
        for (key, range) in own.read::<Map<String, Json>>().into_iter().flatten() {
            // `pools` is a list with an entry for each centre.
            let ends: Option<(i64, i64)> = serde_json::from_value(range).ok().filter(|_| key != "pools");
            if let Some((low, high)) = ends.filter(|(low, high)| low > high) {
                own.fault(KeyFault::new([&*key], format!("no range goes from {low} to {high}")));
            }
        }
    }
}

impl Ranges {
    /// Whether a switch is on.
    pub(crate) fn on(&self, switch: Switch) -> bool {
        self.switches.contains(&switch)
    }
}

impl Recipe {
    /// The recipe of a pattern.
    pub(crate) fn of(draw: &Draw<'_>) -> Result<Recipe, String> {
        let name = &draw.pattern.name;
        serde_json::from_value(draw.pattern.head.recipe.clone()).map_err(|error| format!("{name}: [recipe]: {error}"))
    }

    /// The ranges in a tier under an objective: those of the tier, or of the one named by `size`, where the pattern does not
    /// say otherwise.
    pub(crate) fn ranges(&self, tier: &str, objective: &str) -> Result<Ranges, String> {
        let (own, family) = (self.own(tier)?, tiers()?);
        let size = own.get("size").and_then(Json::as_str).unwrap_or(tier);
        let mut merged = match size {
            "easy" => family.easy.clone(),
            "medium" => family.medium.clone(),
            "hard" => family.hard.clone(),
            other => return Err(format!("there is no size `{other}`")),
        };
        let of_objective = family.objective.get(objective).into_iter().flatten();
        merged.extend(of_objective.map(|(key, value)| (key.clone(), value.clone())));
        merged.extend(own.iter().filter(|(key, _)| *key != "size").map(|(key, value)| (key.clone(), value.clone())));
        serde_json::from_value(Json::Object(merged)).map_err(|error| format!("ranges of {tier}: {error}"))
    }

    fn own(&self, tier: &str) -> Result<&Map<String, Json>, String> {
        match tier {
            "easy" => Ok(&self.easy),
            "medium" => Ok(&self.medium),
            "hard" => Ok(&self.hard),
            other => Err(format!("there is no tier `{other}`")),
        }
    }

    /// Whether finished goods are never bought.
    pub(crate) fn factory_only(&self) -> bool {
        matches!(self.route, Route::Policy | Route::Design | Route::Market)
    }
}

/// The random streams of a draw. One of them can be replaced, to show that no other moves with it.
pub(crate) struct Dice<'a> {
    /// What is drawn.
    pub(crate) draw: &'a Draw<'a>,
    /// The parameter whose stream is replaced.
    pub(crate) replaced: Option<&'a str>,
}

impl Dice<'_> {
    /// The stream of a parameter.
    pub(crate) fn stream(&self, parameter: &str) -> Stream {
        match self.replaced {
            Some(replaced) if replaced == parameter => self.draw.stream(&format!("{parameter} again")),
            _ => self.draw.stream(parameter),
        }
    }
}

/// A share of a number, rounded down.
pub(crate) fn share(number: i64, ten_thousandths: i64) -> i64 {
    number * ten_thousandths / 10_000
}

/// A number of a range.
pub(crate) fn within(stream: &mut Stream, (low, high): (i64, i64)) -> i64 {
    stream.between(low, high)
}

/// A number of a range, triangular: the tighter, the nearer its peak lies to the low end.
pub(crate) fn leaning(stream: &mut Stream, (low, high): (i64, i64), tightness: i64) -> i64 {
    if low >= high {
        return low;
    }
    let peak = high - share(high - low, tightness);
    loop {
        let at = stream.between(low, high);
        let (height, width) =
            if at <= peak { (at - low + 1, peak - low + 1) } else { (high - at + 1, high - peak + 1) };
        if stream.between(1, width) <= height {
            return at;
        }
    }
}
