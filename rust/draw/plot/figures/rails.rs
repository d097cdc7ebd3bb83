//! Operations of runs whose hosts have several rails: their times, and the shares of the rails.

use crate::plot::{Axis, Chart, Drawing, Figure, Join, Mark, Point, Series};
use crate::results::{Dimension, RailOperation, RailRun, ResultsError, RunFolder};
use crate::study::statistics::Sample;

/// The horizontal axis of the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// Their sizes, if they differ.
    Size,
    /// Their starts.
    Time,
}

/// Returns a chart of the operations' times with a line for each run, and a chart of the rails'
/// shares for each run.
pub(super) fn figures(runs: &[(&&RunFolder, &String)]) -> Result<Vec<Figure>, ResultsError> {
    let mut read = Vec::new();
    for (run, label) in runs {
        read.push(((*label).clone(), run.rails()?));
    }
    let operations = || read.iter().flat_map(|(_, run)| &run.operations);
    let Some(first) = operations().next() else { return Ok(Vec::new()) };
    let over = match operations().all(|it| it.bytes == first.bytes) {
        true => Over::Time,
        false => Over::Size,
    };
    let mut figures = vec![times(&read, over)];
    figures.extend(read.iter().map(|(label, run)| shares(label, run, over)));
    Ok(figures)
}

/// Returns the chart of the operations' times.
fn times(runs: &[(String, RailRun)], over: Over) -> Figure {
    let series = runs.iter().map(|(name, run)| {
        let name = if runs.len() == 1 { "operation".to_owned() } else { name.clone() };
        let took = |it: &RailOperation| it.took_ns;
        Series::new(name, Join::Line, over.points(run, took))
    });
    let series: Vec<Series> = series.collect();
    let values = || series.iter().flat_map(|it| &it.points).map(|point| point.y);
    let y = Axis::new("time of an operation", Dimension::Time, values()).log_if_wide(values());
    let marks = match (runs, over) {
        ([(_, run)], Over::Time) => marks(run),
        _ => Vec::new(),
    };
    let title = match (runs, over) {
        ([(label, _)], _) => format!("Times of operations: {label}"),
        (_, Over::Size) => "Times of operations by size".to_owned(),
        (_, Over::Time) => "Times of operations".to_owned(),
    };
    let (x, note) = (over.axis(&series), String::new());
    Figure::new("operations", Drawing::Chart(Chart { title, note, x, y, series, marks }))
}

/// Returns the chart of the rails' shares of each operation.
fn shares(label: &str, run: &RailRun, over: Over) -> Figure {
    let series = run.rails.iter().enumerate().map(|(index, rail)| {
        let share = |it: &RailOperation| Some(it.share_bytes.get(index)? / it.bytes.max(1.0));
        Series::new(rail.name.clone(), Join::Line, over.points(run, share))
    });
    let series: Vec<Series> = series.collect();
    let y = Axis::new("share of the bytes", Dimension::Number, [1.0].into_iter());
    let marks = if over == Over::Time { marks(run) } else { Vec::new() };
    let title = format!("Shares of the rails: {label}");
    let (x, note) = (over.axis(&series), String::new());
    let chart = Chart { title, note, x, y, series, marks };
    Figure::new(&format!("rail-shares-{label}"), Drawing::Chart(chart))
}

impl Over {
    /// Returns a value of the operations at each position: the median if it has several.
    fn points(self, run: &RailRun, value: impl Fn(&RailOperation) -> Option<f64>) -> Vec<Point> {
        let at = |it: &RailOperation| if self == Self::Size { it.bytes } else { it.start_ns };
        let all = run.operations.iter().filter_map(|it| Some((at(it), value(it)?)));
        let mut all: Vec<(f64, f64)> = all.collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.chunk_by(|a, b| a.0 == b.0)
            .filter_map(|chunk| {
                let values: Vec<f64> = chunk.iter().map(|(_, value)| *value).collect();
                Some(Point::new(chunk[0].0, Sample::of(&values)?.median))
            })
            .collect()
    }

    /// Returns the horizontal axis of these lines.
    fn axis(self, series: &[Series]) -> Axis {
        let xs = || series.iter().flat_map(|it| &it.points).map(|point| point.x);
        match self {
            Self::Size => Axis::new("operation size", Dimension::Size, xs()).log_if_wide(xs()),
            Self::Time => Axis::new("start of the operation", Dimension::Time, xs()),
        }
    }
}

/// Returns a mark for each event, up to the start of the last operation.
fn marks(run: &RailRun) -> Vec<Mark> {
    let end = run.operations.last().map_or(0.0, |last| last.start_ns);
    let events = run.timeline.iter().filter(|event| event.at_ns <= end);
    let mark = |x, text| Mark { x, text };
    events.map(|event| mark(event.at_ns, format!("{} {}", event.rail, event.what))).collect()
}
