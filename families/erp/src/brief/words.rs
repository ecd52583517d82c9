//! What a brief says besides its rules: the requests, the intake tests, the calendar, and where things stand in the system.

use super::super::notes::date_of;
use super::super::shop::{Bounds, Limits, Order, Shop, Source};
use super::values::money;

/// The phrasings of a sentence, or none where it does not apply. Placeholders are those of rules.
pub(super) fn say(name: &str, shop: &Shop) -> Vec<&'static str> {
    let has = |source: Source| shop.orders.iter().any(|order| order.source == source);
    let makes = shop.products.iter().any(|product| product.makes);
    let told: &[&str] = match name {
        "listed" if !has(Source::Brief) => &[],
        "listed" if shop.screen.is_some() => &[
            "These requests are only in this note and not in the system yet:",
            "The following requests came in by mail; they are only in this note and not in the system yet:",
            "Here are the requests that are only in this note and not in the system yet:",
        ],
        "listed" => &[
            "These are the requests to serve; all are agreed, and none is in the system yet:",
            "We have agreed to serve all of the following requests. None is in the system yet:",
            "Here is what our customers ordered. We serve all of it, and none is in the system yet:",
        ],
        "drafts" if has(Source::Draft) => &[
            "These requests are in the system as draft quotations; look them up by customer reference. Item, units and customer stand on the record, and its delivery date is the needed-by date:",
            "In the system as draft quotations you find, by customer reference, the requests below. Read item, units and customer from the record; its delivery date is the needed-by date:",
            "Some requests have been entered as draft quotations and are found by customer reference. Their records hold item, units and customer, and the delivery date there is the needed-by date:",
        ],
        "standing" if has(Source::Confirmed) => &[
            "Look them up by customer reference; the delivery date on each record is the needed-by date:",
            "You find them by customer reference, and the delivery date on each record is the needed-by date:",
            "They are found by customer reference. The delivery date on each record is the needed-by date:",
        ],
        "old-plan" if shop.repair.is_some() => &[
            "The plan as it was is in the system as confirmed purchases and builds. Keep what still serves, cancel what you replace, and correct the source of a document you keep when the paper it names has fallen. Change quantities and dates on the document itself: what is cancelled and then issued again on a new one, with the same supplier or at the same centre, counts as a change both times.",
            "Everything else of the plan as it was is still in the system, confirmed. You may keep it, change it where it stands, or cancel it and put something else in its place; where a document that stays names one that fell, correct its source. What is cancelled only to be issued again on a new document, with the same supplier or at the same centre, counts as a change both times.",
            "The confirmed purchases and builds in the system are the plan as it was. What you leave alone goes ahead; what you do not want must be cancelled, and the source of whatever stays may name no cancelled paper. Rather change a document than replace it, since what is cancelled and issued again with the same supplier or at the same centre counts as a change both times.",
        ],
        "intake" if shop.screen.is_some() => &[
            "A request is taken only if it passes all of these tests. A value exactly on the bound {on_bound}; whatever fails a single test is declined as a whole.",
            "These are the intake rules. We take a request, whole, if it passes all of these tests, and decline it otherwise; a value exactly on the bound {on_bound}.",
            "Hold every request, drafts included, against the intake rules. It has to pass all of these tests, where a value exactly on the bound {on_bound}; if it fails any, we decline it.",
        ],
        "several-lines" if shop.orders.iter().any(|order| order.lines.len() > 1) && has(Source::Brief) => &[
            "A reference that stands in several rows is one request for several items; what stands in every row of it, such as the date, holds for the request as a whole.",
            "Rows with the same reference belong together: they are one request for several items, and the date and whatever else they repeat holds for the request as a whole.",
            "Where a reference has several rows, it is one request for several items. What its rows repeat, such as the date, holds for the request as a whole.",
        ],
        "calendar" if shop.calendar.is_some() => &[
            "Today is {today}. All orders go out today. Delivery and manufacturing days are calendar days, but we are closed on the weekdays that the system parameter planning.closed_weekdays names and on the dates in planning.closed_dates. Enter dates at noon, so that no time zone shifts them.",
            "We plan from today, {today}, on. Count delivery and manufacturing days as calendar days; a closed day is any weekday that the system parameter planning.closed_weekdays names and any date in planning.closed_dates. Enter dates at noon to be safe from time zones.",
            "For all dates: today is {today}, and delivery and manufacturing days are calendar days. The system parameters planning.closed_weekdays and planning.closed_dates name the weekdays and the dates on which we are closed. Use noon as the time of day wherever the system asks for one.",
        ],
        "calendar" => &[
            "Today is {today}. All orders go out today, and all calendar days count, weekends and holidays included. Enter dates at noon, so that no time zone shifts them.",
            "We plan from today, {today}, on. All calendar days count, with no break for weekends or holidays; enter dates at noon to be safe from time zones.",
            "For all dates: today is {today}, and all calendar days count, weekends too. Use noon as the time of day wherever the system asks for one.",
        ],
        "records" if makes => &[
            "Stock on hand, list prices, the suppliers' price lists (a line per quantity step, with the delivery days), recipes with their manufacturing days, and work centres with their hourly cost are all in the system.",
            "The system holds what you need to know: stock on hand, list prices, the suppliers' price lists with their quantity steps and delivery days, the recipes with their manufacturing days, and the hourly cost of each work centre.",
            "Look up stock on hand, list prices, price lists of suppliers (quantity steps, prices, delivery days), recipes (parts, manufacturing days) and work centres (hourly cost) in the system; they are up to date.",
        ],
        "records" => &[
            "Stock on hand, list prices and the suppliers' price lists (a line per quantity step, with the delivery days) are all in the system.",
            "The system holds what you need to know: stock on hand, list prices, and the suppliers' price lists with their quantity steps and delivery days.",
            "Look up stock on hand, list prices and the price lists of suppliers (quantity steps, prices, delivery days) in the system; they are up to date.",
        ],
        "notes" if makes => &[
            "What has no field of its own stands in the notes: on a supplier's contact the most it can deliver of each item, on a work centre the items it is approved for, the minutes per unit, and the minutes it can give.",
            "Read the notes as well. Those on a supplier's contact say how many units of an item it can deliver at most; those on a work centre say which items it is approved for, the minutes per unit, and the minutes it can give.",
            "Do not miss the notes: a supplier's maximum for each item is on its contact, and a work centre's approved items, minutes per unit and available minutes are on the centre.",
        ],
        "notes" => &[
            "What has no field of its own stands in the notes: on a supplier's contact, the most it can deliver of each item.",
            "Read the notes as well. Those on a supplier's contact say how many units of an item it can deliver at most.",
            "Do not miss the notes: a supplier's maximum for each item is on its contact.",
        ],
        "order-fields" if has(Source::Brief) => &[
            "The request's reference belongs in the customer reference of the order (client_order_ref), the promised day in its delivery date (commitment_date).",
            "Use the customer reference field (client_order_ref) for the request's reference and the delivery date (commitment_date) for the promised day.",
            "In the system the reference is the order's customer reference (client_order_ref), and the promise is its delivery date (commitment_date).",
        ],
        "order-fields" => &[
            "The promise is the delivery date of the order (commitment_date).",
            "What we promise is the order's delivery date (commitment_date).",
            "The delivery date of an order (commitment_date) is our promise.",
        ],
        "receipt-field" => &[
            "The receipt date is the expected arrival on the order line (date_planned).",
            "What counts as receipt date is the expected arrival on the order line (date_planned).",
            "You enter the receipt date as the expected arrival on the order line (date_planned).",
        ],
        "as-planned" if makes => &[
            "Start (date_start), deadline (date_deadline) and centre must be as planned at the end; if the system moves a build, put it back.",
            "What counts is what stands at the end: start (date_start), deadline (date_deadline) and centre must be as planned, even if the system's own scheduling has moved them.",
            "Check that start (date_start), deadline (date_deadline) and centre are as planned at the end, because the system's own scheduling may move them.",
        ],
        _ => &[],
    };
    told.to_vec()
}

/// A table or a list, or nothing where it does not apply.
pub(super) fn block(name: &str, shop: &Shop) -> Result<Option<String>, String> {
    let of = |source: Source| shop.orders.iter().filter(|order| order.source == source).collect::<Vec<_>>();
    match name {
        "listed" => requests(shop, &of(Source::Brief)),
        "drafts" => Ok(references(shop, &of(Source::Draft))),
        "standing" => Ok(references(shop, &of(Source::Confirmed))),
        "intake" => tests(shop),
        _ => Err(format!("a brief has no block `{name}`")),
    }
}

/// The requests that are only in the brief.
fn requests(shop: &Shop, orders: &[&Order]) -> Result<Option<String>, String> {
    if orders.is_empty() {
        return Ok(None);
    }
    // A column in which nobody has an entry says nothing.
    let limits = orders.iter().any(|order| order.limit.is_some());
    let (head, rule) = if limits { (format!(" {} |", limit_head(shop)), "---:|") } else { (String::new(), "") };
    let mut lines = vec![
        format!("| Reference | Customer | Customer ref | Item | Units | Needed by |{head}"),
        format!("|---|---|---|---|---:|---|{rule}"),
    ];
    for order in orders {
        let customer = shop.customers.iter().find(|party| party.reference == order.customer);
        let customer = customer.ok_or_else(|| format!("there is no customer {}", order.customer))?;
        for line in &order.lines {
            let limit = if limits { format!(" {} |", limit(order)) } else { String::new() };
            lines.push(format!(
                "| {} | {} | {} | {} | {} | {} |{limit}",
                order.reference,
                customer.name,
                customer.reference,
                line.product,
                line.units,
                date_of(shop, order.due)?,
            ));
        }
    }
    Ok(Some(lines.join("\n")))
}

/// What limits are called at the head of a table.
fn limit_head(shop: &Shop) -> &'static str {
    if shop.clauses.limits == Limits::Named { "Pre-tax limit" } else { "Limit" }
}

fn limit(order: &Order) -> String {
    order.limit.map_or_else(|| "none".to_owned(), money)
}

/// The requests that are in the system, with what the system does not hold: the customers' limits.
fn references(shop: &Shop, orders: &[&Order]) -> Option<String> {
    if orders.is_empty() {
        return None;
    }
    if orders.iter().all(|order| order.limit.is_none()) {
        let references: Vec<&str> = orders.iter().map(|order| &*order.reference).collect();
        return Some(references.join(", "));
    }
    let rows = orders.iter().map(|order| format!("| {} | {} |", order.reference, limit(order)));
    let head = [format!("| Reference | {} |", limit_head(shop)), "|---|---:|".to_owned()];
    Some(head.into_iter().chain(rows).collect::<Vec<String>>().join("\n"))
}

/// The tests that a request must pass.
fn tests(shop: &Shop) -> Result<Option<String>, String> {
    let Some(screen) = &shop.screen else { return Ok(None) };
    let several = shop.orders.iter().any(|order| order.lines.len() > 1);
    let in_all = if several { " in all" } else { "" };
    let neutral = shop.clauses.bound != Bounds::Inclusive;
    let mut lines = vec!["| Test | A request passes when |".to_owned(), "|---|---|".to_owned()];
    if let Some((low, high)) = screen.window {
        lines.push(match neutral {
            false => format!("| Size | it asks for at least {low} and at most {high} units{in_all} |"),
            true => format!("| Size{in_all} | its units lie between {low} and {high} |"),
        });
    }
    if let Some(lead) = screen.lead {
        let date = date_of(shop, lead)?;
        lines.push(match neutral {
            false => format!("| Notice | it is needed by {date} or later, which is {lead} days from today or more |"),
            true => format!(
                "| Notice | its needed-by date lies beyond the bound of {date}, which is {lead} days from today |"
            ),
        });
    }
    if screen.limit {
        let without = shop.orders.iter().any(|order| order.limit.is_none());
        let free = if without { ", or it names no limit" } else { "" };
        let sum = if several { ", summed over its items" } else { "" };
        let value = match shop.clauses.limits {
            Limits::Named | Limits::Net => format!("its list value, units times list price{sum}"),
            Limits::Gross(tax) => format!("its list value, units times list price{sum}, plus {tax} percent tax"),
        };
        let name = if shop.clauses.limits == Limits::Named { "pre-tax limit" } else { "limit" };
        let is = if neutral { "lies beyond the bound of" } else { "is at least" };
        lines.push(format!("| Money | its {name} {is} {value}{free} |"));
    }
    Ok(Some(lines.join("\n")))
}
