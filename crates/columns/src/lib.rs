//! Flat tables: declared columns, rows that are added one by one, and the bytes of a Parquet file. What is written here is read by any
//! program that knows the format; what is read here must have the declared columns, and no more than was allowed for.
//!
//! ```
//! use benchwright_columns::{Cell, Column, Kind, Table};
//!
//! const COLUMNS: &[Column] = &[Column::new("trial", Kind::Whole), Column::maybe("refusal", Kind::Text)];
//! let mut table = Table::new(COLUMNS);
//! table.push(&[Cell::Whole(1), Cell::None]).expect("the cells fit the columns");
//! table.push(&[Cell::Whole(2), Cell::from("not_found")]).expect("the cells fit the columns");
//! let bytes = table.to_parquet("steps", &[("version", "1")]).expect("it is written to memory");
//! let (again, notes) = Table::from_parquet(bytes, COLUMNS, 1 << 20).expect("it reads back");
//! assert_eq!((again.whole(1, 0), again.text(0, 1), again.text(1, 1)), (Some(2), None, Some("not_found")));
//! assert_eq!(notes["version"], "1");
//! ```

use bytes::Bytes;
use parquet::{
    basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel},
    column::reader::ColumnReader,
    data_type::{BoolType, ByteArray, ByteArrayType, Int64Type},
    errors::ParquetError,
    file::{
        metadata::{KeyValue, RowGroupMetaData},
        properties::{EnabledStatistics, WriterProperties},
        reader::{FileReader as _, SerializedFileReader},
        writer::SerializedFileWriter,
    },
    schema::types::{ColumnPath, Type},
};
use std::{collections::BTreeMap, sync::Arc};

/// How hard the codec tries.
const LEVEL: i32 = 3;
/// Rows that are read at a time.
const BATCH: usize = 8_192;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Whole numbers.
    Whole,
    /// Whole numbers of which each is near the one before it.
    Rising,
    /// Yes or no.
    Truth,
    /// Text.
    Text,
    /// Text that is JSON.
    Json,
    /// Bytes.
    Bytes,
}

/// A column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    name: &'static str,
    kind: Kind,
    is_optional: bool,
}

impl Column {
    /// One that every row has.
    pub const fn new(name: &'static str, kind: Kind) -> Column {
        Column { name, kind, is_optional: false }
    }

    /// One that need not be there.
    pub const fn maybe(name: &'static str, kind: Kind) -> Column {
        Column { name, kind, is_optional: true }
    }

    fn schema(&self) -> Result<Arc<Type>, ParquetError> {
        let (physical, logical) = match self.kind {
            Kind::Whole | Kind::Rising => (Physical::INT64, None),
            Kind::Truth => (Physical::BOOLEAN, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Json => (Physical::BYTE_ARRAY, Some(LogicalType::Json)),
            Kind::Bytes => (Physical::BYTE_ARRAY, None),
        };
        let repetition = if self.is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let built = Type::primitive_type_builder(self.name, physical);
        built.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
    }
}

/// What stands in a column of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell<'a> {
    /// Nothing.
    None,
    /// A whole number.
    Whole(i64),
    /// Yes or no.
    Truth(bool),
    /// Text or bytes.
    Bytes(&'a [u8]),
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Cell<'a> {
        Cell::Bytes(text.as_bytes())
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Cell::Whole(number)
    }
}

impl From<bool> for Cell<'_> {
    fn from(truth: bool) -> Self {
        Cell::Truth(truth)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(cell: Option<T>) -> Cell<'a> {
        cell.map_or(Cell::None, Into::into)
    }
}

/// Why a table could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ColumnsError {
    /// The codec failed, or the file is none.
    #[error("this is not a table in Parquet: {0}")]
    Parquet(#[from] ParquetError),
    /// A cell does not fit its column.
    #[error("a cell does not fit the column `{0}`")]
    Cell(&'static str),
    /// The file lacks a column, or has it in another form.
    #[error("the table has no column `{0}` of the form that is expected")]
    Column(&'static str),
    /// It holds more than is read.
    #[error("the table holds {found} bytes; at most {most} are read")]
    TooLarge {
        /// How many the file says it has.
        found: u64,
        /// How many are read.
        most: u64,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Values {
    Whole(Vec<Option<i64>>),
    Truth(Vec<Option<bool>>),
    /// All bytes one after the other; where each cell ends, and whether it is there.
    Bytes(Vec<u8>, Vec<(usize, bool)>),
}

/// Rows by their columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    columns: &'static [Column],
    values: Vec<Values>,
    rows: usize,
    size: usize,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: &'static [Column]) -> Table {
        let values = |column: &Column| match column.kind {
            Kind::Whole | Kind::Rising => Values::Whole(Vec::new()),
            Kind::Truth => Values::Truth(Vec::new()),
            Kind::Text | Kind::Json | Kind::Bytes => Values::Bytes(Vec::new(), Vec::new()),
        };
        Table { columns, values: columns.iter().map(values).collect(), rows: 0, size: 0 }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// How many bytes its cells take before they are written.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Adds a row, with a cell for every column.
    pub fn push(&mut self, cells: &[Cell<'_>]) -> Result<(), ColumnsError> {
        // All are looked at before any is kept, so that a row is there or is not.
        for (at, column) in self.columns.iter().enumerate() {
            let fits = match (cells.get(at), column.kind) {
                (Some(Cell::None), _) => column.is_optional,
                (Some(Cell::Whole(_)), Kind::Whole | Kind::Rising) | (Some(Cell::Truth(_)), Kind::Truth) => true,
                (Some(Cell::Bytes(_)), Kind::Bytes) => true,
                (Some(Cell::Bytes(bytes)), Kind::Text | Kind::Json) => std::str::from_utf8(bytes).is_ok(),
                _ => false,
            };
            if !fits {
                return Err(ColumnsError::Cell(column.name));
            }
        }
        for (values, cell) in self.values.iter_mut().zip(cells) {
            match (values, *cell) {
                (Values::Whole(all), Cell::Whole(number)) => all.push(Some(number)),
                (Values::Whole(all), _) => all.push(None),
                (Values::Truth(all), Cell::Truth(truth)) => all.push(Some(truth)),
                (Values::Truth(all), _) => all.push(None),
                (Values::Bytes(all, ends), cell) => {
                    if let Cell::Bytes(bytes) = cell {
                        all.extend_from_slice(bytes);
                        self.size += bytes.len();
                    }
                    ends.push((all.len(), cell != Cell::None));
                }
            }
            self.size += 8;
        }
        self.rows += 1;
        Ok(())
    }

    /// The number in a row and column, from 0.
    pub fn whole(&self, row: usize, column: usize) -> Option<i64> {
        match self.values.get(column)? {
            Values::Whole(all) => all.get(row).copied().flatten(),
            _ => None,
        }
    }

    /// Yes or no in a row and column, from 0.
    pub fn truth(&self, row: usize, column: usize) -> Option<bool> {
        match self.values.get(column)? {
            Values::Truth(all) => all.get(row).copied().flatten(),
            _ => None,
        }
    }

    /// The bytes in a row and column, from 0.
    pub fn bytes(&self, row: usize, column: usize) -> Option<&[u8]> {
        let Values::Bytes(all, ends) = self.values.get(column)? else { return None };
        let (end, is_there) = *ends.get(row)?;
        let begin = row.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |(end, _)| *end);
        all.get(begin..end).filter(|_| is_there)
    }

    /// The text in a row and column, from 0.
    pub fn text(&self, row: usize, column: usize) -> Option<&str> {
        std::str::from_utf8(self.bytes(row, column)?).ok()
    }

    /// The bytes of a Parquet file with these rows, with notes by name. The same rows and notes give the same bytes.
    pub fn to_parquet(&self, name: &str, notes: &[(&str, &str)]) -> Result<Vec<u8>, ColumnsError> {
        let fields = self.columns.iter().map(Column::schema).collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
        let notes = notes.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned())).collect();
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(notes))
            .set_created_by("benchwright".to_owned());
        for column in self.columns.iter().filter(|column| column.kind == Kind::Rising) {
            let path = ColumnPath::from(column.name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
        let mut group = file.next_row_group()?;
        for (column, values) in self.columns.iter().zip(&self.values) {
            let Some(mut writer) = group.next_column()? else { return Err(ColumnsError::Column(column.name)) };
            let levels: Vec<i16>;
            match values {
                Values::Whole(all) => {
                    levels = all.iter().map(|cell| i16::from(cell.is_some())).collect();
                    let there: Vec<i64> = all.iter().flatten().copied().collect();
                    let levels = column.is_optional.then_some(&*levels);
                    writer.typed::<Int64Type>().write_batch(&there, levels, None)?;
                }
                Values::Truth(all) => {
                    levels = all.iter().map(|cell| i16::from(cell.is_some())).collect();
                    let there: Vec<bool> = all.iter().flatten().copied().collect();
                    let levels = column.is_optional.then_some(&*levels);
                    writer.typed::<BoolType>().write_batch(&there, levels, None)?;
                }
                Values::Bytes(all, ends) => {
                    levels = ends.iter().map(|(_, is_there)| i16::from(*is_there)).collect();
                    let shared = Bytes::copy_from_slice(all);
                    let mut begin = 0;
                    let mut there = Vec::with_capacity(ends.len());
                    for (end, is_there) in ends {
                        if *is_there {
                            there.push(ByteArray::from(shared.slice(begin..*end)));
                        }
                        begin = *end;
                    }
                    let levels = column.is_optional.then_some(&*levels);
                    writer.typed::<ByteArrayType>().write_batch(&there, levels, None)?;
                }
            }
            writer.close()?;
        }
        group.close()?;
        Ok(file.into_inner()?)
    }

    /// Reads a table with these columns, others may stand beside them, and its notes. It may unpack to so many bytes.
    pub fn from_parquet(
        bytes: Vec<u8>,
        columns: &'static [Column],
        most: u64,
    ) -> Result<(Table, BTreeMap<String, String>), ColumnsError> {
        Table::from_parquet_without(bytes, columns, &[], most)
    }

    /// The same for who does not need the cells of some columns, by their places: they are not unpacked, and nothing is in them.
    pub fn from_parquet_without(
        bytes: Vec<u8>,
        columns: &'static [Column],
        without: &[usize],
        most: u64,
    ) -> Result<(Table, BTreeMap<String, String>), ColumnsError> {
        let file = SerializedFileReader::new(Bytes::from(bytes))?;
        let metadata = file.metadata().file_metadata();
        let notes = metadata.key_value_metadata().into_iter().flatten();
        let notes = notes.map(|note| (note.key.clone(), note.value.clone().unwrap_or_default())).collect();
        let mut table = Table::new(columns);
        let groups = file.metadata().row_groups();
        let sum = |of: fn(&RowGroupMetaData) -> i64| {
            let sizes = groups.iter().map(|group| u64::try_from(of(group)).unwrap_or(u64::MAX));
            sizes.fold(0, u64::saturating_add)
        };
        let (found, rows) = (sum(RowGroupMetaData::total_byte_size), sum(RowGroupMetaData::num_rows));
        // A row of which nothing is kept takes no bytes in the file, and some in memory.
        let found = found.max(rows);
        if found > most {
            return Err(ColumnsError::TooLarge { found, most });
        }
        for group in 0..groups.len() {
            let group = file.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            let schema = group.metadata().schema_descr_ptr();
            for (place, (column, values)) in columns.iter().zip(&mut table.values).enumerate() {
                let wanted = column.schema()?;
                let at = schema.columns().iter().position(|found| *found.self_type() == *wanted);
                let at = at.ok_or(ColumnsError::Column(column.name))?;
                if !without.contains(&place) {
                    read_column(column, group.get_column_reader(at)?, rows, values)?;
                }
            }
            table.rows += rows;
        }
        Ok((table, notes))
    }
}

/// Reads a column of a group of rows: as many cells as the group has rows, or it is an error.
fn read_column(column: &Column, reader: ColumnReader, rows: usize, into: &mut Values) -> Result<(), ColumnsError> {
    let mut seen = 0;
    macro_rules! cells {
        ($reader:expr, $keep:expr) => {{
            let mut reader = $reader;
            while seen < rows {
                let (mut levels, mut there) = (Vec::new(), Vec::new());
                let wanted = BATCH.min(rows - seen);
                let defined = column.is_optional.then_some(&mut levels);
                let (read, ..) = reader.read_records(wanted, defined, None, &mut there)?;
                if read == 0 || (!column.is_optional && there.len() != read) {
                    return Err(ColumnsError::Column(column.name));
                }
                let mut there = there.into_iter();
                for at in 0..read {
                    let is_there = !column.is_optional || levels.get(at) == Some(&1);
                    let cell =
                        if is_there { Some(there.next().ok_or(ColumnsError::Column(column.name))?) } else { None };
                    $keep(cell)?;
                }
                seen += read;
            }
        }};
    }
    match (reader, into) {
        (ColumnReader::Int64ColumnReader(reader), Values::Whole(all)) => {
            cells!(reader, |cell: Option<i64>| {
                all.push(cell);
                Ok::<(), ColumnsError>(())
            });
        }
        (ColumnReader::BoolColumnReader(reader), Values::Truth(all)) => {
            cells!(reader, |cell: Option<bool>| {
                all.push(cell);
                Ok::<(), ColumnsError>(())
            });
        }
        (ColumnReader::ByteArrayColumnReader(reader), Values::Bytes(all, ends)) => {
            cells!(reader, |cell: Option<ByteArray>| {
                if let Some(bytes) = &cell {
                    if column.kind != Kind::Bytes && std::str::from_utf8(bytes.data()).is_err() {
                        return Err(ColumnsError::Cell(column.name));
                    }
                    all.extend_from_slice(bytes.data());
                }
                ends.push((all.len(), cell.is_some()));
                Ok::<(), ColumnsError>(())
            });
        }
        _ => return Err(ColumnsError::Column(column.name)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column::new("number", Kind::Rising),
        Column::maybe("count", Kind::Whole),
        Column::maybe("pass", Kind::Truth),
        Column::new("tool", Kind::Text),
        Column::maybe("state", Kind::Bytes),
    ];

    fn table(rows: i64) -> Table {
        let mut table = Table::new(COLUMNS);
        for row in 0..rows {
            let tool = format!("tool-{}", row % 7);
            let state = [row as u8, 0xff];
            let cells = [
                Cell::Whole(row),
                (row % 3 == 0).then_some(row * 1_000).into(),
                (row % 2 == 0).then_some(row % 4 == 0).into(),
                Cell::from(&*tool),
                if row % 5 == 0 { Cell::Bytes(&state) } else { Cell::None },
            ];
            table.push(&cells).unwrap();
        }
        table
    }

    #[test]
    fn tables_read_back_and_the_same_rows_are_the_same_bytes() {
        for rows in [0, 1, 20_000] {
            let table = table(rows);
            let bytes = table.to_parquet("test", &[("a", "b")]).unwrap();
            assert_eq!(table.to_parquet("test", &[("a", "b")]).unwrap(), bytes);
            let (again, notes) = Table::from_parquet(bytes.clone(), COLUMNS, 1 << 30).unwrap();
            assert_eq!(again.values, table.values);
            assert_eq!((again.len(), &*notes["a"]), (table.len(), "b"));
            let (some, _) = Table::from_parquet_without(bytes, COLUMNS, &[0, 3], 1 << 30).unwrap();
            let last = table.len().saturating_sub(1);
            assert_eq!((some.len(), some.whole(last, 0), some.text(last, 3)), (table.len(), None, None));
            assert_eq!((some.whole(last, 1), some.bytes(0, 4)), (table.whole(last, 1), table.bytes(0, 4)));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut table = table(2);
        let fits = [Cell::Whole(1), Cell::None, Cell::None, Cell::from("x"), Cell::None];
        assert!(table.push(&fits).is_ok());
        assert!(table.push(&fits[..4]).is_err(), "a cell is missing");
        assert!(table.push(&[Cell::None, Cell::None, Cell::None, Cell::from("x"), Cell::None]).is_err());
        assert!(table.push(&[Cell::Whole(1), Cell::None, Cell::None, Cell::Bytes(&[0xff]), Cell::None]).is_err());
        assert_eq!((table.len(), table.whole(2, 0), table.text(2, 3)), (3, Some(1), Some("x")));
        let bytes = table.to_parquet("test", &[]).unwrap();
        assert!(matches!(Table::from_parquet(bytes.clone(), COLUMNS, 10), Err(ColumnsError::TooLarge { .. })));
        const OTHER: &[Column] = &[Column::maybe("number", Kind::Whole)];
        assert!(matches!(Table::from_parquet(bytes.clone(), OTHER, 1 << 20), Err(ColumnsError::Column("number"))));
        assert!(Table::from_parquet(bytes[..bytes.len() / 2].to_vec(), COLUMNS, 1 << 20).is_err());
        assert!(Table::from_parquet(b"PAR1".to_vec(), COLUMNS, 1 << 20).is_err());
    }
}
