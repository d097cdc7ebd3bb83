//! Tables of at most 80 columns without frames. Two spaces separate columns, or one if two do not
//! fit.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

/// Default width of a terminal, in characters.
pub(super) const WIDTH: u16 = 80;

/// Width of the table of guesses, in characters.
const GUESS_WIDTH: u16 = 120;

/// Returns an empty table without frames.
pub(super) fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    table
}

/// Renders the table with a newline after each line. Columns from index `numbers_from` on are
/// right-aligned.
pub(super) fn finish(mut table: Table, numbers_from: usize) -> String {
    let text = with_gaps(&mut table, numbers_from, 2);
    let fits = |line: &str| line.chars().count() <= usize::from(WIDTH);
    if text.lines().all(fits) { text } else { with_gaps(&mut table, numbers_from, 1) }
}

/// Renders the table with `gap` spaces before each column except the first.
fn with_gaps(table: &mut Table, numbers_from: usize, gap: u16) -> String {
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { gap }, 0));
        if index >= numbers_from {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}

/// Returns a table of three columns: the first is the name, the last is the source.
pub fn list_table(headings: [&str; 3], rows: impl Iterator<Item = [&'static str; 3]>) -> String {
    let mut table = plain();
    table.set_header(headings);
    for row in rows {
        table.add_row(row);
    }
    // Names are copied into scenarios, so they must not wrap.
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    if let Some(sources) = table.column_mut(2) {
        sources.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(30)));
    }
    finish(table, usize::MAX)
}

/// Returns a table of the choices that sources leave open. Its columns are the number, the subject,
/// a proposal, the chosen value, keys with their defaults, and alternatives. It is wider than other
/// tables, since keys are copied into scenarios.
pub fn guess_table(rows: Vec<[String; 6]>) -> String {
    let mut table = plain();
    table.set_width(GUESS_WIDTH);
    let keys = "keys and their defaults";
    table.set_header(["", "left open", "proposed", "taken", keys, "other choices"]);
    table.add_rows(rows);
    for keys in [0, 4] {
        if let Some(column) = table.column_mut(keys) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    finish(table, usize::MAX)
}

/// Adds a paragraph in lines of at most 80 characters.
pub(super) fn wrap(text: &mut String, paragraph: &str) {
    let mut width = 0;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > usize::from(WIDTH) {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += length;
    }
    if width > 0 {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_wrap_within_their_columns() {
        let row = [
            "switch-rr-shuffled",
            "Switches take equal-cost ports in turn, in an order drawn anew after five turns",
            "An Example of a Paper with a Long Title, 2024, section 3",
        ];
        let text = list_table(["name", "what it does", "source"], [row].into_iter());
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(WIDTH)), "{text}");
        assert!(text.lines().nth(1).unwrap().starts_with("switch-rr-shuffled  Switches"), "{text}");
    }
}
