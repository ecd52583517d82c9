//! Lines of invoices and bills.

use super::amounts::line_amounts;
use crate::{
    hooks::{Made, Model},
    names::{c, t, w},
    record::{Call, Cells, state_word, wrong_state},
};
use benchwright_base::{RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{ColumnOf, RowView};

/// `account.move.line`
pub(crate) struct AccountMoveLine;

impl Model for AccountMoveLine {
    type Of = t::account_move_line;
    const MADE: &'static [(&'static str, Made)] = &[
        ("price_subtotal", |call, id| Ok(Value::Money(amounts(call, &line_and_entry(call, id)?.0)?.0))),
        ("price_total", |call, id| {
            let (untaxed, tax) = amounts(call, &line_and_entry(call, id)?.0)?;
            Ok(Value::Money(untaxed + tax))
        }),
        ("partner_id", |call, id| Ok(line_and_entry(call, id)?.1.get(c::partner_id))),
        ("parent_state", |call, id| Ok(state_word(call, t::account_move, &line_and_entry(call, id)?.1))),
    ];

    fn before_create(
        call: &mut Call<'_, '_>,
        cells: &mut Cells<t::account_move_line>,
    ) -> Result<Option<RowId>, Refusal> {
        fill_line(call, cells)?;
        Ok(None)
    }

    fn before_write(call: &mut Call<'_, '_>, id: RowId, _: &mut Cells<t::account_move_line>) -> Result<(), Refusal> {
        may_change_line(call, id)
    }

    fn before_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        may_change_line(call, id)
    }
}

/// A line with its entry.
fn line_and_entry(
    call: &Call<'_, '_>,
    id: RowId,
) -> Result<(RowView<t::account_move_line>, RowView<t::account_move>), Refusal> {
    let line = call.row(t::account_move_line, id)?;
    let entry = line.link(c::move_id).ok_or_else(|| Refusal::new(RefusalCode::NotFound, "the line has no entry"))?;
    let entry = call.row(t::account_move, entry)?;
    Ok((line, entry))
}

/// Untaxed amount and tax of a line.
pub(crate) fn amounts(call: &Call<'_, '_>, line: &RowView<t::account_move_line>) -> Result<(i64, i64), Refusal> {
    line_amounts(call, line, c::quantity, t::account_move_line_account_tax_rel)
}

/// What a new line has unless it says otherwise: the product's name and price.
fn fill_line(call: &Call<'_, '_>, cells: &mut Cells<t::account_move_line>) -> Result<(), Refusal> {
    let Some(entry) = cells.link(call, c::move_id) else { return Ok(()) };
    let entry = call.row(t::account_move, entry)?;
    if !entry.is(c::state, w::draft) {
        return Err(wrong_state("lines can be added only to a draft"));
    }
    let product = cells.link(call, c::product_id).map(|id| call.row(t::product_product, id)).transpose()?;
    if let (Some(product), false) = (&product, cells.has(call, c::name)) {
        cells.set(call, c::name, product.get(c::name));
    }
    if cells.get(call, c::price_unit).is_none() {
        let is_sale = entry.is(c::move_type, w::out_invoice) || entry.is(c::move_type, w::out_refund);
        let price = if is_sale { c::list_price.of() } else { c::standard_price.of() };
        cells.set(call, c::price_unit, product.map_or(Value::Money(0), |product| product.get(price)));
    }
    Ok(())
}

/// Lines can be changed only while their entry is a draft.
fn may_change_line(call: &Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let Some(entry) = call.row(t::account_move_line, id)?.link(c::move_id) else { return Ok(()) };
    if call.row(t::account_move, entry)?.is(c::state, w::draft) {
        return Ok(());
    }
    Err(wrong_state("lines of a posted or cancelled entry cannot be changed: reset it to draft first"))
}
