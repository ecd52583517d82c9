//! A grid while it is drawn: the truth, and what is asked of it so far.

use super::{
    board::{Condition, Limit, Op},
    search::Gauge,
    words::Words,
};

/// A draw under way.
pub(super) struct Sketch<'w> {
    pub(super) words: &'w Words,
    pub(super) cols: usize,
    /// The open cells, in order.
    pub(super) open: Vec<usize>,
    /// The attributes of the true item of every cell.
    pub(super) truth: Vec<Vec<i64>>,
    pub(super) conditions: Vec<Condition>,
    pub(super) limits: Vec<Limit>,
    pub(super) gauges: Vec<Gauge>,
    /// The total of each gauge over the whole true grid.
    pub(super) totals: Vec<i64>,
}

impl Sketch<'_> {
    pub(super) fn row(&self, slot: usize) -> usize {
        self.open[slot] / self.cols
    }

    pub(super) fn true_values(&self, slot: usize) -> &[i64] {
        &self.truth[self.open[slot]]
    }

    /// The conditions of a slot.
    pub(super) fn asked(&self, slot: usize) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(move |condition| condition.slot == slot)
    }

    pub(super) fn fits(&self, slot: usize, values: &[i64]) -> bool {
        self.asked(slot).all(|c| c.op.passes(values[c.field], c.value))
    }

    /// The values of a number that a slot admits.
    pub(super) fn admitted(&self, slot: usize, field: usize) -> (i64, i64) {
        let (mut low, mut high) = self.words.range(field);
        for condition in self.asked(slot).filter(|condition| condition.field == field) {
            match condition.op {
                Op::AtMost => high = high.min(condition.value),
                Op::AtLeast => low = low.max(condition.value),
                Op::Exactly => (low, high) = (condition.value, condition.value),
                Op::Is | Op::IsNot => {}
            }
        }
        (low, high)
    }
}
