//! Fields that have one best value whatever else is decided, given that value.

use super::{Lower, LowerError, readable};
use benchwright_expr::walk::{self, Bound as Slot};
use benchwright_schema::plan::Settled;

impl Lower<'_> {
    /// Gives a settled field of the plan its value. Rules that are read from now on are rules on the settled rows; what was
    /// read before stays as it is.
    pub fn settle(&mut self, settled: &Settled) -> Result<(), LowerError> {
        readable(&settled.at)?;
        for at in 0..self.rows[settled.view].len() {
            let value = walk::value(self, &settled.at, &mut [Slot::Row((settled.view, at))].into_iter().collect());
            self.rows[settled.view][at].fields[settled.field] = value;
        }
        self.finish(())
    }
}
