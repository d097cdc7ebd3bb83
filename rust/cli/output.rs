//! Printing on standard output and standard error, which may be closed at any time.

use std::ffi::OsString;
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

/// Prints `text` for people. It may echo names with characters that harm a terminal.
pub(super) fn print_text(text: &str) -> anyhow::Result<()> {
    print(&escaped(text))
}

/// Escapes characters that harm a terminal or reorder text on it.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match harms(character) {
            true => escaped.extend(character.escape_unicode()),
            false => escaped.push(character),
        }
    }
    escaped
}

/// True for control characters except line breaks and tabs, and for characters that set the
/// direction of text or break lines.
fn harms(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

/// Prints `value` as JSON on one line.
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

/// Prints a note on standard error.
pub(super) fn note(text: &str) {
    print_error_line(&format!("note: {text}"));
}

/// Prints a line on standard error; failures are ignored, because there is nowhere to report them.
fn print_error_line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shown(text.trim_end()));
}

/// Prints help or a usage error and exits. An echoed argument may harm a terminal; colours are then
/// disabled.
pub(super) fn end_with(error: &clap::Error) -> ! {
    let is_safe = |argument: OsString| argument.to_str().is_some_and(|it| shown(it) == it);
    if std::env::args_os().all(is_safe) || !error.use_stderr() {
        error.exit();
    }
    let text = shown(&error.render().to_string());
    let _ = io::stderr().lock().write_all(text.as_bytes());
    std::process::exit(error.exit_code())
}

/// Most characters of a message line, which may echo the content of a file.
const MAX_LINE_LEN: usize = 1_000;

/// Returns a message that is safe to print: control characters are escaped, long lines are cut.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for line in text.split_inclusive('\n') {
        let end = line.char_indices().nth(MAX_LINE_LEN).map_or(line.len(), |(end, _)| end);
        shown.push_str(&escaped(&line[..end]));
        let more = line.trim_end_matches('\n').chars().count().saturating_sub(MAX_LINE_LEN);
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
    fn text_from_files_is_escaped_and_truncated() {
        assert_eq!(shown("unknown key 'a\u{1b}[31m'\n\t^"), "unknown key 'a\\u{1b}[31m'\n\t^");
        assert_eq!(shown("'\u{202e}lmot.x\u{2069}'\r"), "'\\u{202e}lmot.x\\u{2069}'\\u{d}");
        let long = shown(&format!("{}\nsecond", "y".repeat(MAX_LINE_LEN + 7)));
        assert!(long.ends_with("yyy... and 7 characters more\nsecond"), "{long}");
    }
}
