//! Folder of a sweep: a copy of the study, the log of finished runs, and the results.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::SweepTable;
use crate::report::{TEMPORARY, TemporaryFile};
use crate::reproduce::{RunLog, StudyError};
use crate::text_file::{read_description, regular_file};

/// Copy of the study's file, which marks the folder of a sweep.
const STUDY: &str = "study.toml";
/// Results, which appear when the last run has ended.
const RESULTS: &str = "results.csv";
#[cfg(feature = "parquet")]
const PARQUET: &str = "results.parquet";
/// Stem of the log of finished runs, `sweep.runs.jsonl`.
const LOG: &str = "sweep";

/// A folder that holds a sweep. A lock excludes other processes until this value is dropped or the
/// process ends for any reason.
#[derive(Debug)]
pub struct SweepFolder {
    path: PathBuf,
    #[cfg(unix)]
    _lock: Option<nix::fcntl::Flock<fs::File>>,
}

/// Reason why a folder cannot hold a sweep.
#[derive(Debug, Error)]
pub enum SweepFolderError {
    /// The folder has files but no sweep.
    #[error(
        "{folder}: the folder holds '{entry}' but no {STUDY}, so it is not a sweep's folder; \
         expected a new folder, or one of an earlier start, which is then resumed"
    )]
    Foreign {
        /// Path of the folder.
        folder: String,
        /// Name of its first file, in alphabetical order.
        entry: String,
    },
    /// Another process has locked the folder.
    #[error("{folder}: another sweep writes into this folder; wait for it, or use another folder")]
    Locked {
        /// Path of the folder.
        folder: String,
    },
    /// A file system operation failed.
    #[error("{folder}: cannot {action}: {reason}")]
    Failed {
        /// Path of the folder.
        folder: String,
        /// Operation that failed, as a verb and its object.
        action: String,
        /// Error of the operating system.
        reason: io::Error,
    },
}

impl SweepFolder {
    /// Creates the folder if it does not exist, locks it, and writes the study's text into it.
    ///
    /// # Errors
    /// Fails if the folder has other files, if another sweep has locked it, or if it cannot be
    /// written.
    pub fn open(path: &Path, study: &str) -> Result<Self, SweepFolderError> {
        let failed = |action: &str, reason| failed(path, action, reason);
        fs::create_dir_all(path).map_err(|reason| failed("create the folder", reason))?;
        let folder = Self {
            path: path.to_owned(),
            #[cfg(unix)]
            _lock: lock(path)?,
        };
        let entries = fs::read_dir(path).and_then(|entries| {
            let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name());
            entries.map(name).collect::<io::Result<Vec<_>>>()
        });
        let entries = entries.map_err(|reason| failed("read the folder", reason))?;
        let names = entries.iter().map(|name| name.to_string_lossy().into_owned());
        // A killed process leaves temporary files. The lock ensures that they are not in use.
        let (left, names): (Vec<_>, Vec<_>) = names.partition(|name| name.starts_with(TEMPORARY));
        for name in left {
            let removed = fs::remove_file(path.join(&name));
            removed.map_err(|reason| failed(&format!("remove {name}"), reason))?;
        }
        let first = names.into_iter().min();
        if let Some(entry) = first.filter(|_| !path.join(STUDY).exists()) {
            return Err(SweepFolderError::Foreign { folder: path.display().to_string(), entry });
        }
        folder.expect_files()?;
        let before = read_description(&path.join(STUDY)).unwrap_or_default();
        if before != study {
            folder.write(STUDY, study.as_bytes())?;
        }
        Ok(folder)
    }

    /// Rejects entries with the names of the sweep's files that are not regular files.
    fn expect_files(&self) -> Result<(), SweepFolderError> {
        let log = format!("{LOG}.runs.jsonl");
        for name in [STUDY, &log].into_iter().chain(self.results()) {
            match regular_file(&self.path.join(name)) {
                Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(&self.path, &format!("use {name}"), reason));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the text of the copy of the study in a folder.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is not a regular file, or is too long for a study.
    pub fn study_text(path: &Path) -> io::Result<String> {
        let study = Self::study(path);
        regular_file(&study).and_then(|_| read_description(&study))
    }

    /// Returns the path of the copy of the study in a folder.
    pub fn study(path: &Path) -> PathBuf {
        path.join(STUDY)
    }

    /// Opens the log of finished runs in a folder.
    ///
    /// # Errors
    /// Fails if a line is not the result of a run, or if the log cannot be read.
    pub fn log(path: &Path) -> Result<RunLog, StudyError> {
        RunLog::resumed(path, LOG)
    }

    /// Reads the log of finished runs in the folder of another process, without changing it.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::log`].
    pub fn read_log(path: &Path) -> Result<RunLog, StudyError> {
        RunLog::read_only(path, LOG)
    }

    /// Replaces the log of finished runs; it appears complete or not at all.
    ///
    /// # Errors
    /// Fails if a file system operation fails.
    pub fn write_log(&self, lines: &str) -> Result<(), SweepFolderError> {
        self.write(&format!("{LOG}.runs.jsonl"), lines.as_bytes())
    }

    /// Removes the results of an earlier start, before runs are added.
    ///
    /// # Errors
    /// Fails if a file system operation fails.
    pub fn remove_results(&self) -> Result<(), SweepFolderError> {
        for name in self.results() {
            match fs::remove_file(self.path.join(name)) {
                Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(&self.path, &format!("remove the old {name}"), reason));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the names of the files that [`Self::write_results`] writes.
    pub fn results(&self) -> Vec<&'static str> {
        vec![
            RESULTS,
            #[cfg(feature = "parquet")]
            PARQUET,
        ]
    }

    /// Writes the results; each file appears complete or not at all.
    ///
    /// # Errors
    /// Fails if a file system operation fails.
    pub fn write_results(&self, table: &SweepTable) -> Result<(), SweepFolderError> {
        let csv = table.csv();
        let csv = csv.map_err(|reason| failed(&self.path, "write the results", reason))?;
        #[cfg(feature = "parquet")]
        {
            let bytes = super::parquet::bytes(table);
            let bytes = bytes.map_err(|reason| failed(&self.path, "write the results", reason))?;
            self.write(PARQUET, &bytes)?;
        }
        self.write(RESULTS, csv.as_bytes())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), SweepFolderError> {
        let write = || {
            let file = TemporaryFile::new_in(&self.path)?;
            file.as_file().write_all(bytes)?;
            file.persist(&self.path.join(name))
        };
        write().map_err(|reason| failed(&self.path, &format!("write {name}"), reason))
    }
}

fn failed(folder: &Path, action: &str, reason: io::Error) -> SweepFolderError {
    let folder = folder.display().to_string();
    SweepFolderError::Failed { folder, action: action.to_owned(), reason }
}

/// Locks out other processes, if the file system supports locks.
#[cfg(unix)]
fn lock(path: &Path) -> Result<Option<nix::fcntl::Flock<fs::File>>, SweepFolderError> {
    use nix::errno::Errno;
    use nix::fcntl::{Flock, FlockArg};
    let folder = fs::File::open(path).map_err(|reason| failed(path, "read the folder", reason))?;
    match Flock::lock(folder, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => {
            Err(SweepFolderError::Locked { folder: path.display().to_string() })
        }
        Err(_) => Ok(None),
    }
}
