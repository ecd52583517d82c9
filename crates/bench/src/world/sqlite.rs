//! The bare engine: the same world in SQLite, set up as well as we know how. In memory, one pooled connection, prepared
//! statements that stay prepared, STRICT tables with foreign keys, bounds, enumerations and lengths as CHECKs, the same
//! indexes as the sandbox, the lifecycle and the rule as triggers, a savepoint rolled back as the reset. Arguments come
//! as JSON text and answers go as JSON text, read and written by the same code as ours.

use super::reference::{LAST, STATES, TABLES, table_name};
use super::script::Check;
use crate::error::{Error, OrWrong as _, Result, wrong};
use benchwright_base::{Json, Value, json, number};
use benchwright_expr::Type;
use benchwright_pack::Snapshot;
use benchwright_schema::{Domain, Field, Verb, codec};
use rusqlite::{Connection, Row, Statement, config::DbConfig, types::ValueRef};
use std::{collections::BTreeMap, fmt::Write, sync::Arc};

/// More than the statements that the scripts use.
const STATEMENTS: usize = 4000;
const USUAL_PAGE: i64 = 50;

/// A pooled connection with the world in it.
pub(super) struct Sqlite {
    connection: Connection,
    domain: Arc<Domain>,
    /// For each table and field the text before its value in a row's JSON.
    labels: Vec<Vec<Vec<u8>>>,
    /// The table and verb of each tool.
    tools: BTreeMap<String, (usize, Verb)>,
}

/// Room for the text of a call's statement and for its answer, used again by the next call.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) answer: Vec<u8>,
    sql: String,
}

impl Sqlite {
    /// A connection with the rows of a snapshot.
    pub(super) fn open(domain: &Arc<Domain>, snapshot: &Snapshot) -> Result<Sqlite> {
        let connection = Connection::open_in_memory()?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // Without this every cached statement is planned again whenever its parameters change.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.execute_batch(
            "PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA temp_store = MEMORY;
             BEGIN; PRAGMA defer_foreign_keys = ON;",
        )?;
        for table in 0..TABLES {
            connection.execute_batch(&table_sql(domain, table))?;
        }
        for table in 0..TABLES {
            insert_rows(&connection, domain, table, &snapshot.tables[table].rows)?;
        }
        // The rows of the first state may stand anywhere in their lifecycle.
        for table in 0..TABLES {
            connection.execute_batch(&trigger_sql(table))?;
        }
        connection.execute_batch("COMMIT; ANALYZE;")?;
        let label = |(at, field): (usize, &Field)| {
            let mut label = vec![if at == 0 { b'{' } else { b',' }];
            json::write_text(&mut label, &field.name);
            label.push(b':');
            label
        };
        let labels = domain.tables.iter().map(|table| table.fields.iter().enumerate().map(label).collect()).collect();
        let tools = domain.tools.iter().filter_map(|tool| Some((tool.name.clone(), (tool.table?.index(), tool.verb))));
        Ok(Sqlite { connection, domain: Arc::clone(domain), labels, tools: tools.collect() })
    }

    /// The connection.
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Begins an episode.
    pub(super) fn begin(&self) -> Result<()> {
        self.connection.prepare_cached("SAVEPOINT episode")?.raw_execute()?;
        Ok(())
    }

    /// Back to the first state.
    pub(super) fn reset(&self) -> Result<()> {
        self.connection.prepare_cached("ROLLBACK TO episode")?.raw_execute()?;
        self.connection.prepare_cached("RELEASE episode")?.raw_execute()?;
        Ok(())
    }

    /// How many rows a check finds.
    pub(super) fn count(&self, check: &Check) -> Result<i64> {
        let mut statement = self.connection.prepare_cached(&check.sql)?;
        statement.raw_bind_parameter(1, check.id)?;
        statement.raw_bind_parameter(2, check.qty)?;
        let mut rows = statement.raw_query();
        let row = rows.next()?.or_wrong(|| "a count without a row")?;
        Ok(row.get(0)?)
    }

    /// Calls a tool and leaves its answer in the buffers.
    pub(super) fn call(&self, tool: &str, arguments: &str, buffers: &mut Buffers) -> Result<()> {
        let (table, verb) = *self.tools.get(tool).or_wrong(|| format!("there is no tool {tool}"))?;
        let arguments = Json::parse(arguments).map_err(Error::wrong)?;
        let Json::Object(arguments) = &arguments else { wrong!("the arguments are not an object") };
        let arguments = Arguments { domain: &self.domain, table, given: arguments };
        let name = &self.domain.tables[table].name;
        let Buffers { answer: out, sql } = buffers;
        out.clear();
        sql.clear();
        match verb {
            Verb::Get => {
                write!(sql, "SELECT * FROM {name} WHERE id=?1")?;
                let mut statement = self.connection.prepare_cached(sql)?;
                arguments.bind_id(&mut statement)?;
                self.one_row(&mut statement, table, out)
            }
            Verb::Update => {
                write!(sql, "UPDATE {name} SET ")?;
                let values = arguments.fields(&["id"])?;
                for (at, (field, _)) in values.iter().enumerate() {
                    write!(sql, "{}{}=?{}", if at > 0 { "," } else { "" }, field.name, at + 2)?;
                }
                sql.push_str(" WHERE id=?1 RETURNING *");
                let mut statement = self.connection.prepare_cached(sql)?;
                arguments.bind_id(&mut statement)?;
                for (at, (field, value)) in values.iter().enumerate() {
                    bind(&mut statement, at + 2, field, value)?;
                }
                self.one_row(&mut statement, table, out)
            }
            Verb::Create => {
                write!(sql, "INSERT INTO {name}(")?;
                let values = arguments.fields(&[])?;
                for (at, (field, _)) in values.iter().enumerate() {
                    write!(sql, "{}{}", if at > 0 { "," } else { "" }, field.name)?;
                }
                sql.push_str(")VALUES(");
                for at in 1..=values.len() {
                    write!(sql, "{}?{at}", if at > 1 { "," } else { "" })?;
                }
                sql.push_str(")RETURNING *");
                let mut statement = self.connection.prepare_cached(sql)?;
                for (at, (field, value)) in values.iter().enumerate() {
                    bind(&mut statement, at + 1, field, value)?;
                }
                self.one_row(&mut statement, table, out)
            }
            Verb::Find => self.find(&arguments, sql, out),
            _ => wrong!("the reference world has no tool that would {}", verb.word()),
        }
    }

    /// Writes the one row that a statement gives.
    fn one_row(&self, statement: &mut Statement<'_>, table: usize, out: &mut Vec<u8>) -> Result<()> {
        let mut rows = statement.raw_query();
        let row = rows.next()?.or_wrong(|| "there is no such row")?;
        self.write_row(table, row, out)?;
        while rows.next()?.is_some() {}
        Ok(())
    }

    fn find(&self, arguments: &Arguments<'_>, sql: &mut String, out: &mut Vec<u8>) -> Result<()> {
        let declared = &self.domain.tables[arguments.table];
        write!(sql, "SELECT * FROM {}", declared.name)?;
        let filters = arguments.fields(&["sort", "limit"])?;
        for (at, (field, _)) in filters.iter().enumerate() {
            write!(sql, "{}{}=?{}", if at > 0 { " AND " } else { " WHERE " }, field.name, at + 1)?;
        }
        let sort = match arguments.get("sort") {
            Some(Json::Text(sort)) => &**sort,
            _ => "id",
        };
        let (name, direction) = sort.strip_prefix('-').map_or((sort, ""), |name| (name, " DESC"));
        let field = declared.field_named(name).or_wrong(|| format!("there is no field {name}"))?;
        write!(sql, " ORDER BY {name}{direction}{}", if field.0 == 0 { "" } else { ",id" })?;
        let limit = match arguments.get("limit") {
            Some(Json::Int(limit)) => *limit,
            _ => USUAL_PAGE,
        };
        write!(sql, " LIMIT ?{}", filters.len() + 1)?;
        let mut statement = self.connection.prepare_cached(sql)?;
        for (at, (field, value)) in filters.iter().enumerate() {
            bind(&mut statement, at + 1, field, value)?;
        }
        // One row more than the page takes tells whether there is another page.
        statement.raw_bind_parameter(filters.len() + 1, limit + 1)?;
        out.extend_from_slice(b"{\"rows\":[");
        let mut rows = statement.raw_query();
        let (mut written, mut last) = (0, 0);
        let mut more = false;
        while let Some(row) = rows.next()? {
            if written == limit {
                more = true;
                break;
            }
            if written > 0 {
                out.push(b',');
            }
            self.write_row(arguments.table, row, out)?;
            last = row.get(0)?;
            written += 1;
        }
        out.extend_from_slice(b"],\"next_cursor\":");
        if more {
            out.extend_from_slice(b"\"id:");
            number::write_int(out, last);
            out.push(b'"');
        } else {
            out.extend_from_slice(b"null");
        }
        out.push(b'}');
        Ok(())
    }

    fn write_row(&self, table: usize, row: &Row<'_>, out: &mut Vec<u8>) -> Result<()> {
        let fields = &self.domain.tables[table].fields;
        for (at, (field, label)) in fields.iter().zip(&self.labels[table]).enumerate() {
            out.extend_from_slice(label);
            match (row.get_ref(at)?, field.ty) {
                (ValueRef::Null, _) => out.extend_from_slice(b"null"),
                (ValueRef::Integer(n), Type::Bool) => out.extend_from_slice(if n == 0 { b"false" } else { b"true" }),
                (ValueRef::Integer(n), Type::Money) => number::write_decimal(out, n, number::MONEY_DECIMALS, false),
                (ValueRef::Integer(n), _) => number::write_int(out, n),
                (ValueRef::Text(text), _) => json::write_text(out, std::str::from_utf8(text)?),
                (other, _) => wrong!("a cell of {} is {:?}", field.name, other.data_type()),
            }
        }
        out.push(b'}');
        Ok(())
    }
}

/// The arguments of one call.
struct Arguments<'a> {
    domain: &'a Domain,
    table: usize,
    given: &'a [(std::borrow::Cow<'a, str>, Json<'a>)],
}

impl<'a> Arguments<'a> {
    fn get(&self, name: &str) -> Option<&'a Json<'a>> {
        self.given.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The arguments that name fields, in the order they were given.
    fn fields(&self, except: &[&str]) -> Result<Vec<(&'a Field, &'a Json<'a>)>> {
        let declared = &self.domain.tables[self.table];
        let mut fields = Vec::with_capacity(self.given.len());
        for (name, value) in self.given.iter().filter(|(name, _)| !except.contains(&&**name)) {
            let field = declared.fields.iter().find(|field| field.name == **name);
            fields.push((field.or_wrong(|| format!("there is no field {name}"))?, value));
        }
        Ok(fields)
    }

    fn bind_id(&self, statement: &mut Statement<'_>) -> Result<()> {
        let Some(Json::Int(id)) = self.get("id") else { wrong!("`id` is not a whole number") };
        Ok(statement.raw_bind_parameter(1, *id)?)
    }
}

fn bind(statement: &mut Statement<'_>, at: usize, field: &Field, value: &Json<'_>) -> Result<()> {
    match (field.ty, value) {
        (_, Json::Null) => statement.raw_bind_parameter(at, rusqlite::types::Null)?,
        (_, Json::Text(text)) => statement.raw_bind_parameter(at, &**text)?,
        (_, Json::Bool(truth)) => statement.raw_bind_parameter(at, *truth)?,
        (Type::Money, Json::Int(n)) => {
            statement.raw_bind_parameter(at, n.checked_mul(100).or_wrong(|| "too large")?)?
        }
        (Type::Money, Json::Decimal(n)) => {
            let cents = number::from_binary(*n, number::MONEY_DECIMALS).or_wrong(|| "too many decimals")?;
            statement.raw_bind_parameter(at, cents)?;
        }
        (_, Json::Int(n)) => statement.raw_bind_parameter(at, *n)?,
        (_, other) => wrong!("`{}` cannot be {}", field.name, other.kind()),
    }
    Ok(())
}

/// A table with its constraints and indexes: one on every reference as in the sandbox, and one on each key. The rule's
/// two fields share an index in the table that it looks in.
fn table_sql(domain: &Domain, table: usize) -> String {
    let declared = &domain.tables[table];
    let name = &declared.name;
    let mut columns = vec!["id INTEGER PRIMARY KEY".to_owned()];
    let mut indexes = String::new();
    for field in &declared.fields[1..] {
        let column = &field.name;
        let (kind, check) = match (field.ty, field.bounds) {
            (Type::Bool, _) => ("INTEGER", format!("{column} IN (0, 1)")),
            (Type::Ref(_), _) => ("INTEGER", String::new()),
            (Type::Int | Type::Money, Some((low, high))) => ("INTEGER", format!("{column} BETWEEN {low} AND {high}")),
            (Type::Text, Some((_, high))) => ("TEXT", format!("length({column}) <= {high}")),
            (Type::Enum(_), _) => ("TEXT", format!("{column} IN ({})", quoted(&STATES))),
            (Type::DateTime, _) => ("TEXT", format!("length({column}) = 20")),
            _ => ("TEXT", String::new()),
        };
        let mut text = format!("{column} {kind}");
        if !field.nullable {
            text.push_str(" NOT NULL");
        }
        if let Some(default) = &field.default {
            text.push_str(&format!(" DEFAULT {}", literal(domain, field, default)));
        }
        if !check.is_empty() {
            text.push_str(&format!(" CHECK ({check})"));
        }
        if let Type::Ref(to) = field.ty {
            text.push_str(&format!(" REFERENCES {}(id)", domain.table(to).name));
            let second = if table == LAST && column == "owner_id" { ", assigned_to" } else { "" };
            indexes.push_str(&format!("CREATE INDEX {name}_{column} ON {name}({column}{second});\n"));
        }
        columns.push(text);
    }
    for key in &declared.keys {
        let fields: Vec<&str> = key.fields.iter().map(|field| &*declared.field(*field).name).collect();
        indexes.push_str(&format!(
            "CREATE UNIQUE INDEX {name}_{} ON {name}({});\n",
            fields.join("_"),
            fields.join(", ")
        ));
    }
    format!("CREATE TABLE {name}({}) STRICT;\n{indexes}", columns.join(", "))
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ")
}

fn literal(domain: &Domain, field: &Field, value: &Value) -> String {
    match value {
        Value::Bool(truth) => i32::from(*truth).to_string(),
        other => format!("'{}'", codec::show_value(domain, field.ty, other)),
    }
}

/// The lifecycle and the rule.
fn trigger_sql(table: usize) -> String {
    let (name, last) = (table_name(table), table_name(LAST));
    let broken = format!(
        "NEW.assigned_to IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM {last} WHERE owner_id = NEW.owner_id AND assigned_to = NEW.assigned_to)"
    );
    format!(
        "CREATE TRIGGER {name}_start AFTER INSERT ON {name} WHEN NEW.status <> 'new'
           BEGIN SELECT RAISE(ABORT, 'a new row begins as new'); END;
         CREATE TRIGGER {name}_lifecycle AFTER UPDATE OF status ON {name}
           WHEN OLD.status <> NEW.status AND NOT (
             (OLD.status = 'new' AND NEW.status IN ('open', 'closed')) OR
             (OLD.status = 'open' AND NEW.status IN ('hold', 'closed')) OR
             (OLD.status = 'hold' AND NEW.status IN ('open', 'closed')))
           BEGIN SELECT RAISE(ABORT, 'lifecycle'); END;
         CREATE TRIGGER {name}_rule_insert AFTER INSERT ON {name} WHEN {broken}
           BEGIN SELECT RAISE(ABORT, 'rule'); END;
         CREATE TRIGGER {name}_rule_update AFTER UPDATE ON {name} WHEN {broken}
           BEGIN SELECT RAISE(ABORT, 'rule'); END;"
    )
}

fn insert_rows(connection: &Connection, domain: &Domain, table: usize, rows: &[Vec<Value>]) -> Result<()> {
    let declared = &domain.tables[table];
    let places: Vec<String> = (1..=declared.fields.len()).map(|at| format!("?{at}")).collect();
    let mut insert = connection.prepare(&format!("INSERT INTO {} VALUES ({})", declared.name, places.join(", ")))?;
    for cells in rows {
        for (at, (field, cell)) in declared.fields.iter().zip(cells).enumerate() {
            match cell {
                Value::Null => insert.raw_bind_parameter(at + 1, rusqlite::types::Null)?,
                Value::Bool(truth) => insert.raw_bind_parameter(at + 1, *truth)?,
                Value::Int(n) | Value::Money(n) => insert.raw_bind_parameter(at + 1, *n)?,
                Value::Ref(row) => insert.raw_bind_parameter(at + 1, *row)?,
                other => insert.raw_bind_parameter(at + 1, codec::show_value(domain, field.ty, other))?,
            }
        }
        insert.raw_execute()?;
    }
    Ok(())
}
