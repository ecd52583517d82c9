//! Work orders: when work on a manufacturing order begins and ends, and where.

use super::mrp_build::{follow, minutes, set_end, set_finished, settle_plan, workorders};
use crate::{
    hooks::{Made, Model},
    names::{c, t, w},
    record::{Call, Cells, cannot, plain_name_of, state_word, wrong_state},
};
use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Column, ColumnOf, Row, RowView, cell, columns, words};

/// `mrp.workorder`
pub(crate) struct MrpWorkorder;

impl Model for MrpWorkorder {
    type Of = t::mrp_workorder;
    const LOOKS_FIRST: bool = true;
    const MADE: &'static [(&'static str, Made)] = &[
        ("duration_expected", |call, id| Ok(Value::Quantity(minutes(call, &call.row(t::mrp_workorder, id)?, None)?))),
        ("product_id", |call, id| Ok(order_of(call, id)?.map_or(Value::Null, |order| order.get(c::product_id)))),
        ("qty_production", |call, id| Ok(order_of(call, id)?.map_or(Value::Null, |order| order.get(c::product_qty)))),
        ("production_state", |call, id| {
            let order = order_of(call, id)?;
            Ok(order.map_or(Value::Null, |order| state_word(call, t::mrp_production, &order)))
        }),
    ];

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        let order = row.get(call.field(t::mrp_workorder, c::production_id)).as_ref_id();
        let order = plain_name_of(call, t::mrp_production, order)?;
        let name = row.get(call.field(t::mrp_workorder, c::name)).as_text().unwrap_or_default();
        Ok(Some(format!("{order} - {name}")))
    }

    fn before_write(call: &mut Call<'_, '_>, id: RowId, cells: &mut Cells<t::mrp_workorder>) -> Result<(), Refusal> {
        may_change_workorder(call, id, cells)
    }

    fn after_write(
        call: &mut Call<'_, '_>,
        id: RowId,
        old: &RowView<t::mrp_workorder>,
        cells: &Cells<t::mrp_workorder>,
    ) -> Result<(), Refusal> {
        workorder_changed(call, id, old, cells)
    }
}

/// The manufacturing order of a work order.
fn order_of(call: &Call<'_, '_>, id: RowId) -> Result<Option<RowView<t::mrp_production>>, Refusal> {
    let order = call.row(t::mrp_workorder, id)?.link(c::production_id);
    order.map(|order| call.row(t::mrp_production, order)).transpose()
}

/// Work that is over stays where it was done.
fn may_change_workorder(call: &Call<'_, '_>, id: RowId, cells: &mut Cells<t::mrp_workorder>) -> Result<(), Refusal> {
    let work = call.row(t::mrp_workorder, id)?;
    let moves = cells.get(call, c::workcenter_id).is_some_and(|centre| *centre != work.get(c::workcenter_id));
    if moves && work.is_any(c::state, words![done, cancel]) {
        return Err(wrong_state("the work centre of a work order that is done or cancelled cannot be changed"));
    }
    let date = |column: Column<t::mrp_workorder>| match cells.get(call, column) {
        Some(value) => value.clone(),
        None => work.get(column),
    };
    let dated = cells.get(call, c::date_start).is_some() || cells.get(call, c::date_finished).is_some();
    if let (true, Value::DateTime(start), Value::DateTime(end)) =
        (dated, date(c::date_start.of()), date(c::date_finished.of()))
        && start > end
    {
        return Err(cannot("the planned end of a work order cannot be before its planned start"));
    }
    Ok(())
}

/// The first work order's start is the order's start, the last one's end its end.
fn workorder_changed(
    call: &mut Call<'_, '_>,
    id: RowId,
    old: &RowView<t::mrp_workorder>,
    cells: &Cells<t::mrp_workorder>,
) -> Result<(), Refusal> {
    let work = call.row(t::mrp_workorder, id)?;
    let Some(order) = work.link(c::production_id) else { return Ok(()) };
    let all = workorders(call, order)?;
    let was_planned = call.row(t::mrp_production, order)?.flag(c::is_planned);
    let moved = work.get(c::workcenter_id) != old.get(c::workcenter_id);
    if let Some(start) = work.instant(c::date_start)
        && (moved || work.get(c::date_finished).is_null())
    {
        let end = DateTime(start.0 + minutes(call, &work, None)? * 60 / 1000);
        call.update(t::mrp_workorder, id, &[cell(c::date_finished, Value::DateTime(end))])?;
        if moved && all.last().is_some_and(|last| last.id() == id) {
            set_finished(call, order, end)?;
        }
    }
    let (start, end) = (work.get(c::date_start), work.get(c::date_finished));
    if start != old.get(c::date_start) && !start.is_null() && all.first().is_some_and(|first| first.id() == id) {
        call.update(t::mrp_production, order, &[cell(c::date_start, start.clone())])?;
        for row in call.rows(t::stock_move, &[cell(c::raw_material_production_id, Value::Ref(order))])? {
            call.update(t::stock_move, row.id(), &[cell(c::date, start.clone())])?;
        }
        if !was_planned {
            set_end(call, order)?;
        }
    }
    let written = cells.get(call, c::date_finished).is_some();
    if let (true, Value::DateTime(end), true) = (written, end, all.last().is_some_and(|last| last.id() == id)) {
        set_finished(call, order, end)?;
    }
    settle_plan(call, order)?;
    if columns![date_start, date_finished, workcenter_id].into_iter().any(|column| cells.has(call, column)) {
        follow(call, order)?;
    }
    Ok(())
}
