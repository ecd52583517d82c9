//! What the placeholders of a brief stand for, and how numbers are written.

use super::super::notes::date_of;
use super::super::shop::{Bounds, Deposit, Limits, NeverBought, Product, Role, Shop};
use std::collections::BTreeMap;

/// What placeholders stand for.
pub(super) type Values = BTreeMap<&'static str, String>;

/// Money, always with two decimals: `$1,234.50`.
pub(super) fn money(cents: i64) -> String {
    let digits = (cents / 100).to_string();
    let mut whole = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            whole.push(',');
        }
        whole.push(digit);
    }
    format!("${whole}.{:02}", cents % 100)
}

/// Hundredths of a percent as percent: `73.5`.
fn percent(hundredths: i64) -> String {
    match hundredths % 100 {
        0 => format!("{}", hundredths / 100),
        part if part % 10 == 0 => format!("{}.{}", hundredths / 100, part / 10),
        part => format!("{}.{part:02}", hundredths / 100),
    }
}

/// Texts in a row: `a, b and c`.
pub(super) fn listed(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The names of all placeholders. Not every case has each: only one with a deposit says what `{deposit}` is.
pub(super) const NAMES: [&str; 27] = [
    "this_item",
    "of_each",
    "a_finished",
    "item",
    "code",
    "today",
    "spending",
    "supply",
    "bought_for",
    "built_for",
    "made_only",
    "groups",
    "deposit_flow",
    "final_less",
    "share",
    "budget",
    "terms",
    "deposit",
    "down_centres",
    "broken_vendor",
    "broken_documents",
    "usable",
    "parts_usable",
    "step_holds",
    "order_worth",
    "limit_name",
    "on_bound",
];

/// Every placeholder of a case. What does not apply stands for nothing.
pub(super) fn values(shop: &Shop) -> Result<Values, String> {
    let (item, code) = items(shop);
    let several = shop.finished_goods().count() > 1;
    let lines = shop.orders.iter().any(|order| order.lines.len() > 1);
    let mut values = Values::from([
        ("item", item),
        ("code", code),
        ("today", shop.anchor.clone()),
        ("this_item", if several { "these items" } else { "this item" }.to_owned()),
        ("a_finished", if several { "a finished item" } else { "the finished item" }.to_owned()),
        ("of_each", if lines { " of each item" } else { "" }.to_owned()),
        ("spending", spending(shop).to_owned()),
        ("supply", supply(shop).to_owned()),
        ("bought_for", bought_for(shop).to_owned()),
        ("built_for", built_for(shop).to_owned()),
        ("made_only", made_only(shop)),
        ("groups", groups(shop).to_owned()),
        ("deposit_flow", String::new()),
        ("final_less", String::new()),
    ]);
    values.extend(clauses(shop));
    if let Some(margin) = shop.margin {
        values.insert("share", percent(10_000 - margin));
    }
    if let Some(budget) = shop.budget {
        values.insert("budget", money(budget));
    }
    if let Some(billing) = &shop.billing {
        let terms = if billing.days == 0 { "immediate payment".to_owned() } else { format!("{} days", billing.days) };
        values.insert("terms", terms);
        if let Some(deposit) = &billing.deposit {
            let from = money(deposit.from);
            values.insert(
                "deposit_flow",
                format!(
                    " An order worth {from} or more is billed in two steps, a deposit invoice first and then the final invoice; \
                     a smaller one gets a single invoice."
                ),
            );
            values.insert("final_less", ", less the deposit where one was billed".to_owned());
            values.insert("deposit", deposit_of(deposit));
        }
    }
    repair(shop, &mut values)?;
    Ok(values)
}

/// The finished products, so that `the {item} ({code})` and `the {item}, code {code}` name all of them: the code of the last one
/// stands apart, the others have theirs behind the name.
fn items(shop: &Shop) -> (String, String) {
    let goods: Vec<&Product> = shop.finished_goods().collect();
    let Some((last, first)) = goods.split_last() else { return (String::new(), String::new()) };
    let named: Vec<String> = first.iter().map(|product| format!("{} ({})", product.name, product.code)).collect();
    let names = named.into_iter().chain([last.name.clone()]).collect::<Vec<String>>();
    (listed(&names), last.code.clone())
}

fn deposit_of(deposit: &Deposit) -> String {
    match (deposit.fixed, deposit.percent) {
        (Some(fixed), _) => format!("{} per order", money(fixed)),
        (None, share) => format!("{} percent of the order's value", share.unwrap_or(0)),
    }
}

/// The clauses that can be put in two ways.
fn clauses(shop: &Shop) -> [(&'static str, String); 6] {
    let (usable, parts) = if shop.clauses.next_day {
        ("from the day after on, not that same day", "; what comes in on a day is there from the day after")
    } else {
        ("that same day", "")
    };
    let step = if shop.clauses.above_step {
        "goes on the order line, but holds only for the units from its minimum on: units below it are charged, and count as \
         spending, at the price lines before it"
    } else {
        "holds for all units"
    };
    let (worth, limit) = match shop.clauses.limits {
        Limits::Named => ("the value of an order before tax".to_owned(), "pre-tax limit"),
        Limits::Net => ("the value of an order before tax".to_owned(), "limit"),
        Limits::Gross(tax) => (format!("the value of an order plus {tax} percent tax"), "limit"),
    };
    let text = |text: &str| text.to_owned();
    [
        ("usable", text(usable)),
        ("parts_usable", text(parts)),
        ("step_holds", text(step)),
        ("order_worth", worth),
        ("limit_name", text(limit)),
        ("on_bound", text(if shop.clauses.bound == Bounds::Fails { "fails" } else { "passes" })),
    ]
}

/// What counts as new spending. A plan that stood is spending anew: what is kept of it counts like what is added.
fn spending(shop: &Shop) -> &'static str {
    match (shop.products.iter().any(|product| product.makes), shop.repair.is_some()) {
        (true, false) => {
            "all purchases at their listed prices plus all builds at their minutes times the hourly cost of the centre"
        }
        (false, false) => "all purchases at their listed prices",
        (true, true) => {
            "all purchases, kept ones included, at their listed prices plus all builds, kept ones included, at their minutes times the hourly cost of the centre"
        }
        (false, true) => "all purchases, kept ones included, at their listed prices",
    }
}

/// Where goods for customers come from.
fn supply(shop: &Shop) -> &'static str {
    let finished = shop.finished();
    match (finished.makes, shop.may_buy(&finished.code)) {
        (true, true) => "opening stock, purchases that have arrived, and builds that are finished",
        (true, false) => "opening stock and builds that are finished",
        (false, _) => "opening stock and purchases that have arrived",
    }
}

/// How centres share minutes, where they do.
fn groups(shop: &Shop) -> &'static str {
    if shop.groups.is_empty() {
        ""
    } else {
        " Where notes name a group of centres, its minutes hold for all of them together."
    }
}

/// What purchases are for.
fn bought_for(shop: &Shop) -> &'static str {
    let parts = shop.products.iter().any(|product| product.role == Role::Part);
    match (shop.may_buy(&shop.finished().code), parts) {
        (true, true) => "the sales orders that get the finished goods or, for parts, the builds that take them",
        (false, true) => "the builds that take the parts",
        (_, false) => "the sales orders that get the goods",
    }
}

/// What builds are for.
fn built_for(shop: &Shop) -> &'static str {
    if shop.products.iter().any(|product| product.role == Role::Module) {
        "the sales orders that get the finished goods or, for a module, the builds that take it"
    } else {
        "the sales orders that get the goods"
    }
}

/// The items that are built by us only.
fn made_only(shop: &Shop) -> String {
    let items = shop.products.iter().filter(|product| !shop.may_buy(&product.code));
    let item = |product: &Product| {
        let why = match (product.role, shop.never_bought) {
            (Role::Finished, Some(NeverBought::Policy)) => ", which company policy reserves for our own factory",
            (Role::Finished, Some(NeverBought::Market)) => ", which no supplier offers",
            (Role::Finished, Some(NeverBought::Design)) => ", which has no buying route",
            _ => "",
        };
        format!("the {} ({}){why}", product.name, product.code)
    };
    items.map(item).collect::<Vec<String>>().join("; ")
}

fn repair(shop: &Shop, values: &mut Values) -> Result<(), String> {
    let down = shop.centres.iter().filter_map(|centre| Some((centre, centre.down?)));
    let mut windows = Vec::new();
    for (centre, (from, to)) in down {
        let (from, to) = (date_of(shop, from)?, date_of(shop, to)?);
        windows.push(format!("{} ({}) from {from} to {to}", centre.name, centre.code));
    }
    if !windows.is_empty() {
        values.insert("down_centres", windows.join("; "));
    }
    let Some(repair) = &shop.repair else { return Ok(()) };
    let mut broken = Vec::new();
    if let Some(vendor) = &repair.vendor {
        let party = shop.vendors.iter().find(|party| party.reference == *vendor);
        let party = party.ok_or_else(|| format!("there is no supplier {vendor}"))?;
        let name = format!("{} ({})", party.name, party.reference);
        broken.push(format!("every purchase placed with {name}"));
        values.insert("broken_vendor", name);
    }
    if let Some(code) = &repair.centre {
        let centre = shop.centres.iter().find(|centre| centre.code == *code);
        let centre = centre.ok_or_else(|| format!("there is no centre {code}"))?;
        broken.push(format!("every build planned at {} ({})", centre.name, centre.code));
    }
    values.insert("broken_documents", listed(&broken));
    Ok(())
}
