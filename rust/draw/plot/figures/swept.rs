//! A metric of a study's runs over the swept key, with a line for each combination of the other
//! keys.

use std::collections::{BTreeMap, BTreeSet};

use super::{Request, by_policy, metric_dimension, metric_label};
use crate::plot::{Axis, Chart, Drawing, Figure, Join, Point, Series};
use crate::results::{Dimension, Quantity, ResultsError, StudyRow, StudyTable};
use crate::study::statistics::Sample;

/// Maximum number of lines of a chart: the number of distinct line styles.
const MAX_LINES: usize = 28;

/// Returns a figure for each group of runs.
pub(super) fn figures(study: &StudyTable, request: &Request) -> Result<Vec<Figure>, ResultsError> {
    let groups: BTreeSet<&str> = study.rows.iter().map(|row| row.group.as_str()).collect();
    let mut figures = Vec::new();
    for group in &groups {
        let rows: Vec<&StudyRow> = study.rows.iter().filter(|row| row.group == *group).collect();
        let subject = match group.is_empty() {
            true => study.name.clone(),
            false => format!("{}, {group}", study.name),
        };
        let mut measured = Vec::new();
        for row in rows {
            if let Some(value) = study.metric(row, &request.metric)? {
                measured.push((row, value));
            }
        }
        let failed = study.failed.iter().filter(|failed| failed.row.group == *group).count();
        let mut drawn = figure(&subject, &measured, request);
        if let (Some(drawn), 1..) = (&mut drawn, failed) {
            let all = failed + study.rows.iter().filter(|row| row.group == *group).count();
            drawn.append_note(&format!("{failed} of {all} runs have an error and are not drawn"));
        }
        figures.extend(drawn);
    }
    Ok(figures)
}

/// Returns a chart over the swept key or, without such a key, a row for each combination of values.
fn figure(subject: &str, measured: &[(&StudyRow, f64)], request: &Request) -> Option<Figure> {
    let swept = swept_key(measured.iter().map(|(row, _)| *row));
    let Some((key, dimension)) = swept else {
        let mut values: Vec<(String, Vec<f64>)> = Vec::new();
        let differing = differing(measured);
        for (row, value) in measured {
            add(&mut values, name(row, &differing, None), *value);
        }
        return by_policy::figure(subject, values, request);
    };
    let differing = differing(measured);
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for (row, value) in measured {
        let at = Quantity::parse(row.parameter(&key))?.value;
        add(&mut lines, name(row, &differing, Some(&key)), (at, *value));
    }
    let all = lines.len();
    lines.truncate(MAX_LINES);
    let series: Vec<Series> = lines.into_iter().map(|(name, points)| line(name, &points)).collect();
    let points = || series.iter().flat_map(|it| &it.points);
    let (xs, ys) = (|| points().map(|point| point.x), || points().map(|point| point.y));
    let mut x = Axis::new(&key.replace('_', " "), dimension, xs()).log_if_wide(xs());
    x.from_zero = false;
    let label = metric_label(&request.metric);
    let y = Axis::new(&label, metric_dimension(&request.metric), ys()).log_if_wide(ys());
    let has_bands = points().any(|point| point.interval.is_some());
    let note = if has_bands { "medians over seeds; the bands are their intervals" } else { "" };
    let title = format!("{} over {}: {subject}", by_policy::capital(&label), x.label);
    let name = format!("over-{key}-{subject}");
    let chart = Chart { title, note: note.to_owned(), x, y, series, marks: Vec::new() };
    let mut figure = Figure::new(&name, Drawing::Chart(chart));
    if all > MAX_LINES {
        figure.append_note(&format!("the first {MAX_LINES} of {all} lines"));
    }
    Some(figure)
}

fn add<T>(to: &mut Vec<(String, Vec<T>)>, name: String, value: T) {
    match to.iter_mut().find(|(it, _)| *it == name) {
        Some((_, values)) => values.push(value),
        None => to.push((name, vec![value])),
    }
}

/// Returns the key with the most distinct values, and their dimension. All values have to be
/// numbers of one dimension.
fn swept_key<'a>(rows: impl Iterator<Item = &'a StudyRow> + Clone) -> Option<(String, Dimension)> {
    let mut best: Option<(usize, String, Dimension)> = None;
    for (key, _) in &rows.clone().next()?.parameters {
        let values: Option<Vec<Quantity>> =
            rows.clone().map(|row| Quantity::parse(row.parameter(key))).collect();
        let Some(values) = values else { continue };
        let dimensioned = values.iter().map(|it| it.dimension);
        let dimension = dimensioned.clone().find(|it| *it != Dimension::Number);
        let dimension = dimension.unwrap_or_default();
        // A zero may be written without a unit.
        let is_of = |it: &Quantity| it.dimension == dimension || it.value == 0.0;
        let distinct: BTreeSet<u64> = values.iter().map(|it| it.value.to_bits()).collect();
        let is_longer = best.as_ref().is_none_or(|(most, ..)| distinct.len() > *most);
        if values.iter().all(is_of) && distinct.len() > 1 && is_longer {
            best = Some((distinct.len(), key.clone(), dimension));
        }
    }
    best.map(|(_, key, dimension)| (key, dimension))
}

/// Returns the keys that have several values.
fn differing(measured: &[(&StudyRow, f64)]) -> Vec<String> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for (row, _) in measured {
        for (key, _) in &row.parameters {
            if !order.contains(&key.as_str()) {
                order.push(key);
            }
        }
    }
    for (row, _) in measured {
        for key in &order {
            values.entry(key).or_default().insert(row.parameter(key));
        }
    }
    let several = |key: &&str| values.get(key).is_some_and(|values| values.len() > 1);
    order.into_iter().filter(several).map(str::to_owned).collect()
}

/// Returns a line's name: the values of the keys that distinguish lines.
fn name(row: &StudyRow, differing: &[String], swept: Option<&str>) -> String {
    let keys = differing.iter().filter(|key| Some(key.as_str()) != swept);
    let words: Vec<String> = keys
        .map(|key| (key.as_str(), row.parameter(key).trim_matches('"')))
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| match key.rsplit('.').next().unwrap_or(key) {
            "policy" | "name" => value.to_owned(),
            short => format!("{short} {value}"),
        })
        .collect();
    if words.is_empty() { "all".to_owned() } else { words.join(", ") }
}

/// Returns a line with the median over the runs at each position.
fn line(name: String, runs: &[(f64, f64)]) -> Series {
    let mut positions: Vec<f64> = runs.iter().map(|(at, _)| *at).collect();
    positions.sort_by(f64::total_cmp);
    positions.dedup();
    let point = |x: f64| {
        let values: Vec<f64> =
            runs.iter().filter(|(at, _)| *at == x).map(|(_, value)| *value).collect();
        let sample = Sample::of(&values)?;
        let interval = sample.interval().map(|it| (it.low, it.high));
        Some(Point { x, y: sample.median, interval })
    };
    Series { name, join: Join::Line, points: positions.into_iter().filter_map(point).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Results;

    fn of(text: &str) -> Vec<Figure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.csv");
        std::fs::write(&path, text).unwrap();
        let Results::Studies(tables) = Results::open(&path).unwrap() else { panic!("a study") };
        figures(&tables[0], &Request::default()).unwrap()
    }

    #[test]
    fn the_key_with_most_numbers_is_the_axis_and_seeds_give_intervals() {
        let text = "point,policy.name,workload.bytes,seed,cct_ns\n\
                    0,ecmp,1MB,1,10\n0,ecmp,1MB,2,14\n1,ecmp,4MB,1,40\n1,ecmp,4MB,2,44\n\
                    2,reps,1MB,1,8\n2,reps,1MB,2,8\n3,reps,4MB,1,30\n3,reps,4MB,2,32\n";
        let figures = of(text);
        let Drawing::Chart(chart) = &figures[0].drawing else { panic!("a chart") };
        assert_eq!(chart.x.title(), "workload.bytes (MB)");
        let names: Vec<&str> = chart.series.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["ecmp", "reps"]);
        let first = chart.series[0].points[0];
        assert_eq!((first.x, first.y), (1e6, 12.0));
        assert_eq!(first.interval, Some((10.0, 14.0)), "between two of the values");
        assert_eq!(chart.series[1].points[0].interval, Some((8.0, 8.0)));
    }

    #[test]
    fn runs_with_an_error_are_counted_in_the_note() {
        let text = "point,policy.name,seed,cct_ns,error\n\
                    1,ecmp,1,10,\n2,reps,1,12,\n3,spray,1,,did not complete\n";
        let Drawing::Dots(dots) = &of(text)[0].drawing else { panic!("dots") };
        assert_eq!(dots.note, "one run each; 1 of 3 runs have an error and are not drawn");
    }

    #[test]
    fn without_numbers_each_combination_has_a_row() {
        let figures = of("run,parameters,seed,cct_ns\na,policy ecmp,1,9\na,policy reps,1,7\n");
        let Drawing::Dots(dots) = &figures[0].drawing else { panic!("dots") };
        let rows: Vec<(&str, f64)> =
            dots.rows.iter().map(|row| (row.name.as_str(), row.value)).collect();
        assert_eq!(rows, [("reps", 7.0), ("ecmp", 9.0)]);
    }
}
