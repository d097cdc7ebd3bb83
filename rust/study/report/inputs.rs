//! Input files of a scenario, which no output may replace.

use std::path::{Path, PathBuf};

use super::OutputError;
use crate::scenario::Scenario;

/// Existing files that a scenario names, and the scenario file itself.
#[derive(Debug, Clone, Default)]
pub struct Inputs(Vec<PathBuf>);

impl Inputs {
    /// Returns the inputs of the scenario in `file`; paths in it are relative to that file's
    /// folder.
    pub fn of(scenario: &Scenario, file: &Path) -> Self {
        let folder = file.parent().unwrap_or(Path::new(""));
        let mut names = Vec::new();
        add_texts(&toml::Value::Table(scenario.as_table()), &mut names);
        // A scenario names traces by their prefix.
        let named = names.iter().flat_map(|name| [name.clone(), format!("{name}.0.et")]);
        let all = named.map(|name| folder.join(name)).chain([file.to_owned()]);
        let files = all.filter(|path| path.is_file());
        Self(files.filter_map(|path| path.canonicalize().ok()).collect())
    }

    /// Rejects `path` as an output if it is an input.
    ///
    /// # Errors
    /// Fails if `path` is an input.
    pub fn reject_input(&self, path: &Path) -> Result<(), OutputError> {
        let is_input = path.canonicalize().is_ok_and(|path| self.0.contains(&path));
        if is_input {
            return Err(OutputError::Input { path: path.display().to_string() });
        }
        Ok(())
    }
}

/// Adds all strings of a table. Those that are names or quantities are not paths of files.
fn add_texts(value: &toml::Value, to: &mut Vec<String>) {
    match value {
        toml::Value::String(text) => to.push(text.clone()),
        toml::Value::Array(items) => items.iter().for_each(|item| add_texts(item, to)),
        toml::Value::Table(table) => table.values().for_each(|item| add_texts(item, to)),
        _ => {}
    }
}
