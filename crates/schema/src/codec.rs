//! Values as JSON: how a value of a type is written for an agent and read from one. There is one way to write each value,
//! so equal values have equal bytes.

use crate::Domain;
use benchwright_base::{Date, DateTime, Json, Time, Value, json, nearest, number};
use benchwright_expr::Type;

/// Appends a value as JSON.
pub fn write_value(out: &mut Vec<u8>, domain: &Domain, ty: Type, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(n) => number::write_int(out, *n),
        Value::Ref(row) => number::write_int(out, i64::from(*row)),
        Value::Money(n) => number::write_decimal(out, *n, number::MONEY_DECIMALS, false),
        Value::Quantity(n) => number::write_decimal(out, *n, number::QUANTITY_DECIMALS, true),
        Value::Text(text) => json::write_text(out, text),
        Value::Enum(word) => match ty {
            Type::Enum(id) => json::write_text(out, &domain.enums[id.index()].words[*word as usize]),
            _ => number::write_int(out, i64::from(*word)),
        },
        Value::Date(date) => quoted(out, |out| date.write(out)),
        Value::DateTime(instant) => quoted(out, |out| instant.write(out)),
        Value::Time(time) => quoted(out, |out| time.write(out)),
        Value::Duration(seconds) => quoted(out, |out| number::write_duration(out, *seconds)),
    }
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

/// A value as plain text, for people and for templates: as in JSON, without the quotes.
pub fn show_value(domain: &Domain, ty: Type, value: &Value) -> String {
    if let Value::Text(text) = value {
        return text.to_string();
    }
    let mut out = Vec::new();
    write_value(&mut out, domain, ty, value);
    String::from_utf8_lossy(&out).trim_matches('"').to_owned()
}

/// Why a value does not fit, in words that follow the name of its field: `wants a whole number, got a string`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(String);

impl From<ValueError> for String {
    fn from(error: ValueError) -> String {
        error.0
    }
}

/// Reads a value of a type from JSON; the error says what was wanted. Null is read as null: whether it may be is for the
/// caller to say.
pub fn read_value(domain: &Domain, ty: Type, json: &Json<'_>) -> Result<Value, ValueError> {
    read(domain, ty, json).map_err(ValueError)
}

fn read(domain: &Domain, ty: Type, json: &Json<'_>) -> Result<Value, String> {
    let wanted = |what: &str| Err(format!("wants {what}, got {}", json.kind()));
    match (ty, json) {
        (_, Json::Null) => Ok(Value::Null),
        (Type::Bool, Json::Bool(b)) => Ok(Value::Bool(*b)),
        (Type::Bool, _) => wanted("true or false"),
        (Type::Int, Json::Int(n)) => Ok(Value::Int(*n)),
        (Type::Int | Type::Months, _) => wanted("a whole number"),
        (Type::Money, _) => {
            read_decimal(json, number::MONEY_DECIMALS, "an amount with at most two decimals").map(Value::Money)
        }
        (Type::Quantity, _) => {
            read_decimal(json, number::QUANTITY_DECIMALS, "a quantity with at most three decimals").map(Value::Quantity)
        }
        (Type::Text, Json::Text(text)) => Ok(Value::text(&**text)),
        (Type::Text, _) => wanted("a string"),
        (Type::Ref(table), Json::Int(n)) => match u32::try_from(*n) {
            Ok(row) if row > 0 => Ok(Value::Ref(row)),
            _ => Err(format!("wants the id of a row of {}, a whole number from 1", domain.table(table).name)),
        },
        (Type::Ref(table), _) => wanted(&format!("the id of a row of {}", domain.table(table).name)),
        (Type::Enum(id), Json::Text(text)) => {
            let words = &domain.enums[id.index()].words;
            match words.iter().position(|word| *word == **text) {
                Some(at) => Ok(Value::Enum(at as u16)),
                None => {
                    let near = nearest(text, words.iter().map(|w| &**w));
                    let near = near.map(|word| format!("; did you mean {word}?")).unwrap_or_default();
                    Err(format!("wants one of {}{near}", words.join(", ")))
                }
            }
        }
        (Type::Enum(id), _) => wanted(&format!("one of {}", domain.enums[id.index()].words.join(", "))),
        (Type::Date, Json::Text(text)) => {
            Date::parse(text).map(Value::Date).ok_or_else(|| "wants a date such as 2026-03-02".to_owned())
        }
        (Type::Date, _) => wanted("a date such as 2026-03-02"),
        (Type::DateTime, Json::Text(text)) => DateTime::parse(text)
            .map(Value::DateTime)
            .ok_or_else(|| "wants an instant in UTC such as 2026-03-02T09:30:00Z".to_owned()),
        (Type::DateTime, _) => wanted("an instant in UTC such as 2026-03-02T09:30:00Z"),
        (Type::Time, Json::Text(text)) => {
            Time::parse(text).map(Value::Time).ok_or_else(|| "wants a time of day such as 09:30".to_owned())
        }
        (Type::Time, _) => wanted("a time of day such as 09:30"),
        (Type::Duration, Json::Text(text)) => number::parse_duration(text)
            .map(Value::Duration)
            .ok_or_else(|| "wants a duration such as PT30M or P2D".to_owned()),
        (Type::Duration, _) => wanted("a duration such as PT30M or P2D"),
        (Type::Null, _) => wanted("null"),
    }
}

fn read_decimal(json: &Json<'_>, decimals: u32, what: &str) -> Result<i64, String> {
    let read = match json {
        Json::Int(n) => n.checked_mul(10_i64.pow(decimals)).filter(|n| n.unsigned_abs() < number::LARGEST_DECIMAL),
        Json::Decimal(n) => number::from_binary(*n, decimals),
        _ => return Err(format!("wants {what}, got {}", json.kind())),
    };
    read.ok_or_else(|| format!("wants {what}"))
}

/// Whether a value keeps to the bounds of its field; the error says which.
pub fn check_bounds(value: &Value, bounds: Option<(i64, i64)>) -> Result<(), ValueError> {
    match (value, bounds) {
        (Value::Text(text), bounds) => check_text(text, bounds),
        (_, None) => Ok(()),
        (Value::Money(n), Some(bounds)) => check_number(*n, bounds, number::MONEY_DECIMALS, "a value"),
        (Value::Quantity(n), Some(bounds)) => check_number(*n, bounds, number::QUANTITY_DECIMALS, "a value"),
        (Value::Int(n) | Value::Duration(n), Some(bounds)) => check_number(*n, bounds, 0, "a value"),
        _ => Ok(()),
    }
}

/// The same of a text, whose bounds are those of its length.
pub fn check_text(text: &str, bounds: Option<(i64, i64)>) -> Result<(), ValueError> {
    match bounds {
        Some(bounds) => check_number(text.chars().count() as i64, bounds, 0, "a length"),
        None if text.len() > LONGEST_TEXT => Err(ValueError(format!("is longer than {LONGEST_TEXT} bytes"))),
        None => Ok(()),
    }
}

fn check_number(number: i64, (low, high): (i64, i64), decimals: u32, what: &str) -> Result<(), ValueError> {
    let shown = |n: i64| {
        let mut out = Vec::new();
        number::write_decimal(&mut out, n, decimals, true);
        String::from_utf8_lossy(&out).into_owned()
    };
    if number < low {
        return Err(ValueError(format!("wants {what} of at least {}, got {}", shown(low), shown(number))));
    }
    if number > high {
        return Err(ValueError(format!("wants {what} of at most {}, got {}", shown(high), shown(number))));
    }
    Ok(())
}

/// The longest text that a field without bounds takes, in bytes.
pub const LONGEST_TEXT: usize = 65_536;
