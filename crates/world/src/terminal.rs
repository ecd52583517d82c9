//! A terminal state as a judge reads it, wherever it is kept: rows by table, and what differs from the first state. A
//! snapshot can be read so, and so can a live episode without a copy.

use benchwright_base::{DateTime, Digest, TableId, Value};
use benchwright_expr::eval::Records;

/// A row of a table that differs: what it was, and what it is.
pub type Changed<'r> = (TableId, Option<&'r [Value]>, Option<&'r [Value]>);

/// A terminal state: rows by table for rules, and the difference to the first state for the frame.
pub trait Terminal<'s>: Records<Row = &'s [Value]> {
    /// The name of the domain.
    fn domain(&self) -> &str;
    /// The digest of the first state that it came from; `None` in a document of a first state.
    fn first(&self) -> Option<Digest>;
    /// The clock.
    fn now(&self) -> DateTime;
    /// Every row that differs from the first state, by table and id.
    fn changes(&self, each: &mut dyn FnMut(Changed<'_>));
}
