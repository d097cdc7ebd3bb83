//! What can be wrong with the files of results.

use std::io;

use thiserror::Error;

/// Why results cannot be read.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// The folder has no results.
    #[error(
        "{folder}: no results are here; expected a folder with summary.json (evenkeel run --out), \
         with results.csv (evenkeel sweep --out) or with the tables NAME.csv of studies (evenkeel \
         reproduce --out)"
    )]
    NoResults {
        /// Path of the folder.
        folder: String,
    },
    /// A file cannot be read.
    #[error("{file}: cannot be read: {reason}{hint}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// The error of the system.
        reason: io::Error,
        /// What writes such a file, if it is missing.
        hint: &'static str,
    },
    /// A line of a table is not a record.
    #[error("{file}:{line}: {reason}; expected a line of {columns} values separated by commas")]
    Record {
        /// Path of the file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
        /// How many columns the table has.
        columns: usize,
    },
    /// A table has no such column.
    #[error("{file}:{line}: no column is called '{column}'; the columns are {known}")]
    NoColumn {
        /// Path of the file.
        file: String,
        /// The line with the names of the columns, from 1.
        line: u64,
        /// The name.
        column: String,
        /// The names that there are.
        known: String,
    },
    /// A value of a table is not what its column holds.
    #[error("{file}:{line}: column {column} ({name}): '{value}' is not {expected}")]
    Value {
        /// Path of the file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: usize,
        /// The column's name.
        name: String,
        /// The value.
        value: String,
        /// What would be right, with an example.
        expected: &'static str,
    },
    /// A file is not JSON.
    #[error("{file}:{line}:{column}: invalid JSON: {reason}")]
    Json {
        /// Path of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// A summary has no such key, or something else is its value.
    #[error("{file}: '{key}' is {found}; expected {expected}, as evenkeel run --out writes it")]
    Key {
        /// Path of the file.
        file: String,
        /// The key.
        key: String,
        /// What is there.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A file and the summary in its folder are of different runs, or the file lacks rows.
    #[error(
        "{file}: it has {found}, where the summary.json beside it has {expected}: rows are \
         missing, or the files are of different runs"
    )]
    OtherRun {
        /// Path of the file.
        file: String,
        /// The value in the file.
        found: String,
        /// The value in the summary.
        expected: String,
    },
    /// The columns of a table are not in the order in which they were written.
    #[error(
        "{file}: its columns are in another order; expected swept keys, seed, cct_ns and the other \
         metrics, as evenkeel sweep writes them: names alone do not tell keys from metrics"
    )]
    Order {
        /// Path of the file.
        file: String,
    },
    /// The scenario beside the results cannot be resolved.
    #[error("{0}")]
    Scenario(String),
}

impl ResultsError {
    /// A file that the system does not let us read.
    pub(super) fn unreadable(file: &std::path::Path, reason: io::Error) -> Self {
        let hint = match reason.kind() {
            io::ErrorKind::NotFound => missing(file),
            _ => "",
        };
        Self::Unreadable { file: file.display().to_string(), reason, hint }
    }
}

/// What writes the file that is missing.
fn missing(file: &std::path::Path) -> &'static str {
    match file.file_name().and_then(|name| name.to_str()) {
        Some("flows.csv" | "links.csv" | "summary.json" | "scenario.toml") => {
            "; evenkeel run --out writes it"
        }
        Some("ports.csv" | "queue_pairs.csv" | "paths.csv") => {
            "; a run of a scenario with [record] writes it (docs/recording.md)"
        }
        _ => "",
    }
}
