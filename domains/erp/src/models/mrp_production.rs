//! Manufacturing orders: what a new one has, what a change of one entails, and what is read of it.

use super::{
    mrp_build::{
        self, COMPONENTS, PRODUCTS, WORK, bom_of, cancel_one, follow, minutes, put_right, scaled, set_end, settle,
        unplan_one, workorders,
    },
    stock_move::reserve,
    stock_quantity::is_open,
};
use crate::{
    hooks::{Made, Model},
    names::{c, t, w},
    record::{Call, Cells, fill_user, wrong_state},
};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Column, ColumnOf, RowView, cell, columns, words};

/// `mrp.production`
pub(crate) struct MrpProduction;

impl Model for MrpProduction {
    type Of = t::mrp_production;
    const ORDER: &'static str = "date_start, id";
    const LISTS: &'static [&'static str] = &[COMPONENTS, WORK, PRODUCTS];
    const MADE: &'static [(&'static str, Made)] = &[
        ("qty_produced", qty_produced),
        ("reservation_state", reservation_state),
        ("duration_expected", |call, id| {
            let mut sum = 0;
            for work in workorders(call, id)? {
                sum += minutes(call, &work, None)?;
            }
            Ok(Value::Quantity(sum))
        }),
    ];

    fn before_create(call: &mut Call<'_, '_>, cells: &mut Cells<t::mrp_production>) -> Result<Option<RowId>, Refusal> {
        fill(call, cells)?;
        Ok(None)
    }

    fn after_create(call: &mut Call<'_, '_>, id: RowId, given: &[&str]) -> Result<(), Refusal> {
        mrp_build::made(call, id, given)
    }

    fn before_write(call: &mut Call<'_, '_>, id: RowId, cells: &mut Cells<t::mrp_production>) -> Result<(), Refusal> {
        may_change(call, id, cells)
    }

    fn after_write(
        call: &mut Call<'_, '_>,
        id: RowId,
        old: &RowView<t::mrp_production>,
        cells: &Cells<t::mrp_production>,
    ) -> Result<(), Refusal> {
        changed(call, id, old, cells)
    }

    fn before_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        may_unlink(call, id)
    }
}

/// Units that an order has made.
fn qty_produced(call: &Call<'_, '_>, id: RowId) -> Result<Value, Refusal> {
    let moves = call.rows(t::stock_move, &[cell(c::production_id, Value::Ref(id))])?;
    let done = moves.iter().filter(|row| row.is(c::state, w::done));
    Ok(Value::Quantity(done.map(|row| row.number(c::quantity)).sum()))
}

/// Whether the components of an order are reserved.
fn reservation_state(call: &Call<'_, '_>, id: RowId) -> Result<Value, Refusal> {
    let moves = call.rows(t::stock_move, &[cell(c::raw_material_production_id, Value::Ref(id))])?;
    let open: Vec<&RowView<t::stock_move>> = moves.iter().filter(|row| is_open(row)).collect();
    Ok(if open.is_empty() {
        Value::Null
    } else if open.iter().all(|row| row.is(c::state, w::assigned)) {
        Value::text("assigned")
    } else {
        Value::text("confirmed")
    })
}

/// What a new order has unless it says otherwise: the product's bill of materials, and the time.
fn fill(call: &Call<'_, '_>, cells: &mut Cells<t::mrp_production>) -> Result<(), Refusal> {
    if cells.get(call, c::bom_id).is_none()
        && let Some(product) = cells.link(call, c::product_id)
        && let Some(bom) = bom_of(call, product)?
    {
        cells.set(call, c::bom_id, Value::Ref(bom));
    }
    if !cells.has(call, c::date_start) {
        cells.set(call, c::date_start, Value::DateTime(call.now()));
    }
    fill_user(call, cells);
    Ok(())
}

/// An order that is over cannot be moved; moving one that is planned takes its plan back.
fn may_change(call: &mut Call<'_, '_>, id: RowId, cells: &mut Cells<t::mrp_production>) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    if cells.get(call, c::date_start).is_some() {
        if order.is_any(c::state, words![done, cancel]) {
            return Err(wrong_state("a manufacturing order cannot be moved once it is cancelled or done"));
        }
        if order.flag(c::is_planned) {
            unplan_one(call, id)?;
        }
    }
    let changes =
        |column: Column<t::mrp_production>| cells.get(call, column).is_some_and(|value| *value != order.get(column));
    if columns![product_id, bom_id].into_iter().any(changes) && !order.is(c::state, w::draft) {
        return Err(wrong_state("product and bill of materials can be changed only while the order is a draft"));
    }
    Ok(())
}

/// What follows from a change: moves, work orders, end and state.
fn changed(
    call: &mut Call<'_, '_>,
    id: RowId,
    old: &RowView<t::mrp_production>,
    cells: &Cells<t::mrp_production>,
) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    let differs = |column: Column<t::mrp_production>| order.get(column) != old.get(column);
    if differs(c::product_id.of()) || differs(c::bom_id.of()) {
        for field in columns![raw_material_production_id, production_id] {
            for row in call.rows(t::stock_move, &[cell(field, Value::Ref(id))])? {
                call.delete(t::stock_move, row.id())?;
            }
        }
        for work in workorders(call, id)? {
            call.delete(t::mrp_workorder, work.id())?;
        }
        mrp_build::made(call, id, &[])?;
    } else if differs(c::product_qty.of()) && order.is(c::state, w::draft) {
        // Those of a confirmed order are written one by one.
        let (new, before) = (order.number(c::product_qty), old.number(c::product_qty).max(1));
        for field in columns![raw_material_production_id, production_id] {
            for row in call.rows(t::stock_move, &[cell(field, Value::Ref(id))])? {
                let units = scaled(row.number(c::product_uom_qty), new, before);
                call.update(t::stock_move, row.id(), &[cell(c::product_uom_qty, Value::Quantity(units))])?;
                reserve(call, row.id())?;
            }
        }
    }
    if differs(c::date_start.of()) {
        for row in call.rows(t::stock_move, &[cell(c::raw_material_production_id, Value::Ref(id))])? {
            call.update(t::stock_move, row.id(), &[cell(c::date, order.get(c::date_start))])?;
        }
    }
    let written = |column: Column<t::mrp_production>| cells.has(call, column);
    // The product of an order that is no draft is not written, whatever a call says.
    let bears = |column: Column<t::mrp_production>| {
        written(column) && (column != c::product_id.of() || order.is(c::state, w::draft))
    };
    let ends = columns![date_start, product_qty, bom_id, product_id];
    let is_settled = order.flag(c::is_planned) || order.is(c::state, w::done);
    // The quantity of one that is over is a number like any other.
    let is_over = order.is_any(c::state, words![done, cancel]);
    let ends_anew = |column: Column<t::mrp_production>| {
        (differs(column) && !(is_over && column == c::product_qty.of())) || (bears(column) && !is_settled && !is_over)
    };
    if ends.into_iter().any(ends_anew) && !written(c::date_finished.of()) {
        set_end(call, id)?;
    } else if ends.into_iter().chain(columns![date_finished, qty_producing]).any(bears) {
        follow(call, id)?;
    }
    if order.is(c::state, w::done) && cells.has(call, c::qty_producing) {
        put_right(call, id)?;
    }
    settle(call, id)
}

/// What is done stays; the rest is cancelled and goes.
fn may_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    if order.is(c::state, w::done) {
        return Err(wrong_state(format!("{} is done and cannot be deleted", order.words(c::name))));
    }
    cancel_one(call, id)
}
