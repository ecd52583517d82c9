//! The records of a case: the first state of its world.
//!
//! Records of the job and records around it stand side by side, in the order of their codes, and look alike: only the keys,
//! which nobody but a judge sees, tell them apart.

mod documents;
mod filler;

use super::calls::term;
use super::facts;
use super::notes;
use super::shop::{AdjacentProduct, Party, Product, Shop};
use benchwright_base::{Date, DateTime};
use benchwright_project::FirstState;
use benchwright_schema::Domain;
use filler::{Cell, Filler, flag, maybe, money, number, of, text, units};
use std::collections::{BTreeMap, BTreeSet};

/// The hour of day 0 at which the work begins.
const MORNING: i64 = 8 * 3600;

/// What keys of records around the job begin with.
const APART: &str = "adj/";

/// The first state of a case.
pub(crate) fn first_state(shop: &Shop, domain: &Domain) -> Result<FirstState, String> {
    let anchor = Date::parse(&shop.anchor).ok_or_else(|| format!("`{}` is no date", shop.anchor))?;
    let mut world = Filler::new(domain, DateTime(anchor.midnight().0 + MORNING));
    company(shop, &mut world)?;
    partners(shop, &mut world)?;
    products(shop, &mut world)?;
    offers(shop, &mut world)?;
    centres(shop, &mut world)?;
    recipes(shop, &mut world)?;
    documents::orders(shop, anchor, &mut world)?;
    documents::standing_plan(shop, anchor, &mut world)?;
    Ok(world.finish())
}

/// What every company has: people, settings, terms, a tax, locations and routes.
fn company(shop: &Shop, world: &mut Filler<'_>) -> Result<(), String> {
    for (login, name) in [("planner", "Back-Office Planner"), ("manager", "Planning Manager")] {
        world.put("res_users", format!("user/{login}"), &[("name", text(name)), ("login", text(login))])?;
    }
    if let Some(margin) = shop.margin {
        let value = format!("{}.{:02}", margin / 100, margin % 100);
        let cells = [("key", text("planning.margin_floor_percent")), ("value", text(value))];
        world.put("ir_config_parameter", "setting/margin", &cells)?;
    }
    if let Some(calendar) = &shop.calendar {
        for (key, value) in notes::calendar(calendar) {
            world.put(
                "ir_config_parameter",
                format!("setting/{key}"),
                &[("key", text(key)), ("value", text(value))],
            )?;
        }
    }
    for (days, name) in [(0, "Immediate Payment"), (30, "30 Days")] {
        world.put("account_payment_term", term(days), &[("name", text(name))])?;
        let line = [
            ("payment_id", of(term(days))),
            ("value", Cell::Word("percent")),
            ("value_amount", units(100)),
            ("delay_type", Cell::Word("days_after")),
            ("nb_days", number(days)),
        ];
        world.put("account_payment_term_line", format!("{}/line", term(days)), &line)?;
    }
    let tax = [("name", text("Sales Tax")), ("amount", units(15)), ("type_tax_use", Cell::Word("sale"))];
    world.put("account_tax", "tax/sales", &tax)?;
    let locations = [
        ("warehouse", "WH", "view", None),
        ("stock", "Stock", "internal", Some("warehouse")),
        ("vendors", "Vendors", "supplier", None),
        ("customers", "Customers", "customer", None),
        ("inventory", "Inventory adjustment", "inventory", None),
        ("production", "Production", "production", None),
    ];
    for (key, name, usage, within) in locations {
        let mut cells = vec![("name", text(name)), ("usage", Cell::Word(usage))];
        cells.extend(within.map(|parent| ("location_id", of(format!("location/{parent}")))));
        world.put("stock_location", format!("location/{key}"), &cells)?;
    }
    for (key, name, action, place) in [("buy", "Buy", "buy", 10), ("make", "Manufacture", "manufacture", 5)] {
        let cells = [("name", text(name)), ("sequence", number(place))];
        world.put("stock_route", format!("route/{key}"), &cells)?;
        let rule = [
            ("name", text(format!("WH: {name}"))),
            ("route_id", of(format!("route/{key}"))),
            ("action", Cell::Word(action)),
            ("procure_method", Cell::Word("make_to_stock")),
        ];
        world.put("stock_rule", format!("route/{key}/rule"), &rule)?;
    }
    Ok(())
}

/// Customers and suppliers, by reference.
fn partners(shop: &Shop, world: &mut Filler<'_>) -> Result<(), String> {
    let mut all: BTreeMap<(&str, String), (&Party, bool)> = BTreeMap::new();
    let groups = [
        (&shop.customers, true, ""),
        (&shop.adjacent.customers, true, APART),
        (&shop.vendors, false, ""),
        (&shop.adjacent.vendors, false, APART),
    ];
    for (parties, buys, apart) in groups {
        for party in parties {
            let key = if buys { facts::customer(&party.reference) } else { facts::vendor(&party.reference) };
            all.insert((&party.reference, format!("{apart}{key}")), (party, buys));
        }
    }
    for ((reference, key), (party, buys)) in all {
        let note = if buys { None } else { notes::vendor(shop, reference) };
        let cells = [
            ("name", text(&party.name)),
            ("ref", text(reference)),
            ("email", text(email(&party.name))),
            ("is_company", flag(true)),
            ("customer_rank", number(i64::from(buys))),
            ("supplier_rank", number(i64::from(!buys))),
            ("comment", maybe(note)),
        ];
        world.put("res_partner", key, &cells)?;
    }
    Ok(())
}

/// An address at a company's own domain.
fn email(name: &str) -> String {
    let mut host = String::new();
    for c in name.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            host.push(c);
        } else if !host.is_empty() && !host.ends_with('-') {
            host.push('-');
        }
    }
    format!("office@{}.example", host.trim_end_matches('-'))
}

/// A product of the job or around it.
enum Item<'a> {
    Ours(&'a Product),
    Apart(&'a AdjacentProduct),
}

/// All products by code.
fn items(shop: &Shop) -> BTreeMap<&str, Item<'_>> {
    let ours = shop.products.iter().map(|product| (&*product.code, Item::Ours(product)));
    let apart = shop.adjacent.products.iter().map(|product| (&*product.code, Item::Apart(product)));
    ours.chain(apart).collect()
}

/// Products with their routes and stock, by code.
fn products(shop: &Shop, world: &mut Filler<'_>) -> Result<(), String> {
    for (code, item) in items(shop) {
        let (apart, name, list, cost, stock, buys, makes) = match item {
            Item::Ours(p) => ("", &p.name, p.list, p.cost, p.stock, p.buys, p.makes),
            Item::Apart(p) => (APART, &p.name, p.list, p.cost, p.stock, true, !p.bom.is_empty()),
        };
        let key = format!("{apart}{}", facts::product(code));
        let cells = [
            ("name", text(name)),
            ("default_code", text(code)),
            ("type", Cell::Word("consu")),
            ("is_storable", flag(true)),
            ("purchase_ok", flag(buys)),
            ("list_price", money(list)),
            ("standard_price", money(cost)),
            ("invoice_policy", Cell::Word("order")),
        ];
        world.put("product_product", &key, &cells)?;
        for (route, on) in [("buy", buys), ("make", makes)] {
            if on {
                let cells = [("product_id", of(&key)), ("route_id", of(format!("route/{route}")))];
                world.put("stock_route_product", format!("{key}/{route}"), &cells)?;
            }
        }
        if stock > 0 {
            let cells = [("product_id", of(&key)), ("location_id", of("location/stock")), ("quantity", units(stock))];
            world.put("stock_quant", format!("{apart}stock/{code}"), &cells)?;
        }
    }
    Ok(())
}

/// One row per price step, by product, supplier and step.
fn offers(shop: &Shop, world: &mut Filler<'_>) -> Result<(), String> {
    let mut rows: BTreeMap<(&str, &str, i64), (i64, i64, &str)> = BTreeMap::new();
    for offer in &shop.offers {
        for (from, price) in &offer.tiers {
            rows.insert((&offer.product, &offer.vendor, *from), (*price, offer.lead, ""));
        }
    }
    for product in &shop.adjacent.products {
        rows.insert((&product.code, &product.vendor, 1), (product.price, product.lead, APART));
    }
    for ((code, vendor, from), (price, lead, apart)) in rows {
        let cells = [
            ("partner_id", of(partner_key(shop, vendor))),
            ("product_tmpl_id", of(format!("{apart}{}", facts::product(code)))),
            ("product_id", of(format!("{apart}{}", facts::product(code)))),
            ("min_qty", units(from)),
            ("price", money(price)),
            ("delay", number(lead)),
        ];
        world.put("product_supplierinfo", format!("{apart}offer/{vendor}/{code}/{from}"), &cells)?;
    }
    Ok(())
}

/// The key of a supplier, whether it belongs to the job or not.
fn partner_key(shop: &Shop, reference: &str) -> String {
    let ours = shop.vendors.iter().any(|party| party.reference == reference);
    format!("{}{}", if ours { "" } else { APART }, facts::vendor(reference))
}

/// Work centres with their notes, and which stand in for which.
fn centres(shop: &Shop, world: &mut Filler<'_>) -> Result<(), String> {
    let mut sorted: Vec<_> = shop.centres.iter().collect();
    sorted.sort_by_key(|centre| &centre.code);
    for centre in sorted {
        let cells = [
            ("name", text(&centre.name)),
            ("code", text(&centre.code)),
            ("costs_hour", money(centre.hourly * 100)),
            ("note", maybe(notes::centre(shop, centre)?)),
        ];
        world.put("mrp_workcenter", facts::centre(&centre.code), &cells)?;
    }
    let mut pairs: BTreeSet<(&str, &str)> = BTreeSet::new();
    for product in &shop.products {
        let mut options = shop.options.iter().filter(|option| option.product == product.code);
        let Some(usual) = options.next() else { continue };
        pairs.extend(options.map(|option| (&*usual.centre, &*option.centre)));
    }
    for (usual, other) in pairs.into_iter().filter(|(usual, other)| usual != other) {
        let cells =
            [("workcenter_id", of(facts::centre(usual))), ("alternative_workcenter_id", of(facts::centre(other)))];
        world.put("mrp_workcenter_alternative", format!("alternative/{usual}/{other}"), &cells)?;
    }
    Ok(())
}

/// Recipes by product code: parts, days, and the one operation at the usual centre.
fn recipes(shop: &Shop, world: &mut Filler<'_>) -> Result<(), String> {
    let apart_key = |code: &str| {
        let ours = shop.product(code).is_some();
        format!("{}{}", if ours { "" } else { APART }, facts::product(code))
    };
    for (code, item) in items(shop) {
        let (apart, days, lines): (_, _, Vec<(&str, i64)>) = match item {
            Item::Ours(product) => {
                let lines = shop.bom.iter().filter(|line| line.product == code);
                ("", product.build_days, lines.map(|line| (&*line.part, line.units)).collect())
            }
            Item::Apart(product) => (APART, 1, product.bom.iter().map(|(part, units)| (&**part, *units)).collect()),
        };
        if lines.is_empty() {
            continue;
        }
        let key = format!("{apart}bom/{code}");
        let product = apart_key(code);
        let cells = [
            ("product_tmpl_id", of(product)),
            ("product_qty", units(1)),
            ("type", Cell::Word("normal")),
            ("produce_delay", number(days)),
        ];
        world.put("mrp_bom", &key, &cells)?;
        for (part, per_unit) in lines {
            let cells = [("bom_id", of(&key)), ("product_id", of(apart_key(part))), ("product_qty", units(per_unit))];
            world.put("mrp_bom_line", format!("{key}/{part}"), &cells)?;
        }
        if let Some(usual) = shop.options.iter().find(|option| option.product == code) {
            let cells = [
                ("bom_id", of(&key)),
                ("name", text(format!("Build {code}"))),
                ("workcenter_id", of(facts::centre(&usual.centre))),
                ("time_mode", Cell::Word("manual")),
                ("time_cycle_manual", units(usual.minutes)),
            ];
            world.put("mrp_routing_workcenter", format!("operation/{code}"), &cells)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
