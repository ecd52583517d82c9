//! The candidates that may pass the tests of a filter.
//!
//! A plan of whole routes has thousands of candidates, and a rule for each route asks for the visits of that route alone. Read
//! row by row this is quadratic, so [`super::Lowering::Shared`] looks rows up by a field that is fixed. It finds the same rows in
//! the same order: those that are left out have another value there and could not pass.

use super::{Formula, Lin, Lower, Lowering};
use crate::sabotage::{Sabotage, broken};
use benchwright_base::RelationId;
use benchwright_expr::{
    Compare, TestOp,
    walk::{EachRow, Test},
};
use std::{collections::BTreeMap, ops::ControlFlow};

/// The rows of a view by the value of one field.
#[derive(Clone, Default)]
pub(super) struct Index {
    /// Rows whose field is fixed, by its value.
    fixed: BTreeMap<i64, Vec<usize>>,
    /// Rows whose field is decided; they may have any value.
    free: Vec<usize>,
}

impl Lower<'_> {
    pub(super) fn selected(&mut self, relation: RelationId, tests: &[Test<'_, Lin>], each: &mut EachRow<'_, Self>) {
        let Some(view) = self.plan.view_of(relation) else { return };
        if self.lowering == Lowering::Shared
            && let Some(rows) = self.looked_up(view, tests)
        {
            for at in rows {
                if self.one_selected(view, at, tests, each).is_break() {
                    return;
                }
            }
            return;
        }
        for at in 0..self.rows[view].len() {
            if self.one_selected(view, at, tests, each).is_break() {
                return;
            }
        }
    }

    fn one_selected(
        &mut self,
        view: usize,
        at: usize,
        tests: &[Test<'_, Lin>],
        each: &mut EachRow<'_, Self>,
    ) -> ControlFlow<()> {
        self.assumed.push((view, at));
        let mut parts = Vec::with_capacity(tests.len() + 1);
        let mut dead = false;
        for test in tests {
            let passes = self.passes((view, at), test);
            dead = passes == Formula::Known(false);
            if dead {
                break;
            }
            parts.push(passes);
        }
        let mut flow = ControlFlow::Continue(());
        if !dead {
            if !broken(Sabotage::FiltersForgetUse) {
                parts.push(self.rows[view][at].used.clone());
            }
            flow = each(self, (view, at), Formula::all(parts));
        }
        if !broken(Sabotage::AssumptionsStay) {
            self.assumed.pop();
        }
        flow
    }

    /// The rows that a test of equality with known values leaves, by the test that leaves the fewest; none if there is no such
    /// test.
    fn looked_up(&mut self, view: usize, tests: &[Test<'_, Lin>]) -> Option<Vec<usize>> {
        let mut fewest: Option<Vec<usize>> = None;
        for test in tests.iter().filter(|test| matches!(test.op, TestOp::Compare(Compare::Eq) | TestOp::In)) {
            let [(_, field)] = test.path else { continue };
            // The first field is the row's own number, which no index is needed for.
            let Some(field) = field.index().checked_sub(1) else { continue };
            let Some(values) = test.with.values().iter().map(Lin::known).collect::<Option<Vec<i64>>>() else {
                continue;
            };
            let index = self.index(view, field);
            let with_value = |value: &i64| index.fixed.get(value).into_iter().flatten().copied();
            let free = index.free.iter().copied().filter(|_| !broken(Sabotage::IndexForgetsTheFree));
            let mut rows: Vec<usize> = values.iter().flat_map(with_value).chain(free).collect();
            rows.sort_unstable();
            rows.dedup();
            if fewest.as_ref().is_none_or(|fewest| rows.len() < fewest.len()) {
                fewest = Some(rows);
            }
        }
        fewest
    }

    fn index(&mut self, view: usize, field: usize) -> &Index {
        let rows = &self.rows[view];
        self.indices.entry((view, field)).or_insert_with(|| {
            let mut index = Index::default();
            for (at, row) in rows.iter().enumerate() {
                match row.fields[field].known() {
                    Some(value) => index.fixed.entry(value).or_default().push(at),
                    None => index.free.push(at),
                }
            }
            index
        })
    }
}
