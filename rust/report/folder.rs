//! The results folder: files that appear whole or not at all.
//!
//! Every file is first written under another name beside its place. Only when all are whole are
//! they renamed, `summary.json` last and after its predecessor is gone: where it is, the others
//! beside it belong to it.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

use super::identity::MARK;

/// What tells that a folder's files are complete; always the last to appear.
const LAST: &str = "summary.json";

/// Files that begin with a header of ours.
const WITH_HEADER: [&str; 5] =
    ["flows.csv", "links.csv", "operations.csv", "scenario.toml", "timeline.csv"];

/// The HPCC family's tables, which have no header: they are ours where `flows.csv` is.
const FOREIGN_FORMATS: [&str; 2] = ["fct.txt", "pfc.txt"];

/// How files are called until they are whole.
const UNFINISHED: &str = ".evenkeel-";

/// Writes the content of a file.
pub type Writer<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// A folder that holds nothing but results of ours. While this lives, no other run may have it;
/// however a run ends, its claim ends with it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Names that are results beside those that always are.
    others: Vec<String>,
    #[cfg(unix)]
    claim: Option<nix::fcntl::Flock<fs::File>>,
}

/// Why a folder cannot hold results.
#[derive(Debug, Error)]
pub enum FolderError {
    /// It holds something that is no result, which nobody would want mixed with results.
    #[error(
        "--out {folder}: the folder holds '{entry}', which is no result of evenkeel; name a new \
         folder, or one with earlier results, which are then replaced"
    )]
    HoldsOthers {
        /// The folder.
        folder: String,
        /// The first such file in order of names.
        entry: String,
    },
    /// There is a file of that name.
    #[error("--out {folder}: this is a file; name a folder, which need not exist yet")]
    IsFile {
        /// What was named.
        folder: String,
    },
    /// Another run is about to write there.
    #[error("--out {folder}: another run writes into this folder; wait for it, or name another")]
    Taken {
        /// The folder.
        folder: String,
    },
    /// The system refuses.
    #[error("--out {folder}: cannot {what}: {reason}")]
    Refused {
        /// The folder.
        folder: String,
        /// What was tried.
        what: String,
        /// What the system says.
        reason: io::Error,
    },
}

impl Folder {
    /// Makes the folder unless it is there, and sees that results can be written into it.
    ///
    /// # Errors
    /// It is a file, holds something else, cannot be written into, or another run has it.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        Self::open_for(path, &[])
    }

    /// The same for results that are called by `others` beside the names that results always
    /// have: an experiment of the HPCC family names its files itself.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_for(path: &Path, others: &[String]) -> Result<Self, FolderError> {
        let mut folder = Self {
            path: path.to_owned(),
            others: others.to_vec(),
            #[cfg(unix)]
            claim: None,
        };
        if path.is_file() {
            return Err(FolderError::IsFile { folder: folder.name() });
        }
        fs::create_dir_all(path).map_err(|reason| folder.refused("make the folder", reason))?;
        folder.claim()?;
        let mut others = Vec::new();
        for name in folder.entries()? {
            if !folder.is_ours(&name) {
                others.push(name);
            }
        }
        if let Some(entry) = others.into_iter().min() {
            return Err(FolderError::HoldsOthers { folder: folder.name(), entry });
        }
        // A run may take hours: that it cannot be written down is better known before.
        folder.unfinished()?;
        Ok(folder)
    }

    /// Keeps other runs out, where the file system can.
    #[cfg(unix)]
    fn claim(&mut self) -> Result<(), FolderError> {
        use nix::errno::Errno;
        use nix::fcntl::{Flock, FlockArg};
        let place = fs::File::open(&self.path);
        let place = place.map_err(|reason| self.refused("read the folder", reason))?;
        match Flock::lock(place, FlockArg::LockExclusiveNonblock) {
            Ok(claim) => self.claim = Some(claim),
            Err((_, Errno::EWOULDBLOCK)) => {
                return Err(FolderError::Taken { folder: self.name() });
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// There is no claim here: two runs at once may refuse each other's files.
    #[cfg(not(unix))]
    fn claim(&mut self) -> Result<(), FolderError> {
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file without a name, for what is written while a run goes on.
    ///
    /// # Errors
    /// Those of the system.
    pub fn scratch(&self) -> Result<fs::File, FolderError> {
        tempfile::tempfile_in(&self.path)
            .map_err(|reason| self.refused("write into the folder", reason))
    }

    /// Replaces everything in the folder by `files`, which are pairs of a name and what writes
    /// the content, and by `summary`, which becomes `summary.json`.
    ///
    /// # Errors
    /// Those of the system. What was there before is then untouched, unless renaming failed.
    pub fn replace(
        &self,
        files: &[(&str, Writer<'_>)],
        summary: Writer<'_>,
    ) -> Result<(), FolderError> {
        let mut whole = Vec::new();
        for &(name, write) in files.iter().chain(&[(LAST, summary)]) {
            debug_assert!(
                self.may_be_ours(name),
                "{name} would be refused as foreign the next time"
            );
            whole.push((name, self.write_unfinished(name, write)?));
        }
        self.clear(&whole)?;
        for (name, file) in whole {
            file.persist(self.path.join(name))
                .map_err(|error| self.refused(&format!("rename a file to {name}"), error.error))?;
        }
        Ok(())
    }

    fn write_unfinished(
        &self,
        name: &str,
        write: Writer<'_>,
    ) -> Result<NamedTempFile, FolderError> {
        let mut file = self.unfinished()?;
        let mut buffered = BufWriter::new(file.as_file_mut());
        let written = write(&mut buffered).and_then(|()| buffered.flush());
        drop(buffered);
        written.map_err(|reason| self.refused(&format!("write {name}"), reason))?;
        Ok(file)
    }

    /// Removes the old summary, results that have no successor, and what runs that were
    /// interrupted left behind.
    fn clear(&self, whole: &[(&str, NamedTempFile)]) -> Result<(), FolderError> {
        let kept = |name: &str| {
            let replaced = whole.iter().any(|(new, _)| *new == name && name != LAST);
            let new = |file: &NamedTempFile| file.path().file_name() == Some(name.as_ref());
            replaced || whole.iter().any(|(_, file)| new(file))
        };
        let mut old: Vec<String> = self.entries()?.into_iter().filter(|name| !kept(name)).collect();
        old.retain(|name| self.may_be_ours(name));
        // The summary vouches for the others: it goes first.
        old.sort_by_key(|name| name != LAST);
        for name in old {
            fs::remove_file(self.path.join(&name))
                .map_err(|reason| self.refused(&format!("remove the old {name}"), reason))?;
        }
        Ok(())
    }

    fn entries(&self) -> Result<Vec<String>, FolderError> {
        let list = || -> io::Result<Vec<String>> {
            fs::read_dir(&self.path)?
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect()
        };
        list().map_err(|reason| self.refused("read the folder", reason))
    }

    fn is_ours(&self, name: &str) -> bool {
        if !self.may_be_ours(name) || self.path.join(name).is_dir() {
            return false;
        }
        match name {
            LAST => is_summary(&self.path.join(name)),
            _ if self.is_foreign(name) => starts_with_header(&self.path.join("flows.csv")),
            _ => name.starts_with(UNFINISHED) || starts_with_header(&self.path.join(name)),
        }
    }

    /// True for the name of a result whose format is not ours.
    fn is_foreign(&self, name: &str) -> bool {
        FOREIGN_FORMATS.contains(&name) || self.others.iter().any(|other| other == name)
    }

    fn may_be_ours(&self, name: &str) -> bool {
        let known = name == LAST || WITH_HEADER.contains(&name) || self.is_foreign(name);
        known || name.starts_with(UNFINISHED)
    }

    fn unfinished(&self) -> Result<NamedTempFile, FolderError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Results are no secret: readable as far as the umask has it.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(&self.path);
        file.map_err(|reason| self.refused("write into the folder", reason))
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn refused(&self, what: &str, reason: io::Error) -> FolderError {
        FolderError::Refused { folder: self.name(), what: what.to_owned(), reason }
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
    fn earlier_results_are_replaced_with_all_that_belonged_to_them() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a/b");
        let folder = Folder::open(&path).unwrap();
        assert!(names(&path).is_empty());
        write(&folder, "first").unwrap();
        for foreign in FOREIGN_FORMATS {
            fs::write(path.join(foreign), "0 1 2").unwrap();
        }
        fs::write(path.join(".evenkeel-killed"), "half").unwrap();
        drop(folder);
        write(&Folder::open(&path).unwrap(), "second").unwrap();
        assert_eq!(names(&path), ["flows.csv", "summary.json"]);
        assert_eq!(contents(&path)[0].1, format!("{MARK}second\n"));
    }

    #[test]
    fn results_with_names_of_their_own_are_replaced_where_those_are_known() {
        let place = tempfile::tempdir().unwrap();
        write(&Folder::open(place.path()).unwrap(), "first").unwrap();
        fs::write(place.path().join("mix.tr"), "trace").unwrap();
        let error = Folder::open(place.path()).unwrap_err().to_string();
        assert!(error.contains("holds 'mix.tr'"), "{error}");
        write(&Folder::open_for(place.path(), &["mix.tr".to_owned()]).unwrap(), "second").unwrap();
        assert_eq!(names(place.path()), ["flows.csv", "summary.json"]);
    }

    #[test]
    fn a_folder_of_something_else_is_left_alone() {
        for other in ["notes.txt", "scenario.toml", "fct.txt", "pfc.txt", "summary.json"] {
            let place = tempfile::tempdir().unwrap();
            fs::write(place.path().join(other), "{\"mine\": 1}").unwrap();
            let error = Folder::open(place.path()).unwrap_err().to_string();
            assert!(error.contains(&format!("holds '{other}'")), "{error}");
            assert_eq!(names(place.path()), [other]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let first = Folder::open(place.path()).unwrap();
        let error = Folder::open(place.path()).unwrap_err().to_string();
        assert!(error.contains("another run writes into this folder"), "{error}");
        drop(first);
        assert!(Folder::open(place.path()).is_ok());
    }

    #[test]
    fn a_file_is_no_folder() {
        let file = NamedTempFile::new().unwrap();
        let error = Folder::open(file.path()).unwrap_err().to_string();
        assert!(error.ends_with("this is a file; name a folder, which need not exist yet"));
    }

    #[test]
    fn what_fails_half_way_leaves_what_was_there() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        write(&folder, "first").unwrap();
        let before = contents(place.path());
        let full = |to: &mut dyn Write| {
            to.write_all(b"half a li")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        };
        let error = folder.replace(&[("flows.csv", &full)], &|_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("cannot write flows.csv"), "{error}");
        assert_eq!(contents(place.path()), before);
    }
}
