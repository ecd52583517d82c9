//! Lines of sales orders: prices, deliveries, and what of them is delivered and billed.

use super::{
    amounts::line_amounts,
    make_to_order::{is_made_to_order, make_to_order},
    product_product,
    stock_location::location,
    stock_move::{NewMove, cancel_move, make_move, reserve},
    stock_picking::{make_picking, settle_owner, settle_picking},
    stock_quantity::is_open,
};
use crate::{
    hooks::{Found, Made, Model},
    names::{c, t, w},
    record::{Call, Cells, cannot, plain_name_of, state_word, wrong_state},
};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Column, ColumnOf, Row, RowView, WordOf, cell, columns, words};

/// `sale.order.line`
pub(crate) struct SaleOrderLine;

impl Model for SaleOrderLine {
    type Of = t::sale_order_line;
    const ORDER: &'static str = "order_id, sequence, id";
    const LOOKS_FIRST: bool = true;
    const MADE: &'static [(&'static str, Made)] = &[
        ("price_subtotal", |call, id| Ok(Value::Money(amounts(call, &call.row(t::sale_order_line, id)?)?.0))),
        ("price_tax", |call, id| Ok(Value::Money(amounts(call, &call.row(t::sale_order_line, id)?)?.1))),
        ("price_total", |call, id| {
            let (untaxed, tax) = amounts(call, &call.row(t::sale_order_line, id)?)?;
            Ok(Value::Money(untaxed + tax))
        }),
        ("qty_delivered", |call, id| Ok(Value::Quantity(delivered(call, id)?))),
        ("qty_invoiced", |call, id| Ok(Value::Quantity(invoiced(call, id)?))),
        ("qty_to_invoice", |call, id| Ok(Value::Quantity(to_invoice(call, &call.row(t::sale_order_line, id)?)?))),
        ("order_partner_id", |call, id| Ok(order_of(call, id)?.map_or(Value::Null, |order| order.get(c::partner_id)))),
        ("state", |call, id| {
            let order = order_of(call, id)?;
            Ok(order.map_or(Value::Null, |order| state_word(call, t::sale_order, &order)))
        }),
    ];
    const FOUND: &'static [(&'static str, Found)] = &[("invoice_lines", invoice_lines)];

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        let order = row.get(call.field(t::sale_order_line, c::order_id)).as_ref_id();
        let order = plain_name_of(call, t::sale_order, order)?;
        let name = row.get(call.field(t::sale_order_line, c::name)).as_text().unwrap_or_default();
        Ok(Some(format!("{order} - {name}")))
    }

    fn before_create(call: &mut Call<'_, '_>, cells: &mut Cells<t::sale_order_line>) -> Result<Option<RowId>, Refusal> {
        fill_line(call, cells)?;
        Ok(None)
    }

    fn after_create(call: &mut Call<'_, '_>, id: RowId, _: &[&str]) -> Result<(), Refusal> {
        line_changed(call, id, None)
    }

    fn before_write(call: &mut Call<'_, '_>, id: RowId, cells: &mut Cells<t::sale_order_line>) -> Result<(), Refusal> {
        may_change_line(call, id, cells)
    }

    fn after_write(
        call: &mut Call<'_, '_>,
        id: RowId,
        old: &RowView<t::sale_order_line>,
        cells: &Cells<t::sale_order_line>,
    ) -> Result<(), Refusal> {
        reprice_line(call, id, cells)?;
        line_changed(call, id, Some(old))
    }

    fn before_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        may_unlink_line(call, id)
    }
}

/// The order of a line.
fn order_of(call: &Call<'_, '_>, id: RowId) -> Result<Option<RowView<t::sale_order>>, Refusal> {
    let order = call.row(t::sale_order_line, id)?.link(c::order_id);
    order.map(|order| call.row(t::sale_order, order)).transpose()
}

/// What a new line has unless it says otherwise: the product's price and name.
fn fill_line(call: &Call<'_, '_>, cells: &mut Cells<t::sale_order_line>) -> Result<(), Refusal> {
    if cells.has(call, c::display_type) {
        cells.set(call, c::product_uom_qty, Value::Quantity(0));
        cells.set(call, c::price_unit, Value::Money(0));
        cells.set(call, c::technical_price_unit, Value::Money(0));
        return Ok(());
    }
    let product = cells.link(call, c::product_id).map(|id| call.row(t::product_product, id)).transpose()?;
    if product.is_none() && cells.get(call, c::is_downpayment) != Some(&Value::Bool(true)) {
        return Err(cannot("a line of a sales order has a product, or it is a section or a note"));
    }
    if let (Some(product), false) = (&product, cells.has(call, c::name))
        && let Some(name) = product_product::display_name(call, Some(product.id()))?
    {
        cells.set(call, c::name, Value::text(name));
    }
    if cells.get(call, c::price_unit).is_none() {
        let price = product.map_or(Value::Money(0), |product| product.get(c::list_price));
        cells.set(call, c::price_unit, price);
    }
    // A price counts as the system's own until it is written over.
    let price = cells.get(call, c::price_unit).filter(|price| !price.is_null()).cloned().unwrap_or(Value::Money(0));
    cells.set(call, c::technical_price_unit, price);
    Ok(())
}

/// Lines of a locked order stay as they are.
fn may_change_line(call: &Call<'_, '_>, id: RowId, cells: &mut Cells<t::sale_order_line>) -> Result<(), Refusal> {
    let line = call.row(t::sale_order_line, id)?;
    let Some(order) = line.link(c::order_id) else { return Ok(()) };
    let given = |column: Column<t::sale_order_line>| cells.get(call, column).is_some();
    let fixed = columns![product_id, name, price_unit, product_uom_qty, discount];
    if call.row(t::sale_order, order)?.flag(c::locked) && fixed.into_iter().any(given) {
        return Err(wrong_state("the order is locked: unlock it before its lines are changed"));
    }
    Ok(())
}

/// A written quantity, the same one too, sets the price to the product's again, unless one was sent with it or written over before, or units are
/// billed already.
fn reprice_line(call: &mut Call<'_, '_>, id: RowId, cells: &Cells<t::sale_order_line>) -> Result<(), Refusal> {
    let line = call.row(t::sale_order_line, id)?;
    let same = cells.get(call, c::product_uom_qty).is_none();
    let by_hand = line.number(c::technical_price_unit) != line.number(c::price_unit);
    if same || by_hand || cells.get(call, c::price_unit).is_some() || invoiced(call, id)? > 0 {
        return Ok(());
    }
    if let (Some(product), true) = (line.link(c::product_id), line.get(c::display_type).is_null()) {
        let price = call.row(t::product_product, product)?.get(c::list_price);
        call.update(
            t::sale_order_line,
            id,
            &[cell(c::price_unit, price.clone()), cell(c::technical_price_unit, price)],
        )?;
    }
    Ok(())
}

/// What a line of a confirmed order has more or less is to be delivered more or less.
fn line_changed(call: &mut Call<'_, '_>, id: RowId, old: Option<&RowView<t::sale_order_line>>) -> Result<(), Refusal> {
    let line = call.row(t::sale_order_line, id)?;
    let Some(order) = line.link(c::order_id) else { return Ok(()) };
    if !call.row(t::sale_order, order)?.is(c::state, w::sale) {
        return Ok(());
    }
    let more = line.number(c::product_uom_qty) - old.map_or(0, |old| old.number(c::product_uom_qty));
    if more == 0 || call.row(t::sale_order, order)?.flag(c::locked) {
        return Ok(());
    }
    let moves = call.rows(t::stock_move, &[cell(c::sale_line_id, Value::Ref(id))])?;
    match moves.iter().find(|row| is_open(row) && row.link(c::picking_id).is_some()) {
        Some(row) => {
            let units = row.number(c::product_uom_qty) + more;
            let (row, picking) = (row.id(), row.link(c::picking_id));
            if units <= 0 {
                cancel_move(call, row)?;
            } else {
                call.update(t::stock_move, row, &[cell(c::product_uom_qty, Value::Quantity(units))])?;
                reserve(call, row)?;
            }
            picking.map_or(Ok(()), |picking| settle_picking(call, picking))
        }
        None if more > 0 => deliver(call, order, &[(id, more)]),
        None => Ok(()),
    }
}

/// Lines of confirmed orders stay.
fn may_unlink_line(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let line = call.row(t::sale_order_line, id)?;
    let Some(order) = line.link(c::order_id) else { return Ok(()) };
    if call.row(t::sale_order, order)?.is(c::state, w::sale) && !line.is(c::display_type, w::line_section) {
        return Err(wrong_state("a line of a confirmed order cannot be deleted: set its quantity to 0 instead"));
    }
    for row in call.rows(t::stock_move, &[cell(c::sale_line_id, Value::Ref(id))])? {
        call.update(t::stock_move, row.id(), &[cell(c::sale_line_id, Value::Null)])?;
        if let Some(delivery) = row.link(c::picking_id) {
            settle_owner(call, delivery, c::sale_line_id.of(), c::sale_id.of())?;
        }
    }
    Ok(())
}

/// Plans the delivery of units of lines: a transfer with a move for each, and stock reserved for it. What is made to order
/// is ordered.
pub(crate) fn deliver(call: &mut Call<'_, '_>, order: RowId, lines: &[(RowId, i64)]) -> Result<(), Refusal> {
    let head = call.row(t::sale_order, order)?;
    if head.flag(c::locked) {
        // For a locked order nothing is planned.
        return Ok(());
    }
    let (name, date) = (head.words(c::name), head.instant(c::commitment_date).or(head.instant(c::date_order)));
    // What is still to be shipped goes along.
    let known = call.rows(t::stock_picking, &[cell(c::sale_id, Value::Ref(order))])?;
    let mut picking = known.iter().find(|row| !row.is_any(c::state, words![done, cancel])).map(RowView::id);
    for &(id, units) in lines {
        let line = call.row(t::sale_order_line, id)?;
        let Some(product) = line.link(c::product_id) else { continue };
        if units <= 0 || line.flag(c::is_downpayment) || !line.get(c::display_type).is_null() {
            continue;
        }
        if !call.row(t::product_product, product)?.is(c::r#type, w::consu) {
            continue;
        }
        let transfer = match picking {
            Some(transfer) => transfer,
            None => {
                let of = (c::sale_id.of(), order);
                *picking.insert(make_picking(call, w::outgoing.of(), head.link(c::partner_id), &name, date, of)?)
            }
        };
        let made_to_order = is_made_to_order(call, product)?;
        let new = NewMove {
            product,
            units,
            from: location(call, w::internal)?,
            to: location(call, w::customer)?,
            date,
            origin: &name,
            state: if made_to_order { w::waiting.of() } else { w::confirmed.of() },
            of: &[(c::picking_id.of(), transfer), (c::sale_line_id.of(), id)],
        };
        let made = make_move(call, &new)?;
        if made_to_order {
            make_to_order(call, product, units, &name, date, id)?;
        } else {
            reserve(call, made)?;
        }
    }
    picking.map_or(Ok(()), |picking| settle_picking(call, picking))
}

/// The invoice lines of an order line.
pub(crate) fn invoice_lines(call: &Call<'_, '_>, line: RowId) -> Result<Vec<RowId>, Refusal> {
    let joints = call.rows(t::sale_order_line_invoice_rel, &[cell(c::order_line_id, Value::Ref(line))])?;
    Ok(joints.iter().filter_map(|joint| joint.link(c::invoice_line_id)).collect())
}

/// Units of a line that live invoices bill.
pub(crate) fn invoiced(call: &Call<'_, '_>, line: RowId) -> Result<i64, Refusal> {
    let mut sum = 0;
    for item in invoice_lines(call, line)? {
        let item = call.row(t::account_move_line, item)?;
        let Some(entry) = item.link(c::move_id) else { continue };
        let entry = call.row(t::account_move, entry)?;
        if entry.is(c::state, w::cancel) {
            continue;
        }
        sum += if entry.is(c::move_type, w::out_refund) { -item.number(c::quantity) } else { item.number(c::quantity) };
    }
    Ok(sum)
}

/// Units of a line that are still to be billed.
pub(crate) fn to_invoice(call: &Call<'_, '_>, line: &RowView<t::sale_order_line>) -> Result<i64, Refusal> {
    let Some(order) = line.link(c::order_id) else { return Ok(0) };
    if !call.row(t::sale_order, order)?.is(c::state, w::sale) || !line.get(c::display_type).is_null() {
        return Ok(0);
    }
    let billed = invoiced(call, line.id())?;
    let by_delivery = match line.link(c::product_id) {
        Some(product) if !line.flag(c::is_downpayment) => {
            call.row(t::product_product, product)?.is(c::invoice_policy, w::delivery)
        }
        _ => false,
    };
    let due = if by_delivery { delivered(call, line.id())? } else { line.number(c::product_uom_qty) };
    Ok(due - billed)
}

fn delivered(call: &Call<'_, '_>, line: RowId) -> Result<i64, Refusal> {
    let moves = call.rows(t::stock_move, &[cell(c::sale_line_id, Value::Ref(line))])?;
    let delivered = moves.iter().filter(|row| row.is(c::state, w::done) && row.link(c::picking_id).is_some());
    Ok(delivered.map(|row| row.number(c::quantity)).sum())
}

/// Untaxed amount and tax of a line.
pub(crate) fn amounts(call: &Call<'_, '_>, line: &RowView<t::sale_order_line>) -> Result<(i64, i64), Refusal> {
    line_amounts(call, line, c::product_uom_qty, t::sale_order_line_tax)
}
