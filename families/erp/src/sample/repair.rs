//! What goes wrong with a plan that stood.

use super::super::shop::{Repair, Shop};
use super::bench::Bench;
use super::recipe::Trouble;
use super::{accept, laws};
use benchwright_project::Discard;

/// Solves a case for the least spend and breaks the plan: the supplier with the most finished units cancels, or the centre
/// that builds the most of them is down.
pub(super) fn disturb(mut shop: Shop, trouble: Trouble, bench: &mut Bench<'_>) -> Result<Shop, Discard> {
    let because = |code: &str| Discard::Because(code.to_owned());
    let base = bench.best(&shop, "min_new_spend")?.ok_or_else(|| because("S1"))?;
    if accept::idle_row(&shop, &base.buys, &base.builds) {
        return Err(because("S5"));
    }
    let finished = |code: &str| shop.is_finished(code);
    let mut repair = Repair { vendor: None, centre: None, buys: base.buys, builds: base.builds };
    match trouble {
        Trouble::Supplier => {
            let units = |vendor: &str| -> i64 {
                repair.buys.iter().filter(|b| b.vendor == vendor && finished(&b.product)).map(|b| b.units).sum()
            };
            let broken = largest(shop.vendors.iter().map(|party| (&*party.reference, units(&party.reference))));
            repair.vendor = Some(broken.ok_or_else(|| because("S4"))?);
        }
        Trouble::Centre => {
            let units = |centre: &str| -> i64 {
                repair.builds.iter().filter(|b| b.centre == centre && finished(&b.product)).map(|b| b.units).sum()
            };
            let broken = largest(shop.centres.iter().map(|centre| (&*centre.code, units(&centre.code))));
            let broken = broken.ok_or_else(|| because("S4"))?;
            let horizon = shop.horizon();
            for centre in shop.centres.iter_mut().filter(|centre| centre.code == broken) {
                centre.down = Some((0, horizon));
            }
            repair.centre = Some(broken);
        }
    }
    shop.repair = Some(repair);
    // Arithmetic may tell already that nothing can mend it.
    if laws::fault(&laws::without_the_broken(&shop)).is_some() { Err(because("S4")) } else { Ok(shop) }
}

/// The name with the most units, the first of equals; `None` if all have none.
fn largest<'a>(units: impl Iterator<Item = (&'a str, i64)>) -> Option<String> {
    let mut best: Option<(&str, i64)> = None;
    for (name, units) in units.filter(|(_, units)| *units > 0) {
        if best.is_none_or(|(_, known)| units > known) {
            best = Some((name, units));
        }
    }
    best.map(|(name, _)| name.to_owned())
}
