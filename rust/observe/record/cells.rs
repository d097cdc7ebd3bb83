//! Escapes text from input files in CSV cells, so that a spreadsheet does not execute it.

use std::borrow::Cow;

/// Characters that start a formula in a spreadsheet.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Returns a text as a CSV cell. A text that a spreadsheet would take for a formula gets a leading
/// `'`, which spreadsheets hide. Numbers are unchanged.
pub fn csv_text(text: &str) -> Cow<'_, str> {
    match is_formula(text) && text.parse::<f64>().is_err() {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

/// Returns true if a text is a formula, possibly after leading `'`.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(FORMULA)
}

/// Escapes a text like [`csv_text`], and quotes it if RFC 4180 requires that.
pub fn csv_field(text: &str) -> String {
    let text = csv_text(text);
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into_owned(),
    }
}

/// Returns the original text of a cell that [`csv_text`] wrote.
pub fn unescape_csv(cell: &str) -> &str {
    let rest = cell.strip_prefix('\'').filter(|rest| is_formula(rest));
    rest.unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_escaped_and_numbers_are_not() {
        for text in
            ["=1+1", "@SUM(A1)", "+x", "-x", "a", "", "-3.5", "'quoted'", "'=1", "''=1", "'-3"]
        {
            let cell = csv_text(text);
            assert_eq!(unescape_csv(&cell), text);
            let is_formula = cell.starts_with(FORMULA) && cell.parse::<f64>().is_err();
            assert!(!is_formula, "{cell}");
        }
    }
}
