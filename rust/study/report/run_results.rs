//! Writes the results folder of a run.

use super::own_files::COST;
use super::{Folder, FolderError, Summary, Writer, write_summary};

/// Replaces the content of a folder with the results of a run: `files` (pairs of a name and a
/// writer of the content), `cost.json`, and `summary.json`, which appears last.
///
/// # Errors
/// Fails if the folder cannot be written.
pub fn write_run_results(
    folder: &Folder,
    files: &[(&str, Writer<'_>)],
    summary: &Summary,
) -> Result<(), FolderError> {
    let cost: Writer<'_> = &|to| summary.cost().write(to);
    let files = [files, &[(COST, cost)]].concat();
    folder.replace(&files, &|to| write_summary(to, summary))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::sample;
    use super::*;

    #[test]
    fn summaries_are_byte_identical_regardless_of_cost() {
        let parent = tempfile::tempdir().unwrap();
        let keep = |wall_s: f64| {
            let folder = Folder::open(parent.path()).unwrap();
            let summary = Summary { wall_s, peak_rss_bytes: Some(7), ..sample::summary() };
            write_run_results(&folder, &[], &summary).unwrap();
            ["summary.json", "cost.json"].map(|it| fs::read_to_string(parent.path().join(it)))
        };
        let [(first, cost), (second, other)] = [1.5, 2.5].map(|wall_s| {
            let [summary, cost] = keep(wall_s).map(Result::unwrap);
            (summary, cost)
        });
        assert_eq!(first, second);
        assert_eq!(cost, "{\n  \"wall_s\": 1.5,\n  \"peak_rss_bytes\": 7\n}\n");
        assert_ne!(cost, other);
        let mut whole = serde_json::to_value(sample::summary()).unwrap();
        let kept: serde_json::Value = serde_json::from_str(&first).unwrap();
        for key in ["wall_s", "peak_rss_bytes"] {
            assert!(whole.as_object_mut().unwrap().remove(key).is_some());
        }
        assert_eq!(kept, whole, "nothing else is missing");
    }
}
