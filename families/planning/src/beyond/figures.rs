//! The figures of a case that may move: cells of the records, and where each stands in the files.

use crate::{
    layout::Kind,
    reader,
    records::{Cell, Records},
    render::text,
    workflow::Planning,
};

/// A figure: a cell of the records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Figure {
    /// The table, by its place in the layout.
    pub(super) table: usize,
    /// The row in it.
    pub(super) row: usize,
    /// The column.
    pub(super) column: usize,
}

/// The figures of some columns, each `table.column`, that are not nothing.
pub(crate) fn figures(family: &Planning, columns: &[String], records: &Records) -> Result<Vec<Figure>, String> {
    let mut found = Vec::new();
    for named in columns {
        let odd = || format!("`{named}` is no column of whole numbers or money in the records");
        let (table, column) = named.split_once('.').ok_or_else(odd)?;
        let table = family.layout.tables.iter().position(|known| known.name == table).ok_or_else(odd)?;
        let declared = &family.layout.tables[table].columns;
        let column = declared.iter().position(|known| known.name == column).ok_or_else(odd)?;
        if !matches!(declared[column].kind, Kind::Int | Kind::Money | Kind::Quantity) {
            return Err(odd());
        }
        let rows = records.rows(&family.layout.tables[table].name).iter().enumerate();
        let some = rows.filter(|(_, row)| matches!(row.get(column), Some(Cell::Number(number)) if *number != 0));
        found.extend(some.map(|(row, _)| Figure { table, row, column }));
    }
    Ok(found)
}

impl Figure {
    /// What it is.
    pub(crate) fn get(&self, family: &Planning, records: &Records) -> i64 {
        let row = records.rows(&family.layout.tables[self.table].name).get(self.row);
        match row.and_then(|row| row.get(self.column)) {
            Some(Cell::Number(number)) => *number,
            _ => 0,
        }
    }

    /// The same records with another figure in its place.
    pub(crate) fn with(&self, family: &Planning, records: &Records, number: i64) -> Records {
        let mut moved = records.clone();
        let rows = moved.0.get_mut(&family.layout.tables[self.table].name);
        if let Some(cell) = rows.and_then(|rows| rows.get_mut(self.row)?.get_mut(self.column)) {
            *cell = Cell::Number(number);
        }
        moved
    }

    /// How a number stands in a file as this figure.
    pub(crate) fn written(&self, family: &Planning, number: i64) -> String {
        text(family.layout.tables[self.table].columns[self.column].kind, &Cell::Number(number))
    }

    /// Where it stands: the file, its column, and the row by its key; the table too, where a file has several.
    pub(crate) fn stands(&self, family: &Planning, records: &Records) -> Option<[String; 3]> {
        let layout = &family.layout.tables[self.table];
        for file in &family.written.files {
            for table in file.tables.iter().filter(|table| table.from == self.table) {
                let Some(column) = table.columns.iter().find(|column| column.from == self.column) else { continue };
                let row = records.rows(&layout.name).get(self.row)?;
                let keys = family.layout.arguments(layout);
                let key: Vec<String> = keys.iter().map(|(key, _)| row[*key].key()).collect();
                return Some([file.path.clone(), column.name.clone(), key.join(" ")]);
            }
        }
        None
    }

    /// The figure that stands somewhere; the other way of [`Figure::stands`].
    pub(crate) fn at(family: &Planning, records: &Records, stands: [&str; 3]) -> Option<Figure> {
        let [path, name, key] = stands;
        let file = family.written.files.iter().find(|file| file.path == path)?;
        for table in &file.tables {
            let Some(column) = table.columns.iter().find(|column| column.name == name) else { continue };
            let rows = records.rows(&family.layout.tables[table.from].name).len();
            let mut all = (0..rows).map(|row| Figure { table: table.from, row, column: column.from });
            if let Some(found) =
                all.find(|figure| figure.stands(family, records).is_some_and(|[_, _, known]| known == key))
            {
                return Some(found);
            }
        }
        None
    }

    /// Its column, as `table.column`.
    pub(crate) fn column(&self, family: &Planning) -> String {
        let table = &family.layout.tables[self.table];
        format!("{}.{}", table.name, table.columns[self.column].name)
    }

    /// A number as it stands in a file as this figure; the other way of [`Figure::written`].
    pub(crate) fn number(&self, family: &Planning, text: &str) -> Option<i64> {
        let kind = family.layout.tables[self.table].columns[self.column].kind;
        reader::cell(&family.layout, kind, text, false).ok()?.number()
    }

    /// The fact that it is, by its name, and what it is of.
    pub(crate) fn fact(&self, family: &Planning, records: &Records) -> (String, String) {
        let table = &family.layout.tables[self.table];
        let row = &records.rows(&table.name)[self.row];
        let at: Vec<String> = family.layout.arguments(table).iter().map(|(key, _)| row[*key].key()).collect();
        (table.columns[self.column].name.clone(), at.join("|"))
    }
}
