//! The records of a case: rows of texts and numbers, a reference by the key of what it refers to. They are drawn, read from files, or
//! kept as JSON, and are the same in all three.

use crate::layout::{Kind, KnownBy, Layout};
use benchwright_base::Value;
use benchwright_pack::Snapshot;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The file of a workflow that has records which are given.
pub(crate) const OWN: &str = "own.json";
/// Under this name a case keeps which traps were laid again, and how often. No file tells it.
const AGAIN: &str = "(again)";

/// A cell of a record.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Number(i64),
    Text(String),
    None,
}

impl Cell {
    /// The number that it is, if it is one.
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Cell::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// As it stands in a key.
    pub(crate) fn key(&self) -> String {
        match self {
            Cell::Number(number) => number.to_string(),
            Cell::Text(text) => text.clone(),
            Cell::None => String::new(),
        }
    }
}

/// The rows of every table, by its name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Records(pub(crate) BTreeMap<String, Vec<Vec<Cell>>>);

impl Records {
    /// The rows of a filled world, in order.
    pub(crate) fn of(layout: &Layout, snapshot: &Snapshot) -> Result<Records, String> {
        let mut records = Records::default();
        for (at, table) in layout.tables.iter().enumerate() {
            let rows = &snapshot.tables.get(at).ok_or("a table is missing")?.rows;
            let mut kept = Vec::with_capacity(rows.len());
            for row in rows {
                let cells = table.columns.iter().zip(row.iter().skip(1));
                let cells = cells.map(|(column, value)| cell(layout, snapshot, column.kind, value));
                kept.push(cells.collect::<Result<Vec<Cell>, String>>()?);
            }
            records.0.insert(table.name.clone(), kept);
        }
        records.check(layout)?;
        Ok(records)
    }

    pub(crate) fn rows(&self, table: &str) -> &[Vec<Cell>] {
        self.0.get(table).map_or(&[], Vec::as_slice)
    }

    /// How often a trap was laid again.
    pub(crate) fn again(&self, trap: &str) -> i64 {
        let row = self.rows(AGAIN).iter().find(|row| row.first().is_some_and(|name| name.key() == trap));
        row.and_then(|row| row.get(1)?.number()).unwrap_or_default()
    }

    /// Lays a trap again, otherwise.
    pub(crate) fn lay_again(&mut self, trap: &str) {
        let again = Cell::Number(self.again(trap) + 1);
        let rows = self.0.entry(AGAIN.to_owned()).or_default();
        rows.retain(|row| row.first().is_none_or(|name| name.key() != trap));
        rows.push(vec![Cell::Text(trap.to_owned()), again]);
    }

    /// The same without what is told of traps.
    pub(crate) fn plain(&self) -> Records {
        let mut plain = self.clone();
        plain.0.remove(AGAIN);
        plain
    }

    /// Holds rows to the columns that they have and to what tells them apart: keys that are there once, references to rows that are there.
    pub(crate) fn check(&self, layout: &Layout) -> Result<(), String> {
        for table in &layout.tables {
            let rows = self.rows(&table.name);
            let columns = match &table.known_by {
                KnownBy::Key(column) => vec![*column],
                KnownBy::Columns(columns) => columns.clone(),
                KnownBy::Nothing if rows.len() == 1 => Vec::new(),
                KnownBy::Nothing => return Err(format!("`{}` has {} rows and no key", table.name, rows.len())),
            };
            let mut seen = BTreeSet::new();
            for row in rows {
                if row.len() != table.columns.len() {
                    return Err(format!("a row of `{}` has {} cells", table.name, row.len()));
                }
                let key: Vec<&Cell> = columns.iter().filter_map(|column| row.get(*column)).collect();
                if !seen.insert(key) {
                    return Err(format!("`{}` has a row twice", table.name));
                }
                for (column, cell) in table.columns.iter().zip(row) {
                    if let (Kind::Ref(to), false) = (column.kind, *cell == Cell::None) {
                        let to = &layout.tables[to];
                        let KnownBy::Key(key) = to.known_by else { continue };
                        if !self.rows(&to.name).iter().any(|row| row[key] == *cell) {
                            return Err(format!("`{}.{}` names no row of `{}`", table.name, column.name, to.name));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn cell(layout: &Layout, snapshot: &Snapshot, kind: Kind, value: &Value) -> Result<Cell, String> {
    Ok(match (kind, value) {
        (_, Value::Null) => Cell::None,
        (Kind::Bool, Value::Bool(yes)) => Cell::Number(i64::from(*yes)),
        (Kind::Text, value) => Cell::Text(value.as_text().unwrap_or_default().to_owned()),
        (Kind::Ref(to), Value::Ref(id)) => {
            let KnownBy::Key(key) = layout.tables[to].known_by else { return Err("a reference to no key".to_owned()) };
            let rows = &snapshot.tables.get(to).ok_or("a table is missing")?.rows;
            let row = rows.iter().find(|row| row.first() == Some(&Value::Ref(*id))).ok_or("a reference to no row")?;
            cell(layout, snapshot, layout.tables[to].columns[key].kind, &row[key + 1])?
        }
        (Kind::Quantity, Value::Quantity(number)) => Cell::Number(*number),
        (_, value) => Cell::Number(value.as_number().ok_or("a value that is no number")?),
    })
}
