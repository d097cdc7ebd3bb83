//! Chooses the figures for which results have data. Each kind of figure has its own file.

mod by_policy;
mod by_size;
mod distribution;
mod labels;
mod link_load;
mod over_time;
mod rails;
mod styles;
mod swept;

use super::{Drawing, Figure};
use crate::report::human;
use crate::results::{Dimension, Results, ResultsError, RunFolder};
use crate::study::metrics::Metric;
use crate::study::statistics::Sample;

/// Data that figures show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The metric of figures that compare runs, such as `cct_ns` or `fct_ns.p99`.
    pub metric: String,
    /// The key of a study on the horizontal axis; the one with the most numbers if `None`.
    pub x: Option<String>,
    /// The key of a study with a panel for each of its values.
    pub facet: Option<String>,
    /// The bands around medians.
    pub band: Band,
}

impl Default for Request {
    fn default() -> Self {
        Self { metric: "cct_ns".to_owned(), x: None, facet: None, band: Band::Interval }
    }
}

/// The band around the median of several seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Band {
    /// The confidence interval of the median.
    Interval,
    /// From the first to the third quartile.
    Quartiles,
    /// From the smallest to the largest value.
    Range,
    /// No band.
    None,
}

impl Band {
    /// Returns the band of values, if they have one.
    fn of(self, sample: &Sample, values: &[f64]) -> Option<(f64, f64)> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        // Nearest rank, as in summaries.
        let at = |share: f64| {
            let rank = (share * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.saturating_sub(1)).copied()
        };
        match self {
            Self::Interval => sample.interval().map(|it| (it.low, it.high)),
            _ if sorted.len() < 2 => None,
            Self::Quartiles => at(0.25).zip(at(0.75)),
            Self::Range => sorted.first().copied().zip(sorted.last().copied()),
            Self::None => None,
        }
    }

    /// Returns the name of the bands.
    fn name(self) -> &'static str {
        match self {
            Self::Interval => "their intervals",
            Self::Quartiles => "the quartiles",
            Self::Range => "the ranges",
            Self::None => "",
        }
    }
}

/// Returns all figures for which the results have data, with unique names, and notes on those that
/// were left out.
///
/// # Errors
/// Fails if a file of the results is missing or invalid, or if no study has a key of the request.
pub fn figures(
    results: &[Results],
    request: &Request,
) -> Result<(Vec<Figure>, Vec<String>), ResultsError> {
    let runs: Vec<&RunFolder> = results
        .iter()
        .filter_map(|it| if let Results::Run(run) = it { Some(&**run) } else { None })
        .collect();
    let (mut figures, mut notes) = (Vec::new(), Results::notes(results));
    if !runs.is_empty() {
        figures.extend(of_runs(&runs, &Results::single_runs(results), request, &mut notes)?);
    }
    for table in results.iter().filter_map(|it| match it {
        Results::Studies(tables) => Some(tables),
        Results::Run(_) | Results::Comparison(_) => None,
    }) {
        for study in table {
            figures.extend(swept::figures(study, request)?);
            if let Some(first) = study.failed.first() {
                let runs = human::plural(study.failed.len() as u64, "run");
                notes.push(format!(
                    "{}: {runs} with an error, not drawn; the first is {}, seed {}: {}",
                    study.file(),
                    first.row.words(),
                    first.row.seed(),
                    first.error
                ));
            }
        }
    }
    for result in results {
        if let Results::Comparison(table) = result {
            figures.extend(by_policy::of_comparison(table, request));
        }
    }
    if let (Some(key), false) =
        (&request.x.as_ref().or(request.facet.as_ref()), has_studies(results))
    {
        let expected = "only studies and sweeps have such keys";
        return Err(ResultsError::Choice(format!("there is no key '{key}': {expected}")));
    }
    distinguish(&mut figures);
    styles::assign(&mut figures);
    Ok((figures, notes))
}

fn has_studies(results: &[Results]) -> bool {
    results.iter().any(|it| matches!(it, Results::Studies(_)))
}

fn of_runs(
    runs: &[&RunFolder],
    single: &[&RunFolder],
    request: &Request,
    notes: &mut Vec<String>,
) -> Result<Vec<Figure>, ResultsError> {
    let of_messages: Vec<_> = runs.iter().copied().filter(|run| !run.has_rails()).collect();
    let groups = labels::groups(&of_messages);
    let mut figures = Vec::new();
    if !groups.is_empty() {
        figures.push(distribution::figure(&groups)?);
    }
    let all = labels::groups(single);
    if all.len() > 1 {
        figures.extend(by_policy::of_runs(&all, request));
    }
    match by_size::figure(&groups) {
        Ok(figure) => figures.extend(figure),
        Err(ResultsError::Scenario(reason)) => {
            notes.push(format!("{reason}; slowdowns are not drawn without it"));
        }
        Err(error) => return Err(error),
    }
    let labels = labels::of_runs(runs);
    let railed: Vec<_> = runs.iter().zip(&labels).filter(|(run, _)| run.has_rails()).collect();
    for (run, label) in runs.iter().zip(&labels).filter(|(run, _)| !run.has_rails()) {
        let failed = match run.disturbances() {
            Ok(failed) => failed,
            Err(ResultsError::Scenario(reason)) => {
                notes.push(format!("{reason}; failures are not drawn without it"));
                Vec::new()
            }
            Err(error) => return Err(error),
        };
        figures.extend(link_load::figure(run, label, &failed)?);
        figures.extend(over_time::figures(run, label, &failed)?);
    }
    figures.extend(rails::figures(&railed)?);
    Ok(figures)
}

/// Appends a number to the names of figures that would otherwise have the same name.
fn distinguish(figures: &mut [Figure]) {
    let names: Vec<String> = figures.iter().map(|figure| figure.name.clone()).collect();
    for (index, name) in names.iter().enumerate() {
        let before = names[..index].iter().filter(|it| *it == name).count();
        if before > 0 {
            figures[index].name = format!("{name}-{}", before + 1);
        }
    }
}

/// Converts a text to a file name of letters, digits, dots and hyphens.
fn slug(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let slug: String = text.chars().map(plain).collect();
    let words: Vec<&str> = slug.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

/// Returns the label of a metric's axis.
fn metric_label(name: &str) -> String {
    let words = || name.trim_end_matches("_ns").replace('_', " ");
    Metric::find(name).map_or_else(words, |metric| metric.description.to_owned())
}

/// Returns the dimension of a metric's axis.
fn metric_dimension(name: &str) -> Dimension {
    Metric::find(name).map_or(Dimension::Number, |metric| metric.dimension)
}

impl Figure {
    fn new(name: &str, drawing: Drawing) -> Self {
        Self { name: slug(name), drawing, size: None }
    }

    /// Appends a text to the figure's note.
    fn append_note(&mut self, text: &str) {
        let note = match &mut self.drawing {
            Drawing::Chart(chart) => &mut chart.note,
            Drawing::Dots(dots) => &mut dots.note,
            Drawing::Heat(heat) => &mut heat.note,
            Drawing::Facets(facets) => &mut facets.note,
        };
        if !note.is_empty() {
            note.push_str("; ");
        }
        note.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_names_are_valid_file_names() {
        assert_eq!(slug("queues of (a/b) G = 10us"), "queues-of-a-b-g-10us");
    }

    #[test]
    fn figures_of_the_same_name_are_numbered() {
        let dots = |name: &str| {
            let axis = super::super::Axis::new("", Default::default(), [1.0].into_iter());
            let empty = || String::new();
            let (title, note, reference) = (empty(), empty(), empty());
            let plot = super::super::DotPlot { title, note, axis, rows: Vec::new(), reference };
            Figure::new(name, Drawing::Dots(plot))
        };
        let mut figures = [dots("a"), dots("b"), dots("a")];
        distinguish(&mut figures);
        assert_eq!(figures.map(|figure| figure.name), ["a", "b", "a-2"]);
    }
}
