//! The records of a case: the first state of its world.

use super::{
    board::Board,
    rules::{label_key, slot_key},
    search::given,
    words::Words,
};
use benchwright_base::Value;
use benchwright_pack::{Snapshot, SnapshotTable};
use benchwright_project::FirstState;
use benchwright_schema::Domain;
use std::collections::BTreeMap;

/// The fields of an item before its attributes.
const HEAD: [&str; 4] = ["id", "candidate_of", "number", "name"];

/// The first state of a case.
pub(crate) fn first_state(words: &Words, board: &Board, domain: &Domain) -> Result<FirstState, String> {
    let mut tables: BTreeMap<&str, Vec<Vec<Value>>> = BTreeMap::new();
    let mut keys: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
    let mut named = |table: &str, id: usize, key: String| {
        keys.entry(table.to_owned()).or_default().insert(id as u32, key);
    };
    let of = |id: usize| Value::Ref(id as u32);
    let int = |n: usize| Value::Int(n as i64);

    let mut labels = Vec::new();
    let mut first_word = Vec::new();
    for label in &words.label {
        first_word.push(labels.len() + 1);
        for word in &label.words {
            let id = labels.len() + 1;
            labels.push(vec![of(id), Value::text(&*label.field), Value::text(&**word)]);
            named("label", id, label_key(&label.field, word));
        }
    }
    let value = |place: usize, value: i64| match place.checked_sub(words.number.len()) {
        Some(at) => of(first_word[at] + value as usize),
        None => Value::Int(value),
    };
    let cells = vec![of(1), int(board.rows), int(board.cols), Value::Bool(false), of(1)];
    tables.insert("board", vec![cells]);
    let budgets = std::iter::once(board.checks).chain(board.open.iter().map(|_| board.queries));
    tables.insert("meter", budgets.enumerate().map(|(at, left)| vec![of(at + 1), Value::Int(left)]).collect());
    let mut slots = Vec::with_capacity(board.given.len());
    for (cell, item) in board.given.iter().enumerate() {
        let (row, col) = board.place(cell);
        let open = board.open.iter().position(|open| *open == cell);
        let item = if open.is_some() { Value::Null } else { Value::Ref(*item) };
        let meter = open.map_or(Value::Null, |open| of(open + 2));
        slots.push(vec![of(cell + 1), int(row), int(col), Value::Bool(open.is_some()), item, meter]);
        let key = if open.is_some() { slot_key((row, col)) } else { format!("given/{row}-{col}") };
        named("slot", cell + 1, key);
    }
    tables.insert("slot", slots);
    tables.insert("label", labels);
    let fields: Vec<&str> = words.fields().collect();
    let conditions = board.conditions.iter().enumerate().map(|(at, condition)| {
        let is_label = words.label_at(condition.field).is_some();
        let value = value(condition.field, condition.value);
        let (number, word) = if is_label { (Value::Null, value) } else { (value, Value::Null) };
        let op = Value::Enum(condition.op as u16);
        let slot = of(board.open[condition.slot] + 1);
        vec![of(at + 1), slot, Value::text(fields[condition.field]), op, number, word]
    });
    tables.insert("condition", conditions.collect());
    let mut requirements = Vec::new();
    for limit in &board.limits {
        use super::words::Measure;
        let rule = words.rule.get(limit.rule).ok_or("a limit is of no kind")?;
        let place = words.place(&rule.of).ok_or("a limit is about no attribute")?;
        let row = if rule.measure == Measure::RowAtMost { int(limit.at + 1) } else { Value::Null };
        let word = if rule.measure == Measure::WordAtMost { value(place, limit.at as i64) } else { Value::Null };
        requirements.push(vec![
            of(requirements.len() + 1),
            Value::Enum(rule.measure as u16),
            Value::text(&*rule.of),
            rule.least.map_or(Value::Null, Value::Int),
            row,
            word,
            Value::Int(given(words, board, limit)),
            Value::Int(limit.bound),
        ]);
    }
    tables.insert("requirement", requirements);
    let items = board.items.iter().enumerate().map(|(at, item)| {
        let candidate_of = if item.of == 0 { Value::Null } else { of(board.open[item.of - 1] + 1) };
        let head = [of(at + 1), candidate_of, int(at + 1), Value::text(&*item.name)];
        head.into_iter().chain(item.values.iter().enumerate().map(|(place, n)| value(place, *n))).collect()
    });
    tables.insert("item", items.collect());

    let mut snapshot = Vec::with_capacity(domain.tables.len());
    for table in &domain.tables {
        if table.name == "item" {
            let declared: Vec<&str> = table.fields.iter().map(|field| &*field.name).collect();
            let wanted: Vec<&str> = HEAD.into_iter().chain(words.fields()).collect();
            if declared != wanted {
                return Err(format!("the table `item` has the fields {declared:?}; grid.toml wants {wanted:?}"));
            }
        }
        let rows = tables.remove(&*table.name).unwrap_or_default();
        if rows.iter().any(|row| row.len() != table.fields.len()) {
            return Err(format!("the table `{}` has other fields than grids fill", table.name));
        }
        snapshot.push(SnapshotTable { next_id: rows.len() as u32 + 1, next_number: 1, rows });
    }
    let snapshot = Snapshot {
        domain: domain.name.clone(),
        domain_digest: domain.digest,
        first: None,
        now: domain.now,
        tables: snapshot,
    };
    Ok(FirstState { snapshot, keys })
}
