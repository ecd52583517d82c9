//! A second reader of records: the tree of an expression is written as SQL and asked of a copy of the records in SQLite. It shares the
//! tree with the first reader and nothing else: not how rows are found, not how null is treated, not how days are counted. Where
//! the two agree on what a name stands for and on which rows break a rule, neither is wrong alone.

mod text;

use benchwright_base::{DateTime, RowId, TableId, Value};
use benchwright_expr::{Expr, Source, Type};
use benchwright_pack::Snapshot;
use benchwright_schema::Domain;
use benchwright_world::seen::Known;
use rusqlite::{Connection, params_from_iter, types::Value as Sql};
use text::{Place, Writer, quoted};

/// The name under which the records before are attached.
const BEFORE: &str = "before";

/// Why something was not asked, or not answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// What was written has no counterpart in SQL here.
    #[error("{0} is not asked in SQL")]
    Construct(&'static str),
    /// SQLite refused.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// Records in SQLite, and those before them.
pub struct Tables<'d> {
    domain: &'d Domain,
    file: Connection,
    now: DateTime,
    has_before: bool,
    /// Whoever acts.
    actor: Option<RowId>,
}

/// In which order rows are taken.
pub struct Order<'e> {
    /// By what.
    pub by: &'e Expr,
    /// The greatest first.
    pub last: bool,
}

impl<'d> Tables<'d> {
    /// Copies records, and those before them if something is judged against them.
    pub fn of(
        domain: &'d Domain,
        records: &Snapshot,
        before: Option<&Snapshot>,
        actor: Option<RowId>,
    ) -> Result<Tables<'d>, QueryError> {
        let file = Connection::open_in_memory()?;
        fill(domain, &file, "main", records)?;
        if let Some(before) = before {
            file.execute_batch(&format!("ATTACH ':memory:' AS {BEFORE}"))?;
            fill(domain, &file, BEFORE, before)?;
        }
        Ok(Tables { domain, file, now: records.now, has_before: before.is_some(), actor })
    }

    fn writer(&self, given: &[Known]) -> Writer<'_> {
        let places = given.iter().map(|known| match known {
            Known::Row(table, row) => Place::One(*table, *row),
            Known::Rows(table, rows) => Place::Rows(*table, rows.clone()),
            Known::Value(ty, value) => Place::Value(text::literal(self.domain, *ty, value), *ty),
        });
        let actor = self.domain.actor.zip(self.actor);
        Writer::new(self.domain, self.now, actor, self.has_before, places.collect())
    }

    /// The rows of a source for which a condition on each holds, by id or in an order; names stand for what is given.
    pub fn rows(
        &self,
        source: &Source,
        condition: Option<&Expr>,
        order: Option<Order<'_>>,
        given: &[Known],
    ) -> Result<Vec<RowId>, QueryError> {
        let asked = self.writer(given).rows(source, condition, order.as_ref())?;
        self.ids(&asked)
    }

    /// The rows of a table for which a requirement does not hold.
    pub fn broken(&self, table: TableId, require: &Expr) -> Result<Vec<RowId>, QueryError> {
        let mut writer = self.writer(&[]);
        let asked = writer.broken(table, require)?;
        self.ids(&asked)
    }

    /// Whether an expression over names comes to a value.
    pub fn comes_to(&self, expr: &Expr, ty: Type, value: &Value, given: &[Known]) -> Result<bool, QueryError> {
        let told = self.writer(given).value(expr)?.0;
        let asked = format!("SELECT ({told}) IS ({})", text::literal(self.domain, ty, value));
        Ok(self.file.query_row(&asked, [], |row| row.get(0))?)
    }

    /// The least whole number of a range for which a condition holds, which speaks of it.
    pub fn number(
        &self,
        (low, high): (i64, i64),
        condition: &Expr,
        given: &[Known],
    ) -> Result<Option<i64>, QueryError> {
        let asked = self.writer(given).rows(&Source::Range(low, high), Some(condition), None)?;
        let mut statement = self.file.prepare(&asked)?;
        let mut found = statement.query([])?;
        Ok(found.next()?.map(|row| row.get(0)).transpose()?)
    }

    fn ids(&self, asked: &str) -> Result<Vec<RowId>, QueryError> {
        let mut statement = self.file.prepare(asked)?;
        let found = statement.query_map([], |row| row.get::<_, RowId>(0))?;
        Ok(found.collect::<Result<Vec<RowId>, _>>()?)
    }
}

/// Copies every table.
fn fill(domain: &Domain, file: &Connection, name: &str, records: &Snapshot) -> Result<(), QueryError> {
    file.execute_batch("BEGIN")?;
    for (table, given) in domain.tables.iter().zip(&records.tables) {
        let own = quoted(&table.name);
        let columns: Vec<String> = table
            .fields
            .iter()
            .enumerate()
            .map(|(at, field)| format!("{}{}", quoted(&field.name), if at == 0 { " INTEGER PRIMARY KEY" } else { "" }))
            .collect();
        file.execute_batch(&format!("CREATE TABLE {name}.{own} ({})", columns.join(", ")))?;
        let places = vec!["?"; table.fields.len()].join(", ");
        let mut insert = file.prepare(&format!("INSERT INTO {name}.{own} VALUES ({places})"))?;
        for cells in &given.rows {
            let values = table.fields.iter().zip(cells).map(|(field, value)| cell(domain, field.ty, value));
            insert.execute(params_from_iter(values))?;
        }
        // Where a rule asks about the rows that refer to one, they are found by that.
        for field in
            table.fields.iter().skip(1).filter(|field| matches!(field.ty, Type::Ref(_)) && given.rows.len() > 64)
        {
            let index = quoted(&format!("{}.{}", table.name, field.name));
            file.execute_batch(&format!("CREATE INDEX {name}.{index} ON {own} ({})", quoted(&field.name)))?;
        }
    }
    file.execute_batch("COMMIT")?;
    Ok(())
}

/// A cell as SQLite keeps it: days, instants and words as text, everything that is counted as a number.
fn cell(domain: &Domain, ty: Type, value: &Value) -> Sql {
    match value {
        Value::Null => Sql::Null,
        Value::Bool(flag) => Sql::Integer(i64::from(*flag)),
        Value::Int(n) | Value::Money(n) | Value::Quantity(n) | Value::Duration(n) => Sql::Integer(*n),
        Value::Ref(row) => Sql::Integer(i64::from(*row)),
        other => Sql::Text(text::plain(domain, ty, other)),
    }
}
