//! Rows of a world under construction: fields by name, defaults as declared, keys beside them.

use benchwright_base::{Date, DateTime, RowId, TableId, Value};
use benchwright_expr::Type;
use benchwright_pack::{Snapshot, SnapshotTable};
use benchwright_project::FirstState;
use benchwright_schema::{Domain, Stamp};
use std::collections::BTreeMap;

/// A world that is being filled.
pub(super) struct Filler<'a> {
    domain: &'a Domain,
    now: DateTime,
    tables: Vec<Vec<Vec<Value>>>,
    keys: BTreeMap<String, BTreeMap<u32, String>>,
    ids: BTreeMap<String, RowId>,
}

/// What a cell of a new row gets.
pub(super) enum Cell {
    /// A value.
    Is(Value),
    /// A word of the field's enumeration.
    Word(&'static str),
    /// The row of a key.
    Key(String),
}

/// Whole units.
pub(super) fn units(units: i64) -> Cell {
    Cell::Is(Value::Quantity(units * 1000))
}

/// Money in cents.
pub(super) fn money(cents: i64) -> Cell {
    Cell::Is(Value::Money(cents))
}

/// A whole number.
pub(super) fn number(number: i64) -> Cell {
    Cell::Is(Value::Int(number))
}

/// A text.
pub(super) fn text(text: impl AsRef<str>) -> Cell {
    Cell::Is(Value::text(text.as_ref()))
}

/// A text, or nothing.
pub(super) fn maybe(text: Option<impl AsRef<str>>) -> Cell {
    Cell::Is(text.map_or(Value::Null, |text| Value::text(text.as_ref())))
}

/// True or false.
pub(super) fn flag(flag: bool) -> Cell {
    Cell::Is(Value::Bool(flag))
}

/// An instant.
pub(super) fn instant(instant: DateTime) -> Cell {
    Cell::Is(Value::DateTime(instant))
}

/// A day, or nothing.
pub(super) fn date(date: Option<Date>) -> Cell {
    Cell::Is(date.map_or(Value::Null, Value::Date))
}

/// The row of a key.
pub(super) fn of(key: impl Into<String>) -> Cell {
    Cell::Key(key.into())
}

impl<'a> Filler<'a> {
    /// A world without rows at an instant.
    pub(super) fn new(domain: &'a Domain, now: DateTime) -> Filler<'a> {
        let tables = vec![Vec::new(); domain.tables.len()];
        Filler { domain, now, tables, keys: BTreeMap::new(), ids: BTreeMap::new() }
    }

    /// The clock.
    pub(super) fn now(&self) -> DateTime {
        self.now
    }

    /// Adds a row with a key of its own.
    pub(super) fn put(&mut self, table: &str, key: impl Into<String>, cells: &[(&str, Cell)]) -> Result<(), String> {
        let key = key.into();
        let at = self.table(table)?;
        let declared = self.domain.table(at);
        let id = self.tables[at.index()].len() as RowId + 1;
        let unknown = cells.iter().find(|(name, _)| declared.field_named(name).is_none());
        if let Some((name, _)) = unknown {
            return Err(format!("{table} has no field `{name}`"));
        }
        let mut row = Vec::with_capacity(declared.fields.len());
        for (place, field) in declared.fields.iter().enumerate() {
            let given = cells.iter().find(|(name, _)| *name == field.name);
            let value = match given {
                Some((_, cell)) => self.value(table, &field.name, field.ty, cell)?,
                None if place == 0 => Value::Ref(id),
                None => match &field.stamp {
                    Some(Stamp::OnCreate | Stamp::OnWrite) => Value::DateTime(self.now),
                    Some(Stamp::Number { prefix, digits, suffix }) => {
                        Value::text(format!("{prefix}{id:0digits$}{suffix}"))
                    }
                    _ => field.default.clone().unwrap_or(Value::Null),
                },
            };
            if value.is_null() && !field.nullable {
                return Err(format!("{key}: {table}.{} has no value", field.name));
            }
            row.push(value);
        }
        self.tables[at.index()].push(row);
        if self.ids.insert(key.clone(), id).is_some() {
            return Err(format!("there are two rows with the key {key}"));
        }
        self.keys.entry(table.to_owned()).or_default().insert(id, key);
        Ok(())
    }

    fn table(&self, name: &str) -> Result<TableId, String> {
        self.domain.table_named(name).ok_or_else(|| format!("{} has no table `{name}`", self.domain.name))
    }

    fn value(&self, table: &str, field: &str, ty: Type, cell: &Cell) -> Result<Value, String> {
        match (cell, ty) {
            (Cell::Is(value), _) => Ok(value.clone()),
            (Cell::Key(key), _) => {
                self.ids.get(key).map(|id| Value::Ref(*id)).ok_or_else(|| format!("{table}.{field}: no row is {key}"))
            }
            (Cell::Word(word), Type::Enum(id)) => {
                let words = &self.domain.enums[id.index()].words;
                let at = words.iter().position(|known| known == word);
                at.map(|at| Value::Enum(at as u16)).ok_or_else(|| format!("{table}.{field} has no word `{word}`"))
            }
            (Cell::Word(_), _) => Err(format!("{table}.{field} is no enumeration")),
        }
    }

    /// The name that a numbered document got.
    pub(super) fn name_of(&self, table: &str, key: &str) -> Result<String, String> {
        let at = self.table(table)?;
        let field = self.domain.table(at).field_named("name").ok_or_else(|| format!("{table} has no name"))?;
        let id = self.ids.get(key).ok_or_else(|| format!("no row is {key}"))?;
        let row = &self.tables[at.index()][*id as usize - 1];
        Ok(row[field.index()].as_text().unwrap_or_default().to_owned())
    }

    /// The state as it stands.
    pub(super) fn finish(self) -> FirstState {
        let numbered = |at: usize| {
            self.domain.tables[at].fields.iter().any(|field| matches!(field.stamp, Some(Stamp::Number { .. })))
        };
        let tables = self.tables.iter().enumerate().map(|(at, rows)| {
            let next = rows.len() as u32 + 1;
            SnapshotTable { next_id: next, next_number: if numbered(at) { next } else { 1 }, rows: rows.clone() }
        });
        let snapshot = Snapshot {
            domain: self.domain.name.clone(),
            domain_digest: self.domain.digest,
            first: None,
            now: self.now,
            tables: tables.collect(),
        };
        FirstState { snapshot, keys: self.keys }
    }
}
