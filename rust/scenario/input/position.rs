//! Positions in a scenario.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// Position of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// A line of the scenario.
    Line {
        /// Path of the scenario file.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// Text of the whole line, for the excerpt.
        text: String,
        /// Marked byte range of that text.
        marked: Range<usize>,
    },
    /// The scenario as a whole: a default is wrong, or something is missing.
    File {
        /// Path of the scenario file.
        file: String,
    },
    /// A value set on the command line.
    CommandLine,
    /// A key set on the command line by its path.
    Setting {
        /// Path of the key.
        key: String,
        /// Value as typed.
        value: String,
    },
}

impl Position {
    /// Returns the marked value, or the value set on the command line; `None` without a value.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::Line { text, marked, .. } => {
                let is_value = text.get(..marked.start)?.contains('=');
                is_value.then(|| text.get(marked.clone())).flatten()
            }
            Self::Setting { value, .. } => Some(value),
            Self::File { .. } | Self::CommandLine => None,
        }
    }

    /// Returns the line with carets below the position; empty without a line.
    pub fn excerpt(&self) -> String {
        let Self::Line { line, text, marked, .. } = self else {
            return String::new();
        };
        // The renderer panics if a range splits a character.
        let is_whole = text.get(marked.clone()).is_some();
        let marked = if is_whole { marked.clone() } else { 0..text.len() };
        let mark = AnnotationKind::Primary.span(marked);
        let snippet = Snippet::source(text).line_start(*line).annotation(mark);
        let group = Group::with_level(Level::ERROR).element(snippet);
        format!("\n{}", Renderer::plain().render(&[group]))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str, marked: Range<usize>) -> String {
        let (file, text) = (String::new(), text.to_owned());
        Position::Line { file, line: 12, column: 1, text, marked }.excerpt()
    }

    #[test]
    fn carets_are_below_the_marked_bytes_after_tabs_and_wide_characters() {
        assert_eq!(excerpt("k = 3", 4..5), "\n   |\n12 | k = 3\n   |     ^");
        assert_eq!(excerpt("\tk = 3", 5..6), "\n   |\n12 |     k = 3\n   |         ^");
        assert_eq!(excerpt("\"名\" = 3", 8..9), "\n   |\n12 | \"名\" = 3\n   |        ^");
        assert_eq!(excerpt("seed =", 6..6), "\n   |\n12 | seed =\n   |       ^");
    }

    #[test]
    fn a_long_line_is_trimmed_and_a_range_within_a_character_is_the_line() {
        let long = format!("{{ {}k = 3{} }}", "a = 1, ".repeat(40), ", b = 2".repeat(40));
        let at = long.find("k = 3").unwrap();
        let said = excerpt(&long, at..at + 5);
        assert!(said.contains("k = 3") && said.lines().all(|line| line.len() < 150), "{said}");
        assert_eq!(excerpt("é", 0..1), "\n   |\n12 | é\n   | ^");
    }
}
