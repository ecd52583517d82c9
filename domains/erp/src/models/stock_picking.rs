//! Transfers: several moves that are shipped or received together.

use super::{
    stock_location::location,
    stock_move::{cancel_move, finish, reserve},
    stock_quantity::is_open,
};
use crate::{
    hooks::Model,
    names::{c, t, w},
    record::{Answer, Call, cannot, dialog, done, ids, next_name, wrong_state},
};
use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Column, RowView, Word, WordOf, cell, words};

/// `stock.picking`
pub(crate) struct StockPicking;

impl Model for StockPicking {
    type Of = t::stock_picking;
    const ORDER: &'static str = "id desc";
}

/// Transfers and moves outlive the document they were made for.
pub(crate) fn let_go(
    call: &mut Call<'_, '_>,
    document: (Column<t::stock_picking>, RowId),
    lines: (Column<t::stock_move>, &[RowId]),
) -> Result<(), Refusal> {
    for row in call.rows(t::stock_picking, &[cell(document.0, Value::Ref(document.1))])? {
        call.update(t::stock_picking, row.id(), &[cell(document.0, Value::Null)])?;
    }
    for line in lines.1 {
        for row in call.rows(t::stock_move, &[cell(lines.0, Value::Ref(*line))])? {
            call.update(t::stock_move, row.id(), &[cell(lines.0, Value::Null)])?;
        }
    }
    Ok(())
}

/// A transfer is the order's whose lines its moves are for: when the last is gone, it is nobody's.
pub(crate) fn settle_owner(
    call: &mut Call<'_, '_>,
    picking: RowId,
    line: Column<t::stock_move>,
    order: Column<t::stock_picking>,
) -> Result<(), Refusal> {
    let moves = call.rows(t::stock_move, &[cell(c::picking_id, Value::Ref(picking))])?;
    if moves.iter().all(|row| row.link(line).is_none()) {
        call.update(t::stock_picking, picking, &[cell(order, Value::Null)])?;
    }
    Ok(())
}

/// Makes a transfer with the next name of its kind.
pub(crate) fn make_picking(
    call: &mut Call<'_, '_>,
    code: Word<t::stock_picking, c::picking_type_code>,
    partner: Option<RowId>,
    origin: &str,
    date: Option<DateTime>,
    of: (Column<t::stock_picking>, RowId),
) -> Result<RowId, Refusal> {
    let (prefix, from, to) = if code == w::incoming.of() {
        ("WH/IN/", location(call, w::supplier)?, location(call, w::internal)?)
    } else {
        ("WH/OUT/", location(call, w::internal)?, location(call, w::customer)?)
    };
    let name = next_name(call, t::stock_picking, prefix)?;
    call.create(
        t::stock_picking,
        &[
            cell(c::name, Value::text(name)),
            cell(c::partner_id, partner.map_or(Value::Null, Value::Ref)),
            cell(c::origin, Value::text(origin)),
            cell(c::picking_type_code, call.word(t::stock_picking, c::picking_type_code, code)),
            cell(c::state, call.word(t::stock_picking, c::state, w::confirmed)),
            cell(c::location_id, Value::Ref(from)),
            cell(c::location_dest_id, Value::Ref(to)),
            cell(c::scheduled_date, date.map_or(Value::Null, Value::DateTime)),
            cell(of.0, Value::Ref(of.1)),
        ],
    )
}

/// Reserves for all moves of a transfer, and sets its state by theirs.
pub(crate) fn assign_picking(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    for row in call.rows(t::stock_move, &[cell(c::picking_id, Value::Ref(id))])? {
        reserve(call, row.id())?;
    }
    settle_picking(call, id)
}

/// Sets the state of a transfer by those of its moves.
pub(crate) fn settle_picking(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let moves = call.rows(t::stock_move, &[cell(c::picking_id, Value::Ref(id))])?;
    let state: Word<t::stock_picking, c::state> = if moves.iter().all(|row| row.is(c::state, w::cancel)) {
        w::cancel.of()
    } else if moves.iter().all(|row| row.is_any(c::state, words![done, cancel])) {
        w::done.of()
    } else if moves.iter().any(|row| row.is_any(c::state, words![assigned, partially_available])) {
        // What is there can be shipped.
        w::assigned.of()
    } else if moves.iter().any(|row| row.is(c::state, w::waiting)) {
        w::waiting.of()
    } else {
        w::confirmed.of()
    };
    let state = call.word(t::stock_picking, c::state, state);
    call.update(t::stock_picking, id, &[cell(c::state, state)])?;
    Ok(())
}

/// Cancels a transfer that is not done, with its moves.
pub(crate) fn cancel_picking(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    if call.row(t::stock_picking, id)?.is(c::state, w::done) {
        return Ok(());
    }
    for row in call.rows(t::stock_move, &[cell(c::picking_id, Value::Ref(id))])? {
        cancel_move(call, row.id())?;
    }
    let state = call.word(t::stock_picking, c::state, w::cancel);
    call.update(t::stock_picking, id, &[cell(c::state, state)])?;
    Ok(())
}

/// `stock.picking` `action_assign`
pub(crate) fn assign(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let row = call.row(t::stock_picking, id)?;
        if row.is_any(c::state, words![done, cancel]) {
            return Err(wrong_state(format!("there is nothing to reserve for {}", row.words(c::name))));
        }
        assign_picking(call, id)?;
    }
    done(call, "true")
}

/// `stock.picking` `action_cancel`
pub(crate) fn cancel(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let row = call.row(t::stock_picking, id)?;
        if row.is(c::state, w::done) {
            return Err(wrong_state(format!("{} is done and cannot be cancelled", row.words(c::name))));
        }
        cancel_picking(call, id)?;
    }
    done(call, "true")
}

/// `stock.picking` `button_validate`
pub(crate) fn validate(call: &mut Call<'_, '_>) -> Answer {
    let ids = ids(call)?;
    for id in &ids {
        let row = call.row(t::stock_picking, *id)?;
        let name = row.words(c::name);
        if row.is_any(c::state, words![done, cancel]) {
            return Err(wrong_state(format!("{name} is done or cancelled already")));
        }
        let moves = call.rows(t::stock_move, &[cell(c::picking_id, Value::Ref(*id))])?;
        let open: Vec<&RowView<t::stock_move>> = moves.iter().filter(|row| is_open(row)).collect();
        if open.iter().all(|row| row.number(c::quantity) == 0) {
            return Err(cannot(format!("{name} cannot be validated: no quantities are reserved")));
        }
        if open.iter().any(|row| row.number(c::quantity) < row.number(c::product_uom_qty)) {
            // Odoo asks what to do with the rest, and does nothing until it is told.
            return done(call, dialog("Create Backorder?", "stock.backorder.confirmation"));
        }
        let work: Vec<(RowId, i64)> = open.iter().map(|row| (row.id(), row.number(c::quantity))).collect();
        for (row, units) in work {
            finish(call, row, units)?;
        }
        let state = call.word(t::stock_picking, c::state, w::done);
        call.update(t::stock_picking, *id, &[cell(c::state, state), cell(c::date_done, Value::DateTime(call.now()))])?;
    }
    done(call, "true")
}

/// The transfers of an order.
pub(crate) fn transfers(
    call: &Call<'_, '_>,
    column: Column<t::stock_picking>,
    order: RowId,
) -> Result<Vec<RowId>, Refusal> {
    let (table, field) = (call.table(t::stock_picking), call.field(t::stock_picking, column));
    Ok(call.referring(table, field, order)?.into_iter().map(|row| row.id()).collect())
}
