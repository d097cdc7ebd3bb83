//! Reads results that were written earlier: folders of runs and tables of studies.
//!
//! [`Results::open`] recognises what wrote a folder by its files. Everything is read from files
//! that [`report`](crate::report) wrote. Errors name the file, line and column, and the expected
//! value. Nothing is drawn here.

mod comparison;
mod error;
mod fabric;
mod fabric_facts;
mod failures;
mod files;
mod messages;
mod quantity;
mod rails;
mod run;
mod standings;
mod study;
mod table;
mod whole;

use std::path::Path;

use crate::report::{STATISTICS, SUMMARY};

pub use comparison::{ComparisonRow, ComparisonTable};
pub use error::ResultsError;
pub use fabric::{FabricGraph, FabricLink, FabricNode};
pub use fabric_facts::FabricFacts;
pub use failures::Disturbance;
pub use files::ResultFiles;
pub use messages::Message;
pub use quantity::{Dimension, Quantity};
pub use rails::{RailEvent, RailName, RailOperation, RailRun};
pub use run::{LinkLoad, RunFolder};
pub use standings::{Standing, Standings, StandingsPoint};
pub use study::{FailedRow, StudyRow, StudyTable};
pub use table::Table;

/// Results in a folder.
#[derive(Debug)]
pub enum Results {
    /// One run: `evenkeel run --out`, `evenkeel hpcc --out`.
    Run(Box<RunFolder>),
    /// The runs of studies, one table per study: `evenkeel sweep --out` or
    /// `evenkeel reproduce --out`.
    Studies(Vec<StudyTable>),
    /// The statistics of a comparison: `evenkeel compare --out`, or `--format csv`.
    Comparison(ComparisonTable),
}

impl Results {
    /// Opens a folder of results, or a table of a study.
    ///
    /// # Errors
    /// Fails if there are no results, or if one of their files is invalid.
    pub fn open(path: &Path) -> Result<Self, ResultsError> {
        if path.is_file() {
            let table = Table::read(path)?;
            return match ComparisonTable::is_in(&table) {
                true => Ok(Self::Comparison(ComparisonTable::of(table)?)),
                false => Ok(Self::Studies(vec![StudyTable::read(path)?])),
            };
        }
        if let Some(results) = Self::of(ResultFiles::in_folder(path))? {
            return Ok(results);
        }
        let tables = StudyTable::files_in(path)?;
        if tables.is_empty() {
            return Err(ResultsError::NoResults { folder: path.display().to_string() });
        }
        Ok(Self::Studies(
            tables.iter().map(|file| StudyTable::read(file)).collect::<Result<_, _>>()?,
        ))
    }

    /// Opens the files of a run or a comparison; `None` if they are of neither.
    ///
    /// # Errors
    /// Fails if one of the files is invalid.
    pub fn of(files: ResultFiles) -> Result<Option<Self>, ResultsError> {
        // If it is not a regular file, the reader reports that.
        if files.has_entry(SUMMARY) {
            let run = RunFolder::open(files)?;
            whole::check_run(&run)?;
            return Ok(Some(Self::Run(Box::new(run))));
        }
        if files.has(STATISTICS) {
            let table = ComparisonTable::of(files.table(STATISTICS)?)?;
            return Ok(Some(Self::Comparison(table.with_runs(&files)?)));
        }
        Ok(None)
    }

    /// Returns the folders of runs that are not part of one of the comparisons.
    pub fn single_runs(results: &[Self]) -> Vec<&RunFolder> {
        let comparisons = || {
            results.iter().filter_map(|it| match it {
                Self::Comparison(comparison) => Some(comparison),
                Self::Run(_) | Self::Studies(_) => None,
            })
        };
        let runs = results
            .iter()
            .filter_map(|it| if let Self::Run(run) = it { Some(&**run) } else { None });
        runs.filter(|run| !comparisons().any(|comparison| comparison.has(run))).collect()
    }

    /// Returns notes on results that are shown together: different versions, and missing rows.
    pub fn notes(results: &[Self]) -> Vec<String> {
        whole::notes(results)
    }
}
