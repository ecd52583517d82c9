//! Conditions on rows inside a rule, such as `buy(vendor = v, units > 5)`, read over candidates: each row passes under a
//! formula over its free fields.

use super::{Formula, Lin, Lower};
use crate::sabotage::{Sabotage, broken};
use benchwright_expr::{
    Compare, TestOp,
    walk::{Algebra, Test},
};

impl Lower<'_> {
    /// The truth that a row passes a test.
    pub(super) fn passes(&mut self, (view, row): (usize, usize), test: &Test<'_, Lin>) -> Formula {
        let [(_, field)] = test.path else {
            self.fail("a path leads over a field that is decided");
            return Formula::Known(false);
        };
        let it = self.field(&(view, row), *field);
        let values = test.with.values();
        let any = |lower: &mut Self| {
            let same = values.iter().map(|value| lower.compare(Compare::Eq, it.clone(), value.clone())).collect();
            Formula::any(same)
        };
        match test.op {
            TestOp::Compare(op) => match values.first() {
                Some(value) => self.compare(op, it, value.clone()),
                None => Formula::Known(false),
            },
            TestOp::In => any(self),
            TestOp::NotIn if broken(Sabotage::NotInPassesAll) => Formula::Known(true),
            TestOp::NotIn => any(self).negated(),
            TestOp::IsNull => Formula::Known(false),
            TestOp::NotNull => Formula::Known(true),
            TestOp::Text(_) => {
                self.fail("a test on text has no place in a model");
                Formula::Known(false)
            }
        }
    }
}
