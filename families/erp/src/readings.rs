//! Clauses that can be put in two ways. The same case under either reading has the same records and the same words but for the
//! clause, and another best plan; which is why a fixed program, however good, fails one of the twins.

use super::{
    case::{case_of, shop},
    shop::{Bounds, Limits, Shop},
};
use benchwright_project::{Case, Discard, Readings};

/// The clauses, each with the reading that is usual in the family first.
const CLAUSES: &[[&str; 2]] = &[
    ["use-day/same", "use-day/next"],
    ["price-step/all-units", "price-step/units-above"],
    ["limit/before-tax", "limit/with-tax"],
    ["bound/passes", "bound/fails"],
];

/// Taxes in percent that a limit may include. The first that makes a difference is taken.
const TAXES: [i64; 6] = [20, 10, 19, 5, 8, 25];

/// The readings of the family.
pub(crate) struct ErpReadings;

impl Readings for ErpReadings {
    fn clauses(&self) -> &'static [[&'static str; 2]] {
        CLAUSES
    }
    fn read_as(&self, case: &Case, reading: &str) -> Result<Case, Discard> {
        let mut shop = shop(case).map_err(Discard::Fault)?;
        let unconcerned = || Discard::Because("clause unconcerned".to_owned());
        match reading {
            "use-day/same" => {}
            "use-day/next" => shop.clauses.next_day = true,
            "price-step/all-units" => {}
            "price-step/units-above" if shop.offers.iter().any(|offer| offer.tiers.len() > 1) => {
                shop.clauses.above_step = true;
            }
            "price-step/units-above" => return Err(unconcerned()),
            "limit/before-tax" => {
                taxed(&shop).ok_or_else(unconcerned)?;
                shop.clauses.limits = Limits::Net;
            }
            "limit/with-tax" => shop.clauses.limits = Limits::Gross(taxed(&shop).ok_or_else(unconcerned)?),
            "bound/passes" => {
                meet(&mut shop).ok_or_else(unconcerned)?;
                shop.clauses.bound = Bounds::Passes;
            }
            "bound/fails" => {
                meet(&mut shop).ok_or_else(unconcerned)?;
                shop.clauses.bound = Bounds::Fails;
            }
            other => return Err(Discard::Fault(format!("there is no reading `{other}`"))),
        }
        Ok(case_of(&shop))
    }
}

/// A tax under which another set of requests passes the test of money, with some left on both sides.
fn taxed(shop: &Shop) -> Option<i64> {
    shop.screen.as_ref().filter(|screen| screen.limit)?;
    let before = shop.accepted().count();
    TAXES.into_iter().find(|tax| {
        let mut with = shop.clone();
        with.clauses.limits = Limits::Gross(*tax);
        let after = with.accepted().count();
        after >= 2 && after < before
    })
}

/// Moves a bound of intake onto a request that passes: the fewest units, or the day of notice.
fn meet(shop: &mut Shop) -> Option<()> {
    let (units, due) = {
        let accepted = || shop.accepted();
        (accepted().map(|order| order.units()).min()?, accepted().map(|order| order.due).min()?)
    };
    let alone = |met: &dyn Fn(&super::shop::Order) -> bool| shop.accepted().filter(|order| met(order)).count() == 1;
    let (one_by_units, one_by_due) = (alone(&|order| order.units() == units), alone(&|order| order.due == due));
    let screen = shop.screen.as_mut()?;
    match (&mut screen.window, &mut screen.lead) {
        (Some((low, _)), _) if one_by_units => *low = units,
        (_, Some(lead)) if one_by_due => *lead = due,
        _ => return None,
    }
    (shop.accepted().count() >= 3).then_some(())
}
