//! Positions in a scenario.

use std::fmt;

/// The position of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// In a line of the scenario.
    Line {
        /// Path of the scenario's file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// Column, from 1, in characters.
        column: usize,
        /// The number of characters.
        width: usize,
        /// The text of the whole line, for the excerpt.
        text: String,
    },
    /// In the scenario as a whole: a default is wrong, or something is missing.
    File {
        /// Path of the scenario's file.
        file: String,
    },
    /// In a value that the command line sets.
    CommandLine,
    /// In a key that the command line sets by its path.
    Setting {
        /// The path of the key.
        key: String,
        /// The value as typed.
        value: String,
    },
}

impl Position {
    /// The line with carets below the position; empty without a line.
    pub fn excerpt(&self) -> String {
        let Self::Line { line, column, width, text, .. } = self else {
            return String::new();
        };
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs stay tabs, so that the carets are below the position.
        let indent: String =
            text.chars().take(column - 1).map(|c| if c == '\t' { c } else { ' ' }).collect();
        let carets = "^".repeat((*width).max(1));
        format!("\n{margin} |\n{number} | {text}\n{margin} | {indent}{carets}")
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { file, line, column, .. } => write!(f, "{file}:{line}:{column}"),
            Self::File { file } => f.write_str(file),
            Self::CommandLine => f.write_str("command line"),
            Self::Setting { key, value } => write!(f, "--set {key}={value}"),
        }
    }
}
