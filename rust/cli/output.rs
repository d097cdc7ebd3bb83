//! Printing on standard output and standard error, which may be closed at any time.

use std::io::{self, ErrorKind, Write};

use anyhow::anyhow;

/// Prints `text` on standard output. A closed pipe is not an error: `head` closes it early.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow!("standard output: cannot write: {error}"))
        }
        _ => Ok(()),
    }
}

/// Prints `value` as JSON on a line of its own.
pub(super) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&format!("{}\n", serde_json::to_string(value)?))
}

/// Prints an error message.
pub(super) fn error(text: &str) {
    print_error_line(&format!("error: {text}"));
}

/// Prints a warning on standard error.
pub(super) fn warning(text: &str) {
    print_error_line(&format!("warning: {text}"));
}

/// Prints what a user may want to know.
pub(super) fn note(text: &str) {
    print_error_line(&format!("note: {text}"));
}

/// Prints a line on standard error; failures are ignored, because there is nowhere to report them.
fn print_error_line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shown(text.trim_end()));
}

/// The most characters of a line of a message: what a file says may be echoed in it.
const LONGEST_LINE: usize = 1_000;

/// A message that cannot harm a terminal: control characters are escaped, long lines are cut.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for line in text.split_inclusive('\n') {
        for character in line.chars().take(LONGEST_LINE) {
            match character {
                '\n' | '\t' => shown.push(character),
                _ if character.is_control() => shown.extend(character.escape_default()),
                _ => shown.push(character),
            }
        }
        let more = line.trim_end_matches('\n').chars().count().saturating_sub(LONGEST_LINE);
        if more > 0 {
            shown.push_str(&format!("... and {more} characters more\n"));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_says_is_escaped_and_cut() {
        assert_eq!(shown("unknown key 'a\u{1b}[31m'\n\t^"), "unknown key 'a\\u{1b}[31m'\n\t^");
        let long = shown(&format!("{}\nsecond", "y".repeat(LONGEST_LINE + 7)));
        assert!(long.ends_with("yyy... and 7 characters more\nsecond"), "{long}");
    }
}
