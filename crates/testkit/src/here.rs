//! The state of an episode, as random calls are drawn from it.

use benchwright_base::{DateTime, TableId, Value};
use benchwright_calls::declared::Rows;
use benchwright_sandbox::Episode;
use benchwright_schema::Domain;

/// The state that an episode is in.
pub(crate) struct Here<'e>(pub(crate) &'e Episode);

impl Rows for Here<'_> {
    fn domain(&self) -> &Domain {
        self.0.domain()
    }

    fn now(&self) -> DateTime {
        self.0.now()
    }

    fn count(&self, table: TableId) -> usize {
        self.0.table_len(table)
    }

    fn cells(&self, table: TableId, nth: usize) -> Option<Vec<Value>> {
        self.0.rows(table).nth(nth).map(|row| row.cells().to_vec())
    }
}
