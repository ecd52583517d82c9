//! What a manufacturing order consists of: its components, its work and its product, when they come, and its state. The calls
//! on orders and the hooks of orders and work orders build on it.

use super::{
    stock_location::location,
    stock_move::{self, NewMove, cancel_move, make_move, move_state, reserve},
};
use crate::{
    names::{c, t, w},
    record::Call,
};
use benchwright_base::{DateTime, RowId, Value, date::DAY};
use benchwright_pack::Refusal;
use benchwright_sandbox::{ColumnOf, RowView, Word, WordOf, cell, columns, words};

/// The list of an order's components.
pub(crate) const COMPONENTS: &str = "move_raw_ids";
/// The list of an order's work.
pub(crate) const WORK: &str = "workorder_ids";
/// The list of what an order makes.
pub(crate) const PRODUCTS: &str = "move_finished_ids";

/// Seconds in an hour.
const HOUR: i64 = 3600;

/// The first bill of materials in use for a product.
pub(crate) fn bom_of(call: &Call<'_, '_>, product: RowId) -> Result<Option<RowId>, Refusal> {
    let boms = call.rows(t::mrp_bom, &[cell(c::product_tmpl_id, Value::Ref(product))])?;
    let usable = boms.iter().filter(|bom| bom.flag(c::active) && bom.is(c::r#type, w::normal));
    Ok(usable.min_by_key(|bom| (bom.number(c::sequence), bom.id())).map(RowView::id))
}

/// Makes the moves and work orders of a new order, and sets when it ends.
pub(crate) fn made(call: &mut Call<'_, '_>, id: RowId, given: &[&str]) -> Result<(), Refusal> {
    if !given.contains(&COMPONENTS) {
        make_raw_moves(call, id)?;
    }
    if !given.contains(&WORK) {
        make_workorders(call, id)?;
    }
    if !given.contains(&PRODUCTS) {
        make_finished_move(call, id)?;
    }
    match call.row(t::mrp_production, id)?.instant(c::date_finished) {
        Some(end) => set_finished(call, id, end),
        None => set_end(call, id),
    }
}

/// Sets when an order ends, and with it when its goods come.
pub(crate) fn set_finished(call: &mut Call<'_, '_>, id: RowId, end: DateTime) -> Result<(), Refusal> {
    call.update(t::mrp_production, id, &[cell(c::date_finished, Value::DateTime(end))])?;
    follow(call, id)
}

/// Brings the goods of an order its end and its deadline: whatever bears on its end does, though the end stay as it was.
pub(crate) fn follow(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    let mut values =
        vec![cell(c::date, order.get(c::date_finished)), cell(c::date_deadline, order.get(c::date_deadline))];
    values.retain(|cell| !cell.value().is_null());
    for row in call.rows(t::stock_move, &[cell(c::production_id, Value::Ref(id))])? {
        call.update(t::stock_move, row.id(), &values)?;
    }
    Ok(())
}

/// An order is planned when its work has dates.
pub(crate) fn settle_plan(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let planned = workorders(call, id)?.iter().any(|work| work.instant(c::date_start).is_some());
    call.update(t::mrp_production, id, &[cell(c::is_planned, Value::Bool(planned))])?;
    Ok(())
}

fn make_raw_moves(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    let Some(bom) = order.link(c::bom_id) else { return Ok(()) };
    let per = call.row(t::mrp_bom, bom)?.number(c::product_qty).max(1);
    let lines = call.rows(t::mrp_bom_line, &[cell(c::bom_id, Value::Ref(bom))])?;
    let state = move_state(&order);
    for line in lines {
        let Some(product) = line.link(c::product_id) else { continue };
        let new = NewMove {
            product,
            units: scaled(line.number(c::product_qty), order.number(c::product_qty), per),
            from: location(call, w::internal)?,
            to: location(call, w::production)?,
            date: order.instant(c::date_start),
            origin: &order.words(c::name),
            state,
            of: &[(c::raw_material_production_id.of(), id), (c::bom_line_id.of(), line.id())],
        };
        let made = make_move(call, &new)?;
        reserve(call, made)?;
    }
    Ok(())
}

fn make_finished_move(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    let Some(product) = order.link(c::product_id) else { return Ok(()) };
    let new = NewMove {
        product,
        units: order.number(c::product_qty),
        from: location(call, w::production)?,
        to: location(call, w::internal)?,
        date: order.instant(c::date_start),
        origin: &order.words(c::name),
        state: move_state(&order),
        of: &[(c::production_id.of(), id)],
    };
    let made = make_move(call, &new)?;
    call.update(t::stock_move, made, &[cell(c::date_deadline, order.get(c::date_deadline))])?;
    Ok(())
}

fn make_workorders(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    let Some(bom) = order.link(c::bom_id) else { return Ok(()) };
    let mut operations = call.rows(t::mrp_routing_workcenter, &[cell(c::bom_id, Value::Ref(bom))])?;
    operations.retain(|operation| operation.flag(c::active));
    operations.sort_by_key(|operation| (operation.number(c::sequence), operation.id()));
    for (at, operation) in operations.iter().enumerate() {
        // Each waits for the one before.
        let state = call.word(t::mrp_workorder, c::state, if at == 0 { w::ready.of() } else { w::blocked.of() });
        call.create(
            t::mrp_workorder,
            &[
                cell(c::production_id, Value::Ref(id)),
                cell(c::name, operation.get(c::name)),
                cell(c::workcenter_id, operation.get(c::workcenter_id)),
                cell(c::operation_id, Value::Ref(operation.id())),
                cell(c::sequence, operation.get(c::sequence)),
                cell(c::state, state),
            ],
        )?;
    }
    Ok(())
}

/// `a * b / c`, rounded half up.
pub(crate) fn scaled(a: i64, b: i64, c: i64) -> i64 {
    let c = i128::from(c.max(1));
    ((i128::from(a) * i128::from(b) * 2 + c) / (c * 2)) as i64
}

/// The end of an order: its start plus the days of the bill of materials, or plus the minutes of its work.
pub(crate) fn set_end(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    let Some(start) = order.instant(c::date_start) else { return Ok(()) };
    let days = order.link(c::bom_id).map(|bom| call.row(t::mrp_bom, bom)).transpose()?;
    let days = days.map_or(0, |bom| bom.number(c::produce_delay));
    let seconds = if days > 0 { days * DAY } else { work_seconds(call, id)? };
    let end = DateTime(start.0 + if seconds > 0 { seconds } else { HOUR });
    set_finished(call, id, end)
}

fn work_seconds(call: &Call<'_, '_>, id: RowId) -> Result<i64, Refusal> {
    let mut sum = 0;
    for work in workorders(call, id)? {
        sum += minutes(call, &work, None)? * 60 / 1000;
    }
    Ok(sum)
}

/// The work orders of an order, in their order.
pub(crate) fn workorders(call: &Call<'_, '_>, id: RowId) -> Result<Vec<RowView<t::mrp_workorder>>, Refusal> {
    let mut found = call.rows(t::mrp_workorder, &[cell(c::production_id, Value::Ref(id))])?;
    found.sort_by_key(|work| (work.number(c::sequence), work.id()));
    Ok(found)
}

/// The minutes that a work order is expected to take at its centre or another one, in thousandths.
pub(crate) fn minutes(
    call: &Call<'_, '_>,
    work: &RowView<t::mrp_workorder>,
    at: Option<RowId>,
) -> Result<i64, Refusal> {
    let (Some(order), Some(operation)) = (work.link(c::production_id), work.link(c::operation_id)) else {
        return Ok(0);
    };
    let order = call.row(t::mrp_production, order)?;
    let cycle = call.row(t::mrp_routing_workcenter, operation)?.number(c::time_cycle_manual);
    let per = order.link(c::bom_id).map(|bom| call.row(t::mrp_bom, bom)).transpose()?;
    let per = per.map_or(1000, |bom| bom.number(c::product_qty));
    let Some(centre) = at.or(work.link(c::workcenter_id)) else { return Ok(0) };
    let efficiency = call.row(t::mrp_workcenter, centre)?.number(c::time_efficiency);
    Ok(scaled(scaled(cycle, order.number(c::product_qty), per), 100_000, efficiency))
}

/// What a finished build has made is what is written as produced.
pub(crate) fn put_right(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    for row in call
        .rows(t::stock_move, &[cell(c::production_id, Value::Ref(id)), cell(c::product_id, order.get(c::product_id))])?
    {
        if row.is(c::state, w::done) {
            stock_move::put_right(call, row.id(), order.number(c::qty_producing))?;
        }
    }
    Ok(())
}

/// Sets the state of an order by what is written as produced. What was begun stays so.
pub(crate) fn settle(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    if !order.is_any(c::state, words![draft, confirmed, progress, to_close]) || order.number(c::qty_producing) == 0 {
        return Ok(());
    }
    let whole = order.number(c::qty_producing) >= order.number(c::product_qty);
    let state: Word<t::mrp_production, c::state> =
        if workorders(call, id)?.is_empty() && whole { w::to_close.of() } else { w::progress.of() };
    if order.is(c::state, state) { Ok(()) } else { set_state(call, id, state) }
}

/// Sets the state of an order.
pub(crate) fn set_state(
    call: &mut Call<'_, '_>,
    id: RowId,
    state: impl WordOf<t::mrp_production, c::state>,
) -> Result<(), Refusal> {
    let state = call.word(t::mrp_production, c::state, state);
    call.update(t::mrp_production, id, &[cell(c::state, state)])?;
    Ok(())
}

/// Takes the plan of an order back.
pub(crate) fn unplan_one(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    for work in workorders(call, id)? {
        call.update(
            t::mrp_workorder,
            work.id(),
            &[cell(c::date_start, Value::Null), cell(c::date_finished, Value::Null)],
        )?;
    }
    call.update(t::mrp_production, id, &[cell(c::is_planned, Value::Bool(false))])?;
    Ok(())
}

/// Cancels an order with its moves and its work.
pub(crate) fn cancel_one(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    for field in columns![raw_material_production_id, production_id] {
        for row in call.rows(t::stock_move, &[cell(field, Value::Ref(id))])? {
            cancel_move(call, row.id())?;
        }
    }
    let state = call.word(t::mrp_workorder, c::state, w::cancel);
    for work in workorders(call, id)? {
        if !work.is(c::state, w::done) {
            call.update(t::mrp_workorder, work.id(), &[cell(c::state, state.clone())])?;
        }
    }
    set_state(call, id, w::cancel)
}
