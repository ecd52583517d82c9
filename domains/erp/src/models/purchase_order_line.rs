//! Lines of purchase orders: prices and dates from the offers of vendors, and the receipts that follow them.

use super::{
    amounts::line_amounts,
    product_product,
    product_supplierinfo::{offers, terms},
    stock_location::location,
    stock_move::{NewMove, cancel_move, make_move, reserve},
    stock_picking::{make_picking, settle_owner, settle_picking},
    stock_quantity::is_open,
};
use crate::{
    hooks::{Made, Model},
    names::{c, t, w},
    record::{Call, Cells, cannot, state_word, wrong_state},
};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{ColumnOf, RowView, WordOf, cell, words};

/// `purchase.order.line`
pub(crate) struct PurchaseOrderLine;

impl Model for PurchaseOrderLine {
    type Of = t::purchase_order_line;
    const ORDER: &'static str = "order_id, sequence, id";
    const LOOKS_FIRST: bool = true;
    const MADE: &'static [(&'static str, Made)] = &[
        ("price_subtotal", |call, id| Ok(Value::Money(amounts(call, &call.row(t::purchase_order_line, id)?)?.0))),
        ("price_tax", |call, id| Ok(Value::Money(amounts(call, &call.row(t::purchase_order_line, id)?)?.1))),
        ("price_total", |call, id| {
            let (untaxed, tax) = amounts(call, &call.row(t::purchase_order_line, id)?)?;
            Ok(Value::Money(untaxed + tax))
        }),
        ("qty_received", |call, id| Ok(Value::Quantity(received(call, id)?))),
        ("qty_invoiced", |call, id| Ok(Value::Quantity(billed(call, id)?))),
        ("partner_id", |call, id| Ok(order_of(call, id)?.map_or(Value::Null, |order| order.get(c::partner_id)))),
        ("state", |call, id| {
            let order = order_of(call, id)?;
            Ok(order.map_or(Value::Null, |order| state_word(call, t::purchase_order, &order)))
        }),
    ];

    fn before_create(
        call: &mut Call<'_, '_>,
        cells: &mut Cells<t::purchase_order_line>,
    ) -> Result<Option<RowId>, Refusal> {
        fill_line(call, cells)?;
        Ok(None)
    }

    fn after_create(call: &mut Call<'_, '_>, id: RowId, _: &[&str]) -> Result<(), Refusal> {
        line_made(call, id)
    }

    fn added(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        line_added(call, id)
    }

    fn before_write(
        call: &mut Call<'_, '_>,
        id: RowId,
        cells: &mut Cells<t::purchase_order_line>,
    ) -> Result<(), Refusal> {
        may_change_line(call, id, cells)
    }

    fn after_write(
        call: &mut Call<'_, '_>,
        id: RowId,
        old: &RowView<t::purchase_order_line>,
        cells: &Cells<t::purchase_order_line>,
    ) -> Result<(), Refusal> {
        line_changed(call, id, old, cells)
    }

    fn before_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        may_unlink_line(call, id)
    }

    fn after_unlink(call: &mut Call<'_, '_>, old: &RowView<t::purchase_order_line>) -> Result<(), Refusal> {
        line_gone(call, old)
    }
}

/// The order of a line.
fn order_of(call: &Call<'_, '_>, id: RowId) -> Result<Option<RowView<t::purchase_order>>, Refusal> {
    let order = call.row(t::purchase_order_line, id)?.link(c::order_id);
    order.map(|order| call.row(t::purchase_order, order)).transpose()
}

/// Units of a line that live bills are for.
fn billed(call: &Call<'_, '_>, line: RowId) -> Result<i64, Refusal> {
    let mut sum = 0;
    for item in call.rows(t::account_move_line, &[cell(c::purchase_line_id, Value::Ref(line))])? {
        let entry = item.link(c::move_id).map(|entry| call.row(t::account_move, entry)).transpose()?;
        if entry.is_some_and(|entry| !entry.is(c::state, w::cancel)) {
            sum += item.number(c::quantity);
        }
    }
    Ok(sum)
}

/// What a new line has unless it says otherwise: the price of the LOWEST tier whatever its quantity, and the date of the
/// order plus the vendor's days.
fn fill_line(call: &Call<'_, '_>, cells: &mut Cells<t::purchase_order_line>) -> Result<(), Refusal> {
    if cells.has(call, c::display_type) {
        cells.set(call, c::product_qty, Value::Quantity(0));
        cells.set(call, c::price_unit, Value::Money(0));
        cells.set(call, c::date_planned, Value::Null);
        return Ok(());
    }
    let Some(product) = cells.link(call, c::product_id) else {
        return Err(cannot("a line of a purchase order has a product, or it is a section or a note"));
    };
    let Some(order) = cells.link(call, c::order_id) else { return Ok(()) };
    let order = call.row(t::purchase_order, order)?;
    let terms = terms(call, &order, product, None)?;
    if !cells.has(call, c::name)
        && let Some(name) = product_product::display_name(call, Some(product))?
    {
        cells.set(call, c::name, Value::text(name));
    }
    if cells.get(call, c::price_unit).is_none() {
        if cells.get(call, c::discount).is_none() {
            cells.set(call, c::discount, terms.discount);
        }
        cells.set(call, c::price_unit, terms.price);
    }
    if !cells.has(call, c::date_planned) {
        let on = order.instant(c::date_order).unwrap_or_else(|| call.now());
        let date = terms.date.unwrap_or(on);
        cells.set(call, c::date_planned, Value::DateTime(date));
    }
    // A price counts as the system's own until it is written over.
    let price = cells.get(call, c::price_unit).cloned().unwrap_or(Value::Money(0));
    cells.set(call, c::technical_price_unit, price);
    Ok(())
}

/// A line that is added to a confirmed order is received too.
fn line_made(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let line = call.row(t::purchase_order_line, id)?;
    let Some(order) = line.link(c::order_id) else { return Ok(()) };
    if call.row(t::purchase_order, order)?.is(c::state, w::purchase) { receive(call, order) } else { Ok(()) }
}

/// The kind of a line stays.
fn may_change_line(call: &Call<'_, '_>, id: RowId, cells: &mut Cells<t::purchase_order_line>) -> Result<(), Refusal> {
    let line = call.row(t::purchase_order_line, id)?;
    if let Some(kind) = cells.get(call, c::display_type)
        && *kind != line.get(c::display_type)
    {
        return Err(cannot("the type of a purchase order line cannot be changed: delete it and make another"));
    }
    let units = cells.get(call, c::product_qty).and_then(Value::as_number);
    if units.is_some_and(|units| units < received(call, id).unwrap_or_default()) {
        return Err(cannot("the ordered quantity cannot be less than what was received"));
    }
    Ok(())
}

/// A new quantity sets price and date again from the offer, unless the price was written by hand; what was written with it
/// stands. The receipt follows.
fn line_changed(
    call: &mut Call<'_, '_>,
    id: RowId,
    old: &RowView<t::purchase_order_line>,
    cells: &Cells<t::purchase_order_line>,
) -> Result<(), Refusal> {
    let line = call.row(t::purchase_order_line, id)?;
    let mut dated = false;
    // The same quantity again counts as a new one.
    if cells.get(call, c::product_qty).is_some() {
        let manual = line.get(c::technical_price_unit) != line.get(c::price_unit);
        let keep = [cells.get(call, c::price_unit).is_some(), cells.get(call, c::date_planned).is_some()];
        if !manual {
            dated = reprice(call, &line, keep)?;
        }
    }
    let Some(order) = line.link(c::order_id) else { return Ok(()) };
    if dated || call.row(t::purchase_order_line, id)?.get(c::date_planned) != old.get(c::date_planned) {
        let before = earliest_with(call, order, id, old.get(c::date_planned))?;
        date_follows(call, order, &before)?;
    }
    let repriced = call.row(t::purchase_order_line, id)?.get(c::price_unit) != old.get(c::price_unit);
    let confirmed = call.row(t::purchase_order, order)?.is(c::state, w::purchase);
    if confirmed { receive_more(call, order, repriced.then_some(id)) } else { Ok(()) }
}

/// Sets price and date of a line from the offer for its quantity, and says whether it set a date.
pub(crate) fn reprice(
    call: &mut Call<'_, '_>,
    line: &RowView<t::purchase_order_line>,
    keep: [bool; 2],
) -> Result<bool, Refusal> {
    let (Some(order), Some(product)) = (line.link(c::order_id), line.link(c::product_id)) else { return Ok(false) };
    let order = call.row(t::purchase_order, order)?;
    let on = order.instant(c::date_order).unwrap_or_else(|| call.now());
    let vendor = order.link(c::partner_id).unwrap_or_default();
    let sells = !offers(call, product, vendor, on)?.is_empty();
    if !sells && line.number(c::price_unit) != 0 {
        // A vendor without an offer keeps the price that the line has.
        return Ok(false);
    }
    let terms = terms(call, &order, product, Some(line.number(c::product_qty)))?;
    let [keep_price, keep_date] = keep;
    let mut values = vec![cell(c::technical_price_unit, terms.price.clone())];
    if !keep_price {
        values.push(cell(c::price_unit, terms.price));
        values.push(cell(c::discount, terms.discount));
    }
    let dated = terms.date.filter(|_| !keep_date);
    values.extend(dated.map(|date| cell(c::date_planned, Value::DateTime(date))));
    call.update(t::purchase_order_line, line.id(), &values)?;
    Ok(dated.is_some())
}

/// Lines of confirmed orders stay; what was to be received by others is not.
fn may_unlink_line(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let line = call.row(t::purchase_order_line, id)?;
    let Some(order) = line.link(c::order_id) else { return Ok(()) };
    if call.row(t::purchase_order, order)?.is(c::state, w::purchase) {
        return Err(wrong_state("a line of a confirmed purchase order cannot be deleted"));
    }
    for row in call.rows(t::stock_move, &[cell(c::purchase_line_id, Value::Ref(id))])? {
        cancel_move(call, row.id())?;
        call.update(t::stock_move, row.id(), &[cell(c::purchase_line_id, Value::Null)])?;
        let Some(receipt) = row.link(c::picking_id) else { continue };
        settle_picking(call, receipt)?;
        settle_owner(call, receipt, c::purchase_line_id.of(), c::purchase_id.of())?;
    }
    Ok(())
}

/// The order's date follows its lines. One that was never written stands for the earliest date there is.
fn date_follows(call: &mut Call<'_, '_>, order: RowId, before: &Value) -> Result<(), Refusal> {
    let (head, date) = (call.row(t::purchase_order, order)?, earliest_date(call, order)?);
    if date == *before && head.get(c::date_planned).is_null() {
        return Ok(());
    }
    call.update(t::purchase_order, order, &[cell(c::date_planned, date)])?;
    Ok(())
}

/// The earliest date of an order's lines but one, and a date.
fn earliest_with(call: &Call<'_, '_>, order: RowId, but: RowId, date: Value) -> Result<Value, Refusal> {
    let lines = call.rows(t::purchase_order_line, &[cell(c::order_id, Value::Ref(order))])?;
    let others = lines.iter().filter(|line| line.id() != but).map(|line| line.get(c::date_planned));
    Ok(others.chain([date]).filter(|date| !date.is_null()).min().unwrap_or_default())
}

/// The earliest date of an order's lines.
pub(crate) fn earliest_date(call: &Call<'_, '_>, order: RowId) -> Result<Value, Refusal> {
    let lines = call.rows(t::purchase_order_line, &[cell(c::order_id, Value::Ref(order))])?;
    Ok(lines.iter().filter_map(|line| line.instant(c::date_planned)).min().map_or(Value::Null, Value::DateTime))
}

/// A line was added to an order.
fn line_added(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let Some(order) = call.row(t::purchase_order_line, id)?.link(c::order_id) else { return Ok(()) };
    let before = earliest_with(call, order, id, Value::Null)?;
    date_follows(call, order, &before)
}

/// A line of an order was deleted.
fn line_gone(call: &mut Call<'_, '_>, old: &RowView<t::purchase_order_line>) -> Result<(), Refusal> {
    let Some(order) = old.link(c::order_id) else { return Ok(()) };
    let before = earliest_with(call, order, old.id(), old.get(c::date_planned))?;
    date_follows(call, order, &before)
}

/// Plans the receipt of what is ordered and not yet received: one transfer, one open move for each line.
pub(crate) fn receive(call: &mut Call<'_, '_>, order: RowId) -> Result<(), Refusal> {
    receive_more(call, order, None)
}

/// The same; more units of a line that has a new price come by a move of their own.
fn receive_more(call: &mut Call<'_, '_>, order: RowId, repriced: Option<RowId>) -> Result<(), Refusal> {
    let head = call.row(t::purchase_order, order)?;
    let name = head.words(c::name);
    let pickings = call.rows(t::stock_picking, &[cell(c::purchase_id, Value::Ref(order))])?;
    let mut picking = pickings.iter().find(|row| !row.is_any(c::state, words![done, cancel])).map(RowView::id);
    for line in call.rows(t::purchase_order_line, &[cell(c::order_id, Value::Ref(order))])? {
        let Some(product) = line.link(c::product_id) else { continue };
        if !call.row(t::product_product, product)?.is(c::r#type, w::consu) {
            continue;
        }
        let due = line.number(c::product_qty) - received(call, line.id())?;
        let moves = call.rows(t::stock_move, &[cell(c::purchase_line_id, Value::Ref(line.id()))])?;
        let mut open: Vec<&RowView<t::stock_move>> = moves.iter().filter(|row| is_open(row)).collect();
        let mut due = due;
        // All but the last are as they were, unless there is too much.
        while open.len() > 1 && due > open[0].number(c::product_uom_qty) {
            due -= open.remove(0).number(c::product_uom_qty);
        }
        for row in open.iter().skip(1) {
            cancel_move(call, row.id())?;
        }
        let mut open = open.first().map(|row| row.id());
        if let (Some(row), true) = (open, repriced == Some(line.id())) {
            let known = call.row(t::stock_move, row)?.number(c::product_uom_qty);
            if due > known {
                (due, open) = (due - known, None);
            }
        }
        match (open, due > 0) {
            (Some(row), true) => {
                // A move keeps its date; of more or fewer units the earlier date stands.
                let known = call.row(t::stock_move, row)?;
                let mut values = vec![cell(c::product_uom_qty, Value::Quantity(due))];
                if due != known.number(c::product_uom_qty) && line.instant(c::date_planned) < known.instant(c::date) {
                    values.push(cell(c::date, line.get(c::date_planned)));
                }
                call.update(t::stock_move, row, &values)?;
                reserve(call, row)?;
            }
            (Some(row), false) => cancel_move(call, row)?,
            (None, true) => {
                let date = line.instant(c::date_planned);
                let transfer = match picking {
                    Some(transfer) => transfer,
                    None => {
                        let of = (c::purchase_id.of(), order);
                        let partner = head.link(c::partner_id);
                        *picking.insert(make_picking(call, w::incoming.of(), partner, &name, date, of)?)
                    }
                };
                let new = NewMove {
                    product,
                    units: due,
                    from: location(call, w::supplier)?,
                    to: location(call, w::internal)?,
                    date,
                    origin: &name,
                    state: w::confirmed.of(),
                    of: &[(c::picking_id.of(), transfer), (c::purchase_line_id.of(), line.id())],
                };
                let made = make_move(call, &new)?;
                reserve(call, made)?;
            }
            (None, false) => {}
        }
    }
    picking.map_or(Ok(()), |picking| settle_picking(call, picking))
}

/// Units of a line that have come.
fn received(call: &Call<'_, '_>, line: RowId) -> Result<i64, Refusal> {
    let moves = call.rows(t::stock_move, &[cell(c::purchase_line_id, Value::Ref(line))])?;
    Ok(moves.iter().filter(|row| row.is(c::state, w::done)).map(|row| row.number(c::quantity)).sum())
}

/// Untaxed amount and tax of a line.
pub(crate) fn amounts(call: &Call<'_, '_>, line: &RowView<t::purchase_order_line>) -> Result<(i64, i64), Refusal> {
    line_amounts(call, line, c::product_qty, t::purchase_order_line_tax)
}
