//! Sales orders: prices, confirmation with deliveries, cancellation, and what is read of them.

use super::invoicing::{self, line_amounts};
use super::orm::{self, Answer, Call, Cells, Read, cannot, done, wrong_state};
use super::stock::{self, NewMove, is_in};
use super::{production, purchasing};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::RowView;

/// For how many days a quotation holds.
const VALIDITY: i64 = 30;

/// What a new order has unless it says otherwise: the time, who made it, and the terms of its customer.
pub(super) fn fill_order(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    if !cells.has(call, "date_order") {
        cells.set(call, "date_order", Value::DateTime(call.now()))?;
    }
    if !cells.has(call, "validity_date") {
        let until = call.now().date().add_days(VALIDITY);
        cells.set(call, "validity_date", until.map_or(Value::Null, Value::Date))?;
    }
    orm::fill_user(call, cells)?;
    if cells.get(call, "payment_term_id").is_none()
        && let Some(partner) = cells.link(call, "partner_id")
        && let Ok(partner) = call.row("res_partner", partner)
    {
        cells.set(call, "payment_term_id", partner.get("property_payment_term_id"))?;
    }
    Ok(())
}

/// What a new line has unless it says otherwise: the product's price and name.
pub(super) fn fill_line(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    if cells.has(call, "display_type") {
        cells.set(call, "product_uom_qty", Value::Quantity(0))?;
        cells.set(call, "price_unit", Value::Money(0))?;
        return cells.set(call, "technical_price_unit", Value::Money(0));
    }
    let product = cells.link(call, "product_id").map(|id| call.row("product_product", id)).transpose()?;
    if product.is_none() && cells.get(call, "is_downpayment") != Some(&Value::Bool(true)) {
        return Err(cannot("a line of a sales order has a product, or it is a section or a note"));
    }
    if let (Some(product), false) = (&product, cells.has(call, "name")) {
        let table = call.table("product_product")?;
        if let Some(row) = call.find(table, product.id())? {
            let name = super::present::name(call, table, row)?;
            cells.set(call, "name", Value::text(name))?;
        }
    }
    if cells.get(call, "price_unit").is_none() {
        let price = product.map_or(Value::Money(0), |product| product.get("list_price"));
        cells.set(call, "price_unit", price)?;
    }
    // A price counts as the system's own until it is written over.
    let price = cells.get(call, "price_unit").filter(|price| !price.is_null()).cloned().unwrap_or(Value::Money(0));
    cells.set(call, "technical_price_unit", price)
}

/// Lines of a locked order stay as they are.
pub(super) fn may_change_line(call: &Call<'_, '_>, id: RowId, cells: &mut Cells) -> Result<(), Refusal> {
    let line = call.row("sale_order_line", id)?;
    let Some(order) = line.link("order_id") else { return Ok(()) };
    let fields = ["product_id", "name", "price_unit", "product_uom_qty", "discount"];
    if call.row("sale_order", order)?.flag("locked") && fields.iter().any(|field| cells.get(call, field).is_some()) {
        return Err(wrong_state("the order is locked: unlock it before its lines are changed"));
    }
    Ok(())
}

/// A written quantity, the same one too, sets the price to the product's again, unless one was sent with it or written over before, or units are
/// billed already.
pub(super) fn reprice_line(call: &mut Call<'_, '_>, id: RowId, cells: &Cells) -> Result<(), Refusal> {
    let line = call.row("sale_order_line", id)?;
    let same = cells.get(call, "product_uom_qty").is_none();
    let by_hand = line.number("technical_price_unit") != line.number("price_unit");
    if same || by_hand || cells.get(call, "price_unit").is_some() || invoiced(call, id)? > 0 {
        return Ok(());
    }
    if let (Some(product), true) = (line.link("product_id"), line.get("display_type").is_null()) {
        let price = call.row("product_product", product)?.get("list_price");
        call.update("sale_order_line", id, &[("price_unit", price.clone()), ("technical_price_unit", price)])?;
    }
    Ok(())
}

/// What a line of a confirmed order has more or less is to be delivered more or less.
pub(super) fn line_changed(call: &mut Call<'_, '_>, id: RowId, old: Option<&RowView>) -> Result<(), Refusal> {
    let line = call.row("sale_order_line", id)?;
    let Some(order) = line.link("order_id") else { return Ok(()) };
    if !call.row("sale_order", order)?.is("state", "sale") {
        return Ok(());
    }
    let more = line.number("product_uom_qty") - old.map_or(0, |old| old.number("product_uom_qty"));
    if more == 0 || call.row("sale_order", order)?.flag("locked") {
        return Ok(());
    }
    let moves = call.rows("stock_move", &[("sale_line_id", Value::Ref(id))])?;
    match moves.iter().find(|row| is_in(row, &stock::OPEN) && row.link("picking_id").is_some()) {
        Some(row) => {
            let units = row.number("product_uom_qty") + more;
            let (row, picking) = (row.id(), row.link("picking_id"));
            if units <= 0 {
                stock::cancel_move(call, row)?;
            } else {
                call.update("stock_move", row, &[("product_uom_qty", Value::Quantity(units))])?;
                stock::reserve(call, row)?;
            }
            picking.map_or(Ok(()), |picking| stock::settle_picking(call, picking))
        }
        None if more > 0 => deliver(call, order, &[(id, more)]),
        None => Ok(()),
    }
}

/// Only drafts and cancelled orders can be deleted.
pub(super) fn may_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("sale_order", id)?;
    if is_in(&order, &["draft", "cancel"]) {
        let lines = call.rows("sale_order_line", &[("order_id", Value::Ref(id))])?;
        let lines: Vec<RowId> = lines.iter().map(RowView::id).collect();
        return stock::let_go(call, ("sale_id", id), ("sale_line_id", &lines));
    }
    Err(wrong_state(format!("{} is sent or confirmed: cancel it before it is deleted", order.words("name"))))
}

/// Lines of confirmed orders stay.
pub(super) fn may_unlink_line(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let line = call.row("sale_order_line", id)?;
    let Some(order) = line.link("order_id") else { return Ok(()) };
    if call.row("sale_order", order)?.is("state", "sale") && !line.is("display_type", "line_section") {
        return Err(wrong_state("a line of a confirmed order cannot be deleted: set its quantity to 0 instead"));
    }
    for row in call.rows("stock_move", &[("sale_line_id", Value::Ref(id))])? {
        call.update("stock_move", row.id(), &[("sale_line_id", Value::Null)])?;
        if let Some(delivery) = row.link("picking_id") {
            stock::settle_owner(call, delivery, "sale_line_id", "sale_id")?;
        }
    }
    Ok(())
}

/// `action_confirm`
pub(super) fn confirm(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let order = call.row("sale_order", id)?;
        if !is_in(&order, &["draft", "sent"]) {
            return Err(wrong_state(format!("{} is not in a state requiring confirmation", order.words("name"))));
        }
        let values =
            [("state", call.word("sale_order", "state", "sale")?), ("date_order", Value::DateTime(call.now()))];
        call.update("sale_order", id, &values)?;
        let lines: Vec<(RowId, i64)> = call
            .rows("sale_order_line", &[("order_id", Value::Ref(id))])?
            .iter()
            .map(|line| (line.id(), line.number("product_uom_qty")))
            .collect();
        deliver(call, id, &lines)?;
    }
    done(call, "true")
}

/// Plans the delivery of units of lines: a transfer with a move for each, and stock reserved for it. What is made to order
/// is ordered.
fn deliver(call: &mut Call<'_, '_>, order: RowId, lines: &[(RowId, i64)]) -> Result<(), Refusal> {
    let head = call.row("sale_order", order)?;
    if head.flag("locked") {
        // For a locked order nothing is planned.
        return Ok(());
    }
    let (name, date) = (head.words("name"), head.instant("commitment_date").or(head.instant("date_order")));
    // What is still to be shipped goes along.
    let known = call.rows("stock_picking", &[("sale_id", Value::Ref(order))])?;
    let mut picking = known.iter().find(|row| !is_in(row, &["done", "cancel"])).map(RowView::id);
    for &(id, units) in lines {
        let line = call.row("sale_order_line", id)?;
        let Some(product) = line.link("product_id") else { continue };
        if units <= 0 || line.flag("is_downpayment") || !line.get("display_type").is_null() {
            continue;
        }
        if !call.row("product_product", product)?.is("type", "consu") {
            continue;
        }
        let transfer = match picking {
            Some(transfer) => transfer,
            None => {
                let of = ("sale_id", order);
                *picking.insert(stock::make_picking(call, "outgoing", head.link("partner_id"), &name, date, of)?)
            }
        };
        let made_to_order = production::is_made_to_order(call, product)?;
        let new = NewMove {
            product,
            units,
            from: stock::location(call, "internal")?,
            to: stock::location(call, "customer")?,
            date,
            origin: &name,
            state: if made_to_order { "waiting" } else { "confirmed" },
            of: &[("picking_id", transfer), ("sale_line_id", id)],
        };
        let made = stock::make_move(call, &new)?;
        if made_to_order {
            production::make_to_order(call, product, units, &name, date, id)?;
        } else {
            stock::reserve(call, made)?;
        }
    }
    picking.map_or(Ok(()), |picking| stock::settle_picking(call, picking))
}

/// `action_cancel`
pub(super) fn cancel(call: &mut Call<'_, '_>) -> Answer {
    let ids = orm::ids(call);
    for id in &ids {
        let order = call.row("sale_order", *id)?;
        if order.flag("locked") {
            return Err(wrong_state(format!("{} is locked: unlock it before it is cancelled", order.words("name"))));
        }
    }
    for id in ids {
        for invoice in invoices(call, id)? {
            if call.row("account_move", invoice)?.is("state", "draft") {
                invoicing::set_state(call, invoice, "cancel")?;
            }
        }
        for transfer in call.rows("stock_picking", &[("sale_id", Value::Ref(id))])? {
            stock::cancel_picking(call, transfer.id())?;
        }
        let state = call.word("sale_order", "state", "cancel")?;
        call.update("sale_order", id, &[("state", state)])?;
    }
    done(call, "true")
}

/// `action_draft`
pub(super) fn draft(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        if is_in(&call.row("sale_order", id)?, &["cancel", "sent"]) {
            let state = call.word("sale_order", "state", "draft")?;
            call.update("sale_order", id, &[("state", state)])?;
        }
    }
    done(call, "true")
}

/// `action_lock`
pub(super) fn lock(call: &mut Call<'_, '_>) -> Answer {
    set_locked(call, true)
}

/// `action_unlock`
pub(super) fn unlock(call: &mut Call<'_, '_>) -> Answer {
    set_locked(call, false)
}

fn set_locked(call: &mut Call<'_, '_>, locked: bool) -> Answer {
    for id in orm::ids(call) {
        call.update("sale_order", id, &[("locked", Value::Bool(locked))])?;
    }
    done(call, "null")
}

// ---------------------------------------------------------------- what is read of orders

/// The invoice lines of an order line.
pub(super) fn invoice_lines(call: &Call<'_, '_>, line: RowId) -> Result<Vec<RowId>, Refusal> {
    let joints = call.rows("sale_order_line_invoice_rel", &[("order_line_id", Value::Ref(line))])?;
    Ok(joints.iter().filter_map(|joint| joint.link("invoice_line_id")).collect())
}

/// The invoices of an order, line by line: drafts first, then the highest number.
pub(super) fn invoices(call: &Call<'_, '_>, order: RowId) -> Result<Vec<RowId>, Refusal> {
    let mut found: Vec<RowId> = Vec::new();
    let mut lines = call.rows("sale_order_line", &[("order_id", Value::Ref(order))])?;
    lines.sort_by_key(|line| (line.number("sequence"), line.id()));
    for line in lines {
        let mut items = Vec::new();
        for item in invoice_lines(call, line.id())? {
            if let Some(entry) = call.row("account_move_line", item)?.link("move_id") {
                let name = call.row("account_move", entry)?.get("name");
                items.push((!name.is_null(), std::cmp::Reverse(name), item, entry));
            }
        }
        items.sort();
        for (_, _, _, entry) in items {
            if !found.contains(&entry) {
                found.push(entry);
            }
        }
    }
    Ok(found)
}

/// The manufacturing orders that name an order as their origin.
pub(super) fn productions(call: &Call<'_, '_>, order: RowId) -> Result<Vec<RowId>, Refusal> {
    let name = call.row("sale_order", order)?.words("name");
    let table = call.table("mrp_production")?;
    let origin = call.field(table, "origin")?;
    let names = |text: &str| text.split(',').any(|part| part.trim() == name);
    Ok(call.every(table)?.filter(|row| row.get(origin).as_text().is_some_and(names)).map(|row| row.id()).collect())
}

/// Units of a line that live invoices bill.
pub(super) fn invoiced(call: &Call<'_, '_>, line: RowId) -> Result<i64, Refusal> {
    let mut sum = 0;
    for item in invoice_lines(call, line)? {
        let item = call.row("account_move_line", item)?;
        let Some(entry) = item.link("move_id") else { continue };
        let entry = call.row("account_move", entry)?;
        if entry.is("state", "cancel") {
            continue;
        }
        sum += if entry.is("move_type", "out_refund") { -item.number("quantity") } else { item.number("quantity") };
    }
    Ok(sum)
}

/// Units of a line that are still to be billed.
pub(super) fn to_invoice(call: &Call<'_, '_>, line: &RowView) -> Result<i64, Refusal> {
    let Some(order) = line.link("order_id") else { return Ok(0) };
    if !call.row("sale_order", order)?.is("state", "sale") || !line.get("display_type").is_null() {
        return Ok(0);
    }
    let billed = invoiced(call, line.id())?;
    let by_delivery = match line.link("product_id") {
        Some(product) if !line.flag("is_downpayment") => {
            call.row("product_product", product)?.is("invoice_policy", "delivery")
        }
        _ => false,
    };
    let due = if by_delivery { delivered(call, line.id())? } else { line.number("product_uom_qty") };
    Ok(due - billed)
}

fn delivered(call: &Call<'_, '_>, line: RowId) -> Result<i64, Refusal> {
    let moves = call.rows("stock_move", &[("sale_line_id", Value::Ref(line))])?;
    let delivered = moves.iter().filter(|row| row.is("state", "done") && row.link("picking_id").is_some());
    Ok(delivered.map(|row| row.number("quantity")).sum())
}

/// Untaxed amount and tax of an order. Deposits are not part of it.
pub(super) fn order_amounts(call: &Call<'_, '_>, order: RowId) -> Result<(i64, i64), Refusal> {
    let mut sum = (0, 0);
    for line in call.rows("sale_order_line", &[("order_id", Value::Ref(order))])? {
        let (untaxed, tax) = amounts(call, &line)?;
        sum = (sum.0 + untaxed, sum.1 + tax);
    }
    Ok(sum)
}

fn amounts(call: &Call<'_, '_>, line: &RowView) -> Result<(i64, i64), Refusal> {
    line_amounts(call, line, "product_uom_qty", "sale_order_line_tax")
}

/// What is made of an order or a line when it is asked for.
pub(super) fn made(call: &Call<'_, '_>, model: &str, id: RowId, field: &str) -> Result<Value, Refusal> {
    if model == "sale_order" {
        return Ok(match field {
            "amount_untaxed" => Value::Money(order_amounts(call, id)?.0),
            "amount_tax" => Value::Money(order_amounts(call, id)?.1),
            "amount_total" => {
                let (untaxed, tax) = order_amounts(call, id)?;
                Value::Money(untaxed + tax)
            }
            "invoice_count" => Value::Int(invoices(call, id)?.len() as i64),
            _ => Value::text(invoice_status(call, id)?),
        });
    }
    let line = call.row("sale_order_line", id)?;
    let order = line.link("order_id").map(|order| call.row("sale_order", order)).transpose()?;
    Ok(match field {
        "price_subtotal" => Value::Money(amounts(call, &line)?.0),
        "price_tax" => Value::Money(amounts(call, &line)?.1),
        "price_total" => {
            let (untaxed, tax) = amounts(call, &line)?;
            Value::Money(untaxed + tax)
        }
        "qty_delivered" => Value::Quantity(delivered(call, id)?),
        "qty_invoiced" => Value::Quantity(invoiced(call, id)?),
        "qty_to_invoice" => Value::Quantity(to_invoice(call, &line)?),
        "order_partner_id" => order.map_or(Value::Null, |order| order.get("partner_id")),
        _ => order.map_or(Value::Null, |order| purchasing::state_word(call, "sale_order", &order)),
    })
}

fn invoice_status(call: &Call<'_, '_>, order: RowId) -> Result<&'static str, Refusal> {
    if !call.row("sale_order", order)?.is("state", "sale") {
        return Ok("no");
    }
    let (mut open, mut billed) = (false, false);
    for line in call.rows("sale_order_line", &[("order_id", Value::Ref(order))])? {
        if line.flag("is_downpayment") || !line.get("display_type").is_null() {
            continue;
        }
        open |= to_invoice(call, &line)? > 0;
        billed |= invoiced(call, line.id())? > 0;
    }
    Ok(match (open, billed) {
        (true, _) => "to invoice",
        (false, true) => "invoiced",
        (false, false) => "no",
    })
}
