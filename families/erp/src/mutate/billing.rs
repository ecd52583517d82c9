//! Near-misses in invoices.

use super::super::calls::dollars;
use super::super::facts;
use super::Work;
use benchwright_pack::{Step, script::at};
use serde_json::{Value as Json, json};

/// The key of an invoice that is made beside the plan.
const EXTRA: &str = "extra";

impl Work<'_> {
    /// The key of an invoice of an order.
    fn invoice(&self, reference: &str, kind: &str) -> Result<String, String> {
        let key = format!("{}/{kind}", self.order(reference)?);
        let made = self.steps.iter().any(|step| step.bind.as_ref() == Some(&key));
        if made { Ok(key) } else { Err(format!("{reference} has no {kind} invoice")) }
    }

    /// Posts a second invoice of the goods of an order.
    pub(super) fn second_invoice(&mut self, reference: &str) -> Result<(), String> {
        let order = self.request(reference)?;
        let record = self.order(reference)?;
        let billing = self.shop.billing.as_ref().ok_or("nothing is billed")?;
        let goods = format!("{record}/goods");
        let (first, list) = self.first_line(order)?;
        let product = at(&facts::product(&first.product));
        let conditions = json!([["order_id", "=", at(&record)], ["product_id", "=", product]]);
        self.find("sale.order.line", conditions, &goods);
        let line = json!({
            "product_id": product,
            "quantity": first.units,
            "price_unit": dollars(list),
            "sale_line_ids": [[6, 0, [at(&goods)]]],
        });
        let vals = json!({
            "move_type": "out_invoice",
            "partner_id": at(&facts::customer(&order.customer)),
            "invoice_payment_term_id": at(&super::term(billing.days)),
            "invoice_line_ids": [[0, 0, line]],
        });
        self.steps.push(Step::call("account.move", "create", json!({ "vals_list": [vals] })).bind(EXTRA));
        self.press("account.move", "action_post", EXTRA);
        Ok(())
    }

    /// Puts other terms on an order that is billed already.
    pub(super) fn other_order_terms(&mut self, reference: &str) -> Result<(), String> {
        let order = self.order(reference)?;
        let terms = self.other_terms();
        self.write("sale.order", &order, "payment_term_id", terms);
        Ok(())
    }

    /// Changes a field of the final invoice, which is posted again.
    fn change_invoice(&mut self, reference: &str, field: &str, value: Json) -> Result<(), String> {
        let invoice = self.invoice(reference, "final")?;
        self.press("account.move", "button_draft", &invoice);
        self.write("account.move", &invoice, field, value);
        self.press("account.move", "action_post", &invoice);
        Ok(())
    }

    /// Puts other terms on an invoice.
    pub(super) fn other_invoice_terms(&mut self, reference: &str) -> Result<(), String> {
        let terms = self.other_terms();
        self.change_invoice(reference, "invoice_payment_term_id", terms)
    }

    /// Makes an invoice out to another customer of the job, or to a supplier where there is none.
    pub(super) fn other_invoice_partner(&mut self, reference: &str) -> Result<(), String> {
        let customer = &self.request(reference)?.customer;
        let other = self.shop.accepted().map(|order| &order.customer).find(|other| *other != customer);
        let partner = match (other, self.shop.vendors.first()) {
            (Some(other), _) => facts::customer(other),
            (None, Some(vendor)) => facts::vendor(&vendor.reference),
            (None, None) => return Err("there is no other partner".to_owned()),
        };
        self.change_invoice(reference, "partner_id", at(&partner))
    }

    /// Takes a dollar off each unit of an invoice.
    pub(super) fn other_amount(&mut self, reference: &str, kind: &str) -> Result<(), String> {
        let order = self.request(reference)?;
        let deposit = kind == "deposit";
        let price = if deposit {
            self.shop.deposit(order).ok_or_else(|| format!("{reference} has no deposit"))?
        } else {
            self.first_line(order)?.1
        };
        self.change_line(reference, kind, "price_unit", dollars(price - 100))
    }

    /// Dates an invoice a day later.
    pub(super) fn billed_tomorrow(&mut self, reference: &str) -> Result<(), String> {
        let tomorrow = self.anchor.add_days(1).ok_or("the calendar ends today")?;
        self.change_invoice(reference, "invoice_date", json!(tomorrow.to_string()))
    }

    /// Drafts an entry to a customer that belongs to no order.
    pub(super) fn entry_beside(&mut self, kind: &str) -> Result<(), String> {
        let order = self.shop.accepted().next().ok_or("no request is accepted")?;
        let line = json!({ "name": "Goodwill", "quantity": 1, "price_unit": 10 });
        let vals = json!({
            "move_type": kind,
            "partner_id": at(&facts::customer(&order.customer)),
            "invoice_line_ids": [[0, 0, line]],
        });
        self.then("account.move", "create", json!({ "vals_list": [vals] }));
        Ok(())
    }

    /// Changes a field of the first line of an invoice: the goods of a final one, the deposit of the other.
    fn change_line(&mut self, reference: &str, kind: &str, field: &str, value: Json) -> Result<(), String> {
        let invoice = self.invoice(reference, kind)?;
        let line = format!("{invoice}/line");
        self.press("account.move", "button_draft", &invoice);
        let down = kind == "deposit";
        let mut conditions = vec![
            json!(["move_id", "=", at(&invoice)]),
            json!(["display_type", "=", "product"]),
            json!(["is_downpayment", "=", down]),
        ];
        if !down {
            let product = &self.first_line(self.request(reference)?)?.0.product;
            conditions.push(json!(["product_id", "=", at(&facts::product(product))]));
        }
        let conditions = Json::from(conditions);
        self.find("account.move.line", conditions, &line);
        self.write("account.move.line", &line, field, value);
        self.press("account.move", "action_post", &invoice);
        Ok(())
    }

    /// Drafts an invoice to a customer whose request was declined.
    pub(super) fn declined_billed(&mut self, reference: &str) -> Result<(), String> {
        let order = self.request(reference)?;
        let line = json!({ "product_id": at(&facts::product(&self.first_line(order)?.0.product)), "quantity": 1 });
        let vals = json!({
            "move_type": "out_invoice",
            "partner_id": at(&facts::customer(&order.customer)),
            "invoice_line_ids": [[0, 0, line]],
        });
        self.then("account.move", "create", json!({ "vals_list": [vals] }));
        Ok(())
    }
}
