//! What is made only when it is sold: a confirmed sale of such a product orders its manufacture.

use super::{
    mrp_actions::confirm_one,
    mrp_build::{bom_of, made},
};
use crate::{
    names::{c, t, w},
    record::Call,
};
use benchwright_base::{DateTime, RowId, Value, date::DAY};
use benchwright_pack::Refusal;
use benchwright_sandbox::{RowView, cell};

/// The rules of the routes of a product.
fn rules(call: &Call<'_, '_>, product: RowId) -> Result<Vec<RowView<t::stock_rule>>, Refusal> {
    let mut found = Vec::new();
    for joint in call.rows(t::stock_route_product, &[cell(c::product_id, Value::Ref(product))])? {
        if let Some(route) = joint.link(c::route_id) {
            found.extend(call.rows(t::stock_rule, &[cell(c::route_id, Value::Ref(route))])?);
        }
    }
    Ok(found)
}

/// Whether a product is made or bought only when it is ordered.
pub(crate) fn is_made_to_order(call: &Call<'_, '_>, product: RowId) -> Result<bool, Refusal> {
    Ok(rules(call, product)?.iter().any(|rule| rule.is(c::procure_method, w::make_to_order)))
}

/// Orders the manufacture of what a sale needs, if the product has the route and a bill of materials.
pub(crate) fn make_to_order(
    call: &mut Call<'_, '_>,
    product: RowId,
    units: i64,
    origin: &str,
    due: Option<DateTime>,
    line: RowId,
) -> Result<(), Refusal> {
    let manufactured = rules(call, product)?.iter().any(|rule| rule.is(c::action, w::manufacture));
    let Some(bom) = bom_of(call, product)?.filter(|_| manufactured) else { return Ok(()) };
    let days = call.row(t::mrp_bom, bom)?.number(c::produce_delay);
    let due = due.unwrap_or_else(|| call.now());
    let start = DateTime(due.0 - days * DAY).max(call.now());
    let id = call.create(
        t::mrp_production,
        &[
            cell(c::product_id, Value::Ref(product)),
            cell(c::product_qty, Value::Quantity(units)),
            cell(c::bom_id, Value::Ref(bom)),
            cell(c::origin, Value::text(origin)),
            cell(c::date_start, Value::DateTime(start)),
            cell(c::date_deadline, Value::DateTime(due)),
        ],
    )?;
    made(call, id, &[])?;
    confirm_one(call, id)?;
    for row in call.rows(t::stock_move, &[cell(c::production_id, Value::Ref(id))])? {
        call.update(t::stock_move, row.id(), &[cell(c::sale_line_id, Value::Ref(line))])?;
    }
    Ok(())
}
