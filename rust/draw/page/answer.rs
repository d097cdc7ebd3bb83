//! The answer: one sentence with numbers for each set of results that are compared.

mod point;
mod points;

use super::words::{capital, joined, value};
use crate::report::human;
use crate::results::{Standings, StandingsPoint};
use crate::study::metrics::{Better, Metric};
use point::at_point;
use points::{extremes, over_points};

/// Most policies that a sentence names one by one.
const MAX_NAMED: usize = 3;

/// A metric in a sentence.
#[derive(Clone, Copy)]
struct Measured<'a> {
    name: &'a str,
    description: &'a str,
    better: Better,
}

impl<'a> Measured<'a> {
    fn of(name: &'a str) -> Self {
        match Metric::find(name) {
            Some(it) => Self { name, description: it.description, better: it.better },
            None => Self { name, description: name, better: Better::Neither },
        }
    }

    fn value(&self, value_of: f64) -> String {
        value(self.name, value_of)
    }

    /// Returns the clause that some policies lead: they have the lowest completion time, or are
    /// lowest by another metric.
    fn lead(&self, names: &str, is_plural: bool) -> String {
        let Self { description, .. } = self;
        let best = if self.better == Better::More { "highest" } else { "lowest" };
        let (has, is) = if is_plural { ("have", "are") } else { ("has", "is") };
        match self.name {
            "cct_ns" => format!("{names} {has} the {best} {description}"),
            _ => format!("by {description}, {names} {is} {best}"),
        }
    }

    /// Returns the verb and the end of a comparison: a policy *takes* twice *as long*.
    fn comparison(&self) -> (&'static str, &'static str) {
        match self.name.ends_with("_ns") || self.name.starts_with("fct_ns") {
            true => ("takes", "as long"),
            false => ("has", "as much"),
        }
    }
}

/// Returns the sentence about some results. The first letter is a capital.
pub(super) fn sentence(of: &Standings, metric: &str) -> String {
    let metric = Measured::of(metric);
    let text = match &of.points[..] {
        [] => "There are no runs".to_owned(),
        [point] if point.policies.len() == 1 => alone(of, point, &metric),
        [point] => at_point(point, &metric),
        points if of.policies().len() == 1 => extremes(of, points, &metric),
        points => over_points(of, points, &metric),
    };
    // Names of policies keep their case, also at the start.
    let is_start = |policy: &&str| {
        let rest = text.strip_prefix(*policy).filter(|_| !policy.is_empty());
        rest.is_some_and(|rest| rest.starts_with([' ', ',']))
    };
    match of.policies().iter().any(is_start) {
        true => text + ".",
        false => capital(&text) + ".",
    }
}

/// Describes the only policy at the only point.
fn alone(of: &Standings, point: &StandingsPoint, metric: &Measured<'_>) -> String {
    let Some(it) = point.policies.first() else { return String::new() };
    let name = if it.policy.is_empty() { "the workload" } else { &it.policy };
    let Some(median) = it.median else {
        let runs = human::plural(it.runs as u64, "run");
        return format!("{name} completed {} of {runs} of {}", it.completed, of.subject);
    };
    let other = |name: &str| it.others.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
    let mut text = match metric.name {
        "cct_ns" => format!("{name} completes {} in {}", of.subject, metric.value(median)),
        _ => format!("the {} of {name} is {}", metric.description, metric.value(median)),
    };
    if it.runs > 1 {
        text += &format!(" (median of {} seeds)", it.completed);
    }
    if let (Some(slowdown), "cct_ns") = (other("slowdown"), metric.name) {
        text += &format!(", {}× the lower bound", human::ratio(slowdown));
    }
    let shares = [("breakdown.exposed_ns", "only communicates"), ("breakdown.idle_ns", "idles")];
    let shares = shares.map(|(name, word)| {
        let share = other(name).filter(|_| metric.name == "cct_ns")? / median;
        Some(format!("{word} for {:.0} %", 100.0 * share))
    });
    if let [Some(exposed), Some(idle)] = shares {
        text += &format!("; a rank {exposed} of this time and {idle}");
    }
    let counts = [("packets.dropped", "lost"), ("packets.retransmitted", "retransmitted")];
    let counts = counts.map(|(name, word)| Some((other(name).filter(|it| *it > 0.0)?, word)));
    let counts: Vec<String> = counts
        .iter()
        .flatten()
        .map(|(count, word)| format!("{} {word}", human::count(*count)))
        .collect();
    if !counts.is_empty() {
        text += &format!("; packets: {}", joined(&counts));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Results, StudyTable};

    /// Returns the sentence on the completion times of a study, whose rows are given without the
    /// seed: each has five, with the times in the last column and 1 % more for each seed.
    pub(super) fn of_study(columns: &str, rows: &[(&str, f64)]) -> String {
        let mut text = format!("{columns},seed,cct_ns,error\n");
        for (labels, time) in rows {
            for seed in 0..5_u32 {
                let time = time * (1.0 + f64::from(seed) / 100.0);
                text += &match time.is_finite() {
                    true => format!("{labels},{},{time},\n", seed + 1),
                    false => format!("{labels},{},,did not complete\n", seed + 1),
                };
            }
        }
        of_text(&text)
    }

    pub(super) fn of_text(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.csv");
        std::fs::write(&path, text).unwrap();
        let Results::Studies(studies) = Results::open(&path).unwrap() else { panic!("a study") };
        let study: &StudyTable = &studies[0];
        sentence(&study.standings("cct_ns").unwrap()[0], "cct_ns")
    }

    #[test]
    fn a_study_of_one_policy_has_its_extremes() {
        let rows = [("64KB", 5e3), ("1MB", 40e3)];
        let expected =
            "The completion time is 5.100us with bytes 64KB and 40.80us with bytes 1MB, 8.000×.";
        assert_eq!(of_study("workload.bytes", &rows), expected);
    }
}
