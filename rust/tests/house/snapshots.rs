//! Snapshots that no test compares with any more.

use super::lexer::{self, Layers};
use super::project::{Fault, SourceFile};
use super::source::has_word;

/// Faults of files under `snapshots/` that no source names. Insta names a file after the text
/// given, or after the test's function; `@suffix` and `-2` may follow.
pub(crate) fn orphans(snapshots: &[SourceFile], sources: &[SourceFile]) -> Vec<Fault> {
    let layers: Vec<Layers> = sources.iter().map(|file| lexer::split(&file.text)).collect();
    snapshots
        .iter()
        .filter(|snapshot| !layers.iter().any(|source| names(source, &snapshot.path)))
        .map(|snapshot| {
            snapshot.fault(1, "no test names this snapshot: remove it, or its test is gone")
        })
        .collect()
}

fn names(source: &Layers, path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.strip_suffix(".snap").unwrap_or(file);
    let stem = stem.split('@').next().unwrap_or(stem);
    let unnumbered = match stem.rsplit_once('-') {
        Some((head, number)) if number.parse::<u32>().is_ok() => head,
        _ => stem,
    };
    let in_text = [file, stem, unnumbered]
        .iter()
        .any(|name| source.literals.contains(&format!("\"{name}\"")));
    in_text
        || has_word(&source.code, &format!("fn {unnumbered}"))
        || has_word(&source.code, &format!("fn test_{unnumbered}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_that_no_source_names_is_a_fault() {
        let source = "fn bad_scenarios() { assert(\"summary\"); /* \"gone\" */ }";
        let sources = [SourceFile::new("rust/a.rs", source)];
        let snapshots = ["summary.snap", "summary@small.snap", "bad_scenarios-2.snap", "gone.snap"]
            .map(|name| SourceFile::new(&format!("snapshots/{name}"), ""));
        let faults = orphans(&snapshots, &sources);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!(faults[0].path, "snapshots/gone.snap");
    }
}
