//! The documents of the job that are in the system already: customer orders, and the plan that stood.

use super::super::shop::{Build, Buy, Order, OrderLine, Party, Source};
use super::{
    goods::Goods,
    rows::{Row, find, find_one},
    supply::{Market, Works},
    text::{Listed, Request, Told},
};
use benchwright_project::ToolAccess;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The requests in the order of their references, and who made them.
pub(super) fn orders(
    access: &mut dyn ToolAccess,
    goods: &Goods,
    told: &Told,
) -> Result<(Vec<Order>, Vec<Party>), String> {
    let mut orders = Vec::new();
    let mut customers: BTreeMap<String, Party> = BTreeMap::new();
    for request in &told.requests {
        let (order, party) = match &request.listed {
            Some(listed) => listed_order(access, request, listed, told)?,
            None => seeded_order(access, request, goods, told)?,
        };
        if let Some(line) = order.lines.iter().find(|line| !told.items.contains(&line.product)) {
            return Err(format!("{} asks for {}, but the job is {:?}", order.reference, line.product, told.items));
        }
        customers.insert(party.reference.clone(), party);
        orders.push(order);
    }
    let asked = |item: &&String| orders.iter().any(|order: &Order| order.asked(item) > 0);
    if let Some(odd) = told.items.iter().find(|item| !asked(item)) {
        return Err(format!("the job is about {odd}, but nobody asks for it"));
    }
    orders.sort_by(|one, other| {
        let key = |order: &Order| (order.reference.len(), order.reference.clone());
        key(one).cmp(&key(other))
    });
    Ok((orders, customers.into_values().collect()))
}

fn listed_order(
    access: &mut dyn ToolAccess,
    request: &Request,
    listed: &Listed,
    told: &Told,
) -> Result<(Order, Party), String> {
    let row = find_one(access, "res_partner", json!([["ref", "=", listed.customer]]), &["name", "ref"])?;
    row.must("name", &json!(listed.name))?;
    let order = Order {
        reference: request.reference.clone(),
        customer: listed.customer.clone(),
        lines: listed.lines.iter().map(|(item, units)| OrderLine { product: item.clone(), units: *units }).collect(),
        due: i64::from(listed.due.0 - told.today.0),
        limit: request.limit,
        source: request.source,
    };
    Ok((order, Party { reference: listed.customer.clone(), name: listed.name.clone() }))
}

fn seeded_order(
    access: &mut dyn ToolAccess,
    request: &Request,
    goods: &Goods,
    told: &Told,
) -> Result<(Order, Party), String> {
    let by_reference = json!([["client_order_ref", "=", request.reference]]);
    let row = find_one(access, "sale_order", by_reference, &["partner_id", "state", "commitment_date"])?;
    row.must("state", &json!(if request.source == Source::Draft { "draft" } else { "sale" }))?;
    let of_order = json!([["order_id", "=", row.id()?]]);
    let lines = find(access, "sale_order_line", of_order, &["product_id", "product_uom_qty"])?;
    let line = |line: &Row| {
        let product = goods.code(line.link("product_id")?)?.to_owned();
        Ok::<_, String>(OrderLine { product, units: line.whole("product_uom_qty")? })
    };
    let customer = find_one(access, "res_partner", json!([["id", "=", row.link("partner_id")?]]), &["name", "ref"])?;
    let customer = Party { reference: customer.needed("ref")?, name: customer.needed("name")? };
    let order = Order {
        reference: request.reference.clone(),
        customer: customer.reference.clone(),
        lines: lines.iter().map(line).collect::<Result<_, String>>()?,
        due: row.day("commitment_date", told.today)?,
        limit: request.limit,
        source: request.source,
    };
    Ok((order, customer))
}

/// The one line of a document.
fn line(access: &mut dyn ToolAccess, model: &str, document: &Row, fields: &[&str]) -> Result<Row, String> {
    find_one(access, model, json!([["order_id", "=", document.id()?]]), fields)
}

/// The purchases of the plan that stood, oldest first. Each comes with whether its note says that it was cancelled.
pub(super) fn buys(
    access: &mut dyn ToolAccess,
    goods: &Goods,
    market: &Market,
    told: &Told,
) -> Result<Vec<(Buy, bool)>, String> {
    let of_job = json!([["product_id", "in", goods.ids()], ["order_id.state", "!=", "cancel"]]);
    let lines = find(access, "purchase_order_line", of_job, &["order_id"])?;
    let ids = lines.iter().map(|line| line.link("order_id")).collect::<Result<Vec<i64>, String>>()?;
    let mut buys = Vec::new();
    for row in find(access, "purchase_order", json!([["id", "in", ids]]), &["partner_id", "state", "note"])? {
        row.must("state", &json!("purchase"))?;
        let fields = ["product_id", "product_qty", "price_unit", "discount", "date_planned"];
        let line = line(access, "purchase_order_line", &row, &fields)?;
        line.must("discount", &json!(0))?;
        let partner = row.link("partner_id")?;
        let vendor = market.references.get(&partner);
        let buy = Buy {
            vendor: vendor.ok_or_else(|| format!("a purchase stands with {partner}, who lists nothing"))?.clone(),
            product: goods.code(line.link("product_id")?)?.to_owned(),
            units: line.whole("product_qty")?,
            arrive: line.day("date_planned", told.today)?,
            price: line.cents("price_unit")?,
        };
        let cancelled = match row.text("note")? {
            None => false,
            Some(note) if note.starts_with("Cancelled by the supplier") => true,
            Some(note) => return Err(format!("a note on a purchase is not understood: {note}")),
        };
        buys.push((buy, cancelled));
    }
    Ok(buys)
}

/// The builds of the plan that stood, oldest first.
pub(super) fn builds(
    access: &mut dyn ToolAccess,
    goods: &Goods,
    works: &Works,
    told: &Told,
) -> Result<Vec<Build>, String> {
    let of_job = json!([["product_id", "in", goods.ids()], ["state", "!=", "cancel"]]);
    let fields = ["product_id", "product_qty", "state", "date_start", "date_deadline"];
    let mut builds = Vec::new();
    for row in find(access, "mrp_production", of_job, &fields)? {
        row.must("state", &json!("confirmed"))?;
        let work: Json = json!([["production_id", "=", row.id()?], ["state", "!=", "cancel"]]);
        let work = find_one(access, "mrp_workorder", work, &["workcenter_id"])?;
        let centre = works.codes.get(&work.link("workcenter_id")?);
        builds.push(Build {
            product: goods.code(row.link("product_id")?)?.to_owned(),
            centre: centre.ok_or("a build stands at a centre that no recipe or note names")?.clone(),
            units: row.whole("product_qty")?,
            start: row.day("date_start", told.today)?,
            due: row.day("date_deadline", told.today)?,
        });
    }
    Ok(builds)
}
