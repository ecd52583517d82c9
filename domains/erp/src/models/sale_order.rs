//! Sales orders: their terms, confirmation with deliveries, cancellation, and what is read of them.

use super::{
    account_move,
    sale_order_line::{amounts, deliver, invoice_lines, invoiced, to_invoice},
    stock_picking::{cancel_picking, let_go, transfers},
};
use crate::{
    hooks::{Found, Made, Model},
    names::{c, t, w},
    record::{Answer, Call, Cells, done, fill_user, ids, wrong_state},
};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{ColumnOf, RowView, cell, words};

/// `sale.order`
pub(crate) struct SaleOrder;

impl Model for SaleOrder {
    type Of = t::sale_order;
    const ORDER: &'static str = "date_order desc, id desc";
    const MADE: &'static [(&'static str, Made)] = &[
        ("amount_untaxed", |call, id| Ok(Value::Money(order_amounts(call, id)?.0))),
        ("amount_tax", |call, id| Ok(Value::Money(order_amounts(call, id)?.1))),
        ("amount_total", |call, id| {
            let (untaxed, tax) = order_amounts(call, id)?;
            Ok(Value::Money(untaxed + tax))
        }),
        ("invoice_count", |call, id| Ok(Value::Int(invoices(call, id)?.len() as i64))),
        ("invoice_status", |call, id| Ok(Value::text(invoice_status(call, id)?))),
    ];
    const FOUND: &'static [(&'static str, Found)] = &[
        ("invoice_ids", invoices),
        ("picking_ids", |call, id| transfers(call, c::sale_id.of(), id)),
        ("mrp_production_ids", productions),
    ];

    fn before_create(call: &mut Call<'_, '_>, cells: &mut Cells<t::sale_order>) -> Result<Option<RowId>, Refusal> {
        fill_order(call, cells)?;
        Ok(None)
    }

    fn before_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        may_unlink(call, id)
    }
}

/// For how many days a quotation holds.
const VALIDITY: i64 = 30;

/// What a new order has unless it says otherwise: the time, who made it, and the terms of its customer.
fn fill_order(call: &Call<'_, '_>, cells: &mut Cells<t::sale_order>) -> Result<(), Refusal> {
    if !cells.has(call, c::date_order) {
        cells.set(call, c::date_order, Value::DateTime(call.now()));
    }
    if !cells.has(call, c::validity_date) {
        let until = call.now().date().add_days(VALIDITY);
        cells.set(call, c::validity_date, until.map_or(Value::Null, Value::Date));
    }
    fill_user(call, cells);
    if cells.get(call, c::payment_term_id).is_none()
        && let Some(partner) = cells.link(call, c::partner_id)
        && let Ok(partner) = call.row(t::res_partner, partner)
    {
        cells.set(call, c::payment_term_id, partner.get(c::property_payment_term_id));
    }
    Ok(())
}

/// Only drafts and cancelled orders can be deleted.
fn may_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::sale_order, id)?;
    if order.is_any(c::state, words![draft, cancel]) {
        let lines = call.rows(t::sale_order_line, &[cell(c::order_id, Value::Ref(id))])?;
        let lines: Vec<RowId> = lines.iter().map(RowView::id).collect();
        return let_go(call, (c::sale_id.of(), id), (c::sale_line_id.of(), &lines));
    }
    Err(wrong_state(format!("{} is sent or confirmed: cancel it before it is deleted", order.words(c::name))))
}

/// `action_confirm`
pub(crate) fn confirm(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let order = call.row(t::sale_order, id)?;
        if !order.is_any(c::state, words![draft, sent]) {
            return Err(wrong_state(format!("{} is not in a state requiring confirmation", order.words(c::name))));
        }
        let values = [
            cell(c::state, call.word(t::sale_order, c::state, w::sale)),
            cell(c::date_order, Value::DateTime(call.now())),
        ];
        call.update(t::sale_order, id, &values)?;
        let lines: Vec<(RowId, i64)> = call
            .rows(t::sale_order_line, &[cell(c::order_id, Value::Ref(id))])?
            .iter()
            .map(|line| (line.id(), line.number(c::product_uom_qty)))
            .collect();
        deliver(call, id, &lines)?;
    }
    done(call, "true")
}

/// `action_cancel`
pub(crate) fn cancel(call: &mut Call<'_, '_>) -> Answer {
    let ids = ids(call)?;
    for id in &ids {
        let order = call.row(t::sale_order, *id)?;
        if order.flag(c::locked) {
            return Err(wrong_state(format!("{} is locked: unlock it before it is cancelled", order.words(c::name))));
        }
    }
    for id in ids {
        for invoice in invoices(call, id)? {
            if call.row(t::account_move, invoice)?.is(c::state, w::draft) {
                account_move::set_state(call, invoice, w::cancel)?;
            }
        }
        for transfer in call.rows(t::stock_picking, &[cell(c::sale_id, Value::Ref(id))])? {
            cancel_picking(call, transfer.id())?;
        }
        let state = call.word(t::sale_order, c::state, w::cancel);
        call.update(t::sale_order, id, &[cell(c::state, state)])?;
    }
    done(call, "true")
}

/// `action_draft`
pub(crate) fn draft(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        if call.row(t::sale_order, id)?.is_any(c::state, words![cancel, sent]) {
            let state = call.word(t::sale_order, c::state, w::draft);
            call.update(t::sale_order, id, &[cell(c::state, state)])?;
        }
    }
    done(call, "true")
}

/// `action_lock`
pub(crate) fn lock(call: &mut Call<'_, '_>) -> Answer {
    set_locked(call, true)
}

/// `action_unlock`
pub(crate) fn unlock(call: &mut Call<'_, '_>) -> Answer {
    set_locked(call, false)
}

fn set_locked(call: &mut Call<'_, '_>, locked: bool) -> Answer {
    for id in ids(call)? {
        call.update(t::sale_order, id, &[cell(c::locked, Value::Bool(locked))])?;
    }
    done(call, "null")
}

/// The invoices of an order, line by line: drafts first, then the highest number.
fn invoices(call: &Call<'_, '_>, order: RowId) -> Result<Vec<RowId>, Refusal> {
    let mut found: Vec<RowId> = Vec::new();
    let mut lines = call.rows(t::sale_order_line, &[cell(c::order_id, Value::Ref(order))])?;
    lines.sort_by_key(|line| (line.number(c::sequence), line.id()));
    for line in lines {
        let mut items = Vec::new();
        for item in invoice_lines(call, line.id())? {
            if let Some(entry) = call.row(t::account_move_line, item)?.link(c::move_id) {
                let name = call.row(t::account_move, entry)?.get(c::name);
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
fn productions(call: &Call<'_, '_>, order: RowId) -> Result<Vec<RowId>, Refusal> {
    let name = call.row(t::sale_order, order)?.words(c::name);
    let (table, origin) = (call.table(t::mrp_production), call.field(t::mrp_production, c::origin));
    let names = |text: &str| text.split(',').any(|part| part.trim() == name);
    Ok(call.every(table)?.filter(|row| row.get(origin).as_text().is_some_and(names)).map(|row| row.id()).collect())
}

/// Untaxed amount and tax of an order. Deposits are not part of it.
pub(crate) fn order_amounts(call: &Call<'_, '_>, order: RowId) -> Result<(i64, i64), Refusal> {
    let mut sum = (0, 0);
    for line in call.rows(t::sale_order_line, &[cell(c::order_id, Value::Ref(order))])? {
        let (untaxed, tax) = amounts(call, &line)?;
        sum = (sum.0 + untaxed, sum.1 + tax);
    }
    Ok(sum)
}

fn invoice_status(call: &Call<'_, '_>, order: RowId) -> Result<&'static str, Refusal> {
    if !call.row(t::sale_order, order)?.is(c::state, w::sale) {
        return Ok("no");
    }
    let (mut open, mut billed) = (false, false);
    for line in call.rows(t::sale_order_line, &[cell(c::order_id, Value::Ref(order))])? {
        if line.flag(c::is_downpayment) || !line.get(c::display_type).is_null() {
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
