//! Draws a case: a true grid, bounds derived from it, conditions of slots, decoys, and candidates that conditions rule out.

use super::{
    board::{Board, Condition, Item, Limit, Op},
    decoys,
    search::Gauge,
    setting::Setting,
    sketch::Sketch,
    words::{Measure, Words},
};
use benchwright_base::Stream;
use benchwright_project::{Discard, Draw};

/// The most that an open slot asks.
const CONDITIONS: usize = 2;

/// Draws a case.
pub(super) fn draw(draw: &Draw<'_>, words: &Words) -> Result<Board, Discard> {
    let setting = Setting::read(draw).map_err(Discard::Fault)?;
    let cells = setting.rows * setting.cols;
    let mut stream = setting.stream(draw, "grid");
    let mut open: Vec<usize> = (0..cells).collect();
    stream.shuffle(&mut open);
    open.truncate(setting.open);
    open.sort_unstable();
    let truth: Vec<Vec<i64>> =
        (0..cells).map(|cell| true_item(words, open.binary_search(&cell).is_ok(), &mut stream)).collect();

    let mut stream = setting.stream(draw, "limits");
    let (limits, gauges, totals) = limits(words, &setting, &truth, &mut stream);
    let mut sketch = Sketch { words, cols: setting.cols, open, truth, conditions: Vec::new(), limits, gauges, totals };

    let mut stream = setting.stream(draw, "conditions");
    let moved = conditions(&mut sketch, &mut stream);
    let decoys = decoys::draw(&sketch, &setting, &mut setting.stream(draw, "decoys"))?;
    let mut stream = setting.stream(draw, "candidates");
    let mut candidates: Vec<(usize, Vec<i64>)> = Vec::new();
    for (slot, decoys) in decoys.into_iter().enumerate() {
        let twin = (slot == moved.slot).then_some(&moved);
        let own = shortlist(&sketch, slot, decoys, twin, setting.candidates, &mut stream);
        candidates.extend(own.into_iter().map(|values| (slot + 1, values)));
    }
    // A candidate's number says nothing of what it is.
    stream.shuffle(&mut candidates);
    if setting.twin {
        let place = sketch.conditions.iter().position(|c| c.slot == moved.slot && c.field == moved.field);
        if let Some(condition) = place.and_then(|at| sketch.conditions.get_mut(at)) {
            condition.value = moved.to;
        }
    }
    Ok(board(sketch, &setting, candidates, &mut setting.stream(draw, "names")))
}

/// The bound that a twin moves.
struct Moved {
    slot: usize,
    field: usize,
    to: i64,
}

/// The attributes of a true item. Those of open slots keep away from the side on which decoys will go too far.
fn true_item(words: &Words, open: bool, stream: &mut Stream) -> Vec<i64> {
    let mut values = Vec::with_capacity(words.width());
    for (place, field) in words.fields().enumerate() {
        let (low, high) = words.range(place);
        let room = if words.label_at(place).is_none() && open { (high - low) * 35 / 100 } else { 0 };
        let bounded = |falls: bool| {
            words.rule.iter().any(|rule| rule.of == field && (rule.measure == Measure::TotalAtLeast) == falls)
        };
        let (low, high) = match (bounded(false), bounded(true)) {
            (true, _) => (low, high - room),
            (_, true) => (low + room, high),
            _ => (low, high),
        };
        values.push(stream.between(low, high));
    }
    values
}

/// Bounds a little beyond what the true grid measures.
fn limits(
    words: &Words,
    setting: &Setting,
    truth: &[Vec<i64>],
    stream: &mut Stream,
) -> (Vec<Limit>, Vec<Gauge>, Vec<i64>) {
    let (mut limits, mut gauges, mut totals) = (Vec::new(), Vec::new(), Vec::new());
    for (place, rule) in words.rule.iter().enumerate() {
        let Some(field) = words.place(&rule.of) else { continue };
        let instances = match rule.measure {
            Measure::RowAtMost => setting.rows,
            Measure::WordAtMost => words.label_at(field).map_or(0, |label| label.words.len()),
            _ => 1,
        };
        for at in 0..instances {
            let limit = Limit { rule: place, at, bound: 0 };
            let Some(mut gauge) = Gauge::of(words, &limit) else { continue };
            let cells = truth.iter().enumerate();
            let total: i64 = cells.map(|(cell, values)| gauge.weight(cell / setting.cols, values)).sum();
            let (low, high) = words.range(field);
            let slack = match rule.measure {
                Measure::WordAtMost | Measure::ManyAtMost => stream.between(0, 1),
                _ => stream.between(0, (high - low) / 12),
            };
            gauge.bound = if gauge.is_upper() { total + slack } else { (total - slack).max(0) };
            limits.push(Limit { bound: gauge.bound, ..limit });
            gauges.push(gauge);
            totals.push(total);
        }
    }
    (limits, gauges, totals)
}

/// What open slots ask: two attributes each, so that all attributes are asked about somewhere. One slot asks for an exact
/// value of the free number.
fn conditions(sketch: &mut Sketch<'_>, stream: &mut Stream) -> Moved {
    let words = sketch.words;
    let free = words.free().unwrap_or_default();
    let slots = sketch.open.len();
    let slot = stream.below(slots as u64) as usize;
    let value = sketch.true_values(slot)[free];
    let (low, high) = words.range(free);
    let others: Vec<i64> = (low..=high).filter(|other| *other != value).collect();
    let moved = Moved { slot, field: free, to: stream.pick(&others).copied().unwrap_or(value) };
    let mut fields: Vec<usize> = Vec::new();
    for at in 0..slots {
        let mut own = Vec::new();
        if at == slot {
            own.push(free);
            sketch.conditions.push(Condition { slot: at, field: free, op: Op::Exactly, value });
        }
        while own.len() < CONDITIONS {
            if fields.is_empty() {
                fields = (0..words.width()).collect();
                stream.shuffle(&mut fields);
            }
            let Some(field) = fields.pop() else { break };
            if own.contains(&field) {
                continue;
            }
            own.push(field);
            let value = sketch.true_values(at)[field];
            let (op, value) = condition(words, field, value, stream);
            sketch.conditions.push(Condition { slot: at, field, op, value });
        }
    }
    moved
}

/// A condition that a value meets, and that some value does not.
fn condition(words: &Words, field: usize, value: i64, stream: &mut Stream) -> (Op, i64) {
    let (low, high) = words.range(field);
    if words.label_at(field).is_some() {
        let others: Vec<i64> = (low..=high).filter(|other| *other != value).collect();
        return match stream.pick(&others) {
            Some(other) if stream.chance(1, 2) => (Op::IsNot, *other),
            _ => (Op::Is, value),
        };
    }
    let slack = stream.between(0, (high - low) / 5);
    let at_most = (Op::AtMost, (value + slack).min(high - 1));
    let at_least = (Op::AtLeast, (value - slack).max(low + 1));
    match (value < high, value > low) {
        (true, true) if stream.chance(1, 2) => at_least,
        (true, _) => at_most,
        (false, _) => at_least,
    }
}

/// The candidates of a slot: the true item, its decoys, and others that a condition rules out.
fn shortlist(
    sketch: &Sketch<'_>,
    slot: usize,
    decoys: Vec<Vec<i64>>,
    twin: Option<&Moved>,
    count: usize,
    stream: &mut Stream,
) -> Vec<Vec<i64>> {
    let truth = sketch.true_values(slot).to_vec();
    let mut list = vec![truth.clone()];
    list.extend(decoys);
    if let Some(moved) = twin {
        // Alike in all that counts, and right once the bound is moved.
        let mut other = truth.clone();
        other[moved.field] = moved.to;
        list.push(other);
    }
    let asked: Vec<Condition> = sketch.asked(slot).copied().collect();
    let mut near = asked.clone();
    while list.len() < count {
        // First the true item with one condition missed, then whatever comes.
        let (mut values, missed) = match near.pop() {
            Some(condition) => (truth.clone(), Some(condition)),
            None => {
                let ranges = (0..sketch.words.width()).map(|field| sketch.words.range(field));
                let values: Vec<i64> = ranges.map(|(low, high)| stream.between(low, high)).collect();
                let missed = if sketch.fits(slot, &values) { stream.pick(&asked).copied() } else { None };
                (values, missed)
            }
        };
        if let Some(condition) = missed {
            let (low, high) = sketch.words.range(condition.field);
            let misses: Vec<i64> = (low..=high).filter(|value| !condition.op.passes(*value, condition.value)).collect();
            values[condition.field] = stream.pick(&misses).copied().unwrap_or(low);
        }
        if sketch.fits(slot, &values) || twin.is_some_and(|moved| values[moved.field] == moved.to) {
            continue;
        }
        list.push(values);
    }
    list
}

fn board(sketch: Sketch<'_>, setting: &Setting, candidates: Vec<(usize, Vec<i64>)>, stream: &mut Stream) -> Board {
    let words = sketch.words;
    let mut name = || {
        let first = stream.pick(&words.names).cloned().unwrap_or_default();
        format!("{first} {}", stream.between(100, 999))
    };
    let mut items: Vec<Item> = candidates.into_iter().map(|(of, values)| Item { of, values, name: name() }).collect();
    let mut given = vec![0; sketch.truth.len()];
    for (cell, values) in sketch.truth.into_iter().enumerate() {
        if sketch.open.binary_search(&cell).is_err() {
            items.push(Item { of: 0, values, name: name() });
            given[cell] = items.len() as u32;
        }
    }
    Board {
        rows: setting.rows,
        cols: setting.cols,
        queries: 2 * words.width() as i64 + 4,
        checks: 5,
        faults: setting.faults,
        open: sketch.open,
        given,
        items,
        conditions: sketch.conditions,
        limits: sketch.limits,
    }
}
