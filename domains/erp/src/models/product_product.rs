//! Products: how they are shown, and how many there are and will be.

use super::stock_quantity::{flow, on_hand};
use crate::{
    hooks::{Made, Model},
    names::{c, t},
    record::Call,
};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::Row;

/// `product.product`
pub(crate) struct ProductProduct;

impl Model for ProductProduct {
    type Of = t::product_product;
    const ORDER: &'static str = "default_code, name, id";
    const MADE: &'static [(&'static str, Made)] = &[
        ("product_tmpl_id", |_, id| Ok(Value::Ref(id))),
        ("uom_name", |_, _| Ok(Value::text("Units"))),
        ("qty_available", |call, id| Ok(Value::Quantity(on_hand(call, id)?))),
        ("free_qty", |call, id| Ok(Value::Quantity(on_hand(call, id)? - flow(call, id)?.reserved))),
        ("incoming_qty", |call, id| Ok(Value::Quantity(flow(call, id)?.incoming))),
        ("outgoing_qty", |call, id| Ok(Value::Quantity(flow(call, id)?.outgoing))),
        ("virtual_available", |call, id| {
            let flow = flow(call, id)?;
            Ok(Value::Quantity(on_hand(call, id)? + flow.incoming - flow.outgoing))
        }),
    ];

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        Ok(Some(shown(call, row)))
    }
}

/// `[code] name`
fn shown(call: &Call<'_, '_>, row: &Row) -> String {
    let table = t::product_product;
    let name = row.get(call.field(table, c::name)).as_text().unwrap_or_default();
    match (row.get(call.field(table, c::default_code)).as_text(), name) {
        (Some(code), name) => format!("[{code}] {name}"),
        (None, name) => name.to_owned(),
    }
}

/// The name under which a product is shown; empty for none.
pub(crate) fn display_name(call: &Call<'_, '_>, product: Option<RowId>) -> Result<Option<String>, Refusal> {
    let row = product.map(|id| call.find(call.table(t::product_product), id)).transpose()?.flatten();
    Ok(row.map(|row| shown(call, row)))
}
