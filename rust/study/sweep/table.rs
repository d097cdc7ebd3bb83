//! Results of a sweep as a table: a row for each point and seed.

use std::borrow::Cow;
use std::io;

use serde_json::{Map, Value, json};

use crate::metrics::METRICS;
use crate::record::csv_text;
use crate::reproduce::reading;

/// Columns that are neither the seed, a swept key nor a number of a run.
pub(super) const FIXED: [&str; 3] = ["point", "run", "error"];

/// A point of a study: one value for each swept key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepPoint {
    /// Number of the point, from 1, in the order of the study.
    pub point: usize,
    /// Name of its `[[run]]`.
    pub run: String,
    /// Swept keys with the labels of their values.
    pub keys: Vec<(String, String)>,
    /// Seeds of its rows.
    pub seeds: Vec<u64>,
}

impl SweepPoint {
    /// Returns the point as one JSON object.
    pub fn json(&self) -> Value {
        let keys: Map<String, Value> =
            self.keys.iter().map(|(key, label)| (key.clone(), json!(label))).collect();
        json!({ "point": self.point, "run": self.run, "keys": keys, "seeds": self.seeds })
    }
}

/// A row: a point of the study under a seed, and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRow {
    /// Number of the point, from 1, in the order of the study.
    pub point: usize,
    /// Name of its `[[run]]`.
    pub run: String,
    /// Swept keys with the labels of their values.
    pub keys: Vec<(String, String)>,
    /// Seed of every random draw.
    pub seed: u64,
    /// JSON object of the run, or the reason why it has no result.
    pub result: Result<Value, String>,
}

impl SweepRow {
    /// Returns why the row has no result or its run did not complete; empty if it completed.
    pub fn error(&self) -> String {
        match &self.result {
            Err(reason) => reason.trim_end().replace('\n', " "),
            Ok(run) if run["cct_ns"].is_null() => {
                match (run["messages_completed"].as_u64(), run["messages"].as_u64()) {
                    (Some(done), Some(all)) => {
                        format!("did not complete: {done} of {all} messages at its end")
                    }
                    _ => "did not complete".to_owned(),
                }
            }
            Ok(_) => String::new(),
        }
    }
}

/// All rows of a sweep, with the names of the swept keys.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepTable {
    /// True if the study has several `[[run]]`, whose names are then a column.
    pub has_runs: bool,
    /// Every swept key of the study.
    pub keys: Vec<String>,
    /// Rows in the order of the study.
    pub rows: Vec<SweepRow>,
}

impl SweepTable {
    /// Returns the names of the text columns: those before the seed.
    pub fn labels(&self) -> Vec<&str> {
        let run = self.has_runs.then_some("run");
        run.into_iter().chain(self.keys.iter().map(String::as_str)).collect()
    }

    /// Returns the texts of a row, in the order of [`Self::labels`]; empty for keys of other
    /// groups.
    pub fn texts<'a>(&'a self, row: &'a SweepRow) -> Vec<&'a str> {
        let of_key = |key: &String| {
            let own = row.keys.iter().find(|(known, _)| known == key);
            own.map_or("", |(_, label)| label.as_str())
        };
        let run = self.has_runs.then_some(row.run.as_str());
        run.into_iter().chain(self.keys.iter().map(of_key)).collect()
    }

    /// Returns the rows as CSV: `point`, the swept keys, `seed`, the metrics and `error`.
    ///
    /// # Errors
    /// Passes on errors of the CSV writer, which do not occur in memory.
    pub fn csv(&self) -> io::Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let head = [&["point"], &self.labels()[..], &["seed"]].concat();
        let names = METRICS.each_ref().map(|metric| metric.name);
        writer.write_record([&head[..], &names[..], &["error"]].concat())?;
        for row in &self.rows {
            let (point, seed, error) = (row.point.to_string(), row.seed.to_string(), row.error());
            let numbers = reading::numbers(row.result.as_ref().unwrap_or(&Value::Null));
            let numbers: Vec<&str> = numbers.iter().map(|(_, number)| number.as_str()).collect();
            let texts = self.texts(row).into_iter().map(csv_text);
            let texts: Vec<Cow<'_, str>> = texts.collect();
            let texts: Vec<&str> = texts.iter().map(|it| &**it).collect();
            let head = [&[point.as_str()], &texts[..], &[seed.as_str()]].concat();
            writer
                .write_record([&head[..], &numbers[..], &[&*csv_text(error.as_str())]].concat())?;
        }
        let bytes = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }

    /// Returns the rows without a complete run.
    pub fn failed(&self) -> impl Iterator<Item = &SweepRow> {
        self.rows.iter().filter(|row| !row.error().is_empty())
    }
}
