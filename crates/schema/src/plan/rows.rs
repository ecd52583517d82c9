//! Rows of views, held in memory, as the records that expressions are evaluated over. A judge fills them from a terminal
//! state, a test from a plan.

use super::Plan;
use benchwright_base::{FieldId, RelationId, RowId, Value};
use benchwright_expr::{
    eval::{Records, meets, passes},
    walk::Test,
};
use std::ops::ControlFlow;

/// The rows of every view, in the order of the plan's views; cells in the order of the view's fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViewRows {
    sorts: usize,
    /// The rows by view.
    pub views: Vec<Vec<Vec<Value>>>,
}

impl ViewRows {
    /// No rows at all.
    pub fn empty(plan: &Plan) -> ViewRows {
        ViewRows { sorts: plan.sorts.len(), views: vec![Vec::new(); plan.views.len()] }
    }
}

impl Records for ViewRows {
    type Row = (RelationId, u32);

    fn row(&self, relation: RelationId, id: RowId) -> Option<Self::Row> {
        let view = self.views.get(relation.index().checked_sub(self.sorts)?)?;
        let at = id.checked_sub(1)?;
        ((at as usize) < view.len()).then_some((relation, at))
    }
    fn field(&self, (relation, at): &Self::Row, field: FieldId) -> Value {
        match field.index().checked_sub(1) {
            None => Value::Ref(at + 1),
            Some(field) => self.views[relation.index() - self.sorts][*at as usize][field].clone(),
        }
    }
    fn select(
        &self,
        relation: RelationId,
        tests: &[Test<'_, Value>],
        each: &mut dyn FnMut(Self::Row) -> ControlFlow<()>,
    ) {
        let Some(view) = relation.index().checked_sub(self.sorts) else { return };
        for (at, cells) in self.views[view].iter().enumerate() {
            let row = (relation, at as u32);
            let passes = |test: &Test<'_, Value>| match test.path {
                [(_, field)] if *field != FieldId::ID => meets(&cells[field.index() - 1], test.op, test.with.values()),
                _ => passes(self, &row, test),
            };
            if tests.iter().all(passes) && each(row).is_break() {
                return;
            }
        }
    }
}
