//! Log of the finished simulations of a study, from which a later start resumes.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::StudyError;
use super::file::FlowRate;
use crate::text_file::regular_file;

/// Everything that a result depends on: simulations with the same key have the same result.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunKey {
    /// Version of this program.
    pub version: String,
    /// Name of the group of runs.
    pub run: String,
    /// Labels of the combination.
    pub parameters: String,
    /// Seed of every random draw.
    pub seed: u64,
    /// Rate at which flows send.
    pub rate: FlowRate,
    /// Every key of the resolved scenario with its value.
    pub scenario: String,
}

/// Identity of a run in its study: its group, its labels and its seed.
pub(crate) type RunName = (String, String, u64);

impl RunKey {
    pub(crate) fn name(&self) -> RunName {
        (self.run.clone(), self.parameters.clone(), self.seed)
    }
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunLine {
    #[serde(flatten)]
    key: RunKey,
    /// The object of `evenkeel run --json`, and `rate_gbps`, quantiles of the messages' rates.
    result: Value,
}

/// The file `NAME.runs.jsonl` of a study: a line for each finished simulation, written when it
/// finishes. An unterminated last line, which a killed process leaves, is ignored.
#[derive(Debug)]
pub struct RunLog {
    path: PathBuf,
    /// Results of earlier starts, with their line numbers.
    earlier: BTreeMap<RunKey, (usize, Value)>,
    /// Last line of each run (group, labels and seed).
    newest: BTreeMap<RunName, usize>,
    /// Number of earlier results that were reused.
    reused: AtomicUsize,
    /// True once a line could not be written.
    is_broken: Mutex<bool>,
}

impl RunLog {
    /// Opens the log in `folder` for a study that starts from the beginning.
    ///
    /// # Errors
    /// Fails if the file holds results of an earlier start, or cannot be read or written.
    pub fn create(folder: &Path, study: &str) -> Result<Self, StudyError> {
        let (log, bytes) = Self::open(folder, study)?;
        match log.truncate_torn_line(&bytes)?.lines().count() {
            0 => Ok(log),
            runs => Err(StudyError::EarlierRuns { file: log.name(), runs }),
        }
    }

    /// Opens the log in `folder` for a study that reuses the results of earlier starts.
    ///
    /// # Errors
    /// Fails if a line of the file is not the result of a run, or if the file cannot be read or
    /// written.
    pub fn resumed(folder: &Path, study: &str) -> Result<Self, StudyError> {
        let (mut log, bytes) = Self::open(folder, study)?;
        let text = log.truncate_torn_line(&bytes)?;
        log.add_earlier(&text)?;
        Ok(log)
    }

    /// Reads the results in `folder`, to which another process may be adding. The file is not
    /// changed.
    ///
    /// # Errors
    /// Fails if a line of the file is not the result of a run, or if the file cannot be read.
    pub fn read_only(folder: &Path, study: &str) -> Result<Self, StudyError> {
        let (mut log, bytes) = Self::open(folder, study)?;
        log.add_earlier(&String::from_utf8_lossy(complete_lines(&bytes)))?;
        Ok(log)
    }

    fn add_earlier(&mut self, text: &str) -> Result<(), StudyError> {
        for (index, line) in text.lines().enumerate() {
            let line = serde_json::from_str::<RunLine>(line).map_err(|error| {
                StudyError::BadRun { file: self.name(), line: index + 1, reason: error.to_string() }
            })?;
            self.newest.insert(line.key.name(), index);
            self.earlier.insert(line.key, (index, line.result));
        }
        Ok(())
    }

    /// Returns the log without its earlier results, and the file's content.
    fn open(folder: &Path, study: &str) -> Result<(Self, Vec<u8>), StudyError> {
        let log = Self {
            path: folder.join(format!("{study}.runs.jsonl")),
            earlier: BTreeMap::new(),
            newest: BTreeMap::new(),
            reused: AtomicUsize::new(0),
            is_broken: Mutex::new(false),
        };
        match regular_file(&log.path).and_then(|_| fs::read(&log.path)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok((log, Vec::new())),
            Err(reason) => Err(log.failed("read", reason)),
            Ok(bytes) => Ok((log, bytes)),
        }
    }

    /// Returns the complete lines of the content, and truncates the file to them.
    fn truncate_torn_line(&self, bytes: &[u8]) -> Result<String, StudyError> {
        let whole = complete_lines(bytes);
        if whole.len() < bytes.len() {
            let file = OpenOptions::new().write(true).open(&self.path);
            let cut = file.and_then(|file| file.set_len(whole.len() as u64));
            cut.map_err(|reason| self.failed("truncate the partial last line of", reason))?;
        }
        Ok(String::from_utf8_lossy(whole).into_owned())
    }

    /// Returns the result for that key from an earlier start, and counts it as reused.
    pub(crate) fn reuse(&self, key: &RunKey) -> Option<Value> {
        let (_, result) = self.earlier.get(key)?;
        self.reused.fetch_add(1, Ordering::Relaxed);
        Some(result.clone())
    }

    /// Adds the result of a run.
    pub(crate) fn append(&self, key: RunKey, result: &Value) -> Result<(), StudyError> {
        let line = line(key, result);
        let mut is_broken = self.is_broken.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_broken {
            let reason = io::Error::other("an earlier line could not be written");
            return Err(self.failed("write", reason));
        }
        let written = self.append_line(line.as_bytes());
        // A line after a torn one would be merged with it and lost at the next start.
        *is_broken = written.is_err();
        written.map_err(|reason| self.failed("write", reason))
    }

    /// Appends a line. If that fails, as on a full disk, the partial line is cut off.
    fn append_line(&self, line: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        let before = file.metadata()?.len();
        file.write_all(line).inspect_err(|_| {
            // If truncating fails too, the next start does it.
            let _ = file.set_len(before);
        })
    }

    /// Returns the newest result of each run. A study that was edited may have several results.
    pub(crate) fn newest(&self) -> impl Iterator<Item = (&RunKey, &Value)> {
        let results = self.earlier.iter().map(|(key, (_, result))| (key, result));
        results.filter(|(key, _)| self.is_newest(key))
    }

    /// Returns true if no later line has a result for the same run under another scenario.
    pub(crate) fn is_newest(&self, key: &RunKey) -> bool {
        let line = self.earlier.get(key).map(|(line, _)| line);
        line.is_some() && self.newest.get(&key.name()) == line
    }

    /// Returns the number of runs whose newest results are in none of `others`.
    pub fn runs_missing_in(&self, others: &[Self]) -> usize {
        let is_there = |key: &RunKey| others.iter().any(|other| other.earlier.contains_key(key));
        self.newest().filter(|(key, _)| !is_there(key)).count()
    }

    /// Returns the number of earlier results that were reused.
    pub fn reused(&self) -> usize {
        self.reused.load(Ordering::Relaxed)
    }

    /// Returns the path of the file.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Removes the file, once the study's results are written.
    ///
    /// # Errors
    /// Fails if a file system operation fails.
    pub fn remove(self) -> Result<(), StudyError> {
        match fs::remove_file(&self.path) {
            // No run has finished, so there is no file.
            Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(|reason| self.failed("remove", reason)),
        }
    }

    fn failed(&self, action: &'static str, reason: io::Error) -> StudyError {
        StudyError::Log { file: self.name(), action, reason }
    }
}

/// Returns the line of a result, with its line end.
pub(crate) fn line(key: RunKey, result: &Value) -> String {
    let line = RunLine { key, result: result.clone() };
    serde_json::to_string(&line).expect("a result is a JSON object") + "\n"
}

/// Returns everything up to the last line end.
fn complete_lines(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scenario: &str, seed: u64) -> RunKey {
        RunKey {
            version: "0.1.0".to_owned(),
            run: "a".to_owned(),
            parameters: "policy spray".to_owned(),
            seed,
            rate: FlowRate::Scenario,
            scenario: scenario.to_owned(),
        }
    }

    #[test]
    fn complete_lines_are_results_and_a_torn_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("study.runs.jsonl");
        let first = serde_json::json!({ "cct_ns": 0.1 + 0.2, "none": null, "packets": u64::MAX });
        let log = RunLog::create(folder.path(), "study").unwrap();
        log.append(key("x = \"1\"\n", 1), &first).unwrap();
        log.append(key("x = \"1\"\n", 2), &Value::Null).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 1]).unwrap();
        let read = RunLog::read_only(folder.path(), "study").unwrap();
        assert_eq!(read.reuse(&key("x = \"1\"\n", 1)), Some(first.clone()));
        assert_eq!(fs::read_to_string(&path).unwrap(), text[..text.len() - 1], "as it was");
        let log = RunLog::resumed(folder.path(), "study").unwrap();
        assert_eq!(log.reuse(&key("x = \"1\"\n", 1)), Some(first));
        assert_eq!(log.reuse(&key("x = \"1\"\n", 2)), None);
        assert_eq!(log.reuse(&key("x = \"2\"\n", 1)), None);
        assert_eq!(log.reused(), 1);
        log.append(key("x = \"1\"\n", 2), &Value::Null).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        log.remove().unwrap();
        // Without a run there is no file.
        RunLog::create(folder.path(), "none").unwrap().remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn every_part_of_the_run_key_matters() {
        let folder = tempfile::tempdir().unwrap();
        let one = key("x = 1", 1);
        RunLog::create(folder.path(), "study").unwrap().append(one.clone(), &Value::Null).unwrap();
        let log = RunLog::resumed(folder.path(), "study").unwrap();
        let other = "other".to_owned();
        let others = [
            RunKey { version: other.clone(), ..one.clone() },
            RunKey { run: other.clone(), ..one.clone() },
            RunKey { parameters: other.clone(), ..one.clone() },
            RunKey { seed: 2, ..one.clone() },
            RunKey { rate: FlowRate::RhoMax, ..one.clone() },
            RunKey { scenario: other, ..one.clone() },
        ];
        assert!(others.iter().all(|other| log.reuse(other).is_none()));
        assert_eq!(log.reuse(&one), Some(Value::Null));
    }
}
