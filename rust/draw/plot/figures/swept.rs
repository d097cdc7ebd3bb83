//! A metric of a study's runs over the swept key, with a line for each combination of the other
//! keys.

use std::collections::{BTreeMap, BTreeSet};

use super::{Band, Request, by_policy, metric_dimension, metric_label};
use crate::plot::{Axis, Chart, Drawing, Facets, Figure, Join, Point, Series, Tick};
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
        let mut drawn = figure(&subject, &measured, request)?;
        if let (Some(drawn), 1..) = (&mut drawn, failed) {
            let all = failed + study.rows.iter().filter(|row| row.group == *group).count();
            drawn.append_note(&format!("{failed} of {all} runs have an error and are not drawn"));
        }
        figures.extend(drawn);
    }
    Ok(figures)
}

/// Returns a chart over the swept key or, without such a key, a row for each combination of values.
fn figure(
    subject: &str,
    measured: &[(&StudyRow, f64)],
    request: &Request,
) -> Result<Option<Figure>, ResultsError> {
    let swept = swept_key(measured.iter().map(|(row, _)| *row), request)?;
    let Some((key, dimension)) = swept else {
        let mut values: Vec<(String, Vec<f64>)> = Vec::new();
        let differing = differing(measured);
        for (row, value) in measured {
            add(&mut values, name(row, &differing, &[]), *value);
        }
        return Ok(by_policy::figure(subject, values, request));
    };
    let facet = facet_of(measured, request)?;
    let shown: Vec<&str> = [Some(key.as_str()), facet.as_deref()].into_iter().flatten().collect();
    let swept = Swept { key: &key, dimension, differing: differing(measured), shown, request };
    let Some(facet) = &facet else {
        return Ok(swept.chart(subject, measured).map(|(chart, all)| {
            let mut figure = Figure::new(&format!("over-{key}-{subject}"), Drawing::Chart(chart));
            if all > MAX_LINES {
                figure.append_note(&format!("the first {MAX_LINES} of {all} lines"));
            }
            figure
        }));
    };
    Ok(swept.facets(subject, facet, measured))
}

/// Returns the key with a panel for each value.
fn facet_of(
    measured: &[(&StudyRow, f64)],
    request: &Request,
) -> Result<Option<String>, ResultsError> {
    let Some(facet) = &request.facet else { return Ok(None) };
    let keys = differing(measured);
    match keys.contains(facet) {
        true => Ok(Some(facet.clone())),
        false => Err(no_key(facet, "different values", &keys)),
    }
}

fn no_key(key: &str, what: &str, keys: &[String]) -> ResultsError {
    let keys = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
    ResultsError::Choice(format!("no key '{key}' has {what} in the results; those keys are {keys}"))
}

/// A chart over a key.
struct Swept<'a> {
    key: &'a str,
    dimension: Dimension,
    differing: Vec<String>,
    /// Keys that the axis and the panels show, so that lines are not named by them.
    shown: Vec<&'a str>,
    request: &'a Request,
}

impl Swept<'_> {
    /// Returns the chart and the number of lines before it was cut.
    fn chart(&self, subject: &str, measured: &[(&StudyRow, f64)]) -> Option<(Chart, usize)> {
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        let mut ticks = Vec::new();
        for (row, value) in measured {
            let text = row.parameter(self.key);
            let at = Quantity::parse(text)?.value;
            ticks.push(Tick { at, text: text.trim_matches('"').to_owned() });
            add(&mut lines, name(row, &self.differing, &self.shown), (at, *value));
        }
        let all = lines.len();
        lines.truncate(MAX_LINES);
        let band = self.request.band;
        let series = lines.into_iter().map(|(name, points)| line(name, &points, band));
        let series: Vec<Series> = series.collect();
        let points = || series.iter().flat_map(|it| &it.points);
        let (xs, ys) = (|| points().map(|point| point.x), || points().map(|point| point.y));
        let x = Axis::new(&self.key.replace('_', " "), self.dimension, xs());
        let mut x = x.log_if_wide(xs()).log_if_by_factors(ticks);
        x.from_zero = false;
        let metric = &self.request.metric;
        let label = metric_label(metric);
        let y = Axis::new(&label, metric_dimension(metric), ys()).log_if_wide(ys());
        let has_bands = points().any(|point| point.interval.is_some());
        let note = match has_bands {
            true => format!("medians over seeds; the bands are {}", band.name()),
            false => String::new(),
        };
        let title = format!("{} over {}: {subject}", by_policy::capital(&label), x.label);
        Some((Chart { title, note, x, y, series, marks: Vec::new() }, all))
    }

    /// Returns a chart for each value of a key, with common axes.
    fn facets(&self, subject: &str, facet: &str, measured: &[(&StudyRow, f64)]) -> Option<Figure> {
        let (whole, _) = self.chart(subject, measured)?;
        let mut values: Vec<&str> = Vec::new();
        for (row, _) in measured {
            if !values.contains(&row.parameter(facet)) {
                values.push(row.parameter(facet));
            }
        }
        let short = facet.rsplit('.').next().unwrap_or(facet);
        let panel = |value: &&str| {
            let of_value = measured.iter().filter(|(row, _)| row.parameter(facet) == *value);
            let (chart, _) = self.chart(subject, &of_value.copied().collect::<Vec<_>>())?;
            let title = match short {
                "policy" | "name" => value.trim_matches('"').to_owned(),
                _ => format!("{short} {}", value.trim_matches('"')),
            };
            // The axes are those of all values.
            Some(Chart { title, x: whole.x.clone(), y: whole.y.clone(), ..chart })
        };
        let panels: Vec<Chart> = values.iter().filter_map(panel).collect();
        let title = format!("{}, by {short}", whole.title);
        let name = format!("over-{}-by-{facet}-{subject}", self.key);
        let facets = Facets { title, note: whole.note, panels };
        Some(Figure::new(&name, Drawing::Facets(facets)))
    }
}

fn add<T>(to: &mut Vec<(String, Vec<T>)>, name: String, value: T) {
    match to.iter_mut().find(|(it, _)| *it == name) {
        Some((_, values)) => values.push(value),
        None => to.push((name, vec![value])),
    }
}

/// Returns the key that was asked for or else the one with the most distinct values, and their
/// dimension. All values have to be numbers of one dimension.
fn swept_key<'a>(
    rows: impl Iterator<Item = &'a StudyRow> + Clone,
    request: &Request,
) -> Result<Option<(String, Dimension)>, ResultsError> {
    let Some(first) = rows.clone().next() else { return Ok(None) };
    let mut keys: Vec<(usize, String, Dimension)> = Vec::new();
    for (key, _) in &first.parameters {
        let values: Option<Vec<Quantity>> =
            rows.clone().map(|row| Quantity::parse(row.parameter(key))).collect();
        let Some(values) = values else { continue };
        let dimensioned = values.iter().map(|it| it.dimension);
        let dimension = dimensioned.clone().find(|it| *it != Dimension::Number);
        let dimension = dimension.unwrap_or_default();
        // A zero may be written without a unit.
        let is_of = |it: &Quantity| it.dimension == dimension || it.value == 0.0;
        let distinct: BTreeSet<u64> = values.iter().map(|it| it.value.to_bits()).collect();
        if values.iter().all(is_of) && distinct.len() > 1 {
            keys.push((distinct.len(), key.clone(), dimension));
        }
    }
    if let Some(wanted) = &request.x {
        let Some((_, key, dimension)) = keys.iter().find(|(_, key, _)| key == wanted) else {
            let keys: Vec<String> = keys.into_iter().map(|(_, key, _)| key).collect();
            return Err(no_key(wanted, "several numbers", &keys));
        };
        return Ok(Some((key.clone(), *dimension)));
    }
    // A panel shows the key of the facets; the first of several keys is the axis.
    keys.retain(|(_, key, _)| Some(key) != request.facet.as_ref());
    let most = keys.iter().map(|(count, ..)| *count).max();
    let best = keys.into_iter().find(|(count, ..)| Some(*count) == most);
    Ok(best.map(|(_, key, dimension)| (key, dimension)))
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
fn name(row: &StudyRow, differing: &[String], shown: &[&str]) -> String {
    let keys = differing.iter().filter(|key| !shown.contains(&key.as_str()));
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
fn line(name: String, runs: &[(f64, f64)], band: Band) -> Series {
    let mut positions: Vec<f64> = runs.iter().map(|(at, _)| *at).collect();
    positions.sort_by(f64::total_cmp);
    positions.dedup();
    let point = |x: f64| {
        let values: Vec<f64> =
            runs.iter().filter(|(at, _)| *at == x).map(|(_, value)| *value).collect();
        let sample = Sample::of(&values)?;
        let interval = band.of(&sample, &values);
        Some(Point { x, y: sample.median, interval })
    };
    Series::new(name, Join::Line, positions.into_iter().filter_map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Scale;
    use crate::results::Results;

    fn of(text: &str) -> Vec<Figure> {
        with(text, &Request::default()).unwrap()
    }

    fn with(text: &str, request: &Request) -> Result<Vec<Figure>, ResultsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.csv");
        std::fs::write(&path, text).unwrap();
        let Results::Studies(tables) = Results::open(&path).unwrap() else { panic!("a study") };
        figures(&tables[0], request)
    }

    /// Three sizes that grow by factors, two policies, two fan-ins and three seeds.
    fn study() -> String {
        let mut text = "point,policy.name,workload.bytes,topology.spines,seed,cct_ns\n".to_owned();
        for (point, (policy, spines)) in
            [("ecmp", 2), ("ecmp", 4), ("reps", 2), ("reps", 4)].iter().enumerate()
        {
            for (at, bytes) in ["16KB", "64KB", "256KB"].iter().enumerate() {
                for seed in 1..=3 {
                    let time = 10 * (at + 1) + seed;
                    text +=
                        &format!("{},{policy},{bytes},{spines},{seed},{time}\n", 3 * point + at);
                }
            }
        }
        text
    }

    #[test]
    fn sizes_swept_by_factors_are_on_a_logarithmic_axis_as_they_were_written() {
        let figures = of(&study());
        let Drawing::Chart(chart) = &figures[0].drawing else { panic!("a chart") };
        assert_eq!(
            (chart.x.scale, chart.x.title().as_str()),
            (Scale::Logarithmic, "workload.bytes")
        );
        let texts: Vec<&str> = chart.x.ticks.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(texts, ["16KB", "64KB", "256KB"]);
        assert_eq!(chart.series.len(), 4);
    }

    #[test]
    fn the_axis_the_panels_and_the_bands_can_be_chosen() {
        let (x, facet) = (None, Some("topology.spines".to_owned()));
        let request = Request { facet, x, band: Band::Range, ..Request::default() };
        let figures = with(&study(), &request).unwrap();
        let Drawing::Facets(facets) = &figures[0].drawing else { panic!("facets") };
        let titles: Vec<&str> = facets.panels.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(titles, ["spines 2", "spines 4"]);
        let names: Vec<&str> = facets.panels[1].series.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["ecmp", "reps"]);
        assert_eq!(facets.panels[0].series[0].points[0].interval, Some((11.0, 13.0)));
        assert!(facets.note.ends_with("the ranges"), "{}", facets.note);
        let request = |x: &str| Request { x: Some(x.to_owned()), ..Request::default() };
        let figures = with(&study(), &request("topology.spines")).unwrap();
        assert!(figures[0].name.starts_with("over-topology.spines"), "{}", figures[0].name);
        let said = with(&study(), &request("policy.name")).unwrap_err().to_string();
        let expected = "no key 'policy.name' has several numbers in the results; those keys are \
                        workload.bytes, topology.spines";
        assert_eq!(said, expected);
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
