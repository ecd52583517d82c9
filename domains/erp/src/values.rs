//! Values in the form of Odoo's record calls: `false` for nothing, instants as `2031-03-03 12:00:00`, numbers without
//! needless zeros.

use benchwright_base::{Date, DateTime, Json, Time, Value, json, number};
use benchwright_expr::Type;
use benchwright_schema::{Domain, codec};

/// Reads a value of a type; the error says what was wanted. `false` and null are nothing, or zero for a number.
pub(crate) fn read(domain: &Domain, ty: Type, json: &Json<'_>) -> Result<Value, String> {
    match (ty, json) {
        (Type::Bool, Json::Null) => Ok(Value::Bool(false)),
        (Type::Int, Json::Null | Json::Bool(false)) => Ok(Value::Int(0)),
        (Type::Money, Json::Null | Json::Bool(false)) => Ok(Value::Money(0)),
        (Type::Quantity, Json::Null | Json::Bool(false)) => Ok(Value::Quantity(0)),
        (Type::Bool, _) => Ok(codec::read_value(domain, ty, json)?),
        (_, Json::Null | Json::Bool(false)) => Ok(Value::Null),
        (Type::Int, Json::Decimal(n)) if n.fract() == 0.0 && n.abs() < 9e15 => Ok(Value::Int(*n as i64)),
        (Type::Money, Json::Decimal(n)) => rounded(*n, number::MONEY_DECIMALS).map(Value::Money),
        (Type::Quantity, Json::Decimal(n)) => rounded(*n, number::QUANTITY_DECIMALS).map(Value::Quantity),
        (Type::DateTime, Json::Text(text)) => {
            instant(text).map(Value::DateTime).ok_or_else(|| "wants an instant such as 2031-03-03 12:00:00".to_owned())
        }
        _ => Ok(codec::read_value(domain, ty, json)?),
    }
}

/// A number with more decimals than its field keeps is rounded, as Odoo does.
fn rounded(n: f64, decimals: u32) -> Result<i64, String> {
    if let Some(exact) = number::from_binary(n, decimals) {
        return Ok(exact);
    }
    let scaled = (n * f64::from(10_u32.pow(decimals))).round();
    if scaled.abs() < 9e15 { Ok(scaled as i64) } else { Err("wants a smaller number".to_owned()) }
}

/// Reads `2031-03-03 12:00:00`; seconds and minutes may be left out, and so may the time.
fn instant(text: &str) -> Option<DateTime> {
    let Some((date, time)) = text.split_once(' ') else { return Some(Date::parse(text)?.midnight()) };
    let time = if time.len() == 2 { Time::parse(&format!("{time}:00"))? } else { Time::parse(time)? };
    Some(DateTime(Date::parse(date)?.midnight().0 + i64::from(time.0)))
}

/// Appends a value that is no reference.
pub(crate) fn write(out: &mut Vec<u8>, domain: &Domain, ty: Type, value: &Value) {
    match (value, ty) {
        (Value::Null, Type::Int | Type::Money | Type::Quantity) => out.push(b'0'),
        (Value::Null, _) => out.extend_from_slice(b"false"),
        (Value::Money(n), _) => number::write_decimal(out, *n, number::MONEY_DECIMALS, true),
        (Value::DateTime(instant), _) => {
            out.push(b'"');
            let start = out.len();
            instant.write(out);
            // `2031-03-03T12:00:00Z` without its letters.
            if out.last() == Some(&b'Z') {
                out.pop();
            }
            if let Some(byte) = out.get_mut(start + 10) {
                *byte = b' ';
            }
            out.push(b'"');
        }
        _ => codec::write_value(out, domain, ty, value),
    }
}

/// Appends `[id,"name"]`.
pub(crate) fn write_named(out: &mut Vec<u8>, id: u32, name: &str) {
    out.push(b'[');
    number::write_int(out, i64::from(id));
    out.push(b',');
    json::write_text(out, name);
    out.push(b']');
}

/// Appends a list of ids.
pub(crate) fn write_ids(out: &mut Vec<u8>, ids: impl IntoIterator<Item = u32>) {
    out.push(b'[');
    for (at, id) in ids.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        number::write_int(out, i64::from(id));
    }
    out.push(b']');
}
