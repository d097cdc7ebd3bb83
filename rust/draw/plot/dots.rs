//! A dot plot: one row per name, with its value and interval.

use serde::Serialize;

use super::Axis;
use super::canvas::{self, Anchor, Area, path};
use super::ruler::Ruler;
use super::style::{self, ALARM, FAINT, GRID, INK, NOTE, TEXT, TITLE};
use super::swatch;

/// Height of a row, unless the size of the sheet is given.
const ROW: f64 = 25.0;
/// Width of the axis, unless the size of the sheet is given.
const RULER: f64 = 300.0;
/// Width of the value next to a row, and of the margin.
const VALUES: f64 = 96.0;
const HEADER: f64 = 62.0;
const FOOTER: f64 = 56.0;

/// A dot plot; the first row is at the top.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DotPlot {
    /// Title.
    pub title: String,
    /// Note for readers; may be empty.
    pub note: String,
    /// The axis of the values.
    pub axis: Axis,
    /// The rows.
    pub rows: Vec<DotRow>,
    /// Meaning of the rows' reference values, if they have any.
    pub reference: String,
}

/// A name with its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DotRow {
    /// The name.
    pub name: String,
    /// The value, such as a mean.
    pub value: f64,
    /// The 95 % interval of the value, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Individual values, such as one per seed.
    pub values: Vec<f64>,
    /// Reference value, such as a published one.
    pub reference: Option<f64>,
}

impl DotPlot {
    fn names(&self) -> f64 {
        let names = self.rows.iter().map(|row| style::width(&row.name, TEXT));
        names.fold(40.0, f64::max) + 30.0
    }

    fn ruler(&self, count: usize) -> Ruler {
        let values = self.rows.iter().flat_map(|row| {
            [row.value].into_iter().chain(row.reference).chain(row.values.iter().copied())
        });
        let values: Vec<f64> = values.collect();
        let intervals: Vec<_> = self.rows.iter().filter_map(|row| row.interval).collect();
        self.axis.ruler(self.axis.range(&values, &intervals).into_iter(), count)
    }

    fn width(&self, ruler: f64) -> f64 {
        let title = style::width(&self.title, TITLE).max(style::width(&self.note, NOTE));
        (self.names() + ruler + VALUES).max(title + 24.0)
    }
}

/// Sizes of the parts of a plot.
#[derive(Debug, Clone, Copy)]
struct Layout {
    row: f64,
    ruler: f64,
    /// True if the sheet has a given size, which titles do not widen.
    is_fixed: bool,
}

impl Layout {
    fn width(self, plot: &DotPlot) -> f64 {
        match self.is_fixed {
            true => plot.names() + self.ruler + VALUES,
            false => plot.width(self.ruler),
        }
    }
}

/// Returns the SVG of the plots, side by side; `size` is the size of the whole sheet in pixels.
pub(super) fn svg(plots: &[DotPlot], size: Option<(f64, f64)>) -> String {
    let rows = plots.iter().map(|plot| plot.rows.len()).max().unwrap_or(0);
    let layout =
        size.map_or(Layout { row: ROW, ruler: RULER, is_fixed: false }, |(width, height)| {
            let each = width / plots.len().max(1) as f64;
            let names = plots.iter().map(DotPlot::names).fold(0.0, f64::max);
            let row = (height - HEADER - FOOTER) / rows.max(1) as f64;
            Layout { row: row.max(16.0), ruler: (each - names - VALUES).max(80.0), is_fixed: true }
        });
    let height = HEADER + layout.row * rows as f64 + FOOTER;
    let titles: Vec<&str> = plots.iter().map(|plot| plot.title.as_str()).collect();
    canvas::svg(
        plots.iter().map(|plot| layout.width(plot)).sum(),
        height,
        &titles.join("; "),
        |area| {
            let mut left = 0.0;
            for plot in plots {
                draw(plot, area, left, layout);
                left += layout.width(plot);
            }
        },
    )
}

fn draw(plot: &DotPlot, area: &Area<'_>, left: f64, layout: Layout) {
    let ink = || canvas::font(TEXT, INK);
    let faint = || canvas::font(NOTE, FAINT);
    let room = layout.width(plot) - 24.0;
    let title = canvas::font(style::fitting(&plot.title, TITLE, room), INK);
    let note = canvas::font(style::fitting(&plot.note, NOTE, room), FAINT);
    canvas::write(area, &plot.title, (left + 16.0, 21.0), title, Anchor::Left);
    canvas::write(area, &plot.note, (left + 16.0, 42.0), note, Anchor::Left);
    let ruler = plot.ruler(((layout.ruler / 60.0) as usize).clamp(2, 5));
    let (from, until) = ruler.ends();
    let start = left + plot.names();
    let share = |position: f64| (position.clamp(from, until) - from) / (until - from);
    let at = |position: f64| start + layout.ruler * share(position);
    let of = |value: f64| at(plot.axis.position(value));
    let is_within = |value: f64| (from..=until).contains(&plot.axis.position(value));
    let bottom = HEADER + layout.row * plot.rows.len() as f64 + 2.0;
    for &tick in ruler.ticks() {
        let text = plot.axis.tick(tick);
        path(area, &[(at(tick), HEADER - 4.0), (at(tick), bottom + 4.0)], GRID, 1.0);
        canvas::write(area, &text, (at(tick), bottom + 14.0), ink(), Anchor::Middle);
    }
    path(area, &[(start, bottom), (start + layout.ruler, bottom)], FAINT, 1.0);
    let middle = start + layout.ruler / 2.0;
    canvas::write(area, &plot.axis.title(), (middle, bottom + 36.0), ink(), Anchor::Middle);
    for (index, row) in plot.rows.iter().enumerate() {
        let y = HEADER + layout.row * (index as f64 + 0.5);
        canvas::write(area, &row.name, (start - 12.0, y), ink(), Anchor::Right);
        draw_row(row, area, y, &of, &is_within);
        let ends = row.interval.map(|(_, high)| high).into_iter().chain(row.reference);
        let last = ends.chain(row.values.iter().copied()).fold(row.value, f64::max);
        let text = super::axis::number(row.value / plot.axis.unit_size);
        canvas::write(area, &text, (of(last) + 12.0, y), faint(), Anchor::Left);
    }
}

/// Draws a row: the line to its value, its interval, its individual values and its reference.
fn draw_row(
    row: &DotRow,
    area: &Area<'_>,
    y: f64,
    of: &dyn Fn(f64) -> f64,
    is_within: &dyn Fn(f64) -> bool,
) {
    let start = of(f64::NEG_INFINITY);
    let color = style::color(0);
    path(area, &[(start, y), (of(row.value), y)], GRID, 1.5);
    for value in &row.values {
        path(area, &[(of(*value), y - 3.5), (of(*value), y + 3.5)], FAINT, 0.8);
    }
    if let Some((low, high)) = row.interval {
        path(area, &[(of(low), y), (of(high), y)], color, 2.2);
        // The end of an interval has no cap if it lies outside the axis.
        for end in [low, high].into_iter().filter(|end| is_within(*end)) {
            path(area, &[(of(end), y - 5.0), (of(end), y + 5.0)], color, 1.6);
        }
    }
    if let Some(reference) = row.reference {
        path(area, &[(of(reference), y - 8.0), (of(reference), y + 8.0)], ALARM, 2.5);
    }
    swatch::marker(area, 0, (of(row.value), y));
}
