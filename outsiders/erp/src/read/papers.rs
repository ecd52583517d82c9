//! The documents that are in the system already: requests, and the plan that stood.

use super::{
    goods::{Goods, Shop},
    records::{all, one},
};
use crate::job::{Place, Request, Stood, Told};
use benchwright_world::ToolAccess;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// All requests, those of the text and those on record.
pub(super) fn requests(access: &mut dyn ToolAccess, told: &Told) -> Result<Vec<Request>, String> {
    let mut requests = Vec::new();
    for request in &told.requests {
        let (customer, lines, due) = match &request.listed {
            Some(listed) => {
                one(access, "res_partner", &json!([["ref", "=", listed.customer]]), &["ref"])?;
                (listed.customer.clone(), listed.lines.clone(), listed.due)
            }
            None => on_record(access, told, &request.reference, request.place)?,
        };
        let (reference, place, limit) = (request.reference.clone(), request.place, request.limit);
        requests.push(Request { reference, place, customer, lines, due, limit });
    }
    Ok(requests)
}

/// Customer, lines and day of a sales order.
type Order = (String, Vec<(String, i64)>, i64);

fn on_record(access: &mut dyn ToolAccess, told: &Told, reference: &str, place: Place) -> Result<Order, String> {
    let fields = ["partner_id", "state", "commitment_date"];
    let order = one(access, "sale_order", &json!([["client_order_ref", "=", reference]]), &fields)?;
    order.must("state", &json!(if place == Place::Draft { "draft" } else { "sale" }))?;
    let customer = one(access, "res_partner", &json!([["id", "=", order.link("partner_id")?]]), &["ref"])?;
    let of_order = json!([["order_id", "=", order.id()?]]);
    let mut lines = Vec::new();
    for line in all(access, "sale_order_line", &of_order, &["product_id", "product_uom_qty"])? {
        let product =
            one(access, "product_product", &json!([["id", "=", line.link("product_id")?]]), &["default_code"])?;
        lines.push((product.name("default_code")?, line.whole("product_uom_qty")?));
    }
    Ok((customer.name("ref")?, lines, order.day("commitment_date", told.today)?))
}

/// The purchases of items of the job that stand, by number.
pub(super) fn purchases(access: &mut dyn ToolAccess, goods: &Goods) -> Result<Vec<Stood>, String> {
    let of_job = json!([["product_id", "in", goods.ids()], ["order_id.state", "!=", "cancel"]]);
    let lines = all(access, "purchase_order_line", &of_job, &["order_id", "product_id", "product_qty"])?;
    let mut by_order: BTreeMap<i64, Vec<Stood>> = BTreeMap::new();
    for line in lines {
        let order = line.link("order_id")?;
        let record = one(access, "purchase_order", &json!([["id", "=", order]]), &["partner_id", "state"])?;
        record.must("state", &json!("purchase"))?;
        let supplier = one(access, "res_partner", &json!([["id", "=", record.link("partner_id")?]]), &["ref"])?;
        let item = goods.code(line.link("product_id")?)?.to_owned();
        let stood = Stood { at: supplier.name("ref")?, item, units: line.whole("product_qty")? };
        by_order.entry(order).or_default().push(stood);
    }
    Ok(by_order.into_values().flatten().collect())
}

/// The builds of items of the job that stand, by number.
pub(super) fn builds(access: &mut dyn ToolAccess, goods: &Goods, shop: &Shop) -> Result<Vec<Stood>, String> {
    let of_job = json!([["product_id", "in", goods.ids()], ["state", "!=", "cancel"]]);
    let mut builds = Vec::new();
    for record in all(access, "mrp_production", &of_job, &["product_id", "product_qty", "state"])? {
        record.must("state", &json!("confirmed"))?;
        let of_build: Json = json!([["production_id", "=", record.id()?], ["state", "!=", "cancel"]]);
        let centre = one(access, "mrp_workorder", &of_build, &["workcenter_id"])?.link("workcenter_id")?;
        let centre = shop.codes.get(&centre).ok_or("a build stands at a centre that is not approved for it")?;
        let item = goods.code(record.link("product_id")?)?.to_owned();
        builds.push(Stood { at: centre.clone(), item, units: record.whole("product_qty")? });
    }
    Ok(builds)
}
