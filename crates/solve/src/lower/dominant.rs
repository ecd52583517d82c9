//! Dominant fields: those with one best value whatever else is decided, such as a receipt date that is best as early as can be. They are
//! declared under `settled` in `plan.toml`; a model in which they have that value is smaller, and an audit proves that nothing is lost.

use super::{Lower, LowerError, readable};
use benchwright_expr::walk::{self, Bound as Slot};
use benchwright_schema::plan::Dominant;

impl Lower<'_> {
    /// Gives a dominant field its value in every row of its view. Rules that are read from now on see that value; what was read
    /// before stays as it is.
    pub fn fix_dominant(&mut self, field: &Dominant) -> Result<(), LowerError> {
        readable(&field.at)?;
        for at in 0..self.rows[field.view].len() {
            let value = walk::value(self, &field.at, &mut [Slot::Row((field.view, at))].into_iter().collect());
            self.rows[field.view][at].fields[field.field] = value;
            self.indices.remove(&(field.view, field.field));
        }
        self.finish(())
    }
}
