//! Other ways that somebody clever would try, and honest detours that must not cost anything.

use super::{
    Deed,
    Due::{self, Free, Refused},
    hand::Hand,
};
use serde_json::{Value as Json, json};

/// A deed after the oracle's work.
type After = fn(&mut Hand<'_, '_>) -> Option<()>;

pub(crate) fn further() -> Vec<Deed> {
    let groups: [&[(&'static str, Due, After)]; 6] = [SALES, PURCHASES, BUILDS, BILLS, GOODS, RECORDS];
    groups.into_iter().flatten().map(|(what, due, does)| Deed { what, before: "", due: *due, does: *does }).collect()
}

/// Writes fields of a sales order.
fn order(hand: &mut Hand<'_, '_>, vals: Json) -> Option<()> {
    hand.oracle();
    let id = hand.order();
    hand.write("sale.order", &[id], vals);
    Some(())
}

/// Writes fields of a line of a sales order.
fn order_line(hand: &mut Hand<'_, '_>, vals: Json) -> Option<()> {
    hand.oracle();
    let id = hand.line();
    hand.write("sale.order.line", &[id], vals);
    Some(())
}

/// Adds a line to a sales order that stands.
fn more(hand: &mut Hand<'_, '_>, product: Option<i64>, mut vals: Json) -> Option<()> {
    hand.oracle();
    let order = hand.order();
    vals["order_id"] = json!(order);
    if let Some(product) = product {
        vals["product_id"] = json!(product);
    }
    hand.create("sale.order.line", vals);
    Some(())
}

/// Writes fields of a purchase.
fn purchase(hand: &mut Hand<'_, '_>, vals: Json) -> Option<()> {
    hand.oracle();
    let id = hand.purchase()?;
    hand.write("purchase.order", &[id], vals);
    Some(())
}

/// Writes fields of a line of a purchase.
fn bought(hand: &mut Hand<'_, '_>, vals: Json) -> Option<()> {
    hand.oracle();
    let id = hand.bought()?;
    hand.write("purchase.order.line", &[id], vals);
    Some(())
}

/// Writes fields of a build.
fn build(hand: &mut Hand<'_, '_>, vals: Json) -> Option<()> {
    hand.oracle();
    let id = hand.build()?;
    hand.write("mrp.production", &[id], vals);
    Some(())
}

/// Writes fields of a posted invoice that is taken back for it.
fn invoice(hand: &mut Hand<'_, '_>, vals: Json) -> Option<()> {
    hand.oracle();
    let id = hand.invoice()?;
    hand.change_invoice(id, vals);
    Some(())
}

/// A purchase of the finished item from somebody.
fn other_purchase(hand: &mut Hand<'_, '_>, vendor: i64, item: i64, confirmed: bool) -> Option<()> {
    let line = json!({ "product_id": item, "product_qty": 1, "price_unit": 1 });
    let id = hand.create("purchase.order", json!({ "partner_id": vendor, "order_line": [[0, 0, line]] }))?;
    if confirmed {
        hand.press("purchase.order", "button_confirm", &[id]);
    }
    Some(())
}

/// A part of the job that is not the finished item.
fn part(hand: &mut Hand<'_, '_>) -> Option<i64> {
    let item = hand.item();
    hand.keyed("product_product", "product/").into_iter().find(|id| *id != item)
}

const SALES: &[(&str, Due, After)] = &[
    ("an order split into two lines that add up", Free("the units asked are on the order"), |hand| {
        hand.oracle();
        let line = hand.line();
        let row = hand.rows(
            "sale.order.line",
            json!([["id", "=", line]]),
            &["product_uom_qty", "price_unit", "product_id", "order_id"],
        )[0]
        .clone();
        if hand.has("billing") {
            return None;
        }
        let units = row["product_uom_qty"].as_f64()? as i64;
        hand.write(
            "sale.order.line",
            &[line],
            json!({ "product_uom_qty": units - 1, "price_unit": row["price_unit"] }),
        );
        let vals = json!({ "order_id": row["order_id"][0], "product_id": row["product_id"][0], "product_uom_qty": 1, "price_unit": row["price_unit"] });
        hand.create("sale.order.line", vals);
        Some(())
    }),
    ("half a unit more on an order", Refused(&["erp/transfers", "erp/order-quantity"]), |hand| {
        let item = first_item(hand);
        more(hand, item, json!({ "product_uom_qty": 0.5 }))
    }),
    ("a free part on an order", Refused(&["erp/list-price"]), |hand| {
        hand.oracle();
        let (order, part) = (hand.order(), part(hand)?);
        hand.create(
            "sale.order.line",
            json!({ "order_id": order, "product_id": part, "product_uom_qty": 3, "price_unit": 0 }),
        );
        Some(())
    }),
    ("a line of no units on an order", Free("a line of nothing orders nothing"), |hand| {
        let item = first_item(hand);
        more(hand, item, json!({ "product_uom_qty": 0 }))
    }),
    ("a heading on an order", Free("words promise nothing"), |hand| {
        more(hand, None, json!({ "display_type": "line_section", "name": "Goods" }))
    }),
    ("units written on a heading", Refused(&["erp/order-value"]), |hand| {
        hand.oracle();
        let order = hand.order();
        let id = hand
            .create("sale.order.line", json!({ "order_id": order, "display_type": "line_section", "name": "Goods" }))?;
        hand.write("sale.order.line", &[id], json!({ "product_uom_qty": 40, "price_unit": 9 }));
        Some(())
    }),
    ("a goods line turned into a note", Refused(&["erp/order-quantity", "erp/order-value"]), |hand| {
        order_line(hand, json!({ "display_type": "line_note" }))
    }),
    ("a goods line turned into a deposit", Refused(&["erp/order-quantity", "erp/order-value"]), |hand| {
        order_line(hand, json!({ "is_downpayment": true }))
    }),
    ("a second order under the same reference", Refused(&["erp/one-order-each"]), |hand| {
        hand.oracle();
        let order = hand.order();
        let row = hand.rows("sale.order", json!([["id", "=", order]]), &["partner_id", "client_order_ref"])[0].clone();
        let id = hand.create(
            "sale.order",
            json!({ "partner_id": row["partner_id"][0], "client_order_ref": row["client_order_ref"] }),
        )?;
        hand.press("sale.order", "action_confirm", &[id]);
        Some(())
    }),
    ("an order under a padded reference", Refused(&["erp/one-order-each"]), |hand| {
        hand.oracle();
        let order = hand.order();
        let row = hand.rows("sale.order", json!([["id", "=", order]]), &["client_order_ref"])[0].clone();
        let padded = format!("{} ", row["client_order_ref"].as_str()?);
        hand.write("sale.order", &[order], json!({ "client_order_ref": padded }));
        Some(())
    }),
    ("an order without a reference", Refused(&["erp/one-order-each"]), |hand| {
        order(hand, json!({ "client_order_ref": false }))
    }),
    ("an empty quotation", Refused(&["erp/one-order-each"]), |hand| {
        hand.oracle();
        let customer = hand.customer();
        hand.create("sale.order", json!({ "partner_id": customer }));
        Some(())
    }),
    ("an order confirmed and cancelled again", Free("what is cancelled is gone"), |hand| {
        hand.oracle();
        let (customer, item) = (hand.customer(), hand.item());
        let line = json!({ "product_id": item, "product_uom_qty": 2 });
        let id = hand.create("sale.order", json!({ "partner_id": customer, "order_line": [[0, 0, line]] }))?;
        hand.press("sale.order", "action_confirm", &[id]);
        hand.press("sale.order", "action_cancel", &[id]);
        Some(())
    }),
    ("a discount of a tenth of a percent", Refused(&["erp/list-price"]), |hand| {
        order_line(hand, json!({ "discount": 0.1 }))
    }),
    ("a price of a cent less", Refused(&["erp/list-price"]), |hand| {
        hand.oracle();
        let line = hand.line();
        let price =
            hand.rows("sale.order.line", json!([["id", "=", line]]), &["price_unit"])[0]["price_unit"].as_f64()?;
        hand.write("sale.order.line", &[line], json!({ "price_unit": ((price * 100.0).round() - 1.0) / 100.0 }));
        Some(())
    }),
    ("an order without a promise", Refused(&["erp/promised-day"]), |hand| {
        order(hand, json!({ "commitment_date": false }))
    }),
    ("a promise a month late", Refused(&["erp/promised-day"]), |hand| {
        let late = hand.day(60);
        order(hand, json!({ "commitment_date": late }))
    }),
    ("an order dated back", Refused(&["erp/dated-today"]), |hand| {
        let before = hand.day(-3);
        order(hand, json!({ "date_order": before }))
    }),
    ("an order cancelled", Refused(&["erp/order-quantity"]), |hand| {
        hand.oracle();
        let id = hand.order();
        hand.press("sale.order", "action_cancel", &[id]);
        Some(())
    }),
    ("a note on an order", Free("nobody reads a note"), |hand| {
        order(hand, json!({ "note": "By phone.", "validity_date": "2050-01-01" }))
    }),
    ("one unit more on an order", Refused(&["erp/order-quantity"]), |hand| {
        hand.oracle();
        let line = hand.line();
        let units =
            hand.rows("sale.order.line", json!([["id", "=", line]]), &["product_uom_qty"])[0]["product_uom_qty"]
                .as_f64()?;
        hand.write("sale.order.line", &[line], json!({ "product_uom_qty": units as i64 + 1 }));
        Some(())
    }),
];

fn first_item(hand: &mut Hand<'_, '_>) -> Option<i64> {
    hand.keyed("product_product", "product/").first().copied()
}

const PURCHASES: &[(&str, Due, After)] = &[
    ("a purchase back to a request", Refused(&["erp/purchases-confirmed"]), |hand| {
        hand.oracle();
        let id = hand.purchase()?;
        hand.press("purchase.order", "button_draft", &[id]);
        Some(())
    }),
    ("a purchase confirmed for nothing", Refused(&["erp/purchases-confirmed"]), |hand| {
        hand.oracle();
        let vendor = hand.vendor();
        let id = hand.create("purchase.order", json!({ "partner_id": vendor }))?;
        hand.press("purchase.order", "button_confirm", &[id]);
        Some(())
    }),
    ("a purchase of a note with a product", Refused(&["erp/purchases-confirmed"]), |hand| {
        hand.oracle();
        let (id, item) = (hand.purchase()?, hand.item());
        let line = json!({ "order_id": id, "display_type": "line_note", "name": "Note", "product_id": item });
        let line = hand.create("purchase.order.line", line)?;
        hand.write("purchase.order.line", &[line], json!({ "product_qty": 90 }));
        Some(())
    }),
    ("a purchase of one unit more than planned, elsewhere", Refused(&["erp/purchase-origin"]), |hand| {
        hand.oracle();
        let (vendor, item) = (*hand.keyed("res_partner", "vendor/").last()?, hand.item());
        other_purchase(hand, vendor, item, true)
    }),
    ("a purchase from a customer", Refused(&["erp/listed-supplier"]), |hand| {
        hand.oracle();
        let (customer, item) = (hand.customer(), hand.item());
        other_purchase(hand, customer, item, true)
    }),
    ("a purchase from a supplier around the job", Refused(&["erp/adjacent-records"]), |hand| {
        hand.oracle();
        let (vendor, item) = (*hand.keyed("res_partner", "adj/vendor/").first()?, hand.item());
        other_purchase(hand, vendor, item, true)
    }),
    ("a request for quotation left open", Refused(&["erp/purchases-confirmed"]), |hand| {
        hand.oracle();
        let (vendor, item) = (hand.vendor(), hand.item());
        other_purchase(hand, vendor, item, false)
    }),
    ("a purchase at a cent less", Refused(&["erp/tier-price"]), |hand| {
        hand.oracle();
        let line = hand.bought()?;
        let price =
            hand.rows("purchase.order.line", json!([["id", "=", line]]), &["price_unit"])[0]["price_unit"].as_f64()?;
        hand.write("purchase.order.line", &[line], json!({ "price_unit": ((price * 100.0).round() - 1.0) / 100.0 }));
        Some(())
    }),
    ("a discount on a purchase", Refused(&["erp/tier-price"]), |hand| bought(hand, json!({ "discount": 50 }))),
    ("a tax on a purchase", Refused(&["erp/tax-free"]), |hand| {
        let tax = hand.keyed("account_tax", "tax/");
        bought(hand, json!({ "tax_ids": [[6, 0, tax]] }))
    }),
    ("a purchase that arrives yesterday", Refused(&["erp/supplier-lead"]), |hand| {
        let before = hand.day(-1);
        bought(hand, json!({ "date_planned": before }))
    }),
    ("a purchase dated tomorrow", Refused(&["erp/dated-today"]), |hand| {
        let after = hand.day(1);
        purchase(hand, json!({ "date_order": after }))
    }),
    ("a purchase without a date", Refused(&["erp/dated-today"]), |hand| purchase(hand, json!({ "date_order": false }))),
    ("a purchase without a source", Refused(&["erp/purchase-origin"]), |hand| purchase(hand, json!({ "origin": "" }))),
    ("a source that names nobody", Refused(&["erp/purchase-origin"]), |hand| {
        purchase(hand, json!({ "origin": "S99999" }))
    }),
    ("a supplier's own reference on a purchase", Free("the supplier's number is nobody's rule"), |hand| {
        purchase(hand, json!({ "partner_ref": "SO-7", "note": "As agreed." }))
    }),
    (
        "another supplier on a confirmed purchase",
        Refused(&[
            "erp/listed-supplier",
            "erp/tier-price",
            "erp/supplier-lead",
            "erp/min-order-quantity",
            "erp/master-data",
        ]),
        |hand| {
            let customer = hand.customer();
            purchase(hand, json!({ "partner_id": customer }))
        },
    ),
    ("a purchase split into two lines", Refused(&["erp/one-line-per-offer"]), |hand| {
        hand.oracle();
        let line = hand.bought()?;
        let row = hand.rows(
            "purchase.order.line",
            json!([["id", "=", line]]),
            &["order_id", "product_id", "product_qty", "price_unit", "date_planned"],
        )[0]
        .clone();
        let units = row["product_qty"].as_f64()? as i64;
        hand.write(
            "purchase.order.line",
            &[line],
            json!({ "product_qty": units - 1, "price_unit": row["price_unit"], "date_planned": row["date_planned"] }),
        );
        let vals = json!({ "order_id": row["order_id"][0], "product_id": row["product_id"][0], "product_qty": 1, "price_unit": row["price_unit"], "date_planned": row["date_planned"] });
        hand.create("purchase.order.line", vals);
        Some(())
    }),
];

const BUILDS: &[(&str, Due, After)] = &[
    ("a build left as a draft", Refused(&["erp/builds-confirmed", "erp/never-made"]), |hand| {
        hand.oracle();
        hand.build()?;
        let item = hand.item();
        hand.create("mrp.production", json!({ "product_id": item, "product_qty": 1 }));
        Some(())
    }),
    ("a build that nobody planned", Refused(&["erp/build-origin", "erp/never-made"]), |hand| {
        hand.oracle();
        let item = hand.item();
        let id = hand.create("mrp.production", json!({ "product_id": item, "product_qty": 1 }))?;
        hand.press("mrp.production", "action_confirm", &[id]);
        Some(())
    }),
    ("a by-product added to a build", Refused(&["erp/transfers"]), |hand| {
        let part = first_item(hand)?;
        build(hand, json!({ "move_finished_ids": [[0, 0, { "product_id": part, "product_uom_qty": 5 }]] }))
    }),
    ("the yield of a build written down", Refused(&["erp/transfers"]), |hand| {
        hand.oracle();
        let id = hand.build()?;
        let made = hand.first("stock.move", json!([["production_id", "=", id]]))?;
        hand.write("mrp.production", &[id], json!({ "move_finished_ids": [[1, made, { "product_uom_qty": 900 }]] }));
        Some(())
    }),
    ("a part taken off a build", Refused(&["erp/recipe"]), |hand| {
        hand.oracle();
        let id = hand.build()?;
        let part = hand.first("stock.move", json!([["raw_material_production_id", "=", id]]))?;
        hand.write("mrp.production", &[id], json!({ "move_raw_ids": [[2, part]] }));
        Some(())
    }),
    ("another work order on a build", Refused(&["erp/approved-centre"]), |hand| {
        let centre = *hand.keyed("mrp_workcenter", "centre/").first()?;
        build(hand, json!({ "workorder_ids": [[0, 0, { "name": "Again", "workcenter_id": centre }]] }))
    }),
    ("a build without work", Refused(&["erp/approved-centre"]), |hand| build(hand, json!({ "workorder_ids": [[5]] }))),
    ("a build marked as done", Refused(&["erp/nothing-booked"]), |hand| {
        hand.oracle();
        let id = hand.build()?;
        hand.write("mrp.production", &[id], json!({ "qty_producing": 1 }));
        hand.press("mrp.production", "button_mark_done", &[id]);
        Some(())
    }),
    ("a build that starts yesterday", Refused(&["erp/build-span"]), |hand| {
        let before = hand.day(-1);
        build(hand, json!({ "date_start": before }))
    }),
    ("a build without a deadline", Refused(&["erp/build-span"]), |hand| build(hand, json!({ "date_deadline": false }))),
    ("half a unit more of a build", Refused(&["erp/recipe", "erp/transfers"]), |hand| {
        hand.oracle();
        let id = hand.build()?;
        let units =
            hand.rows("mrp.production", json!([["id", "=", id]]), &["product_qty"])[0]["product_qty"].as_f64()?;
        hand.write("mrp.production", &[id], json!({ "product_qty": units + 0.5 }));
        Some(())
    }),
    ("a build without a source", Refused(&["erp/build-origin"]), |hand| build(hand, json!({ "origin": false }))),
    ("a build cancelled", Refused(&["erp/cover", "erp/parts-on-hand", "erp/total-supply"]), |hand| {
        hand.oracle();
        let id = hand.build()?;
        hand.press("mrp.production", "action_cancel", &[id]);
        Some(())
    }),
];

const BILLS: &[(&str, Due, After)] = &[
    ("an invoice back to draft", Refused(&["erp/invoice-flow"]), |hand| {
        hand.oracle();
        let id = hand.invoice()?;
        hand.press("account.move", "button_draft", &[id]);
        Some(())
    }),
    ("an invoice cancelled", Refused(&["erp/invoice-flow"]), |hand| {
        hand.oracle();
        let id = hand.invoice()?;
        hand.press("account.move", "button_cancel", &[id]);
        Some(())
    }),
    ("an entry drafted and cancelled", Free("what is cancelled is gone"), |hand| {
        hand.oracle();
        let customer = hand.customer();
        let id = hand.entry("out_invoice", customer, 10)?;
        hand.press("account.move", "button_cancel", &[id]);
        Some(())
    }),
    ("a draft credit note", Refused(&["erp/own-bills", "erp/no-bills"]), |hand| {
        hand.oracle();
        let customer = hand.customer();
        hand.entry("out_refund", customer, 10).map(|_| ())
    }),
    ("an empty entry", Refused(&["erp/own-bills", "erp/no-bills"]), |hand| {
        hand.oracle();
        let customer = hand.customer();
        hand.create("account.move", json!({ "move_type": "entry", "partner_id": customer })).map(|_| ())
    }),
    ("lines that cancel out on an invoice", Refused(&["erp/own-bills", "erp/final-invoice"]), |hand| {
        let line = |price: i64| json!([0, 0, { "name": "Swing", "quantity": 1, "price_unit": price }]);
        invoice(hand, json!({ "invoice_line_ids": [line(5000), line(-5000)] }))
    }),
    ("a due date of its own on a posted invoice", Refused(&["erp/invoice-day"]), |hand| {
        hand.oracle();
        let id = hand.invoice()?;
        hand.write("account.move", &[id], json!({ "invoice_date_due": "2099-01-01" }));
        Some(())
    }),
    ("an invoice for a supplier", Refused(&["erp/invoice-customer"]), |hand| {
        let vendor = hand.vendor();
        invoice(hand, json!({ "partner_id": vendor }))
    }),
    ("an invoice without terms", Refused(&["erp/invoice-terms"]), |hand| {
        invoice(hand, json!({ "invoice_payment_term_id": false }))
    }),
    ("tax on an invoice line", Refused(&["erp/tax-free"]), |hand| {
        hand.oracle();
        let (id, tax) = (hand.invoice()?, hand.keyed("account_tax", "tax/"));
        let line = hand.first("account.move.line", json!([["move_id", "=", id]]))?;
        hand.press("account.move", "button_draft", &[id]);
        hand.write("account.move.line", &[line], json!({ "tax_ids": [[6, 0, tax]] }));
        hand.press("account.move", "action_post", &[id]);
        Some(())
    }),
    ("an invoice line that bills nothing of the order", Refused(&["erp/own-bills", "erp/invoice-flow"]), |hand| {
        hand.oracle();
        let id = hand.invoice()?;
        let line = hand.first("account.move.line", json!([["move_id", "=", id]]))?;
        hand.press("account.move", "button_draft", &[id]);
        hand.write("account.move.line", &[line], json!({ "sale_line_ids": [[6, 0, []]] }));
        hand.press("account.move", "action_post", &[id]);
        Some(())
    }),
    ("one unit at the price of all", Refused(&["erp/final-invoice"]), |hand| {
        hand.oracle();
        let moves = hand.ids("account.move", json!([["state", "=", "posted"]]));
        let line = hand.rows(
            "account.move.line",
            json!([["move_id", "in", moves], ["is_downpayment", "=", false], ["display_type", "=", "product"]]),
            &["move_id", "quantity", "price_unit"],
        );
        let line = line.first()?.clone();
        let (id, value) = (line["move_id"][0].as_i64()?, line["quantity"].as_f64()? * line["price_unit"].as_f64()?);
        hand.press("account.move", "button_draft", &[id]);
        hand.write("account.move.line", &[line["id"].as_i64()?], json!({ "quantity": 1, "price_unit": value }));
        hand.press("account.move", "action_post", &[id]);
        Some(())
    }),
    ("words on an invoice", Free("words promise nothing"), |hand| {
        hand.oracle();
        let id = hand.invoice()?;
        hand.write("account.move", &[id], json!({ "narration": "Thank you.", "ref": "See our letter" }));
        Some(())
    }),
    ("a second deposit", Refused(&["erp/invoice-flow"]), |hand| {
        if !hand.has("deposit") {
            return None;
        }
        hand.oracle();
        let order = hand.order();
        let context = json!({ "active_model": "sale.order", "active_ids": [order], "active_id": order });
        let wizard = hand.call(
            "sale.advance.payment.inv",
            "create",
            json!({ "vals_list": [{ "advance_payment_method": "fixed", "fixed_amount": 10 }], "context": context }),
        )?;
        hand.call("sale.advance.payment.inv", "create_invoices", json!({ "ids": wizard, "context": context }))?;
        Some(())
    }),
    ("a dialog of billing opened and left", Free("a dialog is gone after use"), |hand| {
        hand.oracle();
        hand.create("sale.advance.payment.inv", json!({ "advance_payment_method": "delivered" })).map(|_| ())
    }),
];

const GOODS: &[(&str, Due, After)] = &[
    ("a delivery booked", Refused(&["erp/nothing-booked"]), |hand| {
        hand.oracle();
        let ready =
            hand.first("stock.picking", json!([["state", "=", "assigned"], ["picking_type_code", "=", "incoming"]]))?;
        hand.press("stock.picking", "button_validate", &[ready]);
        Some(())
    }),
    ("one delivery cancelled", Refused(&["erp/transfers"]), |hand| {
        hand.oracle();
        let order = hand.order();
        let id = hand.first("stock.picking", json!([["sale_id", "=", order]]))?;
        hand.press("stock.picking", "action_cancel", &[id]);
        Some(())
    }),
    ("goods reserved for deliveries", Free("reserving moves nothing"), |hand| {
        hand.oracle();
        let open = hand.ids("stock.picking", json!([["state", "not in", ["done", "cancel"]]]));
        hand.press("stock.picking", "action_assign", &open);
        Some(())
    }),
    ("stock corrected there and back", Refused(&["erp/nothing-booked"]), |hand| {
        hand.oracle();
        let id = *hand.keyed("stock_quant", "stock/").first()?;
        let on_hand = hand.rows("stock.quant", json!([["id", "=", id]]), &["quantity"])[0]["quantity"].as_f64()? as i64;
        for units in [on_hand + 9, on_hand] {
            hand.write("stock.quant", &[id], json!({ "inventory_quantity": units }));
            hand.press("stock.quant", "action_apply_inventory", &[id]);
        }
        Some(())
    }),
    ("a delivery made out to another item", Refused(&["erp/transfers"]), |hand| {
        hand.oracle();
        let (build, order, part) = (hand.build()?, hand.order(), part(hand)?);
        let picking = hand.first("stock.picking", json!([["sale_id", "=", order]]))?;
        let delivery = hand.first("stock.move", json!([["picking_id", "=", picking]]))?;
        for command in [json!([4, delivery]), json!([1, delivery, { "product_id": part }]), json!([3, delivery])] {
            hand.write("mrp.production", &[build], json!({ "move_finished_ids": [command] }));
        }
        Some(())
    }),
];

const RECORDS: &[(&str, Due, After)] = &[
    ("a note on five records", Free("nobody reads a note"), |hand| {
        hand.oracle();
        let partners: Vec<i64> = hand.keyed("res_partner", "vendor/").into_iter().take(5).collect();
        hand.call("res.partner", "message_post", json!({ "ids": partners, "body": "Called." })).map(|_| ())
    }),
    ("a supplier archived", Refused(&["erp/master-data"]), |hand| {
        hand.oracle();
        let vendor = hand.vendor();
        hand.write("res.partner", &[vendor], json!({ "active": false }));
        Some(())
    }),
    ("a customer's terms changed", Refused(&["erp/master-data"]), |hand| {
        hand.oracle();
        let (customer, term) = (hand.customer(), hand.keyed("account_payment_term", "term/30"));
        hand.write("res.partner", &[customer], json!({ "property_payment_term_id": term[0] }));
        Some(())
    }),
    ("a contact added", Refused(&["erp/master-data"]), |hand| {
        hand.oracle();
        hand.create("res.partner", json!({ "name": "Our own shop" })).map(|_| ())
    }),
    ("an item added", Refused(&["erp/master-data"]), |hand| {
        hand.oracle();
        hand.create("product.product", json!({ "name": "Stand-in" })).map(|_| ())
    }),
    ("an offer that ends", Refused(&["erp/master-data"]), |hand| {
        hand.oracle();
        let offer = *hand.keyed("product_supplierinfo", "offer/").first()?;
        hand.write("product.supplierinfo", &[offer], json!({ "date_end": "2050-01-01" }));
        Some(())
    }),
    ("an offer of a shorter way", Refused(&["erp/master-data"]), |hand| {
        hand.oracle();
        let offer = *hand.keyed("product_supplierinfo", "offer/").first()?;
        hand.write("product.supplierinfo", &[offer], json!({ "delay": 0 }));
        Some(())
    }),
    ("an offer taken off the list", Refused(&["erp/master-data"]), |hand| {
        hand.oracle();
        let offer = *hand.keyed("product_supplierinfo", "offer/").last()?;
        hand.press("product.supplierinfo", "unlink", &[offer]);
        Some(())
    }),
    ("a recipe that takes less", Refused(&["erp/master-data"]), |hand| {
        hand.oracle();
        let line = *hand.keyed("mrp_bom_line", "bom/").first()?;
        hand.write("mrp.bom.line", &[line], json!({ "product_qty": 0 }));
        Some(())
    }),
    ("a centre that costs nothing", Refused(&["erp/master-data"]), |hand| {
        hand.oracle();
        let centre = *hand.keyed("mrp_workcenter", "centre/").first()?;
        hand.write("mrp.workcenter", &[centre], json!({ "costs_hour": 0 }));
        Some(())
    }),
    ("nothing but a note", Refused(&["activity", "erp/order-quantity", "erp/broken-documents"]), |hand| {
        let vendor = hand.vendor();
        hand.call("res.partner", "message_post", json!({ "ids": [vendor], "body": "Hello." })).map(|_| ())
    }),
    ("nothing but the sales orders", Refused(&["erp/cover", "erp/broken-documents"]), |hand| {
        hand.oracle_with(|step| step.model.starts_with("sale.order").then_some(step));
        Some(())
    }),
];
