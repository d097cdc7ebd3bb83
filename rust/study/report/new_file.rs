//! A new file that a user names.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use thiserror::Error;

/// Reason why a file is not written.
#[derive(Debug, Error)]
pub enum NewFileError {
    /// The file exists. It may be an input.
    #[error("{0}: the file exists")]
    Exists(String),
    /// A file system operation failed.
    #[error("{path}: cannot write: {reason}")]
    Failed {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        reason: io::Error,
    },
}

/// Writes a new file, and removes it if it cannot be written completely.
///
/// # Errors
/// Fails if the file exists, or if writing fails.
pub fn write_new(path: &Path, text: &str) -> Result<(), NewFileError> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| {
        let written = file.write_all(text.as_bytes());
        written.inspect_err(|_| drop(fs::remove_file(path)))
    });
    let shown = || path.display().to_string();
    written.map_err(|reason| match reason.kind() {
        ErrorKind::AlreadyExists => NewFileError::Exists(shown()),
        _ => NewFileError::Failed { path: shown(), reason },
    })
}
