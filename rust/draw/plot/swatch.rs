//! The appearance of a series in its line and in the legend: colour, dashes, marker.

use plotters::prelude::{Circle, Polygon};
use plotters::style::Color;

use super::canvas::{self, Anchor, Area, drawn, fine, path};
use super::style::{self, INK, TEXT};

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

/// Returns the width of a legend with these names.
pub(super) fn legend_width<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    let widest = names.map(|name| style::width(&shortened(name), TEXT)).fold(0.0, f64::max);
    SAMPLE + 8.0 + widest + 10.0
}

/// Draws the legend with its upper left corner at a point.
pub(super) fn legend<'a>(
    area: &Area<'_>,
    names: impl Iterator<Item = &'a str>,
    (left, top): (f64, f64),
) {
    for (index, name) in names.enumerate() {
        let y = top + ROW * (index as f64 + 0.5);
        let (color, right) = (style::color(index), left + SAMPLE);
        match style::dashes(index) {
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
        marker(area, index, (left + SAMPLE / 2.0, y));
        let font = canvas::font(TEXT, INK);
        canvas::write(area, &shortened(name), (right + 8.0, y), font, Anchor::Left);
    }
}

/// Returns the height of a legend.
pub(super) fn legend_height(entries: usize) -> f64 {
    ROW * entries as f64
}

fn shortened(name: &str) -> String {
    match name.chars().count() {
        length if length <= MAX_NAME_LENGTH => name.to_owned(),
        _ => name.chars().take(MAX_NAME_LENGTH - 1).chain(['…']).collect(),
    }
}
