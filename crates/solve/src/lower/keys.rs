//! Unique keys of views as constraints: of candidates that the system of record could not hold side by side, at most one is
//! used. So no rule has to forbid what nobody can write.

use super::{Lower, linear};
use crate::{Formula, Lin};
use std::collections::BTreeMap;

impl Lower<'_> {
    /// Of candidates that are alike in the key of their view, the system of record can hold one. Keys of free fields are left
    /// to rules.
    pub(super) fn one_of_a_key(&mut self, view: usize) {
        let key = &self.plan.views[view].key;
        let mut alike: BTreeMap<Vec<i64>, Vec<Formula>> = BTreeMap::new();
        for row in self.rows[view].iter().filter(|_| !key.is_empty()) {
            let known: Option<Vec<i64>> = key.iter().map(|at| row.fields[*at].known()).collect();
            if let Some(known) = known {
                alike.entry(known).or_default().push(row.used.clone());
            }
        }
        for used in alike.into_values().filter(|used| used.len() > 1) {
            let count = Lin::sum(used.iter().map(|used| self.truth_value(used)).collect::<Vec<_>>());
            self.model.constraints.push(linear(count, vec![(i64::MIN, 1)], Vec::new()));
        }
    }
}
