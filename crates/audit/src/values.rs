//! Other values that a cell could hold, for whoever attacks single cells: the numbers on both sides, days near and far, the other
//! words of an enumeration, other rows of every class, and nothing where that is allowed. Each is legal by itself: within bounds,
//! of a row that is there, and no second of its key.

use crate::Subject;
use benchwright_base::{RowId, TableId, Value, date::DAY};
use benchwright_expr::Type;
use benchwright_pack::Snapshot;
use benchwright_schema::{Domain, Field, Table, codec};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Days that nobody would plan with, so that what is free only within reason is told from what is free.
const FAR: i64 = 20 * 365;
/// The most words of an enumeration that are tried.
const WORDS: u16 = 7;

/// The keys of the first state's rows: table, row id, key.
type Keys = BTreeMap<String, BTreeMap<RowId, String>>;

/// A domain with the keys of a first state's rows, by which other values are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'s> {
    pub(crate) domain: &'s Domain,
    pub(crate) keys: &'s Keys,
}

impl<'s> Ground<'s> {
    /// The ground of a task's states.
    pub(crate) fn of(subject: &'s Subject<'_>) -> Ground<'s> {
        Ground { domain: &subject.domain, keys: &subject.task.sealed.verifier.keys }
    }

    /// What kind of record a row is: the beginning of its key. Rows that the first state has no key for are of one class.
    pub(crate) fn class(&self, table: TableId, row: RowId) -> &'s str {
        let known = self.keys.get(&self.domain.table(table).name).and_then(|keys| keys.get(&row));
        known.and_then(|key| key.split('/').next()).unwrap_or_default()
    }

    /// Other legal values of a cell, the nearest first.
    pub(crate) fn others(&self, state: &Snapshot, table: TableId, at: usize, field: usize) -> Vec<Value> {
        let declared = self.domain.table(table);
        let row = &state.tables[table.index()].rows[at];
        let column = &declared.fields[field];
        let mut values = self.of_type(state, column, &row[field]);
        if column.nullable && !row[field].is_null() {
            values.push(Value::Null);
        }
        values.retain(|value| {
            *value != row[field]
                && codec::check_bounds(value, column.bounds).is_ok()
                && is_sole(declared, &state.tables[table.index()].rows, at, field, value)
        });
        values
    }

    fn of_type(&self, state: &Snapshot, field: &Field, old: &Value) -> Vec<Value> {
        match old {
            Value::Null => self.something(state, field),
            Value::Bool(yes) => vec![Value::Bool(!yes)],
            Value::Int(n) => sides(*n, 1).map(Value::Int).to_vec(),
            Value::Money(n) => sides(*n, 1).map(Value::Money).to_vec(),
            Value::Quantity(n) => sides(*n, 1_000).map(Value::Quantity).to_vec(),
            Value::Duration(n) => sides(*n, 60).map(Value::Duration).to_vec(),
            Value::Text(text) => {
                let nothing = (!field.nullable && !text.is_empty()).then(|| Value::text(""));
                [Value::text(format!("{text}x"))].into_iter().chain(nothing).collect()
            }
            Value::Date(date) => days().filter_map(|days| date.add_days(days).map(Value::Date)).collect(),
            Value::DateTime(at) => days().filter_map(|days| at.add_seconds(days * DAY).map(Value::DateTime)).collect(),
            Value::Time(time) => {
                let later = i64::from(time.0) + 3_600;
                vec![Value::Time(benchwright_base::Time(later.rem_euclid(DAY) as i32))]
            }
            Value::Enum(_) => self.words(field),
            Value::Ref(row) => match field.ty {
                Type::Ref(to) => self.rows(state, to, Some(*row)),
                _ => Vec::new(),
            },
        }
    }

    /// Values of a field that are not nothing.
    fn something(&self, state: &Snapshot, field: &Field) -> Vec<Value> {
        match field.ty {
            Type::Enum(_) => self.words(field),
            Type::Ref(to) => self.rows(state, to, None),
            Type::Date => days().filter_map(|days| state.now.date().add_days(days).map(Value::Date)).collect(),
            Type::DateTime => {
                days().filter_map(|days| state.now.add_seconds(days * DAY).map(Value::DateTime)).collect()
            }
            _ => vec![something(self.domain, field)],
        }
    }

    fn words(&self, field: &Field) -> Vec<Value> {
        let Type::Enum(id) = field.ty else { return Vec::new() };
        let count = self.domain.enums[id.index()].words.len() as u16;
        (0..count.min(WORDS)).map(Value::Enum).collect()
    }

    /// One other row of each class of a table, the class of the old one first.
    fn rows(&self, state: &Snapshot, table: TableId, old: Option<RowId>) -> Vec<Value> {
        let mut classes: BTreeMap<(bool, &str), RowId> = BTreeMap::new();
        let own = old.map(|row| self.class(table, row));
        for id in state.tables[table.index()].rows.iter().filter_map(|row| row[0].as_ref_id()) {
            let class = self.class(table, id);
            if Some(id) != old {
                classes.entry((own != Some(class), class)).or_insert(id);
            }
        }
        classes.into_values().map(Value::Ref).collect()
    }
}

/// A number on either side.
fn sides(n: i64, by: i64) -> [i64; 2] {
    [n.saturating_add(by), n.saturating_sub(by)]
}

fn days() -> impl Iterator<Item = i64> {
    [1, -1, FAR, -FAR].into_iter()
}

/// Whether a row stays the only one of its keys with another value.
pub(crate) fn is_sole(table: &Table, rows: &[Vec<Value>], at: usize, field: usize, value: &Value) -> bool {
    let concerns = |key: &&benchwright_schema::Key| key.fields.iter().any(|known| known.index() == field);
    table.keys.iter().filter(concerns).all(|key| {
        let own = |known: usize| if known == field { value } else { &rows[at][known] };
        let is_same = |row: &Vec<Value>| {
            key.fields.iter().all(|known| !own(known.index()).is_null() && row[known.index()] == *own(known.index()))
        };
        !rows.iter().enumerate().any(|(other, row)| other != at && is_same(row))
    })
}

/// The place of a row in a snapshot.
pub(crate) fn place(state: &Snapshot, table: TableId, row: RowId) -> Option<usize> {
    let rows = &state.tables[table.index()].rows;
    rows.binary_search_by_key(&Some(row), |row| row[0].as_ref_id()).ok()
}

/// A value as tools write it in answers.
pub(crate) fn shown(domain: &Domain, ty: Type, value: &Value) -> Json {
    let mut out = Vec::new();
    codec::write_value(&mut out, domain, ty, value);
    serde_json::from_slice(&out).unwrap_or_default()
}

/// Some value of a field that is not nothing.
pub(crate) fn something(domain: &Domain, field: &Field) -> Value {
    match field.ty {
        Type::Bool => Value::Bool(true),
        Type::Int | Type::Months => Value::Int(1),
        Type::Money => Value::Money(100),
        Type::Quantity => Value::Quantity(1_000),
        Type::Duration => Value::Duration(60),
        Type::Text | Type::Null => Value::text("x"),
        Type::Date => Value::Date(domain.now.date()),
        Type::DateTime => Value::DateTime(domain.now),
        Type::Time => Value::Time(benchwright_base::Time(60)),
        Type::Enum(_) => Value::Enum(0),
        Type::Ref(_) => Value::Ref(1),
    }
}
