//! Draws [`Facets`]: charts in rows and columns with common axes and one legend.

use super::canvas::{self, Anchor, fine};
use super::chart::{Chart, Facets};
use super::lines::{self, FOOTER, Frame, HEADER};
use super::style::{INK, TEXT};

/// Size of a panel with its axes, unless the size of the sheet is given.
const PANEL: (f64, f64) = (330.0, 260.0);
/// Height of a panel's title.
const NAME: f64 = 20.0;
/// Maximum number of panels in a row.
const MAX_COLUMNS: usize = 3;

/// Returns the charts as SVG; `size` is the size of the whole sheet in pixels.
pub(super) fn svg(facets: &Facets, size: Option<(f64, f64)>) -> String {
    let charts: Vec<&Chart> = facets.panels.iter().collect();
    let count = charts.len().max(1);
    let columns = (count as f64).sqrt().ceil() as usize;
    let columns = if count <= MAX_COLUMNS { count } else { columns.min(MAX_COLUMNS) };
    let rows = count.div_ceil(columns);
    let legend = lines::legend(&charts);
    let has_legend = legend.entries.len() > 1;
    let width = size.map_or(PANEL.0 * columns as f64, |(width, _)| width);
    let legend_columns = legend.columns_in(width - 16.0);
    let below = if has_legend { legend.size(legend_columns).1 + 12.0 } else { 0.0 };
    let footer = if facets.note.is_empty() { 6.0 } else { FOOTER };
    let around = HEADER + below + footer;
    let height = size.map_or(PANEL.1 * rows as f64 + around, |(_, height)| height);
    let panel_height = ((height - around) / rows as f64).max(NAME + 100.0);
    let height = panel_height * rows as f64 + around;
    let panel = (width / columns as f64, panel_height - NAME);
    canvas::svg(width, height, &facets.title, |area| {
        lines::titles(area, (&facets.title, &facets.note), (width, height));
        let frame = Frame::of(&charts, panel, 0.0);
        for (index, chart) in charts.iter().enumerate() {
            let left = panel.0 * (index % columns) as f64;
            let top = HEADER + panel_height * (index / columns) as f64;
            let middle = left + 74.0 + (panel.0 - 88.0) / 2.0;
            let font = canvas::font(TEXT, INK);
            canvas::write(area, &chart.title, (middle, top + NAME / 2.0), font, Anchor::Middle);
            let (_, rest) = area.split_vertically(fine(top + NAME));
            let (rest, _) = rest.split_vertically(fine(panel.1));
            let (_, rest) = rest.split_horizontally(fine(left));
            let (plot, _) = rest.split_horizontally(fine(panel.0));
            lines::axes(chart, area, &plot, &frame);
        }
        if has_legend {
            legend.draw(area, (16.0, height - below - footer + 8.0), legend_columns);
        }
    })
}
