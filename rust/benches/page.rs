//! The tables of `docs/speed.md`, each written by a command between two markers.

use std::fmt::Write;

/// A table in Markdown.
#[derive(Default)]
pub(crate) struct Table {
    text: String,
}

impl Table {
    /// Creates a table with these columns.
    pub(crate) fn new(columns: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(columns.join(" | "));
        table.row(vec!["---"; columns.len()].join("|"));
        table
    }

    /// Adds a row, given as cells separated by `|`, and returns it.
    pub(crate) fn row(&mut self, cells: impl AsRef<str>) -> &str {
        let start = self.text.len();
        let cells = cells.as_ref();
        let edge = if cells.starts_with("---") { "" } else { " " };
        writeln!(self.text, "|{edge}{cells}{edge}|").expect("a text takes any length");
        self.text[start..].trim_end()
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the text between the markers of table `name` in a page.
///
/// # Errors
/// Names the missing marker.
pub(crate) fn section<'a>(page: &'a str, name: &str) -> Result<&'a str, String> {
    let [begin, end] = ["begin", "end"].map(|word| format!("<!-- {word}: {name} -->\n"));
    let (_, rest) = page.split_once(&begin).ok_or_else(|| format!("no line {begin:?}"))?;
    let (section, _) = rest.split_once(&end).ok_or_else(|| format!("no line {end:?}"))?;
    Ok(section)
}

/// Returns the page with table `name` replaced.
///
/// # Errors
/// As [`section`].
pub(crate) fn replaced(page: &str, name: &str, table: &Table) -> Result<String, String> {
    let old = section(page, name)?;
    // `section` returns a slice of the page, so the pointers give its offset.
    let start = old.as_ptr() as usize - page.as_ptr() as usize;
    Ok([&page[..start], table.text(), &page[start + old.len()..]].concat())
}

/// Formats a number with thousands separators: `1,024`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
