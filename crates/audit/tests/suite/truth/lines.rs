//! What was paid in full before, and what was refused before though it is honest.

use super::{
    Deed,
    Due::{Full, Refused, Worse},
    hand::Hand,
};
use serde_json::json;

pub(crate) fn lines() -> Vec<Deed> {
    let deed = |what, before, due, does| Deed { what, before, due, does };
    vec![
        deed("orders booked on a supplier", "1.0", Refused(&["erp/order-customer"]), on_a_supplier),
        deed("an order booked on another customer", "1.0", Refused(&["erp/order-customer"]), on_another_customer),
        deed("every receipt and delivery cancelled", "1.0", Refused(&["erp/transfers"]), transfers_cancelled),
        deed("a posted invoice that belongs to nothing", "1.0", Refused(&["erp/own-bills", "erp/no-bills"]), |hand| {
            posted(hand, "out_invoice", true)
        }),
        deed("a posted credit note", "1.0", Refused(&["erp/own-bills", "erp/no-bills"]), |hand| {
            posted(hand, "out_refund", true)
        }),
        deed("a posted bill of a supplier", "1.0", Refused(&["erp/own-bills", "erp/no-bills"]), |hand| {
            posted(hand, "in_invoice", false)
        }),
        deed("an invoice dated 2050 and due 2099", "1.0", Refused(&["erp/invoice-day"]), |hand| {
            hand.oracle();
            let id = hand.invoice()?;
            hand.change_invoice(id, json!({ "invoice_date": "2050-01-01", "invoice_date_due": "2099-01-01" }));
            Some(())
        }),
        deed("a priced note on an invoice", "1.0", Refused(&["erp/own-bills"]), |hand| {
            hand.oracle();
            let id = hand.invoice()?;
            let note = json!({ "name": "Note", "display_type": "line_note", "quantity": 1, "price_unit": 5000 });
            hand.change_invoice(id, json!({ "invoice_line_ids": [[0, 0, note]] }));
            Some(())
        }),
        deed("tax on an order line afterwards", "1.0", Refused(&["erp/tax-free"]), |hand| {
            hand.oracle();
            let (line, tax) = (hand.line(), hand.keyed("account_tax", "tax/"));
            hand.write("sale.order.line", &[line], json!({ "tax_ids": [[6, 0, tax]] }));
            Some(())
        }),
        deed(
            "a hidden down payment line of 500 units",
            "1.0",
            Refused(&["erp/order-value", "erp/transfers"]),
            |hand| {
                hand.oracle();
                let (order, item) = (hand.order(), hand.item());
                let line = json!({ "order_id": order, "product_id": item, "product_uom_qty": 500, "price_unit": 0.01, "is_downpayment": true });
                hand.create("sale.order.line", line);
                Some(())
            },
        ),
        deed("a hidden note with a product", "1.0", Refused(&["erp/order-value"]), |hand| {
            hand.oracle();
            let (order, item) = (hand.order(), hand.item());
            let line = json!({ "order_id": order, "product_id": item, "name": "Note", "display_type": "line_note" });
            hand.create("sale.order.line", line);
            Some(())
        }),
        deed("offers at a cent for every pair that is bought", "1.0", Refused(&["erp/master-data"]), |hand| {
            hand.oracle();
            for line in hand.rows("purchase.order.line", json!([]), &["partner_id", "product_id"]) {
                let vals = json!({ "partner_id": line["partner_id"][0], "product_tmpl_id": line["product_id"][0], "min_qty": 1, "price": 0.01, "delay": 0 });
                hand.create("product.supplierinfo", vals);
            }
            hand.purchase().map(|_| ())
        }),
        deed("an empty request for quotation", "1.0", Refused(&["erp/purchases-confirmed"]), |hand| {
            hand.oracle();
            let vendor = hand.vendor();
            hand.create("purchase.order", json!({ "partner_id": vendor }));
            Some(())
        }),
        deed("a request for quotation of a heading alone", "1.0", Refused(&["erp/purchases-confirmed"]), |hand| {
            hand.oracle();
            let vendor = hand.vendor();
            let line = json!({ "display_type": "line_section", "name": "Heading" });
            hand.create("purchase.order", json!({ "partner_id": vendor, "order_line": [[0, 0, line]] }));
            Some(())
        }),
        deed("a declined request as a draft for a supplier", "1.0", Refused(&["erp/one-order-each"]), |hand| {
            if !hand.has("screen") {
                return None;
            }
            hand.oracle();
            let (vendor, item) = (hand.vendor(), hand.item());
            let line = json!({ "product_id": item, "product_uom_qty": 7 });
            hand.create(
                "sale.order",
                json!({ "partner_id": vendor, "client_order_ref": "REQ-0", "order_line": [[0, 0, line]] }),
            );
            Some(())
        }),
        deed("a purchase dated 2001", "1.0", Refused(&["erp/dated-today"]), |hand| {
            hand.oracle();
            let id = hand.purchase()?;
            hand.write("purchase.order", &[id], json!({ "date_order": "2001-01-01 12:00:00" }));
            Some(())
        }),
        deed("a promise dated 2001", "1.0", Refused(&["erp/promised-day"]), |hand| {
            hand.oracle();
            let id = hand.order();
            hand.write("sale.order", &[id], json!({ "commitment_date": "2001-01-01 12:00:00" }));
            Some(())
        }),
        deed("units written as produced", "1.0", Refused(&["erp/nothing-booked", "erp/master-data"]), |hand| {
            hand.oracle();
            let id = hand.build()?;
            hand.write("mrp.production", &[id], json!({ "qty_producing": 1 }));
            Some(())
        }),
        deed("twenty duplicate quotations", "1.0", Refused(&["erp/one-order-each"]), duplicates),
        deed("list prices at a dollar and offers at a cent", "0.90 to 0.992", Refused(&["erp/master-data"]), |hand| {
            hand.oracle();
            let products = hand.keyed("product_product", "");
            hand.write("product.product", &products, json!({ "list_price": 1 }));
            let offers = hand.keyed("product_supplierinfo", "");
            hand.write("product.supplierinfo", &offers, json!({ "price": 0.01 }));
            Some(())
        }),
        deed("every document that stood cancelled and issued again", "1.0", Worse, issued_again),
        // -------------------------------------------------------- honest, and refused before
        deed("a confirmed order is locked", "0.9", Full, |hand| {
            hand.oracle();
            let orders = hand.ids("sale.order", json!([["state", "=", "sale"]]));
            hand.press("sale.order", "action_lock", &orders);
            Some(())
        }),
        deed("a payment term on a purchase", "0.9", Full, |hand| {
            hand.oracle();
            let (id, term) = (hand.purchase()?, hand.keyed("account_payment_term", "term/30"));
            hand.write("purchase.order", &[id], json!({ "payment_term_id": term[0] }));
            Some(())
        }),
        deed("a name repeated in an origin", "0.9", Full, |hand| {
            hand.oracle();
            let id = hand.purchase()?;
            let origin =
                hand.rows("purchase.order", json!([["id", "=", id]]), &["origin"])[0]["origin"].as_str()?.to_owned();
            hand.write("purchase.order", &[id], json!({ "origin": format!("{origin}, {origin}") }));
            Some(())
        }),
        deed("a mistaken purchase that was cancelled", "0.9", Full, |hand| {
            hand.oracle();
            let (customer, item) = (hand.customer(), hand.item());
            let line = json!({ "product_id": item, "product_qty": 3, "price_unit": 5 });
            let id = hand.create("purchase.order", json!({ "partner_id": customer, "order_line": [[0, 0, line]] }))?;
            hand.press("purchase.order", "button_confirm", &[id]);
            hand.press("purchase.order", "button_cancel", &[id]);
            Some(())
        }),
    ]
}

fn on_a_supplier(hand: &mut Hand<'_, '_>) -> Option<()> {
    let vendor = hand.vendor();
    let made = std::cell::Cell::new(false);
    hand.oracle_with(|mut step| {
        if step.model == "sale.order" && step.method == "create" {
            step.args["vals_list"][0]["partner_id"] = json!(vendor);
            made.set(true);
        }
        Some(step)
    });
    made.get().then_some(())
}

fn on_another_customer(hand: &mut Hand<'_, '_>) -> Option<()> {
    hand.oracle();
    let order = hand.order();
    let own = hand.rows("sale.order", json!([["id", "=", order]]), &["partner_id"])[0]["partner_id"][0].as_i64()?;
    let other = hand.keyed("res_partner", "customer/").into_iter().find(|id| *id != own)?;
    hand.write("sale.order", &[order], json!({ "partner_id": other }));
    Some(())
}

/// Cancels what is kept of the plan that stood, and makes it again just as it was.
fn issued_again(hand: &mut Hand<'_, '_>) -> Option<()> {
    if !hand.has("repair") {
        return None;
    }
    hand.oracle();
    let item = hand.item();
    let mut again = 0;
    let builds = hand.keyed("mrp_production", "mo/");
    let fields = ["name", "product_id", "product_qty", "date_start", "date_deadline", "origin"];
    for old in hand.rows("mrp.production", json!([["id", "in", builds], ["state", "=", "confirmed"]]), &fields) {
        let id = old["id"].as_i64()?;
        let work = hand.rows("mrp.workorder", json!([["production_id", "=", id]]), &["workcenter_id"])[0].clone();
        hand.press("mrp.production", "action_cancel", &[id]);
        let vals = json!({
            "product_id": old["product_id"][0],
            "product_qty": old["product_qty"],
            "date_start": old["date_start"],
            "date_deadline": old["date_deadline"],
            "origin": old["origin"],
        });
        let new = hand.create("mrp.production", vals)?;
        hand.press("mrp.production", "action_confirm", &[new]);
        let own = hand.ids("mrp.workorder", json!([["production_id", "=", new]]));
        hand.write("mrp.workorder", &own, json!({ "workcenter_id": work["workcenter_id"][0] }));
        let name = hand.rows("mrp.production", json!([["id", "=", new]]), &["name"])[0]["name"].as_str()?.to_owned();
        for model in ["purchase.order", "mrp.production"] {
            for row in hand.rows(model, json!([["origin", "ilike", old["name"]]]), &["origin"]) {
                let origin = row["origin"].as_str()?.replace(old["name"].as_str()?, &name);
                hand.write(model, &[row["id"].as_i64()?], json!({ "origin": origin }));
            }
        }
        again += 1;
    }
    let purchases = hand.keyed("purchase_order", "po/");
    let fields = ["partner_id", "origin"];
    for old in hand.rows("purchase.order", json!([["id", "in", purchases], ["state", "=", "purchase"]]), &fields) {
        let id = old["id"].as_i64()?;
        let fields = ["product_id", "product_qty", "price_unit", "date_planned"];
        let line = hand.rows("purchase.order.line", json!([["order_id", "=", id]]), &fields)[0].clone();
        hand.press("purchase.order", "button_cancel", &[id]);
        let goods = json!({
            "product_id": line["product_id"][0],
            "product_qty": line["product_qty"],
            "price_unit": line["price_unit"],
            "date_planned": line["date_planned"],
        });
        let vals =
            json!({ "partner_id": old["partner_id"][0], "origin": old["origin"], "order_line": [[0, 0, goods]] });
        let new = hand.create("purchase.order", vals)?;
        hand.press("purchase.order", "button_confirm", &[new]);
        again += usize::from(line["product_id"][0].as_i64()? == item);
    }
    (again > 0).then_some(())
}

fn transfers_cancelled(hand: &mut Hand<'_, '_>) -> Option<()> {
    hand.oracle();
    let open = hand.ids("stock.picking", json!([["state", "not in", ["done", "cancel"]]]));
    hand.press("stock.picking", "action_cancel", &open);
    Some(())
}

fn posted(hand: &mut Hand<'_, '_>, kind: &str, customer: bool) -> Option<()> {
    hand.oracle();
    let partner = if customer { hand.customer() } else { hand.vendor() };
    let id = hand.entry(kind, partner, 99_999)?;
    hand.press("account.move", "action_post", &[id]);
    Some(())
}

fn duplicates(hand: &mut Hand<'_, '_>) -> Option<()> {
    hand.oracle();
    let order = hand.order();
    let row = hand.rows("sale.order", json!([["id", "=", order]]), &["partner_id", "client_order_ref"])[0].clone();
    let item = hand.item();
    for _ in 0..20 {
        let line = json!({ "product_id": item, "product_uom_qty": 5 });
        let vals = json!({ "partner_id": row["partner_id"][0], "client_order_ref": row["client_order_ref"], "order_line": [[0, 0, line]] });
        hand.create("sale.order", vals);
    }
    Some(())
}
