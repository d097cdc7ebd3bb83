//! Checks pages that quote tables of snapshots.

use std::collections::BTreeSet;

use super::project::{Fault, SourceFile};

/// Finds lines in ` ```text ` blocks that are in no snapshot.
pub(crate) fn stale(page: &SourceFile, snapshots: &[SourceFile]) -> Vec<Fault> {
    let known: BTreeSet<&str> =
        snapshots.iter().flat_map(|file| file.text.lines()).map(str::trim_end).collect();
    let mut is_quoted = false;
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(page.text.lines().map(str::trim_end)) {
        if line.starts_with("```") {
            is_quoted = line == "```text";
        } else if is_quoted && !line.is_empty() && !known.contains(line) {
            faults.push(page.fault(number, "no snapshot has this line: quote the table again"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_line_without_a_snapshot_is_a_fault() {
        let page = "Text.\n```sh\ncargo test\n```\n```text\na  1\n\nb  2\n```\nMore.\n";
        let page = SourceFile::new("docs/page.md", page);
        let snapshots = [SourceFile::new("snapshots/t.snap", "---\na  1  \nb  3\n")];
        let faults = stale(&page, &snapshots);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!((faults[0].path.as_str(), faults[0].line), ("docs/page.md", 8));
    }
}
