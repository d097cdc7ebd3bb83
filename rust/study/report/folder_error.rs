//! Why a folder cannot hold results.

use std::io;

use thiserror::Error;

/// Where a result would be written there is something that is no regular file.
#[derive(Debug, Error)]
#[error(
    "--out {folder}: '{entry}' in it is {kind}, where a result would be written; expected a \
     regular file or none: remove it, or use another folder"
)]
pub struct NotAFile {
    /// Path of the folder, as given to `--out`.
    pub folder: String,
    /// Its name.
    pub entry: String,
    /// What it is.
    pub kind: &'static str,
}

/// The reason why a folder cannot hold results.
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
        /// The first such file, by name.
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
        /// What its results are of.
        found: &'static str,
        /// The file that tells.
        mark: &'static str,
        /// What they should be of.
        expected: &'static str,
    },
    /// Where a result would be written there is something that is no regular file.
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
    /// An operation of the file system failed.
    #[error("--out {folder}: cannot {action}: {reason}")]
    Failed {
        /// Path of the folder, as given to `--out`.
        folder: String,
        /// The operation that failed, as a verb and its object.
        action: String,
        /// The error of the system.
        reason: io::Error,
    },
}
