//! A budget that binds: what the first measure would like to spend is more than there is, and the least spend is within it.

use super::super::shop::Shop;
use super::bench::Bench;
use benchwright_base::Stream;
use benchwright_project::Discard;

/// Gives a case a budget between the least spend and what the best plan by its objective spends without one. It takes the place of
/// the margin, which would only say the same again.
pub(super) fn set(mut shop: Shop, stream: &mut Stream, bench: &mut Bench<'_>) -> Result<Shop, Discard> {
    if !matches!(&*shop.objective, "vendor_consolidation" | "capacity_preservation") {
        return Ok(shop);
    }
    let because = || Discard::Because("S1".to_owned());
    let objective = shop.objective.clone();
    let least = bench.values(&shop, "min_new_spend")?.ok_or_else(because)?;
    let free = bench.values(&shop, &objective)?.ok_or_else(because)?;
    let (Some(least), Some(free)) = (least.values.first().copied(), free.values.last().copied()) else {
        return Err(because());
    };
    // Whole dollars, so that a budget is a plain figure.
    let budget = (least + (free - least) * stream.between(25, 75) / 100 + 99) / 100 * 100;
    if budget >= free {
        return Err(Discard::Because("S6".to_owned()));
    }
    shop.margin = None;
    shop.budget = Some(budget);
    Ok(shop)
}
