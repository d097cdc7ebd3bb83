//! The terminal of the progress bars.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use console::Term;
use indicatif::TermLike;

/// Columns at the end of each line that stay free.
const FREE: u16 = 4;

/// Standard error without its last columns. The bars fill each line and leave the cursor at the end
/// of the last one, where the terminal writes `^C`. On a full line it would wrap and move the
/// cursor away from the bars, which then could not be removed.
#[derive(Debug)]
pub(super) struct Narrow {
    term: Term,
    /// Columns written on the current line.
    written: Mutex<usize>,
    /// True once nothing more is written: other threads may still draw.
    is_closed: Arc<AtomicBool>,
}

impl Narrow {
    /// Returns the terminal, which writes until `is_closed` is true.
    pub(super) fn stderr(is_closed: Arc<AtomicBool>) -> Self {
        Self { term: Term::buffered_stderr(), written: Mutex::default(), is_closed }
    }

    fn set_written(&self, columns: usize) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = columns;
    }
}

/// Breaks a text into lines of `width` columns. The first line has `written` columns already. A
/// full line ends when more follows. Returns the lines and the columns of the last one.
fn wrapped(text: &str, written: usize, width: usize) -> (String, usize) {
    let (mut lines, mut column) = (String::with_capacity(text.len()), written);
    for character in text.chars() {
        if column >= width {
            lines.push('\n');
            column = 0;
        }
        lines.push(character);
        column += 1;
    }
    (lines, column)
}

impl TermLike for Narrow {
    fn width(&self) -> u16 {
        TermLike::width(&self.term).saturating_sub(FREE).max(1)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.term)
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        self.term.move_cursor_up(count)
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        self.term.move_cursor_down(count)
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        self.term.move_cursor_right(count)
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        self.term.move_cursor_left(count)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)?;
        self.set_written(0);
        self.term.write_str(if self.is_closed.load(Ordering::Relaxed) { "" } else { "\n" })
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let (lines, column) = wrapped(text, *written, self.width().into());
        *written = column;
        self.term.write_str(if self.is_closed.load(Ordering::Relaxed) { "" } else { &lines })
    }

    fn clear_line(&self) -> io::Result<()> {
        self.set_written(0);
        self.term.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.term.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_breaks_before_the_text_that_does_not_fit() {
        assert_eq!(wrapped("ab", 0, 4), ("ab".to_owned(), 2));
        assert_eq!(wrapped("  ", 2, 4), ("  ".to_owned(), 4), "a full line does not end yet");
        assert_eq!(wrapped("cd", 4, 4), ("\ncd".to_owned(), 2));
        assert_eq!(wrapped("abcdef", 0, 4), ("abcd\nef".to_owned(), 2));
    }
}
