//! The destination of a table's rows.

use std::fmt;
use std::io::{self, Write};

use crate::units::Time;

/// The destination of a table. Nothing is written to it after the first error.
pub(super) struct Sink {
    to: Box<dyn Write>,
    failed: Option<io::Error>,
}

impl Sink {
    /// Starts a table with these columns.
    pub(super) fn new(mut to: Box<dyn Write>, columns: &str) -> io::Result<Self> {
        writeln!(to, "{columns}")?;
        Ok(Self { to, failed: None })
    }

    pub(super) fn row(&mut self, row: fmt::Arguments<'_>) {
        if self.failed.is_none() {
            self.failed = writeln!(self.to, "{row}").err();
        }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.to.flush(), Err)
    }
}

/// Converts a time to nanoseconds, with picoseconds as decimals.
pub(super) fn nanoseconds(at: Time) -> f64 {
    at.as_ps() as f64 / 1e3
}
