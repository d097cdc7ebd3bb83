//! Queues, loads and rates over time, from a run with `[record]`.

use std::collections::BTreeMap;

use crate::plot::{Axis, Chart, Drawing, Figure, Join, Mark, Point, Series};
use crate::record::RecordedTable;
use crate::results::{Dimension, Disturbance, ResultsError, RunFolder, Table};

/// Maximum number of lines of a chart: those with the highest values are drawn.
const MAX_LINES: usize = 7;

/// A quantity of a recorded table.
struct Quantity {
    table: RecordedTable,
    column: &'static str,
    /// Columns that identify a line.
    keys: &'static [&'static str],
    figure: &'static str,
    title: &'static str,
    label: &'static str,
    dimension: Dimension,
    /// True for a quantity of an interval, which is 0 in intervals without a row. False for a
    /// state, which holds until the next row.
    is_of_interval: bool,
    /// True for bytes of an interval that are shown as a rate.
    is_rate: bool,
}

const QUANTITIES: [Quantity; 8] = [
    Quantity {
        table: RecordedTable::Ports,
        column: "queue_bytes",
        keys: &["from", "to"],
        figure: "queues",
        title: "Queues over time",
        label: "queue",
        dimension: Dimension::Size,
        is_of_interval: false,
        is_rate: false,
    },
    Quantity {
        table: RecordedTable::QueueChanges,
        column: "queue_bytes",
        keys: &["from", "to"],
        figure: "queue-changes",
        title: "Queues over time, at each change",
        label: "queue",
        dimension: Dimension::Size,
        is_of_interval: false,
        is_rate: false,
    },
    Quantity {
        table: RecordedTable::Pauses,
        column: "paused",
        keys: &["from", "to"],
        figure: "pauses",
        title: "Pauses over time",
        label: "share of time paused",
        dimension: Dimension::Number,
        is_of_interval: true,
        is_rate: false,
    },
    Quantity {
        table: RecordedTable::PauseChanges,
        column: "paused",
        keys: &["from", "to"],
        figure: "pause-changes",
        title: "Pauses over time, at each change",
        label: "paused (1) or not (0)",
        dimension: Dimension::Number,
        is_of_interval: false,
        is_rate: false,
    },
    Quantity {
        table: RecordedTable::Ports,
        column: "utilisation",
        keys: &["from", "to"],
        figure: "utilisation",
        title: "Load of links over time",
        label: "utilisation",
        dimension: Dimension::Number,
        is_of_interval: true,
        is_rate: false,
    },
    Quantity {
        table: RecordedTable::Paths,
        column: "bytes",
        keys: &["src", "dst", "label"],
        figure: "send-rates",
        title: "Rates of flows over time",
        label: "rate sent",
        dimension: Dimension::Rate,
        is_of_interval: true,
        is_rate: true,
    },
    Quantity {
        table: RecordedTable::QueuePairs,
        column: "rate_bps",
        keys: &["src", "dst", "label"],
        figure: "allowed-rates",
        title: "Rates that congestion control allows",
        label: "rate allowed",
        dimension: Dimension::Rate,
        is_of_interval: false,
        is_rate: false,
    },
    Quantity {
        table: RecordedTable::QueuePairs,
        column: "window_bytes",
        keys: &["src", "dst", "label"],
        figure: "windows",
        title: "Windows that congestion control allows",
        label: "window",
        dimension: Dimension::Size,
        is_of_interval: false,
        is_rate: false,
    },
];

/// Returns a chart for each quantity that was recorded.
pub(super) fn figures(
    run: &RunFolder,
    label: &str,
    failed: &[Disturbance],
) -> Result<Vec<Figure>, ResultsError> {
    let mut figures = Vec::new();
    for quantity in &QUANTITIES {
        for (recording, table) in run.recorded(quantity.table)? {
            let label = recording.map_or(label.to_owned(), |name| format!("{label}, {name}"));
            figures.extend(figure(quantity, &table, &label, failed)?);
        }
    }
    Ok(figures)
}

fn figure(
    quantity: &Quantity,
    table: &Table,
    label: &str,
    failed: &[Disturbance],
) -> Result<Option<Figure>, ResultsError> {
    let lines = lines(quantity, table)?;
    let all = lines.len();
    let mut series: Vec<Series> = lines
        .into_iter()
        .map(|(name, points)| Series::new(name, Join::Step, points))
        .filter(|series| series.points.iter().any(|point| point.y > 0.0))
        .collect();
    if series.is_empty() {
        return Ok(None);
    }
    series.sort_by(|a, b| highest(b).total_cmp(&highest(a)));
    series.truncate(MAX_LINES);
    let points = || series.iter().flat_map(|it| &it.points);
    let end = points().map(|point| point.x).fold(0.0, f64::max);
    let x = Axis::new("time", Dimension::Time, points().map(|point| point.x));
    let y = Axis::new(quantity.label, quantity.dimension, points().map(|point| point.y));
    let note = match all > series.len() {
        true => format!("the {} of {all} with the highest values", series.len()),
        false => String::new(),
    };
    let (title, marks) = (format!("{}: {label}", quantity.title), marks(failed, end));
    let chart = Chart { title, note, x, y, series, marks };
    let name = format!("{}-{label}", quantity.figure);
    Ok(Some(Figure::new(&name, Drawing::Chart(chart))))
}

fn highest(series: &Series) -> f64 {
    series.points.iter().map(|point| point.y).fold(0.0, f64::max)
}

/// Returns the points of each line, by the values of its keys. A row describes the interval that
/// ends at its time, so values of intervals are drawn from one interval earlier.
fn lines(quantity: &Quantity, table: &Table) -> Result<Vec<(String, Vec<Point>)>, ResultsError> {
    let [time, column] = table.indices(["time_ns", quantity.column])?;
    let keys = quantity.keys.iter().map(|key| table.column(key)).collect::<Result<Vec<_>, _>>()?;
    let mut rows: BTreeMap<Vec<&str>, Vec<(f64, f64)>> = BTreeMap::new();
    let mut times = Vec::new();
    for row in 0..table.len() {
        let at = table.number(row, time)?;
        times.push(at);
        let Some(value) = table.optional_number(row, column)? else { continue };
        let key = keys.iter().map(|&key| table.text(row, key)).collect();
        rows.entry(key).or_default().push((at, value));
    }
    let every = interval(&mut times);
    // Queue pairs between the same hosts are distinguished by their labels. A single one needs no
    // label.
    let hosts: Vec<Vec<&str>> = rows.keys().map(|key| key[..2].to_vec()).collect();
    let name = |key: &[&str]| {
        let is_alone = hosts.iter().filter(|it| it[..] == key[..2]).count() == 1;
        let ends = format!("{} to {}", key[0], key[1]);
        if is_alone { ends } else { format!("{ends} #{}", key[2]) }
    };
    let points = |rows: &[(f64, f64)]| match quantity.is_of_interval {
        false => rows.iter().map(|(at, value)| Point::new(*at, *value)).collect(),
        true => of_intervals(rows, every, if quantity.is_rate { 8e9 / every } else { 1.0 }),
    };
    Ok(rows.iter().map(|(key, rows)| (name(key), points(rows))).collect())
}

/// Returns the shortest time between two rows, in nanoseconds.
fn interval(times: &mut Vec<f64>) -> f64 {
    times.push(0.0);
    times.sort_by(f64::total_cmp);
    let gaps = times.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 1e-3);
    let least = gaps.fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 1.0 }
}

/// Returns values at the start of their intervals, and 0 for intervals without a row.
fn of_intervals(rows: &[(f64, f64)], every: f64, factor: f64) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut until = 0.0;
    for (at, value) in rows {
        let start = at - every;
        if start > until + 0.5 * every {
            points.push(Point::new(until, 0.0));
        }
        points.push(Point::new(start, value * factor));
        until = *at;
    }
    points.push(Point::new(until, 0.0));
    points
}

/// Returns marks at the starts and ends of failures, up to the end of the run.
fn marks(failed: &[Disturbance], end: f64) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for it in failed {
        let (link, kind) = (&it.link, it.kind);
        marks.push(Mark { x: it.at_ns, text: format!("{link} {kind}") });
        marks.extend(it.until_ns.map(|x| Mark { x, text: format!("{link} restored") }));
    }
    marks.retain(|mark| mark.x <= end);
    marks.sort_by(|a, b| a.x.total_cmp(&b.x));
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_without_a_row_are_zero() {
        let text = "time_ns,src,dst,label,bytes\n10,a,b,1,5\n20,a,b,1,10\n50,a,b,1,5\n";
        let table = Table::parse("paths.csv", text).unwrap();
        let rates = QUANTITIES.iter().find(|it| it.is_rate).unwrap();
        let lines = lines(rates, &table).unwrap();
        assert_eq!(lines[0].0, "a to b");
        let points: Vec<(f64, f64)> =
            lines[0].1.iter().map(|point| (point.x, point.y / 8e8)).collect();
        assert_eq!(points, [(0.0, 5.0), (10.0, 10.0), (20.0, 0.0), (40.0, 5.0), (50.0, 0.0)]);
    }

    #[test]
    fn a_queue_length_holds_until_the_next_row() {
        let text = "time_ns,from,to,queue_bytes\n10,a,b,5\n50,a,b,0\n10,b,a,0\n";
        let table = Table::parse("ports.csv", text).unwrap();
        let figure = figure(&QUANTITIES[0], &table, "x", &[]).unwrap().unwrap();
        let Drawing::Chart(chart) = figure.drawing else { panic!("a chart") };
        assert_eq!((chart.series.len(), chart.series[0].points.len()), (1, 2));
    }
}
