//! A document against the declaration of a form: typed rows, or everything that is wrong with it. A form is a table of a domain; a document
//! is CSV or a list of JSON objects. What is told is what the declaration says, and nothing else: no other table, no rule and no plan is
//! looked at.

use benchwright_base::{FieldId, Json, TableId, Value, nearest, number};
use benchwright_expr::Type;
use benchwright_files::{Dialect, Limits, csv};
use benchwright_schema::{Domain, Field, Table, codec};
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// The most bytes of a document.
pub const LARGEST: usize = 2 << 20;
/// The most rows of a document.
pub const MOST_ROWS: usize = 20_000;
/// The most faults that are listed; the others are counted.
pub const LISTED: usize = 20;
/// The column that is the stage at which a form is handed in, and never in a document.
pub const STAGE: &str = "stage";

/// A table as a form.
#[derive(Clone, Copy)]
pub struct Form<'d> {
    domain: &'d Domain,
    id: TableId,
}

/// What is handed in.
#[derive(Clone, Copy, Debug)]
pub enum Document<'a> {
    /// A header and rows, parted by commas.
    Csv(&'a str),
    /// Objects by column.
    Rows(&'a [Json<'a>]),
}

/// The values of a row, without its stage.
pub type Cells = Vec<(FieldId, Value)>;

/// One thing that is wrong with a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// From 1: the line of a CSV on which the row begins, so that the header is mostly 1; the number of an object in its list.
    pub row: Option<usize>,
    /// The column, or several where they are alike together.
    pub column: Option<String>,
    /// What it is, in words that can follow the column's name.
    pub says: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.row, &self.column) {
            (Some(row), Some(column)) => write!(f, "row {row}, `{column}`: {}", self.says),
            (Some(row), None) => write!(f, "row {row}: {}", self.says),
            (None, Some(column)) => write!(f, "`{column}`: {}", self.says),
            (None, None) => f.write_str(&self.says),
        }
    }
}

/// All that is wrong, in the order of the document.
#[derive(Clone, PartialEq, Eq, Debug, Default, thiserror::Error)]
#[error("{}", said(.listed, *.more))]
pub struct Faults {
    /// The first of them.
    pub listed: Vec<Fault>,
    /// How many more there are.
    pub more: usize,
}

fn said(listed: &[Fault], more: usize) -> String {
    let mut said: Vec<String> = listed.iter().map(ToString::to_string).collect();
    if more > 0 {
        said.push(format!("and {more} more"));
    }
    said.join("; ")
}

impl Faults {
    fn tell(&mut self, row: Option<usize>, column: Option<&str>, says: impl Into<String>) {
        if self.listed.len() == LISTED {
            self.more += 1;
            return;
        }
        let column = column.map(|column| clipped(column).into_owned());
        self.listed.push(Fault { row, column, says: says.into() });
    }

    /// The same with what the reader of a file found, by row.
    fn with(mut self, others: &benchwright_files::Faults) -> Faults {
        let told = |fault: &benchwright_files::Fault| Fault {
            row: fault.row,
            column: fault.column.as_deref().map(|column| clipped(column).into_owned()),
            says: fault.what.to_string(),
        };
        self.more += others.more();
        self.listed.splice(..0, others.listed().iter().map(told));
        self.listed.sort_by_key(|fault| fault.row);
        self.more += self.listed.len().saturating_sub(LISTED);
        self.listed.truncate(LISTED);
        self
    }
}

/// A name of somebody's, no longer than anybody reads.
fn clipped(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(64) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

impl<'d> Form<'d> {
    /// The form that a table is.
    pub fn of(domain: &'d Domain, id: TableId) -> Form<'d> {
        Form { domain, id }
    }

    /// Its table.
    pub fn id(&self) -> TableId {
        self.id
    }

    fn table(&self) -> &'d Table {
        self.domain.table(self.id)
    }

    /// What it is called.
    pub fn name(&self) -> &'d str {
        self.table().own_name()
    }

    /// The columns of a document, in the order of the declaration.
    pub fn columns(&self) -> impl Iterator<Item = (FieldId, &'d Field)> + use<'d> {
        let stage = self.stage();
        let fields = self.table().fields.iter().enumerate().skip(1).map(|(at, field)| (FieldId(at as u16), field));
        fields.filter(move |(id, field)| Some(*id) != stage && field.stamp.is_none())
    }

    /// The column of the stage, if it has one: a whole number of that name.
    pub fn stage(&self) -> Option<FieldId> {
        self.table().field_named(STAGE).filter(|id| self.table().field(*id).ty == Type::Int)
    }

    /// The stage from which on it can be handed in: the lowest that its column of stages takes, else the first.
    pub fn from_stage(&self) -> i64 {
        let bounds = self.stage().and_then(|stage| self.table().field(stage).bounds);
        bounds.map_or(1, |(least, _)| least.max(1))
    }

    /// Sets of columns in which no two rows of a document are alike.
    pub fn keys(&self) -> impl Iterator<Item = Vec<FieldId>> + use<'d> {
        let stage = self.stage();
        let keys = self.table().keys.iter();
        keys.map(move |key| key.fields.iter().copied().filter(|field| Some(*field) != stage).collect())
    }

    /// The typed rows of a document, or all its faults.
    pub fn read(&self, document: Document<'_>) -> Result<Vec<Cells>, Faults> {
        let mut reader = Reader::of(*self);
        let others = match document {
            Document::Csv(text) => reader.csv(text),
            Document::Rows(rows) => {
                reader.objects(rows);
                benchwright_files::Faults::default()
            }
        };
        let Reader { faults, rows, .. } = reader;
        let faults = faults.with(&others);
        if faults.listed.is_empty() { Ok(rows) } else { Err(faults) }
    }
}

/// A document being read.
struct Reader<'d> {
    form: Form<'d>,
    columns: Vec<(FieldId, &'d Field)>,
    keys: Vec<Seen>,
    rows: Vec<Cells>,
    faults: Faults,
}

/// The rows that are known by a key.
struct Seen {
    fields: Vec<FieldId>,
    /// The columns, as they are told.
    names: String,
    rows: BTreeMap<Vec<Value>, usize>,
}

impl<'d> Reader<'d> {
    fn of(form: Form<'d>) -> Reader<'d> {
        let seen = |fields: Vec<FieldId>| {
            let names: Vec<&str> = fields.iter().map(|field| &*form.table().field(*field).name).collect();
            Seen { names: names.join(", "), fields, rows: BTreeMap::new() }
        };
        let keys = form.keys().map(seen).collect();
        Reader { form, columns: form.columns().collect(), keys, rows: Vec::new(), faults: Faults::default() }
    }

    fn csv(&mut self, text: &str) -> benchwright_files::Faults {
        let limits = Limits { bytes: LARGEST, rows: MOST_ROWS, cell: codec::LONGEST_TEXT, ..Limits::default() };
        let lines = csv::lines(self.form.name(), text.as_bytes(), Dialect::Comma, &limits);
        let csv::Lines { top, header, rows, faults } = lines;
        if header.is_empty() {
            return faults;
        }
        // Which column each cell is of; one that comes twice was told.
        let mut places: Vec<Option<(FieldId, &'d Field)>> = Vec::with_capacity(header.len());
        for name in &header {
            let column = self.column(name);
            if column.is_none() && !name.is_empty() {
                self.unknown(top, name);
            }
            let is_new = |(id, _): &(FieldId, &Field)| !places.iter().flatten().any(|(known, _)| known == id);
            places.push(column.filter(is_new));
        }
        self.missing(top, |field| places.iter().flatten().any(|(known, _)| *known == field));
        for (line, cells) in rows {
            let given = places.iter().zip(&cells).filter_map(|(place, cell)| Some(((*place)?, &**cell)));
            let mut row = Cells::with_capacity(cells.len());
            for ((id, field), cell) in given {
                match self.cell(field, cell) {
                    Ok(value) => row.push((id, value)),
                    Err(says) => self.faults.tell(Some(line), Some(&field.name), says),
                }
            }
            self.keep(line, row);
        }
        faults
    }

    fn objects(&mut self, rows: &[Json<'_>]) {
        if rows.len() > MOST_ROWS {
            return self.faults.tell(None, None, format!("there are more than {MOST_ROWS} rows"));
        }
        if rows.iter().map(size).sum::<usize>() > LARGEST {
            return self.faults.tell(None, None, format!("there are more than {LARGEST} bytes"));
        }
        for (at, object) in rows.iter().enumerate() {
            let number = at + 1;
            let Json::Object(entries) = object else {
                self.faults.tell(Some(number), None, format!("wants an object, got {}", object.kind()));
                continue;
            };
            let mut row = Cells::with_capacity(entries.len());
            for (name, json) in entries {
                let Some((id, field)) = self.column(name) else {
                    self.unknown(number, name);
                    continue;
                };
                match self.value(field, json) {
                    Ok(value) => row.push((id, value)),
                    Err(says) => self.faults.tell(Some(number), Some(name), says),
                }
            }
            let table = self.form.table();
            self.missing(number, |id| entries.iter().any(|(name, _)| *name == table.field(id).name));
            self.keep(number, row);
        }
    }

    fn column(&self, name: &str) -> Option<(FieldId, &'d Field)> {
        self.columns.iter().find(|(_, field)| field.name == name).copied()
    }

    fn unknown(&mut self, row: usize, name: &str) {
        let names = || self.columns.iter().map(|(_, field)| &*field.name);
        let help = match nearest(name, names()) {
            _ if name == STAGE && self.form.stage().is_some() => {
                "it is the stage that is now, and not given".to_owned()
            }
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        };
        self.faults.tell(Some(row), Some(name), format!("is not a column of this form; {help}"));
    }

    /// Tells the columns that a row, or the header, has not and must have.
    fn missing(&mut self, row: usize, has: impl Fn(FieldId) -> bool) {
        let lacks = |(id, field): &&(FieldId, &Field)| !field.nullable && field.default.is_none() && !has(*id);
        let names: Vec<&'d str> = self.columns.iter().filter(lacks).map(|(_, field)| &*field.name).collect();
        for name in names {
            self.faults.tell(Some(row), Some(name), "is missing");
        }
    }

    /// Keeps a row, and tells if another is like it.
    fn keep(&mut self, row: usize, cells: Cells) {
        for Seen { fields, names, rows } in &mut self.keys {
            let value = |field: &FieldId| cells.iter().find(|(id, _)| id == field).map(|(_, value)| value.clone());
            // Without a value, or with one that was told, it is like no other.
            let key: Option<Vec<Value>> = fields.iter().map(value).collect();
            let Some(key) = key.filter(|key| !key.iter().any(Value::is_null)) else { continue };
            match rows.get(&key) {
                Some(other) => self.faults.tell(Some(row), Some(names), format!("is the same in row {other}")),
                None => _ = rows.insert(key, row),
            }
        }
        self.rows.push(cells);
    }

    /// The value of a cell of CSV.
    fn cell(&self, field: &Field, text: &str) -> Result<Value, String> {
        if text.is_empty() {
            return match (&field.default, field.ty) {
                _ if field.nullable => Ok(Value::Null),
                (Some(default), _) => Ok(default.clone()),
                (None, Type::Text) if field.bounds.is_none_or(|(least, _)| least <= 0) => Ok(Value::text("")),
                _ => Err(EMPTY.to_owned()),
            };
        }
        let decimal = |decimals, what: &str| {
            let read = number::parse_decimal(text, decimals).filter(|n| n.unsigned_abs() < number::LARGEST_DECIMAL);
            read.ok_or_else(|| format!("wants {what}, in plain digits"))
        };
        let value = match field.ty {
            Type::Int => Value::Int(whole(text)?),
            Type::Money => decimal(number::MONEY_DECIMALS, "an amount with at most two decimals").map(Value::Money)?,
            Type::Quantity => {
                decimal(number::QUANTITY_DECIMALS, "a quantity with at most three decimals").map(Value::Quantity)?
            }
            Type::Bool => match text {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => return Err("wants true or false".to_owned()),
            },
            Type::Ref(_) => codec::read_value(self.form.domain, field.ty, &Json::Int(whole(text)?))?,
            _ => codec::read_value(self.form.domain, field.ty, &Json::Text(Cow::Borrowed(text)))?,
        };
        codec::check_bounds(&value, field.bounds)?;
        Ok(value)
    }

    /// The value of a key of an object.
    fn value(&self, field: &Field, json: &Json<'_>) -> Result<Value, String> {
        match json {
            Json::Null if field.nullable => return Ok(Value::Null),
            Json::Null => return Err(EMPTY.to_owned()),
            Json::Text(text) if text.contains('\0') => return Err("has a NUL character".to_owned()),
            Json::Text(text) if text.is_empty() && field.ty == Type::Text => return self.cell(field, ""),
            Json::Decimal(_) if field.ty == Type::Int => return Err(WHOLE.to_owned()),
            _ => {}
        }
        let value = codec::read_value(self.form.domain, field.ty, json)?;
        codec::check_bounds(&value, field.bounds)?;
        Ok(value)
    }
}

const EMPTY: &str = "must have a value";
const WHOLE: &str = "wants a whole number of at most 64 bits, in plain digits";

/// A whole number, if it is written as this text and no other: no sign but a minus, no zeros in front, no blanks.
fn whole(text: &str) -> Result<i64, String> {
    text.parse().ok().filter(|number: &i64| number.to_string() == text).ok_or_else(|| WHOLE.to_owned())
}

/// How many bytes a value has as text, at least.
fn size(json: &Json<'_>) -> usize {
    match json {
        Json::Null | Json::Bool(_) => 4,
        Json::Int(_) | Json::Decimal(_) => 1,
        Json::Text(text) => text.len() + 2,
        Json::List(items) => items.iter().map(|item| size(item) + 1).sum::<usize>() + 2,
        Json::Object(entries) => entries.iter().map(|(key, value)| key.len() + size(value) + 4).sum::<usize>() + 2,
    }
}
