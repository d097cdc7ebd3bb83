//! Studies: the experiments of publications, as files of runs and claims.
//!
//! A study's file ([`docs/reproduce/README.md`] has the format) holds the sections of a scenario
//! that its runs share, groups of runs that vary keys of it, and claims: which quantity of which
//! runs, the value of the source, and the tolerance. [`Study::run`] simulates the groups and judges
//! each claim.
//!
//! A study is read at a [`Scale`]: `paper` has all its runs, `quick` those that a minute allows.
//!
//! - `file`: what is typed; `error`: faults.
//! - `matrix`: axes, their cases and the scenario of each combination.
//! - `metric`: the quantities; `claim`: claims with their names looked up.
//! - `simulate`: the runs; `run_log`: those that have finished.
//! - `even_rate`: the rate of flows under failures; `rates`: the rates of messages.
//! - `judge`: measures and verdicts; `outcome`: the results.
//! - `built_in`: the studies of this project; `schema`: the JSON Schema of the file.
//!
//! [`docs/reproduce/README.md`]: https://github.com/evenkeel/evenkeel

mod built_in;
mod claim;
mod error;
mod even_rate;
mod file;
mod judge;
pub(super) mod matrix;
pub(super) mod metric;
mod outcome;
mod range;
mod rates;
pub(super) mod run_log;
mod schema;
mod series;
pub(super) mod simulate;
mod tables;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use built_in::BUILT_IN;
pub use error::StudyError;
pub use outcome::{ClaimOutcome, ClaimVerdict, Origin, Reproduction, ResultTable, RunRow, Target};
pub use run_log::{RunLine, RunLog};
pub use schema::schema;

use super::Observer;
use crate::report::{Stopwatch, VERSION};
use crate::units::Bytes;
use claim::Claim;
use file::{SeriesSection, StudyFile, TableSection};
use judge::Results;
use matrix::Group;
use simulate::{Measured, Site};

/// How much of a study runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// What a minute allows.
    Quick,
    /// Everything, as in the publication.
    Paper,
}

impl Scale {
    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }
}

/// A study, read and checked.
#[derive(Debug, Clone)]
pub struct Study {
    /// The name: the stem of its file's name.
    pub name: String,
    pub(super) path: PathBuf,
    scale: Scale,
    file: StudyFile,
    pub(super) groups: Vec<Group>,
    claims: Vec<Claim>,
    /// The memory that a run may take; any if `None`.
    most_memory: Option<Bytes>,
}

impl Study {
    /// Reads the study of that name, or the file with that path. Its scenarios are read when they
    /// run; [`Self::check`] reads all of them before.
    ///
    /// # Errors
    /// No study has the name and no file the path; the file or a claim is invalid.
    pub fn load(name: &str, scale: Scale) -> Result<Self, StudyError> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            let path = Path::new("examples/reproduce").join(format!("{name}.toml"));
            return Self::parse(text, &path, scale)?.with_heading();
        }
        let path = Path::new(name);
        if !path.is_file() {
            let known: Vec<&str> = BUILT_IN.iter().map(|(known, _)| *known).collect();
            let known = known.join(", ");
            return Err(StudyError::Unknown { name: name.to_owned(), known });
        }
        let text = crate::workload::read_description(path);
        let text =
            text.map_err(|reason| StudyError::Unreadable { file: name.to_owned(), reason })?;
        Self::parse(&text, path, scale)?.with_heading()
    }

    /// Itself, if it says what it shows; a sweep need not.
    fn with_heading(self) -> Result<Self, StudyError> {
        for (key, text) in [("title", &self.file.title), ("work", &self.file.work)] {
            if text.is_empty() {
                let reason = "expected a text, which the page of results shows".to_owned();
                let file = self.path.display().to_string();
                return Err(StudyError::Invalid { file, place: key.to_owned(), reason });
            }
        }
        Ok(self)
    }

    /// Reads a text as if it stood in the file `path`.
    ///
    /// # Errors
    /// The text or a claim is invalid.
    pub fn parse(text: &str, path: &Path, scale: Scale) -> Result<Self, StudyError> {
        let file = path.display().to_string();
        let parsed = toml::from_str::<StudyFile>(text).map_err(|error| {
            let reason = error.to_string().trim_end().to_owned();
            StudyError::Syntax { file: file.clone(), reason }
        })?;
        let invalid =
            |place: String, reason| StudyError::Invalid { file: file.clone(), place, reason };
        let mut groups: Vec<Group> = Vec::new();
        for section in &parsed.run {
            let place = || format!("run '{}'", section.name);
            if groups.iter().any(|group| group.name == section.name) {
                return Err(invalid(place(), "another run has this name".to_owned()));
            }
            let group = Group::new(&parsed.scenario, section, scale);
            groups.push(group.map_err(|reason| invalid(place(), reason))?);
        }
        let about = parsed.claim.iter().map(|it| &it.run);
        let about = about.chain(parsed.table.iter().map(|it| &it.run));
        for name in about.chain(parsed.series.iter().map(|it| &it.run)) {
            if groups.iter().any(|group| group.name == *name && group.is_zipped()) {
                let reason = "a claim, table or series is about a run without `zip`".to_owned();
                return Err(invalid(format!("run '{name}'"), reason));
            }
        }
        let mut claims = Vec::new();
        for section in &parsed.claim {
            let of_section = Claim::of_section(section, &groups, scale);
            let place = || format!("claim '{}'", section.text);
            claims.extend(of_section.map_err(|reason| invalid(place(), reason))?);
        }
        for section in &parsed.table {
            let place = || format!("table '{}'", section.title);
            tables::check(section, &groups).map_err(|reason| invalid(place(), reason))?;
        }
        for section in &parsed.series {
            let place = || format!("series '{}'", section.title);
            series::check(section, &groups).map_err(|reason| invalid(place(), reason))?;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (path, file) = (path.to_owned(), parsed);
        Ok(Self { name, path, scale, file, groups, claims, most_memory: None })
    }

    /// The same, where runs that are not expected to fit into `most` memory are refused; any run is
    /// tried with `None`, and without this.
    pub fn within(self, most: Option<Bytes>) -> Self {
        Self { most_memory: most, ..self }
    }

    /// Checks the scenario of every run, with its first seed.
    ///
    /// # Errors
    /// A scenario is invalid, or does not fit into memory.
    pub fn check(&self) -> Result<(), StudyError> {
        simulate::check(&self.groups, self.site(&self.path.display().to_string()))
    }

    /// What the study shows, in one line.
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// The publication.
    pub fn work(&self) -> &str {
        &self.file.work
    }

    /// The number of simulations.
    pub fn runs(&self) -> usize {
        self.groups.iter().map(Group::runs).sum()
    }

    /// The number of claims.
    pub fn claims(&self) -> usize {
        self.claims.len()
    }

    pub(super) fn site<'a>(&'a self, file: &'a str) -> Site<'a> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        Site { file, folder, most_memory: self.most_memory }
    }

    /// Simulates all runs, at most `threads` at a time, and judges the claims; beside the results
    /// it has the numbers of each run. The results depend
    /// neither on `threads` nor on the order in which runs finish.
    ///
    /// # Errors
    /// A workload cannot be drawn under one of the seeds, a trace is invalid, or a run does not fit
    /// into memory.
    pub fn run(
        &self,
        threads: NonZeroUsize,
        observer: &dyn Observer,
    ) -> Result<(Reproduction, Vec<RunRow>), StudyError> {
        self.results(threads, observer, None)
    }

    /// Does the same, takes the results that the log has in place of simulating, and adds to it
    /// each simulation that finishes.
    ///
    /// # Errors
    /// As [`Self::run`]; the log cannot be written.
    pub fn run_with_log(
        &self,
        threads: NonZeroUsize,
        observer: &dyn Observer,
        log: &RunLog,
    ) -> Result<(Reproduction, Vec<RunRow>), StudyError> {
        self.results(threads, observer, Some(log))
    }

    fn results(
        &self,
        threads: NonZeroUsize,
        observer: &dyn Observer,
        log: Option<&RunLog>,
    ) -> Result<(Reproduction, Vec<RunRow>), StudyError> {
        let file = self.path.display().to_string();
        let stopwatch = Stopwatch::start();
        let measured = simulate::simulate(&self.groups, self.site(&file), threads, observer, log)?;
        let peak = stopwatch.stop().peak_rss_bytes;
        let results =
            |index: usize| Results { group: &self.groups[index], measured: &measured[index] };
        let claims = self.claims.iter().map(|claim| claim.judge(results(claim.group)));
        let tables = self.file.table.iter().filter_map(|section| {
            let index = self.groups.iter().position(|group| group.name == section.run)?;
            tables::table(section, results(index))
        });
        let courses = self.file.series.iter().filter_map(|section| {
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
            tables: tables.chain(courses).collect(),
            learned: self.file.learned.clone(),
        };
        Ok((reproduction, self.rows(&measured)))
    }

    fn rows(&self, measured: &[Measured]) -> Vec<RunRow> {
        let mut rows = Vec::new();
        for (group, measured) in self.groups.iter().zip(measured) {
            for (combination, runs) in &measured.runs {
                rows.extend(runs.iter().map(|run: &Value| RunRow {
                    run: group.name.clone(),
                    parameters: group.label(combination),
                    seed: run["seed"].to_string(),
                    numbers: metric::numbers(run),
                }));
            }
        }
        rows
    }
}

fn runs(measured: &[Measured]) -> impl Iterator<Item = &Value> {
    measured.iter().flat_map(|group| &group.runs).flat_map(|(_, seeds)| seeds)
}

/// The wall times of all runs together, seconds.
fn wall(measured: &[Measured]) -> f64 {
    runs(measured).filter_map(|run| run["wall_s"].as_f64()).sum()
}

/// The largest peak memory at the end of a run; results of a log were of another process.
fn largest_peak(measured: &[Measured]) -> Option<u64> {
    runs(measured).filter_map(|run| run["peak_rss_bytes"].as_u64()).max()
}
