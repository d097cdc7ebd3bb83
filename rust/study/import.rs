//! Scenarios of files of other projects: `evenkeel import`.
//!
//! A scenario names the file and has what the file does not say: a fabric for files of messages,
//! messages for files of fabrics. An experiment of the HPCC family becomes a scenario only if the
//! setup of its run is the same.

mod error;
mod experiment;
mod file;

use std::path::Path;

use toml::{Table, Value};

use crate::scenario::{Overrides, Scenario, Setting, relative_path};
pub use error::ImportError;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A configuration of the HPCC family, or a flow file.
    Hpcc,
    /// A connection matrix of htsim.
    Htsim,
    /// A GOAL schedule.
    Goal,
    /// Chakra traces: the file of a rank, or the prefix of all.
    Chakra,
    /// A flow file of SimCCL.
    Simccl,
    /// A description of InfraGraph.
    Infragraph,
}

/// A file to be imported.
#[derive(Debug, Clone, Copy)]
pub struct Import<'a> {
    /// The file.
    pub file: &'a Path,
    /// What it is.
    pub source: Source,
    /// The file of the fabric, for files of messages.
    pub topology: Option<&'a Path>,
    /// Keys of the scenario, each of a section.
    pub settings: &'a [Setting],
    /// The folder that the scenario is written into, to which its paths are relative.
    pub folder: &'a Path,
}

/// An imported file.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The scenario's text.
    pub text: String,
    /// What a user should know about the file and the scenario.
    pub warnings: Vec<String>,
}

/// The sections of a scenario with what explains them.
#[derive(Debug, Default)]
struct Draft {
    comments: Vec<String>,
    table: Table,
    warnings: Vec<String>,
}

/// A text as a comment: the name of a file may have any character.
fn comment(text: &str) -> String {
    let shown = text.chars().flat_map(|it| match it.is_control() {
        true => it.escape_default().collect::<Vec<char>>(),
        false => vec![it],
    });
    format!("# {}\n", shown.collect::<String>())
}

impl Import<'_> {
    /// The scenario of the file, which is valid.
    ///
    /// # Errors
    /// The file is invalid, or a scenario cannot say what it says.
    pub fn scenario(&self) -> Result<Imported, ImportError> {
        let experiment = match self.source {
            Source::Hpcc => experiment::read(self)?,
            _ => None,
        };
        let mut draft = match &experiment {
            Some(experiment) => experiment::draft(self, experiment)?,
            None => file::draft(self)?,
        };
        for setting in self.settings {
            draft.set(setting)?;
        }
        let comments: String = draft.comments.iter().map(|line| comment(line)).collect();
        let text = format!("{comments}\n{}", toml::to_string(&draft.table)?);
        let name = self.file.file_stem().unwrap_or_default().to_string_lossy();
        let scenario = Scenario::parse(&text, &name, self.folder, &Overrides::default())?;
        if let Some(experiment) = &experiment {
            experiment::expect_same(&experiment.setup, &scenario.setup())?;
        }
        draft.warnings.extend(scenario.warnings);
        Ok(Imported { text, warnings: draft.warnings })
    }

    /// A path in the scenario.
    fn path(&self, file: &Path) -> Value {
        relative_path(file, self.folder).display().to_string().into()
    }
}

impl Draft {
    /// Sets a key of a section.
    fn set(&mut self, setting: &Setting) -> Result<(), ImportError> {
        let Setting { key, value } = setting;
        let mut steps = key.split('.');
        let (Some(section), Some(name), None) = (steps.next(), steps.next(), steps.next()) else {
            return Err(ImportError::Setting(key.clone()));
        };
        // What is no TOML is a text, so that `500ns` needs no quotes.
        let parsed = format!("value = {value}").parse::<Table>().ok();
        let parsed = parsed.and_then(|mut table| table.remove("value"));
        let value = parsed.unwrap_or_else(|| value.as_str().into());
        self.section(section)?.insert(name.to_owned(), value);
        Ok(())
    }

    fn section(&mut self, name: &str) -> Result<&mut Table, ImportError> {
        let section = self.table.entry(name).or_insert_with(|| Table::new().into());
        section.as_table_mut().ok_or_else(|| ImportError::Setting(name.to_owned()))
    }

    fn add<const N: usize>(&mut self, section: &str, keys: [(&str, Value); N]) {
        let keys = keys.into_iter().map(|(key, value)| (key.to_owned(), value));
        self.table.insert(section.to_owned(), Table::from_iter(keys).into());
    }
}

#[cfg(test)]
mod tests;
