//! The appearance of a series in its line and in the legend: colour, dashes, marker.

use plotters::prelude::{Circle, Polygon};
use plotters::style::Color;

use super::canvas::{self, Anchor, Area, drawn, fine, path};
use super::style::{self, FAINT, INK, TEXT};

/// Height of a legend entry.
const ROW: f64 = 21.0;
/// Width of the line sample in the legend.
const SAMPLE: f64 = 34.0;
/// Maximum number of characters of a name in the legend.
const MAX_NAME_LENGTH: usize = 34;

/// Draws the marker of a series around a point.
pub(super) fn marker(area: &Area<'_>, index: usize, (x, y): (f64, f64)) {
    let color = style::color(index);
    let polygon = |corners: &[(f64, f64)]| {
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (fine(x + dx), fine(y + dy))).collect();
        drawn(area.draw(&Polygon::new(corners, color.filled())));
    };
    match index % 6 {
        0 => drawn(area.draw(&Circle::new((fine(x), fine(y)), fine(3.6), color.filled()))),
        1 => polygon(&[(-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)]),
        2 => polygon(&[(0.0, -4.6), (4.4, 3.4), (-4.4, 3.4)]),
        3 => polygon(&[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)]),
        4 => polygon(&[(-4.4, -3.4), (4.4, -3.4), (0.0, 4.6)]),
        _ => {
            path(area, &[(x - 3.6, y - 3.6), (x + 3.6, y + 3.6)], color, 2.0);
            path(area, &[(x - 3.6, y + 3.6), (x + 3.6, y - 3.6)], color, 2.0);
        }
    }
}

/// An entry of a legend: the style of the line, and its name.
pub(super) type Entry = (usize, String);

/// A legend: what all lines have in common, and what differs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Legend {
    pub common: String,
    pub entries: Vec<Entry>,
}

impl Legend {
    /// Returns the legend of these lines.
    pub(super) fn of(lines: &[Entry]) -> Self {
        let names: Vec<&str> = lines.iter().map(|(_, name)| name.as_str()).collect();
        let (common, names) = differing(&names);
        let entries = lines.iter().zip(names).map(|((style, _), name)| (*style, shortened(&name)));
        Self { common: shortened(&common), entries: entries.collect() }
    }

    /// Returns the width of a column of entries.
    fn column(&self) -> f64 {
        let names = self.entries.iter().map(|(_, name)| name).chain([&self.common]);
        SAMPLE + 8.0 + names.map(|name| style::width(name, TEXT)).fold(0.0, f64::max) + 10.0
    }

    fn rows(&self, columns: usize) -> usize {
        usize::from(!self.common.is_empty()) + self.entries.len().div_ceil(columns.max(1))
    }

    /// Returns the size with this many columns.
    pub(super) fn size(&self, columns: usize) -> (f64, f64) {
        (self.column() * columns as f64, ROW * self.rows(columns) as f64)
    }

    /// Returns the number of columns that fit into a width.
    pub(super) fn columns_in(&self, width: f64) -> usize {
        ((width / self.column()) as usize).clamp(1, self.entries.len().max(1))
    }

    /// Draws the legend with its upper left corner at a point.
    pub(super) fn draw(&self, area: &Area<'_>, (left, top): (f64, f64), columns: usize) {
        let mut top = top;
        if !self.common.is_empty() {
            let font = canvas::font(TEXT, FAINT);
            canvas::write(area, &self.common, (left, top + ROW / 2.0), font, Anchor::Left);
            top += ROW;
        }
        let rows = self.entries.len().div_ceil(columns.max(1)).max(1);
        for (index, entry) in self.entries.iter().enumerate() {
            let x = left + self.column() * (index / rows) as f64;
            draw_entry(area, entry, (x, top + ROW * ((index % rows) as f64 + 0.5)));
        }
    }
}

/// Draws an entry: a sample of the line, and the name.
fn draw_entry(area: &Area<'_>, (index, name): &Entry, (left, y): (f64, f64)) {
    let (color, right) = (style::color(*index), left + SAMPLE);
    match style::dashes(*index) {
        None => path(area, &[(left, y), (right, y)], color, 2.0),
        Some((dash, gap)) => {
            let mut x = left;
            while x < right {
                let end = (x + f64::from(dash)).min(right);
                path(area, &[(x, y), (end, y)], color, 2.0);
                x += f64::from(dash + gap);
            }
        }
    }
    marker(area, *index, (left + SAMPLE / 2.0, y));
    canvas::write(area, name, (right + 8.0, y), canvas::font(TEXT, INK), Anchor::Left);
}

/// Returns the words that all names begin and end with, and what differs. A single name is kept.
fn differing(names: &[&str]) -> (String, Vec<String>) {
    let words: Vec<Vec<&str>> = names.iter().map(|name| name.split(' ').collect()).collect();
    let fewest = words.iter().map(Vec::len).min().unwrap_or(0);
    let whole = || (String::new(), names.iter().map(|name| (*name).to_owned()).collect());
    if names.len() < 2 || fewest < 2 {
        return whole();
    }
    let is_common =
        |word: &dyn Fn(&Vec<&str>) -> String| words.iter().all(|it| word(it) == word(&words[0]));
    // At least one word remains.
    let first = (0..fewest - 1).take_while(|&at| is_common(&|it| it[at].to_owned())).count();
    let last = (0..fewest - 1 - first)
        .take_while(|&at| is_common(&|it| it[it.len() - 1 - at].to_owned()))
        .count();
    if first + last == 0 {
        return whole();
    }
    let tidy = |words: &[&str]| words.join(" ").trim_matches(',').to_owned();
    let (start, end) = (tidy(&words[0][..first]), tidy(&words[0][words[0].len() - last..]));
    let common = match (start.is_empty(), end.is_empty()) {
        (false, true) => format!("{start} …"),
        (true, _) => format!("… {end}"),
        _ => format!("{start} … {end}"),
    };
    (common, words.iter().map(|it| tidy(&it[first..it.len() - last])).collect())
}

fn shortened(name: &str) -> String {
    match name.chars().count() {
        length if length <= MAX_NAME_LENGTH => name.to_owned(),
        _ => name.chars().take(MAX_NAME_LENGTH - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_has_what_differs() {
        let of = |names: &[&str]| {
            let (common, names) = differing(names);
            (common, names.join("|"))
        };
        let pair = |common: &str, names: &str| (common.to_owned(), names.to_owned());
        let links = ["leaf0 to spine0", "leaf0 to spine1"];
        assert_eq!(of(&links), pair("leaf0 to …", "spine0|spine1"));
        let incast = ["host0 to host7", "host3 to host7"];
        assert_eq!(of(&incast), pair("… to host7", "host0|host3"));
        assert_eq!(of(&["ecmp, median", "ecmp, 99 %"]), pair("ecmp …", "median|99 %"));
        assert_eq!(of(&["ecmp", "ecmp seed"]), pair("", "ecmp|ecmp seed"));
        assert_eq!(of(&["a to b"]), pair("", "a to b"));
    }
}
