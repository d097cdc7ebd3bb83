//! Limits of the lengths of files and lines.

use super::project::{Fault, SourceFile};

/// The longest file.
const MOST_LINES: usize = 450;
/// Half of the files are at most this long.
const MEDIAN_LINES: usize = 150;
/// The longest line of Rust; rustfmt does not wrap strings and comments.
const MOST_COLUMNS: usize = 100;

/// Faults of files that hold more than one concept.
pub(crate) fn length(file: &SourceFile) -> Vec<Fault> {
    let lines = file.text.lines().count();
    if lines <= MOST_LINES {
        return Vec::new();
    }
    let what = format!("{lines} lines: one concept, one file, of at most {MOST_LINES} lines");
    vec![file.fault(MOST_LINES + 1, what)]
}

/// A fault if most files are long.
pub(crate) fn median(files: &[SourceFile]) -> Vec<Fault> {
    let mut lengths: Vec<usize> = files.iter().map(|file| file.text.lines().count()).collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    if median <= MEDIAN_LINES {
        return Vec::new();
    }
    let what = format!(
        "half of the {} files have {median} lines or more: at most {MEDIAN_LINES} are allowed",
        files.len()
    );
    vec![Fault { path: "rust".to_owned(), line: 1, what }]
}

/// Faults of lines that are too wide.
pub(crate) fn width(file: &SourceFile) -> Vec<Fault> {
    let wide = file.text.lines().enumerate().filter_map(|(index, line)| {
        let columns = line.chars().count();
        (columns > MOST_COLUMNS).then_some((index + 1, columns))
    });
    wide.map(|(line, columns)| {
        file.fault(line, format!("{columns} columns: break the line at {MOST_COLUMNS} or before"))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile::new("rust/a.rs", text)
    }

    #[test]
    fn long_files_are_faults() {
        assert_eq!(length(&file(&"a\n".repeat(MOST_LINES))), []);
        let faults = length(&file(&"a\n".repeat(MOST_LINES + 1)));
        assert_eq!(faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [MOST_LINES + 1]);
    }

    #[test]
    fn a_long_median_is_a_fault() {
        let files = |lengths: [usize; 3]| lengths.map(|lines| file(&"a\n".repeat(lines)));
        assert_eq!(median(&files([1, MEDIAN_LINES, 400])), []);
        assert_eq!(median(&files([1, MEDIAN_LINES + 1, 400])).len(), 1);
    }

    #[test]
    fn wide_lines_are_faults() {
        let text = format!("a\n{}\n{}\n", "é".repeat(MOST_COLUMNS), "b".repeat(MOST_COLUMNS + 1));
        assert_eq!(width(&file(&text)).iter().map(|fault| fault.line).collect::<Vec<_>>(), [3]);
    }
}
