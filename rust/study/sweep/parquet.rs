//! Results of a sweep as a Parquet file: the columns of the CSV file, with types.

use std::io;
use std::sync::Arc;

use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{Type, TypePtr};
use serde_json::Value;

use super::SweepTable;
use crate::metrics::METRICS;
use crate::reproduce::reading;

/// A column: its name and its values.
struct Column {
    name: String,
    values: Values,
}

enum Values {
    Whole(Vec<i64>),
    Text(Vec<ByteArray>),
    /// Numbers; `None` if a run has no such number.
    Number(Vec<Option<f64>>),
}

/// Returns the content of the file.
pub(super) fn bytes(table: &SweepTable) -> io::Result<Vec<u8>> {
    write(&columns(table)).map_err(io::Error::other)
}

fn columns(table: &SweepTable) -> Vec<Column> {
    let rows = &table.rows;
    let whole = |name: &str, of: &dyn Fn(usize) -> i64| Column {
        name: name.to_owned(),
        values: Values::Whole((0..rows.len()).map(of).collect()),
    };
    let text = |name: &str, of: &dyn Fn(usize) -> String| Column {
        name: name.to_owned(),
        values: Values::Text((0..rows.len()).map(|row| of(row).as_str().into()).collect()),
    };
    let mut columns = vec![whole("point", &|row| rows[row].point as i64)];
    for (index, name) in table.labels().into_iter().enumerate() {
        columns.push(text(name, &|row| table.texts(&rows[row])[index].to_owned()));
    }
    // Seeds are unsigned 64-bit integers, which the schema declares.
    columns.push(whole("seed", &|row| rows[row].seed.cast_signed()));
    let numbers: Vec<Vec<(String, String)>> = rows
        .iter()
        .map(|row| reading::numbers(row.result.as_ref().unwrap_or(&Value::Null)))
        .collect();
    for (index, metric) in METRICS.iter().enumerate() {
        let values = numbers.iter().map(|row| row[index].1.parse().ok()).collect();
        columns.push(Column { name: metric.name.to_owned(), values: Values::Number(values) });
    }
    columns.push(text("error", &|row| rows[row].error()));
    columns
}

fn write(columns: &[Column]) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(field).collect::<Result<Vec<TypePtr>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("sweep").with_fields(fields).build()?);
    let properties = Arc::new(WriterProperties::builder().build());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, properties)?;
    let mut group = file.next_row_group()?;
    for column in columns {
        let mut writer = group.next_column()?.expect("the schema has every column");
        match &column.values {
            Values::Whole(values) => {
                writer.typed::<Int64Type>().write_batch(values, None, None)?;
            }
            Values::Text(values) => {
                writer.typed::<ByteArrayType>().write_batch(values, None, None)?;
            }
            Values::Number(values) => {
                let levels: Vec<i16> = values.iter().map(|it| i16::from(it.is_some())).collect();
                let values: Vec<f64> = values.iter().copied().flatten().collect();
                writer.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
            }
        }
        writer.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, repetition, logical) = match &column.values {
        Values::Whole(_) => {
            let logical = LogicalType::integer(64, false);
            (Physical::INT64, Repetition::REQUIRED, Some(logical))
        }
        Values::Text(_) => (Physical::BYTE_ARRAY, Repetition::REQUIRED, Some(LogicalType::String)),
        Values::Number(_) => (Physical::DOUBLE, Repetition::OPTIONAL, None),
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    let builder = builder.with_repetition(repetition).with_logical_type(logical);
    builder.build().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::{Field, Row};

    use super::super::SweepRow;
    use super::*;

    /// Reads the file back: names, values with their types, and cells without a number.
    #[test]
    fn parquet_files_read_back_as_written() {
        let row = |point, result| SweepRow {
            point,
            run: "a".to_owned(),
            keys: vec![("workload.bytes".to_owned(), format!("{point}MB"))],
            seed: u64::MAX,
            result,
        };
        let run = serde_json::json!({ "cct_ns": 0.1 + 0.2, "packets": { "sent": 7 } });
        let rows = vec![row(1, Ok(run)), row(2, Err("no such\nfile".to_owned()))];
        let keys = vec!["workload.bytes".to_owned()];
        let table = SweepTable { has_runs: false, keys, rows };
        let file = SerializedFileReader::new(bytes::Bytes::from(super::bytes(&table).unwrap()));
        let rows: Vec<Row> =
            file.unwrap().get_row_iter(None).unwrap().collect::<Result<_, _>>().unwrap();
        let cell = |row: usize, name: &str| {
            let mut cells = rows[row].get_column_iter();
            cells.find(|(known, _)| *known == name).unwrap().1.clone()
        };
        assert_eq!(rows.len(), 2);
        assert_eq!(cell(1, "point"), Field::ULong(2));
        assert_eq!(cell(0, "workload.bytes"), Field::Str("1MB".to_owned()));
        assert_eq!(cell(0, "seed"), Field::ULong(u64::MAX));
        assert_eq!(cell(0, "cct_ns"), Field::Double(0.1 + 0.2));
        assert_eq!(cell(0, "packets.sent"), Field::Double(7.0));
        assert_eq!((cell(0, "pfc_pauses"), cell(1, "cct_ns")), (Field::Null, Field::Null));
        assert_eq!(cell(0, "error"), Field::Str(String::new()));
        assert_eq!(cell(1, "error"), Field::Str("no such file".to_owned()));
        assert_eq!(rows[0].len(), table.labels().len() + METRICS.len() + 3);
    }
}
