//! Tables of results in Arrow's memory format, which other libraries import without a copy (the
//! PyCapsule protocol of the Arrow project).

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyType};

use super::failure::{self, Failure};
use evenkeel::record::unescape_csv;
use evenkeel::report::{Cell, CellKind};
use evenkeel::units::Span;

/// A table of results. Its columns are those of the CSV file of the same name.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
#[derive(Debug, Clone)]
pub(super) struct Table {
    batch: RecordBatch,
}

/// A column that is being filled.
#[derive(Debug)]
pub(super) enum Column {
    /// Whole numbers.
    Whole(Int64Builder),
    /// Other numbers, such as times in nanoseconds.
    Number(Float64Builder),
    /// Names.
    Text(StringBuilder),
}

impl Column {
    pub(super) fn whole() -> Self {
        Self::Whole(Int64Builder::new())
    }

    pub(super) fn number() -> Self {
        Self::Number(Float64Builder::new())
    }

    pub(super) fn text() -> Self {
        Self::Text(StringBuilder::new())
    }

    /// Appends a value as CSV writes it; an empty one is missing.
    pub(super) fn push_text(&mut self, value: &str) {
        match self {
            Self::Whole(column) => column.append_option(value.parse::<i64>().ok()),
            Self::Number(column) => column.append_option(value.parse::<f64>().ok()),
            Self::Text(column) => column.append_value(value),
        }
    }

    fn of_kind(kind: CellKind) -> Self {
        match kind {
            CellKind::Whole => Self::whole(),
            CellKind::Text => Self::text(),
            CellKind::Time => Self::number(),
        }
    }

    /// Appends a cell of the column's kind. Times are in nanoseconds.
    fn push(&mut self, cell: &Cell<'_>) {
        match (self, cell) {
            (Self::Whole(column), Cell::Whole(number)) => {
                column.append_option(number.map(|it| i64::try_from(it).unwrap_or(i64::MAX)));
            }
            (Self::Number(column), Cell::Time(ps)) => {
                column.append_option(ps.map(|ps| Span::from_ps(ps).as_ns_f64()));
            }
            (Self::Text(column), Cell::Text(text)) => column.append_value(text),
            (column, cell) => unreachable!("{cell:?} in {column:?}"),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Whole(mut column) => Arc::new(column.finish()),
            Self::Number(mut column) => Arc::new(column.finish()),
            Self::Text(mut column) => Arc::new(column.finish()),
        }
    }
}

impl Table {
    /// Creates a table of these columns, which must be equally long.
    pub(super) fn new(columns: Vec<(&str, Column)>) -> Self {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (name, column) in columns {
            let array = column.finish();
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        Self { batch: batch.expect("the columns of a table are equally long") }
    }

    /// Returns a table of typed rows.
    pub(super) fn of_rows<'a, const N: usize>(
        columns: &[(&str, CellKind)],
        rows: impl Iterator<Item = [Cell<'a>; N]>,
    ) -> Self {
        let mut filled: Vec<Column> = columns.iter().map(|(_, it)| Column::of_kind(*it)).collect();
        for row in rows {
            filled.iter_mut().zip(&row).for_each(|(column, cell)| column.push(cell));
        }
        Self::new(columns.iter().map(|(name, _)| *name).zip(filled).collect())
    }

    /// Reads a table from CSV with a header line, after comment lines that start with `#`.
    pub(super) fn of_csv(text: &[u8]) -> Result<Self, csv::Error> {
        Self::of_csv_with(text, &[])
    }

    /// Reads a table from CSV. Columns that are not `known` have the type of their values.
    pub(super) fn of_csv_with(text: &[u8], known: &[(&str, CellKind)]) -> Result<Self, csv::Error> {
        let reader = || csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text);
        let names = reader().headers()?.clone();
        let known = |name: &str| known.iter().find(|(it, _)| *it == name);
        let kind =
            |name: &str| known(name).map_or(Kind::of_name(name), |(_, it)| Kind::of_cell(*it));
        let mut kinds: Vec<Kind> = names.iter().map(kind).collect();
        for row in reader().records() {
            let row = row?;
            kinds
                .iter_mut()
                .zip(row.iter())
                .for_each(|(kind, value)| kind.widen(unescape_csv(value)));
        }
        let mut columns: Vec<Column> = kinds.into_iter().map(Kind::column).collect();
        for row in reader().records() {
            let row = row?;
            let values = row.iter().map(unescape_csv);
            columns.iter_mut().zip(values).for_each(|(column, value)| column.push_text(value));
        }
        Ok(Self::new(names.iter().zip(columns).collect()))
    }
}

/// The type of a CSV column, inferred from the values so far. Later kinds include earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Unknown,
    Whole,
    Number,
    Text,
}

impl Kind {
    /// Returns the kind for names whose type must not depend on the values.
    fn of_name(name: &str) -> Self {
        match name {
            "src" | "dst" | "from" | "to" | "link" | "rail" | "what" | "policy" | "metric"
            | "reference" | "verdict" | "error" | "run" => Self::Text,
            "utilisation" | "mean" | "median" | "low" | "high" | "coverage" | "ratio"
            | "ratio_low" | "ratio_high" | "slowdown" => Self::Number,
            _ if name.ends_with("_ns") || name.contains("_ns.") || name.ends_with("_mean") => {
                Self::Number
            }
            _ => Self::Unknown,
        }
    }

    fn of_cell(kind: CellKind) -> Self {
        match kind {
            CellKind::Whole => Self::Whole,
            CellKind::Time => Self::Number,
            CellKind::Text => Self::Text,
        }
    }

    fn widen(&mut self, value: &str) {
        let of_value = match value {
            "" => Self::Unknown,
            _ if value.parse::<i64>().is_ok() => Self::Whole,
            _ if value.parse::<f64>().is_ok() => Self::Number,
            _ => Self::Text,
        };
        *self = of_value.max(*self);
    }

    fn column(self) -> Column {
        match self {
            Self::Unknown | Self::Whole => Column::whole(),
            Self::Number => Column::number(),
            Self::Text => Column::text(),
        }
    }
}

/// Columns of a pickled table: name, type and values as CSV.
type Pickled = Vec<(String, String)>;

/// The class, and its arguments.
type Reduced<'py> = (Bound<'py, PyType>, (Pickled, Cow<'static, [u8]>));

#[pymethods]
impl Table {
    /// Creates a table from its pickled form: the names and types of columns, and CSV.
    #[new]
    fn unpickle(py: Python<'_>, columns: Pickled, csv: &[u8]) -> PyResult<Self> {
        let column = |kind: &str| match kind {
            "Int64" => Column::whole(),
            "Float64" => Column::number(),
            _ => Column::text(),
        };
        let invalid = |reason: String| Failure::Argument(format!("Table: {reason}")).raise(py);
        if columns.is_empty() {
            return Err(invalid("no columns; expected names and types of columns".to_owned()));
        }
        let mut filled: Vec<Column> = columns.iter().map(|(_, kind)| column(kind)).collect();
        let mut builder = csv::ReaderBuilder::new();
        let mut reader = builder.has_headers(false).flexible(true).from_reader(csv);
        for (index, row) in reader.records().enumerate() {
            let row = row.map_err(|error| failure::results(error).raise(py))?;
            if row.len() != filled.len() {
                let (row, values, expected) = (index + 1, row.len(), filled.len());
                let reason = format!("row {row}: {values} values; expected {expected}");
                return Err(invalid(reason));
            }
            filled.iter_mut().zip(&row).for_each(|(column, value)| column.push_text(value));
        }
        let names = columns.iter().map(|(name, _)| name.as_str());
        Ok(Self::new(names.zip(filled).collect()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let table = slf.get();
        let columns = table.batch.schema().fields().iter().map(pickled_column).collect();
        let csv = table.csv().map_err(|error| failure::results(error).raise(slf.py()))?;
        Ok((slf.get_type(), (columns, Cow::Owned(csv))))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Types of the columns: `int64`, `float64` or `str`.
    #[getter]
    fn column_types(&self) -> Vec<&'static str> {
        let schema = self.batch.schema();
        let of = |field: &Arc<Field>| match field.data_type() {
            DataType::Int64 => "int64",
            DataType::Float64 => "float64",
            _ => "str",
        };
        schema.fields().iter().map(of).collect()
    }

    /// Returns a data frame of pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("evenkeel._frames")?.call_method1("to_pandas", (slf,))
    }

    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Returns the values of a column as a list; a missing one is None.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let Some(column) = self.batch.column_by_name(name) else {
            let names = self.column_names().join(", ");
            let reason = format!("the table has no column '{name}'; it has {names}");
            return Err(PyKeyError::new_err(reason));
        };
        values(py, column)
    }

    /// Returns every column as a list, by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            all.set_item(field.name(), values(py, column)?)?;
        }
        Ok(all)
    }

    /// Arrow's PyCapsule protocol: returns the types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref());
        let schema = schema.map_err(|error| failure::results(error).raise(py))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Arrow's PyCapsule protocol: returns the columns without a copy.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer ignore the request for other types.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        let columns = self.column_names().join(", ");
        format!("<evenkeel.Table of {} rows: {columns}>", self.batch.num_rows())
    }
}

fn pickled_column(field: &Arc<Field>) -> (String, String) {
    (field.name().clone(), field.data_type().to_string())
}

impl Table {
    /// Formats the rows as CSV, without column names. Numbers are read back exactly.
    fn csv(&self) -> Result<Vec<u8>, csv::Error> {
        // One column of empty texts would be empty lines, which a reader skips: quote every cell.
        let quoted = csv::QuoteStyle::Always;
        let mut csv = csv::WriterBuilder::new().quote_style(quoted).from_writer(Vec::new());
        for row in 0..self.batch.num_rows() {
            for column in self.batch.columns() {
                csv.write_field(cell(column, row))?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
        csv.into_inner().map_err(|error| error.into_error().into())
    }
}

/// Formats a value; a missing one is empty.
fn cell(column: &ArrayRef, row: usize) -> String {
    match column.data_type() {
        _ if column.is_null(row) => String::new(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        _ => column.as_string::<i32>().value(row).to_owned(),
    }
}

fn values<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    // `PyList::new` needs an iterator of known length, so each type has a separate arm.
    match column.data_type() {
        DataType::Int64 => PyList::new(py, column.as_primitive::<Int64Type>()),
        DataType::Float64 => PyList::new(py, column.as_primitive::<Float64Type>()),
        _ => PyList::new(py, column.as_string::<i32>()),
    }
}
