//! Sweeps: every point of a study under every seed, each a row of results.
//!
//! A sweep is a study without claims. It has the same file, axes and runs, and the same log of
//! finished runs, from which a later start resumes. [`Study`] stops at the first error, but a sweep
//! turns it into the row of its point. Several machines take a [`Shard`] each, and
//! [`Sweep::merge`] combines their rows.

mod attempt;
mod folder;
#[cfg(feature = "parquet")]
mod parquet;
mod shard;
mod table;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

pub use folder::{SweepFolder, SweepFolderError};
pub use shard::{Shard, ShardError};
pub use table::{SweepPoint, SweepRow, SweepTable};

use super::metrics::METRICS;
use super::reproduce::matrix::{Combination, Group};
use super::reproduce::run_log::{self, RunKey, RunLog, RunName};
use super::reproduce::simulate::{Job, RunContext};
use super::reproduce::{Scale, Study, StudyError};
use super::{ComparisonRun, Observer, map_in_order};
use crate::scenario::Position;
use crate::text_file::read_description;
use crate::units::Bytes;
use attempt::{RunFailure, attempt};

/// A study whose runs are the rows of a table.
#[derive(Debug, Clone)]
pub struct Sweep {
    study: Study,
    /// Content of the file.
    text: String,
    /// The only point to simulate; `None` for all.
    only: Option<usize>,
}

/// Axis that always has a column of its own.
const SEED: &str = "seed";

/// A pending row.
struct Task<'a> {
    point: usize,
    group: &'a Group,
    combination: Combination,
    seed_index: u32,
}

impl Sweep {
    /// Reads a study. Scenarios are read when they run.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or is not a study.
    pub fn load(path: &Path) -> Result<Self, StudyError> {
        let file = || path.display().to_string();
        let text = read_description(path)
            .map_err(|reason| StudyError::Unreadable { file: file(), reason })?;
        Self::parse(text, path)
    }

    /// Parses a text as the content of the file `path`.
    ///
    /// # Errors
    /// Fails if the text is not a study, or if an axis has the name of another results column.
    pub fn parse(text: String, path: &Path) -> Result<Self, StudyError> {
        let study = Study::parse(&text, path, Scale::Paper)?;
        let is_column = |key: &str| {
            table::FIXED.contains(&key) || METRICS.iter().any(|metric| metric.name == key)
        };
        for group in &study.groups {
            if let Some(axis) = group.axes.iter().find(|axis| is_column(&axis.key)) {
                let reason = "the results have a column of this name; expected another label";
                return Err(study.axis_error(group.index, axis, reason));
            }
        }
        Ok(Self { study, text, only: None })
    }

    /// Limits the rows to those of one point, numbered from 1 as in [`Self::points`].
    ///
    /// # Errors
    /// Fails if the study has no such point.
    pub fn only(self, point: usize) -> Result<Self, StudyError> {
        let points = self.points().len();
        if (1..=points).contains(&point) {
            return Ok(Self { only: Some(point), ..self });
        }
        let reason = format!("point {point} does not exist; expected 1 to {points}");
        Err(self.error_of("points", reason))
    }

    /// Returns every point of the study, in its order.
    pub fn points(&self) -> Vec<SweepPoint> {
        let mut points: Vec<SweepPoint> = Vec::new();
        for task in self.tasks(Shard::ALL) {
            let row = task.row(Ok(Value::Null));
            match points.last_mut().filter(|last| last.point == row.point) {
                Some(last) => last.seeds.push(row.seed),
                None => points.push(SweepPoint {
                    point: row.point,
                    run: row.run,
                    keys: row.keys,
                    seeds: vec![row.seed],
                }),
            }
        }
        points
    }

    /// Gives runs whose estimated memory exceeds `limit` a row with an error. With `None`, the
    /// default, every run is tried.
    pub fn with_memory_limit(self, limit: Option<Bytes>) -> Self {
        Self { study: self.study.with_memory_limit(limit), ..self }
    }

    /// Returns the content of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of rows of a shard.
    pub fn rows(&self, shard: Shard) -> usize {
        self.tasks(shard).len()
    }

    /// Returns the number of a shard's rows in the log, including rows whose scenario has changed
    /// since.
    pub fn known(&self, shard: Shard, log: &RunLog) -> usize {
        let known = by_name([log]);
        let tasks = self.tasks(shard);
        tasks.iter().filter(|task| known.contains_key(&task.name())).count()
    }

    /// Returns every row of a shard, in the order of the study.
    fn tasks(&self, shard: Shard) -> Vec<Task<'_>> {
        let mut tasks = Vec::new();
        let (mut point, mut row) = (0, 0);
        for group in &self.study.groups {
            for combination in group.combinations() {
                point += 1;
                for seed_index in 0..group.seeds {
                    if shard.contains(row) && self.only.is_none_or(|only| only == point) {
                        let combination = combination.clone();
                        tasks.push(Task { point, group, combination, seed_index });
                    }
                    row += 1;
                }
            }
        }
        tasks
    }

    /// Simulates the rows of a shard on at most `threads` threads, except for those in the log.
    /// Adds each row to the log when it ends.
    ///
    /// # Errors
    /// Fails if the log cannot be written; no further run then starts.
    pub fn run(
        &self,
        shard: Shard,
        threads: NonZeroUsize,
        observer: &dyn Observer,
        log: &RunLog,
    ) -> Result<SweepTable, StudyError> {
        let context = self.study.run_context();
        let tasks = self.tasks(shard);
        let (stopped, first_error) = (AtomicBool::new(false), Mutex::new(None));
        let rows = map_in_order(tasks.len(), threads, |index| {
            // The log cannot be written, so further rows would be lost.
            if stopped.load(Ordering::Relaxed) {
                return None;
            }
            let row = tasks[index].run(index, context, observer, log);
            let stop = |error| {
                stopped.store(true, Ordering::Relaxed);
                first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            };
            row.map_err(stop).ok()
        });
        match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(self.table(rows.into_iter().flatten().collect())),
        }
    }

    /// Combines the logs of all shards. Returns their rows, and a log of all runs in study order.
    ///
    /// # Errors
    /// Fails if a row is in no log, or if logs have its results for different scenarios or
    /// versions.
    pub fn merge(&self, logs: &[RunLog]) -> Result<(SweepTable, String), StudyError> {
        let known = by_name(logs);
        let mut versions = known.values().flatten().map(|(key, _)| &key.version);
        let first = versions.next();
        if let Some(other) = versions.find(|other| Some(*other) != first) {
            let reason = format!("results of versions {} and {other}", first.map_or("", |it| it));
            return Err(self.merge_error(reason));
        }
        let (mut rows, mut log, mut missing) = (Vec::new(), String::new(), Vec::new());
        for task in self.tasks(Shard::ALL) {
            let Some(((key, result), others)) =
                known.get(&task.name()).and_then(|results| results.split_first())
            else {
                missing.push(task);
                continue;
            };
            if others.iter().any(|(other, _)| other != key) {
                let reason = format!("{} has results of different scenarios", task.describe());
                return Err(self.merge_error(reason));
            }
            log += &run_log::line((*key).clone(), result);
            rows.push(task.row(from_log((*result).clone())));
        }
        match missing.first() {
            None => Ok((self.table(rows), log)),
            Some(first) => Err(self.merge_error(format!(
                "{} of {} runs have no result, the first is {}; run their shards again",
                missing.len(),
                self.study.runs(),
                first.describe()
            ))),
        }
    }

    /// Returns the rows that ended before an interruption: those in the log with the scenarios of
    /// this study. Runs that panicked are omitted, because a later start simulates them again.
    ///
    /// # Errors
    /// Fails if a scenario cannot be prepared for a reason that is not about its point.
    pub fn finished(&self, log: &RunLog) -> Result<SweepTable, StudyError> {
        let (known, context) = (by_name([log]), self.study.run_context());
        let tasks = self.tasks(Shard::ALL).into_iter();
        let tasks = tasks.filter(|task| known.contains_key(&task.name()));
        let rows = tasks.map(|task| task.logged(context, log));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(self.table(rows.into_iter().flatten().collect()))
    }

    fn merge_error(&self, reason: String) -> StudyError {
        self.error_of("merge", reason)
    }

    fn error_of(&self, place: &str, reason: String) -> StudyError {
        let position = Box::new(Position::File { file: self.study.path.display().to_string() });
        StudyError::Invalid { position, place: place.to_owned(), reason, fault: None }
    }

    fn table(&self, rows: Vec<SweepRow>) -> SweepTable {
        let mut keys: Vec<String> = Vec::new();
        for axis in self.study.groups.iter().flat_map(|group| &group.axes) {
            if axis.key != SEED && !keys.contains(&axis.key) {
                keys.push(axis.key.clone());
            }
        }
        SweepTable { has_runs: self.study.groups.len() > 1, keys, rows }
    }
}

/// Returns the newest result of each row in each log.
fn by_name<'a>(
    logs: impl IntoIterator<Item = &'a RunLog>,
) -> BTreeMap<RunName, Vec<(&'a RunKey, &'a Value)>> {
    let mut all: BTreeMap<RunName, Vec<(&RunKey, &Value)>> = BTreeMap::new();
    for log in logs {
        for (key, result) in log.newest() {
            all.entry(key.name()).or_default().push((key, result));
        }
    }
    all
}

/// Returns the JSON object of a run, or the reason why it has no result.
fn from_log(result: Value) -> Result<Value, String> {
    match result["error"].as_str() {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(result),
    }
}

impl Task<'_> {
    fn job(&self) -> Job<'_> {
        Job { group: self.group, combination: &self.combination, seed_index: self.seed_index }
    }

    fn name(&self) -> RunName {
        let labels = self.group.label(&self.combination);
        (self.group.name.clone(), labels, self.job().seed())
    }

    /// Formats the identity of the row.
    fn describe(&self) -> String {
        let labels = self.group.label(&self.combination);
        format!("point {} ({labels}), seed {}", self.point, self.job().seed())
    }

    fn run(
        &self,
        index: usize,
        context: RunContext<'_>,
        observer: &dyn Observer,
        log: &RunLog,
    ) -> Result<SweepRow, StudyError> {
        let job = self.job();
        let prepared = match attempt(|| job.prepare(context))? {
            Ok(prepared) => prepared,
            Err(failure) => return self.invalid(&job, failure.reason(), log),
        };
        let key = job.key(&prepared);
        if let Some(result) = log.reuse(&key) {
            if !log.is_newest(&key) {
                // The study was changed and changed back, so make this result the newest again.
                log.append(key, &result)?;
            }
            return Ok(self.row(from_log(result)));
        }
        // Not logged under `key`: a later start, on another machine, may have the memory.
        if let Err(failure) = attempt(|| job.expect_memory(&prepared, context))? {
            return self.invalid(&job, failure.reason(), log);
        }
        let this = ComparisonRun { index, policy: 0, seed: job.seed() };
        observer.started(this, &job.identity(this.seed));
        let simulated = attempt(|| job.simulate(&prepared, this, context, observer));
        observer.finished(this);
        let result = match simulated? {
            Ok(result) => result,
            Err(RunFailure::Invalid(reason)) => json!({ "error": reason }),
            Err(failure @ RunFailure::Panic(_)) => {
                return self.invalid(&job, failure.reason(), log);
            }
        };
        log.append(key, &result)?;
        Ok(self.row(from_log(result)))
    }

    /// Returns the row if the log has its result for the scenario of this study.
    fn logged(
        &self,
        context: RunContext<'_>,
        log: &RunLog,
    ) -> Result<Option<SweepRow>, StudyError> {
        let job = self.job();
        let result = match attempt(|| job.prepare(context))? {
            Ok(prepared) => log.reuse(&job.key(&prepared)),
            Err(failure) => {
                let expected = json!({ "error": failure.reason() });
                log.reuse(&job.key_of(String::new())).filter(|result| *result == expected)
            }
        };
        Ok(result.map(|result| self.row(from_log(result))))
    }

    /// Returns the row of a point whose scenario is invalid or too large for memory, or whose run
    /// panics. It is logged for `merge`, but a later start tries it again.
    fn invalid(&self, job: &Job<'_>, reason: String, log: &RunLog) -> Result<SweepRow, StudyError> {
        let key = job.key_of(String::new());
        let result = json!({ "error": reason });
        if log.reuse(&key).as_ref() != Some(&result) || !log.is_newest(&key) {
            log.append(key, &result)?;
        }
        Ok(self.row(Err(reason)))
    }

    fn row(&self, result: Result<Value, String>) -> SweepRow {
        let cases = self.group.axes.iter().zip(&self.combination);
        let cases = cases.filter(|(axis, _)| axis.key != SEED);
        let keys = cases.map(|(axis, &case)| (axis.key.clone(), axis.cases[case].label.clone()));
        SweepRow {
            point: self.point,
            run: self.group.name.clone(),
            keys: keys.collect(),
            seed: self.job().seed(),
            result,
        }
    }
}
