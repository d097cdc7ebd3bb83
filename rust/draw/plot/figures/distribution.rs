//! The distribution of completion times by policy.

use super::labels::Group;
use crate::plot::{Axis, Chart, Drawing, Figure, Join, Point, Series};
use crate::report::human;
use crate::results::{Dimension, ResultsError};

/// Maximum number of points of a line; with more messages, points are skipped.
const MAX_POINTS: usize = 400;

/// Returns the cumulative distribution of completion times, with a line for each group.
pub(super) fn figure(groups: &[Group<'_>]) -> Result<Figure, ResultsError> {
    let mut series = Vec::new();
    let (mut messages, mut open, mut runs) = (0, 0, 0);
    for group in groups {
        let mut times = Vec::new();
        let mut all = 0;
        for run in &group.runs {
            let of_run = run.messages()?;
            all += of_run.len();
            times.extend(of_run.iter().filter_map(|message| message.fct_ns));
            runs += 1;
        }
        times.sort_by(f64::total_cmp);
        messages += all as u64;
        open += all - times.len();
        let points = cumulative(&times, all);
        series.push(Series::new(group.name.clone(), Join::Step, points));
    }
    let times = || series.iter().flat_map(|it: &Series| &it.points).map(|point| point.x);
    let x = Axis::new("message completion time", Dimension::Time, times()).log_if_wide(times());
    let y = Axis::new("share of messages", Dimension::Number, [1.0].into_iter());
    let (all, runs) = (human::plural(messages, "message"), human::plural(runs, "run"));
    let mut note = format!("{all} of {runs}");
    if open > 0 {
        note += &format!("; {open} did not complete, so lines with such messages end below 1");
    }
    let title = "Distribution of completion times".to_owned();
    let chart = Chart { title, note, x, y, series, marks: Vec::new() };
    Ok(Figure::new("completion-cdf", Drawing::Chart(chart)))
}

/// Returns the fraction of `all` messages that completed by each of the sorted times.
fn cumulative(times: &[f64], all: usize) -> Vec<Point> {
    let Some(first) = times.first() else { return Vec::new() };
    let share = |count: usize| count as f64 / all.max(1) as f64;
    let every = times.len().div_ceil(MAX_POINTS);
    let mut points = vec![Point::new(*first, 0.0)];
    let shown =
        (0..times.len()).filter(|index| (index + 1) % every == 0 || index + 1 == times.len());
    points.extend(shown.map(|index| Point::new(times[index], share(index + 1))));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_rises_to_the_completed_fraction() {
        let points = cumulative(&[1.0, 2.0, 4.0], 4);
        let seen: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(seen, [(1.0, 0.0), (1.0, 0.25), (2.0, 0.5), (4.0, 0.75)]);
        let many: Vec<f64> = (0..100_000).map(f64::from).collect();
        let points = cumulative(&many, 100_000);
        assert!(points.len() <= MAX_POINTS + 2);
        assert_eq!(points.last().map(|point| (point.x, point.y)), Some((99_999.0, 1.0)));
        assert!(cumulative(&[], 3).is_empty());
    }
}
