//! Errors in result files.

use std::io;

use thiserror::Error;

/// Reason why results cannot be read.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// The folder has no results.
    #[error(
        "{folder}: no results found; expected a folder with summary.json (evenkeel run --out), \
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
        /// Error of the operating system.
        reason: io::Error,
        /// Command that writes such a file, if it is missing.
        hint: &'static str,
    },
    /// A line of a table is not a record.
    #[error("{file}:{line}: {reason}; expected a line of {columns} values separated by commas")]
    Record {
        /// Path of the file.
        file: String,
        /// Line number, from 1.
        line: u64,
        /// Error of the line.
        reason: String,
        /// Number of columns of the table.
        columns: usize,
    },
    /// A table lacks a column.
    #[error("{file}:{line}: no column is called '{column}'; the columns are {known}")]
    NoColumn {
        /// Path of the file.
        file: String,
        /// Line with the column names, from 1.
        line: u64,
        /// Name of the missing column.
        column: String,
        /// Names of the existing columns.
        known: String,
    },
    /// A value of a table has the wrong type for its column.
    #[error("{file}:{line}: column {column} ({name}): '{value}' is not {expected}")]
    Value {
        /// Path of the file.
        file: String,
        /// Line number, from 1.
        line: u64,
        /// Column number, from 1.
        column: usize,
        /// Name of the column.
        name: String,
        /// The value as read.
        value: String,
        /// Expected value, with an example.
        expected: &'static str,
    },
    /// A file is not JSON.
    #[error("{file}:{line}:{column}: invalid JSON: {reason}")]
    Json {
        /// Path of the file.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// Column number, from 1.
        column: usize,
        /// Error of the parser.
        reason: String,
    },
    /// A summary lacks a key, or the key has a value of the wrong type.
    #[error("{file}: '{key}' is {found}; expected {expected}, as evenkeel run --out writes it")]
    Key {
        /// Path of the file.
        file: String,
        /// Path of the key.
        key: String,
        /// The value as found.
        found: String,
        /// Expected value.
        expected: &'static str,
    },
    /// A file and the summary in its folder belong to different runs, or the file lacks rows.
    #[error(
        "{file}: it has {found}, but the summary.json next to it has {expected}: rows are \
         missing, or the files are from different runs"
    )]
    OtherRun {
        /// Path of the file.
        file: String,
        /// Value in the file.
        found: String,
        /// Value in the summary.
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
    /// The results have no data for what was asked for.
    #[error("{0}")]
    Choice(String),
    /// The scenario next to the results cannot be resolved.
    #[error("{0}")]
    Scenario(String),
}

impl ResultsError {
    /// Returns the error for a file that the system cannot read.
    pub(super) fn unreadable(file: &std::path::Path, reason: io::Error) -> Self {
        let hint = match reason.kind() {
            io::ErrorKind::NotFound => missing(file),
            _ => "",
        };
        Self::Unreadable { file: file.display().to_string(), reason, hint }
    }
}

/// Returns which command writes the missing file.
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
