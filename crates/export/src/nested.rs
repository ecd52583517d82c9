//! Parquet files with lists and records in their columns. The writer below takes single columns of values with two numbers beside each:
//! how much of its path is there, and at which list a new entry begins. Here they are worked out from whole rows.

use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel},
    data_type::{BoolType, ByteArray, ByteArrayType, DoubleType},
    errors::ParquetError,
    file::{
        properties::{EnabledStatistics, WriterProperties},
        reader::SerializedFileReader,
        writer::SerializedFileWriter,
    },
    record::{Field, Row},
    schema::types::{Type, TypePtr},
};
use serde_json::Value as Json;
use std::{fs, path::Path, sync::Arc};

/// How hard the codec tries.
const LEVEL: i32 = 9;

/// What a column holds.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Text,
    Number,
    Truth,
    Record(Vec<Column>),
    List(Box<Shape>),
}

/// A column, or a field of a record.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    name: &'static str,
    shape: Shape,
    is_optional: bool,
}

impl Column {
    /// One that every row has.
    pub(crate) fn new(name: &'static str, shape: Shape) -> Column {
        Column { name, shape, is_optional: false }
    }

    /// One that need not be there.
    pub(crate) fn maybe(name: &'static str, shape: Shape) -> Column {
        Column { name, shape, is_optional: true }
    }
}

/// What stands in a column.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    None,
    Text(String),
    Number(f64),
    Truth(bool),
    Record(Vec<Cell>),
    List(Vec<Cell>),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Cell {
        Cell::Text(text.clone())
    }
}

/// The values of a column without parts, each with its two numbers.
enum Values {
    Text(Vec<ByteArray>),
    Number(Vec<f64>),
    Truth(Vec<bool>),
}

struct Leaf {
    values: Values,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    is_nested: (bool, bool),
}

/// Where in the nesting somebody is.
#[derive(Clone, Copy)]
struct Place {
    /// How much of the path is there.
    definition: i16,
    /// The list at which this entry begins.
    repetition: i16,
    /// The lists around it.
    lists: i16,
}

fn leaves(shape: &Shape, is_optional: bool, is_listed: bool, into: &mut Vec<Leaf>) {
    let values = match shape {
        Shape::Record(fields) => {
            fields.iter().for_each(|field| leaves(&field.shape, is_optional || field.is_optional, is_listed, into));
            return;
        }
        Shape::List(of) => return leaves(of, true, true, into),
        Shape::Text => Values::Text(Vec::new()),
        Shape::Number => Values::Number(Vec::new()),
        Shape::Truth => Values::Truth(Vec::new()),
    };
    let (definitions, repetitions) = (Vec::new(), Vec::new());
    into.push(Leaf { values, definitions, repetitions, is_nested: (is_optional, is_listed) });
}

/// How many columns without parts a shape has.
fn width(shape: &Shape) -> usize {
    match shape {
        Shape::Record(fields) => fields.iter().map(|field| width(&field.shape)).sum(),
        Shape::List(of) => width(of),
        Shape::Text | Shape::Number | Shape::Truth => 1,
    }
}

fn other(column: &str) -> ParquetError {
    ParquetError::General(format!("a cell of {column} is of another shape"))
}

/// Notes in all columns of a part that it is not there.
fn absent(at: Place, into: &mut [Leaf]) {
    for leaf in into {
        leaf.definitions.push(at.definition);
        leaf.repetitions.push(at.repetition);
    }
}

/// Puts a cell into the columns that it is made of.
fn put(
    name: &str,
    shape: &Shape,
    is_optional: bool,
    cell: &Cell,
    at: Place,
    into: &mut [Leaf],
) -> Result<(), ParquetError> {
    if *cell == Cell::None {
        if !is_optional {
            return Err(other(name));
        }
        absent(at, into);
        return Ok(());
    }
    let at = Place { definition: at.definition + i16::from(is_optional), ..at };
    match (shape, cell) {
        (Shape::Record(fields), Cell::Record(cells)) if fields.len() == cells.len() => {
            let mut from = 0;
            for (field, cell) in fields.iter().zip(cells) {
                let to = from + width(&field.shape);
                put(field.name, &field.shape, field.is_optional, cell, at, &mut into[from..to])?;
                from = to;
            }
        }
        (Shape::List(_), Cell::List(cells)) if cells.is_empty() => absent(at, into),
        (Shape::List(of), Cell::List(cells)) => {
            for (nth, cell) in cells.iter().enumerate() {
                let repetition = if nth == 0 { at.repetition } else { at.lists + 1 };
                let inside = Place { definition: at.definition + 1, repetition, lists: at.lists + 1 };
                put(name, of, false, cell, inside, into)?;
            }
        }
        (_, cell) => {
            let [leaf] = into else { return Err(other(name)) };
            match (&mut leaf.values, cell) {
                (Values::Text(values), Cell::Text(text)) => values.push(ByteArray::from(text.clone().into_bytes())),
                (Values::Number(values), Cell::Number(number)) => values.push(*number),
                (Values::Truth(values), Cell::Truth(truth)) => values.push(*truth),
                _ => return Err(other(name)),
            }
            leaf.definitions.push(at.definition);
            leaf.repetitions.push(at.repetition);
        }
    }
    Ok(())
}

fn schema(name: &str, shape: &Shape, is_optional: bool) -> Result<TypePtr, ParquetError> {
    let repetition = if is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let physical = match shape {
        Shape::Text => Physical::BYTE_ARRAY,
        Shape::Number => Physical::DOUBLE,
        Shape::Truth => Physical::BOOLEAN,
        Shape::Record(fields) => {
            let fields = fields.iter().map(|field| schema(field.name, &field.shape, field.is_optional));
            let fields = fields.collect::<Result<Vec<_>, _>>()?;
            let group = Type::group_type_builder(name).with_repetition(repetition).with_fields(fields);
            return group.build().map(Arc::new);
        }
        Shape::List(of) => {
            let element = schema("element", of, false)?;
            let list =
                Type::group_type_builder("list").with_repetition(Repetition::REPEATED).with_fields(vec![element]);
            let group = Type::group_type_builder(name).with_repetition(repetition);
            let group = group.with_logical_type(Some(LogicalType::List)).with_fields(vec![Arc::new(list.build()?)]);
            return group.build().map(Arc::new);
        }
    };
    let logical = matches!(shape, Shape::Text).then_some(LogicalType::String);
    let leaf = Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical);
    leaf.build().map(Arc::new)
}

/// A file that rows are written into, a group at a time.
pub(crate) struct NestedFile {
    columns: Vec<Column>,
    file: SerializedFileWriter<fs::File>,
}

impl NestedFile {
    /// A new file.
    pub(crate) fn create(path: &Path, name: &str, columns: Vec<Column>) -> Result<NestedFile, ParquetError> {
        let fields = columns.iter().map(|column| schema(column.name, &column.shape, column.is_optional));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
            .set_statistics_enabled(EnabledStatistics::None)
            .set_created_by("benchwright".to_owned())
            .build();
        let file = SerializedFileWriter::new(fs::File::create_new(path)?, schema, Arc::new(properties))?;
        Ok(NestedFile { columns, file })
    }

    /// Writes rows, each with a cell for every column.
    pub(crate) fn group(&mut self, rows: &[Vec<Cell>]) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for (nth, column) in self.columns.iter().enumerate() {
            let mut into = Vec::new();
            leaves(&column.shape, column.is_optional, false, &mut into);
            for row in rows {
                let cell = row.get(nth).ok_or_else(|| other(column.name))?;
                let begin = Place { definition: 0, repetition: 0, lists: 0 };
                put(column.name, &column.shape, column.is_optional, cell, begin, &mut into)?;
            }
            for leaf in into {
                let Some(mut writer) = group.next_column()? else {
                    return Err(ParquetError::General("a column is missing".to_owned()));
                };
                let (is_optional, is_listed) = leaf.is_nested;
                let definitions = is_optional.then_some(&*leaf.definitions);
                let repetitions = is_listed.then_some(&*leaf.repetitions);
                match &leaf.values {
                    Values::Text(values) => {
                        writer.typed::<ByteArrayType>().write_batch(values, definitions, repetitions)?
                    }
                    Values::Number(values) => {
                        writer.typed::<DoubleType>().write_batch(values, definitions, repetitions)?
                    }
                    Values::Truth(values) => {
                        writer.typed::<BoolType>().write_batch(values, definitions, repetitions)?
                    }
                };
                writer.close()?;
            }
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn finish(self) -> Result<(), ParquetError> {
        self.file.close().map(drop)
    }
}

/// The rows of a file, each as an object.
pub(crate) fn read(path: &Path) -> Result<Vec<Json>, ParquetError> {
    let file = SerializedFileReader::new(fs::File::open(path)?)?;
    file.into_iter().map(|row| Ok(object(&row?))).collect()
}

fn object(row: &Row) -> Json {
    row.get_column_iter().map(|(name, field)| (name.clone(), plain(field))).collect()
}

fn plain(field: &Field) -> Json {
    match field {
        Field::Null => Json::Null,
        Field::Bool(truth) => (*truth).into(),
        Field::Double(number) => (*number).into(),
        Field::Str(text) => text.clone().into(),
        Field::Group(row) => object(row),
        Field::ListInternal(list) => list.elements().iter().map(plain).collect(),
        // Nothing else is written here.
        other => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_in_records_in_lists_read_back_as_they_were_written() {
        let call = Shape::Record(vec![Column::new("name", Shape::Text), Column::maybe("note", Shape::Text)]);
        let said =
            Shape::Record(vec![Column::new("role", Shape::Text), Column::maybe("calls", Shape::List(Box::new(call)))]);
        let columns = vec![
            Column::new("said", Shape::List(Box::new(said))),
            Column::new("pay", Shape::Number),
            Column::maybe("cut", Shape::Truth),
        ];
        let text = |text: &str| Cell::Text(text.to_owned());
        let call = |name: &str, note: Cell| Cell::Record(vec![text(name), note]);
        let rows = vec![
            vec![
                Cell::List(vec![
                    Cell::Record(vec![text("user"), Cell::None]),
                    Cell::Record(vec![text("agent"), Cell::List(vec![call("a", Cell::None), call("b", text("é"))])]),
                    Cell::Record(vec![text("agent"), Cell::List(Vec::new())]),
                ]),
                Cell::Number(0.5),
                Cell::None,
            ],
            vec![Cell::List(Vec::new()), Cell::Number(1.0), Cell::Truth(true)],
        ];
        let path = std::env::temp_dir().join(format!("benchwright-nested-{}.parquet", std::process::id()));
        let _ = fs::remove_file(&path);
        let mut file = NestedFile::create(&path, "test", columns.clone()).unwrap();
        file.group(&rows).unwrap();
        file.group(&rows[1..]).unwrap();
        assert!(file.group(&[vec![text("no list"), Cell::Number(1.0), Cell::None]]).is_err());
        drop(file);
        fs::remove_file(&path).unwrap();
        let mut file = NestedFile::create(&path, "test", columns).unwrap();
        file.group(&rows).unwrap();
        file.group(&rows[1..]).unwrap();
        file.finish().unwrap();
        let read = read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let calls = json!([{ "name": "a", "note": null }, { "name": "b", "note": "é" }]);
        let said = json!([
            { "role": "user", "calls": null }, { "role": "agent", "calls": calls }, { "role": "agent", "calls": [] },
        ]);
        let second = json!({ "said": [], "pay": 1.0, "cut": true });
        assert_eq!(read, [json!({ "said": said, "pay": 0.5, "cut": null }), second.clone(), second]);
    }
}
