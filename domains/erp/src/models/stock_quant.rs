//! Stock on hand: how it is counted, and what a count changes.

use super::{
    product_product,
    stock_location::location,
    stock_move::{NewMove, make_move},
    stock_quantity::is_open,
};
use crate::{
    hooks::{Made, Model},
    names::{c, t, w},
    record::{Answer, Call, Cells, done, ids},
};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Row, RowView, WordOf, cell};

/// `stock.quant`
pub(crate) struct StockQuant;

impl Model for StockQuant {
    type Of = t::stock_quant;
    const MADE: &'static [(&'static str, Made)] = &[
        ("reserved_quantity", |call, id| Ok(Value::Quantity(reserved(call, &call.row(t::stock_quant, id)?)?))),
        ("available_quantity", |call, id| {
            let quant = call.row(t::stock_quant, id)?;
            Ok(Value::Quantity(quant.number(c::quantity) - reserved(call, &quant)?))
        }),
        ("inventory_diff_quantity", |call, id| {
            let quant = call.row(t::stock_quant, id)?;
            let counted = quant.flag(c::inventory_quantity_set);
            let more = quant.number(c::inventory_quantity) - quant.number(c::quantity);
            Ok(Value::Quantity(if counted { more } else { 0 }))
        }),
    ];

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        let product = row.get(call.field(t::stock_quant, c::product_id)).as_ref_id();
        Ok(Some(product_product::display_name(call, product)?.unwrap_or_default()))
    }

    fn before_create(call: &mut Call<'_, '_>, cells: &mut Cells<t::stock_quant>) -> Result<Option<RowId>, Refusal> {
        count_again(call, cells)
    }

    fn before_write(call: &mut Call<'_, '_>, _: RowId, cells: &mut Cells<t::stock_quant>) -> Result<(), Refusal> {
        counted(call, cells);
        Ok(())
    }
}

/// Units of a quant that open moves have reserved.
fn reserved(call: &Call<'_, '_>, quant: &RowView<t::stock_quant>) -> Result<i64, Refusal> {
    let Some(product) = quant.link(c::product_id) else { return Ok(0) };
    let of = [cell(c::product_id, Value::Ref(product)), cell(c::location_id, quant.get(c::location_id))];
    let moves = call.rows(t::stock_move, &of)?;
    Ok(moves.iter().filter(|row| is_open(row)).map(|row| row.number(c::quantity)).sum())
}

/// A count of stock that is there already is made on that row.
fn count_again(call: &mut Call<'_, '_>, cells: &mut Cells<t::stock_quant>) -> Result<Option<RowId>, Refusal> {
    counted(call, cells);
    let (Some(product), Some(location)) = (cells.link(call, c::product_id), cells.link(call, c::location_id)) else {
        return Ok(None);
    };
    let known = call.rows(
        t::stock_quant,
        &[cell(c::product_id, Value::Ref(product)), cell(c::location_id, Value::Ref(location))],
    )?;
    let Some(known) = known.first().map(RowView::id) else { return Ok(None) };
    if let Some(count) = cells.get(call, c::inventory_quantity).cloned() {
        let values = [cell(c::inventory_quantity, count), cell(c::inventory_quantity_set, Value::Bool(true))];
        call.update(t::stock_quant, known, &values)?;
    }
    Ok(Some(known))
}

/// A written count is marked as one.
fn counted(call: &Call<'_, '_>, cells: &mut Cells<t::stock_quant>) {
    if cells.has(call, c::inventory_quantity) {
        cells.set(call, c::inventory_quantity_set, Value::Bool(true));
    }
}

/// `stock.quant` `action_apply_inventory`
pub(crate) fn apply_inventory(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let quant = call.row(t::stock_quant, id)?;
        // Where nothing was counted, nothing is what was counted.
        let (counted, known) = (quant.number(c::inventory_quantity), quant.number(c::quantity));
        let (Some(product), Some(here)) = (quant.link(c::product_id), quant.link(c::location_id)) else { continue };
        {
            // A count that finds what is there is noted too.
            let loss = location(call, w::inventory)?;
            let (from, to) = if counted > known { (loss, here) } else { (here, loss) };
            let new = NewMove {
                product,
                units: (counted - known).abs(),
                from,
                to,
                date: Some(call.now()),
                origin: if counted == known { "Product Quantity Confirmed" } else { "Product Quantity Updated" },
                state: w::done.of(),
                of: &[],
            };
            let made = make_move(call, &new)?;
            let by = call.actor().map(|actor| call.row(t::res_users, actor)).transpose()?;
            let by = by.map(|user| format!(" ({})", user.words(c::name))).unwrap_or_default();
            let values = [
                cell(c::is_inventory, Value::Bool(true)),
                cell(c::quantity, Value::Quantity(new.units)),
                cell(c::origin, Value::Null),
                cell(c::reference, Value::text(format!("{}{by}", new.origin))),
            ];
            call.update(t::stock_move, made, &values)?;
        }
        let values = [
            cell(c::quantity, Value::Quantity(counted)),
            cell(c::inventory_quantity, Value::Quantity(0)),
            cell(c::inventory_quantity_set, Value::Bool(false)),
        ];
        call.update(t::stock_quant, id, &values)?;
    }
    done(call, "null")
}
