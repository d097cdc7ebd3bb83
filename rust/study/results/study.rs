//! Table of a study: a row for each run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{ResultsError, Table};
use crate::text_file::{read_description, read_results};

/// A run of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyRow {
    /// Group of the run; empty if the study has no groups.
    pub group: String,
    /// Keys that differ between runs, with their values.
    pub parameters: Vec<(String, String)>,
    seed: String,
    /// Index of its row in the table, from 0.
    row: usize,
}

/// A run of a study that failed, or did not complete.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedRow {
    /// Row of the run.
    pub row: StudyRow,
    /// Reason why it has no result.
    pub error: String,
}

/// Runs of a study.
#[derive(Debug)]
pub struct StudyTable {
    /// Name of the study: that of its file, or of the folder that holds `results.csv`.
    pub name: String,
    /// Title of the study; empty if its file lacks one.
    pub title: String,
    /// Runs that did not fail, in the order of the table.
    pub rows: Vec<StudyRow>,
    /// Runs with an error, in the order of the table.
    pub failed: Vec<FailedRow>,
    table: Table,
}

/// Table of a sweep or of a comparison in its folder.
const RESULTS: &str = "results.csv";

/// Copy of the study next to the table of a sweep.
const STUDY: &str = "study.toml";

/// First metric in every table of a study.
const FIRST_METRIC: &str = "cct_ns";

impl StudyTable {
    /// Lists the tables in a folder: `results.csv`, or those of reproduced studies, which have
    /// their claims next to them.
    pub(super) fn files_in(folder: &Path) -> Result<Vec<PathBuf>, ResultsError> {
        let single = folder.join(RESULTS);
        if single.is_file() {
            return Ok(vec![single]);
        }
        let entries = fs::read_dir(folder);
        let entries = entries.map_err(|reason| ResultsError::unreadable(folder, reason))?;
        let mut files: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|end| end == "csv"))
            .filter(|path| path.with_extension("json").is_file())
            .collect();
        files.sort();
        Ok(files)
    }

    /// Reads a table.
    pub(super) fn read(path: &Path) -> Result<Self, ResultsError> {
        let name = match path.file_name().is_some_and(|name| name == RESULTS) {
            true => path.parent().and_then(Path::file_name),
            false => path.file_stem(),
        };
        let name = name.map_or("study".into(), |name| name.to_string_lossy().into_owned());
        let mut study = Self::of(name, Table::read(path)?)?;
        study.title = study.read_title().unwrap_or_default();
        Ok(study)
    }

    /// Returns true if a sweep or a comparison wrote the table: a reproduced study names its table.
    pub(super) fn is_sweep(&self) -> bool {
        Path::new(self.file()).file_name().is_some_and(|name| name == RESULTS)
    }

    /// Returns the text of a sweep's study; `None` for other tables, or without the file.
    pub fn study_text(&self) -> Option<String> {
        let study = Path::new(self.file()).with_file_name(STUDY);
        self.is_sweep().then(|| read_description(&study).ok()).flatten()
    }

    /// Reads the title from the copy of a sweep's study, or from the claims of a reproduced study.
    fn read_title(&self) -> Option<String> {
        let path = Path::new(self.file());
        if self.is_sweep() {
            let study: toml::Table = self.study_text()?.parse().ok()?;
            return Some(study.get("title")?.as_str()?.trim().to_owned());
        }
        let text = read_results(&path.with_extension("json")).ok()?;
        let study: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(study["title"].as_str()?.trim().to_owned())
    }

    pub(super) fn of(name: String, table: Table) -> Result<Self, ResultsError> {
        let metrics = table.column(FIRST_METRIC)?;
        let seed = table.column("seed")?;
        if seed > metrics {
            return Err(ResultsError::Order { file: table.file().to_owned() });
        }
        let (group, parameters) = (table.find("run"), table.find("parameters"));
        let error = table.find("error");
        let outside = [Some(seed), table.find("point"), group, parameters];
        let keys: Vec<usize> =
            (0..metrics).filter(|column| !outside.contains(&Some(*column))).collect();
        let (mut rows, mut failed) = (Vec::new(), Vec::new());
        for row in 0..table.len() {
            let error = error.map_or("", |column| table.text(row, column)).to_owned();
            let mut values: Vec<(String, String)> =
                parameters.map(|column| pairs(table.text(row, column))).unwrap_or_default();
            values.extend(
                keys.iter()
                    .map(|&key| (table.columns()[key].clone(), table.text(row, key).to_owned())),
            );
            let group = group.map_or("", |column| table.text(row, column)).to_owned();
            let seed = table.text(row, seed).to_owned();
            let row = StudyRow { group, parameters: values, seed, row };
            if error.is_empty() {
                rows.push(row);
            } else {
                failed.push(FailedRow { row, error });
            }
        }
        join_labels(&mut rows, &mut failed);
        Ok(Self { name, title: String::new(), rows, failed, table })
    }

    /// Returns the names of the metrics.
    pub fn metrics(&self) -> &[String] {
        let first = self.table.find(FIRST_METRIC).unwrap_or(0);
        &self.table.columns()[first..]
    }

    /// Returns a metric of a run. `None` if it has no value, such as the completion time of an
    /// incomplete run.
    ///
    /// # Errors
    /// Fails if there is no such column, or if the value is not a number.
    pub fn metric(&self, row: &StudyRow, name: &str) -> Result<Option<f64>, ResultsError> {
        self.table.optional_number(row.row, self.table.column(name)?)
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the path of the file.
    pub fn file(&self) -> &str {
        self.table.file()
    }
}

impl StudyRow {
    /// Formats the keys with their values.
    pub fn words(&self) -> String {
        let given = self.parameters.iter().filter(|(_, value)| !value.is_empty());
        given.map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
    }

    /// Returns the index of the row in the table, from 0.
    pub(super) fn index(&self) -> usize {
        self.row
    }

    /// Returns the seed.
    pub fn seed(&self) -> &str {
        &self.seed
    }

    /// Returns the value of a key; empty if the run does not have it.
    pub fn parameter(&self, key: &str) -> &str {
        self.parameters.iter().find(|(it, _)| it == key).map_or("", |(_, value)| value)
    }
}

/// Parses keys and values from a text such as `policy ecmp, bytes 1MB`.
fn pairs(parameters: &str) -> Vec<(String, String)> {
    let words = parameters.split(", ").filter(|pair| !pair.is_empty());
    words
        .map(|pair| pair.split_once(' ').unwrap_or((pair, "")))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// Joins labels that contain a comma, such as `policy reps, frozen 100us`. Every run of a group has
/// the same keys, so a pair whose key only some of them have belongs to the label before it.
fn join_labels(rows: &mut [StudyRow], failed: &mut [FailedRow]) {
    let mut runs: BTreeMap<String, (usize, BTreeMap<String, usize>)> = BTreeMap::new();
    for row in rows.iter().chain(failed.iter().map(|it| &it.row)) {
        let (count, keys) = runs.entry(row.group.clone()).or_default();
        *count += 1;
        let of_row: BTreeSet<&str> = row.parameters.iter().map(|(key, _)| key.as_str()).collect();
        for key in of_row {
            *keys.entry(key.to_owned()).or_default() += 1;
        }
    }
    for row in rows.iter_mut().chain(failed.iter_mut().map(|it| &mut it.row)) {
        let (count, keys) = &runs[&row.group];
        let mut joined: Vec<(String, String)> = Vec::new();
        for (key, value) in std::mem::take(&mut row.parameters) {
            match joined.last_mut().filter(|_| keys[&key] < *count) {
                Some((_, label)) => {
                    *label = format!("{label}, {key} {value}").trim_end().to_owned()
                }
                None => joined.push((key, value)),
            }
        }
        row.parameters = joined;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_has_a_column_per_key_and_a_separate_list_of_failed_points() {
        let text = "point,policy.name,load,seed,cct_ns,error\n0,ecmp,0.5,1,10.5,\n1,ecmp,2,1,,no\n";
        let table = StudyTable::of("a".to_owned(), Table::parse("a.csv", text).unwrap()).unwrap();
        assert_eq!((table.rows.len(), table.failed.len()), (1, 1));
        let failed = &table.failed[0];
        assert_eq!((failed.row.parameter("load"), failed.error.as_str()), ("2", "no"));
        let row = &table.rows[0];
        assert_eq!((row.parameter("policy.name"), row.parameter("load")), ("ecmp", "0.5"));
        assert_eq!(table.metric(row, "cct_ns").unwrap(), Some(10.5));
    }

    #[test]
    fn a_reproduced_study_has_its_parameters_in_one_column() {
        let text = "run,parameters,seed,cct_ns\nr,\"policy ecmp, G 10us\",1,10\n";
        let table = StudyTable::of("a".to_owned(), Table::parse("a.csv", text).unwrap()).unwrap();
        assert_eq!(table.rows[0].parameter("G"), "10us");
        let text = "run,parameters,seed,cct_ns\nr,\"policy reps, frozen 1us, G 2us\",1,10\n\
                    r,\"policy ecmp, G 2us\",1,10\nother,\"policy ecmp, frozen 1us\",1,10\n";
        let table = StudyTable::of("a".to_owned(), Table::parse("a.csv", text).unwrap()).unwrap();
        let policies = table.rows.iter().map(|row| row.parameter("policy"));
        assert_eq!(policies.collect::<Vec<_>>(), ["reps, frozen 1us", "ecmp", "ecmp"]);
        assert_eq!(table.rows[2].parameter("frozen"), "1us", "a key of the other group");
        let error = table.metric(&table.rows[0], "cct").unwrap_err().to_string();
        assert!(error.contains("no column is called 'cct'"), "{error}");
    }
}
