//! Finds snapshots that no test uses any more.

use std::collections::HashSet;

use super::lexer;
use super::project::{Fault, SourceFile};

/// Finds files under `snapshots/` that no source names. Insta names a file after the given text, or
/// after the test's function; `@suffix` and `-2` may follow.
pub(crate) fn orphans(snapshots: &[SourceFile], sources: &[SourceFile]) -> Vec<Fault> {
    let layers: Vec<_> = sources.iter().map(|file| lexer::split(&file.text)).collect();
    let is_outside = |c: char| !c.is_alphanumeric() && c != '_';
    let literals: HashSet<&str> =
        layers.iter().flat_map(|source| source.literals.split('"')).collect();
    let functions: HashSet<&str> = layers
        .iter()
        .flat_map(|source| source.code.split("fn ").skip(1))
        .filter_map(|after| after.split(is_outside).next())
        .collect();
    snapshots
        .iter()
        .filter(|snapshot| !is_named(&snapshot.path, &literals, &functions))
        .map(|snapshot| {
            snapshot.fault(1, "no test uses this snapshot: remove it, or restore its test")
        })
        .collect()
}

fn is_named(path: &str, literals: &HashSet<&str>, functions: &HashSet<&str>) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.strip_suffix(".snap").unwrap_or(file);
    let stem = stem.split('@').next().unwrap_or(stem);
    let unnumbered = match stem.rsplit_once('-') {
        Some((head, number)) if number.parse::<u32>().is_ok() => head,
        _ => stem,
    };
    [file, stem, unnumbered].iter().any(|name| literals.contains(name))
        || functions.contains(unnumbered)
        || functions.contains(&*format!("test_{unnumbered}"))
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
