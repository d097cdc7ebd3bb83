//! Limits for the lengths of files, functions and lines.

use super::lexer;
use super::project::{Fault, SourceFile};

/// Maximum number of lines in a file.
const MOST_LINES: usize = 450;
/// Maximum for the median number of lines of all files.
const MEDIAN_LINES: usize = 150;
/// Maximum number of lines in a function, including comments.
const MOST_FUNCTION_LINES: usize = 60;
/// Maximum width of a line of Rust, because rustfmt does not wrap strings and comments.
const MOST_COLUMNS: usize = 100;

/// Finds files that are too long, and thus hold more than one concept.
pub(crate) fn length(file: &SourceFile) -> Vec<Fault> {
    let lines = file.text.lines().count();
    if lines <= MOST_LINES {
        return Vec::new();
    }
    let what = format!("{lines} lines: the maximum is {MOST_LINES}; keep one concept per file");
    vec![file.fault(MOST_LINES + 1, what)]
}

/// Returns a fault if most files are long.
pub(crate) fn median(files: &[SourceFile]) -> Vec<Fault> {
    let mut lengths: Vec<usize> = files.iter().map(|file| file.text.lines().count()).collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    if median <= MEDIAN_LINES {
        return Vec::new();
    }
    let what = format!(
        "half of the {} files have {median} lines or more: the maximum is {MEDIAN_LINES}",
        files.len()
    );
    vec![Fault { path: "rust".to_owned(), line: 1, what }]
}

/// Finds functions that are too long, from the line with `fn` to the one with the closing brace.
pub(crate) fn function_length(file: &SourceFile) -> Vec<Fault> {
    let code = lexer::split(&file.text).code;
    let starts = code.match_indices("fn ").filter(|(at, _)| {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        !code[..*at].ends_with(is_word) && code[at + 3..].starts_with(is_word)
    });
    let long = starts.filter_map(|(at, _)| {
        let lines = code[at..at + body_end(&code[at..])?].lines().count();
        let line = code[..at].matches('\n').count() + 1;
        let what = format!("a function has {lines} lines: the maximum is {MOST_FUNCTION_LINES}");
        (lines > MOST_FUNCTION_LINES).then(|| file.fault(line, what))
    });
    long.collect()
}

/// Returns the end of the body of the function that `code` starts with; `None` if it has none.
fn body_end(code: &str) -> Option<usize> {
    let (mut braces, mut brackets) = (0u32, 0u32);
    for (at, character) in code.char_indices() {
        match character {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.checked_sub(1)?,
            '{' => braces += 1,
            '}' => braces = braces.checked_sub(1)?,
            ';' if braces == 0 && brackets == 0 => return None,
            _ => {}
        }
        if character == '}' && braces == 0 && brackets == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Finds lines that are too wide.
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
    fn long_functions_are_faults() {
        let function = |lines: usize| {
            format!(
                "trait A {{\n    fn a(b: [u8; 4]);\n    fn c() {{\n{}    }}\n}}\n",
                "// }\n".repeat(lines)
            )
        };
        assert_eq!(function_length(&file(&function(MOST_FUNCTION_LINES - 2))), []);
        let faults = function_length(&file(&function(MOST_FUNCTION_LINES - 1)));
        assert_eq!(faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn wide_lines_are_faults() {
        let text = format!("a\n{}\n{}\n", "é".repeat(MOST_COLUMNS), "b".repeat(MOST_COLUMNS + 1));
        assert_eq!(width(&file(&text)).iter().map(|fault| fault.line).collect::<Vec<_>>(), [3]);
    }
}
