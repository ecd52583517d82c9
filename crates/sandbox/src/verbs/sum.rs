//! `sum`: the sum of a field, and per value of another. Rows without a value add nothing.

use super::{Groups, group, write_groups};
use crate::{call::Call, state::State};
use benchwright_base::{FieldId, Value, json};
use benchwright_expr::Type;
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::codec;

pub(crate) fn sum(call: &Call<'_>, state: &State, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let of = call.tool.of.unwrap_or(FieldId::ID);
    let ty = call.compiled().domain.table(call.table).field(of).ty;
    let groups: Groups<i128> = group(call, state, |total: &mut i128, row| {
        *total += i128::from(row.get(of).as_number().unwrap_or_default());
    })?;
    let total: i128 = groups.values().sum();
    if groups.values().chain([&total]).any(|sum| i64::try_from(*sum).is_err()) {
        return Err(Refusal::new(RefusalCode::InvalidArgument, "the sum is too large to be written"));
    }
    out.push(b'{');
    write_number(call, ty, "sum", total, out);
    write_groups(call, &groups, out, |out, total| write_number(call, ty, "sum", *total, out));
    out.push(b'}');
    Ok(())
}

/// Writes `"key":number` in the unit of a type.
pub(crate) fn write_number(call: &Call<'_>, ty: Type, key: &str, number: i128, out: &mut Vec<u8>) {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let value = match ty {
        Type::Money => Value::Money(number),
        Type::Quantity => Value::Quantity(number),
        Type::Duration => Value::Duration(number),
        _ => Value::Int(number),
    };
    json::write_text(out, key);
    out.push(b':');
    codec::write_value(out, &call.compiled().domain, ty, &value);
}
