//! A case: a grid, what stands in it, the candidates of its open slots, and what is asked of them.

use super::words::Measure;
use benchwright_project::Case;
use serde::{Deserialize, Serialize};

/// A case of the family.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Board {
    /// Rows of the grid.
    pub(crate) rows: usize,
    /// Columns.
    pub(crate) cols: usize,
    /// The queries that may be made of each open slot.
    pub(crate) queries: i64,
    /// The checks of the whole grid.
    pub(crate) checks: i64,
    /// The share of calls that fail, in millionths.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) faults: u32,
    /// The cells that are open, by their place, row by row from 0.
    pub(crate) open: Vec<usize>,
    /// What stands in each cell, by the item's number; 0 in open cells.
    pub(crate) given: Vec<u32>,
    /// The items; an item's number is its place from 1.
    pub(crate) items: Vec<Item>,
    /// What open slots ask.
    pub(crate) conditions: Vec<Condition>,
    /// What the whole grid must keep.
    pub(crate) limits: Vec<Limit>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// An item: on disk one line, `slot|values|name`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct Item {
    /// The open slot it is a candidate of, by its place among the open ones from 1; 0 for items that stand in the grid.
    pub(crate) of: usize,
    /// Its attributes, numbers first; a label is the place of its word.
    pub(crate) values: Vec<i64>,
    /// Its name.
    pub(crate) name: String,
}

impl From<Item> for String {
    fn from(item: Item) -> String {
        let values: Vec<String> = item.values.iter().map(ToString::to_string).collect();
        format!("{}|{}|{}", item.of, values.join(" "), item.name)
    }
}

impl TryFrom<String> for Item {
    type Error = String;

    fn try_from(text: String) -> Result<Item, String> {
        let bad = || format!("`{text}` is no item");
        let mut parts = text.splitn(3, '|');
        let mut next = || parts.next().ok_or_else(bad);
        let of = next()?.parse().map_err(|_| bad())?;
        let values = next()?.split(' ').map(|value| value.parse().map_err(|_| bad())).collect::<Result<_, _>>()?;
        Ok(Item { of, values, name: next()?.to_owned() })
    }
}

/// How a condition compares. The order is that of the world's enumeration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Op {
    /// A number is at most the value.
    AtMost,
    /// At least.
    AtLeast,
    /// Exactly.
    Exactly,
    /// A word is the one.
    Is,
    /// A word is not the one.
    IsNot,
}

impl Op {
    /// All, with their words in names.
    pub(crate) const ALL: [(Op, &str); 5] = [
        (Op::AtMost, "at_most"),
        (Op::AtLeast, "at_least"),
        (Op::Exactly, "exactly"),
        (Op::Is, "is"),
        (Op::IsNot, "is_not"),
    ];

    /// Its word in names of facts, sets and rules.
    pub(crate) fn word(self) -> &'static str {
        Op::ALL[self as usize].1
    }

    /// Whether a value passes.
    pub(crate) fn passes(self, value: i64, than: i64) -> bool {
        match self {
            Op::AtMost => value <= than,
            Op::AtLeast => value >= than,
            Op::Exactly | Op::Is => value == than,
            Op::IsNot => value != than,
        }
    }
}

/// What an open slot asks of its item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Condition {
    /// The slot, by its place among the open ones from 0.
    pub(crate) slot: usize,
    /// The attribute.
    pub(crate) field: usize,
    /// How it compares.
    pub(crate) op: Op,
    /// With what.
    pub(crate) value: i64,
}

/// What the whole grid must keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limit {
    /// The kind, by its place in the domain's list.
    pub(crate) rule: usize,
    /// The row or the word it is about, from 0; 0 for kinds that have one instance.
    pub(crate) at: usize,
    /// The bound.
    pub(crate) bound: i64,
}

impl Board {
    /// The board of a case.
    pub(crate) fn of(case: &Case) -> Result<Board, String> {
        Board::deserialize(&case.data).map_err(|error| format!("this is no case of the grid family: {error}"))
    }

    /// The row of an open slot, from 0.
    pub(crate) fn row_of(&self, slot: usize) -> usize {
        self.open[slot] / self.cols
    }

    /// The row and column of a cell, from 1.
    pub(crate) fn place(&self, cell: usize) -> (usize, usize) {
        (cell / self.cols + 1, cell % self.cols + 1)
    }

    /// The candidates of every open slot, by number, in order.
    pub(crate) fn candidates(&self) -> Vec<Vec<u32>> {
        let mut found = vec![Vec::new(); self.open.len()];
        for (at, item) in self.items.iter().enumerate().filter(|(_, item)| item.of > 0) {
            if let Some(list) = found.get_mut(item.of - 1) {
                list.push(at as u32 + 1);
            }
        }
        found
    }

    /// An item by its number.
    pub(crate) fn item(&self, number: u32) -> Option<&Item> {
        self.items.get((number as usize).checked_sub(1)?)
    }

    /// Whether an item meets the conditions of a slot.
    pub(crate) fn fits(&self, slot: usize, values: &[i64]) -> bool {
        self.conditions.iter().filter(|c| c.slot == slot).all(|c| c.op.passes(values[c.field], c.value))
    }
}

/// What an item adds to a limit, if it stands in a row.
pub(crate) fn weight(measure: Measure, field: usize, least: i64, at: usize, row: usize, values: &[i64]) -> i64 {
    match measure {
        Measure::TotalAtMost | Measure::TotalAtLeast => values[field],
        Measure::RowAtMost if row == at => values[field],
        Measure::RowAtMost => 0,
        Measure::WordAtMost => i64::from(values[field] == at as i64),
        Measure::ManyAtMost => i64::from(values[field] >= least),
    }
}
