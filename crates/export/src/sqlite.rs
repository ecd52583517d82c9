//! A snapshot as a SQLite file: one strict table per table, references as foreign keys, and every value in a form that SQL
//! can count with. The same snapshot gives the same bytes.

use crate::ExportError;
use benchwright_base::{FieldId, Value};
use benchwright_expr::Type;
use benchwright_pack::Snapshot;
use benchwright_schema::{Domain, Field, Table, codec};
use rusqlite::{Connection, OpenFlags, params_from_iter, types::Value as Sql};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// The version of the form: how tables and values are written.
const FORMAT: i64 = 1;

/// How much was written into a SQLite file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SqliteSummary {
    /// Tables, without the one that describes the file.
    pub tables: usize,
    /// Rows in those tables.
    pub rows: usize,
    /// The length of the file.
    pub bytes: u64,
}

/// Writes a snapshot to a new SQLite file. A file that is there already is left alone.
///
/// Money is in minor units, quantities in thousandths, durations in seconds; days, instants and times of day are ISO text.
/// The table `_benchwright` says what the file was made from.
pub fn sqlite(domain: &Domain, snapshot: &Snapshot, path: &Path) -> Result<SqliteSummary, ExportError> {
    if snapshot.domain != domain.name
        || snapshot.domain_digest != domain.digest
        || snapshot.tables.len() != domain.tables.len()
    {
        return Err(ExportError::OtherDeclarations(domain.name.clone()));
    }
    refuse_existing(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // SQLite would say no more than that it could not.
    fs::metadata(folder).map_err(|why| ExportError::Io { path: folder.to_owned(), why })?;
    let draft = Draft::beside(path);
    let rows = fill(domain, snapshot, &draft.path)?;
    let io = |why| ExportError::Io { path: path.to_owned(), why };
    let file = fs::File::open(&draft.path).map_err(io)?;
    file.sync_all().map_err(io)?;
    let bytes = file.metadata().map_err(io)?.len();
    refuse_existing(path)?;
    fs::rename(&draft.path, path).map_err(io)?;
    Ok(SqliteSummary { tables: domain.tables.len(), rows, bytes })
}

fn refuse_existing(path: &Path) -> Result<(), ExportError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(ExportError::AlreadyThere(path.to_owned())),
        Err(_) => Ok(()),
    }
}

/// The file while it is being written, under a name of its own; what is left of it goes when this does.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn beside(path: &Path) -> Draft {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.partial", std::process::id()));
        let draft = Draft { path: path.with_file_name(name) };
        draft.remove();
        draft
    }

    fn remove(&self) {
        // It is gone already when all went well.
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Writes the whole file and returns the number of rows.
fn fill(domain: &Domain, snapshot: &Snapshot, path: &Path) -> Result<usize, ExportError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut file = Connection::open_with_flags(path, flags)?;
    // The draft is thrown away if anything fails, so that no journal is needed. References are checked once, at the end,
    // where the check can say which row is at fault.
    file.execute_batch(
        "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;",
    )?;
    let transaction = file.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE \"_benchwright\" (\n  \"format\" INTEGER NOT NULL,\n  \"domain\" TEXT NOT NULL,\n  \
         \"digest\" TEXT NOT NULL,\n  \"now\" TEXT NOT NULL\n) STRICT;",
    )?;
    transaction.execute(
        "INSERT INTO \"_benchwright\" VALUES (?, ?, ?, ?)",
        (FORMAT, &domain.name, domain.digest.to_string(), snapshot.now.to_string()),
    )?;
    for table in &domain.tables {
        transaction.execute_batch(&create_table(domain, table))?;
    }
    let mut count = 0;
    for (table, given) in domain.tables.iter().zip(&snapshot.tables) {
        let places = vec!["?"; table.fields.len()].join(", ");
        let mut insert = transaction.prepare(&format!("INSERT INTO {} VALUES ({places})", quoted(&table.name)))?;
        for cells in &given.rows {
            let values = row(domain, table, cells)?;
            insert.execute(params_from_iter(values)).map_err(|why| ExportError::Row {
                table: table.name.clone(),
                row: cells.first().map(|id| codec::show_value(domain, Type::Int, id)).unwrap_or_default(),
                why,
            })?;
        }
        count += given.rows.len();
    }
    for table in &domain.tables {
        for field in table.fields.iter().skip(1).filter(|field| matches!(field.ty, Type::Ref(_))) {
            // The dot keeps the name apart from those of tables.
            let name = quoted(&format!("{}.{}", table.name, field.name));
            let index = format!("CREATE INDEX {name} ON {} ({})", quoted(&table.name), quoted(&field.name));
            transaction.execute_batch(&index)?;
        }
    }
    transaction.commit()?;
    check(&file)?;
    file.close().map_err(|(_, error)| error)?;
    Ok(count)
}

/// The statement that makes a table.
fn create_table(domain: &Domain, table: &Table) -> String {
    let mut lines: Vec<(String, &str)> =
        table.fields.iter().enumerate().map(|(at, field)| column(domain, at, field)).collect();
    for key in &table.keys {
        let fields: Vec<String> = key.fields.iter().map(|field| quoted(&table.field(*field).name)).collect();
        // The id is unique as it is.
        if key.fields[..] != [FieldId::ID] {
            lines.push((format!("UNIQUE ({})", fields.join(", ")), ""));
        }
    }
    let last = lines.len().saturating_sub(1);
    let body = lines.iter().enumerate().map(|(at, (line, note))| {
        let comma = if at == last { "" } else { "," };
        let note = if note.is_empty() { String::new() } else { format!(" -- {note}") };
        format!("  {line}{comma}{note}\n")
    });
    format!("CREATE TABLE {} (\n{}) STRICT;", quoted(&table.name), body.collect::<String>())
}

/// A column and what is to be said of its unit.
fn column(domain: &Domain, at: usize, field: &Field) -> (String, &'static str) {
    let name = quoted(&field.name);
    if at == 0 {
        return (format!("{name} INTEGER PRIMARY KEY"), "");
    }
    let (kind, note) = match field.ty {
        Type::Money => ("INTEGER", "minor units"),
        Type::Quantity => ("INTEGER", "thousandths"),
        Type::Duration => ("INTEGER", "seconds"),
        Type::Bool | Type::Int | Type::Ref(_) | Type::Months => ("INTEGER", ""),
        Type::Text | Type::Enum(_) | Type::Null => ("TEXT", ""),
        Type::Date => ("TEXT", "day"),
        Type::DateTime => ("TEXT", "instant in UTC"),
        Type::Time => ("TEXT", "time of day"),
    };
    let mut line = format!("{name} {kind}");
    if !field.nullable {
        line.push_str(" NOT NULL");
    }
    match field.ty {
        Type::Bool => line.push_str(&format!(" CHECK ({name} IN (0, 1))")),
        Type::Enum(id) => {
            let words: Vec<String> = domain.enums[id.index()].words.iter().map(|word| text_literal(word)).collect();
            line.push_str(&format!(" CHECK ({name} IN ({}))", words.join(", ")));
        }
        Type::Ref(to) => {
            let cascade = if field.owned { " ON DELETE CASCADE" } else { "" };
            let to = quoted(&domain.table(to).name);
            line.push_str(&format!(" REFERENCES {to} (\"id\"){cascade} DEFERRABLE INITIALLY DEFERRED"));
        }
        _ => {}
    }
    (line, note)
}

/// The cells of a row as SQLite takes them.
fn row(domain: &Domain, table: &Table, cells: &[Value]) -> Result<Vec<Sql>, ExportError> {
    if cells.len() != table.fields.len() {
        let message = format!("a row of {} has {} cells, not {}", table.name, cells.len(), table.fields.len());
        return Err(ExportError::Malformed(message));
    }
    let cell = |(field, value): (&Field, &Value)| {
        sql(domain, field.ty, value)
            .ok_or_else(|| ExportError::Malformed(format!("{}.{} cannot hold {value:?}", table.name, field.name)))
    };
    table.fields.iter().zip(cells).map(cell).collect()
}

/// A value of a type as SQLite takes it; `None` if the type has no such value.
fn sql(domain: &Domain, ty: Type, value: &Value) -> Option<Sql> {
    Some(match (ty, value) {
        (_, Value::Null) => Sql::Null,
        (Type::Bool, Value::Bool(flag)) => Sql::Integer(i64::from(*flag)),
        (Type::Int, Value::Int(n))
        | (Type::Money, Value::Money(n))
        | (Type::Quantity, Value::Quantity(n))
        | (Type::Duration, Value::Duration(n)) => Sql::Integer(*n),
        (Type::Int | Type::Ref(_), Value::Ref(row)) => Sql::Integer(i64::from(*row)),
        (Type::Text, Value::Text(text)) => Sql::Text(text.to_string()),
        (Type::Date, Value::Date(_)) | (Type::DateTime, Value::DateTime(_)) | (Type::Time, Value::Time(_)) => {
            Sql::Text(codec::show_value(domain, ty, value))
        }
        (Type::Enum(id), Value::Enum(word)) => {
            Sql::Text(domain.enums.get(id.index())?.words.get(*word as usize)?.clone())
        }
        _ => return None,
    })
}

/// What SQLite itself has to say about the file.
fn check(file: &Connection) -> Result<(), ExportError> {
    let mut faults = Vec::new();
    let mut dangling = file.prepare("PRAGMA foreign_key_check")?;
    let mut found = dangling.query([])?;
    while let Some(row) = found.next()? {
        let (table, id, to): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        faults.push(format!("{table} {} refers to a row of {to} that is not there", id.unwrap_or_default()));
    }
    let mut whole = file.prepare("PRAGMA integrity_check")?;
    let mut found = whole.query([])?;
    while let Some(row) = found.next()? {
        let line: String = row.get(0)?;
        if line != "ok" {
            faults.push(line);
        }
    }
    match faults.first() {
        Some(first) if faults.len() > 1 => Err(ExportError::Check(format!("{first} (and {} more)", faults.len() - 1))),
        Some(first) => Err(ExportError::Check(first.clone())),
        None => Ok(()),
    }
}

/// A name in quotes: tables and fields may be called `case`, `end`, `group` or `order`.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
