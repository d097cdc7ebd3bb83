//! Converts files of other projects to scenarios: `evenkeel import`.
//!
//! A scenario names the file and adds what the file lacks: a fabric for files of messages, messages
//! for files of fabrics. An experiment of the HPCC family is imported only if the scenario yields
//! the same setup.

mod error;
mod experiment;
mod file;

use std::path::Path;

use toml::{Table, Value};

use crate::scenario::{Overrides, Scenario, Setting, relative_path};
pub use error::ImportError;

/// Format of an imported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A configuration or a flow file of the HPCC family.
    Hpcc,
    /// A connection matrix of htsim.
    Htsim,
    /// A GOAL schedule.
    Goal,
    /// Chakra traces: the file of one rank, or the common prefix of all.
    Chakra,
    /// A flow file of SimCCL.
    Simccl,
    /// A description of InfraGraph.
    Infragraph,
}

impl Source {
    /// Names of the formats.
    pub const NAMES: [(&str, Self); 6] = [
        ("hpcc", Self::Hpcc),
        ("htsim", Self::Htsim),
        ("goal", Self::Goal),
        ("chakra", Self::Chakra),
        ("simccl", Self::Simccl),
        ("infragraph", Self::Infragraph),
    ];

    /// Returns the format for the extension of `file`.
    pub fn of(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_str()?;
        let ending = name.strip_suffix(".gz").unwrap_or(name).rsplit_once('.')?.1;
        Some(match ending {
            "txt" => Self::Hpcc,
            "cm" => Self::Htsim,
            "goal" => Self::Goal,
            "et" => Self::Chakra,
            "csv" => Self::Simccl,
            "yaml" | "yml" | "json" => Self::Infragraph,
            _ => return None,
        })
    }
}

/// Arguments of an import.
#[derive(Debug, Clone, Copy)]
pub struct Import<'a> {
    /// File to import.
    pub file: &'a Path,
    /// Format of the file.
    pub source: Source,
    /// Topology file, for files of messages.
    pub topology: Option<&'a Path>,
    /// Additional scenario keys, each in a section.
    pub settings: &'a [Setting],
    /// Folder that the scenario is written to; its paths are relative to this folder.
    pub folder: &'a Path,
}

/// An imported file.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Text of the scenario.
    pub text: String,
    /// Warnings about the file and the scenario.
    pub warnings: Vec<String>,
    /// Parts that the file lacks and that the scenario fills with examples.
    pub notes: Vec<String>,
}

/// Sections of a scenario, with explanatory comments.
#[derive(Debug, Default)]
struct Draft {
    comments: Vec<String>,
    table: Table,
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// Formats a text as a comment. Control characters are escaped, since a file name may have any.
fn comment(text: &str) -> String {
    let shown = text.chars().flat_map(|it| match it.is_control() {
        true => it.escape_default().collect::<Vec<char>>(),
        false => vec![it],
    });
    format!("# {}\n", shown.collect::<String>())
}

impl Import<'_> {
    /// Returns the scenario of the file, which has been validated.
    ///
    /// # Errors
    /// Fails if the file is invalid, or if a scenario cannot express its content.
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
        Ok(Imported { text, warnings: draft.warnings, notes: draft.notes })
    }

    /// True if the command line sets a key of the section.
    fn sets(&self, section: &str) -> bool {
        let own = |setting: &Setting| setting.key.split('.').next() == Some(section);
        self.settings.iter().any(own)
    }

    /// Returns the path of a file as written in the scenario.
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
        // A value that is not TOML is a string, so `500ns` needs no quotes.
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
