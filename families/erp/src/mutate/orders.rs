//! Near-misses in sales orders.

use super::super::calls::{self, dollars, record_line};
use super::super::facts;
use super::super::shop::Source;
use super::Work;
use benchwright_pack::{Step, script::at};
use benchwright_schema::plan::Binding;
use benchwright_spec::NamedRows;
use serde_json::{Value as Json, json};

/// The key of a record that is made beside the plan.
const EXTRA: &str = "extra";

impl Work<'_> {
    /// Sells for a dollar less, once everything is done and billed.
    pub(super) fn cheaper(&mut self, reference: &str) -> Result<(), String> {
        let price = self.first_line(self.request(reference)?)?.1 - 100;
        self.reprice(reference, price)
    }

    /// Sells for as much as takes the order above its limit.
    pub(super) fn dearer_than_the_limit(&mut self, reference: &str) -> Result<(), String> {
        let order = self.request(reference)?;
        let limit = order.limit.ok_or_else(|| format!("{reference} has no limit"))?;
        let (line, list) = self.first_line(order)?;
        let others = self.shop.value(order) - line.units * list;
        self.reprice(reference, (limit - others) / line.units.max(1) + 100)
    }

    /// Books an order on another customer of the job, or on a supplier where there is none.
    pub(super) fn other_customer(&mut self, reference: &str) -> Result<(), String> {
        let customer = &self.request(reference)?.customer;
        let other = self.shop.customers.iter().find(|party| party.reference != *customer);
        let other = other.map(|party| facts::customer(&party.reference));
        let vendor = || self.shop.vendors.first().map(|party| facts::vendor(&party.reference));
        let partner = other.or_else(vendor).ok_or("there is no other partner")?;
        let order = self.order(reference)?;
        self.write("sale.order", &order, "partner_id", at(&partner));
        Ok(())
    }

    /// Puts a tax on a line of an order.
    pub(super) fn taxed(&mut self) -> Result<(), String> {
        let reference = &self.shop.accepted().next().ok_or("no request is accepted")?.reference;
        let line = self.line(reference, 0)?;
        self.write("sale.order.line", &line, "tax_ids", json!([[6, 0, [at("tax/sales")]]]));
        Ok(())
    }

    /// Cancels the delivery of an order that stands.
    pub(super) fn delivery_cancelled(&mut self) -> Result<(), String> {
        let reference = &self.shop.accepted().next().ok_or("no request is accepted")?.reference;
        let order = self.order(reference)?;
        self.find("stock.picking", json!([["sale_id", "=", at(&order)]]), EXTRA);
        self.press("stock.picking", "action_cancel", EXTRA);
        Ok(())
    }

    fn reprice(&mut self, reference: &str, price: i64) -> Result<(), String> {
        let line = self.line(reference, 0)?;
        self.write("sale.order.line", &line, "price_unit", dollars(price));
        Ok(())
    }

    /// The key of a line of goods of an order, by its number from 0.
    fn line(&mut self, reference: &str, number: usize) -> Result<String, String> {
        let order = self.order(reference)?;
        let request = self.request(reference)?;
        if request.source != Source::Brief {
            return Ok(record_line(&order, number));
        }
        let line = request.lines.get(number).ok_or_else(|| format!("{reference} has no line {number}"))?;
        let product = at(&facts::product(&line.product));
        let conditions = json!([["order_id", "=", at(&order)], ["product_id", "=", product]]);
        let line = if number == 0 { format!("{order}/goods") } else { format!("{order}/goods/{}", number + 1) };
        self.find("sale.order.line", conditions, &line);
        Ok(line)
    }

    /// Leaves an order confirmed, with nothing on it. What was to serve it names nobody or others, as if it were not there.
    pub(super) fn nothing_left_on_the_order(&mut self, plan: &NamedRows, reference: &str) -> Result<(), String> {
        let mut without = plan.clone();
        for row in without.0.get_mut("sell").into_iter().flatten() {
            if row.get("order") == Some(&Binding::Key(reference.to_owned())) {
                row.insert("qty".to_owned(), Binding::Number(0));
            }
        }
        let goods = calls::script(self.shop, &without)?.steps.into_iter().filter(is_goods);
        let documents = std::mem::take(&mut self.steps).into_iter().filter(|step| !is_goods(step));
        let (sales, bills): (Vec<Step>, Vec<Step>) = documents.partition(|step| step.model.starts_with("sale.order"));
        self.steps = sales.into_iter().chain(goods).chain(bills).collect();
        for number in 0..self.request(reference)?.lines.len() {
            let line = self.line(reference, number)?;
            self.write("sale.order.line", &line, "product_uom_qty", json!(0));
        }
        Ok(())
    }

    /// Confirms a fresh copy of a draft and leaves the draft alone.
    pub(super) fn fresh_copy(&mut self, reference: &str) -> Result<(), String> {
        let order = self.request(reference)?;
        let record = facts::record(reference);
        let copy = Step::call("sale.order", "create", self.new_order(order, reference, |line| line.units)?).bind(EXTRA);
        for number in 0..order.lines.len() {
            let line = json!([at(&record_line(&record, number))]);
            self.steps.retain(|step| step.args["ids"] != line);
        }
        for step in &mut self.steps {
            rename(&mut step.args, &record, EXTRA);
            if let Some(key) = &mut step.bind {
                *key = renamed(key, &record, EXTRA);
            }
        }
        self.steps.insert(0, copy);
        Ok(())
    }

    /// Forgets to cancel a draft that was declined.
    pub(super) fn draft_left(&mut self, reference: &str) -> Result<(), String> {
        let ids = json!([at(&facts::record(reference))]);
        let before = self.steps.len();
        self.steps.retain(|step| step.method != "action_cancel" || step.args["ids"] != ids);
        if self.steps.len() == before { Err(format!("{reference} is not cancelled")) } else { Ok(()) }
    }

    /// Confirms a second order for a request, with no units on it.
    pub(super) fn entered_twice(&mut self, reference: &str) -> Result<(), String> {
        let order = self.request(reference)?;
        let vals = self.new_order(order, reference, |_| 0)?;
        self.steps.push(Step::call("sale.order", "create", vals).bind(EXTRA));
        self.press("sale.order", "action_confirm", EXTRA);
        Ok(())
    }

    /// Enters a declined request as a draft.
    pub(super) fn declined_entered(&mut self, reference: &str) -> Result<(), String> {
        let order = self.request(reference)?;
        let vals = self.new_order(order, reference, |line| line.units)?;
        self.then("sale.order", "create", vals);
        Ok(())
    }

    /// Confirms an order of an accepted customer that nobody asked for.
    pub(super) fn extra_order(&mut self) -> Result<(), String> {
        let order = self.shop.accepted().last().ok_or("no request is accepted")?;
        let vals = self.new_order(order, "Phone call", |_| 1)?;
        self.steps.push(Step::call("sale.order", "create", vals).bind(EXTRA));
        self.press("sale.order", "action_confirm", EXTRA);
        Ok(())
    }
}

/// Whether a call is about purchases or builds.
fn is_goods(step: &Step) -> bool {
    step.model.starts_with("purchase.") || step.model.starts_with("mrp.")
}

/// A key with its beginning replaced, if it is that of a record or of something that belongs to it.
fn renamed(key: &str, from: &str, to: &str) -> String {
    match key.strip_prefix(from) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{to}{rest}"),
        _ => key.to_owned(),
    }
}

fn rename(args: &mut Json, from: &str, to: &str) {
    match args {
        Json::Object(map) => {
            for (name, value) in map {
                match value {
                    Json::String(key) if name == "$" => *key = renamed(key, from, to),
                    Json::Array(keys) if name == "$join" => {
                        for key in keys {
                            if let Json::String(key) = key {
                                *key = renamed(key, from, to);
                            }
                        }
                    }
                    other => rename(other, from, to),
                }
            }
        }
        Json::Array(list) => list.iter_mut().for_each(|item| rename(item, from, to)),
        _ => {}
    }
}
