//! Draws a [`Chart`]: axes, lines with their intervals, marks and a legend.

use plotters::coord::Shift;
use plotters::prelude::{
    Cartesian2d, ChartBuilder, ChartContext, DashedLineSeries, DrawingArea, LineSeries, Polygon,
    SVGBackend,
};
use plotters::style::{Color, TRANSPARENT};

use super::canvas::{self, Anchor, Area, drawn, fine, path, stroke};
use super::chart::{Chart, Join, Series};
use super::ruler::Ruler;
use super::style::{self, ALARM, FAINT, GRID, INK, NOTE, TEXT, TITLE};
use super::swatch;

/// Size of the plot area, including axes.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
/// Height of the title above the plot, and of the note below it.
const HEADER: f64 = 40.0;
const FOOTER: f64 = 24.0;
/// Height of a mark's text.
const MARK_ROW: f64 = 17.0;
/// Maximum number of marks with text; the others are only lines.
const NAMED: usize = 6;
/// Number of markers on a line that does not have one at every point.
const MARKERS: usize = 7;
/// Up to this number of points, a line without steps has a marker at every point.
const FEW: usize = 40;

type Plane<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;

/// Returns the chart as SVG.
pub(super) fn svg(chart: &Chart) -> String {
    let names = || chart.series.iter().map(|series| series.name.as_str());
    let has_legend = chart.series.len() > 1;
    let legend = if has_legend { swatch::legend_width(names()) } else { 12.0 };
    let marks = chart.marks.len().min(NAMED) as f64 * MARK_ROW;
    let footer = if chart.note.is_empty() { 6.0 } else { FOOTER };
    let inner = HEIGHT.max(swatch::legend_height(chart.series.len()) + 60.0) + marks;
    let (width, height) = (WIDTH + legend, HEADER + inner + footer);
    canvas::svg(width, height, &chart.title, |area| {
        let title = canvas::font(TITLE, INK);
        canvas::write(area, &chart.title, (16.0, 21.0), title, Anchor::Left);
        if !chart.note.is_empty() {
            let note = canvas::font(NOTE, FAINT);
            canvas::write(area, &chart.note, (16.0, height - 14.0), note, Anchor::Left);
        }
        let (_, rest) = area.split_vertically(fine(HEADER));
        let (plot, _) = rest.split_horizontally(fine(WIDTH));
        let (plot, _) = plot.split_vertically(fine(inner));
        axes(chart, area, &plot, marks);
        if has_legend {
            swatch::legend(area, names(), (WIDTH + 2.0, HEADER + marks + 6.0));
        }
    })
}

/// Draws the axes and everything between them.
fn axes(chart: &Chart, sheet: &Area<'_>, plot: &DrawingArea<SVGBackend<'_>, Shift>, marks: f64) {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let xs = points().map(|point| point.x).chain(chart.marks.iter().map(|mark| mark.x));
    let intervals: Vec<(f64, f64)> = points().filter_map(|point| point.interval).collect();
    let ys: Vec<f64> = points().map(|point| point.y).collect();
    let ys = chart.y.range(&ys, &intervals).into_iter();
    let mut plane = drawn(
        ChartBuilder::on(plot)
            .margin_left(fine(12.0))
            .margin_right(fine(14.0))
            .margin_top(fine(4.0 + marks))
            .x_label_area_size(fine(50.0))
            .y_label_area_size(fine(62.0))
            .build_cartesian_2d(chart.x.ruler(xs, 7), chart.y.ruler(ys, 6)),
    );
    let (x, y) = (&chart.x, &chart.y);
    drawn(
        plane
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(stroke(GRID, 1.0))
            .axis_style(stroke(FAINT, 1.0))
            .set_all_tick_mark_size(fine(4.0))
            .label_style(canvas::font(TEXT, INK))
            .axis_desc_style(canvas::font(TEXT, INK))
            .x_label_formatter(&|position| x.tick(*position))
            .y_label_formatter(&|position| y.tick(*position))
            .x_desc(x.title())
            .y_desc(y.title())
            .draw(),
    );
    for (index, mark) in chart.marks.iter().enumerate() {
        draw_mark(chart, sheet, &plane, index, mark.x);
    }
    for (index, series) in chart.series.iter().enumerate() {
        draw_band(chart, &mut plane, index, series);
    }
    for (index, series) in chart.series.iter().enumerate() {
        draw_line(chart, sheet, &mut plane, index, series);
    }
}

/// Draws a mark as a vertical dashed line, with its text in a separate row above the axes.
fn draw_mark(chart: &Chart, sheet: &Area<'_>, plane: &Plane<'_, '_>, index: usize, x: f64) {
    let (ends_x, ends_y) = (plane.x_range(), plane.y_range());
    let place = |y: f64| pixels(plane.backend_coord(&(chart.x.position(x), y)));
    let ((x, bottom), (_, top)) = (place(ends_y.start), place(ends_y.end));
    let row = if index < NAMED { top - 2.0 - MARK_ROW * (index as f64 + 0.5) } else { top };
    let mut y = row;
    while y < bottom {
        path(sheet, &[(x, y), (x, (y + 4.0).min(bottom))], ALARM, 1.2);
        y += 7.0;
    }
    if index >= NAMED {
        return;
    }
    let middle = pixels(plane.backend_coord(&((ends_x.start + ends_x.end) / 2.0, ends_y.start))).0;
    let (anchor, offset) = if x > middle { (Anchor::Right, -5.0) } else { (Anchor::Left, 5.0) };
    let text = &chart.marks[index].text;
    canvas::write(sheet, text, (x + offset, row), canvas::font(NOTE, INK), anchor);
}

/// Draws the interval of a series as a band in a light shade of its colour.
fn draw_band(chart: &Chart, plane: &mut Plane<'_, '_>, index: usize, series: &Series) {
    let ends: Vec<(f64, (f64, f64))> = series
        .points
        .iter()
        .filter_map(|point| Some((chart.x.position(point.x), point.interval?)))
        .collect();
    if ends.len() < 2 {
        return;
    }
    let upper = ends.iter().map(|(x, (_, high))| (*x, chart.y.position(*high)));
    let lower = ends.iter().rev().map(|(x, (low, _))| (*x, chart.y.position(*low)));
    let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
    let shade = style::color(index).mix(0.18);
    drawn(plane.draw_series([Polygon::new(outline, shade)]));
}

/// Draws the line of a series, with markers.
fn draw_line(
    chart: &Chart,
    sheet: &Area<'_>,
    plane: &mut Plane<'_, '_>,
    index: usize,
    series: &Series,
) {
    let place = |x: f64, y: f64| (chart.x.position(x), chart.y.position(y));
    let mut line: Vec<(f64, f64)> = Vec::new();
    for point in &series.points {
        let (x, y) = place(point.x, point.y);
        if let (Join::Step, Some((_, before))) = (series.join, line.last()) {
            line.push((x, *before));
        }
        line.push((x, y));
    }
    let look = stroke(style::color(index), 1.9);
    match style::dashes(index) {
        None => drawn(plane.draw_series(LineSeries::new(line, look)).map(drop)),
        Some((dash, gap)) => {
            let (dash, gap) = (fine(dash.into()), fine(gap.into()));
            let series = DashedLineSeries::new(line, dash as u32, gap as u32, look);
            drawn(plane.draw_series(series).map(drop));
        }
    }
    let count = series.points.len();
    let few = if series.join == Join::Line { FEW } else { MARKERS };
    let every = if count <= few { 1 } else { count.div_ceil(MARKERS) };
    let is_alone = chart.series.len() == 1;
    if is_alone && series.join == Join::Step {
        return;
    }
    // Each line starts its markers at a different point, so that they do not cover each other.
    let first = if every == 1 { 0 } else { (every / 2 + index * every / 7) % every };
    for point in series.points.iter().skip(first).step_by(every) {
        let at = pixels(plane.backend_coord(&place(point.x, point.y)));
        if let (Some((low, high)), 1) = (point.interval, count) {
            let ends = [low, high].map(|y| pixels(plane.backend_coord(&place(point.x, y))));
            path(sheet, &ends, style::color(index), 1.5);
        }
        swatch::marker(sheet, index, at);
    }
}

/// Converts backend units to pixels.
fn pixels((x, y): (i32, i32)) -> (f64, f64) {
    let unit = f64::from(fine(1.0));
    (f64::from(x) / unit, f64::from(y) / unit)
}
