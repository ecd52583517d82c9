//! [`Value`], the contents of one field of one row. All kinds are whole numbers or text underneath, so values have a total
//! order and an exact equality, and can be keys of maps.

use crate::{Date, DateTime, RowId, Time};
use std::sync::Arc;

/// One value. It has no floating point, so it is `Eq` and `Ord`, and it is the same on every machine. The type of a field
/// (which enumeration, which table) is in the schema, not here.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Value {
    /// Nothing: an optional field that was not given.
    #[default]
    Null,
    /// A yes or no. Expressions read one as a condition; null does not hold.
    Bool(bool),
    /// A whole number without a unit.
    Int(i64),
    /// Money in minor units (cents).
    Money(i64),
    /// A quantity in thousandths.
    Quantity(i64),
    /// Text, shared: copying a row copies no text.
    Text(Arc<str>),
    /// A day without a time or a zone.
    Date(Date),
    /// An instant to the second, in UTC.
    DateTime(DateTime),
    /// A time of day without a day, to the second.
    Time(Time),
    /// A length of time in seconds.
    Duration(i64),
    /// A word of an enumeration, by its place in the declaration.
    Enum(u16),
    /// A row of the table that the field's type names.
    Ref(RowId),
}

impl Value {
    /// Wraps a text, of which it takes a shared copy.
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// Whether this is [`Value::Null`].
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The text of a [`Value::Text`]; `None` for every other kind.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The row that a [`Value::Ref`] names; `None` for every other kind, null included.
    pub fn as_ref_id(&self) -> Option<RowId> {
        match self {
            Value::Ref(row) => Some(*row),
            _ => None,
        }
    }

    /// The number behind whole numbers, money, quantities and durations, in their smallest unit: what can be added up. Days
    /// and instants have an order but no sum, so they give `None`.
    pub fn as_number(&self) -> Option<i64> {
        match self {
            Value::Int(n) | Value::Money(n) | Value::Quantity(n) | Value::Duration(n) => Some(*n),
            _ => None,
        }
    }

    /// What tells any two values apart: the kind of value, and its number or its text. Hashes are made from it, so the
    /// numbers of the kinds are part of every state hash and must not change.
    pub fn parts(&self) -> (u8, Part<'_>) {
        match self {
            Value::Null => (0, Part::Number(0)),
            Value::Bool(b) => (1, Part::Number(i64::from(*b))),
            Value::Int(n) => (2, Part::Number(*n)),
            Value::Money(n) => (3, Part::Number(*n)),
            Value::Quantity(n) => (4, Part::Number(*n)),
            Value::Text(text) => (5, Part::Text(text)),
            Value::Date(date) => (6, Part::Number(i64::from(date.0))),
            Value::DateTime(instant) => (7, Part::Number(instant.0)),
            Value::Time(time) => (8, Part::Number(i64::from(time.0))),
            Value::Duration(n) => (9, Part::Number(*n)),
            Value::Enum(word) => (10, Part::Number(i64::from(*word))),
            Value::Ref(row) => (11, Part::Number(i64::from(*row))),
        }
    }
}

/// A value without its kind; see [`Value::parts`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part<'a> {
    /// A number in the value's smallest unit, a day or second count, or a place in a list.
    Number(i64),
    /// The characters of a [`Value::Text`].
    Text(&'a str),
}
