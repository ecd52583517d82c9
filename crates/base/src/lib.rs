//! What every other crate stands on: ids, values, money in minor units, logical dates, seeded streams, canonical bytes,
//! hashes, and faults with a place and a mend. No I/O, no clock, no floating point in a value.

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
pub use json::Json;
pub use stream::Stream;
pub use value::Value;
