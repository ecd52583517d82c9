//! Whether a case that was solved makes a good task. What costs nothing is asked first.

use super::super::greedy;
use super::super::shop::{Build, Buy, Role, Shop};
use super::bench::Bench;
use super::laws;
use super::recipe::{Headline, Recipe, Route, Trouble};
use benchwright_project::{Discard, Draw, Family};
use benchwright_schema::Domain;
use benchwright_spec::{Planner, Solved};

/// Throws a case away that makes no good task.
pub(crate) fn accept(
    family: &dyn Family,
    draw: &Draw<'_>,
    shop: &Shop,
    solved: &Solved,
    domain: &Domain,
    planner: &mut dyn Planner,
) -> Result<(), Discard> {
    let recipe = Recipe::of(draw).map_err(Discard::Fault)?;
    let mut bench = Bench::new(family, draw, domain, planner);
    let best = bench.read(shop, solved)?;
    let because = |code: &str| Err(Discard::Because(code.to_owned()));
    let first = best.values.first().copied().unwrap_or(0);
    if shop.objective == "capacity_preservation" && first == 0 {
        return because("S3");
    }
    if shop.repair.is_some() && first <= lost(shop) {
        return because("S4");
    }
    if idle_row(shop, &best.buys, &best.builds) {
        return because("S5");
    }
    let builds = best.builds.iter().any(|build| shop.is_finished(&build.product));
    if recipe.route != Route::Buy && recipe.repair.is_none() && !builds {
        return because("S6");
    }
    if hard_to_guess(draw, shop) {
        let (buys, builds) = greedy::plan(shop);
        if values(shop, &buys, &builds) == best.values {
            return because("S7");
        }
    }
    if matches!(&*shop.objective, "vendor_consolidation" | "capacity_preservation") {
        // Without a plan of least spend there is nothing to compare with.
        let Some(cheapest) = bench.values(shop, "min_new_spend")? else { return because("S1") };
        if values(shop, &cheapest.buys, &cheapest.builds).first().is_none_or(|value| *value <= first) {
            return because("S2");
        }
    }
    if !fills_a_day(shop, &best.builds) {
        return because("S8");
    }
    if recipe.headline.is_empty() || recipe.repair.is_some() {
        return Ok(());
    }
    for headline in &recipe.headline {
        let relaxed = without(shop, *headline);
        let values = match laws::exact(&relaxed) {
            Some(spend) if matches!(&*shop.objective, "min_new_spend" | "constraint_only") => Some(vec![spend]),
            _ => bench.values(&relaxed, &shop.objective)?.map(|best| best.values),
        };
        if values.is_some_and(|values| values != best.values) {
            return Ok(());
        }
    }
    because("S6")
}

/// Whether a plan that takes the cheapest as it comes must not be best: beyond the first tier anywhere; in the first tier where something
/// is measured, unless sorting requests is the work.
fn hard_to_guess(draw: &Draw<'_>, shop: &Shop) -> bool {
    draw.tier != "easy" || (shop.objective != "constraint_only" && shop.screen.is_none())
}

/// The first reason, as far as arithmetic can tell without a solver, to expect that a case makes no good task.
pub(super) fn doubt(draw: &Draw<'_>, recipe: &Recipe, shop: &Shop) -> Option<&'static str> {
    let makes = shop.products.iter().any(|product| product.makes);
    if let Some(trouble) = recipe.repair {
        return (!mendable(shop, trouble, makes)).then_some("S4");
    }
    let spend = laws::exact(shop).filter(|_| matches!(&*shop.objective, "min_new_spend" | "constraint_only"))?;
    let binds = |headline: &Headline| laws::exact(&without(shop, *headline)).is_some_and(|relaxed| relaxed != spend);
    if !recipe.headline.is_empty() && !recipe.headline.iter().any(binds) {
        return Some("S6");
    }
    if hard_to_guess(draw, shop) {
        let (buys, builds) = greedy::plan(shop);
        if values(shop, &buys, &builds) == [spend] {
            return Some("S7");
        }
    }
    None
}

/// Whether a plan could be mended: where nothing is built, after the purchase that the least spend asks for breaks; else
/// after any one supplier or centre is gone.
fn mendable(shop: &Shop, trouble: Trouble, makes: bool) -> bool {
    let left = |vendor: Option<&String>, centre: Option<&String>| {
        let mut left = shop.clone();
        left.offers.retain(|offer| Some(&offer.vendor) != vendor);
        left.options.retain(|option| Some(&option.centre) != centre);
        left
    };
    match trouble {
        Trouble::Supplier if !makes => {
            let Some((_, units)) = laws::purchase(shop) else { return false };
            let most = units.iter().max().copied().unwrap_or(0);
            let broken = shop.offers.iter().zip(units).find(|(_, units)| *units == most);
            broken.is_some_and(|(offer, _)| laws::exact(&left(Some(&offer.vendor), None)).is_some())
        }
        Trouble::Supplier => {
            let mut offers = shop.offers.iter().filter(|o| shop.is_finished(&o.product) && o.lead <= shop.horizon());
            offers.all(|offer| laws::in_time(&left(Some(&offer.vendor), None)))
        }
        Trouble::Centre => shop.centres.iter().all(|centre| laws::in_time(&left(None, Some(&centre.code)))),
    }
}

/// The values of a plan under the case's objective.
fn values(shop: &Shop, buys: &[Buy], builds: &[Build]) -> Vec<i64> {
    let spend = spend(shop, buys, builds);
    match &*shop.objective {
        "vendor_consolidation" => {
            let mut vendors: Vec<&str> = buys.iter().map(|buy| &*buy.vendor).collect();
            vendors.sort_unstable();
            vendors.dedup();
            vec![vendors.len() as i64, spend]
        }
        "capacity_preservation" => {
            vec![builds.iter().map(|build| minutes(shop, build) * build.units).sum(), spend]
        }
        "repair_plan" => vec![distance(shop, buys, builds), spend],
        _ => vec![spend],
    }
}

fn minutes(shop: &Shop, build: &Build) -> i64 {
    let option = shop.options.iter().find(|option| option.product == build.product && option.centre == build.centre);
    option.map_or(0, |option| option.minutes)
}

fn spend(shop: &Shop, buys: &[Buy], builds: &[Build]) -> i64 {
    let bought: i64 = buys.iter().map(|buy| buy.units * buy.price).sum();
    let cost = |build: &Build| {
        let option = shop.options.iter().find(|o| o.product == build.product && o.centre == build.centre);
        option.map_or(0, |option| shop.unit_cost(option)) * build.units
    };
    bought + builds.iter().map(cost).sum::<i64>()
}

/// How far a plan is from the one that stood: finished purchases and builds, unit by unit.
fn distance(shop: &Shop, buys: &[Buy], builds: &[Build]) -> i64 {
    let Some(repair) = &shop.repair else { return 0 };
    let bought = |buys: &[Buy], vendor: &str, product: &str| -> i64 {
        buys.iter().filter(|buy| buy.vendor == vendor && buy.product == product).map(|buy| buy.units).sum()
    };
    let built = |builds: &[Build], product: &str, centre: &str| -> i64 {
        builds.iter().filter(|build| build.product == product && build.centre == centre).map(|build| build.units).sum()
    };
    let pairs =
        shop.vendors.iter().flat_map(|party| shop.finished_goods().map(|known| (&*party.reference, &*known.code)));
    let offers: i64 =
        pairs.map(|(vendor, code)| (bought(buys, vendor, code) - bought(&repair.buys, vendor, code)).abs()).sum();
    let options = shop.options.iter().map(|option| (&*option.product, &*option.centre));
    let work = options.map(|(product, at)| (built(builds, product, at) - built(&repair.builds, product, at)).abs());
    offers + work.sum::<i64>()
}

/// Units that the broken supplier or centre no longer brings.
fn lost(shop: &Shop) -> i64 {
    let Some(repair) = &shop.repair else { return 0 };
    let bought =
        repair.buys.iter().filter(|b| shop.is_finished(&b.product) && Some(&b.vendor) == repair.vendor.as_ref());
    let built = repair.builds.iter().filter(|b| Some(&b.centre) == repair.centre.as_ref());
    bought.map(|buy| buy.units).sum::<i64>() + built.map(|build| build.units).sum::<i64>()
}

/// Whether a row serves nothing: stock goes to the earliest needs, then supplies to needs in the order of days.
pub(super) fn idle_row(shop: &Shop, buys: &[Buy], builds: &[Build]) -> bool {
    shop.products.iter().any(|product| {
        let code = &product.code;
        let mut needed: i64 = shop.demand(code);
        for build in builds {
            needed +=
                shop.bom.iter().filter(|l| l.product == build.product && l.part == *code).map(|l| l.units).sum::<i64>()
                    * build.units;
        }
        let mut left = needed - product.stock;
        let bought = buys.iter().filter(|buy| buy.product == *code).map(|buy| (buy.arrive, buy.units));
        let built = builds.iter().filter(|build| build.product == *code).map(|build| (build.due, build.units));
        let mut supplies: Vec<(i64, i64)> = bought.chain(built).collect();
        supplies.sort_unstable();
        supplies.into_iter().any(|(_, units)| {
            let idle = left <= 0;
            left -= units;
            idle
        })
    })
}

/// Whether a day is full where centres have minutes per start day.
fn fills_a_day(shop: &Shop, builds: &[Build]) -> bool {
    let full = |build: &Build| {
        let same = builds.iter().filter(|other| (&other.centre, other.start) == (&build.centre, build.start));
        let taken: i64 = same.map(|other| minutes(shop, other) * other.units).sum();
        let daily = shop.centres.iter().find(|centre| centre.code == build.centre).and_then(|centre| centre.daily);
        daily.is_some_and(|daily| daily - taken < minutes(shop, build))
    };
    shop.centres.iter().all(|centre| centre.daily.is_none()) || builds.iter().any(full)
}

/// The case without a rule.
fn without(shop: &Shop, headline: Headline) -> Shop {
    let mut shop = shop.clone();
    match headline {
        Headline::Lead => shop.offers.iter_mut().for_each(|offer| offer.lead = 1),
        Headline::Least => shop.offers.iter_mut().for_each(|offer| offer.tiers[0].0 = 1),
        Headline::Most => shop.offers.iter_mut().for_each(|offer| offer.most = None),
        Headline::Span => {
            shop.products.iter_mut().for_each(|product| product.build_days = product.build_days.min(1));
        }
        Headline::Pool => {
            shop.centres.iter_mut().for_each(|centre| centre.minutes = centre.minutes.map(|minutes| minutes * 10));
        }
        Headline::Qualified => {
            let options = shop.options.clone();
            for product in shop.products.iter().filter(|product| product.makes) {
                let Some(usual) = options.iter().find(|option| option.product == product.code) else { continue };
                for centre in &shop.centres {
                    if !options.iter().any(|o| o.product == product.code && o.centre == centre.code) {
                        let mut option = usual.clone();
                        option.centre.clone_from(&centre.code);
                        shop.options.push(option);
                    }
                }
            }
        }
        Headline::Scarce => {
            let takers = |code: &str| shop.bom.iter().filter(|line| line.part == code).count();
            let scarce = |code: &str| shop.product(code).is_some_and(|p| p.role == Role::Part) && takers(code) > 1;
            let most =
                shop.offers.iter().map(|offer| offer.most.filter(|_| !scarce(&offer.product))).collect::<Vec<_>>();
            shop.offers.iter_mut().zip(most).for_each(|(offer, most)| offer.most = most);
        }
        Headline::NeverBought => shop.never_bought = None,
    }
    shop
}
