//! Standard output and standard error, which may be closed at any time.

use std::io::{self, ErrorKind, Write};

use anyhow::anyhow;

/// Prints `text` on standard output. A reader that has seen enough, as `head` has, is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow!("standard output: cannot write: {error}"))
        }
        _ => Ok(()),
    }
}

/// Prints `value` as JSON on a line of its own.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&format!("{}\n", serde_json::to_string(value)?))
}

/// Tells people of an error.
pub fn error(text: &str) {
    tell(&format!("error: {text}"));
}

/// Tells people of something that they should know.
pub fn warning(text: &str) {
    tell(&format!("warning: {text}"));
}

/// Where standard error is closed, nobody listens, and that is all.
fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
}
