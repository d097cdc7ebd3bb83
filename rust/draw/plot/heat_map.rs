//! The load of links as a heat map: a matrix per pair of tiers and direction.

use serde::Serialize;

use super::Axis;
use super::canvas::{self, Anchor, Area, path, rectangle};
use super::style::{self, ALARM, FAINT, INK, NOTE, TEXT, TITLE};

/// Maximum side length of a cell.
const CELL: f64 = 26.0;
/// Minimum side length of a cell.
const MIN_CELL: f64 = 3.0;
/// Maximum size of a matrix without its labels.
const MAX_WIDTH: f64 = 330.0;
const MAX_HEIGHT: f64 = 520.0;
const HEADER: f64 = 62.0;
/// Distance between two panels.
const GAP: f64 = 34.0;
/// Width of the colour scale.
const SCALE: f64 = 92.0;

/// Matrices of links with a common colour scale.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeatMap {
    /// Title.
    pub title: String,
    /// Note for readers; may be empty.
    pub note: String,
    /// Axis of the colour scale.
    pub axis: Axis,
    /// The matrices.
    pub panels: Vec<Panel>,
}

/// A matrix of links.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// Tiers and direction of the links.
    pub title: String,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// Values row by row; `None` for cells without a link.
    pub values: Vec<Vec<Option<f64>>>,
    /// Cells whose links failed at some time, as (row, column).
    pub failed: Vec<(usize, usize)>,
}

impl Panel {
    fn cell(&self) -> (f64, f64) {
        let side = |room: f64, count: usize| (room / count.max(1) as f64).clamp(MIN_CELL, CELL);
        let (wide, high) = (side(MAX_WIDTH, self.columns.len()), side(MAX_HEIGHT, self.rows.len()));
        // Cells are square unless that would make them too small.
        let least = wide.min(high);
        if least >= 10.0 { (least, least) } else { (wide, high) }
    }

    fn names(&self) -> f64 {
        self.rows.iter().map(|row| style::width(row, NOTE)).fold(20.0, f64::max) + 22.0
    }

    /// Returns the height of the column names, which are rotated.
    fn column_names(&self) -> f64 {
        self.columns.iter().map(|name| style::width(name, NOTE)).fold(20.0, f64::max) + 14.0
    }

    fn width(&self) -> f64 {
        let matrix = self.cell().0 * self.columns.len() as f64;
        self.names() + matrix.max(style::width(&self.title, TEXT) - self.names() + 8.0)
    }

    fn height(&self) -> f64 {
        24.0 + self.cell().1 * self.rows.len() as f64 + self.column_names()
    }
}

/// Returns the figure as SVG, scaled as a whole to fit into `size`.
pub(super) fn svg(map: &HeatMap, size: Option<(f64, f64)>) -> String {
    let panels = map.panels.iter().map(Panel::width).sum::<f64>();
    let gaps = GAP * map.panels.len().saturating_sub(1) as f64;
    let text = style::width(&map.title, TITLE).max(style::width(&map.note, NOTE)) + 32.0;
    let width = (16.0 + panels + gaps + SCALE).max(text);
    let height = HEADER + map.panels.iter().map(Panel::height).fold(180.0, f64::max) + 8.0;
    let values = || map.panels.iter().flat_map(|panel| panel.values.iter().flatten().flatten());
    let most = values().fold(0.0, |most: f64, value| most.max(*value)).max(f64::MIN_POSITIVE);
    let svg = canvas::svg(width, height, &map.title, |area| {
        let faint = canvas::font(NOTE, FAINT);
        canvas::write(area, &map.title, (16.0, 21.0), canvas::font(TITLE, INK), Anchor::Left);
        canvas::write(area, &map.note, (16.0, 42.0), faint, Anchor::Left);
        let mut left = 16.0;
        for panel in &map.panels {
            draw(panel, area, left, most);
            left += panel.width() + GAP;
        }
        scale(map, area, width - SCALE + 14.0, most);
    });
    let factor = size.map(|(wide, high)| (wide / width).min(high / height));
    factor.map_or(svg.clone(), |factor| canvas::resized(&svg, (width, height), factor))
}

fn draw(panel: &Panel, area: &Area<'_>, left: f64, most: f64) {
    canvas::write(area, &panel.title, (left, HEADER + 10.0), canvas::font(TEXT, INK), Anchor::Left);
    let (wide, high) = panel.cell();
    let (x0, y0) = (left + panel.names(), HEADER + 24.0);
    let corner = |row: usize, column: usize| (x0 + wide * column as f64, y0 + high * row as f64);
    // White gaps separate cells that are large enough for them.
    let seam = if wide.min(high) >= 8.0 { 1.0 } else { 0.0 };
    for (row, cells) in panel.values.iter().enumerate() {
        for (column, value) in cells.iter().enumerate() {
            let Some(value) = value else { continue };
            let (x, y) = corner(row, column);
            let until = (x + wide - seam, y + high - seam);
            rectangle(area, (x, y), until, style::heat(value / most));
        }
    }
    for &(row, column) in &panel.failed {
        let (x, y) = corner(row, column);
        let (right, bottom) = (x + wide - seam, y + high - seam);
        path(area, &[(x, y), (right, y), (right, bottom), (x, bottom), (x, y)], ALARM, 2.0);
    }
    // Labels that would overlap are skipped.
    let every = |side: f64| (13.0 / side).ceil().max(1.0) as usize;
    for (row, name) in panel.rows.iter().enumerate().step_by(every(high)) {
        let at = (x0 - 6.0, y0 + high * (row as f64 + 0.5));
        canvas::write(area, name, at, canvas::font(NOTE, INK), Anchor::Right);
    }
    let bottom = y0 + high * panel.rows.len() as f64;
    for (column, name) in panel.columns.iter().enumerate().step_by(every(wide)) {
        let middle = bottom + 6.0 + style::width(name, NOTE) / 2.0;
        let at = (x0 + wide * (column as f64 + 0.5), middle);
        canvas::write(area, name, at, canvas::font(NOTE, INK), Anchor::Upright);
    }
}

/// Draws the colour scale.
fn scale(map: &HeatMap, area: &Area<'_>, left: f64, most: f64) {
    const STEPS: usize = 60;
    let (top, height) = (HEADER + 28.0, 130.0);
    let at = |share: f64| top + height * (1.0 - share);
    for step in 0..STEPS {
        let (from, until) = (step as f64 / STEPS as f64, (step + 1) as f64 / STEPS as f64);
        let color = style::heat((from + until) / 2.0);
        rectangle(area, (left, at(until)), (left + 14.0, at(from) + 0.5), color);
    }
    let ruler = map.axis.ruler([0.0, most].into_iter(), 4);
    for &tick in ruler.ticks() {
        let share = tick * map.axis.unit_size / most;
        if share <= 1.001 {
            let text = map.axis.tick(tick);
            path(area, &[(left + 14.0, at(share)), (left + 18.0, at(share))], FAINT, 1.0);
            let font = canvas::font(NOTE, INK);
            canvas::write(area, &text, (left + 22.0, at(share)), font, Anchor::Left);
        }
    }
    let (label, unit) = (&map.axis.label, map.axis.unit);
    let font = canvas::font(NOTE, INK);
    canvas::write(area, label, (left, HEADER - 2.0), font.clone(), Anchor::Left);
    canvas::write(area, &format!("({unit})"), (left, HEADER + 13.0), font, Anchor::Left);
}
