//! Reasons why a folder cannot hold results.

use std::io;

use thiserror::Error;

/// A result's name is taken by something other than a regular file.
#[derive(Debug, Error)]
#[error(
    "--out {folder}: '{entry}' in it is {kind}, where a result would be written; expected a \
     regular file, or nothing: remove it, or use another folder"
)]
pub struct NotAFile {
    /// Path of the folder, as given to `--out`.
    pub folder: String,
    /// Name of the entry.
    pub entry: String,
    /// Kind of the entry.
    pub kind: &'static str,
}

/// Reason why a folder cannot hold results.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The folder holds a file that is not a result.
    #[error(
        "--out {folder}: the folder holds '{entry}', which is not a result of evenkeel; expected a \
         new folder, or one with earlier results, which are then replaced"
    )]
    ForeignFile {
        /// Path of the folder, as given to `--out`.
        folder: String,
        /// Name of the first such file, in alphabetical order.
        entry: String,
    },
    /// The folder holds results of another command.
    #[error(
        "--out {folder}: the folder holds the results of {found} ({mark}); expected a new folder, \
         or one with earlier results of {expected}, which are then replaced"
    )]
    OtherResults {
        /// Path of the folder, as given to `--out`.
        folder: String,
        /// Kind of the results in it.
        found: &'static str,
        /// File that identifies these results.
        mark: &'static str,
        /// Kind of the expected results.
        expected: &'static str,
    },
    /// A result's name is taken by something other than a regular file.
    #[error(transparent)]
    NotAFile(#[from] NotAFile),
    /// The path names a file.
    #[error("--out {folder}: this is a file; expected a folder, which need not exist yet")]
    IsFile {
        /// Path of the file, as given to `--out`.
        folder: String,
    },
    /// Another run has locked the folder.
    #[error(
        "--out {folder}: another run writes into this folder; wait for it, or use another folder"
    )]
    Locked {
        /// Path of the locked folder, as given to `--out`.
        folder: String,
    },
    /// A file system operation failed.
    #[error("--out {folder}: cannot {action}: {reason}")]
    Failed {
        /// Path of the folder, as given to `--out`.
        folder: String,
        /// Operation that failed, as a verb and its object.
        action: String,
        /// Error of the operating system.
        reason: io::Error,
    },
}
