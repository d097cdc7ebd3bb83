//! The results folder: files that appear complete or not at all.
//!
//! Every file is first written under a temporary name in the folder. When all are complete they are
//! renamed, `summary.json` last and after the removal of its predecessor, so that a summary always
//! belongs to the files beside it.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

use super::identity::MARK;
use crate::record::RecordedTable;

/// The file that shows that a folder is complete; always the last to appear.
const SUMMARY: &str = "summary.json";

/// Result files that begin with a header.
const WITH_HEADER: [&str; 5] =
    ["flows.csv", "links.csv", "operations.csv", "scenario.toml", "timeline.csv"];

/// The copy of the file that a scenario's fabric was read from.
pub const TOPOLOGY: &str = "topology.hpcc";

/// Result files in formats of the HPCC family, which have no header. They count as results if
/// `flows.csv` is beside them.
const WITHOUT_HEADER: [&str; 3] = ["fct.txt", "pfc.txt", TOPOLOGY];

/// The prefix of temporary names.
const TEMPORARY: &str = ".evenkeel-";

/// Writes the content of a file.
pub type Writer<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// A folder that holds only results. A lock keeps other runs out until this value is dropped or the
/// process ends, in whatever way.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Names of results in addition to those that every folder may have.
    others: Vec<String>,
    #[cfg(unix)]
    lock: Option<nix::fcntl::Flock<fs::File>>,
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

/// How a results file is made under a temporary name.
pub(super) fn results_file() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of any new file: results are not secret. The umask applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Writes a file that appears complete or not at all, and creates its folder if it does not exist.
///
/// # Errors
/// Those of the file system.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = unfinished_file(path)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// A temporary file beside `path`, to which it is renamed when it is complete; creates its folder
/// if it does not exist.
///
/// # Errors
/// Those of the file system.
pub fn unfinished_file(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    results_file().tempfile_in(folder)
}

impl Folder {
    /// Creates the folder if it does not exist, locks it, and checks that it is writable.
    ///
    /// # Errors
    /// The path names a file; the folder holds files that are not results or is not writable;
    /// another run has locked it.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        Self::open_for(path, &[])
    }

    /// Opens a folder as [`Self::open`] does, for results that may have the names `others` too: an
    /// experiment of the HPCC family chooses the names of its files.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_for(path: &Path, others: &[String]) -> Result<Self, FolderError> {
        let mut folder = Self {
            path: path.to_owned(),
            others: others.to_vec(),
            #[cfg(unix)]
            lock: None,
        };
        if path.is_file() {
            return Err(FolderError::IsFile { folder: folder.name() });
        }
        fs::create_dir_all(path).map_err(|reason| folder.failed("create the folder", reason))?;
        folder.lock()?;
        let mut foreign = Vec::new();
        for name in folder.entries()? {
            if !folder.is_result(&name) {
                foreign.push(name);
            }
        }
        if let Some(entry) = foreign.into_iter().min() {
            return Err(FolderError::ForeignFile { folder: folder.name(), entry });
        }
        // A run may take hours, so that missing permissions are better reported before it.
        folder.temporary()?;
        Ok(folder)
    }

    /// Keeps other runs out, if the file system supports locks.
    #[cfg(unix)]
    fn lock(&mut self) -> Result<(), FolderError> {
        use nix::errno::Errno;
        use nix::fcntl::{Flock, FlockArg};
        let folder = fs::File::open(&self.path);
        let folder = folder.map_err(|reason| self.failed("read the folder", reason))?;
        match Flock::lock(folder, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => self.lock = Some(lock),
            Err((_, Errno::EWOULDBLOCK)) => {
                return Err(FolderError::Locked { folder: self.name() });
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// There are no locks on this platform: two runs at once may reject each other's files.
    #[cfg(not(unix))]
    fn lock(&mut self) -> Result<(), FolderError> {
        Ok(())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An unnamed file in the folder, for data that are written during a run.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn scratch(&self) -> Result<fs::File, FolderError> {
        tempfile::tempfile_in(&self.path)
            .map_err(|reason| self.failed("write into the folder", reason))
    }

    /// Replaces the content of the folder by `files`, pairs of a name and a writer of the content,
    /// and by `summary`, which becomes `summary.json`.
    ///
    /// # Errors
    /// Those of the file system. The previous content is then unchanged, unless renaming failed.
    pub fn replace(
        &self,
        files: &[(&str, Writer<'_>)],
        summary: Writer<'_>,
    ) -> Result<(), FolderError> {
        let mut complete = Vec::new();
        for &(name, write) in files.iter().chain(&[(SUMMARY, summary)]) {
            debug_assert!(self.is_result_name(name), "the next run would reject {name}");
            complete.push((name, self.write_temporary(name, write)?));
        }
        self.clear(&complete)?;
        for (name, file) in complete {
            file.persist(self.path.join(name))
                .map_err(|error| self.failed(&format!("rename a file to {name}"), error.error))?;
        }
        Ok(())
    }

    fn write_temporary(&self, name: &str, write: Writer<'_>) -> Result<NamedTempFile, FolderError> {
        let mut file = self.temporary()?;
        let mut buffered = BufWriter::new(file.as_file_mut());
        let written = write(&mut buffered).and_then(|()| buffered.flush());
        drop(buffered);
        written.map_err(|reason| self.failed(&format!("write {name}"), reason))?;
        Ok(file)
    }

    /// Removes the old summary, results that are not among the `complete` new files, and temporary
    /// files of interrupted runs.
    fn clear(&self, complete: &[(&str, NamedTempFile)]) -> Result<(), FolderError> {
        let kept = |name: &str| {
            let replaced = complete.iter().any(|(new, _)| *new == name && name != SUMMARY);
            let new = |file: &NamedTempFile| file.path().file_name() == Some(name.as_ref());
            replaced || complete.iter().any(|(_, file)| new(file))
        };
        let mut old: Vec<String> = self.entries()?.into_iter().filter(|name| !kept(name)).collect();
        old.retain(|name| self.is_result_name(name));
        // Without its summary the folder counts as incomplete, so that it is removed first.
        old.sort_by_key(|name| name != SUMMARY);
        for name in old {
            fs::remove_file(self.path.join(&name))
                .map_err(|reason| self.failed(&format!("remove the old {name}"), reason))?;
        }
        Ok(())
    }

    fn entries(&self) -> Result<Vec<String>, FolderError> {
        let list = || -> io::Result<Vec<String>> {
            fs::read_dir(&self.path)?
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect()
        };
        list().map_err(|reason| self.failed("read the folder", reason))
    }

    fn is_result(&self, name: &str) -> bool {
        if !self.is_result_name(name) || self.path.join(name).is_dir() {
            return false;
        }
        match name {
            SUMMARY => is_summary(&self.path.join(name)),
            _ if self.has_no_header(name) => starts_with_header(&self.path.join("flows.csv")),
            _ => name.starts_with(TEMPORARY) || starts_with_header(&self.path.join(name)),
        }
    }

    /// True for the name of a result in a format without a header.
    fn has_no_header(&self, name: &str) -> bool {
        WITHOUT_HEADER.contains(&name) || self.others.iter().any(|other| other == name)
    }

    fn is_result_name(&self, name: &str) -> bool {
        let known = name == SUMMARY || WITH_HEADER.contains(&name) || self.has_no_header(name);
        let is_recorded = |table: &RecordedTable| table.recording_of(name).is_some();
        known || RecordedTable::ALL.iter().any(is_recorded) || name.starts_with(TEMPORARY)
    }

    fn temporary(&self) -> Result<NamedTempFile, FolderError> {
        let file = results_file().tempfile_in(&self.path);
        file.map_err(|reason| self.failed("write into the folder", reason))
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn failed(&self, action: &str, reason: io::Error) -> FolderError {
        FolderError::Failed { folder: self.name(), action: action.to_owned(), reason }
    }
}

fn starts_with_header(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = fs::File::open(path)
        .and_then(|file| io::Read::read_to_end(&mut io::Read::take(file, 64), &mut start));
    read.is_ok() && start.starts_with(MARK.as_bytes())
}

fn is_summary(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else { return false };
    ["scenario", "policy", "seed", "version", "cct_ns"].iter().all(|key| value.get(key).is_some())
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn contents(folder: &Path) -> Vec<(String, String)> {
        let mut files: Vec<(String, String)> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                let name = entry.file_name().into_string().unwrap();
                (name, fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    fn names(folder: &Path) -> Vec<String> {
        contents(folder).into_iter().map(|(name, _)| name).collect()
    }

    fn write(folder: &Folder, flows: &'static str) -> Result<(), FolderError> {
        let summary = serde_json::to_string(&sample::summary()).unwrap();
        let text = |to: &mut dyn Write| writeln!(to, "{MARK}{flows}");
        folder.replace(&[("flows.csv", &text)], &|to| to.write_all(summary.as_bytes()))
    }

    #[test]
    fn earlier_results_are_replaced_as_a_whole() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        let folder = Folder::open(&path).unwrap();
        assert!(names(&path).is_empty());
        write(&folder, "first").unwrap();
        for foreign in WITHOUT_HEADER {
            fs::write(path.join(foreign), "0 1 2").unwrap();
        }
        fs::write(path.join(".evenkeel-killed"), "half").unwrap();
        drop(folder);
        write(&Folder::open(&path).unwrap(), "second").unwrap();
        assert_eq!(names(&path), ["flows.csv", "summary.json"]);
        assert_eq!(contents(&path)[0].1, format!("{MARK}second\n"));
    }

    #[test]
    fn results_with_configured_names_are_replaced_if_the_names_are_given() {
        let parent = tempfile::tempdir().unwrap();
        write(&Folder::open(parent.path()).unwrap(), "first").unwrap();
        fs::write(parent.path().join("mix.tr"), "trace").unwrap();
        let error = Folder::open(parent.path()).unwrap_err().to_string();
        assert!(error.contains("holds 'mix.tr'"), "{error}");
        write(&Folder::open_for(parent.path(), &["mix.tr".to_owned()]).unwrap(), "second").unwrap();
        assert_eq!(names(parent.path()), ["flows.csv", "summary.json"]);
    }

    #[test]
    fn a_folder_with_other_files_is_an_error_and_is_not_changed() {
        for other in ["notes.txt", "scenario.toml", "fct.txt", "pfc.txt", "summary.json"] {
            let parent = tempfile::tempdir().unwrap();
            fs::write(parent.path().join(other), "{\"mine\": 1}").unwrap();
            let error = Folder::open(parent.path()).unwrap_err().to_string();
            assert!(error.contains(&format!("holds '{other}'")), "{error}");
            assert_eq!(names(parent.path()), [other]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let parent = tempfile::tempdir().unwrap();
        let first = Folder::open(parent.path()).unwrap();
        let error = Folder::open(parent.path()).unwrap_err().to_string();
        assert!(error.contains("another run writes into this folder"), "{error}");
        drop(first);
        assert!(Folder::open(parent.path()).is_ok());
    }

    #[test]
    fn a_file_is_not_a_folder() {
        let file = NamedTempFile::new().unwrap();
        let error = Folder::open(file.path()).unwrap_err().to_string();
        assert!(error.ends_with("this is a file; expected a folder, which need not exist yet"));
    }

    #[test]
    fn a_failed_write_leaves_the_earlier_results() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(parent.path()).unwrap();
        write(&folder, "first").unwrap();
        let before = contents(parent.path());
        let full = |to: &mut dyn Write| {
            to.write_all(b"half a li")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        };
        let error = folder.replace(&[("flows.csv", &full)], &|_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("cannot write flows.csv"), "{error}");
        assert_eq!(contents(parent.path()), before);
    }
}
