//! Studies: the experiments of publications, as files of runs and claims.
//!
//! A study's file ([`docs/studies.md`] has the format) holds the sections of a scenario that its
//! runs share, groups of runs that vary some keys, and claims. A claim names a quantity of some
//! runs, the value in the source, and the tolerance. [`Study::run`] simulates the groups and judges
//! each claim.
//!
//! A study is read at a [`Scale`]: `paper` has all its runs, `quick` those that fit in a minute.
//!
//! - `file`: the file as typed; `read`: its parser; `error`: errors.
//! - `matrix`: axes, their cases and the scenario of each combination; `settings`: its keys.
//! - `reading`: the quantities; `claim`: claims with resolved names.
//! - `simulate`: the runs; `run_log`: those that have finished.
//! - `even_rate`: the rate of flows under failures; `rates`: the rates of messages.
//! - `alternative`: settings that may turn a verdict; `search`: finds those that do.
//! - `judge`: measurements and verdicts; `outcome`: the results.
//! - `schema`: the JSON Schema of the file.
//!
//! [`docs/studies.md`]: https://github.com/evenkeel/evenkeel

mod alternative;
mod claim;
mod error;
mod even_rate;
mod file;
mod forecast;
mod judge;
pub(super) mod matrix;
mod outcome;
mod range;
mod rates;
mod read;
pub(super) mod reading;
pub(super) mod run_log;
mod schema;
mod search;
mod series;
mod settings;
pub(super) mod simulate;
mod tables;
#[cfg(test)]
mod types;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

pub use error::StudyError;
pub use forecast::{InvalidPoint, StudyForecast};
pub use outcome::{
    AlternativeResults, ClaimOutcome, ClaimVerdict, Origin, Reproduction, ResultTable, RunRow,
    Target, Trial, TrialResult, TriedClaim,
};
pub use run_log::{RunLine, RunLog};
pub use schema::schema;
pub use search::AlternativeSearch;

use super::Observer;
use crate::report::{Stopwatch, VERSION};
use crate::scenario::{Context, Fault, Key, ScenarioError, Source, Subject};
use crate::units::Bytes;
use alternative::Alternative;
use claim::Claim;
use error::Rejection;
use file::{SeriesSection, StudyFile, TableSection};

/// Name and text of a built-in study.
pub type BuiltIn = (&'static str, &'static str);
use judge::Results;
use matrix::{Axis, Combination, Group};
use simulate::{Measured, RunContext};

/// Scale at which a study runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// The runs that fit in a minute.
    Quick,
    /// All runs, as in the publication.
    Paper,
}

impl Scale {
    /// Returns the name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }
}

/// A study that was read and checked.
#[derive(Debug, Clone)]
pub struct Study {
    /// Name of the study: the stem of its file's name.
    pub name: String,
    pub(super) path: PathBuf,
    scale: Scale,
    /// Text of the study, for the positions of errors.
    source: Arc<Source>,
    file: StudyFile,
    pub(super) groups: Vec<Group>,
    claims: Vec<Claim>,
    /// Alternatives of the study's own.
    alternatives: Vec<Alternative>,
    /// Memory that a run may take; unlimited if `None`.
    memory_limit: Option<Bytes>,
}

/// Results of all runs of a study.
#[derive(Debug)]
pub struct StudyResults {
    /// The claims with their verdicts, and the tables.
    pub reproduction: Reproduction,
    /// Numbers of each run.
    pub rows: Vec<RunRow>,
    /// Results of the runs, by group.
    measured: Vec<Measured>,
}

impl Study {
    /// Reads the study of that name in `known`, or the file at that path. Its scenarios are read
    /// when they run; [`Self::check`] reads all of them in advance.
    ///
    /// # Errors
    /// Fails if there is neither such a study nor such a file, or if the file or a claim is
    /// invalid.
    pub fn load(name: &str, known: &[BuiltIn], scale: Scale) -> Result<Self, StudyError> {
        if let Some((_, text)) = known.iter().find(|(known, _)| *known == name) {
            let path = Path::new("examples/reproduce").join(format!("{name}.toml"));
            return Self::parse(text, &path, scale)?.with_heading();
        }
        let path = Path::new(name);
        if !path.is_file() {
            let known: Vec<&str> = known.iter().map(|(known, _)| *known).collect();
            let known = known.join(", ");
            return Err(StudyError::Unknown { name: name.to_owned(), known });
        }
        let text = crate::text_file::read_description(path);
        let text =
            text.map_err(|reason| StudyError::Unreadable { file: name.to_owned(), reason })?;
        Self::parse(&text, path, scale)?.with_heading()
    }

    /// Checks that the study says what it shows, which a sweep need not.
    fn with_heading(self) -> Result<Self, StudyError> {
        for (name, text) in [("title", &self.file.title), ("work", &self.file.work)] {
            if text.is_empty() {
                let (key, context) = (Key::ROOT.child(name), Context::of(&self.source));
                let because = "the page of results shows it";
                let example = format!("{name} = \"...\"");
                return Err(match self.source.has(&key) {
                    true => context.invalid_as(&key, "\"\"", format!("expected a text: {because}")),
                    false => context.missing(&key, because, example),
                }
                .into());
            }
        }
        Ok(self)
    }

    /// Parses a text as the content of the file `path`.
    ///
    /// # Errors
    /// Fails if the text or a claim is invalid.
    pub fn parse(text: &str, path: &Path, scale: Scale) -> Result<Self, StudyError> {
        let file = path.display().to_string();
        let source = Source::of(Subject::Study, text.to_owned(), file)?;
        let file = StudyFile::read(&source)?;
        let at = |section: &'static str, index| Section { source: &source, section, index };
        let mut groups: Vec<Group> = Vec::new();
        for (index, section) in file.run.iter().enumerate() {
            let at = at("run", index);
            if groups.iter().any(|group| group.name == section.name) {
                let reason = format!("another run has the name '{}'", section.name);
                return Err(at.error(Rejection::new("name", reason)).into());
            }
            let group = Group::new(&file.scenario, section, index, scale);
            groups.push(group.map_err(|rejection| at.error(rejection))?);
        }
        let mut claims = Vec::new();
        for (index, section) in file.claim.iter().enumerate() {
            let at = at("claim", index);
            let checked = claim::reject_zipped(&groups, &section.run);
            checked.map_err(|rejection| at.error(rejection))?;
            let of_section = Claim::of_section(section, &groups, scale);
            claims.extend(of_section.map_err(|rejection| at.error(rejection))?);
        }
        for (index, section) in file.table.iter().enumerate() {
            let checked = claim::reject_zipped(&groups, &section.run)
                .and_then(|()| tables::check(section, &groups));
            checked.map_err(|rejection| at("table", index).error(rejection))?;
        }
        for (index, section) in file.series.iter().enumerate() {
            let checked = claim::reject_zipped(&groups, &section.run)
                .and_then(|()| series::check(section, &groups));
            checked.map_err(|rejection| at("series", index).error(rejection))?;
        }
        let mut alternatives = Vec::new();
        for (index, section) in file.why.iter().enumerate() {
            let alternative = Alternative::of_section(section, &alternatives);
            alternatives.push(alternative.map_err(|it| at("why", index).error(it))?);
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (path, source) = (path.to_owned(), Arc::new(source));
        let memory_limit = None;
        Ok(Self { name, path, scale, source, file, groups, claims, alternatives, memory_limit })
    }

    /// Rejects runs whose estimated memory exceeds `limit`. With `None`, the default, every run is
    /// tried.
    pub fn with_memory_limit(self, limit: Option<Bytes>) -> Self {
        Self { memory_limit: limit, ..self }
    }

    /// Checks the scenario of every run, with its first seed.
    ///
    /// # Errors
    /// Fails if a scenario is invalid, or does not fit into memory.
    pub fn check(&self) -> Result<(), StudyError> {
        simulate::check(&self.groups, self.run_context())
    }

    /// Returns what the study shows, in one line.
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// Returns the publication.
    pub fn work(&self) -> &str {
        &self.file.work
    }

    /// Returns the number of simulations.
    pub fn runs(&self) -> usize {
        self.groups.iter().map(Group::runs).sum()
    }

    /// Returns the number of claims.
    pub fn claims(&self) -> usize {
        self.claims.len()
    }

    pub(super) fn run_context(&self) -> RunContext<'_> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        RunContext {
            source: &self.source,
            folder,
            memory_limit: self.memory_limit,
            is_forecast: false,
        }
    }

    /// Returns the error for an axis of a run.
    pub(super) fn axis_error(&self, run: usize, axis: &Axis, reason: &str) -> StudyError {
        let list = if self.file.run[run].over.contains_key(&axis.key) { "over" } else { "zip" };
        let at = Section { source: &self.source, section: "run", index: run };
        at.error(Rejection::new(format!("{list}.{}", axis.key), reason)).into()
    }

    /// Simulates all runs, at most `threads` at a time, and judges the claims. Returns the results
    /// and the numbers of each run, which do not depend on `threads` or on the order in which runs
    /// finish.
    ///
    /// # Errors
    /// Fails if a workload cannot be drawn under one of the seeds, if a trace is invalid, or if a
    /// run does not fit into memory.
    pub fn run(
        &self,
        threads: NonZeroUsize,
        observer: &dyn Observer,
    ) -> Result<(Reproduction, Vec<RunRow>), StudyError> {
        let results = self.results(threads, observer, None)?;
        Ok((results.reproduction, results.rows))
    }

    /// Does the same with a log, if there is one, and keeps the results of the runs. Runs that the
    /// log has are not simulated again, and each simulation that finishes is added to it.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::run`], and if the log cannot be written.
    pub fn results(
        &self,
        threads: NonZeroUsize,
        observer: &dyn Observer,
        log: Option<&RunLog>,
    ) -> Result<StudyResults, StudyError> {
        let stopwatch = Stopwatch::start();
        let measured =
            simulate::simulate(&self.groups, self.run_context(), threads, observer, log)?;
        let peak = stopwatch.stop().peak_rss_bytes;
        let results =
            |index: usize| Results { group: &self.groups[index], measured: &measured[index] };
        let claims = self.claims.iter().map(|claim| claim.judge(results(claim.group)));
        let tables = self.file.table.iter().filter_map(|section| {
            let index = self.groups.iter().position(|group| group.name == section.run)?;
            tables::table(section, results(index))
        });
        let series = self.file.series.iter().filter_map(|section| {
            let index = self.groups.iter().position(|group| group.name == section.run)?;
            series::table(section, results(index))
        });
        let reproduction = Reproduction {
            study: self.name.clone(),
            title: self.file.title.clone(),
            work: self.file.work.clone(),
            about: self.file.about.trim().to_owned(),
            scale: self.scale.name().to_owned(),
            version: VERSION.to_owned(),
            runs: self.runs(),
            wall_s: wall(&measured),
            peak_rss_bytes: peak.max(largest_peak(&measured)),
            claims: claims.collect(),
            tables: tables.chain(series).collect(),
            learned: self.file.learned.clone(),
            alternatives: None,
        };
        let rows = self.rows(&measured);
        Ok(StudyResults { reproduction, rows, measured })
    }

    fn rows(&self, measured: &[Measured]) -> Vec<RunRow> {
        let mut rows = Vec::new();
        for (group, measured) in self.groups.iter().zip(measured) {
            for (combination, runs) in &measured.runs {
                rows.extend(runs.iter().map(|run: &Value| RunRow {
                    run: group.name.clone(),
                    parameters: group.label(combination),
                    seed: run["seed"].to_string(),
                    numbers: reading::numbers(run),
                }));
            }
        }
        rows
    }
}

/// A section of a study's text, for the positions of errors.
#[derive(Clone, Copy)]
struct Section<'a> {
    source: &'a Source,
    section: &'static str,
    /// Index among the sections of the same name.
    index: usize,
}

impl Section<'_> {
    fn error(self, rejection: Rejection) -> ScenarioError {
        let Rejection { key, reason } =
            rejection.below(&format!("{}[{}]", self.section, self.index));
        let place = Key::ROOT.child(&key);
        Context::of(self.source).fault(&place, Fault::BadValue { key, reason })
    }
}

fn runs(measured: &[Measured]) -> impl Iterator<Item = &Value> {
    measured.iter().flat_map(|group| &group.runs).flat_map(|(_, seeds)| seeds)
}

/// Returns the total wall time of all runs, in seconds.
fn wall(measured: &[Measured]) -> f64 {
    runs(measured).filter_map(|run| run["wall_s"].as_f64()).sum()
}

/// Returns the largest peak memory of a run. Results from a log may be those of another process.
fn largest_peak(measured: &[Measured]) -> Option<u64> {
    runs(measured).filter_map(|run| run["peak_rss_bytes"].as_u64()).max()
}
