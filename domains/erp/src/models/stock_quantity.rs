//! Quantities: what lies in stock, what open moves are to bring or take, and what of it is reserved.

use super::stock_location::is_internal;
use crate::{
    names::{c, t, w},
    record::Call,
};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Cell, RowView, cell, words};

/// Whether a move is still to be done.
pub(crate) fn is_open(row: &RowView<t::stock_move>) -> bool {
    row.is_any(c::state, words![waiting, confirmed, partially_available, assigned])
}

/// Units of a product in internal locations.
pub(crate) fn on_hand(call: &Call<'_, '_>, product: RowId) -> Result<i64, Refusal> {
    let mut sum = 0;
    for quant in call.rows(t::stock_quant, &[cell(c::product_id, Value::Ref(product))])? {
        if is_internal(call, quant.link(c::location_id))? {
            sum += quant.number(c::quantity);
        }
    }
    Ok(sum)
}

/// Adds to the quantity of a product at a location; only internal locations keep count.
pub(crate) fn add_quant(call: &mut Call<'_, '_>, product: RowId, location: RowId, units: i64) -> Result<(), Refusal> {
    if !is_internal(call, Some(location))? || units == 0 {
        return Ok(());
    }
    let key: [Cell<t::stock_quant>; 2] =
        [cell(c::product_id, Value::Ref(product)), cell(c::location_id, Value::Ref(location))];
    match call.rows(t::stock_quant, &key)?.first() {
        Some(quant) => {
            let sum = Value::Quantity(quant.number(c::quantity) + units);
            call.update(t::stock_quant, quant.id(), &[cell(c::quantity, sum)])?;
        }
        None => {
            let [product, location] = key;
            call.create(t::stock_quant, &[product, location, cell(c::quantity, Value::Quantity(units))])?;
        }
    }
    Ok(())
}

/// Units of a product that open moves into or out of stock are for, and how many of the latter are reserved.
pub(crate) struct Flow {
    pub(crate) incoming: i64,
    pub(crate) outgoing: i64,
    pub(crate) reserved: i64,
}

/// What open moves are to bring and take of a product.
pub(crate) fn flow(call: &Call<'_, '_>, product: RowId) -> Result<Flow, Refusal> {
    let mut flow = Flow { incoming: 0, outgoing: 0, reserved: 0 };
    for row in call.rows(t::stock_move, &[cell(c::product_id, Value::Ref(product))])? {
        if !is_open(&row) {
            continue;
        }
        let from = is_internal(call, row.link(c::location_id))?;
        let to = is_internal(call, row.link(c::location_dest_id))?;
        if from && !to {
            flow.outgoing += row.number(c::product_uom_qty);
            flow.reserved += row.number(c::quantity);
        } else if to && !from {
            flow.incoming += row.number(c::product_uom_qty);
        }
    }
    Ok(flow)
}
