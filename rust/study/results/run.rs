//! Results folder of a run.

use std::path::Path;

use serde_json::Value;

use super::messages::{self, Message};
use super::{Disturbance, ResultFiles, ResultsError, Table, failures, whole};
use crate::bound::{self, IdlePath, Wire};
use crate::fabric::Setup;
use crate::record::RecordedTable;
use crate::report::{MAX_LISTED, SCALE_UP, SCENARIO, SUMMARY};
use crate::topology::HostPath;
use crate::units::Bytes;

/// Load of one direction of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkLoad {
    /// Name of the link.
    pub link: String,
    /// Name of the sending node.
    pub from: String,
    /// Name of the receiving node.
    pub to: String,
    /// Bytes carried.
    pub bytes: f64,
    /// Rate in bit/s, if the file has it.
    pub rate_bps: Option<f64>,
    /// Maximum queue in bytes at the sending port, if the file has it.
    pub queue_bytes_max: Option<f64>,
    /// Packets marked at the sending port, if the file has them.
    pub marked: Option<f64>,
}

/// Results of a run.
#[derive(Debug)]
pub struct RunFolder {
    files: ResultFiles,
    summary: Value,
}

impl RunFolder {
    /// Opens a folder with `summary.json`.
    pub(super) fn open(files: ResultFiles) -> Result<Self, ResultsError> {
        let summary = files.json(SUMMARY)?;
        let run = Self { files, summary };
        for key in ["scenario", "policy"] {
            run.text(key)?;
        }
        run.number("seed")?;
        Ok(run)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.files.path()
    }

    /// Returns true if the folder has a file of this name.
    pub fn has(&self, name: &str) -> bool {
        self.files.has(name)
    }

    /// Returns the object of `summary.json`.
    pub fn summary(&self) -> &Value {
        &self.summary
    }

    /// Returns the name of the scenario.
    pub fn scenario(&self) -> &str {
        self.summary["scenario"].as_str().unwrap_or_default()
    }

    /// Returns the name of the policy.
    pub fn policy(&self) -> &str {
        self.summary["policy"].as_str().unwrap_or_default()
    }

    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.summary["seed"].as_u64().unwrap_or_default()
    }

    /// Returns a number of the summary by a key such as `fct_ns.p99`; `None` if it is null or
    /// absent.
    pub fn metric(&self, key: &str) -> Option<f64> {
        let value = key.split('.').try_fold(&self.summary, |value, part| value.get(part))?;
        value.as_f64()
    }

    fn text(&self, key: &str) -> Result<&str, ResultsError> {
        let value = &self.summary[key];
        value.as_str().ok_or_else(|| self.wrong(key, value, "a text"))
    }

    fn number(&self, key: &str) -> Result<f64, ResultsError> {
        let value = &self.summary[key];
        value.as_f64().ok_or_else(|| self.wrong(key, value, "a number"))
    }

    fn wrong(&self, key: &str, value: &Value, expected: &'static str) -> ResultsError {
        let found = match value {
            Value::Null => "missing".to_owned(),
            other => other.to_string(),
        };
        let file = self.path().join(SUMMARY).display().to_string();
        ResultsError::Key { file, key: key.to_owned(), found, expected }
    }

    /// Reads a table of the run.
    ///
    /// # Errors
    /// Fails if the table is missing or invalid.
    pub fn table(&self, name: &str) -> Result<Table, ResultsError> {
        self.files.table(name)
    }

    /// Reads a recorded table of each recording that has it, with the name of the recording.
    ///
    /// # Errors
    /// Fails if the folder cannot be read, or if a table is invalid.
    pub fn recorded(
        &self,
        table: RecordedTable,
    ) -> Result<Vec<(Option<String>, Table)>, ResultsError> {
        let mut names = self.files.names()?;
        names.retain(|name| table.recording_of(name).is_some());
        let read = |name: &String| {
            let recording = table.recording_of(name).flatten().map(str::to_owned);
            Ok((recording, self.table(name)?))
        };
        names.iter().map(read).collect()
    }

    /// Returns the messages, in order of their numbers.
    ///
    /// # Errors
    /// Fails if `flows.csv` is missing or invalid.
    pub fn messages(&self) -> Result<Vec<Message>, ResultsError> {
        let flows = self.table("flows.csv")?;
        whole::check_flows(self, &flows)?;
        messages::read(&flows)
    }

    /// Returns both directions of each link; nothing for a run over several rails.
    ///
    /// # Errors
    /// Fails if `links.csv` is missing or invalid.
    pub fn links(&self) -> Result<Vec<LinkLoad>, ResultsError> {
        if self.has_rails() {
            return Ok(Vec::new());
        }
        let table = self.table("links.csv")?;
        let [link, from, to, bytes] = table.indices(["link", "from", "to", "bytes"])?;
        let others = ["rate_bps", "queue_bytes_max", "marked"].map(|name| table.find(name));
        let optional = |row, column: Option<usize>| match column {
            Some(column) => table.optional_number(row, column),
            None => Ok(None),
        };
        let read = |row| {
            let [rate_bps, queue_bytes_max, marked] = others;
            Ok(LinkLoad {
                link: table.text(row, link).to_owned(),
                from: table.text(row, from).to_owned(),
                to: table.text(row, to).to_owned(),
                bytes: table.number(row, bytes)?,
                rate_bps: optional(row, rate_bps)?,
                queue_bytes_max: optional(row, queue_bytes_max)?,
                marked: optional(row, marked)?,
            })
        };
        // Ports of scale-up networks are not links of the fabric.
        let is_of_fabric = |row: &usize| !table.text(*row, link).ends_with(SCALE_UP);
        (0..table.len()).filter(is_of_fabric).map(read).collect()
    }

    /// Returns the text of `scenario.toml`, which experiments of the HPCC family do not have.
    pub fn scenario_text(&self) -> Option<String> {
        self.files.text(SCENARIO).ok()
    }

    /// Returns the setup of the run without its workload.
    ///
    /// # Errors
    /// Fails without `scenario.toml`, and if the file that its fabric was read from is missing.
    pub fn setup(&self) -> Result<Setup, ResultsError> {
        if !self.files.has_entry(SCENARIO) {
            let file = self.path().join(SCENARIO);
            let file = file.display();
            return Err(ResultsError::Scenario(format!(
                "{file}: not found; evenkeel run --out writes it, and evenkeel hpcc does not"
            )));
        }
        failures::setup(&self.files)
    }

    /// Returns the failures, in order of time. The summary lists the first 1,000; if there may be
    /// more, all come from the scenario.
    ///
    /// # Errors
    /// Fails if the summary's list is invalid, and in the same cases as [`Self::setup`].
    pub fn disturbances(&self) -> Result<Vec<Disturbance>, ResultsError> {
        let Some(listed) = self.summary["failures"].as_array() else { return Ok(Vec::new()) };
        if listed.len() >= MAX_LISTED {
            return Ok(failures::of(&self.setup()?));
        }
        let one = |(index, failure)| {
            let (key, expected) = (format!("failures[{index}]"), "a failure with link and kind");
            failures::listed(failure).ok_or_else(|| self.wrong(&key, failure, expected))
        };
        listed.iter().enumerate().map(one).collect()
    }

    /// Returns the size of each message that completed, and its slowdown: its completion time over
    /// that of the message alone on an idle path.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::setup`] and [`Self::messages`].
    pub fn slowdowns(&self) -> Result<Vec<(f64, f64)>, ResultsError> {
        let setup = self.setup()?;
        let (topology, wire) = (&*setup.topology, crate::wire(&setup));
        let routes = topology.routes();
        let ideal = |message: &Message| -> Option<f64> {
            let host = |name: &str| {
                let index = topology.host_names().iter().position(|host| host == name)?;
                Some(crate::ids::HostId(u32::try_from(index).ok()?))
            };
            let (src, dst) = (host(&message.src)?, host(&message.dst)?);
            if topology.host_path(src, dst) != HostPath::Fabric {
                return None;
            }
            ideal_ns(&bound::Path::between(topology, routes, src, dst)?, message.bytes, &wire)
        };
        let one = |message: &Message| Some((message.bytes, message.fct_ns? / ideal(message)?));
        Ok(self.messages()?.iter().filter_map(one).collect())
    }
}

/// Returns the completion time of a message alone, in nanoseconds.
fn ideal_ns(path: &bound::Path, bytes: f64, wire: &Wire) -> Option<f64> {
    let ideal = IdlePath::new(path, Bytes::new(bytes as u64), wire).completed.as_ns_f64();
    (ideal > 0.0).then_some(ideal)
}
