//! The rows of an episode, as random calls may name them.

use benchwright_base::{Date, RowId};
use benchwright_calls::offered::Ground;
use benchwright_sandbox::Episode;

/// The state that an episode is in.
pub(crate) struct Here<'e>(pub(crate) &'e Episode);

impl Ground for Here<'_> {
    fn count(&self, table: &str) -> usize {
        self.0.domain().table_named(table).map_or(0, |table| self.0.table_len(table))
    }

    fn row(&self, table: &str, nth: usize) -> Option<RowId> {
        let table = self.0.domain().table_named(table)?;
        self.0.rows(table).nth(nth).map(|row| row.id())
    }

    fn today(&self) -> Date {
        self.0.now().date()
    }
}
