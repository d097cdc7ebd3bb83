//! Files with a temporary name: each gets its own name once it is complete, and is removed if the
//! program ends before, in whatever way but a kill.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// The prefix of temporary names.
pub(crate) const TEMPORARY: &str = ".evenkeel-";

/// The files of this process that have no name of their own yet: a signal ends it at any time.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file with a temporary name, which is removed if it is dropped.
#[derive(Debug)]
pub(crate) struct TemporaryFile(Option<NamedTempFile>);

impl TemporaryFile {
    /// Makes one with the permissions of any new file: results are not secret. The umask applies.
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut unfinished = unfinished();
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

    /// Gives the file its name, and replaces an existing file of that name.
    pub(crate) fn persist(mut self, path: &Path) -> io::Result<()> {
        let mut unfinished = unfinished();
        let Some(file) = self.0.take() else { return Ok(()) };
        unfinished.remove(file.path());
        // If that fails, the error has the file, and removes it with itself.
        file.persist(path).map(drop).map_err(|error| error.error)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        if let Some(file) = self.0.take() {
            unfinished.remove(file.path());
            // Its removal is complete before a signal may end the program.
            drop(file);
        }
    }
}

/// Removes all files that have no name of their own yet, of any thread, and keeps others from being
/// begun or completed: the process must end now.
pub fn remove_temporary_files() {
    let unfinished = unfinished();
    for file in unfinished.iter() {
        let _ = fs::remove_file(file);
    }
    std::mem::forget(unfinished);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_name_when_it_is_complete_and_leaves_nothing_else() {
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
