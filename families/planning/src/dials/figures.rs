//! The figures of a case that may move: cells of the records, and where each stands in the files.

use crate::{
    layout::{Kind, Layout},
    reader::table::cell,
    records::{Cell, Records},
    render::draft::text,
    written::Written,
};

/// What tells where figures stand: the tables of the records, and the files.
pub(crate) type Stands<'a> = (&'a Layout, &'a Written);

/// A figure: a cell of the records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Figure {
    /// The table, by its place in the layout.
    pub(crate) table: usize,
    /// The row in it.
    pub(crate) row: usize,
    /// The column.
    pub(crate) column: usize,
}

/// The figures of some columns, each `table.column`, that are not nothing.
pub(crate) fn figures(layout: &Layout, columns: &[String], records: &Records) -> Result<Vec<Figure>, String> {
    let mut found = Vec::new();
    for named in columns {
        let odd = || format!("`{named}` is no column of whole numbers or money in the records");
        let (table, column) = named.split_once('.').ok_or_else(odd)?;
        let table = layout.tables.iter().position(|known| known.name == table).ok_or_else(odd)?;
        let declared = &layout.tables[table].columns;
        let column = declared.iter().position(|known| known.name == column).ok_or_else(odd)?;
        if !matches!(declared[column].kind, Kind::Int | Kind::Money | Kind::Quantity) {
            return Err(odd());
        }
        let rows = records.rows(&layout.tables[table].name).iter().enumerate();
        let some = rows.filter(|(_, row)| matches!(row.get(column), Some(Cell::Number(number)) if *number != 0));
        found.extend(some.map(|(row, _)| Figure { table, row, column }));
    }
    Ok(found)
}

impl Figure {
    /// What it is.
    pub(crate) fn get(&self, layout: &Layout, records: &Records) -> i64 {
        let row = records.rows(&layout.tables[self.table].name).get(self.row);
        match row.and_then(|row| row.get(self.column)) {
            Some(Cell::Number(number)) => *number,
            _ => 0,
        }
    }

    /// The same records with another figure in its place.
    pub(crate) fn with(&self, layout: &Layout, records: &Records, number: i64) -> Records {
        let mut moved = records.clone();
        let rows = moved.0.get_mut(&layout.tables[self.table].name);
        if let Some(cell) = rows.and_then(|rows| rows.get_mut(self.row)?.get_mut(self.column)) {
            *cell = Cell::Number(number);
        }
        moved
    }

    /// How a number stands in a file as this figure.
    pub(crate) fn written(&self, layout: &Layout, number: i64) -> String {
        text(layout.tables[self.table].columns[self.column].kind, &Cell::Number(number))
    }

    /// Where it stands: the file, its column, and the row by its key; the table too, where a file has several.
    pub(crate) fn stands(&self, (layout, written): Stands<'_>, records: &Records) -> Option<[String; 3]> {
        let told = &layout.tables[self.table];
        for file in &written.files {
            for table in file.tables.iter().filter(|table| table.from == self.table) {
                let Some(column) = table.columns.iter().find(|column| column.from == self.column) else { continue };
                let row = records.rows(&told.name).get(self.row)?;
                let keys = layout.arguments(told);
                let key: Vec<String> = keys.iter().map(|(key, _)| row[*key].key()).collect();
                return Some([file.path.clone(), column.name.clone(), key.join(" ")]);
            }
        }
        None
    }

    /// The figure that stands somewhere; the other way of [`Figure::stands`].
    pub(crate) fn at((layout, written): Stands<'_>, records: &Records, stands: [&str; 3]) -> Option<Figure> {
        let [path, name, key] = stands;
        let file = written.files.iter().find(|file| file.path == path)?;
        for table in &file.tables {
            let Some(column) = table.columns.iter().find(|column| column.name == name) else { continue };
            let rows = records.rows(&layout.tables[table.from].name).len();
            let mut all = (0..rows).map(|row| Figure { table: table.from, row, column: column.from });
            if let Some(found) =
                all.find(|figure| figure.stands((layout, written), records).is_some_and(|[_, _, known]| known == key))
            {
                return Some(found);
            }
        }
        None
    }

    /// Its column, as `table.column`.
    pub(crate) fn column(&self, layout: &Layout) -> String {
        let table = &layout.tables[self.table];
        format!("{}.{}", table.name, table.columns[self.column].name)
    }

    /// A number as it stands in a file as this figure; the other way of [`Figure::written`].
    pub(crate) fn number(&self, layout: &Layout, text: &str) -> Option<i64> {
        let kind = layout.tables[self.table].columns[self.column].kind;
        cell(layout, kind, text, false).ok()?.number()
    }

    /// The fact that it is, by its name, and what it is of.
    pub(crate) fn fact(&self, layout: &Layout, records: &Records) -> (String, String) {
        let table = &layout.tables[self.table];
        let row = &records.rows(&table.name)[self.row];
        let at: Vec<String> = layout.arguments(table).iter().map(|(key, _)| row[*key].key()).collect();
        (table.columns[self.column].name.clone(), at.join("|"))
    }
}
