//! Purchase orders: confirmation with receipts, cancellation, and what is read of them.

use super::{
    product_supplierinfo::add_offers,
    purchase_order_line::{amounts, earliest_date, receive, reprice},
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

/// `purchase.order`
pub(crate) struct PurchaseOrder;

impl Model for PurchaseOrder {
    type Of = t::purchase_order;
    const ORDER: &'static str = "id desc";
    const MADE: &'static [(&'static str, Made)] = &[
        ("amount_untaxed", |call, id| Ok(Value::Money(order_amounts(call, id)?.0))),
        ("amount_tax", |call, id| Ok(Value::Money(order_amounts(call, id)?.1))),
        ("amount_total", |call, id| {
            let (untaxed, tax) = order_amounts(call, id)?;
            Ok(Value::Money(untaxed + tax))
        }),
        ("incoming_picking_count", |call, id| {
            Ok(Value::Int(call.rows(t::stock_picking, &[cell(c::purchase_id, Value::Ref(id))])?.len() as i64))
        }),
    ];
    const FOUND: &'static [(&'static str, Found)] =
        &[("invoice_ids", bills), ("picking_ids", |call, id| transfers(call, c::purchase_id.of(), id))];
    /// An order without a date has that of its lines.
    const WHILE_EMPTY: Option<(&'static str, Made)> = Some(("date_planned", earliest_date));

    fn before_create(call: &mut Call<'_, '_>, cells: &mut Cells<t::purchase_order>) -> Result<Option<RowId>, Refusal> {
        fill_order(call, cells)?;
        Ok(None)
    }

    fn after_create(call: &mut Call<'_, '_>, id: RowId, _: &[&str]) -> Result<(), Refusal> {
        order_made(call, id)
    }

    fn after_write(
        call: &mut Call<'_, '_>,
        id: RowId,
        old: &RowView<t::purchase_order>,
        _: &Cells<t::purchase_order>,
    ) -> Result<(), Refusal> {
        order_changed(call, id, old)
    }

    fn before_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        may_unlink(call, id)
    }
}

/// Untaxed amount and tax of an order.
fn order_amounts(call: &Call<'_, '_>, order: RowId) -> Result<(i64, i64), Refusal> {
    let mut sum = (0, 0);
    for line in call.rows(t::purchase_order_line, &[cell(c::order_id, Value::Ref(order))])? {
        let (untaxed, tax) = amounts(call, &line)?;
        sum = (sum.0 + untaxed, sum.1 + tax);
    }
    Ok(sum)
}

/// What a new order has unless it says otherwise.
fn fill_order(call: &Call<'_, '_>, cells: &mut Cells<t::purchase_order>) -> Result<(), Refusal> {
    if !cells.has(call, c::date_order) {
        cells.set(call, c::date_order, Value::DateTime(call.now()));
    }
    fill_user(call, cells);
    if cells.get(call, c::payment_term_id).is_none()
        && let Some(partner) = cells.link(call, c::partner_id)
        && let Ok(partner) = call.row(t::res_partner, partner)
    {
        cells.set(call, c::payment_term_id, partner.get(c::property_supplier_payment_term_id));
    }
    Ok(())
}

/// A new vendor has other prices. A date written on the order stays there: its lines keep theirs.
fn order_changed(call: &mut Call<'_, '_>, id: RowId, old: &RowView<t::purchase_order>) -> Result<(), Refusal> {
    if call.row(t::purchase_order, id)?.get(c::partner_id) != old.get(c::partner_id) {
        for line in call.rows(t::purchase_order_line, &[cell(c::order_id, Value::Ref(id))])? {
            if line.get(c::technical_price_unit) == line.get(c::price_unit) {
                reprice(call, &line, [false, false])?;
            }
        }
    }
    Ok(())
}

/// A new order without a date has the earliest of its lines.
fn order_made(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    if call.row(t::purchase_order, id)?.get(c::date_planned).is_null() {
        let date = earliest_date(call, id)?;
        call.update(t::purchase_order, id, &[cell(c::date_planned, date)])?;
    }
    Ok(())
}

/// Only cancelled orders can be deleted.
fn may_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::purchase_order, id)?;
    if order.is(c::state, w::cancel) {
        let lines = call.rows(t::purchase_order_line, &[cell(c::order_id, Value::Ref(id))])?;
        let lines: Vec<RowId> = lines.iter().map(RowView::id).collect();
        return let_go(call, (c::purchase_id.of(), id), (c::purchase_line_id.of(), &lines));
    }
    Err(wrong_state(format!("{} must be cancelled before it is deleted", order.words(c::name))))
}

/// `button_confirm`: orders that are confirmed already are passed over.
pub(crate) fn confirm(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let order = call.row(t::purchase_order, id)?;
        if !order.is_any(c::state, words![draft, sent]) {
            continue;
        }
        add_offers(call, &order)?;
        let values = [
            cell(c::state, call.word(t::purchase_order, c::state, w::purchase)),
            cell(c::date_approve, Value::DateTime(call.now())),
        ];
        call.update(t::purchase_order, id, &values)?;
        receive(call, id)?;
    }
    done(call, "true")
}

/// `button_cancel`
pub(crate) fn cancel(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let name = call.row(t::purchase_order, id)?.words(c::name);
        for bill in bills(call, id)? {
            if call.row(t::account_move, bill)?.is(c::state, w::posted) {
                return Err(wrong_state(format!("{name} cannot be cancelled: cancel its vendor bills first")));
            }
        }
        let pickings = call.rows(t::stock_picking, &[cell(c::purchase_id, Value::Ref(id))])?;
        if pickings.iter().any(|row| row.is(c::state, w::done)) {
            return Err(wrong_state(format!("{name} cannot be cancelled: some receipts have already been done")));
        }
        for row in pickings {
            cancel_picking(call, row.id())?;
        }
        let state = call.word(t::purchase_order, c::state, w::cancel);
        call.update(t::purchase_order, id, &[cell(c::state, state)])?;
    }
    done(call, "null")
}

/// `button_draft`
pub(crate) fn draft(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        // Every order goes back, a confirmed one too; its receipts stay as they are.
        if !call.row(t::purchase_order, id)?.is(c::state, w::draft) {
            let state = call.word(t::purchase_order, c::state, w::draft);
            call.update(t::purchase_order, id, &[cell(c::state, state)])?;
        }
    }
    done(call, "{}")
}

/// The bills of an order.
fn bills(call: &Call<'_, '_>, order: RowId) -> Result<Vec<RowId>, Refusal> {
    let mut found = Vec::new();
    for line in call.rows(t::purchase_order_line, &[cell(c::order_id, Value::Ref(order))])? {
        let items = call.rows(t::account_move_line, &[cell(c::purchase_line_id, Value::Ref(line.id()))])?;
        found.extend(items.iter().filter_map(|item| item.link(c::move_id)));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
