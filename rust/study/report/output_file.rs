//! An output file that a user names. An existing file is replaced only if the same command wrote
//! it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::own_files::{is_character_device, not_a_file};
use super::temporary::TemporaryFile;

/// Number of leading bytes by which an earlier output is recognised.
const START: u64 = 1024;

/// Kind of an output file, and how an earlier one is recognised.
#[derive(Debug, Clone, Copy)]
pub struct OutputKind {
    /// Name of the kind, with its article: `a page`.
    pub name: &'static str,
    /// Returns true if a file that starts with these bytes (at most 1 KiB) was written by evenkeel.
    pub is_own: fn(&[u8]) -> bool,
}

impl OutputKind {
    /// A file in a format of another project, which does not tell who wrote it. Any regular file is
    /// replaced.
    pub const UNMARKED: Self = Self { name: "a file", is_own: |_| true };
}

/// Reason why a file is not written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The existing file was not written by evenkeel; it may be an input.
    #[error(
        "{path}: the file exists and is not {kind} that evenkeel wrote, so it is not \
         replaced; move it, or use another name"
    )]
    Foreign {
        /// Path of the file.
        path: String,
        /// Kind of the output.
        kind: &'static str,
    },
    /// The existing file is an input of the command.
    #[error("{path}: the scenario reads this file, so it is not replaced; use another folder")]
    Input {
        /// Path of the file.
        path: String,
    },
    /// The path names neither a regular file nor a character device.
    #[error("{path}: this is {found}; expected a regular file, which need not exist yet")]
    NotAFile {
        /// Path of the file.
        path: String,
        /// Kind of the entry at the path, with its article.
        found: &'static str,
    },
    /// The folder holds a trace of a rank that the workload does not have.
    #[error(
        "{path} (or .et.gz) exists, but this workload has {ranks} ranks: a reader of the prefix \
         would read it as part of this workload; remove the old traces, or write to another folder"
    )]
    MoreRanks {
        /// Path of the trace.
        path: String,
        /// Number of ranks of the workload.
        ranks: u32,
    },
    /// A file system operation failed.
    #[error("{path}: cannot write: {reason}")]
    Failed {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        reason: io::Error,
    },
}

/// A file that is being written: it appears complete or not at all. A device such as `/dev/null` is
/// written to and not replaced.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    to: Destination,
}

#[derive(Debug)]
enum Destination {
    Temporary(TemporaryFile),
    Device(File),
}

impl OutputFile {
    /// Checks what exists at `path`, and creates a temporary file next to it. Creates the folder if
    /// it does not exist.
    ///
    /// # Errors
    /// Fails if the existing entry may not be replaced, or if the folder cannot be written.
    pub fn begin(path: &Path, kind: &OutputKind) -> Result<Self, OutputError> {
        let failed = |reason| OutputError::Failed { path: path.display().to_string(), reason };
        let to = match inspect(path, kind)? {
            Existing::Device => {
                let device = OpenOptions::new().write(true).open(path);
                Destination::Device(device.map_err(failed)?)
            }
            Existing::Replaceable => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new("."));
                let file = fs::create_dir_all(folder).and_then(|()| TemporaryFile::new_in(folder));
                Destination::Temporary(file.map_err(failed)?)
            }
        };
        Ok(Self { path: path.to_owned(), to })
    }

    /// Returns another handle of the file that is being written.
    ///
    /// # Errors
    /// Fails if a file system operation fails.
    pub fn handle(&self) -> io::Result<File> {
        match &self.to {
            Destination::Temporary(file) => file.as_file().try_clone(),
            Destination::Device(file) => file.try_clone(),
        }
    }

    /// Writes the whole content, and renames the file to its path.
    ///
    /// # Errors
    /// Fails if a file system operation fails.
    pub fn write(self, bytes: &[u8]) -> Result<(), OutputError> {
        let written = self.handle().and_then(|mut to| to.write_all(bytes));
        let path = || self.path.display().to_string();
        written.map_err(|reason| OutputError::Failed { path: path(), reason })?;
        self.complete()
    }

    /// Renames the complete file to its path.
    ///
    /// # Errors
    /// Fails if a file system operation fails.
    pub fn complete(self) -> Result<(), OutputError> {
        let Self { path, to } = self;
        let Destination::Temporary(file) = to else { return Ok(()) };
        let failed = |reason| OutputError::Failed { path: path.display().to_string(), reason };
        file.persist(&path).map_err(failed)
    }
}

/// Writes a whole file, as [`OutputFile`] does.
///
/// # Errors
/// Fails in the same cases as [`OutputFile::begin`], and if writing fails.
pub fn write_output(path: &Path, kind: &OutputKind, bytes: &[u8]) -> Result<(), OutputError> {
    OutputFile::begin(path, kind)?.write(bytes)
}

/// Entry at the path of an output.
enum Existing {
    /// Nothing, an empty file, or an earlier output.
    Replaceable,
    /// A character device, which is written to directly.
    Device,
}

fn inspect(path: &Path, kind: &OutputKind) -> Result<Existing, OutputError> {
    let shown = || path.display().to_string();
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(Existing::Replaceable) };
    match not_a_file(path) {
        Some(_) if is_character_device(path) => return Ok(Existing::Device),
        Some(found) => return Err(OutputError::NotAFile { path: shown(), found }),
        // Renaming would replace the link, not its target.
        None if found.is_symlink() => {
            return Err(OutputError::NotAFile { path: shown(), found: "a link" });
        }
        None => {}
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START).read_to_end(&mut start));
    read.map_err(|reason| OutputError::Failed { path: shown(), reason })?;
    match start.is_empty() || (kind.is_own)(&start) {
        true => Ok(Existing::Replaceable),
        false => Err(OutputError::Foreign { path: shown(), kind: kind.name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: OutputKind =
        OutputKind { name: "a page", is_own: |start| start.starts_with(b"page") };

    #[test]
    fn only_earlier_outputs_and_empty_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/a");
        for text in ["page 1", "page 2"] {
            write_output(&path, &PAGE, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::write(&path, "").unwrap();
        write_output(&path, &PAGE, b"page 3").unwrap();
        fs::write(&path, "seed = 1\n").unwrap();
        let error = write_output(&path, &PAGE, b"page 4").unwrap_err().to_string();
        assert!(error.contains("the file exists and is not a page that evenkeel wrote"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "seed = 1\n");
        let error = write_output(folder.path(), &PAGE, b"page").unwrap_err().to_string();
        assert!(error.contains("this is a folder; expected a regular file"), "{error}");
        assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_links_are_rejected_and_devices_are_written_to() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let error = |name: &str| write_output(&path(name), &PAGE, b"page").unwrap_err().to_string();
        nix::unistd::mkfifo(&path("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(error("fifo").contains("this is a named pipe"));
        assert!(path("fifo").symlink_metadata().unwrap().file_type().is_fifo());
        fs::write(path("page"), "page").unwrap();
        symlink(path("page"), path("link")).unwrap();
        assert!(error("link").contains("this is a link"));
        // A link to the device, so that even a fault in this test does not replace the device.
        symlink("/dev/null", path("null")).unwrap();
        write_output(&path("null"), &PAGE, b"page").unwrap();
        assert!(path("null").symlink_metadata().unwrap().is_symlink());
        symlink("/dev/full", path("full")).unwrap();
        assert!(error("full").contains("cannot write"));
    }
}
