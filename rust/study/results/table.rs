//! CSV table that remembers the line numbers of its rows.

use std::path::Path;

use super::ResultsError;
use crate::record::unescape_csv;
use crate::text_file::read_results;

/// A table of results.
#[derive(Debug, Clone)]
pub struct Table {
    file: String,
    columns: Vec<String>,
    header_line: u64,
    rows: Vec<(u64, csv::StringRecord)>,
}

impl Table {
    /// Reads a table. Comment lines begin with `#`, and the first other line names the columns.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is longer than 4 GiB, or if a line has more or fewer
    /// values than columns.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let text = read_results(path);
        let text = text.map_err(|reason| ResultsError::unreadable(path, reason))?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Parses a table from a text.
    ///
    /// # Errors
    /// Fails if a line has more or fewer values than columns.
    pub fn parse(file: &str, text: &str) -> Result<Self, ResultsError> {
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes());
        // For the first record, the reader reports the line of the comments before it.
        let comments = text.lines().take_while(|line| line.starts_with('#')).count();
        let header_line = comments as u64 + 1;
        let (columns, rows) = (Vec::new(), Vec::new());
        let mut table = Self { file: file.to_owned(), columns, header_line, rows };
        for record in reader.records() {
            let record = record.map_err(|error| ResultsError::Record {
                file: file.to_owned(),
                line: error.position().map_or(1, csv::Position::line),
                reason: error.to_string(),
                columns: table.columns.len(),
            })?;
            let line = record.position().map_or(1, csv::Position::line);
            if table.columns.is_empty() {
                table.columns = record.iter().map(str::to_owned).collect();
                continue;
            }
            if record.len() != table.columns.len() {
                return Err(ResultsError::Record {
                    file: file.to_owned(),
                    line,
                    reason: format!("the line has {} values", record.len()),
                    columns: table.columns.len(),
                });
            }
            table.rows.push((line, record));
        }
        Ok(table)
    }

    /// Returns the path of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the index of the column of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Returns the index of a column.
    ///
    /// # Errors
    /// Fails if there is no column of that name.
    pub fn column(&self, name: &str) -> Result<usize, ResultsError> {
        self.find(name).ok_or_else(|| ResultsError::NoColumn {
            file: self.file.clone(),
            line: self.header_line,
            column: name.to_owned(),
            known: self.columns.join(", "),
        })
    }

    /// Returns the indices of several columns.
    ///
    /// # Errors
    /// Fails if there is no column of one of the names.
    pub fn indices<const N: usize>(&self, names: [&str; N]) -> Result<[usize; N], ResultsError> {
        let mut indices = [0; N];
        for (index, name) in indices.iter_mut().zip(names) {
            *index = self.column(name)?;
        }
        Ok(indices)
    }

    /// Returns a value as text.
    pub fn text(&self, row: usize, column: usize) -> &str {
        unescape_csv(self.rows[row].1.get(column).unwrap_or(""))
    }

    /// Returns an optional number; `None` if the cell is empty.
    ///
    /// # Errors
    /// Fails if the value is neither empty nor a finite number.
    pub fn optional_number(&self, row: usize, column: usize) -> Result<Option<f64>, ResultsError> {
        match self.text(row, column) {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Some(number)),
                _ => Err(self.invalid(row, column, "a number, such as 17056.94, or empty")),
            },
        }
    }

    /// Returns a required number.
    ///
    /// # Errors
    /// Fails if the value is not a finite number.
    pub fn number(&self, row: usize, column: usize) -> Result<f64, ResultsError> {
        self.optional_number(row, column)?
            .ok_or_else(|| self.invalid(row, column, "a number, such as 17056.94"))
    }

    fn invalid(&self, row: usize, column: usize, expected: &'static str) -> ResultsError {
        ResultsError::Value {
            file: self.file.clone(),
            line: self.rows[row].0,
            column: column + 1,
            name: self.columns[column].clone(),
            value: self.text(row, column).to_owned(),
            expected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# evenkeel 0.1.0 scenario=a policy=b seed=1\nname,fct_ns\na,1.5\nb,\nc,x\n";

    #[test]
    fn errors_name_line_and_column_and_the_expected_value() {
        let table = Table::parse("flows.csv", TEXT).unwrap();
        let [fct] = table.indices(["fct_ns"]).unwrap();
        assert_eq!(table.number(0, fct).unwrap(), 1.5);
        assert_eq!(table.optional_number(1, fct).unwrap(), None);
        let error = table.number(2, fct).unwrap_err().to_string();
        assert_eq!(
            error,
            "flows.csv:5: column 2 (fct_ns): 'x' is not a number, such as 17056.94, or empty"
        );
        let error = table.column("fct").unwrap_err().to_string();
        assert_eq!(error, "flows.csv:2: no column is called 'fct'; the columns are name, fct_ns");
        let error = Table::parse("a.csv", "a,b\n1,2\n3\n").unwrap_err().to_string();
        let expected = "expected a line of 2 values separated by commas";
        assert_eq!(error, format!("a.csv:3: the line has 1 values; {expected}"));
    }

    #[test]
    fn infinite_numbers_are_rejected() {
        let table = Table::parse("a.csv", "a\ninf\nNaN\n").unwrap();
        assert!(table.number(0, 0).is_err() && table.number(1, 0).is_err());
    }
}
