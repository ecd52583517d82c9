//! An exact search over the whole product of candidates: how many choices meet everything.
//!
//! Every requirement is linear: each item adds a weight, and the sum is bounded from above or from below. So a branch is cut
//! as soon as the least that can still come exceeds an upper bound, or the most falls short of a lower one.

use super::{
    board::{Board, Limit, weight},
    words::{Measure, Words},
};

/// A limit with all that is needed to measure it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauge {
    pub(crate) measure: Measure,
    pub(crate) field: usize,
    pub(crate) least: i64,
    pub(crate) at: usize,
    pub(crate) bound: i64,
}

impl Gauge {
    /// The gauge of a limit.
    pub(crate) fn of(words: &Words, limit: &Limit) -> Option<Gauge> {
        let rule = words.rule.get(limit.rule)?;
        let field = words.place(&rule.of)?;
        let least = rule.least.unwrap_or_default();
        Some(Gauge { measure: rule.measure, field, least, at: limit.at, bound: limit.bound })
    }

    /// What an item in a row adds.
    pub(crate) fn weight(&self, row: usize, values: &[i64]) -> i64 {
        weight(self.measure, self.field, self.least, self.at, row, values)
    }

    /// Whether it bounds from above.
    pub(crate) fn is_upper(&self) -> bool {
        self.measure != Measure::TotalAtLeast
    }

    /// Whether a total is within the bound.
    pub(crate) fn holds(&self, total: i64) -> bool {
        if self.is_upper() { total <= self.bound } else { total >= self.bound }
    }
}

/// What the cells that are not open add to a limit.
pub(crate) fn given(words: &Words, board: &Board, limit: &Limit) -> i64 {
    Gauge::of(words, limit).map_or(0, |gauge| given_of(board, &gauge))
}

/// The same for a gauge.
pub(crate) fn given_of(board: &Board, gauge: &Gauge) -> i64 {
    let cells = board.given.iter().enumerate().filter_map(|(cell, item)| Some((cell, board.item(*item)?)));
    cells.map(|(cell, item)| gauge.weight(cell / board.cols, &item.values)).sum()
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// The first choice that meets everything, an item for each open slot.
    pub(crate) first: Option<Vec<u32>>,
    /// How many there are; 2 stands for two or more.
    pub(crate) count: usize,
    /// Branches that were looked at.
    pub(crate) nodes: u64,
}

/// Counts the choices that meet everything, up to two.
pub(crate) fn search(words: &Words, board: &Board) -> Found {
    let gauges: Vec<Gauge> = board.limits.iter().filter_map(|limit| Gauge::of(words, limit)).collect();
    let width = gauges.len();
    let mut slots: Vec<Slot> = Vec::with_capacity(board.open.len());
    for (slot, candidates) in board.candidates().into_iter().enumerate() {
        let row = board.row_of(slot);
        let mut choices = Vec::new();
        for number in candidates {
            let Some(item) = board.item(number).filter(|item| board.fits(slot, &item.values)) else { continue };
            choices.push((number, gauges.iter().map(|gauge| gauge.weight(row, &item.values)).collect::<Vec<i64>>()));
        }
        slots.push(Slot { place: slot, choices });
    }
    // Slots with the fewest choices first; the order changes the work, never the count.
    slots.sort_by_key(|slot| slot.choices.len());
    let mut rest = vec![vec![(0, 0); width]; slots.len() + 1];
    for at in (0..slots.len()).rev() {
        for gauge in 0..width {
            let weights = || slots[at].choices.iter().map(|(_, weights)| weights[gauge]);
            let (low, high) = (weights().min().unwrap_or(0), weights().max().unwrap_or(0));
            let after = rest[at + 1][gauge];
            rest[at][gauge] = (low + after.0, high + after.1);
        }
    }
    let totals: Vec<i64> = gauges.iter().map(|gauge| given_of(board, gauge)).collect();
    let mut search = Search {
        gauges: &gauges,
        slots: &slots,
        rest: &rest,
        chosen: vec![0; slots.len()],
        found: Found { first: None, count: 0, nodes: 0 },
    };
    search.go(0, &totals);
    search.found
}

struct Slot {
    place: usize,
    choices: Vec<(u32, Vec<i64>)>,
}

struct Search<'s> {
    gauges: &'s [Gauge],
    slots: &'s [Slot],
    rest: &'s [Vec<(i64, i64)>],
    chosen: Vec<u32>,
    found: Found,
}

impl Search<'_> {
    fn go(&mut self, at: usize, totals: &[i64]) {
        self.found.nodes += 1;
        let open = self.gauges.iter().zip(totals).zip(&self.rest[at]).all(|((gauge, total), (low, high))| {
            if gauge.is_upper() { total + low <= gauge.bound } else { total + high >= gauge.bound }
        });
        if !open || self.found.count > 1 {
            return;
        }
        let slots = self.slots;
        let Some(slot) = slots.get(at) else {
            self.found.count += 1;
            if self.found.first.is_none() {
                let mut choice = vec![0; slots.len()];
                slots.iter().zip(&self.chosen).for_each(|(slot, item)| choice[slot.place] = *item);
                self.found.first = Some(choice);
            }
            return;
        };
        let mut next = totals.to_vec();
        for (item, weights) in &slot.choices {
            for ((next, total), weight) in next.iter_mut().zip(totals).zip(weights) {
                *next = total + weight;
            }
            self.chosen[at] = *item;
            self.go(at + 1, &next);
        }
    }
}
