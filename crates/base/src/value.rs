//! The values a field can hold.

use crate::{Date, DateTime, RowId, Time};
use std::sync::Arc;

/// One value. It has no floating point, so it is `Eq` and `Ord`, and it is the same on every machine. The type of a field
/// (which enumeration, which table) is in the schema, not here.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Value {
    /// Nothing: an optional field that was not given.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Money in minor units (cents).
    Money(i64),
    /// A quantity in thousandths.
    Quantity(i64),
    /// Text.
    Text(Arc<str>),
    /// A day.
    Date(Date),
    /// An instant to the second, in UTC.
    DateTime(DateTime),
    /// A time of day.
    Time(Time),
    /// A length of time in seconds.
    Duration(i64),
    /// A word of an enumeration, by its place in the declaration.
    Enum(u16),
    /// A row of the table that the field's type names.
    Ref(RowId),
}

impl Value {
    /// A text value.
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// Whether this is [`Value::Null`].
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The row a reference names.
    pub fn as_ref_id(&self) -> Option<RowId> {
        match self {
            Value::Ref(row) => Some(*row),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(bool) => Some(*bool),
            _ => None,
        }
    }

    /// The number behind whole numbers, money, quantities and durations, in their smallest unit.
    pub fn as_number(&self) -> Option<i64> {
        match self {
            Value::Int(n) | Value::Money(n) | Value::Quantity(n) | Value::Duration(n) => Some(*n),
            _ => None,
        }
    }

    /// Appends bytes that tell any two values apart: a tag, then a fixed-width or length-prefixed body.
    pub fn canonical_bytes(&self, out: &mut Vec<u8>) {
        let (tag, number) = match self {
            Value::Null => return out.push(0),
            Value::Text(text) => {
                out.push(5);
                out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                return out.extend_from_slice(text.as_bytes());
            }
            Value::Bool(b) => (1, i64::from(*b)),
            Value::Int(n) => (2, *n),
            Value::Money(n) => (3, *n),
            Value::Quantity(n) => (4, *n),
            Value::Date(d) => (6, i64::from(d.0)),
            Value::DateTime(t) => (7, t.0),
            Value::Time(t) => (8, i64::from(t.0)),
            Value::Duration(n) => (9, *n),
            Value::Enum(w) => (10, i64::from(*w)),
            Value::Ref(r) => (11, i64::from(*r)),
        };
        out.push(tag);
        out.extend_from_slice(&number.to_le_bytes());
    }
}
