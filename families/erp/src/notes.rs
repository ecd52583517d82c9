//! Notes on partners and work centres: what their records have no field for, one fact a line, in sentences that can be read
//! back without guessing.

use super::shop::{Calendar, Centre, Shop};
use benchwright_base::Date;

/// The date of a day of the plan.
pub(crate) fn date_of(shop: &Shop, day: i64) -> Result<Date, String> {
    let anchor = Date::parse(&shop.anchor).ok_or_else(|| format!("`{}` is no date", shop.anchor))?;
    anchor.add_days(day).ok_or_else(|| format!("day {day} is outside the calendar"))
}

/// The system parameters that say when the company is closed: key and value, each a list with commas.
pub(crate) fn calendar(calendar: &Calendar) -> [(&'static str, String); 2] {
    const NAMES: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let weekdays: Vec<&str> =
        calendar.weekdays.iter().filter_map(|day| NAMES.get(usize::from(*day)).copied()).collect();
    [("planning.closed_weekdays", weekdays.join(", ")), ("planning.closed_dates", calendar.dates.join(", "))]
}

/// The note on a supplier: the most units of each item it lists, and whether it has withdrawn.
pub(crate) fn vendor(shop: &Shop, reference: &str) -> Option<String> {
    let ours = shop.offers.iter().filter(|offer| offer.vendor == reference);
    let ours = ours.map(|offer| (&*offer.product, offer.most));
    let others = shop.adjacent.products.iter().filter(|product| product.vendor == reference);
    let others = others.map(|product| (&*product.code, Some(product.most)));
    let mut items: Vec<(&str, Option<i64>)> = ours.chain(others).collect();
    items.sort_unstable();
    let line = |(code, most): (&str, Option<i64>)| match most {
        Some(most) => format!("Item {code}: at most {most} units in all."),
        None => format!("Item {code}: no maximum."),
    };
    let mut lines: Vec<String> = items.into_iter().map(line).collect();
    if shop.repair.as_ref().and_then(|repair| repair.vendor.as_deref()) == Some(reference) {
        lines.push("Withdrawn: this supplier has cancelled and delivers nothing.".to_owned());
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The note on a work centre: what it may build and how fast, and how much of its time the plan may take.
pub(crate) fn centre(shop: &Shop, centre: &Centre) -> Result<Option<String>, String> {
    let mut lines = Vec::new();
    for option in shop.options.iter().filter(|option| option.centre == centre.code) {
        lines.push(format!("Approved for {}: {} minutes per unit.", option.product, option.minutes));
    }
    if let Some(minutes) = centre.minutes {
        lines.push(format!("Total: at most {minutes} minutes in the whole plan."));
    }
    for group in shop.groups.iter().filter(|group| group.centres.contains(&centre.code)) {
        let (name, minutes) = (&group.name, group.minutes);
        let members = group.centres.join(", ");
        lines.push(format!("Group {name} ({members}): at most {minutes} minutes together in the whole plan."));
    }
    if let Some(minutes) = centre.daily {
        lines.push(format!("Per start day: at most {minutes} minutes."));
    }
    if let Some((from, to)) = centre.down {
        let (from, to) = (date_of(shop, from)?, date_of(shop, to)?);
        lines.push(format!("Down from {from} to {to}: no build may start on these days."));
    }
    if shop.repair.as_ref().and_then(|repair| repair.centre.as_deref()) == Some(&centre.code) {
        lines.push("Out of service: this centre has failed and takes no build of this plan.".to_owned());
    }
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

/// The note on a purchase that its supplier called off.
pub(crate) const CALLED_OFF: &str = "Cancelled by the supplier: this delivery will not come.";
