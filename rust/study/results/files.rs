//! The files of results, in a folder or in memory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{ResultsError, Table};
use crate::text_file::read_results;

/// The files of a folder of results. A program without a file system keeps their texts in memory.
#[derive(Debug, Clone)]
pub struct ResultFiles {
    path: PathBuf,
    /// Texts by name; `None` if the files are on disk.
    texts: Option<BTreeMap<String, String>>,
}

impl ResultFiles {
    /// Returns the files in a folder.
    pub fn in_folder(path: &Path) -> Self {
        Self { path: path.to_owned(), texts: None }
    }

    /// Returns files that are only in memory. `path` names their folder in errors and commands.
    pub fn in_memory(path: &Path, texts: BTreeMap<String, String>) -> Self {
        Self { path: path.to_owned(), texts: Some(texts) }
    }

    /// Returns the path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if there is a file of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        match &self.texts {
            Some(texts) => texts.contains_key(name),
            None => self.path.join(name).is_file(),
        }
    }

    /// Returns true if something has this name, even if it is not a regular file.
    pub(super) fn has_entry(&self, name: &str) -> bool {
        match &self.texts {
            Some(texts) => texts.contains_key(name),
            None => self.path.join(name).exists(),
        }
    }

    /// Returns the names of all files, sorted.
    pub(super) fn names(&self) -> Result<Vec<String>, ResultsError> {
        if let Some(texts) = &self.texts {
            return Ok(texts.keys().cloned().collect());
        }
        let entries = fs::read_dir(&self.path);
        let entries = entries.map_err(|reason| ResultsError::unreadable(&self.path, reason))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        Ok(names)
    }

    /// Returns the text of a file.
    pub(super) fn text(&self, name: &str) -> Result<String, ResultsError> {
        let file = self.path.join(name);
        let text = match &self.texts {
            Some(texts) => texts.get(name).cloned().ok_or(io::ErrorKind::NotFound.into()),
            None => read_results(&file),
        };
        text.map_err(|reason| ResultsError::unreadable(&file, reason))
    }

    /// Returns the value of a JSON file.
    pub(super) fn json(&self, name: &str) -> Result<Value, ResultsError> {
        serde_json::from_str(&self.text(name)?).map_err(|error| ResultsError::Json {
            file: self.path.join(name).display().to_string(),
            line: error.line(),
            column: error.column(),
            reason: error.to_string(),
        })
    }

    /// Returns a table.
    pub(super) fn table(&self, name: &str) -> Result<Table, ResultsError> {
        Table::parse(&self.path.join(name).display().to_string(), &self.text(name)?)
    }
}
