//! Where the records stand that calls on a case name: each key of the job with the id that the world answers for it.

use super::super::{
    calls::{production, purchase, record_line, term},
    facts::{centre, customer, product, record, vendor},
    shop::{Shop, Source},
};
use super::rows::{find, find_one};
use benchwright_project::ToolAccess;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The ids of a case's records by key, found by the names they carry.
pub(crate) fn addresses(shop: &Shop, access: &mut dyn ToolAccess) -> Result<BTreeMap<String, u32>, String> {
    let mut book = Book { access, found: BTreeMap::new() };
    for party in &shop.customers {
        book.one(customer(&party.reference), "res_partner", json!([["ref", "=", party.reference]]))?;
    }
    for party in &shop.vendors {
        book.one(vendor(&party.reference), "res_partner", json!([["ref", "=", party.reference]]))?;
    }
    let mut products = Vec::new();
    for known in &shop.products {
        let by_code = json!([["default_code", "=", known.code]]);
        let row = find_one(book.access, "product_product", by_code, &["bom_ids"])?;
        products.push(row.id()?);
        book.note(product(&known.code), row.id()?)?;
        for id in row.links("bom_ids")? {
            book.note(format!("bom/{}", known.code), id)?;
        }
    }
    for known in &shop.centres {
        book.one(centre(&known.code), "mrp_workcenter", json!([["code", "=", known.code]]))?;
    }
    if let Some(billing) = &shop.billing {
        let name = if billing.days == 0 { "Immediate Payment".to_owned() } else { format!("{} Days", billing.days) };
        book.one(term(billing.days), "account_payment_term", json!([["name", "=", name]]))?;
    }
    for order in shop.orders.iter().filter(|order| order.source != Source::Brief) {
        let key = record(&order.reference);
        let id = book.one(key.clone(), "sale_order", json!([["client_order_ref", "=", order.reference]]))?;
        let lines = find(book.access, "sale_order_line", json!([["order_id", "=", id]]), &["id"])?;
        for (number, line) in lines.iter().enumerate() {
            book.note(record_line(&key, number), line.id()?)?;
        }
    }
    if shop.repair.is_some() {
        // Documents are numbered as they are read: the oldest first.
        let standing = json!([["product_id", "in", products], ["order_id.state", "!=", "cancel"]]);
        let lines = find(book.access, "purchase_order_line", standing, &["order_id"])?;
        let mut orders = lines.iter().map(|line| line.link("order_id")).collect::<Result<Vec<_>, _>>()?;
        orders.sort_unstable();
        orders.dedup();
        orders.iter().enumerate().try_for_each(|(number, id)| book.note(purchase(number), *id))?;
        let standing = json!([["product_id", "in", products], ["state", "!=", "cancel"]]);
        let builds = find(book.access, "mrp_production", standing, &["id"])?;
        for (number, build) in builds.iter().enumerate() {
            book.note(production(number), build.id()?)?;
        }
    }
    Ok(book.found)
}

/// What was found so far.
struct Book<'d> {
    access: &'d mut dyn ToolAccess,
    found: BTreeMap<String, u32>,
}

impl Book<'_> {
    fn one(&mut self, key: String, model: &str, conditions: Json) -> Result<i64, String> {
        let id = find_one(self.access, model, conditions, &["id"])?.id()?;
        self.note(key, id)?;
        Ok(id)
    }

    fn note(&mut self, key: String, id: i64) -> Result<(), String> {
        let id = u32::try_from(id).map_err(|_| format!("{id} is no id"))?;
        self.found.insert(key, id);
        Ok(())
    }
}
