//! The slowdown of messages by their size.

use super::labels::Group;
use crate::plot::{Axis, Chart, Drawing, Figure, Join, Point, Series};
use crate::results::{Dimension, ResultsError};

/// Number of size classes with equal numbers of messages; fewer if there are fewer distinct sizes.
const CLASSES: usize = 12;

/// Returns the median and the 99th percentile of the slowdown in each size class, for each group;
/// `None` if all messages have the same size.
pub(super) fn figure(groups: &[Group<'_>]) -> Result<Option<Figure>, ResultsError> {
    let mut all: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for group in groups {
        let mut messages = Vec::new();
        for run in &group.runs {
            let of_run = run.messages()?;
            let Some(first) = of_run.first() else { continue };
            if of_run.iter().all(|message| message.bytes == first.bytes) {
                continue;
            }
            messages.extend(run.slowdowns()?);
        }
        all.push((group.name.clone(), messages));
    }
    let mut sizes: Vec<f64> = all.iter().flat_map(|(_, it)| it).map(|(size, _)| *size).collect();
    let classes = classes(&mut sizes);
    if classes.len() < 2 {
        return Ok(None);
    }
    let mut series = Vec::new();
    for (name, messages) in &all {
        for (share, what) in [(0.5, "median"), (0.99, "99 %")] {
            let points = points(&classes, messages, share);
            series.push(Series::new(format!("{name}, {what}"), Join::Line, points));
        }
    }
    let points = || series.iter().flat_map(|it: &Series| &it.points);
    let (xs, ys) = (|| points().map(|point| point.x), || points().map(|point| point.y));
    let mut x = Axis::new("message size", Dimension::Size, xs()).log_if_wide(xs());
    x.from_zero = false;
    let y = Axis::new("slowdown", Dimension::Number, ys()).log_if_wide(ys());
    let note = "completion time relative to the same message alone on an idle path; each size is \
                the largest of its class";
    let title = "Slowdown by message size".to_owned();
    let chart = Chart { title, note: note.to_owned(), x, y, series, marks: Vec::new() };
    Ok(Some(Figure::new("slowdown-by-size", Drawing::Chart(chart))))
}

/// Returns the largest size of each class, in ascending order.
fn classes(sizes: &mut [f64]) -> Vec<f64> {
    sizes.sort_by(f64::total_cmp);
    let mut ends: Vec<f64> = (1..=CLASSES)
        .filter_map(|class| sizes.get((sizes.len() * class / CLASSES).checked_sub(1)?).copied())
        .collect();
    ends.dedup();
    ends
}

/// Returns a quantile of the slowdowns of each class.
fn points(classes: &[f64], messages: &[(f64, f64)], share: f64) -> Vec<Point> {
    let mut points = Vec::new();
    let mut above = f64::NEG_INFINITY;
    for &end in classes {
        let in_class = messages.iter().filter(|(size, _)| above < *size && *size <= end);
        let mut slowdowns: Vec<f64> = in_class.map(|(_, slowdown)| *slowdown).collect();
        slowdowns.sort_by(f64::total_cmp);
        // Nearest rank, as in summaries.
        let rank = (share * slowdowns.len() as f64).ceil() as usize;
        points.extend(slowdowns.get(rank.saturating_sub(1)).map(|&y| Point::new(end, y)));
        above = end;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_have_equal_counts_and_quantiles_are_nearest_ranks() {
        let messages: Vec<(f64, f64)> =
            (1..=24).map(|it| (f64::from(it), f64::from(it) * 10.0)).collect();
        let mut sizes: Vec<f64> = messages.iter().map(|(size, _)| *size).collect();
        let classes = classes(&mut sizes);
        assert_eq!((classes.len(), classes[0]), (CLASSES, 2.0));
        let medians = points(&classes, &messages, 0.5);
        assert_eq!((medians[0].x, medians[0].y), (2.0, 10.0));
        assert_eq!(points(&classes, &messages, 0.99)[0].y, 20.0);
    }
}
