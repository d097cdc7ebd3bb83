//! Draws a [`Chart`]: axes, lines with their bands, marks and a legend.

use plotters::coord::Shift;
use plotters::prelude::{
    Cartesian2d, ChartBuilder, ChartContext, DashedLineSeries, DrawingArea, LineSeries, Polygon,
    SVGBackend,
};
use plotters::style::{Color, TRANSPARENT};

use super::Axis;
use super::axis::MAX_TICKS;
use super::canvas::{self, Anchor, Area, drawn, fine, path, stroke};
use super::chart::{Chart, Join, Series};
use super::ruler::Ruler;
use super::style::{self, ALARM, FAINT, GRID, INK, NOTE, TEXT, TITLE};
use super::swatch::{self, Legend};

/// Size of the plot area with its axes, unless another is given.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
/// Height of the title above the plot, and of the note below it.
pub(super) const HEADER: f64 = 40.0;
pub(super) const FOOTER: f64 = 28.0;
/// Height of a mark's text.
const MARK_ROW: f64 = 17.0;
/// Maximum number of marks with text; the others are only lines.
const NAMED: usize = 6;
/// Number of markers on a line that does not have one at every point.
const MARKERS: usize = 7;
/// Up to this number of points, a line without steps has a marker at every point.
const FEW: usize = 40;
/// Width of a plot below which the legend moves below it.
const NARROW: f64 = 300.0;
/// Width of the vertical axis and of the margins.
const AROUND: f64 = 88.0;
/// Height of a plot below which its axes are closer.
const LOW: f64 = 280.0;
/// Width for each tick of a horizontal axis, and height for each of a vertical one.
const TICK: (f64, f64) = (90.0, 62.0);

type Plane<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;

/// The places of a chart's parts on its sheet.
struct Layout {
    width: f64,
    height: f64,
    /// Size of the plot area with its axes.
    plot: (f64, f64),
    /// Upper left corner and number of columns of the legend.
    legend: Option<((f64, f64), usize)>,
}

/// Returns the chart as SVG; `size` is the size of the whole sheet in pixels.
pub(super) fn svg(chart: &Chart, size: Option<(f64, f64)>) -> String {
    let legend = legend(&[chart]);
    let marks = marks_height(chart);
    let layout = layout(chart, &legend, marks, size);
    let (width, height) = (layout.width, layout.height);
    canvas::svg(width, height, &chart.title, |area| {
        titles(area, (&chart.title, &chart.note), (width, height));
        let (_, rest) = area.split_vertically(fine(HEADER));
        let (plot, _) = rest.split_horizontally(fine(layout.plot.0));
        let (plot, _) = plot.split_vertically(fine(layout.plot.1));
        axes(chart, area, &plot, &Frame::of(&[chart], layout.plot, marks));
        if let Some((at, columns)) = layout.legend {
            legend.draw(area, at, columns);
        }
    })
}

/// Writes the title, and the note at the lower end of the sheet.
pub(super) fn titles(area: &Area<'_>, (title, note): (&str, &str), (width, height): (f64, f64)) {
    let room = width - 24.0;
    let font = canvas::font(style::fitting(title, TITLE, room), INK);
    canvas::write(area, title, (16.0, 21.0), font, Anchor::Left);
    if !note.is_empty() {
        let font = canvas::font(style::fitting(note, NOTE, room), FAINT);
        canvas::write(area, note, (16.0, height - 14.0), font, Anchor::Left);
    }
}

/// Returns the legend of the lines of charts, each once.
pub(super) fn legend(charts: &[&Chart]) -> Legend {
    let mut entries: Vec<swatch::Entry> = Vec::new();
    for series in charts.iter().flat_map(|chart| &chart.series) {
        if !entries.iter().any(|(_, name)| *name == series.name) {
            entries.push((series.style, series.name.clone()));
        }
    }
    Legend::of(&entries)
}

fn marks_height(chart: &Chart) -> f64 {
    chart.marks.len().min(NAMED) as f64 * MARK_ROW
}

fn layout(chart: &Chart, legend: &Legend, marks: f64, size: Option<(f64, f64)>) -> Layout {
    let footer = if chart.note.is_empty() { 6.0 } else { FOOTER };
    let has_legend = chart.series.len() > 1;
    let beside = if has_legend { legend.size(1) } else { (12.0, 0.0) };
    let Some((width, height)) = size else {
        let inner = HEIGHT.max(beside.1 + 60.0) + marks;
        return Layout {
            width: WIDTH + beside.0,
            height: HEADER + inner + footer,
            plot: (WIDTH, inner),
            legend: has_legend.then_some(((WIDTH + 2.0, HEADER + marks + 6.0), 1)),
        };
    };
    let room = (height - HEADER - footer).max(marks + 100.0);
    if has_legend && width - beside.0 < NARROW {
        let columns = legend.columns_in(width - 16.0);
        let below = legend.size(columns).1 + 6.0;
        let plot = (width, (room - below).max(marks + 100.0));
        let at = (14.0, HEADER + plot.1);
        let height = HEADER + plot.1 + below + footer;
        return Layout { width, height, plot, legend: Some((at, columns)) };
    }
    let plot = (width - beside.0, room);
    let at = ((plot.0 + 2.0, HEADER + marks + 6.0), 1);
    Layout { width, height: HEADER + room + footer, plot, legend: has_legend.then_some(at) }
}

/// The axes of a plot.
pub(super) struct Frame {
    x: Ruler,
    y: Ruler,
    /// Height of the texts of marks above the plot.
    marks: f64,
    /// Size of the labels.
    labels: f64,
    /// Height of the horizontal axis with its label.
    below: f64,
}

impl Frame {
    /// Returns axes for all of these charts, in a plot area of this size.
    pub(super) fn of(charts: &[&Chart], (width, height): (f64, f64), marks: f64) -> Self {
        let (x, y) = (&charts[0].x, &charts[0].y);
        let points = || charts.iter().flat_map(|it| &it.series).flat_map(|it| &it.points);
        let marked = charts.iter().flat_map(|chart| &chart.marks).map(|mark| mark.x);
        let xs = points().map(|point| point.x).chain(marked);
        let intervals: Vec<(f64, f64)> = points().filter_map(|point| point.interval).collect();
        let ys: Vec<f64> = points().map(|point| point.y).collect();
        let ys = y.range(&ys, &intervals).into_iter();
        let across = ((width / TICK.0) as usize).clamp(2, 7);
        let up = (((height - marks) / TICK.1) as usize).clamp(2, 6);
        let labels = style::fitting(&x.title(), TEXT, width - AROUND);
        let labels = labels.min(style::fitting(&y.title(), TEXT, height - marks - 24.0));
        let below = if height < LOW { 42.0 } else { 50.0 };
        let across = ruler_that_fits(x, xs, across, width - AROUND);
        Self { x: across, y: y.ruler(ys, up), marks, labels, below }
    }
}

/// Returns a horizontal ruler with at most about `count` ticks, whose texts do not overlap.
fn ruler_that_fits(
    axis: &Axis,
    values: impl Iterator<Item = f64> + Clone,
    count: usize,
    width: f64,
) -> Ruler {
    let half = |tick: f64| style::width(&axis.tick(tick), TEXT) / 2.0;
    let fits = |ruler: &Ruler| {
        let (from, until) = ruler.ends();
        let scale = width / (until - from);
        let is_apart = |pair: &[f64]| scale * (pair[1] - pair[0]) >= half(pair[0]) + half(pair[1]);
        ruler.ticks().windows(2).all(is_apart)
    };
    let fewer = (1..=count).rev().map(|count| (count, 1));
    let mut rulers = fewer.chain((2..=MAX_TICKS).map(|every| (1, every)));
    let ruler = |(count, every)| axis.ruler(values.clone(), count).with_each(every);
    let fitting = rulers.by_ref().map(ruler).find(fits);
    fitting.unwrap_or_else(|| ruler((1, MAX_TICKS)))
}

/// Draws the axes and everything between them.
pub(super) fn axes(
    chart: &Chart,
    sheet: &Area<'_>,
    plot: &DrawingArea<SVGBackend<'_>, Shift>,
    frame: &Frame,
) {
    let mut plane = drawn(
        ChartBuilder::on(plot)
            .margin_left(fine(12.0))
            .margin_right(fine(14.0))
            .margin_top(fine(4.0 + frame.marks))
            .x_label_area_size(fine(frame.below))
            .y_label_area_size(fine(62.0))
            .build_cartesian_2d(frame.x.clone(), frame.y.clone()),
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
            .axis_desc_style(canvas::font(frame.labels, INK))
            .x_label_formatter(&|position| x.tick(*position))
            .y_label_formatter(&|position| y.tick(*position))
            .x_desc(x.title())
            .y_desc(y.title())
            .draw(),
    );
    for (index, mark) in chart.marks.iter().enumerate() {
        draw_mark(chart, sheet, &plane, index, mark.x);
    }
    for series in &chart.series {
        draw_band(chart, &mut plane, series);
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
fn draw_band(chart: &Chart, plane: &mut Plane<'_, '_>, series: &Series) {
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
    let shade = style::color(series.style).mix(0.18);
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
    let look = stroke(style::color(series.style), 1.9);
    match style::dashes(series.style) {
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
            path(sheet, &ends, style::color(series.style), 1.5);
        }
        swatch::marker(sheet, series.style, at);
    }
}

/// Converts backend units to pixels.
fn pixels((x, y): (i32, i32)) -> (f64, f64) {
    let unit = f64::from(fine(1.0));
    (f64::from(x) / unit, f64::from(y) / unit)
}
