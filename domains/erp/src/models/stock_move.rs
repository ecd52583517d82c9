//! Moves of goods from one location to another: made, reserved, carried out, cancelled.

use super::{
    product_product,
    stock_location::{is_internal, location},
    stock_quantity::{add_quant, flow, is_open, on_hand},
};
use crate::{
    hooks::Model,
    names::{c, t, w},
    record::{Call, Cells, wrong_state},
};
use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Column, ColumnOf, Row, RowView, Word, WordOf, cell, words};

/// A state of a move.
pub(crate) type State = Word<t::stock_move, c::state>;

/// `stock.move`
pub(crate) struct StockMove;

impl Model for StockMove {
    type Of = t::stock_move;
    const ORDER: &'static str = "date, id";
    const LOOKS_FIRST: bool = true;

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        let product = row.get(call.field(t::stock_move, c::product_id)).as_ref_id();
        Ok(Some(product_product::display_name(call, product)?.unwrap_or_default()))
    }

    fn before_create(call: &mut Call<'_, '_>, cells: &mut Cells<t::stock_move>) -> Result<Option<RowId>, Refusal> {
        fill_move(call, cells)?;
        Ok(None)
    }

    fn after_create(call: &mut Call<'_, '_>, id: RowId, _: &[&str]) -> Result<(), Refusal> {
        reserve(call, id)
    }

    fn before_write(call: &mut Call<'_, '_>, id: RowId, _: &mut Cells<t::stock_move>) -> Result<(), Refusal> {
        may_change_move(call, id)
    }

    fn after_write(
        call: &mut Call<'_, '_>,
        id: RowId,
        _: &RowView<t::stock_move>,
        _: &Cells<t::stock_move>,
    ) -> Result<(), Refusal> {
        match call.row(t::stock_move, id)?.link(c::production_id) {
            Some(_) => let_go(call, id),
            None => reserve(call, id),
        }
    }

    fn before_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        may_change_move(call, id)
    }
}

/// A move to be made.
pub(crate) struct NewMove<'a> {
    pub(crate) product: RowId,
    pub(crate) units: i64,
    pub(crate) from: RowId,
    pub(crate) to: RowId,
    pub(crate) date: Option<DateTime>,
    pub(crate) origin: &'a str,
    pub(crate) state: State,
    /// What it belongs to: the field and the row.
    pub(crate) of: &'a [(Column<t::stock_move>, RowId)],
}

/// Makes a move.
pub(crate) fn make_move(call: &mut Call<'_, '_>, new: &NewMove<'_>) -> Result<RowId, Refusal> {
    let state = call.word(t::stock_move, c::state, new.state);
    let date = new.date.map_or(Value::Null, Value::DateTime);
    let transfer = new.of.iter().find(|(field, _)| *field == c::picking_id.of());
    let reference = match transfer {
        Some((_, transfer)) => call.row(t::stock_picking, *transfer)?.get(c::name),
        None => Value::text(new.origin),
    };
    let mut values = vec![
        cell(c::product_id, Value::Ref(new.product)),
        cell(c::product_uom_qty, Value::Quantity(new.units)),
        cell(c::state, state),
        cell(c::date, date),
        cell(c::origin, Value::text(new.origin)),
        cell(c::reference, reference),
        cell(c::location_id, Value::Ref(new.from)),
        cell(c::location_dest_id, Value::Ref(new.to)),
    ];
    values.extend(new.of.iter().map(|(field, row)| cell(*field, Value::Ref(*row))));
    call.create(t::stock_move, &values)
}

/// What was moved cannot be changed any more.
fn may_change_move(call: &Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    if call.row(t::stock_move, id)?.is_any(c::state, words![done, cancel]) {
        return Err(wrong_state("a move that is done or cancelled cannot be changed"));
    }
    Ok(())
}

/// Reserves stock for a move, as far as there is any; goods that come from outside are simply expected.
pub(crate) fn reserve(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let row = call.row(t::stock_move, id)?;
    if !is_open(&row) {
        return Ok(());
    }
    let wanted = row.number(c::product_uom_qty);
    let taken = match row.link(c::product_id) {
        Some(product) if is_internal(call, row.link(c::location_id))? => {
            let free = on_hand(call, product)? - flow(call, product)?.reserved + row.number(c::quantity);
            wanted.min(free.max(0))
        }
        _ => wanted,
    };
    set_taken(call, id, taken, wanted)
}

/// What a build is to make is not expected anew when it changes; where fewer units are to come than are expected, none is.
fn let_go(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let row = call.row(t::stock_move, id)?;
    if !is_open(&row) {
        return Ok(());
    }
    let (taken, wanted) = (row.number(c::quantity), row.number(c::product_uom_qty));
    set_taken(call, id, if taken > wanted { 0 } else { taken }, wanted)
}

/// Sets how many of the wanted units a move has, and its state with them.
fn set_taken(call: &mut Call<'_, '_>, id: RowId, taken: i64, wanted: i64) -> Result<(), Refusal> {
    let state: State = if taken >= wanted {
        w::assigned.of()
    } else if taken > 0 {
        w::partially_available.of()
    } else {
        w::confirmed.of()
    };
    let state = call.word(t::stock_move, c::state, state);
    call.update(t::stock_move, id, &[cell(c::quantity, Value::Quantity(taken)), cell(c::state, state)])?;
    Ok(())
}

/// Carries a move out with a quantity.
pub(crate) fn finish(call: &mut Call<'_, '_>, id: RowId, units: i64) -> Result<(), Refusal> {
    let values = [
        cell(c::quantity, Value::Quantity(units)),
        cell(c::state, call.word(t::stock_move, c::state, w::done)),
        cell(c::date, Value::DateTime(call.now())),
    ];
    call.update(t::stock_move, id, &values)?;
    shift(call, id, units)
}

/// Gives a move that was carried out another quantity.
pub(crate) fn put_right(call: &mut Call<'_, '_>, id: RowId, units: i64) -> Result<(), Refusal> {
    let before = call.row(t::stock_move, id)?.number(c::quantity);
    call.update(t::stock_move, id, &[cell(c::quantity, Value::Quantity(units))])?;
    shift(call, id, units - before)
}

/// Takes units of a move's product from where it leads from to where it leads.
fn shift(call: &mut Call<'_, '_>, id: RowId, units: i64) -> Result<(), Refusal> {
    let row = call.row(t::stock_move, id)?;
    let (Some(product), Some(from), Some(to)) =
        (row.link(c::product_id), row.link(c::location_id), row.link(c::location_dest_id))
    else {
        return Ok(());
    };
    if call.row(t::product_product, product)?.flag(c::is_storable) {
        add_quant(call, product, from, -units)?;
        add_quant(call, product, to, units)?;
    }
    Ok(())
}

/// Cancels a move that is not done.
pub(crate) fn cancel_move(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    if call.row(t::stock_move, id)?.is(c::state, w::done) {
        return Ok(());
    }
    let state = call.word(t::stock_move, c::state, w::cancel);
    call.update(t::stock_move, id, &[cell(c::quantity, Value::Quantity(0)), cell(c::state, state)])?;
    Ok(())
}

/// Where a component or product that is added to an order by hand comes from and goes to.
fn fill_move(call: &Call<'_, '_>, cells: &mut Cells<t::stock_move>) -> Result<(), Refusal> {
    let raw = cells.link(call, c::raw_material_production_id);
    let Some(id) = raw.or(cells.link(call, c::production_id)) else { return Ok(()) };
    let order = call.row(t::mrp_production, id)?;
    let (from, to) =
        if raw.is_some() { (w::internal.of(), w::production.of()) } else { (w::production.of(), w::internal.of()) };
    for (field, usage) in [(c::location_id.of(), from), (c::location_dest_id.of(), to)] {
        if !cells.has(call, field) {
            cells.set(call, field, Value::Ref(location(call, usage)?));
        }
    }
    for (field, value) in [
        (c::date.of(), order.get(c::date_start)),
        (c::origin.of(), order.get(c::name)),
        (c::reference.of(), order.get(c::name)),
    ] {
        if !cells.has(call, field) {
            cells.set(call, field, value);
        }
    }
    cells.set(call, c::state, call.word(t::stock_move, c::state, move_state(&order)));
    Ok(())
}

/// The state of a new move of a manufacturing order.
pub(crate) fn move_state(order: &RowView<t::mrp_production>) -> State {
    if order.is(c::state, w::draft) { w::draft.of() } else { w::confirmed.of() }
}
