//! The types that every other crate uses: field values, row and table ids, dates, decimal numbers, a seeded random number
//! generator, hashes, JSON, and diagnostics that name a file, a line and a remedy.
//!
//! Everything here is deterministic and pure: no I/O, no clock, no threads, no hash-map order, and no floating point in a
//! value. Money is a whole number of cents and a quantity a whole number of thousandths, so that two machines can neither
//! round differently nor disagree on equality.
//!
//! ```
//! use benchwright_base::{Date, Stream, Value, number};
//!
//! // Dates are counted in days; a month that is too short ends the addition at its last day.
//! let day = Date::parse("2026-01-31").unwrap();
//! assert_eq!(day.add_months(1).unwrap().to_string(), "2026-02-28");
//!
//! // Decimals are read exactly or not at all. `1.005` has more than the two decimals of money.
//! assert_eq!(number::parse_decimal("19.99", number::MONEY_DECIMALS), Some(1999));
//! assert_eq!(number::parse_decimal("1.005", number::MONEY_DECIMALS), None);
//! let price = Value::Money(1999);
//! assert_eq!(price.as_number(), Some(1999));
//!
//! // A stream is named by a seed and a key: the same key gives the same numbers for ever, and a draw from one
//! // stream moves no other.
//! let mut quantity = Stream::new(7, &["order", "quantity"]);
//! let again = Stream::new(7, &["order", "quantity"]).between(1, 10);
//! assert_eq!(quantity.between(1, 10), again);
//! ```

pub mod date;
pub mod diagnostic;
pub mod digest;
pub mod ids;
pub mod json;
pub mod number;
pub mod stream;
pub mod value;

pub use date::{Date, DateTime, Time};
pub use diagnostic::{Diagnostic, nearest};
pub use digest::{Digest, StateHash};
pub use ids::{EnumId, FactId, FieldId, RelationId, RowId, SetId, TableId};
pub use json::{Json, JsonError};
pub use stream::Stream;
pub use value::Value;
