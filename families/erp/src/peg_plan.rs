//! The canonical pegs of a plan: which document each purchase and each build serves.
//!
//! Opening stock goes to the earliest needs. Then supplies, earliest first, go to needs, earliest first. On a plan without
//! shortages nothing arrives after the need it is pegged to. A row that would serve nothing takes over one unit that stock
//! or a row with more than one unit covers, so that surplus lies where no document has to be named.

use super::facts;
use super::rows::PlanRows;
use super::shop::Shop;

/// A document that needs something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Need {
    /// A sales order, by its place among the plan's.
    Sell(usize),
    /// A build, by its place among the plan's.
    Build(usize),
}

/// What each row serves, in the order of needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pegs {
    /// For each purchase.
    pub(crate) buys: Vec<Vec<Need>>,
    /// For each build.
    pub(crate) builds: Vec<Vec<Need>>,
}

/// A row that brings units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Supply {
    Buy(usize),
    Build(usize),
}

/// Units of a product that a document needs by a day.
struct Wanted {
    need: Need,
    day: i64,
    units: i64,
}

/// The pegs of a plan.
pub(crate) fn pegs(shop: &Shop, rows: &PlanRows) -> Pegs {
    let mut pegs = Pegs { buys: vec![Vec::new(); rows.buys.len()], builds: vec![Vec::new(); rows.builds.len()] };
    for code in shop.products.iter().map(|product| &*product.code) {
        let needs = needs_of(shop, rows, code);
        let supplies = supplies_of(shop, rows, code);
        for ((supply, _, _), named) in supplies.iter().zip(served(shop, code, &needs, &supplies)) {
            match supply {
                Supply::Buy(row) => pegs.buys[*row] = named,
                Supply::Build(row) => pegs.builds[*row] = named,
            }
        }
    }
    pegs
}

/// Who needs a product, the earliest first: accepted orders where it is sold, builds where it is a part.
fn needs_of(shop: &Shop, rows: &PlanRows, code: &str) -> Vec<Wanted> {
    let key = facts::product(code);
    let taken = |reference: &str| shop.accepted().any(|order| order.reference == reference);
    let mut sells: Vec<usize> =
        (0..rows.sells.len()).filter(|at| rows.sells[*at].product == key && taken(&rows.sells[*at].order)).collect();
    sells.sort_by_key(|at| (rows.sells[*at].promised, &rows.sells[*at].order));
    let mut wanted: Vec<Wanted> = sells
        .into_iter()
        .map(|at| Wanted { need: Need::Sell(at), day: rows.sells[at].promised, units: rows.sells[at].units })
        .collect();
    let per_unit = |at: usize| code_of(&rows.builds[at].product).map_or(0, |product| shop.units_in(product, code));
    let mut builds: Vec<usize> = (0..rows.builds.len()).filter(|at| per_unit(*at) > 0).collect();
    builds.sort_by_key(|at| (rows.builds[*at].start, option_at(shop, rows, *at)));
    wanted.extend(builds.into_iter().map(|at| {
        let build = &rows.builds[at];
        Wanted { need: Need::Build(at), day: build.start, units: per_unit(at) * build.units }
    }));
    wanted.sort_by_key(|wanted| wanted.day);
    wanted
}

/// What brings a product, the earliest first: the day it can be used, and units.
fn supplies_of(shop: &Shop, rows: &PlanRows, code: &str) -> Vec<(Supply, i64, i64)> {
    let key = facts::product(code);
    let buys = (0..rows.buys.len()).filter(|at| rows.buys[*at].product == key);
    let mut buys: Vec<usize> = buys.collect();
    let offer_at = |at: usize| {
        let vendor = &rows.buys[at].vendor;
        shop.offers.iter().position(|offer| offer.product == code && facts::vendor(&offer.vendor) == *vendor)
    };
    buys.sort_by_key(|at| offer_at(*at).unwrap_or(usize::MAX));
    let mut builds: Vec<usize> = (0..rows.builds.len()).filter(|at| rows.builds[*at].product == key).collect();
    builds.sort_by_key(|at| option_at(shop, rows, *at));
    let bought = buys.into_iter().map(|at| (Supply::Buy(at), rows.buys[at].arrive + shop.wait(), rows.buys[at].units));
    let built =
        builds.into_iter().map(|at| (Supply::Build(at), rows.builds[at].due + shop.wait(), rows.builds[at].units));
    let mut supplies: Vec<_> = bought.chain(built).collect();
    supplies.sort_by_key(|(_, day, _)| *day);
    supplies
}

/// The place of a build's option among those of the case.
fn option_at(shop: &Shop, rows: &PlanRows, at: usize) -> usize {
    let build = &rows.builds[at];
    let is = |option: &super::shop::MakeOption| {
        facts::product(&option.product) == build.product && facts::centre(&option.centre) == build.centre
    };
    shop.options.iter().position(is).unwrap_or(usize::MAX)
}

/// The needs that each supply serves.
fn served(shop: &Shop, code: &str, needs: &[Wanted], supplies: &[(Supply, i64, i64)]) -> Vec<Vec<Need>> {
    let mut open: Vec<i64> = needs.iter().map(|wanted| wanted.units).collect();
    let mut stock = shop.product(code).map_or(0, |product| product.stock);
    let mut from_stock = vec![0; needs.len()];
    for (at, open) in open.iter_mut().enumerate() {
        let taken = stock.min(*open).max(0);
        stock -= taken;
        *open -= taken;
        from_stock[at] = taken;
    }
    let mut given = vec![vec![0; needs.len()]; supplies.len()];
    for (row, (_, day, units)) in supplies.iter().enumerate() {
        let mut left = *units;
        for at in (0..needs.len()).filter(|at| needs[*at].day >= *day) {
            let taken = left.min(open[at]).max(0);
            left -= taken;
            open[at] -= taken;
            given[row][at] = taken;
        }
    }
    for row in 0..supplies.len() {
        if given[row].iter().all(|units| *units == 0) {
            take_over(row, supplies[row].1, needs, &mut from_stock, &mut given);
        }
    }
    let name = |row: &Vec<i64>| {
        let named = needs.iter().zip(row).filter(|(_, units)| **units > 0);
        named.map(|(wanted, _)| wanted.need).collect()
    };
    given.iter().map(name).collect()
}

/// Gives one unit to a row that serves nothing: one that stock covers, or one of several that another row covers.
fn take_over(row: usize, day: i64, needs: &[Wanted], from_stock: &mut [i64], given: &mut [Vec<i64>]) {
    let legal = || (0..needs.len()).filter(|at| needs[*at].day >= day);
    if let Some(at) = legal().find(|at| from_stock[*at] > 0) {
        from_stock[at] -= 1;
        given[row][at] = 1;
        return;
    }
    let spare = legal().find_map(|at| (0..given.len()).find(|other| given[*other][at] > 1).map(|other| (at, other)));
    if let Some((at, other)) = spare {
        given[other][at] -= 1;
        given[row][at] = 1;
    }
}

/// The code in the key of a product.
pub(crate) fn code_of(key: &str) -> Option<&str> {
    key.strip_prefix("product/")
}
