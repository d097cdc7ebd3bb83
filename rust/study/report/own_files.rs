//! Recognises result files, so that a command never replaces files of other programs.

use std::fs;
use std::io::Read;
use std::path::Path;

use super::identity::MARK;
use super::reproduction_index::TITLE;
use super::temporary::TEMPORARY;
use crate::record::RecordedTable;
use crate::text_file::read_results;

/// File that marks a run's folder as complete; it always appears last.
pub(crate) const SUMMARY: &str = "summary.json";

/// Scenario of a run with every default.
pub(crate) const SCENARIO: &str = "scenario.toml";

/// Cost of the run on its machine. It is separate from the summary, which is machine-independent.
pub(super) const COST: &str = "cost.json";

/// Statistics of a comparison, as `evenkeel compare --format csv` prints them.
pub const STATISTICS: &str = "comparison.csv";

/// First columns of the statistics.
pub(super) const STATISTICS_COLUMNS: &str = "policy,metric,runs,median,low,high,";

/// Runs of a comparison, as `evenkeel compare --json` prints them, without their costs.
pub const RUNS: &str = "runs.json";

/// Tables and their first columns. No comment precedes the columns, because pandas, Polars and
/// DuckDB take the first line as the column names.
const TABLES: [(&str, &str); 5] = [
    ("flows.csv", "message,piece,src,dst,"),
    ("links.csv", "link,from,to,bytes"),
    ("ranks.csv", "rank,job,phase,compute_ns,"),
    ("operations.csv", "operation,bytes,start_ns,"),
    ("timeline.csv", "at_ns,rail,what"),
];

/// First column of every table of a recording.
const RECORDED: &str = "time_ns,";

/// Copies of the file that a scenario's fabric was read from, `topology.FORMAT`.
pub const TOPOLOGIES: [&str; 2] = ["topology.hpcc", "topology.infragraph"];

/// Messages that another program sent, as a connection matrix.
pub const MATRIX: &str = "workload.cm";

/// Result files in formats of other programs, which do not tell who wrote them. They count as
/// results if the folder has a `flows.csv`.
pub(super) const UNMARKED: [&str; 5] = ["fct.txt", "pfc.txt", MATRIX, TOPOLOGIES[0], TOPOLOGIES[1]];

/// Number of leading bytes of a file that are compared.
const START: u64 = 256;

/// Command that wrote the results of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// `evenkeel run` and `hpcc`.
    Run,
    /// `evenkeel compare`.
    Comparison,
    /// `evenkeel sweep` and `merge`.
    Sweep,
    /// `evenkeel reproduce`.
    Studies,
}

impl Origin {
    const ALL: [Self; 4] = [Self::Run, Self::Comparison, Self::Sweep, Self::Studies];

    /// Returns the file that identifies results of this origin. It appears last.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Run => SUMMARY,
            Self::Comparison => STATISTICS,
            Self::Sweep => "sweep.runs.jsonl",
            Self::Studies => "README.md",
        }
    }

    /// Returns the name of the results, with its article.
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Run => "a run",
            Self::Comparison => "a comparison",
            Self::Sweep => "a sweep",
            Self::Studies => "studies",
        }
    }

    /// Returns true if the folder has results of this origin, judged by its mark.
    pub(super) fn is_in(self, folder: &Path) -> bool {
        let path = folder.join(self.mark());
        match self {
            Self::Run => is_summary(&path),
            Self::Comparison => self.is_own(&path, STATISTICS),
            Self::Sweep => starts_with(&path, "{\""),
            Self::Studies => starts_with(&path, TITLE),
        }
    }

    /// Returns the origin of a folder's results, if a mark identifies it.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.is_in(folder))
    }

    /// Returns true if a file of this name may be a result of this origin.
    pub(super) fn is_result_name(self, name: &str) -> bool {
        name.starts_with(TEMPORARY)
            || match self {
                Self::Run => is_run_name(name),
                Self::Comparison => [STATISTICS, RUNS, COST].contains(&name),
                Self::Sweep | Self::Studies => false,
            }
    }

    /// Returns true if a file with a result's name was written by evenkeel, judged by its content.
    pub(super) fn is_own(self, path: &Path, name: &str) -> bool {
        match self {
            _ if name.starts_with(TEMPORARY) => true,
            Self::Run => is_of_run(path, name),
            // Earlier versions wrote an empty table for a comparison interrupted before its first
            // run.
            Self::Comparison if name == STATISTICS => {
                let is_empty = |it: fs::Metadata| it.is_file() && it.len() == 0;
                starts_with(path, STATISTICS_COLUMNS) || fs::metadata(path).is_ok_and(is_empty)
            }
            Self::Comparison => starts_with(path, "{\n  \"runs\": ["),
            Self::Sweep | Self::Studies => false,
        }
    }
}

/// Returns true if a file of this name may be a result of any run.
fn is_run_name(name: &str) -> bool {
    [SUMMARY, COST, SCENARIO].contains(&name) || UNMARKED.contains(&name) || columns(name).is_some()
}

fn is_of_run(path: &Path, name: &str) -> bool {
    match name {
        SUMMARY => is_summary(path),
        COST => has_keys(path, &["wall_s", "peak_rss_bytes"]),
        _ => {
            // Tables of earlier versions start with a comment, as `scenario.toml` does.
            let columns = columns(name).unwrap_or(MARK);
            starts_with(path, MARK) || starts_with(path, columns)
        }
    }
}

/// Returns true for a summary of a run, with or without rails.
fn is_summary(path: &Path) -> bool {
    has_keys(path, &["scenario", "policy", "seed", "version", "cct_ns"])
}

/// Returns the first columns of the table of this name.
fn columns(name: &str) -> Option<&'static str> {
    let is_recorded = |table: &RecordedTable| table.recording_of(name).is_some();
    let table = TABLES.iter().find(|(table, _)| *table == name).map(|(_, columns)| *columns);
    table.or_else(|| RecordedTable::ALL.iter().any(is_recorded).then_some(RECORDED))
}

fn starts_with(path: &Path, expected: &str) -> bool {
    start_of(path).is_ok_and(|start| start.starts_with(expected.as_bytes()))
}

/// Returns the first bytes of a file. Only regular files are read: opening a FIFO could block.
fn start_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    if fs::metadata(path)?.is_file() {
        fs::File::open(path)?.take(START).read_to_end(&mut start)?;
    }
    Ok(start)
}

fn has_keys(path: &Path, keys: &[&str]) -> bool {
    let text = read_results(path).unwrap_or_default();
    let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else { return false };
    keys.iter().all(|key| value.get(key).is_some())
}

/// Returns the kind of an entry that can be neither read nor replaced as a result. `None` for a
/// regular file, or a link to one.
pub(super) fn not_a_file(path: &Path) -> Option<&'static str> {
    let found = fs::metadata(path).ok()?.file_type();
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.is_fifo() {
            return Some("a named pipe");
        } else if found.is_socket() {
            return Some("a socket");
        } else if found.is_block_device() || found.is_char_device() {
            return Some("a device");
        }
    }
    match found.is_dir() {
        true => Some("a folder"),
        false => (!found.is_file()).then_some("not a regular file"),
    }
}

/// Returns true for a character device, or a link to one.
#[cfg(unix)]
pub(super) fn is_character_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device())
}

/// Returns false: no path names a device on this platform.
#[cfg(not(unix))]
pub(super) fn is_character_device(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_recognized_by_columns_or_by_the_comment_of_earlier_versions() {
        let folder = tempfile::tempdir().unwrap();
        let is_own = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            assert!(Origin::Run.is_result_name(name), "{name}");
            Origin::Run.is_own(&path, name)
        };
        for name in ["flows.csv", "links.csv", "operations.csv", "timeline.csv", "ports-a.csv"] {
            assert!(is_own(name, &format!("{}x\n", columns(name).unwrap())), "{name}");
            assert!(is_own(name, "# evenkeel 0.1.0 scenario=a policy=b seed=1\nlink\n"), "{name}");
            assert!(!is_own(name, "link,mine\n"), "{name}");
            assert!(!is_own(name, ""), "{name}");
        }
        assert!(is_own("cost.json", "{\"wall_s\": 1, \"peak_rss_bytes\": null}"));
        assert!(!is_own("cost.json", "{\"euro\": 1}"));
        assert!(!is_own("scenario.toml", "seed = 1\n") && !is_own("summary.json", "{}"));
        let is_result_name = |name| Origin::Run.is_result_name(name);
        assert!(!is_result_name("notes.txt") && !is_result_name("results.csv"));
    }
}
