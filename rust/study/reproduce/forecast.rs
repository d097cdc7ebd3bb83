//! Forecast of all runs of a study, without a simulation.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::error::StudyError;
use super::simulate::{Job, Prepared, RunContext};
use super::{Combination, Group, Study};
use crate::units::Bytes;
use crate::{estimate_scenario, map_in_order};

/// Resources of all runs of a study, as far as they can be estimated.
#[derive(Debug, Default)]
pub struct StudyForecast {
    /// Combinations of the values of axes.
    pub points: usize,
    /// Simulations: every point under every seed.
    pub runs: usize,
    /// Points whose scenario is invalid, or whose run does not fit into memory.
    pub invalid: Vec<InvalidPoint>,
    /// Points without an estimate: several rails, and traces that are read during the run.
    pub not_estimated: usize,
    /// Memory of the largest run.
    pub memory: Bytes,
    /// CPU time of all valid runs together, on one core.
    pub cpu: Duration,
}

/// A point that cannot run.
#[derive(Debug)]
pub struct InvalidPoint {
    /// Number of the point, from 1, in the order of the study.
    pub point: usize,
    /// The error, with its place in the study.
    pub error: StudyError,
}

impl Study {
    /// Estimates all runs, on at most `threads` threads. A point is estimated under its first
    /// seed.
    ///
    /// # Errors
    /// Fails if a point cannot be tried, which its scenario is not to blame for.
    pub fn forecast(&self, threads: NonZeroUsize) -> Result<StudyForecast, StudyError> {
        let context = RunContext { is_forecast: true, ..self.run_context() };
        let groups = self.groups.iter();
        let points: Vec<(&Group, Combination)> = groups
            .flat_map(|group| group.combinations().into_iter().map(move |it| (group, it)))
            .collect();
        let found = map_in_order(points.len(), threads, |index| {
            let (group, combination) = &points[index];
            estimate(&Job { group, combination, seed_index: 0 }, context)
        });
        let (mut forecast, runs) = (StudyForecast::default(), self.runs());
        (forecast.points, forecast.runs) = (points.len(), runs);
        for ((point, found), (group, _)) in (1..).zip(found).zip(&points) {
            match found {
                Ok(Some((memory, cpu))) => {
                    forecast.memory = forecast.memory.max(memory);
                    forecast.cpu += cpu * group.seeds;
                }
                Ok(None) => forecast.not_estimated += 1,
                Err(error @ StudyError::Invalid { .. }) => {
                    forecast.invalid.push(InvalidPoint { point, error });
                }
                Err(other) => return Err(other),
            }
        }
        Ok(forecast)
    }
}

/// Returns the memory and the CPU time of a run.
fn estimate(
    job: &Job<'_>,
    context: RunContext<'_>,
) -> Result<Option<(Bytes, Duration)>, StudyError> {
    let prepared = job.prepare(context)?;
    job.expect_memory(&prepared, context)?;
    let Prepared::Fabric(scenario) = &prepared else { return Ok(None) };
    Ok(estimate_scenario(scenario).map(|run| (run.memory, run.cpu)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::reproduce::Scale;

    #[test]
    fn a_forecast_sums_the_runs_and_lists_invalid_points() {
        let study = |over: &str| {
            let text = format!(
                "[scenario.topology]\nleaves = 4\nspines = 4\nhosts_per_leaf = 4\n\
                 [scenario.workload]\nkind = \"all-to-all\"\n[[run]]\nname = \"a\"\n\
                 seeds = 3\n[run.over]\n{over}\n"
            );
            let study = Study::parse(&text, Path::new("a.toml"), Scale::Paper).unwrap();
            study.forecast(NonZeroUsize::MIN).unwrap()
        };
        let one = study("\"workload.bytes\" = [\"1MB\"]");
        assert_eq!((one.points, one.runs, one.invalid.len()), (1, 3, 0), "{one:?}");
        let both = study("\"workload.bytes\" = [\"1MB\", \"4MB\"]");
        assert_eq!((both.points, both.runs), (2, 6));
        assert!(both.cpu > one.cpu * 3 && both.cpu < one.cpu * 6, "{both:?} {one:?}");
        assert!(both.memory >= one.memory);
        let bad = study("\"workload.ranks\" = [8, 16, 17]");
        assert_eq!((bad.points, bad.invalid[0].point, bad.invalid.len()), (3, 3, 1));
        let error = bad.invalid[0].error.to_string();
        assert!(error.starts_with("a.toml:11:") && error.contains("ranks 17"), "{error}");
    }
}
