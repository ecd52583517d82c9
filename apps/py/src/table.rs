//! Tables that other packages take as they are: columns in Arrow's memory form, handed over by a capsule, so that pandas, polars, duckdb
//! and pyarrow read them without a copy and without us knowing any of them.

use crate::error::said;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    ffi_stream::FFI_ArrowArrayStream,
};
use arrow_schema::ArrowError;
use pyo3::{prelude::*, types::PyCapsule};
use std::sync::Arc;

/// A table. Every package that speaks Arrow takes it: ``polars.DataFrame(table)``, ``pyarrow.table(table)``.
#[pyclass(frozen, module = "benchwright")]
pub(crate) struct Table(RecordBatch);

/// A column that is being filled.
pub(crate) enum Column {
    Text(Vec<Option<String>>),
    Whole(Vec<Option<i64>>),
    Share(Vec<Option<f64>>),
    Truth(Vec<Option<bool>>),
}

impl Column {
    fn array(self) -> ArrayRef {
        match self {
            Column::Text(cells) => Arc::new(StringArray::from(cells)),
            Column::Whole(cells) => Arc::new(Int64Array::from(cells)),
            Column::Share(cells) => Arc::new(Float64Array::from(cells)),
            Column::Truth(cells) => Arc::new(BooleanArray::from(cells)),
        }
    }
}

/// A column of what is there in every row.
pub(crate) fn texts(cells: impl Iterator<Item = impl Into<String>>) -> Column {
    Column::Text(cells.map(|cell| Some(cell.into())).collect())
}

/// A column of whole numbers that are there in every row.
pub(crate) fn wholes(cells: impl Iterator<Item = i64>) -> Column {
    Column::Whole(cells.map(Some).collect())
}

impl Table {
    /// A table of columns that have the same length.
    pub(crate) fn of(columns: Vec<(&str, Column)>) -> PyResult<Table> {
        let arrays = columns.into_iter().map(|(name, column)| (name, column.array(), true));
        let batch = RecordBatch::try_from_iter_with_nullable(arrays);
        Ok(Table(batch.map_err(|error| said(error.to_string()))?))
    }
}

#[pymethods]
impl Table {
    /// The names of its columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The table in Arrow's stream form. Another schema than its own may be asked for, and is not made.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let rows = [Ok::<_, ArrowError>(self.0.clone())].into_iter();
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(RecordBatchIterator::new(rows, self.0.schema()));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows: {})", self.0.num_rows(), self.columns().join(", "))
    }
}
