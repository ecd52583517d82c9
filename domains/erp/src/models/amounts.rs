//! Amounts of lines of orders and invoices, in cents.

use crate::{
    names::{c, t},
    record::Call,
};
use benchwright_base::Value;
use benchwright_pack::Refusal;
use benchwright_sandbox::{ColumnOf, RowView, Table, cell};

/// `n / d`, rounded half away from zero.
pub(crate) fn divided(n: i128, d: i128) -> i64 {
    let half = if n < 0 { -d / 2 } else { d / 2 };
    ((n + half) / d) as i64
}

/// Untaxed amount and tax of a line in cents: quantity times price, less its discount.
pub(crate) fn line_amounts<L, T: Table>(
    call: &Call<'_, '_>,
    line: &RowView<L>,
    quantity: impl ColumnOf<L>,
    taxes: T,
) -> Result<(i64, i64), Refusal>
where
    c::price_unit: ColumnOf<L>,
    c::discount: ColumnOf<L>,
    c::line_id: ColumnOf<T>,
    c::tax_id: ColumnOf<T>,
{
    let (units, price, discount) = (line.number(quantity), line.number(c::price_unit), line.number(c::discount));
    let untaxed = divided(i128::from(units) * i128::from(price) * i128::from(100_000 - discount), 100_000_000);
    let mut tax = 0;
    for joint in call.rows(taxes, &[cell(c::line_id, Value::Ref(line.id()))])? {
        if let Some(id) = joint.link(c::tax_id) {
            let percent = call.row(t::account_tax, id)?.number(c::amount);
            tax += divided(i128::from(untaxed) * i128::from(percent), 100_000);
        }
    }
    Ok((untaxed, tax))
}
