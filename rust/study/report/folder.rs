//! Results folder whose files appear complete or not at all.
//!
//! Every file is first written under a temporary name in the folder. When all files are complete
//! they are renamed. The mark (`summary.json` for a run) is renamed last, after the old mark was
//! removed, so a mark always belongs to the files next to it.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::own_files::{self, Origin, UNMARKED};
use super::temporary::TemporaryFile;
use super::{FolderError, NotAFile};

/// Table that identifies files without a mark of their own as results.
const FLOWS: &str = "flows.csv";

/// Writes the content of a file.
pub type Writer<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// A results folder: new, or written earlier by the same command. A lock excludes other runs until
/// this value is dropped or the process ends for any reason.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    origin: Origin,
    /// Names of results in addition to those that every folder may have.
    others: Vec<String>,
    /// Names of other files next to earlier results, which are kept: figures, pages, traces.
    kept: Vec<String>,
    #[cfg(unix)]
    lock: Option<nix::fcntl::Flock<fs::File>>,
}

impl Folder {
    /// Creates the folder of a run if it does not exist, locks it, and checks that it is writable.
    ///
    /// # Errors
    /// Fails if the path names a file, if another run has locked the folder, or if it is not
    /// writable. Also fails if it holds files but no earlier results of a run, or if a result's
    /// name is taken by something other than a regular file.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        Self::open_for(path, &[])
    }

    /// Opens a folder as [`Self::open`] does, and also accepts results with the names `others`. An
    /// experiment of the HPCC family chooses the names of its files.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::open`].
    pub fn open_for(path: &Path, others: &[String]) -> Result<Self, FolderError> {
        Self::open_with_origin(Origin::Run, path, others)
    }

    /// Opens a folder as [`Self::open`] does, for results of the given origin.
    pub(super) fn open_with_origin(
        origin: Origin,
        path: &Path,
        others: &[String],
    ) -> Result<Self, FolderError> {
        let mut folder = Self {
            path: path.to_owned(),
            origin,
            others: others.to_vec(),
            kept: Vec::new(),
            #[cfg(unix)]
            lock: None,
        };
        if path.is_file() {
            return Err(FolderError::IsFile { folder: folder.name() });
        }
        fs::create_dir_all(path).map_err(|reason| folder.failed("create the folder", reason))?;
        folder.lock()?;
        folder.kept = folder.other_files()?;
        // Check write permission now: a run may take hours.
        folder.temporary()?;
        Ok(folder)
    }

    /// Returns the names of files that are not results. They are allowed only next to results.
    fn other_files(&self) -> Result<Vec<String>, FolderError> {
        let mut names = self.entries()?;
        names.sort();
        for name in names.iter().filter(|name| self.is_result_name(name)) {
            if let Some(kind) = own_files::not_a_file(&self.path.join(name)) {
                let (folder, entry) = (self.name(), name.clone());
                return Err(NotAFile { folder, entry, kind }.into());
            }
        }
        names.retain(|name| !self.is_result(name));
        let folder = self.name();
        match (names.first(), Origin::of(&self.path)) {
            (Some(_), Some(found)) if found != self.origin => Err(FolderError::OtherResults {
                folder,
                found: found.description(),
                mark: found.mark(),
                expected: self.origin.description(),
            }),
            (Some(entry), None) => Err(FolderError::ForeignFile { folder, entry: entry.clone() }),
            _ => Ok(names),
        }
    }

    /// Locks out other runs, if the file system supports locks.
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
            // Some network file systems have no locks; run without one.
            Err(_) => {}
        }
        Ok(())
    }

    /// Does nothing: this platform has no locks. Concurrent runs may reject each other's files.
    #[cfg(not(unix))]
    fn lock(&mut self) -> Result<(), FolderError> {
        Ok(())
    }

    /// Returns the names of other files next to earlier results.
    pub fn kept(&self) -> &[String] {
        &self.kept
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if `path` is in the folder and has the name of a result.
    pub fn has_result_at(&self, path: &Path) -> bool {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let [folder, parent] = [&self.path, parent.unwrap_or(Path::new("."))].map(fs::canonicalize);
        let is_inside = folder.is_ok_and(|folder| parent.is_ok_and(|parent| folder == parent));
        let name = path.file_name().map(|name| name.to_string_lossy());
        is_inside && name.is_some_and(|name| self.is_result_name(&name))
    }

    /// Creates an unnamed file in the folder, for data that is written during a run.
    ///
    /// # Errors
    /// Fails if a file system operation fails.
    pub fn scratch(&self) -> Result<fs::File, FolderError> {
        tempfile::tempfile_in(&self.path)
            .map_err(|reason| self.failed("write into the folder", reason))
    }

    /// Replaces the content of the folder with `files`, pairs of a name and a writer of the
    /// content. The mark of the folder appears last; for a run it is `summary.json`.
    ///
    /// # Errors
    /// Fails if a file system operation fails. The previous content is then unchanged, unless
    /// renaming failed.
    pub fn replace(
        &self,
        files: &[(&str, Writer<'_>)],
        mark: Writer<'_>,
    ) -> Result<(), FolderError> {
        let mut complete = Vec::new();
        for &(name, write) in files.iter().chain(&[(self.origin.mark(), mark)]) {
            debug_assert!(self.is_result_name(name), "the next run would reject {name}");
            complete.push((name, self.write_temporary(name, write)?));
        }
        // Old files are removed only now that every new one is complete.
        self.clear(&complete)?;
        for (name, file) in complete {
            let renamed = file.persist(&self.path.join(name));
            renamed.map_err(|reason| self.failed(&format!("rename a file to {name}"), reason))?;
        }
        Ok(())
    }

    fn write_temporary(&self, name: &str, write: Writer<'_>) -> Result<TemporaryFile, FolderError> {
        let file = self.temporary()?;
        let mut buffered = BufWriter::new(file.as_file());
        let written = write(&mut buffered).and_then(|()| buffered.flush());
        // Ends the borrow of the file; the buffer is already flushed.
        drop(buffered);
        written.map_err(|reason| self.failed(&format!("write {name}"), reason))?;
        Ok(file)
    }

    /// Removes the old mark, results that `complete` does not replace, and temporary files of
    /// interrupted runs.
    fn clear(&self, complete: &[(&str, TemporaryFile)]) -> Result<(), FolderError> {
        let mark = self.origin.mark();
        let kept = |name: &str| {
            let replaced = complete.iter().any(|(new, _)| *new == name && name != mark);
            let new = |file: &TemporaryFile| file.path().file_name() == Some(name.as_ref());
            replaced || complete.iter().any(|(_, file)| new(file))
        };
        let mut old: Vec<String> = self.entries()?.into_iter().filter(|name| !kept(name)).collect();
        old.retain(|name| self.is_result_name(name));
        // Without its mark the folder counts as incomplete, so the mark is removed first.
        old.sort_by_key(|name| name != mark);
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
        let path = self.path.join(name);
        if !self.is_result_name(name) {
            return false;
        }
        match UNMARKED.contains(&name) || self.is_other(name) {
            true => self.origin.is_own(&self.path.join(FLOWS), FLOWS),
            false => self.origin.is_own(&path, name),
        }
    }

    /// Returns true for the name of a result that only some runs have.
    fn is_other(&self, name: &str) -> bool {
        self.others.iter().any(|other| other == name)
    }

    fn is_result_name(&self, name: &str) -> bool {
        self.origin.is_result_name(name) || self.is_other(name)
    }

    fn temporary(&self) -> Result<TemporaryFile, FolderError> {
        TemporaryFile::new_in(&self.path)
            .map_err(|reason| self.failed("write into the folder", reason))
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn failed(&self, action: &str, reason: io::Error) -> FolderError {
        FolderError::Failed { folder: self.name(), action: action.to_owned(), reason }
    }
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
        let text = |to: &mut dyn Write| writeln!(to, "message,piece,src,dst,{flows}");
        folder.replace(&[("flows.csv", &text)], &|to| to.write_all(summary.as_bytes()))
    }

    #[test]
    fn earlier_results_are_replaced_as_a_whole() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        let folder = Folder::open(&path).unwrap();
        assert!(names(&path).is_empty());
        write(&folder, "first").unwrap();
        for name in UNMARKED {
            fs::write(path.join(name), "0 1 2").unwrap();
        }
        fs::write(path.join(".evenkeel-killed"), "half").unwrap();
        drop(folder);
        write(&Folder::open(&path).unwrap(), "second").unwrap();
        assert_eq!(names(&path), ["flows.csv", "summary.json"]);
        assert_eq!(contents(&path)[0].1, "message,piece,src,dst,second\n");
    }

    #[test]
    fn other_files_are_kept_and_files_with_given_names_are_replaced() {
        let parent = tempfile::tempdir().unwrap();
        write(&Folder::open(parent.path()).unwrap(), "first").unwrap();
        fs::write(parent.path().join("mix.tr"), "trace").unwrap();
        let folder = Folder::open(parent.path()).unwrap();
        assert_eq!(folder.kept(), ["mix.tr"]);
        write(&folder, "first").unwrap();
        assert_eq!(names(parent.path()), ["flows.csv", "mix.tr", "summary.json"]);
        drop(folder);
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
        let file = tempfile::NamedTempFile::new().unwrap();
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
