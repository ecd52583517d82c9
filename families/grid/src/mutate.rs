//! Near-misses: the true grid with one slot filled otherwise, so that one rule is broken and as few others as can be.

use super::{
    board::Board,
    rules::{FILLED, condition_rule, label_key, slot_key},
    search::{Gauge, given_of},
    words::{Measure, Words},
};

/// A slot and what is put into it; nothing leaves it empty.
pub(super) type Swap = (usize, Option<u32>);

/// The swap that breaks an instance of a rule and as few others as can be; `None` if no single one breaks it.
pub(super) fn swap(words: &Words, board: &Board, chosen: &[u32], rule: &str, at: &[String]) -> Option<Swap> {
    let fields: Vec<&str> = words.fields().collect();
    let keys: Vec<String> = board.open.iter().map(|cell| slot_key(board.place(*cell))).collect();
    if rule == FILLED {
        return Some((keys.iter().position(|key| at.first() == Some(key))?, None));
    }
    let gauges: Vec<Gauge> = board.limits.iter().filter_map(|limit| Gauge::of(words, limit)).collect();
    let is_meant = |gauge: &Gauge, of: usize| {
        let named = words.rule.get(board.limits[of].rule).is_some_and(|known| known.id() == rule);
        named
            && match gauge.measure {
                Measure::RowAtMost => at.first().is_some_and(|row| *row == (gauge.at + 1).to_string()),
                Measure::WordAtMost => {
                    let word = words.label_at(gauge.field).and_then(|label| label.words.get(gauge.at));
                    word.is_some_and(|word| at.first() == Some(&label_key(fields[gauge.field], word)))
                }
                _ => true,
            }
    };
    let weight = |gauge: &Gauge, slot: usize, number: u32| {
        board.item(number).map_or(0, |item| gauge.weight(board.row_of(slot), &item.values))
    };
    let total = |gauge: &Gauge| {
        let placed: i64 = chosen.iter().enumerate().map(|(slot, number)| weight(gauge, slot, *number)).sum();
        given_of(board, gauge) + placed
    };
    let totals: Vec<i64> = gauges.iter().map(total).collect();
    let mut best: Option<(usize, Swap)> = None;
    for (slot, list) in board.candidates().into_iter().enumerate() {
        for number in list.into_iter().filter(|number| *number != chosen[slot]) {
            let Some(item) = board.item(number) else { continue };
            let (mut others, mut breaks) = (0, false);
            for condition in board.conditions.iter().filter(|condition| condition.slot == slot) {
                if !condition.op.passes(item.values[condition.field], condition.value) {
                    let id = condition_rule(fields[condition.field], condition.op);
                    let meant = id == rule && at.first() == Some(&keys[slot]);
                    (others, breaks) = (others + usize::from(!meant), breaks || meant);
                }
            }
            for (of, (gauge, total)) in gauges.iter().zip(&totals).enumerate() {
                let change = weight(gauge, slot, number) - weight(gauge, slot, chosen[slot]);
                if !gauge.holds(total + change) {
                    let meant = is_meant(gauge, of);
                    (others, breaks) = (others + usize::from(!meant), breaks || meant);
                }
            }
            if breaks && best.is_none_or(|(fewest, _)| others < fewest) {
                best = Some((others, (slot, Some(number))));
            }
        }
    }
    best.map(|(_, swap)| swap)
}
