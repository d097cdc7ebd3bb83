//! Runs whose results once depended on how they were started or observed.

use std::path::Path;

use serde_json::Value;

use super::{cct, input, load};
use crate::support::alone;

/// Returns the summary of a run, as JSON.
fn summary(path: &Path, set: &[&str]) -> Value {
    let (finished, _) = alone(&load(path, set), &mut |_| {});
    assert_eq!(finished.internal_error, None);
    serde_json::to_value(finished.summary).expect("a summary is JSON")
}

#[test]
fn messages_generated_during_a_run_equal_those_of_the_whole_workload() {
    let names =
        ["relay-streamed-ring", "relay-streamed-qps", "streamed-gap-loss", "streamed-planes"];
    for name in names {
        let Some(file) = input("robust", &format!("{name}.toml")) else { return };
        let [made, whole] = ["workload.streaming=true", "workload.streaming=false"]
            .map(|setting| summary(&file, &[setting]));
        for key in ["cct_ns", "fct_ns", "packets", "qps"] {
            assert!(!whole[key].is_null() && made[key] == whole[key], "{name}: {key}");
        }
    }
}

#[test]
fn recording_changes_no_completion_time() {
    let Some(file) = input("robust", "record-changes-result.toml") else { return };
    let plain = summary(&file, &[]);
    assert_eq!(summary(&file, &["record.every=10us"])["cct_ns"], plain["cct_ns"]);
}

/// Replays traces of this program with a small window that delays nodes, and with a large one.
#[test]
fn nodes_that_are_read_late_give_a_warning() {
    let Some(ring) = input("robust", "chakra-window-ring.toml") else { return };
    let folder = tempfile::tempdir().expect("there is room");
    let set = ["workload.channels=1", "workload.chunks=2", "workload.bytes=8MB"];
    let scenario = load(&ring, &set);
    let traces = evenkeel::chakra::Traces::of(&scenario.workload).expect("a ring is one");
    evenkeel::report::trace_files::write(&folder.path().join("et"), "chakra-window-ring", &traces)
        .expect("there is room");
    let text = std::fs::read_to_string(ring.with_file_name("chakra-window.toml")).expect("a file");
    let file = folder.path().join("chakra-window.toml");
    std::fs::write(&file, text).expect("there is room");
    let late = |window: &str| {
        let summary = summary(&file, &[&format!("workload.window={window}")]);
        let warnings = summary["warnings"].to_string();
        (warnings.contains("were ready before they were read"), summary["fct_ns"].clone())
    };
    let (is_late, times) = late("100000");
    assert_eq!((is_late, late("32").0), (false, true));
    let whole = summary(&file, &["workload.streaming=false"]);
    assert_eq!(times, whole["fct_ns"]);
    assert!(
        (cct(&ring, &set) - whole["cct_ns"].as_f64().expect("it completes") / 1e3).abs() < 0.01
    );
}
