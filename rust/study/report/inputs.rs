//! The files that a scenario is read from, which no output may replace.

use std::path::{Path, PathBuf};

use super::OutputError;
use crate::scenario::Scenario;

/// The files that exist of those that a scenario names, and its own.
#[derive(Debug, Clone, Default)]
pub struct Inputs(Vec<PathBuf>);

impl Inputs {
    /// Those of the scenario in `file`; paths in it are relative to that.
    pub fn of(scenario: &Scenario, file: &Path) -> Self {
        let folder = file.parent().unwrap_or(Path::new(""));
        let mut names = Vec::new();
        add_texts(&toml::Value::Table(scenario.as_table()), &mut names);
        // Of traces a scenario has the prefix.
        let named = names.iter().flat_map(|name| [name.clone(), format!("{name}.0.et")]);
        let all = named.map(|name| folder.join(name)).chain([file.to_owned()]);
        let files = all.filter(|path| path.is_file());
        Self(files.filter_map(|path| path.canonicalize().ok()).collect())
    }

    /// Refuses to write `path` if it is one of them.
    ///
    /// # Errors
    /// It is.
    pub fn spare(&self, path: &Path) -> Result<(), OutputError> {
        let is_input = path.canonicalize().is_ok_and(|path| self.0.contains(&path));
        if is_input {
            return Err(OutputError::Input { path: path.display().to_string() });
        }
        Ok(())
    }
}

/// All texts of a table: those that are paths of no file are names and quantities.
fn add_texts(value: &toml::Value, to: &mut Vec<String>) {
    match value {
        toml::Value::String(text) => to.push(text.clone()),
        toml::Value::Array(items) => items.iter().for_each(|item| add_texts(item, to)),
        toml::Value::Table(table) => table.values().for_each(|item| add_texts(item, to)),
        _ => {}
    }
}
