//! Files with a temporary name, which are renamed once they are complete. An unfinished file is
//! removed when the program ends, unless it is killed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// Prefix of temporary names.
pub(crate) const TEMPORARY: &str = ".evenkeel-";

/// Files of this process that still have a temporary name. A signal handler removes them.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file with a temporary name, which is removed on drop.
#[derive(Debug)]
pub(crate) struct TemporaryFile(Option<NamedTempFile>);

impl TemporaryFile {
    /// Creates a file with default permissions and the umask: results are not secret.
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut unfinished = unfinished();
        // Created under the lock, so that a signal handler cannot miss it.
        let file = builder.tempfile_in(folder)?;
        unfinished.insert(file.path().to_owned());
        Ok(Self(Some(file)))
    }

    fn file(&self) -> &NamedTempFile {
        self.0.as_ref().expect("it is there until it has its name")
    }

    pub(crate) fn path(&self) -> &Path {
        self.file().path()
    }

    pub(crate) fn as_file(&self) -> &File {
        self.file().as_file()
    }

    /// Renames the file to `path`, replacing an existing file.
    pub(crate) fn persist(mut self, path: &Path) -> io::Result<()> {
        let mut unfinished = unfinished();
        let Some(file) = self.0.take() else { return Ok(()) };
        unfinished.remove(file.path());
        // On failure the error owns the file, and removes it on drop.
        file.persist(path).map(drop).map_err(|error| error.error)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        if let Some(file) = self.0.take() {
            unfinished.remove(file.path());
            // Removed under the lock, so that a signal cannot end the program in between.
            drop(file);
        }
    }
}

/// Removes all files that still have a temporary name, of any thread. The process must end
/// immediately afterwards: no file can be created or completed any more.
pub fn remove_temporary_files() {
    let unfinished = unfinished();
    for file in unfinished.iter() {
        let _ = fs::remove_file(file);
    }
    // Never unlock: other threads must not create or rename files until the process ends.
    std::mem::forget(unfinished);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_renamed_when_complete_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let names = || fs::read_dir(folder.path()).unwrap().count();
        let first = TemporaryFile::new_in(folder.path()).unwrap();
        assert!(unfinished().contains(first.path()) && names() == 1);
        drop(first);
        assert_eq!(names(), 0);
        let second = TemporaryFile::new_in(folder.path()).unwrap();
        let path = second.path().to_owned();
        second.persist(&folder.path().join("a")).unwrap();
        assert!(folder.path().join("a").is_file() && !unfinished().contains(&path));
    }
}
