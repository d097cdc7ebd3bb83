//! How files of results are recognised, so that a run replaces nobody else's files.

use std::fs;
use std::io::Read;
use std::path::Path;

use super::identity::MARK;
use crate::record::RecordedTable;
use crate::workload::read_results;

/// The file that shows that a folder is complete; always the last to appear.
pub(super) const SUMMARY: &str = "summary.json";

/// What the run cost on its machine, apart from the summary, which is the same on every one.
pub(super) const COST: &str = "cost.json";

/// Tables, and the columns that they begin with. Nothing stands before them, because pandas,
/// Polars and DuckDB take the first line for the names of the columns.
const TABLES: [(&str, &str); 4] = [
    ("flows.csv", "message,piece,src,dst,"),
    ("links.csv", "link,from,to,bytes"),
    ("operations.csv", "operation,bytes,start_ns,"),
    ("timeline.csv", "at_ns,rail,what"),
];

/// The columns that every table of a recording begins with.
const RECORDED: &str = "time_ns,";

/// The copies of the file that a scenario's fabric was read from, `topology.FORMAT`.
pub const TOPOLOGIES: [&str; 2] = ["topology.hpcc", "topology.infragraph"];

/// Result files in formats of the HPCC family, by whose content nobody can tell who wrote them.
/// They count as results if `flows.csv` is beside them.
pub(super) const UNMARKED: [&str; 4] = ["fct.txt", "pfc.txt", TOPOLOGIES[0], TOPOLOGIES[1]];

/// The prefix of temporary names.
pub(super) const TEMPORARY: &str = ".evenkeel-";

/// True if a file of this name may be a result of any run.
pub(super) fn is_result_name(name: &str) -> bool {
    [SUMMARY, COST, "scenario.toml"].contains(&name)
        || UNMARKED.contains(&name)
        || columns(name).is_some()
        || name.starts_with(TEMPORARY)
}

/// True if a file with a result's name was written by evenkeel, going by its content.
pub(super) fn is_own(path: &Path, name: &str) -> bool {
    match name {
        SUMMARY => is_summary(path),
        COST => has_keys(path, &["wall_s", "peak_rss_bytes"]),
        _ if name.starts_with(TEMPORARY) => true,
        _ => {
            // Tables of versions before this one begin with a comment, as `scenario.toml` does.
            let columns = columns(name).unwrap_or(MARK);
            starts_with(path, MARK) || starts_with(path, columns)
        }
    }
}

/// True for a summary of a run, with or without rails.
pub(super) fn is_summary(path: &Path) -> bool {
    has_keys(path, &["scenario", "policy", "seed", "version", "cct_ns"])
}

/// The columns that the table of this name begins with.
fn columns(name: &str) -> Option<&'static str> {
    let is_recorded = |table: &RecordedTable| table.recording_of(name).is_some();
    let table = TABLES.iter().find(|(table, _)| *table == name).map(|(_, columns)| *columns);
    table.or_else(|| RecordedTable::ALL.iter().any(is_recorded).then_some(RECORDED))
}

fn starts_with(path: &Path, expected: &str) -> bool {
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    read.is_ok() && start.starts_with(expected.as_bytes())
}

fn has_keys(path: &Path, keys: &[&str]) -> bool {
    let text = read_results(path).unwrap_or_default();
    let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else { return false };
    keys.iter().all(|key| value.get(key).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_told_by_their_columns_and_those_of_earlier_versions_by_their_comment() {
        let folder = tempfile::tempdir().unwrap();
        let is_own = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            assert!(is_result_name(name), "{name}");
            is_own(&path, name)
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
        assert!(!is_result_name("notes.txt") && !is_result_name("results.csv"));
    }
}
