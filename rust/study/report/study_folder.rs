//! Folder with the results of studies and the pages made from them.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::NotAFile;
use super::own_files::not_a_file;
use super::reproduction_index::{TITLE, reproduction_index};
use super::reproduction_page::{is_reproduction_page, reproduction_page};
use super::temporary::TemporaryFile;
use crate::record::csv_text;
use crate::reproduce::{BuiltIn, Reproduction, RunRow};
use crate::text_file::read_results;

/// Page with the verdicts of all studies in the folder.
const INDEX: &str = "README.md";

/// A folder that holds `NAME.json`, `NAME.csv` and `NAME.md` for each study. `README.md` is
/// rewritten whenever a study is added. Other files are not touched.
#[derive(Debug)]
pub struct StudyFolder {
    path: PathBuf,
    known: &'static [BuiltIn],
}

/// Reason why results of studies cannot be kept.
#[derive(Debug, Error)]
pub enum StudyFolderError {
    /// The page was not written by this program.
    #[error("--out {folder}: {page} is not a page of studies; expected a folder without one")]
    ForeignPage {
        /// Path of the folder, as given to `--out`.
        folder: String,
        /// Name of the file.
        page: String,
    },
    /// The results of a study cannot be read.
    #[error("--out {folder}: {file} is not the result of a study: {reason}; remove it")]
    Unreadable {
        /// Path of the folder, as given to `--out`.
        folder: String,
        /// Name of the file.
        file: String,
        /// Error of the parser.
        reason: String,
    },
    /// A result's name is taken by something other than a regular file.
    #[error(transparent)]
    NotAFile(#[from] NotAFile),
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

impl StudyFolder {
    /// Creates the folder if it does not exist, and checks that `studies` can be added. Studies in
    /// `known` are listed first, in that order.
    ///
    /// # Errors
    /// Fails if the folder cannot be written, or if it holds a page or a JSON file that evenkeel
    /// did not write.
    pub fn open(
        path: &Path,
        studies: &[&str],
        known: &'static [BuiltIn],
    ) -> Result<Self, StudyFolderError> {
        let folder = Self { path: path.to_owned(), known };
        fs::create_dir_all(path).map_err(|reason| folder.failed("create the folder", reason))?;
        let pages: Vec<String> = studies.iter().map(|study| page_name(study)).collect();
        folder.expect_files(&pages)?;
        folder.expect_own(INDEX, |text| text.lines().next() == Some(TITLE))?;
        pages.iter().try_for_each(|page| folder.expect_own(page, is_reproduction_page))?;
        folder.studies()?;
        Ok(folder)
    }

    /// Rejects a page that was not written by this program.
    fn expect_own(&self, page: &str, is_own: fn(&str) -> bool) -> Result<(), StudyFolderError> {
        let is_replaceable = match read_results(&self.path.join(page)) {
            Ok(text) => text.is_empty() || is_own(&text),
            Err(reason) => reason.kind() == io::ErrorKind::NotFound,
        };
        match is_replaceable {
            true => Ok(()),
            false => {
                Err(StudyFolderError::ForeignPage { folder: self.name(), page: page.to_owned() })
            }
        }
    }

    /// Rejects an entry that has the name of a result but is not a regular file.
    fn expect_files(&self, pages: &[String]) -> Result<(), StudyFolderError> {
        let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = self.entries()?.iter().map(name).collect();
        names.retain(|name| {
            name == INDEX
                || pages.contains(name)
                || [".json", ".csv", ".jsonl"].iter().any(|ending| name.ends_with(ending))
        });
        names.sort();
        let special = |name: String| Some((not_a_file(&self.path.join(&name))?, name));
        match names.into_iter().find_map(special) {
            None => Ok(()),
            Some((kind, entry)) => Err(NotAFile { folder: self.name(), entry, kind }.into()),
        }
    }

    /// Replaces the results of a study, and rewrites `README.md`.
    ///
    /// # Errors
    /// Fails if a file system operation fails. Each file is then either the old or the new one.
    pub fn add(&self, study: &Reproduction, rows: &[RunRow]) -> Result<(), StudyFolderError> {
        let name = &study.study;
        let csv = csv(rows).map_err(|reason| self.failed("write the runs", reason))?;
        self.write(&format!("{name}.csv"), &csv)?;
        let json = serde_json::to_string_pretty(study).expect("results are a JSON object");
        self.write(&format!("{name}.json"), &format!("{json}\n"))?;
        self.write(&page_name(name), &reproduction_page(study))?;
        self.write(INDEX, &reproduction_index(&self.studies()?))
    }

    /// Returns the results in the folder: known studies in their order, then others by name.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or is not the result of a study.
    pub fn studies(&self) -> Result<Vec<Reproduction>, StudyFolderError> {
        let mut studies = Vec::new();
        for path in self.entries()?.iter().map(fs::DirEntry::path) {
            if path.extension().is_some_and(|extension| extension == "json") {
                studies.push(self.study(&path)?);
            }
        }
        let place = |study: &Reproduction| {
            let place = self.known.iter().position(|(name, _)| *name == study.study);
            (place.unwrap_or(self.known.len()), study.study.clone())
        };
        studies.sort_by_key(place);
        Ok(studies)
    }

    fn entries(&self) -> Result<Vec<fs::DirEntry>, StudyFolderError> {
        fs::read_dir(&self.path)
            .and_then(|entries| entries.collect())
            .map_err(|reason| self.failed("read the folder", reason))
    }

    fn study(&self, path: &Path) -> Result<Reproduction, StudyFolderError> {
        let text = read_results(path);
        let text = text.map_err(|reason| self.failed("read the folder", reason))?;
        serde_json::from_str(&text).map_err(|error| StudyFolderError::Unreadable {
            folder: self.name(),
            file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            reason: error.to_string(),
        })
    }

    fn write(&self, name: &str, text: &str) -> Result<(), StudyFolderError> {
        let write = || {
            let file = TemporaryFile::new_in(&self.path)?;
            file.as_file().write_all(text.as_bytes())?;
            file.persist(&self.path.join(name))
        };
        write().map_err(|reason| self.failed(&format!("write {name}"), reason))
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn failed(&self, action: &str, reason: io::Error) -> StudyFolderError {
        StudyFolderError::Failed { folder: self.name(), action: action.to_owned(), reason }
    }
}

/// Returns the name of the file that holds a study's page.
fn page_name(study: &str) -> String {
    format!("{study}.md")
}

/// Returns the numbers of all runs as CSV, one line per run.
fn csv(rows: &[RunRow]) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if let Some(first) = rows.first() {
        let names = first.numbers.iter().map(|(name, _)| name.as_str());
        writer.write_record(["run", "parameters", "seed"].into_iter().chain(names))?;
    }
    for row in rows {
        let numbers = row.numbers.iter().map(|(_, number)| number.clone());
        let labels = [&row.run, &row.parameters, &row.seed].map(|it| csv_text(it).into_owned());
        writer.write_record(labels.into_iter().chain(numbers))?;
    }
    let bytes = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_study_replaces_its_earlier_results_and_the_index_lists_all_studies() {
        let parent = tempfile::tempdir().unwrap();
        let one = sample::reproduction();
        let other = Reproduction { study: "another".to_owned(), ..one.clone() };
        let folder = StudyFolder::open(parent.path(), &["sample", "another"], &[]).unwrap();
        folder.add(&other, &[]).unwrap();
        folder.add(&one, &[]).unwrap();
        folder.add(&one, &[]).unwrap();
        let names: Vec<String> =
            folder.studies().unwrap().into_iter().map(|study| study.study).collect();
        assert_eq!(names, ["another", "sample"]);
        let read = |name: &str| fs::read_to_string(parent.path().join(name)).unwrap();
        assert_eq!(read(INDEX), reproduction_index(&folder.studies().unwrap()));
        assert_eq!(read("another.md"), reproduction_page(&other));
        StudyFolder::open(parent.path(), &["sample", "another"], &[])
            .expect("all files are its own");
    }

    #[test]
    fn foreign_pages_and_results_are_not_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let expect_error = |name: &str, text: &[u8], expected: &str| {
            fs::write(parent.path().join(name), text).unwrap();
            let error = StudyFolder::open(parent.path(), &["mine"], &[]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            fs::remove_file(parent.path().join(name)).unwrap();
        };
        expect_error("README.md", b"# Mine\n", "README.md is not a page of studies");
        expect_error("README.md", b"\xff", "README.md is not a page of studies");
        expect_error("mine.md", b"# Mine\n\nNotes.\n", "mine.md is not a page of studies");
        expect_error("mine.json", b"{}", "mine.json is not the result of a study");
        fs::write(parent.path().join("notes.md"), "# Mine\n").unwrap();
        StudyFolder::open(parent.path(), &["mine"], &[]).expect("other pages stay");
    }
}
