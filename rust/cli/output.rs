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
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
}
