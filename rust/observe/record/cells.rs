//! Texts that files give, in the cells of tables: they must not act in the program that shows them.

use std::borrow::Cow;

/// The characters that begin a formula in a spreadsheet.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A text as a cell of CSV: one that a spreadsheet would take for a formula has a `'` before it,
/// which spreadsheets hide. Numbers stay as they are.
pub fn csv_text(text: &str) -> Cow<'_, str> {
    match acts(text) && text.parse::<f64>().is_err() {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

/// Whether a text is a formula, perhaps behind a `'` of its own.
fn acts(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(FORMULA)
}

/// A text as a field of a row: as [`csv_text`], and quoted if RFC 4180 requires it.
pub fn csv_field(text: &str) -> String {
    let text = csv_text(text);
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into_owned(),
    }
}

/// The text of a cell that [`csv_text`] wrote.
pub fn text_of_csv(cell: &str) -> &str {
    let rest = cell.strip_prefix('\'').filter(|rest| acts(rest));
    rest.unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_texts_and_numbers_are_numbers() {
        for text in
            ["=1+1", "@SUM(A1)", "+x", "-x", "a", "", "-3.5", "'quoted'", "'=1", "''=1", "'-3"]
        {
            let cell = csv_text(text);
            assert_eq!(text_of_csv(&cell), text);
            let acts = cell.starts_with(FORMULA) && cell.parse::<f64>().is_err();
            assert!(!acts, "{cell}");
        }
    }
}
