//! Near-misses by calls: for a rule that no solver reads, the oracle's work with one thing done otherwise, so that this
//! rule is broken and none but its twins.

mod billing;
mod goods;
mod orders;

use super::calls::{self, noon, term};
use super::facts;
use super::rows::PlanRows;
use super::shop::{Order, OrderLine, Shop, Source};
use benchwright_base::Date;
use benchwright_pack::{Script, Step, script::at};
use benchwright_project::Mutation;
use benchwright_spec::NamedRows;
use serde_json::{Map, Value as Json, json};

/// Calls that break one instance of a rule; `None` where there is no mutator for it.
pub(crate) fn mutate(shop: &Shop, plan: &NamedRows, rule: &str, at: &[String]) -> Result<Option<Mutation>, String> {
    let mut work = Work::new(shop, plan)?;
    let at = at.first().map_or("", |at| &**at);
    let done = match rule {
        "erp/list-price" | "erp/order-value" => work.cheaper(at),
        "erp/order-customer" => work.other_customer(at),
        "erp/dated-today" => work.dated_yesterday(),
        "erp/customer-limit" => work.dearer_than_the_limit(at),
        "erp/orders-confirmed" => work.nothing_left_on_the_order(plan, at),
        "erp/draft-confirmed" => work.fresh_copy(at),
        "erp/draft-cancelled" => work.draft_left(at),
        "erp/listed-request-entered" | "erp/standing-orders" => work.entered_twice(at),
        "erp/declined-not-entered" => work.declined_entered(at),
        "erp/one-order-each" => work.extra_order(),
        "erp/purchases-confirmed" => work.open_request(),
        "erp/builds-confirmed" => work.draft_build(),
        "erp/recipe" => work.other_recipe(),
        "erp/approved-centre" => work.second_work_order(),
        "erp/purchase-origin" => work.no_purchase_origin(at),
        "erp/build-origin" => work.no_build_origin(at),
        "erp/broken-documents" => work.broken_kept(),
        "erp/transfers" => work.delivery_cancelled(),
        "erp/nothing-booked" => work.stock_booked(),
        "erp/adjacent-records" => work.neighbour_renamed(),
        "erp/master-data" => work.price_list_changed(),
        "erp/invoice-flow" => work.second_invoice(at),
        "erp/invoice-day" => work.billed_tomorrow(at),
        "erp/own-bills" => work.entry_beside("out_refund"),
        "erp/no-bills" => work.entry_beside("out_invoice"),
        "erp/order-terms" => work.other_order_terms(at),
        "erp/invoice-terms" => work.other_invoice_terms(at),
        "erp/invoice-customer" => work.other_invoice_partner(at),
        "erp/final-invoice" => work.other_amount(at, "final"),
        "erp/deposit-invoice" => work.other_amount(at, "deposit"),
        "erp/declined-not-billed" => work.declined_billed(at),
        "erp/tax-free" => work.taxed(),
        _ => return Ok(None),
    };
    done.map(|()| Some(Mutation::Script(Script { steps: work.steps, ..Script::default() })))
}

/// The oracle's work, to be spoilt in one place.
struct Work<'a> {
    shop: &'a Shop,
    rows: PlanRows,
    anchor: Date,
    steps: Vec<Step>,
}

impl<'a> Work<'a> {
    fn new(shop: &'a Shop, plan: &NamedRows) -> Result<Work<'a>, String> {
        let rows = PlanRows::read(plan)?;
        let anchor = Date::parse(&shop.anchor).ok_or_else(|| format!("`{}` is no date", shop.anchor))?;
        Ok(Work { shop, rows, anchor, steps: calls::script(shop, plan)?.steps })
    }

    fn then(&mut self, model: &str, method: &str, args: Json) {
        self.steps.push(Step::call(model, method, args));
    }

    /// Writes one field of a record.
    fn write(&mut self, model: &str, key: &str, field: &str, value: Json) {
        self.then(model, "write", json!({ "ids": [at(key)], "vals": { field: value } }));
    }

    /// Presses a button of a record.
    fn press(&mut self, model: &str, method: &str, key: &str) {
        self.then(model, method, json!({ "ids": [at(key)] }));
    }

    /// Binds the id of the one record that meets conditions.
    fn find(&mut self, model: &str, conditions: Json, key: &str) {
        let args = json!({ "domain": conditions, "fields": ["id"] });
        self.steps.push(Step::call(model, "search_read", args).bind(key).take("id"));
    }

    fn request(&self, reference: &str) -> Result<&'a Order, String> {
        let found = self.shop.orders.iter().find(|order| order.reference == reference);
        found.ok_or_else(|| format!("there is no request `{reference}`"))
    }

    /// The first line of a request: its product, units and list price.
    fn first_line(&self, order: &'a Order) -> Result<(&'a OrderLine, i64), String> {
        let line = order.lines.first().ok_or_else(|| format!("{} asks for nothing", order.reference))?;
        Ok((line, self.shop.list_price(&line.product)))
    }

    /// The key of the sales order that answers a request.
    fn order(&self, reference: &str) -> Result<String, String> {
        let order = self.request(reference)?;
        if order.source != Source::Brief {
            return Ok(facts::record(reference));
        }
        let row = self.rows.sells.iter().position(|sell| sell.order == reference);
        row.map(|row| format!("order/{}", row + 1)).ok_or_else(|| format!("the plan does not answer `{reference}`"))
    }

    /// A new sales order as a request asks for it, under a reference and with so many units of each item, by the day it is due.
    fn new_order(&self, order: &Order, reference: &str, units: impl Fn(&OrderLine) -> i64) -> Result<Json, String> {
        let line = |line: &OrderLine| {
            json!([0, 0, {
                "product_id": at(&facts::product(&line.product)),
                "product_uom_qty": units(line),
                "price_unit": calls::dollars(self.shop.list_price(&line.product)),
            }])
        };
        let lines: Vec<Json> = order.lines.iter().map(line).collect();
        let mut vals = Map::from_iter([
            ("partner_id".to_owned(), at(&facts::customer(&order.customer))),
            ("client_order_ref".to_owned(), reference.into()),
            ("commitment_date".to_owned(), noon(self.anchor, order.due)?.into()),
            ("order_line".to_owned(), lines.into()),
        ]);
        if let Some(billing) = &self.shop.billing {
            vals.insert("payment_term_id".to_owned(), at(&term(billing.days)));
        }
        Ok(json!({ "vals_list": [vals] }))
    }

    /// The key of the terms that are not those of the job.
    fn other_terms(&self) -> Json {
        at(&term(if self.shop.billing.as_ref().is_some_and(|billing| billing.days == 0) { 30 } else { 0 }))
    }
}

#[cfg(test)]
mod tests;
